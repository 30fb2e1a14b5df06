"""Damaged price files, billing rules and catalogues: right rows, or one line that says why.

The variable EPOCHCOST_FUZZ is the number of examples of each test (100 without it); of those that
refresh prices, a quarter of it.
"""

import contextlib
import csv
import io
import math
import os
import runpy
import sys
from datetime import UTC, datetime
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epochcost import ROOT
from epochcost.errors import InputError, one_line
from epochcost.money import billing, billing_rules, catalogues, prices

EXAMPLES = int(os.environ.get("EPOCHCOST_FUZZ", "100"))
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large]
fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=CHECKS)
# Those that run the script, which takes longer.
refreshing = settings(fuzzed, max_examples=max(1, EXAMPLES // 4))

# What people and programs write into cells.
ODD = st.sampled_from(
    ["", " ", "0", "-0", "-1", "1e999", "1e-320", "nan", "NaN", "inf", "-inf", "1_5", "0x10", "1,5",
     "1e6", "1e7", "٣", "½", "True", "None", "null", "#REF!", "=1+1", "USD", "EUR", "on_demand",
     "monthly", "free", "spot", "owned", "2026-07-09", "20260709", "2026-02-30", "0000-00-00",
     "9999-12-31", "2026-07-09T00:00", "local", "\x00", "\r", "\n", '"', '""', "'", "\ufeff",
     "\u2028", "\ud7ff", "a" * 5000, "GPU 1 + machine", "GPU 0.1 + machine 0.2", "60", "3600",
     "../..", "$(id)"]
) | st.text(max_size=8).filter(lambda text: text.isprintable()) | st.floats().map(repr)  # fmt: skip


BOM = b"\xef\xbb\xbf"


def damage(content: bytes, draw) -> bytes:
    """Content with a few bytes taken out, put in or doubled."""
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 40))
        put = draw(
            st.binary(max_size=6)
            | st.sampled_from([b",", b'"', b"\n", b"\r", b"\r\n", b"\x00", b"\xff", BOM, b"-"])
            | st.just(content[place : place + length])
        )  # fmt: skip
        content = content[:place] + put + content[place + draw(st.integers(0, length)) :]
    return content


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


@fuzzed
@given(st.data())
def test_damaged_bytes_of_a_price_file(folder, data):
    path = folder / "prices.csv"
    path.write_bytes(damage(written(BOOK[:6]).encode(), data.draw))
    loads(path)


