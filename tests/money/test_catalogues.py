"""Prices of today from a catalogue: found, put together, and left out where they are none."""

import csv
import dataclasses
import subprocess
import sys
from datetime import date

import pandas as pd
import pytest

from epochcost import ROOT
from epochcost.errors import InputError
from epochcost.money import catalogues, prices

DAY = date(2026, 11, 1)
FOLDERS = {"vastai": "vast", "paperspace": "paperspace", "aws": "aws"}
HEAD = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
    "Region,AvailabilityZone"
)
GCP = """\
n1-standard-4,,,4,15,,0.19,0.06,us-central1,us-central1-a
,T4,1,,,,0.35,0.10,us-central1,us-central1-a
,T4,1,,,,0.35,0.08,us-central1,us-central1-b
,T4,2,,,,0.70,0.16,us-central1,us-central1-a
n1-standard-4,,,4,15,,0.25,0.09,europe-west4,europe-west4-a
,T4,1,,,,0.40,0.12,europe-west4,europe-west4-a
n1-standard-8,,,8,30,,0.38,700.0,us-central1,us-central1-a
n1-standard-16,,,16,60,,0.5,0.6,us-central1,us-central1-a
a2-ultragpu-1g,,,12,170,,1.1,0.3,us-east5,us-east5-a
,tpu-v5litepod-1,1,,,,1.25,0.60,us-central1,us-central1-a
,tpu-v5p-8,1,,,,17.0,,us-east5,us-east5-a
"""


@pytest.fixture
def book(tmp_path):
    """A folder with the catalogue and a price file of last year, of the hardware that it has."""
    (tmp_path / "gcp").mkdir()
    (tmp_path / "gcp/vms.csv").write_text(f"{HEAD}\n{GCP}")
    hardware = (
        "gce-t4", "gce-n1-standard-8", "gce-n1-standard-16", "gce-v100", "gce-a2-ultragpu-1g",
        "gcp-tpu-v5e-1", "gcp-tpu-v5p-8",
    )  # fmt: skip
    write_prices(tmp_path / "prices.csv", shipped(*hardware))
    return tmp_path


def shipped(*hardware: str) -> list[dict[str, str]]:
    """The rows of some hardware in the price file of the repository."""
    with open(ROOT / "config/prices.csv", newline="") as file:
        return [row for row in csv.DictReader(file) if row["hardware_id"] in hardware]


