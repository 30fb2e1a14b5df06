"""Prices of today from a catalogue: found, put together, and left out where they are none."""

import csv
import subprocess
import sys
from datetime import date

import pandas as pd
import pytest

from epochcost import configuration
from epochcost.costs import catalogues, prices
from epochcost.errors import InputError

ROOT = configuration.ROOT
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
    with open(ROOT / "config/prices.csv", newline="") as file:
        reader = csv.DictReader(file)
        wanted = (
            "gce-t4", "gce-n1-standard-8", "gce-n1-standard-16", "gce-v100", "gce-a2-ultragpu-1g",
            "gcp-tpu-v5e-1", "gcp-tpu-v5p-8",
        )  # fmt: skip
        rows = [row for row in reader if row["hardware_id"] in wanted]
    with open(tmp_path / "prices.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


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
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 1
    assert "already" in again.stderr


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
    rates = ["--exchange-rates", "EUR=1.15"]
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
