import pytest

from epochcost import files
from epochcost.data import registry
from epochcost.errors import InputError
from epochcost.models import workloads


@pytest.fixture(scope="module")
def known() -> dict:
    return workloads.read().datasets


def never(url: str) -> bool:
    raise AssertionError(f"{url} was asked")


def hold(mirror, dataset: str, kind: str, known) -> None:
    """Make the mirror look as if it held an archive."""
    archive = next(a for a in registry.archives(dataset, known) if a.kind == kind)
    for file in archive.files:
        path = mirror / dataset / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_all_six_data_sets_are_registered_with_terms_and_checksums(known):
    sets = {"mnist", "cifar10", "nietzsche", "imdb", "twitter", "cats-vs-dogs"}
    assert set(known) == sets | {"resnet50-imagenet"}
    for name in known:
        assert any(archive.downloadable for archive in registry.archives(name, known))


@pytest.mark.parametrize("source", ["synthetic", "canonical"])
def test_a_named_source_is_taken_unasked(known, tmp_path, source):
    origin = registry.choose_origin("mnist", known, source, tmp_path, tmp_path, never)
    assert origin.source == source


def test_auto_takes_the_mirror_before_the_network(known, tmp_path):
    hold(tmp_path / "mirror", "mnist", "complete", known)
    origin = registry.choose_origin(
        "mnist", known, "auto", tmp_path / "mirror", tmp_path / "raw", never
    )
    assert (origin.source, origin.kind, origin.notice) == ("mirror", "complete", None)


def test_auto_stays_with_what_was_fetched_and_keeps_its_source(known, tmp_path):
    (archive,) = registry.archives("mnist", known)
    fetched = [{"name": file.name, "sha256": file.sha256} for file in archive.files]
    about = {"dataset": "mnist", "source": "mirror", "files": fetched}
    files.write_json(tmp_path / "mnist/complete.json", about)
    origin = registry.choose_origin("mnist", known, "auto", None, tmp_path, never)
    assert (origin.source, origin.kind) == ("mirror", "complete")


def test_another_edition_that_was_fetched_before_is_not_what_the_registry_has(known, tmp_path):
    (archive,) = registry.archives("mnist", known)
    fetched = [{"name": file.name, "sha256": "0" * 64} for file in archive.files]
    about = {"dataset": "mnist", "source": "mirror", "files": fetched}
    files.write_json(tmp_path / "mnist/complete.json", about)
    origin = registry.choose_origin("mnist", known, "auto", None, tmp_path, lambda url: True)
    assert origin.source == "canonical"


def test_auto_takes_the_server_when_it_answers(known, tmp_path):
    origin = registry.choose_origin("mnist", known, "auto", None, tmp_path, lambda url: True)
    assert (origin.source, origin.kind) == ("canonical", "complete")


def test_auto_generates_data_only_when_nothing_else_is_left_and_says_so(known, tmp_path):
    origin = registry.choose_origin("mnist", known, "auto", None, tmp_path, lambda url: False)
    assert origin.kind == "synthetic"
    assert "synthetic" in origin.notice
    assert "\n" not in origin.notice


def test_a_subset_in_the_mirror_is_a_subset(known, tmp_path):
    hold(tmp_path, "twitter", "subset", known)
    origin = registry.choose_origin("twitter", known, "mirror", tmp_path, tmp_path / "raw")
    assert origin.kind == "subset"


def test_auto_takes_a_part_that_is_at_hand_and_says_so(known, tmp_path):
    hold(tmp_path, "twitter", "subset", known)
    origin = registry.choose_origin("twitter", known, "auto", tmp_path, tmp_path / "raw", never)
    assert (origin.source, origin.kind) == ("mirror", "subset")
    assert origin.notice == (
        "twitter: only a part of it is at hand, and counts as a part; all of it is on its server: "
        '--config "data={source: canonical}"'
    )
    nowhere = {"twitter": {"archives": [dict(one) for one in known["twitter"]["archives"]]}}
    for archive in nowhere["twitter"]["archives"]:
        archive["files"] = [
            {key: value for key, value in file.items() if key != "url"} for file in archive["files"]
        ]
    origin = registry.choose_origin("twitter", nowhere, "auto", tmp_path, tmp_path / "raw", never)
    assert origin.notice.endswith("counts as a part")


def test_a_mirror_that_lacks_a_file_is_named(known, tmp_path):
    hold(tmp_path, "mnist", "complete", known)
    (tmp_path / "mnist/t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(InputError, match="lacks mnist/t10k-labels"):
        registry.choose_origin("mnist", known, "mirror", tmp_path, tmp_path / "raw")


def test_a_mirror_that_is_not_set_is_said(known, tmp_path):
    with pytest.raises(InputError, match="no mirror folder is set"):
        registry.choose_origin("mnist", known, "mirror", None, tmp_path)


def test_an_unreachable_server_is_found_out():
    assert not registry.can_fetch("http://127.0.0.1:9/nothing")


def test_a_mirror_that_is_not_there_is_said_even_by_auto(known, tmp_path):
    for source in ("auto", "mirror"):
        with pytest.raises(InputError, match="nowhere does not exist"):
            registry.choose_origin("mnist", known, source, tmp_path / "nowhere", tmp_path, never)


def test_a_mirror_that_lacks_a_data_set_is_named_before_data_are_generated(known, tmp_path):
    (tmp_path / "mirror").mkdir()
    origin = registry.choose_origin(
        "mnist", known, "auto", tmp_path / "mirror", tmp_path / "raw", lambda url: False
    )
    assert origin.kind == "synthetic"
    assert "mirror lacks it" in origin.notice
