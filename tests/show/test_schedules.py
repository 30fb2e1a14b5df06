"""A schedule measures the hardware that it is for, beside schedules of others."""

import re
import subprocess

import kubernetes_validate
import pytest
import yaml

from epochcost import schemas
from epochcost.errors import InputError
from epochcost.show import schedule

CATALOGUE = schemas.read("hardware")
TYPE = "node.kubernetes.io/instance-type"


def rendered(name: str, hardware: dict | None = None) -> dict[str, str]:
    entry = hardware or CATALOGUE[name]
    return schedule.render(schedule.Rerun(3600, 60, name, entry, "x", "/store", "i", [], 1))


def pod_of(job: dict) -> dict:
    return job["spec"]["jobTemplate"]["spec"]["template"]["spec"]


SCHEDULED = [
    name
    for name, entry in CATALOGUE.items()
    if "vcpus" in entry and not entry.get("gpu", "").startswith(("MI300X", "TPU"))
]


@pytest.mark.parametrize("name", SCHEDULED)
def test_a_cronjob_goes_to_nodes_that_are_the_hardware(name):
    job = yaml.safe_load(rendered(name)["cronjob.yaml"])
    kubernetes_validate.validate(job, "1.31", strict=True)
    entry, pod = CATALOGUE[name], pod_of(job)
    (container,) = pod["containers"]
    gpus = container["resources"]["limits"].get("nvidia.com/gpu")
    assert gpus == (str(entry["gpu_count"]) if "gpu" in entry else None)
    assert ("tolerations" in pod) is ("gpu" in entry)
    for value in pod["nodeSelector"].values():
        assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", value)
    if TYPE in pod["nodeSelector"]:
        assert entry["instance"].startswith(pod["nodeSelector"][TYPE])
    else:
        assert pod["nodeSelector"] == {"epochcost/hardware": name}


def test_the_label_is_the_one_of_the_providers_kubernetes():
    def selector(name: str) -> dict:
        return pod_of(yaml.safe_load(rendered(name)["cronjob.yaml"]))["nodeSelector"]

    assert selector("aws-g5.xlarge") == {TYPE: "g5.xlarge"}
    assert selector("gce-n1-highcpu-8") == {TYPE: "n1-highcpu-8"}
    assert selector("gce-a3-highgpu-1g") == {TYPE: "a3-highgpu-1g"}
    accelerator = {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
    assert selector("gce-t4") == {TYPE: "n1-standard-4"} | accelerator
    written = rendered("nebius-gpu-h100-sxm-1gpu-16vcpu-200gb")["cronjob.yaml"]
    label = "epochcost/hardware=nebius-gpu-h100-sxm-1gpu-16vcpu-200gb"
    assert f"# kubectl label node NODE {label}\n" in written


def test_two_schedules_do_not_overwrite_each_other():
    names = {name: schedule.name_of(name) for name in CATALOGUE}
    assert len(set(names.values())) == len(names)
    assert schedule.name_of("gce-t4") == "epochcost-gce-t4"
    alike = {
        schedule.name_of(name) for name in ("a-b", "a.b", "a-b-" + 60 * "c", "a-b-" + 61 * "c")
    }
    assert len(alike) == 4
    for name in [*names.values(), *alike]:
        assert re.fullmatch(r"[a-z]([-a-z0-9]{0,50}[a-z0-9])", name)
    jobs = [yaml.safe_load(rendered(name)["cronjob.yaml"]) for name in ("gce-t4", "gce-v100")]
    found = [job["metadata"]["name"] for job in jobs]
    assert found == ["epochcost-gce-t4", "epochcost-gce-v100"]


def test_machines_of_two_schedules_stand_side_by_side(tmp_path):
    """`gcloud` refuses what is there already, and the script would end at the account."""
    account = tmp_path / "account"
    (tmp_path / "gcloud").write_text(
        '#!/bin/bash\n[ "$1 $2" = "config get-value" ] && echo project && exit\n'
        f'key=$(echo "$*" | tr -c "a-z0-9-\\n" "_" | cut -c -60); there={tmp_path}/made-$key\n'
        'case "$*" in\n'
        f'  "iam service-accounts describe"*) [ -e {account} ] ;;\n'
        f'  "iam service-accounts create"*) [ ! -e {account} ] && touch {account} ;;\n'
        '  *create*) [ ! -e "$there" ] && touch "$there" ;;\n'
        "esac\n"
    )
    (tmp_path / "gcloud").chmod(0o755)
    for name, code in (("gce-t4", 0), ("gce-v100", 0), ("gce-t4", 1)):
        script = rendered(name)["vm.sh"]
        done = subprocess.run(
            ["bash", "-c", script], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, cwd=tmp_path
        )
        assert done.returncode == code


@pytest.mark.parametrize("name", ["digitalocean-gpu-mi300x8-1536gb"])
def test_a_schedule_is_not_for_what_cannot_be_measured(name):
    with pytest.raises(InputError, match="has MI300X; a schedule is for processors and NVIDIA's"):
        rendered(name)