@fuzzed
@given(
    text=st.sampled_from([written(BOOK), written(OLD)]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp500", "cp1252"]),
    ending=st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\x85"]),
    letter=st.sampled_from(["", "ü", "€"]),
)
def test_a_price_file_of_another_encoding(folder, text, encoding, ending, letter):
    path = folder / "prices.csv"
    try:
        content = text.replace("catalogue", f"catal{letter}gue").replace("\n", ending)
        path.write_bytes(content.encode(encoding))
    except UnicodeEncodeError:
        return
    known = loads(path)
    if encoding.startswith("utf-8") and ending in ("\n", "\r\n", "\r", "\n\n"):
        assert len(known) == text.count("\n") - 1
    if encoding in ("utf-16", "utf-32", "cp500"):
        assert known is None


@fuzzed
@given(st.data())
def test_an_odd_cell_of_a_price_file(folder, sound_files, data):
    """The other rows are as they were."""
    name = data.draw(st.sampled_from(sorted(sound_files)))
    text, before = sound_files[name]
    rows = list(csv.reader(io.StringIO(text)))
    path = folder / "prices.csv"
    place = data.draw(st.integers(1, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    rows[place][column] = data.draw(ODD)
    path.write_text(written(rows), encoding="utf-8", newline="")
    after = loads(path)
    if after is None:
        return
    hardware = rows[0].index("hardware_id")
    spoilt = {before[place - 1].hardware_id, rows[place][hardware]}
    assert [price for price in after if price.hardware_id not in spoilt] == [
        price for price in before if price.hardware_id not in spoilt
    ]


@fuzzed
@given(st.data())
def test_odd_columns_of_a_price_file(folder, data):
    rows = [list(row) for row in BOOK]
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    match data.draw(st.sampled_from(["drop", "double", "rename", "swap", "short"])):
        case "drop":
            rows = [row[:column] + row[column + 1 :] for row in rows]
        case "double":
            rows = [[*row, row[column]] for row in rows]
        case "rename":
            rows[0][column] = data.draw(ODD)
        case "swap":
            other = data.draw(st.integers(0, len(rows[0]) - 1))
            rows[0][column], rows[0][other] = rows[0][other], rows[0][column]
        case "short":
            rows[data.draw(st.integers(0, len(rows) - 1))] = rows[1][:column]
    (folder / "prices.csv").write_text(written(rows), encoding="utf-8")
    loads(folder / "prices.csv")


@fuzzed
@given(st.data())
def test_damaged_billing_rules(folder, data):
    path = folder / "billing.csv"
    if data.draw(st.booleans()):
        path.write_bytes(damage(written(RULES).encode(), data.draw))
    else:
        rows = [list(row) for row in RULES]
        column = data.draw(st.integers(0, len(rows[0]) - 1))
        rows[data.draw(st.integers(0, len(rows) - 1))][column] = data.draw(ODD)
        path.write_text(written(rows), encoding="utf-8", newline="")
    try:
        found = billing_rules.load(path)
    except InputError as error:
        assert "\n" not in one_line(error)
        return
    sound(prices.load(ROOT / "data/published/prices.csv", billed_by=found))


HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region"
CATALOGUE = {
    "aws": [
        "g5.xlarge,A10G,1,4,16,1.1,0.4,us-east-1",
        "g4dn.xlarge,T4,1,4,16,0.6,0.2,us-east-1",
    ],
    "gcp": [
        "n1-standard-4,,,4,15,0.19,0.06,us-central1",
        ",T4,1,,,0.36,0.15,us-central1",
    ],
    "lambda": ["gpu_1x_gh200,GH200,1,64,432,1.99,,us-east-1"],
    "vast": ['1x-H200-32-65536,H200,1,32,64,2.65,0.00,"France, FR, EU"'],
}
# Which line prices what.
OF_LINE = {
    ("aws", 0): {"aws-g5.xlarge"},
    ("aws", 1): {"aws-g4dn.xlarge"},
    ("gcp", 0): {"gce-t4"},
    ("gcp", 1): {"gce-t4"},
    ("lambda", 0): {"lambda-gpu-1x-gh200"},
    ("vast", 0): {"vast-1x-h200-32-65536"},
}
NAMES = ("g5.xlarge", "g4dn.xlarge", "n1-standard-4", "T4", "gpu_1x_gh200", "1x-H200-32-65536")


def refreshed(folder, files: dict[str, bytes]) -> tuple[dict[tuple, float], str]:
    """The new prices that scripts/prices.py adds by a catalogue, and what it says.

    The old rows are as they were, the file is sound, and no price has jumped.
    """
    book = folder / "book.csv"
    before = written(BOOK)
    book.write_text(before, encoding="utf-8")
    for name, content in files.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "vms.csv").write_bytes(content)
    command = ["prices.py", "--prices", str(book), "--catalogue", str(folder)]
    out = io.StringIO()
    with (
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(out),
        pytest.raises(SystemExit) as ended,
    ):
        runpy.run_path(str(ROOT / "scripts/prices.py"), run_name="__main__")
    text = book.read_text(encoding="utf-8")
    assert text.startswith(before)
    if isinstance(ended.value.code, str):
        assert ended.value.code.startswith("epochcost: ")
        assert "\n" not in ended.value.code
        assert text == before
        return {}, ended.value.code
    assert not ended.value.code
    sound(prices.load(book))
    old = {(row[0], row[BOOK[0].index("price_kind")]): row for row in BOOK[1:]}
    place = BOOK[0].index("price_per_hour")
    new = {}
    for row in list(csv.DictReader(io.StringIO(text)))[len(BOOK) - 1 :]:
        key = row["hardware_id"], row["price_kind"]
        assert key not in new
        assert row["as_of"] == datetime.now(UTC).date().isoformat()
        new[key] = float(row["price_per_hour"])
        known = float(old[key][place])
        assert known / catalogues.JUMP <= new[key] <= known * catalogues.JUMP
    return new, out.getvalue()


def catalogue() -> dict[str, list[str]]:
    return {name: [HEAD, *lines] for name, lines in CATALOGUE.items()}


def as_files(lines: dict[str, list[str]]) -> dict[str, bytes]:
    return {
        name: "\n".join(those).encode("utf-8", "surrogatepass") for name, those in lines.items()
    }


@pytest.fixture(scope="module")
def good(folder):
    new, _ = refreshed(folder, as_files(catalogue()))
    assert len(new) == 8
    return new


@refreshing
@given(st.data())
def test_an_odd_line_of_a_catalogue_costs_no_other_its_price(folder, good, data):
    files = catalogue()
    provider, number = data.draw(st.sampled_from(sorted(OF_LINE)))
    line = files[provider][number + 1]
    if data.draw(st.booleans()):
        cells = next(csv.reader([line]))
        cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(ODD)
        line = written([cells]).removesuffix("\n")
        content = line.encode("utf-8", "surrogatepass")
    else:
        content = damage(line.encode(), data.draw)
    found = as_files(files)
    found[provider] = b"\n".join(
        content if place == number + 1 else other.encode()
        for place, other in enumerate(files[provider])
    )
    new, said = refreshed(folder, found)
    mine = OF_LINE[provider, number]
    kept = {key: usd for key, usd in good.items() if key[0] not in mine}
    assert {key: usd for key, usd in new.items() if key[0] not in mine} == kept, said
    for key in good.keys() - new.keys():
        assert key[0] in said


@refreshing
@given(st.data())
def test_a_damaged_catalogue(folder, good, data):
    """What is not damaged is kept: the prices of the other providers."""
    files = as_files(catalogue())
    provider = data.draw(st.sampled_from(sorted(files)))
    files[provider] = data.draw(
        st.sampled_from([b"", b"\n", b"<html>", b"\x00" * 100, HEAD.encode(), HEAD.encode() * 2])
        | st.just(damage(files[provider], data.draw))
        | st.binary(max_size=200)
    )
    new, said = refreshed(folder, files)
    own = {
        hardware for (name, _), those in OF_LINE.items() if name == provider for hardware in those
    }
    kept = {key: usd for key, usd in good.items() if key[0] not in own}
    assert {key: usd for key, usd in new.items() if key[0] not in own} == kept, said
