import datetime
import re
import shutil

import pytest
import yaml

from epochcost import ROOT
from epochcost import settings as keys
from epochcost.errors import InputError
from epochcost.models import recipes
from epochcost.plan import wanted

ADAM = {"name": "adam", "learning_rate": 1, "beta_1": 0.9, "beta_2": 0.9, "epsilon": 1e-8}


@pytest.fixture
def settings() -> dict:
    return yaml.safe_load((ROOT / "config/config.yaml").read_text())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"frameworks": ["fastai", "pytorch"]}, "only fastai trains recipes with fine_tuning"),
        (
            {"optimizer": {"name": "rmsprop", "learning_rate": 1, "rho": 0.9, "epsilon": 1e-8}},
            "fine_tuning needs the optimizer adam",
        ),
        ({"epochs": 1}, "frozen_epochs must be below its 1 epochs"),
        ({"quality": {"metric": "val_accuracy", "target": 86}}, "target: 86 is above 1"),
        (
            {"optimizer": ADAM | {"name": "addam"}},
            "name: 'addam' is not .* mean 'adam'",
        ),
        ({"optimizer": ADAM | {"name": "sgd", "momentum": 1}}, "optimizer: name: 'sgd' is not all"),
        ({"optimizer": ADAM | {"rho": 0.9}}, "optimizer: 'rho' is not allowed; known: beta_1"),
        ({"optimizer": ADAM | {"name": "rmsprop", "rho": 0.9}}, "optimizer: 'beta_1' is not allow"),
        ({"optimizer": {"name": "own", "rho": 1}}, "optimizer: 'rho' is not allowed"),
    ],
)
def test_a_recipe_that_cannot_be_trained_as_it_says_is_refused(tmp_path, change, said):
    assert_refused(tmp_path, "catsdogs_resnet50", change, said)


def test_only_pytorch_trains_with_a_loss_of_ones_own(tmp_path):
    said = "only pytorch trains with loss own, not keras-tensorflow, keras-torch, keras-jax"
    assert_refused(tmp_path, "mnist_mlp", {"loss": "own"}, said)


def assert_refused(folder, workload, change, said):
    shutil.copytree(ROOT / "config", folder / "config")
    path = folder / "config/workloads.yaml"
    entries = yaml.safe_load(path.read_text())
    entries[workload] |= change
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(InputError, match=f"{workload}.*{said}"):
        wanted.read(root=folder)


def test_the_shipped_configuration_is_valid():
    known = wanted.read()
    assert known.hardware == ["local"]
    assert "mnist_mlp" in known.recipes_to_train


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workloads": ["mnist_mpl"]}, "unknown workload 'mnist_mpl'; did you mean 'mnist_mlp'"),
        ({"frameworks": ["pytroch"]}, "unknown framework 'pytroch'; did you mean 'pytorch'"),
        ({"hardware": ["gce-k08"]}, "unknown hardware 'gce-k08'; did you mean 'gce-k80'"),
        ({"wrkloads": []}, "unknown key 'wrkloads'; did you mean 'workloads'"),
        ({"data": {"source": "auto", "miror": ""}}, "unknown key 'miror'; did you mean 'mirror'"),
        ({"price": {"per_hour_usd": -1, "kind": "spot"}}, "per_hour_usd: -1 is below 0"),
        ({"price": {"per_hour_usd": "x", "kind": "spot"}}, "'x' is not a number or empty"),
        (
            {"price": {"per_hour_usd": float("nan"), "kind": "spot"}},
            "per_hour_usd: nan is not a finite",
        ),
        ({"precision": "nan", "scale": "full"}, "precision: nan is not a finite number"),
        ({"exchange_rates": {"EURO": 1.1}}, "config: exchange_rates: EURO: String should match"),
        ({"exchange_rates": {"EUR": float("inf")}}, "exchange_rates: EUR: inf is not a finite"),
        ({"python": {"torch": "/nope"}}, "python: torch: /nope does not exist"),
        ({"scale": "ful"}, "'ful' is not allowed; did you mean 'full'"),
        ({"runs": 0}, "runs: 0 is below 1"),
        ({"seed": 2**31}, "seed: 2147483648 is above 2147483647"),
        ({"price_book": "2017"}, "2017"),
        ({"price": "0,10"}, "price: '0,10' is not a number, such as price=0.10"),
        ({"deadline": "0h"}, "deadline: nothing is trained in no time"),
        ({"budget": 0}, "budget: nothing is rented for 0"),
        ({"price": 1e99}, "per_hour_usd: 1e+99 is above 1000000"),
        ({"price_book": "2016-01"}, "the first known prices are of 2016-11-01"),
        ({"workload": "mnist_mlp,mnist_cnn"}, "for several say workloads=mnist_mlp,mnist_cnn"),
        (
            {"variants": "devices_99", "workloads": "mnist_mlp"},
            "over 99 devices; take a number that divides 128, or leave",
        ),
        ({"workloads": None}, "workloads: it is empty, and not a list"),
        ({"workloads": "mnist_mlp,mnist_mlp"}, "mnist_mlp, mnist_mlp: one of them is listed twice"),
        ({"price": 0}, "0 and the kind 'free' go together"),
        ({"owned": {"purchase_usd": "1000"}}, "owned: purchase_usd also needs years"),
        ({"billing": {"boot": "3"}}, "billing: unknown key 'boot'; did you mean 'boot_s'"),
        (
            {"workloads": "imdb_bilstm", "frameworks": "fastai"},
            "imdb_bilstm is not trained by fastai; frameworks that train it: keras-tensorflow, "
            "keras-torch, keras-jax, pytorch",
        ),
        (
            {"variants": "no_onednn", "frameworks": "keras-jax"},
            "the variant no_onednn is not for keras-jax",
        ),
        ({"variants": "device_2"}, "unknown variant 'device_2'; did you mean 'devices_2'?"),
        (
            {"variants": "tuned", "hardware": "gce-t4"},
            "the variant tuned is for hardware local alone",
        ),
    ],
)
def test_a_mistake_is_one_line_that_names_the_nearest_right_word(settings, change, message):
    with pytest.raises(InputError) as raised:
        wanted.read(settings | change)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_key_is_named(settings):
    del settings["scale"]
    with pytest.raises(InputError, match="the key 'scale' is missing"):
        wanted.read(settings)


