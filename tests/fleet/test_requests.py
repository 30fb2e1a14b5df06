"""What is asked of AWS Batch and Kubernetes, by the real plugins of the shipped profiles."""

import base64

import kubernetes_validate
import pytest
import yaml
from clones import make_clone
from fleet.capture import requests

from epochcost import ROOT

pytestmark = pytest.mark.slow

CLOUD = ROOT / ".venvs/cloud/bin"
WORDS = ("data={source: synthetic}", "workloads=mnist_mlp", "frameworks=pytorch")


@pytest.fixture(scope="module")
def ask(tmp_path_factory, google_credentials):
    """Runs Snakemake with a profile against a server; returns what was asked of it."""
    if not (CLOUD / "snakemake").exists():
        pytest.skip("the executors of clouds are not installed (make cloud)")
    clone = make_clone(tmp_path_factory.mktemp("requests") / "epochcost")
    commit = clone.commit()
    secrets = clone.folder.parent
    clone.environment |= {
        "PATH": f"{CLOUD}:{clone.environment['PATH']}",
        "GOOGLE_APPLICATION_CREDENTIALS": google_credentials,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
        "GOOGLE_CLOUD_PROJECT": "payer",
        "EPOCHCOST_BUCKET": "bucket",
        "EPOCHCOST_IMAGE": "registry.example/epochcost:1",
        "EPOCHCOST_QUEUE": "arn:aws:batch:us-east-1:1:job-queue/g4dn",
        "EPOCHCOST_ROLE": "arn:aws:iam::1:role/epochcost",
        "KUBECONFIG": str(secrets / "kubeconfig"),
    }

    def run(profile):
        store = tmp_path_factory.mktemp("bucket")
        with requests() as (address, seen):
            cluster = {"name": "c", "cluster": {"server": address}}
            context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
            user = {"name": "u", "user": {"token": "x"}}
            (secrets / "kubeconfig").write_text(
                yaml.safe_dump(
                    {"apiVersion": "v1", "kind": "Config", "current-context": "c"}
                    | {"clusters": [cluster], "contexts": [context], "users": [user]}
                )
            )
            done = clone.run(
                str(CLOUD / "snakemake"), "--profile", profile, "--retries", "0",
                "--seconds-between-status-checks", "1", "--default-storage-provider", "fs",
                "--default-storage-prefix", str(store), "--config", *WORDS,
                check=False, AWS_ENDPOINT_URL_BATCH=address,
            )  # fmt: skip
        assert done.returncode == 1, done.stderr[-3000:]
        return dict(seen)

    run.commit = commit
    return run


def test_aws_batch_is_asked_for_a_gpu_in_a_queue(ask):
    asked = ask("aws-batch")
    container = asked["/v1/registerjobdefinition"]["containerProperties"]
    needs = {one["type"]: one["value"] for one in container["resourceRequirements"]}
    assert needs == {"VCPU": "4", "MEMORY": "11264", "GPU": "1"}
    assert container["image"] == "registry.example/epochcost:1"
    assert container["jobRoleArn"] == "arn:aws:iam::1:role/epochcost"
    assert "train_aws_g4dn_xlarge" in container["command"][-1]
    assert asked["/v1/registerjobdefinition"]["timeout"] == {"attemptDurationSeconds": 14400}
    assert asked["/v1/submitjob"]["jobQueue"].endswith("job-queue/g4dn")
    # There is no git in the container: records say this commit.
    assert {"name": "EPOCHCOST_COMMIT", "value": ask.commit} in container["environment"]


def test_kubernetes_is_asked_for_a_pod_on_a_node_with_a_gpu(ask):
    asked = ask("kubernetes")
    (job,) = (body for path, body in asked.items() if path.endswith("/jobs"))
    manifest = {"apiVersion": "batch/v1", "kind": "Job"} | job
    kubernetes_validate.validate(manifest, "1.30", strict=True)
    pod = job["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "n1-standard-4"}
    (container,) = pod["containers"]
    assert container["image"] == "registry.example/epochcost:1"
    assert container["resources"]["limits"] == {
        "cpu": "4000m", "memory": "10752M", "nvidia.com/gpu": "1"
    }  # fmt: skip
    assert container["resources"]["requests"]["cpu"] == "3200m"
    assert "train_gce_t4" in container["args"][-1]
    (secrets,) = (body["data"] for path, body in asked.items() if path.endswith("/secrets"))
    assert base64.b64decode(secrets["epochcost_commit"]).decode() == ask.commit
    named = {one["name"]: one["valueFrom"]["secretKeyRef"]["key"] for one in container["env"]}
    assert named["EPOCHCOST_COMMIT"] == "epochcost_commit"
