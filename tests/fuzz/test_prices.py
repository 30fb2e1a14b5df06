"""Damaged price files, billing rules and catalogues: right rows, or one line that says why.

The variable EPOCHCOST_FUZZ is the number of examples (100); fewer refresh prices.
"""

import contextlib
import csv
import io
import math
import random
import runpy
import sys
from datetime import UTC, datetime
from unittest import mock

import pytest
from fuzz import damage
from fuzz.damage import fewer, fuzzed, seeds
from hypothesis import given
from hypothesis import strategies as st

from epochcost import ROOT
from epochcost.errors import InputError, one_line
from epochcost.money import billing, billing_rules, catalogues, prices


def lines_of(path, *hardware: str) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return [head, *(row for row in rows if not hardware or row[0] in hardware)]


def written(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


HARDWARE = (
    "aws-g5.xlarge", "aws-g4dn.xlarge", "gce-t4", "lambda-gpu-1x-gh200", "vast-1x-h200-32-65536",
)  # fmt: skip
BOOK = lines_of(ROOT / "config/prices.csv", *HARDWARE)
RULES = lines_of(ROOT / "config/billing.csv")
OLD = lines_of(ROOT / "data/published/prices.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def sound_files(folder):
    """The text of price files, and their prices."""
    found = {}
    for name, rows in (("book", BOOK), ("old", OLD)):
        (folder / name).write_text(written(rows), encoding="utf-8")
        found[name] = written(rows), loads(folder / name)
    return found


def sound(known: list[prices.Price]) -> None:
    """What is accepted can be put into books and bills."""
    for price in known:
        assert 0 <= price.price_per_hour_usd < math.inf
        assert price.price_kind in prices.kinds()
        assert price.hardware_id
    for book in ("2017-12", "2018-02", prices.LATEST):
        for price in prices.in_book(known, book):
            bill = float(billing.bill_usd(100.5, price.terms, billing.NOTHING))
            least = 100.5 * price.price_per_hour_usd / 3600
            assert least * (1 - 1e-9) <= bill < math.inf


def loads(path) -> list[prices.Price] | None:
    """The prices of a file, sound; None where one line says what is wrong with it."""
    try:
        known = prices.load(path, rates={"EUR": 1.1})
    except InputError as error:
        assert one_line(error)
        assert "\n" not in one_line(error)
        return None
    sound(known)
    return known


def with_odd_cell(rows: list[list[str]], word: str, seed: int) -> tuple[list[list[str]], int]:
    """The rows with another word in one cell, and which row that is in."""
    rng, rows = random.Random(seed), [list(row) for row in rows]
    place = rng.randrange(1, len(rows))
    rows[place][rng.randrange(len(rows[0]))] = word
    return rows, place


def with_odd_columns(rows: list[list[str]], word: str, seed: int) -> list[list[str]]:
    rng, rows = random.Random(seed), [list(row) for row in rows]
    column, other = (rng.randrange(len(rows[0])) for _ in range(2))
    match rng.randrange(5):
        case 0:
            return [row[:column] + row[column + 1 :] for row in rows]
        case 1:
            return [[*row, row[column]] for row in rows]
        case 2:
            rows[0][column] = word
        case 3:
            rows[0][column], rows[0][other] = rows[0][other], rows[0][column]
        case 4:
            rows[rng.randrange(len(rows))] = rows[1][:column]
    return rows


@fuzzed
@given(word=damage.words, seed=seeds, whole=st.booleans())
def test_a_damaged_price_file(folder, word, seed, whole):
    rows = BOOK[:6] if whole else with_odd_columns(BOOK, word, seed)
    content = written(rows).encode("utf-8", "replace")
    (folder / "prices.csv").write_bytes(damage.of_bytes(content, seed) if whole else content)
    loads(folder / "prices.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp500", "cp1252"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\n\n", "\x85"])
@pytest.mark.parametrize("letter", ["", "ü", "€"])
def test_a_price_file_of_another_encoding(folder, encoding, ending, letter):
    path, text = folder / "prices.csv", written(BOOK)
    content = text.replace("catalogue", f"catal{letter}gue").replace("\n", ending)
    path.write_bytes(content.encode(encoding, "replace"))
    known = loads(path)
    if encoding.startswith("utf-8") and ending != "\x85":
        assert len(known) == text.count("\n") - 1
    if encoding in ("utf-16", "utf-32", "cp500"):
        assert known is None


@fuzzed
@given(name=st.sampled_from(["book", "old"]), word=damage.words, seed=seeds)
def test_an_odd_cell_of_a_price_file(folder, sound_files, name, word, seed):
    """The other rows are as they were."""
    text, before = sound_files[name]
    rows, place = with_odd_cell(list(csv.reader(io.StringIO(text))), word, seed)
    path = folder / "prices.csv"
    path.write_text(written(rows), encoding="utf-8", errors="replace", newline="")
    after = loads(path)
    if after is not None:
        spoilt = {before[place - 1].hardware_id, rows[place][rows[0].index("hardware_id")]}
        assert [price for price in after if price.hardware_id not in spoilt] == [
            price for price in before if price.hardware_id not in spoilt
        ]


@fuzzed
@given(word=damage.words, seed=seeds, whole=st.booleans())
def test_damaged_billing_rules(folder, word, seed, whole):
    path = folder / "billing.csv"
    if whole:
        path.write_bytes(damage.of_bytes(written(RULES).encode(), seed))
    else:
        rows, _ = with_odd_cell(RULES, word, seed)
        path.write_text(written(rows), encoding="utf-8", errors="replace", newline="")
    try:
        found = billing_rules.load(path)
    except InputError as error:
        assert "\n" not in one_line(error)
        return
    sound(prices.load(ROOT / "data/published/prices.csv", billed_by=found))


HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region"
# Catalogues of providers, and which hardware each line prices.
CATALOGUE = {
    "aws": {
        "g5.xlarge,A10G,1,4,16,1.1,0.4,us-east-1": "aws-g5.xlarge",
        "g4dn.xlarge,T4,1,4,16,0.6,0.2,us-east-1": "aws-g4dn.xlarge",
    },
    "gcp": {
        "n1-standard-4,,,4,15,0.19,0.06,us-central1": "gce-t4",
        ",T4,1,,,0.36,0.15,us-central1": "gce-t4",
    },
    "lambda": {"gpu_1x_gh200,GH200,1,64,432,1.99,,us-east-1": "lambda-gpu-1x-gh200"},
    "vast": {'1x-H200-32-65536,H200,1,32,64,2.65,0.00,"France, FR, EU"': "vast-1x-h200-32-65536"},
}


def refreshed(folder, catalogues_: dict[str, bytes]) -> tuple[dict[tuple, float], str]:
    """The new prices that scripts/prices.py adds by a catalogue, and what it says.

    The old rows are as they were, the file is sound, and no price has jumped.
    """
    book, before = folder / "book.csv", written(BOOK)
    book.write_text(before, encoding="utf-8")
    for name, content in catalogues_.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "vms.csv").write_bytes(content)
    command, out = ["prices.py", "--prices", str(book), "--catalogue", str(folder)], io.StringIO()
    with (
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(out),
        pytest.raises(SystemExit) as ended,
    ):
        runpy.run_path(str(ROOT / "scripts/prices.py"), run_name="__main__")
    text = book.read_text(encoding="utf-8")
    assert text.startswith(before)
    if isinstance(said := ended.value.code, str):
        assert said.startswith("epochcost: ") and "\n" not in said
        assert text == before
        return {}, said
    assert not ended.value.code
    sound(prices.load(book))
    rows = list(csv.DictReader(io.StringIO(text)))
    known = {(row["hardware_id"], row["price_kind"]): row for row in rows[: len(BOOK) - 1]}
    new = {}
    for row in rows[len(BOOK) - 1 :]:
        key = row["hardware_id"], row["price_kind"]
        assert key not in new
        assert row["as_of"] == datetime.now(UTC).date().isoformat()
        new[key] = float(row["price_per_hour"])
        before_usd = float(known[key]["price_per_hour"])
        assert before_usd / catalogues.JUMP <= new[key] <= before_usd * catalogues.JUMP
    return new, out.getvalue()


def whole() -> dict[str, list[bytes]]:
    """The lines of each catalogue."""
    return {name: [HEAD.encode(), *map(str.encode, lines)] for name, lines in CATALOGUE.items()}


@pytest.fixture(scope="module")
def good(folder):
    new, _ = refreshed(folder, {name: b"\n".join(lines) for name, lines in whole().items()})
    assert len(new) == 8
    return new


@pytest.mark.parametrize("damaged", ["cell", "line", "file"])
@fewer
@given(provider=st.sampled_from([*CATALOGUE]), word=damage.words, seed=seeds)
def test_what_is_damaged_in_a_catalogue_costs_no_other_its_price(
    folder, good, damaged, provider, word, seed
):
    rng, files = random.Random(seed), whole()
    place = rng.randrange(len(CATALOGUE[provider]))
    lines, own = files[provider], set(CATALOGUE[provider].values())
    if damaged != "file":
        own = {[*CATALOGUE[provider].values()][place]}
        lines[place + 1] = damage.of_bytes(lines[place + 1], seed)
    if damaged == "cell":
        cells = next(csv.reader([[*CATALOGUE[provider]][place]]))
        cells[rng.randrange(len(cells))] = word
        lines[place + 1] = written([cells]).removesuffix("\n").encode("utf-8", "replace")
    content = {name: b"\n".join(those) for name, those in files.items()}
    if damaged == "file":
        content[provider] = damage.of_bytes(content[provider], seed)
    new, said = refreshed(folder, content)
    kept = {key: usd for key, usd in good.items() if key[0] not in own}
    assert {key: usd for key, usd in new.items() if key[0] not in own} == kept, said
    if damaged != "file":
        for key in good.keys() - new.keys():
            assert key[0] in said