def test_what_a_command_line_gives_is_understood(settings):
    given = settings | {
        "workloads": "mnist_mlp, mnist_cnn",
        "price": {"per_hour_usd": "0.5", "kind": "spot"},
        "again": "true",
        "keep_disturbed": "false",
    }
    known = wanted.read(given)
    assert (known.again, known.keep_disturbed) == (True, False)
    assert known.workloads == ["mnist_mlp", "mnist_cnn"]
    assert known.price.per_hour_usd == 0.5


OWNED = ("purchase_usd", "years", "used_hours_per_day", "watts", "usd_per_kwh")


def test_numbers_within_a_section_are_numbers(settings):
    """Snakemake gives them as text: `--config "billing={boot_s: 90}"`."""
    given = {
        "exchange_rates": {"EUR": "1.15"},
        "billing": settings["billing"] | {"boot_s": "90"},
        "spot": {"interruptions_per_hour": ["0.1", "2"], "wait_s": "1e2"},
        "owned": dict.fromkeys(OWNED, "3"),
    }
    given["schedule"] = settings["schedule"] | {"every": "3600", "up": "600", "disk_gib": "40"}
    known = wanted.read(settings | given)
    assert [getattr(known.schedule, key) for key in ("every", "up", "disk_gib")] == [
        "3600",
        "600",
        40,
    ]
    assert known.exchange_rates == {"EUR": 1.15}
    assert known.billing.boot_s == 90
    assert known.spot.model_dump() == {"interruptions_per_hour": [0.1, 2], "wait_s": 100}
    assert known.owned["years"] == 3
    with pytest.raises(InputError, match="billing: boot_s: 'long' is not a number"):
        wanted.read(settings | {"billing": settings["billing"] | {"boot_s": "long"}})


@pytest.mark.parametrize(
    ("framework", "devices", "said"),
    [
        ("keras-jax", 3, "keras-jax cannot divide the batches of mnist_mlp, 128 samples, over 3"),
        ("keras-tensorflow", 3, "keras-tensorflow cannot divide the batches of mnist_mlp, 128"),
    ],
)
def test_batches_that_keras_cannot_divide_are_refused(settings, framework, devices, said):
    given = {"frameworks": [framework], "workloads": ["mnist_mlp"]}
    with pytest.raises(InputError, match=said):
        wanted.read(settings | given | {"variants": [f"devices_{devices}"]})
    wanted.read(settings | given | {"variants": ["devices_2"]})
    wanted.read(settings | given | {"variants": [f"devices_{devices}"], "frameworks": ["pytorch"]})


def test_a_precision_is_a_share_and_is_for_full_runs(settings):
    full = settings | {"scale": "full"}
    for text in ("2%", "0.02", 0.02):
        assert wanted.read(full | {"precision": text}).precision == 0.02
    with pytest.raises(InputError, match="add scale=full"):
        wanted.read(settings | {"precision": "2%"})
    for wrong in ("two", "-1%", "80%"):
        with pytest.raises(InputError, match="config: precision: "):
            wanted.read(full | {"precision": wrong})


def test_a_price_book_may_be_a_day_without_quotes(settings):
    day = datetime.date(2017, 12, 16)  # so Snakemake reads it
    assert wanted.read(settings | {"price_book": day}).price_book == "2017-12-16"


def test_a_price_alone_is_an_on_demand_price(settings):
    known = wanted.read(settings | {"price": 0.1})
    assert known.price.model_dump() == {"per_hour_usd": 0.1, "kind": "on_demand"}


