"""Recipes as a training reads them: what makes a workload of one's own another one."""

import pytest

from epochcost import ROOT
from epochcost.models import recipes
from epochcost.record.record import recipe_id

WORKLOADS = ROOT / "config/workloads.yaml"
MODEL = '''\
"""A model."""


def torch_model(split, hyper):
    return layers(hyper["units"])  # as in the paper
'''


@pytest.fixture
def named(tmp_path, monkeypatch):
    """The recipe id of a workload whose Python file has the given content."""
    monkeypatch.setattr(recipes, "MODELS", tmp_path)
    entry = recipes.load(WORKLOADS)["mnist_mlp"]

    def ask(content: str, workload: str = "mine") -> str:
        (tmp_path / f"{workload}.py").write_text(content)
        return recipe_id(recipes.separate({workload: entry})[0][workload])

    return ask


def test_another_model_of_ones_own_is_another_recipe(named):
    assert named(MODEL) != named(MODEL.replace('["units"]', '["units"] + 1'))
    assert named(MODEL) != named(MODEL.replace("    return", "return"))


def test_lines_that_are_comments_or_blank_make_no_other_recipe(named):
    lines = MODEL.replace("\n\n", "\n\n# of a comment\n    # and another\n \n")
    assert named(lines) == named(MODEL)
    assert named(MODEL.replace("\n", "  \r\n")) == named(MODEL)
    for said in ("A model.", "as in the paper"):
        assert named(MODEL.replace(said, "other words")) != named(MODEL)


def test_the_models_of_the_study_stay_what_they_are(named):
    assert recipes.load(WORKLOADS).keys() >= recipes.STUDY
    assert named(MODEL, "mnist_mlp") == named(MODEL + "more = 1\n", "mnist_mlp")


def test_a_file_that_is_not_there_is_left_to_others_to_refuse(tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "MODELS", tmp_path)
    entry = recipes.load(WORKLOADS)["mnist_mlp"]
    assert recipes.separate({"mine": entry})[0]["mine"]["code"] == ""
