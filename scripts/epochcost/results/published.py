"""The published measurements as rows like those made from records."""

import csv
from pathlib import Path

from epochcost.results.rows import EpochRow, RunRow

WORKLOADS = {
    "imdb_bidirectional_lstm": "imdb_bilstm",
    "lstm_text_generation": "nietzsche_lstm",
    "twitter_bidirectional_lstm": "twitter_bilstm",
    "catsdogs_resnet50_fastai": "catsdogs_resnet50",
}
KERAS_FRAMEWORKS = {"tensorflow": "keras-tensorflow", "cntk": "keras-cntk"}
_KERAS_SOURCES = (
    "woolf2017cntk", "woolf2017cpu", "woolf2017gpu", "manne2018gpu", "keras-mxnet-bench",
)  # fmt: skip


def runs(folder: Path, labels: dict[str, str]) -> list[RunRow]:
    """The published runs and statements, from `measurements.csv` in `folder`.

    Args:
        labels: names of hardware by id; hardware without one keeps the source's own label.
    """
    rows = _read(folder)
    totalled = {row["run_id"] for row in rows if row["row_kind"] != "epoch"}
    single = [row for row in rows if row["row_kind"] == "epoch" and row["run_id"] not in totalled]
    return [
        _run(row, labels) for row in [*(row for row in rows if row["row_kind"] != "epoch"), *single]
    ]


def epochs(folder: Path) -> list[EpochRow]:
    """The published epochs, from `measurements.csv` in `folder`."""
    return [
        EpochRow(
            run_id=row["run_id"],
            source_id=row["source_id"],
            workload=WORKLOADS.get(row["workload"], row["workload"]),
            framework=_framework(row),
            variant=_variant(row),
            hardware_id=row["hardware_id"],
            epoch=int(row["epoch"]),
            samples=None,
            time_s=float(row["time_s"]),
            train_s=None,
            eval_s=None,
            loss=_float(row["loss"]),
            metric=row["metric_name"],
            metric_value=_float(row["metric_value"]),
            scale="full",
            status="ok",
            synthetic=False,
            data_complete=True,
            weights="",
        )
        for row in _read(folder)
        if row["row_kind"] == "epoch"
    ]


def _run(row: dict[str, str], labels: dict[str, str]) -> RunRow:
    single_epoch = row["row_kind"] == "epoch"
    return RunRow(
        run_id=row["run_id"],
        source_id=row["source_id"],
        workload=WORKLOADS.get(row["workload"], row["workload"]),
        framework=_framework(row),
        framework_version=row["framework_version"],
        variant=_variant(row),
        trial=1,
        seed=None,
        hardware_id=row["hardware_id"],
        hardware_label=labels.get(row["hardware_id"], row["hardware_label"]),
        machine="",
        machine_id="",
        host="",
        mixed_hosts=False,
        driver="",
        date=row["published"],
        started_at=row["published"],
        scale="full" if row["row_kind"] == "total" else "statement",
        status="ok" if row["row_kind"] == "total" else "statement",
        reason="",
        data_source="published",
        data_complete=True,
        train_samples=None,
        skipped=None,
        data_id="",
        weights="",
        settings="",
        synthetic=False,
        predicted=False,
        gpu_count=_int(row["gpu_count"]),
        gpus_used=_int(row["gpus_used"]),
        gpu=row["gpu"] if _int(row["gpus_used"]) else "",
        gpu_busy=_share(row["gpu_utilisation_pct"]),
        gpu_memory_gib=None,
        vcpus=_int(row["vcpus"]),
        epochs=1 if single_epoch else _int(row["epochs_in_run"]),
        steps=None,
        batch_size=None,
        recipe="",
        time_s=_float(row["time_s"]) if row["metric_name"][:5] != "time_" else None,
        time_low=None,
        time_high=None,
        wall_s=None,
        overhead_s=None,
        start_s=None,
        metric=row["metric_name"],
        metric_value=_float(row["metric_value"]),
        quality_target=None,
        quality_reached=None,
        input_share=None,
        gflops=None,
        gflops_share=None,
        noise="",
        paused_s=None,
        price_per_hour_usd_stated=_float(row["price_per_hour_usd_published"]),
        notes=_notes(row),
        copy_of=row["same_file_as"],
    )


def _share(percent: str) -> float | None:
    value = _float(percent)
    return None if value is None else value / 100


def _framework(row: dict[str, str]) -> str:
    if row["source_id"] in _KERAS_SOURCES:
        return KERAS_FRAMEWORKS.get(row["framework"], row["framework"])
    return row["framework"]


def _variant(row: dict[str, str]) -> str:
    """How the framework was built or how much of the machine it used, where a source varies it."""
    if "/cpu-pip/" in row["run_id"]:
        return "pip"
    if "/cpu-compiled/" in row["run_id"]:
        return "compiled"
    paid, used = _int(row["gpu_count"]), _int(row["gpus_used"])
    if paid and used is not None and used < paid:
        return f"{used}-of-{paid}-gpus"
    if row["source_id"] == "manne2017w2v":
        return "gpu" if used else "cpu"
    return "default"


def _notes(row: dict[str, str]) -> str:
    copied = f"the log is that of {row['same_file_as']}" if row["same_file_as"] else ""
    return "; ".join(note for note in (row["notes"], copied) if note)


def _read(folder: Path) -> list[dict[str, str]]:
    with open(folder / "measurements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _float(text: str) -> float | None:
    return float(text) if text else None


def _int(text: str) -> int | None:
    return int(text) if text else None