def write_prices(path, rows: list[dict[str, str]]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def refresh(tmp_path):
    """Refreshes rows of one provider by a catalogue with the given lines."""

    def refresh(*offers: str, of: list[dict[str, str]]) -> catalogues.Refreshed:
        path = tmp_path / FOLDERS[of[0]["provider"]] / "vms.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([HEAD, *offers, ""]))
        catalogue, odd = catalogues.read(str(tmp_path), [of[0]["provider"]])
        found = catalogues.refresh(of, catalogue, DAY, {"EUR": 1.15})
        return dataclasses.replace(found, notices=[*odd, *found.notices])

    return refresh


def usd(found: catalogues.Refreshed) -> dict[tuple[str, str], float]:
    """The new prices by hardware and kind."""
    return {
        (row["hardware_id"], row["price_kind"]): float(row["price_per_hour"]) for row in found.rows
    }


def test_regions_in_words_are_those_of_the_price_file(refresh):
    vast = shipped("vast-1x-rtx-4090-32-65536", "vast-1x-h200-32-65536", "vast-1x-l40s-32-65536")
    found = refresh(
        '1x-RTX_4090-32-65536,RTX4090,1,32,64.0,,0.45,0.00,"Washington, US, NA",',
        '1x-RTX_4090-32-65536,RTX4090,1,32,64.0,,0.35,0.00,"Germany, DE, EU",',
        '1x-RTX_4090-32-65536,RTX4090,1,32,64.0,,0.42,0.00,", US, NA",',
        '1x-H200-32-65536,H200,1,32,64.0,,2.65,0.00,"France, FR, EU",',
        '1x-L40S-32-65536,L40S,1,32,64.0,,0.60,0.00,"Taichung City, TW, AS",',
        of=vast,
    )
    assert usd(found) == {
        ("vast-1x-rtx-4090-32-65536", "on_demand"): 0.42,
        ("vast-1x-h200-32-65536", "on_demand"): 2.65,
    }
    assert found.notices == [
        "vast-1x-l40s-32-65536, on_demand: not in the catalogue of vastai in JP"
    ]
    p4000 = refresh("P4000,P4000,1,8,32,,0.55,,East Coast (NY2),", of=shipped("paperspace-p4000"))
    assert usd(p4000) == {("paperspace-p4000", "on_demand"): 0.55}


A10G = "g5.xlarge,A10G,1,4,16,,{},{},us-east-1,us-east-1a"
T4 = "g4dn.xlarge,T4,1,4,16,,0.6,0.2,us-east-1,us-east-1a"


@pytest.mark.parametrize(
    ("price", "spot", "taken", "notice"),
    [
        ("0.01", "0.4", [], "g5.xlarge: spot above on-demand, so neither"),
        ("0.01", "", [], "g5.xlarge, on_demand: 1.006 -> 0.01 USD an hour is a jump by more than"),
        ("100.6", "0.4", ["spot"], "g5.xlarge, on_demand: 1.006 -> 100.6 USD an hour is a jump"),
        ("1.006", "0.004", ["on_demand"], "g5.xlarge, spot: 0.4328 -> 0.004 USD an hour is a jump"),
        ("2", "0.4", ["on_demand", "spot"], ""),
        ("0.4", "1.006", [], "g5.xlarge: spot above on-demand, so neither is taken"),
        ("", "1.2", [], "g5.xlarge, spot, price_per_hour: the spot price 1.2 is above the on-dema"),
        ("1.3", "1.2", ["on_demand", "spot"], ""),
        ("-1.006", "nan", [], "g5.xlarge, on_demand: not in the catalogue of aws in us-east-1"),
        ("inf", "1e999", [], "g5.xlarge, spot: not in the catalogue of aws in us-east-1"),
        ("1_0", "0.4", ["spot"], "g5.xlarge, on_demand: not in the catalogue of aws"),
        ("700.0", "0.0", [], "g5.xlarge, spot: not in the catalogue of aws"),
        ("1,006", "0.4", [], "vms.csv, line 2: not as many values as columns; left out"),
        ('"1.006', "0.4", [], "vms.csv, line 2: not as many values as columns; left out"),
    ],
)
def test_an_odd_price_is_named_and_costs_no_other_its_place(refresh, price, spot, taken, notice):
    rows = shipped("aws-g5.xlarge", "aws-g4dn.xlarge")
    found = refresh(A10G.format(price, spot), T4, of=rows)
    assert sorted(kind for hardware, kind in usd(found) if hardware == "aws-g5.xlarge") == taken
    assert usd(found)["aws-g4dn.xlarge", "on_demand"] == 0.6
    assert usd(found)["aws-g4dn.xlarge", "spot"] == 0.2
    assert notice in "\n".join(found.notices)
    assert found.notices or not notice
    assert len(found.changes) == len(found.rows) == 2 + len(taken)


def test_a_row_given_twice_is_one_price(refresh):
    found = refresh(T4, T4, of=shipped("aws-g4dn.xlarge"))
    assert len(found.rows) == 2


def test_prices_in_another_currency_are_named(refresh):
    rows = shipped("aws-g4dn.xlarge")
    found = refresh(T4, of=[rows[0] | {"currency": "EUR"}, rows[1]])
    assert list(usd(found)) == [("aws-g4dn.xlarge", "spot")]
    assert found.notices[0].startswith("aws-g4dn.xlarge, on_demand: its price is in EUR")


def test_a_second_call_adds_what_a_provider_lacked_in_the_first(book):
    path = book / "prices.csv"
    write_prices(path, [*shipped("gce-t4"), *shipped("aws-g4dn.xlarge")])
    before = path.read_text()
    command = [sys.executable, ROOT / "scripts/prices.py", "--prices", path, "--catalogue", book]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{book}/aws/vms.csv: No such file or directory" in first.stdout
    assert path.read_text().startswith(before)
    (book / "aws").mkdir()
    (book / "aws/vms.csv").write_text(f"{HEAD}\n{T4}\n")
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2 prices of today are there already" in second.stdout
    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "4 prices of today are there already" in third.stdout
    with open(path, newline="") as file:
        added = list(csv.DictReader(file))[4:]
    assert [row["hardware_id"] for row in added] == ["gce-t4"] * 2 + ["aws-g4dn.xlarge"] * 2


def test_a_catalogue_without_an_end_is_left(monkeypatch, tmp_path):
    (tmp_path / "gcp").mkdir()
    (tmp_path / "gcp/vms.csv").write_bytes(b"x" * 3_000_000)
    monkeypatch.setattr(catalogues, "MOST_BYTES", 2 * 2**20)
    with pytest.raises(InputError, match="more than 2 MiB"):
        catalogues.read(tmp_path.as_uri(), ["gcp"])


@pytest.fixture
def refreshed(book):
    with open(book / "prices.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return catalogues.refresh(rows, catalogues.read(str(book), ["gcp"])[0], date(2026, 11, 1))


def test_a_gpu_and_its_machine_are_put_together_in_their_region(refreshed):
    new = {(row["hardware_id"], row["price_kind"]): row for row in refreshed.rows}
    assert new["gce-t4", "on_demand"]["price_per_hour"] == "0.54"
    assert new["gce-t4", "spot"]["price_per_hour"] == "0.14"  # the cheaper zone
    assert new["gce-t4", "spot"]["parts"] == "GPU 0.08 + machine 0.06"
    assert new["gce-t4", "spot"]["as_of"] == "2026-11-01"
    # Its machine is in the catalogue, its GPU is not.
    assert ("gce-a2-ultragpu-1g", "on_demand") not in new


def test_each_region_gets_its_new_price(book):
    with open(book / "prices.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    (row,) = (
        row
        for row in rows
        if (row["hardware_id"], row["price_kind"]) == ("gce-n1-standard-8", "on_demand")
    )
    catalogue = catalogues.read(str(book), ["gcp"])[0]
    there = catalogue["gcp"][catalogue["gcp"].InstanceType.eq("n1-standard-8")]
    dearer = there.assign(Region="europe-west1", Price=1.0)
    left = row | {"region": "us-east4", "as_of": "2024-01-01"}
    found = catalogues.refresh(
        [left, row, row | {"region": "europe-west1"}],
        {"gcp": pd.concat([there, dearer])},
        date(2026, 11, 1),
    )
    new = {one["region"]: one["price_per_hour"] for one in found.rows}
    assert new == {row["region"]: "0.38", "europe-west1": "1"}


def test_parts_with_many_digits_add_up(book, tmp_path):
    """As they are written into the price file, which is checked when it is read."""
    text = (book / "gcp/vms.csv").read_text()
    (book / "gcp/vms.csv").write_text(text.replace(",0.35,", ",1.2345674,"))
    command = [sys.executable, ROOT / "scripts/prices.py", "--prices", book / "prices.csv",
               "--catalogue", book]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "GPU 1.234567 + machine" in (book / "prices.csv").read_text()


def test_a_tpu_is_priced_with_its_machine(refreshed):
    new = {(row["hardware_id"], row["price_kind"]): row for row in refreshed.rows}
    assert new["gcp-tpu-v5e-1", "on_demand"]["price_per_hour"] == "1.25"
    assert new["gcp-tpu-v5e-1", "spot"]["price_per_hour"] == "0.6"
    assert new["gcp-tpu-v5p-8", "on_demand"]["price_per_hour"] == "17"
    assert ("gcp-tpu-v5p-8", "spot") not in new


def test_placeholders_and_contradictions_are_no_prices(refreshed):
    kinds = {(row["hardware_id"], row["price_kind"]) for row in refreshed.rows}
    assert ("gce-n1-standard-8", "on_demand") in kinds
    assert ("gce-n1-standard-8", "spot") not in kinds
    assert not {kind for kind in kinds if kind[0] == "gce-n1-standard-16"}
    notices = "\n".join(refreshed.notices)
    assert "gce-n1-standard-8, spot: not in the catalogue of gcp" in notices
    assert "gce-n1-standard-16: spot above on-demand, so neither is taken" in notices
    assert "gce-v100, on_demand: not in the catalogue of gcp" in notices


def test_a_new_book_is_added_and_the_old_one_stays(book):
    before = prices.load(book / "prices.csv")
    command = [sys.executable, ROOT / "scripts/prices.py", "--prices", book / "prices.csv",
               "--catalogue", book]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "gce-t4, spot: 0.255325 -> 0.14 USD an hour (-45%)" in done.stdout
    after = prices.load(book / "prices.csv")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 6
    month = before[0].as_of.isoformat()[:7]
    assert prices.in_book(after, month) == prices.in_book(before, month)
    text = (book / "prices.csv").read_text()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "6 prices of today are there already" in again.stdout
    assert (book / "prices.csv").read_text() == text


def test_other_currencies_are_converted_while_prices_are_fetched(book):
    path = book / "prices.csv"
    head, *lines = path.read_text().splitlines()
    place = head.split(",").index("currency")
    cells = lines[0].split(",")
    cells[place] = "EUR"
    path.write_text("\n".join([head, ",".join(cells), *lines[1:]]) + "\n")
    command = [sys.executable, ROOT / "scripts/prices.py", "--prices", path, "--catalogue", book]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "no exchange rate for 'EUR'" in done.stderr
    rates = ["--settings", '{"exchange_rates": {"EUR": 1.15}}']
    done = subprocess.run([*command, *rates, "--dry-run"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_provider_that_the_catalogue_lacks_costs_no_other_one_its_prices(book):
    found, missing = catalogues.read(str(book), ["aws", "gcp", "nobody"])
    assert list(found) == ["gcp"]
    assert missing[0].startswith(f"{book}/aws/vms.csv: ")
    assert missing[1] == "nobody: not in the catalogue"


def test_without_a_network_the_address_is_named(book):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/prices.py", "--prices", book / "prices.csv",
         "--catalogue", "http://127.0.0.1:9/catalogs"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "http://127.0.0.1:9/catalogs/gcp/vms.csv: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_catalogue_of_another_form_is_no_catalogue(book):
    (book / "gcp/vms.csv").write_text("<html>sign in</html>\n")
    with pytest.raises(InputError, match=r"gcp/vms\.csv: it has no column AcceleratorCount, "):
        catalogues.read(str(book), ["gcp"])


def test_a_price_file_by_which_nothing_can_be_looked_up_is_said(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text(
        "hardware_id,price_per_hour,currency,price_kind,as_of,source_id\n"
        "gce-t4,0.48,USD,on_demand,2026-11-01,us\n"
    )
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/prices.py", "--prices", path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "rates.csv has no column as_of_precision, derivation, gpu, gpu_count," in done.stderr
