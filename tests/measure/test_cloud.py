"""Which rented machine this is, asked of a local server that answers as each cloud documents."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from epochcost.measure import cloud

ANSWERS = {
    "gcp": {
        "/computeMetadata/v1/instance/machine-type": "projects/1/machineTypes/n1-highcpu-16",
        "/computeMetadata/v1/instance/zone": "projects/1/zones/us-east1-b",
        "/computeMetadata/v1/instance/scheduling/preemptible": "TRUE",
    },
    "aws": {
        "/latest/api/token": "secret",
        "/latest/dynamic/instance-identity/document": json.dumps(
            {"instanceType": "p3.2xlarge", "availabilityZone": "eu-west-1a"}
        ),
        "/latest/meta-data/instance-life-cycle": "spot",
    },
    "azure": {
        "/metadata/instance/compute?api-version=2021-02-01": json.dumps(
            {"vmSize": "Standard_NC6", "location": "westeurope", "zone": "2", "priority": "Regular"}
        ),
    },
}
NEEDED = {
    "gcp": ("Metadata-Flavor", "Google"),
    "aws": ("X-aws-ec2-metadata-token", "secret"),
    "azure": ("Metadata", "true"),
}
FIRMWARE = {
    "gcp": ("product_name", "Google Compute Engine"),
    "aws": ("sys_vendor", "Amazon EC2"),
    "azure": ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"),
}


@pytest.fixture
def service():
    """Starts a metadata service of a cloud; gives its address."""
    servers = []

    def start(provider: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                header, value = NEEDED[provider]
                allowed = self.path == "/latest/api/token" or self.headers.get(header) == value
                text = ANSWERS[provider].get(self.path) if allowed else None
                self.send_response(200 if text else 403)
                self.end_headers()
                self.wfile.write((text or "").encode())

            do_GET = do_PUT = answer

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()


def machine_of(provider: str, root):
    name, text = FIRMWARE[provider]
    folder = root / "sys/class/dmi/id"
    folder.mkdir(parents=True)
    (folder / name).write_text(text + "\n")
    return root


@pytest.mark.parametrize(
    ("provider", "instance_type", "zone", "lifecycle"),
    [
        ("gcp", "n1-highcpu-16", "us-east1-b", "preemptible"),
        ("aws", "p3.2xlarge", "eu-west-1a", "spot"),
        ("azure", "Standard_NC6", "westeurope-2", "on_demand"),
    ],
)
def test_a_cloud_says_what_machine_it_is(
    tmp_path, service, provider, instance_type, zone, lifecycle
):
    assert cloud.identify(machine_of(provider, tmp_path), service(provider)) == {
        "provider": provider,
        "instance_type": instance_type,
        "zone": zone,
        "lifecycle": lifecycle,
    }


def test_a_service_that_does_not_answer_leaves_the_provider(tmp_path):
    unknown = {"instance_type": None, "zone": None, "lifecycle": None}
    nobody = "http://127.0.0.1:9"
    there = cloud.identify(machine_of("gcp", tmp_path), nobody)
    assert there == {"provider": "gcp", **unknown}


def test_a_service_that_answers_something_else_leaves_the_provider(tmp_path, service):
    there = cloud.identify(machine_of("aws", tmp_path), service("azure"))
    assert there["provider"] == "aws"
    assert there["instance_type"] is None


def test_without_a_signature_nobody_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(cloud, "get", lambda *_: pytest.fail("asked"))
    assert cloud.identify(tmp_path) is None
