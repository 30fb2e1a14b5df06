"""Which revision a record is of, with git and without."""

import pytest
from clones import commit

from epochcost.measure import revision


@pytest.fixture
def clone(tmp_path):
    """A repository with one commit that has a script."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/one.py").write_text("1")
    (tmp_path / "other").write_text("1")
    commit(tmp_path)
    return tmp_path


def test_a_change_is_said(clone):
    before = revision.commit(clone), revision.code(clone)
    assert before[0]["dirty"] is False
    (clone / "other").write_text("2")
    assert revision.commit(clone) == before[0] | {"dirty": True}
    assert revision.code(clone) == before[1]
    (clone / "scripts/one.py").write_text("2")
    changed = revision.code(clone)
    assert changed != before[1]
    (clone / "scripts/two.py").write_text("of one's own, not in git")
    assert revision.code(clone) not in (before[1], changed)


@pytest.mark.parametrize("changed", [False, True])
def test_what_is_sent_arrives_where_there_is_no_git(clone, tmp_path_factory, monkeypatch, changed):
    if changed:
        (clone / "other").write_text("2")
    known = revision.commit(clone)
    monkeypatch.setenv(revision.COMMIT, revision.to_send(clone))
    assert revision.commit(tmp_path_factory.mktemp("machine")) == known
    monkeypatch.setenv(revision.COMMIT, "abc")
    assert revision.commit(clone) == {"commit": "abc", "dirty": False}, "what was told counts"


@pytest.mark.parametrize("told", [None, ""])
def test_nobody_knows(tmp_path, monkeypatch, told):
    monkeypatch.delenv(revision.COMMIT, raising=False)
    if told is not None:
        monkeypatch.setenv(revision.COMMIT, told)
    assert revision.commit(tmp_path) is None
    assert revision.to_send(tmp_path) == ""
