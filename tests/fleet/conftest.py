"""A clone whose trainings go through a real Slurm."""

import json

import pytest
import yaml
from clones import make_clone
from fleet import accounting
from fleet import slurm as clusters


@pytest.fixture(scope="module", autouse=True)
def on_all_cores(all_cores):
    with all_cores():
        yield


@pytest.fixture(scope="session")
def slurm(tmp_path_factory, all_cores):
    """A Slurm on this machine; skipped where it is not installed."""
    if lacking := clusters.missing():
        pytest.skip(f"this machine has no {lacking} (Debian: slurm-wlm, munge)")
    with all_cores():
        cluster = clusters.Slurm(tmp_path_factory.mktemp("slurm"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def site(tmp_path_factory, pythons, slurm):
    """A clone with its nodes in the catalogue, as a team would enter them: all cores, and one."""
    clone = make_clone(tmp_path_factory.mktemp("site") / "epochcost")
    clone.environment |= slurm.environment
    catalogue = clone.folder / "config/hardware.yaml"
    nodes = yaml.safe_load(catalogue.read_text())
    mine = nodes["cluster-cpu16"]
    mine["vcpus"] = clone.cores
    mine["slurm"] |= {"account": accounting.ACCOUNT} if slurm.accounting else {}
    nodes["cluster-cpu1"] = {
        "label": "1 core", "vcpus": 1, "slurm": mine["slurm"] | {"partition": "cpu1"}
    }  # fmt: skip
    # Dates stay text.
    catalogue.write_text(yaml.safe_dump(nodes).replace("'", ""))
    recipes = clone.folder / "config/workloads.yaml"
    recipes.write_text(
        recipes.read_text().replace("epochs: 20\n", f"epochs: {clusters.EPOCHS}\n", 1)
    )
    for name in ("slurm", "gce-k80"):
        profile = clone.folder / f"profiles/{name}/profile.yaml"
        settings = yaml.safe_load(profile.read_text())
        settings["slurm-init-seconds-before-status-checks"] = 8  # 40 would be a long wait
        if not slurm.accounting:
            settings["slurm-no-account"] = True
        profile.write_text(yaml.safe_dump(settings))
    clone.configure(data={"source": "synthetic", "mirror": ""}, workloads=["mnist_mlp"])
    return clone


@pytest.fixture(scope="session")
def google_credentials(tmp_path_factory):
    """A file of credentials, in their form, that open nothing."""
    path = tmp_path_factory.mktemp("google") / "credentials.json"
    secret = {key: "x" for key in ("client_id", "client_secret", "refresh_token")}
    path.write_text(json.dumps({"type": "authorized_user"} | secret))
    return str(path)