def test_the_environment_names_a_mirror_and_the_configuration_wins(settings, monkeypatch):
    monkeypatch.setenv("EPOCHCOST_MIRROR", "/a")
    assert str(wanted.read(settings).mirror) == "/a"
    settings["data"]["mirror"] = "/b"
    assert str(wanted.read(settings).mirror) == "/b"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("workloads.yaml", "epochs: 20", "epoch: 20", "unknown key 'epoch'; did you mean 'epochs'"),
        ("workloads.yaml", "dataset: mnist", "dataset: mnits", "did you mean 'mnist'"),
        ("workloads.yaml", "epochs: 20", "epochs: [", "workloads.yaml, line"),
        ("workloads.yaml", "mnist_mlp:", "{{ a }}:", "a key is no single word"),
        ("hardware.yaml", "gce-p100:", "gce-k80:", "the key 'gce-k80' is given twice"),
        ("config.yaml", "runs: 1", "runs: 1\nruns: 2", "the key 'runs' is given twice"),
        ("hardware.yaml", "vcpus: 16", "vcpus: many", "'many' is not a whole number"),
    ],
)
def test_mistakes_in_the_other_files_are_named(tmp_path, settings, file, old, new, message):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config" / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as raised:
        wanted.read(settings, tmp_path)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            {"workloads": "mnist_mlp,mnist_cnn", "frameworks": "pytorch,fastai"},
            (
                "mnist_mlp is not trained by fastai (frameworks that train it: keras-tensorflow, "
                "keras-torch, keras-jax, pytorch)",
            ),
        ),
        (
            {"frameworks": "pytorch,keras-jax", "variants": "default,no_onednn"},
            ("keras-jax has no variant no_onednn",),
        ),
        ({"workloads": "all", "frameworks": "pytorch,fastai"}, ()),
        (
            {"workloads": "all", "frameworks": "pytorch"},
            ("catsdogs_resnet50 is not trained by pytorch",),
        ),
        ({"frameworks": "all", "variants": "default,no_onednn"}, ()),
    ],
    ids=str,
)
def test_what_was_named_and_cannot_be_trained_is_said(settings, named, said):
    assert wanted.read(settings | named).left_out == said


def test_a_workload_that_no_configured_framework_trains_is_refused(tmp_path, settings):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config/workloads.yaml"
    able = "[keras-tensorflow, keras-torch, keras-jax, pytorch]"
    path.write_text(path.read_text().replace(able, "[keras-tensorflow]", 1))
    with pytest.raises(InputError, match="mnist_mlp is not trained by pytorch; frameworks that"):
        wanted.read(settings | {"frameworks": ["pytorch"]}, tmp_path)


def test_all_workloads_are_all_that_the_frameworks_train(settings):
    few = wanted.read(settings | {"workloads": "all"}).workloads
    assert "catsdogs_resnet50" not in few
    assert few[:3] == ["mnist_mlp", "mnist_cnn", "cifar10_cnn"]
    of_fastai = wanted.read(settings | {"workloads": "all", "frameworks": "fastai"})
    assert of_fastai.workloads == ["mnist_cnn", "cifar10_cnn", "catsdogs_resnet50"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("gce-k8,0.5\n", "{book}: unknown hardware 'gce-k8'; did you mean"),
        ("", "{book} holds no price"),
    ],
)
def test_a_price_file_of_hardware_that_nobody_knows_is_refused(settings, tmp_path, rows, said):
    book = tmp_path / "rates.csv"
    rows = rows.replace("\n", ",USD,on_demand,2026-01-02,me\n")
    head = "hardware_id,price_per_hour,currency,price_kind,as_of,source_id\n"
    book.write_text(head + rows)
    with pytest.raises(InputError, match=re.escape(said.format(book=book))):
        wanted.read(settings | {"price_book": str(book)})


@pytest.mark.parametrize("text", ["", "- a", "mnist_mlp: 3", "mnist_mlp: ["])
def test_recipes_that_are_none_are_one_line_for_a_training_too(tmp_path, text):
    path = tmp_path / "workloads.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"workloads\.yaml"):
        recipes.load(path)


def test_hardware_whose_rules_would_have_one_name_is_refused(tmp_path, settings):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config/hardware.yaml"
    path.write_text(path.read_text() + "a-b: {label: x}\na.b: {label: y}\n")
    wanted.read(settings | {"hardware": "a-b"}, tmp_path)
    with pytest.raises(InputError, match=r"a-b and a\.b differ"):
        wanted.read(settings | {"hardware": "a-b,a.b"}, tmp_path)


def test_what_is_made_of_the_keys_is_in_step():
    """`python scripts/settings.py` writes them."""
    readme = (ROOT / "config/README.md").read_text()
    defaults = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    assert (ROOT / "config/schemas/config.schema.json").read_text() == keys.schema()
    assert keys.table(defaults) in readme
