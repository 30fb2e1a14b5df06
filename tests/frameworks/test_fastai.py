"""What fastai does with a recipe: its own `fit`, and its way of fine-tuning."""

import pytest
from trainings import answer, refused, train

from epochcost import files

pytestmark = pytest.mark.slow

FIT = """
import json
from pathlib import Path
import numpy as np
from epochcost import models
from epochcost.models import recipes
from epochcost.frameworks import fastai, fastai_clock
from epochcost.frameworks.framework import Task
from epochcost.measure.clock import Clock
from epochcost.measure import extent

rates, first = set(), {}

class Look(fastai_clock.ReadClock):
    def before_batch(self):
        layer = self.learn.model[0]
        first.setdefault("weight", layer.weight.abs().max().item())
        first.setdefault("bias", layer.bias.abs().max().item())
        rates.update(group["lr"] for group in self.learn.opt.opt.param_groups)
        super().before_batch()

fastai.ReadClock = Look
recipe = recipes.load(Path("config/workloads.yaml"))["mnist_cnn"]
x, y = np.ones((256, 28, 28, 1), np.float32), np.zeros(256, np.uint8)
split = models.Split(x, y, x, y)
clock = Clock(extent.of("quick", recipe, 256, 256))
fastai.FastAi().train(Task(recipe, models.load("mnist_cnn"), split, 1, {}), clock)
print(json.dumps([sorted(rates), first]))
"""


def test_the_rate_is_the_recipes_all_the_time_and_weights_start_as_in_keras(pythons):
    rates, first = answer(pythons["fastai"], "-c", FIT)
    assert rates == [1.0]
    # Glorot's bound for 3 x 3 weights from 1 to 32 planes; PyTorch's own would be 1/3.
    assert 0.12 < first["weight"] <= (6 / (9 + 9 * 32)) ** 0.5
    assert first["bias"] == 0


# A fine-tuning on six pictures, with what it did to weights and rates between its parts.
TUNE = """
import json
import sys
from pathlib import Path
from types import SimpleNamespace
import torch
from epochcost.models import recipes
from epochcost.data import arrays
from epochcost.frameworks import fastai, fastai_tuning
from epochcost.frameworks.framework import Task
from epochcost.measure.clock import Clock
from epochcost.measure import extent
from epochcost import models

moments, learners, passes = [], [], []

class Learner(fastai_tuning.Learner):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        learners.append(self)
    def get_preds(self, *arguments, **options):
        passes.append(options.get("ds_idx"))
        return super().get_preds(*arguments, **options)

class Looking(Clock):
    def epoch_begin(self):
        super().epoch_begin()
        self.look()
    def train_end(self):
        self.look()
        super().train_end()
    def look(self):
        (learner,) = learners
        body, head = learner.model[0][0].weight, learner.model[1][-1].weight
        hypers = [dict(h) for h in learner.opt.hypers] if learner.opt else []
        moments.append((body.detach().clone(), head.detach().clone(), hypers))

fastai_tuning.Learner = Learner
recipe = recipes.load(Path("config/workloads.yaml"))["catsdogs_resnet50"]
model = models.load("catsdogs_resnet50")
split = model.inputs(arrays.load(Path(sys.argv[1])), recipe["model"])
clock = Looking(extent.of("quick", recipe, len(split.x_train), len(split.x_validation)))
fastai.FastAi().train(Task(recipe, model, split, 1, {}), clock)
(body, head, _), (body_1, head_1, frozen), (body_2, head_2, _), (body_3, head_3, whole) = moments
print(json.dumps({
    "body": [torch.equal(body, body_1), torch.equal(body_2, body_3)],
    "head": [torch.equal(head, head_1), torch.equal(head_2, head_3)],
    "ratio": whole[-1]["lr"] / whole[0]["lr"],
    "groups": len(whole),
    "options": {name: whole[-1][name] for name in ("sqr_mom", "eps", "wd")},
    "views": len(passes),
}))
"""


def test_fine_tuning_trains_the_head_and_then_all_of_it_slower_further_down(pythons, few_pictures):
    found = answer(pythons["fastai"], "-c", TUNE, few_pictures)
    assert found["body"] == [True, False], "frozen, then trained"
    assert found["head"] == [False, False]
    assert found["ratio"] == pytest.approx(30)
    assert found["groups"] == 3
    assert found["options"] == pytest.approx({"sqr_mom": 0.99, "eps": 1e-5, "wd": 0.01})
    assert found["views"] == 9, "eight changed views, and the pictures as they are"


WITHOUT_ONEDNN = """
import json
import torch
from epochcost.frameworks import fastai, fastai_tuning
def end(*_): raise KeyboardInterrupt
fastai_tuning.loaders_of = end
from epochcost.models import recipes
from epochcost.frameworks.framework import Task
from epochcost.measure import clock, extent
recipe = recipes.load("config/workloads.yaml")["catsdogs_resnet50"]
framework = fastai.FastAi()
try:
    clock = clock.Clock(extent.of("quick", recipe, 100, 100))
    framework.train(Task(recipe, None, None, 1, {"onednn": False}), clock)
except KeyboardInterrupt:
    print(json.dumps([torch.backends.mkldnn.enabled, "onednn" in framework.choices(recipe)]))
"""


def test_fine_tuning_does_without_onednn_where_that_is_asked_for(pythons):
    assert answer(pythons["fastai"], "-c", WITHOUT_ONEDNN) == [False, True]


SAVE_WEIGHTS = """
import json, sys, torch
from pathlib import Path
from epochcost.frameworks import fastai, fastai_clock
from epochcost.models import Split, load
from torchvision.models import resnet50
whole = resnet50().state_dict()
torch.save(whole, sys.argv[1])
split = Split(None, None, weights=Path(sys.argv[1]))
body = load("catsdogs_resnet50").torch_model(split, {"classes": 2})[0]
first, last = body[0].weight, body[7][2].conv3.weight
same = whole["conv1.weight"], whole["layer4.2.conv3.weight"]
print(json.dumps([torch.equal(first, same[0]), torch.equal(last, same[1])]))
"""


def test_fine_tuning_starts_from_a_file_of_weights_and_refuses_another(
    pythons, few_pictures, tmp_path
):
    folder = tmp_path / "resnet50-imagenet"
    folder.mkdir()
    path, description = folder / "resnet50-11ad3fa6.pth", folder / "complete.json"
    assert answer(pythons["fastai"], "-c", SAVE_WEIGHTS, path) == [True, True]
    fetched = {"dataset": "resnet50-imagenet", "kind": "complete", "source": "mirror"}
    checksum = files.sha256(path)
    fetched["files"] = [{"name": path.name, "sha256": checksum, "bytes": path.stat().st_size}]
    files.write_json(description, fetched)
    record = train(
        pythons["fastai"], "catsdogs_resnet50", "fastai", few_pictures, tmp_path / "r.json",
        "--weights", description,
    )  # fmt: skip
    assert record["weights"]["source"] == "mirror"
    assert record["weights"]["sha256"] == checksum
    assert len(record["epochs"]) == 2
    assert record["phases"]["predict"] > 0
    assert record["quality"]["value"] in (0.0, 0.25, 0.5, 0.75, 1.0)
    with open(path, "ab") as file:
        file.write(b"!")
    said = refused(
        pythons["fastai"], "catsdogs_resnet50", "fastai", few_pictures, tmp_path / "s.json",
        "--weights", description,
    )  # fmt: skip
    assert "is missing or damaged; delete" in said
