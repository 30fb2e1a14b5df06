"""A record, what one run left behind, and its parts: the keys of its JSON, and what they may hold.

Times are seconds of a monotonic clock. None means not measured, never 0. A name that Python keeps
to itself ends in `_` here (`import_`). The JSON Schema, config/schemas/record.schema.json, is made
of this module: `PYTHONPATH=scripts python -m epochcost.record.types`.
"""

import json
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, Literal

from epochcost.record.schema import json_schema, read

SCHEMA_VERSION = 1
QUICK, FULL, OK, FAILED, SYNTHETIC = "quick", "full", "ok", "failed", "synthetic"
# What trains an own training: the user's script.
OWN_TRAINING = "own"
TRAIN, EVALUATE = "train", "evaluate"
# A recipe may end with predictions by test-time augmentation, which its time includes.
_NO_OVERHEAD = ("first_step", "train", "evaluate", "predict", "measuring")

Seconds = Amount = Annotated[float, ("minimum", 0)]
# Parts of the processors, the memory or the time, with the inaccuracy of two clocks.
Share = Annotated[float, ("minimum", 0), ("maximum", 1.1)]
Count = Annotated[int, ("minimum", 0)]
Number = Annotated[int, ("minimum", 1)]
Hash = Annotated[str, ("pattern", "^[0-9a-f]{12}$")]
Checksum = Annotated[str, ("pattern", "^[0-9a-f]{64}$")]
Moment = Annotated[str, ("format", "date-time")]
Recipe = Annotated[dict[str, Any], ("properties", (("epochs", Number), ("batch_size", Number)))]


@dataclass(frozen=True, slots=True)
class Run:
    """Which run it is. Dates are for people; started_at is that of its first process."""

    id: str
    hardware: str
    workload: str
    framework: str
    variant: str
    trial: Number
    scale: Literal["quick", "full"]
    started_at: Moment
    finished_at: Moment


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed, and in which of its phases."""

    phase: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU that the run might use; virtual: whether it is a part of one (vGPU)."""

    name: str
    uuid: str
    memory_gib: Amount | None
    virtual: bool | None = None
    power_limit_w: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a container may use; None for no limit."""

    cpus: float | None
    memory_gib: float | None


@dataclass(frozen=True, slots=True)
class Cloud:
    """What a provider says about its machine."""

    provider: str | None
    instance_type: str | None
    zone: str | None
    lifecycle: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine that trained.

    core_numbers: which logical cores the training might run on (0-3,8). product, boot: hashes of
    the product's own id and of that of the boot; None where they cannot be read. cache_kib: KiB by
    kind of cache.
    """

    id: Hash
    cpu_model: str
    cpu_kind: str | None
    physical_cores: int | None
    logical_cores: Number
    usable_cores: Number
    core_numbers: str | None = None
    memory_gib: Amount
    gpus: tuple[Gpu, ...]
    driver: str | None
    cuda_driver: str | None
    system: str
    kernel: str
    product: Hash | None
    boot: Hash | None
    cache_kib: dict[str, int] | None
    hypervisor: bool | None
    limits: Limits | None
    cloud: Cloud | None


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the processors did just before the run: float32 matrix products, copies in memory."""

    matmul_gflops: Amount
    copy_gib_s: Amount


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit of the code that trained, and whether the code was changed since."""

    commit: str
    dirty: bool


@dataclass(frozen=True, slots=True)
class Data:
    """The arrays that trained; skipped: samples that were left out as damaged."""

    dataset: str
    source: Literal["canonical", "mirror", "synthetic"]
    complete: bool
    train_samples: Number
    validation_samples: Count
    skipped: Count
    sha256: Checksum

    @property
    def kind(self) -> str:
        """Which data: complete, subset or synthetic."""
        if self.source == SYNTHETIC:
            return SYNTHETIC
        return "complete" if self.complete else "subset"


@dataclass(frozen=True, slots=True)
class Weights:
    """What a model started from whose recipe names weights; source random: from scratch."""

    name: str
    source: Literal["canonical", "mirror", "random"]
    sha256: Checksum | None


@dataclass(frozen=True, slots=True)
class Software:
    """What trained.

    settings: what differs from the framework's own choice. variables: environment variables that
    change how a framework computes. environment: what the interpreter's packages come from.
    """

    python: str
    epochcost: str
    framework_version: str
    packages: dict[str, str]
    device: str | None
    threads: int | None
    settings: dict[str, Any]
    environment: Literal["docker", "apptainer", "conda", "venv", "system"] | None
    variables: dict[str, str]


@dataclass(frozen=True, slots=True)
class Phases:
    """Seconds by phase, together the wall time.

    import: until the framework is imported. data: reading, checking and placing the arrays.
    first_step: with what is compiled for it. train: the other steps. finish: from the end of the
    last epoch until Keras's `fit` returns. predict: by augmentation. sample: writing text. save:
    checkpoints. lost: work since the last checkpoint of an interrupted process. measuring: what
    epochcost adds. other: in no phase.
    """

    import_: Seconds | None
    data: Seconds | None
    build: Seconds | None
    first_step: Seconds | None
    train: Seconds | None
    evaluate: Seconds | None
    finish: Seconds | None
    predict: Seconds | None
    sample: Seconds | None
    save: Seconds | None
    lost: Seconds | None
    measuring: Seconds | None
    other: float | None

    @property
    def spent(self) -> float:
        """Seconds of all phases."""
        return sum(getattr(self, name) or 0.0 for name in self.__slots__)

    @property
    def overhead(self) -> float:
        """Seconds that are paid for beside the training itself and what epochcost adds."""
        names = (name for name in self.__slots__ if name not in _NO_OVERHEAD)
        return sum(getattr(self, name) or 0.0 for name in names)

    @classmethod
    def of(cls, seconds: dict[str, float | None]) -> "Phases":
        """The phases by their names; those that are not named were not measured."""
        return cls(**{name: seconds.get(name.rstrip("_")) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Epoch:
    """An epoch that was trained to its end; samples are those that it used."""

    epoch: Number
    train_s: Seconds
    eval_s: Seconds | None
    samples: Count
    eval_samples: Count
    loss: float | None
    metric: float | None

    @property
    def seconds(self) -> float:
        """Seconds of the epoch with its validation pass, where the recipe has one."""
        return self.train_s + (self.eval_s or 0.0)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of consecutive steps, timed without a stop.

    The first of an epoch holds what it begins with.
    """

    epoch: Number
    part: Literal["train", "evaluate"]
    steps: Number
    samples: Count
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Input:
    """Batches fetched after the training and not trained on: no less than training waits for data.

    loop_s: of these seconds, the framework's loop alone, with one batch again and again; 0 where
    that was not timed.
    """

    steps: Number
    seconds: Seconds
    loop_s: Seconds = 0.0


@dataclass(frozen=True, slots=True)
class Quality:
    """What was learnt, and what the recipe asks for.

    reached is None where the run did not train to the end, or on generated data.
    """

    metric: Literal["val_accuracy", "val_loss", "loss"]
    value: float | None
    target: float
    reached: bool | None


@dataclass(frozen=True, slots=True)
class SteadyState:
    """Samples per second once warmed up, the slowest and the fastest of so many parts."""

    samples_per_second: float
    low: float
    high: float
    parts: Count


@dataclass(frozen=True, slots=True)
class Spread:
    """What a clock's frequency was, in MHz."""

    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True)
class GpuUse:
    """How a GPU was used; processes_before: of others. Shares are 0 to 1."""

    uuid: str
    share: Share | None
    peak_memory_mib: Amount | None
    power_w: Amount | None
    clock_mhz: Spread | None
    held_down_by: tuple[str, ...] | None
    processes_before: Count
    energy_j: Amount | None
    energy_method: str | None


@dataclass(frozen=True, slots=True)
class Utilisation:
    """How much of the machine the run used; gpu_share is the mean over GPUs."""

    cpu_share: Share | None
    gpu_share: Share | None
    peak_rss_mib: Amount | None
    gpus: tuple[GpuUse, ...]
    samples: Count | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A while in which the run stood still.

    during: an epoch or a phase; None for neither. cause: stopped by a signal, frozen with all
    around it, or suspended: the machine slept, which is in no time of the record.
    """

    seconds: Seconds
    during: str | None
    cause: Literal["stopped", "frozen", "suspended"]


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbed the run.

    disturbed_share: of the time, in which others took more than a quarter of a core. paused_s: how
    long the run stood still; None where that was not looked for.
    """

    others_cpu_share: Share | None
    steal_share: Share | None
    disturbed_share: Share | None
    cpu_mhz: Spread | None
    throttled: Count | None
    swapped_mib: float | None
    memory_stalled_share: Share | None
    quota_waited_share: Share | None
    paused_s: Seconds | None
    pauses: tuple[Pause, ...] | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive steps of an own training, between two borders at which the device was waited for.

    seconds: of all of it, gaps included. waited_s: of these, for the next batch. gaps_s: of these,
    in gaps.
    """

    steps: Number
    seconds: Seconds
    waited_s: Seconds
    gaps_s: Seconds


@dataclass(frozen=True, slots=True)
class Gap:
    """What an own training did between two steps beside training, such as an evaluation.

    step: after how many steps. seconds: beyond those of a step.
    """

    step: Count
    seconds: Seconds
    kind: Literal["evaluation", "checkpoint", "unknown"]


@dataclass(frozen=True, slots=True)
class Own:
    """What was seen of an own training, a command of the user's that was not changed.

    command: its words, without what `epochcost measure` was given. counted_by: what marked the
    steps. ended: why the observation ended: the step time was `stable`, a `limit` of time or a
    number of `steps` was reached, the script `finished` by itself or `failed`. start_s: from the
    launch to the end of the first step. steps: those seen, the first included; the stretches hold
    the others. resumed_at: steps that earlier processes had done. planned: steps of the whole
    training, resumed ones included, and what says so; None where nothing does. period: steps from
    one evaluation or checkpoint to the next, where the framework says so. samples, tokens: a step,
    over all ranks; None where they cannot be known. world: processes that train together, and ranks
    those that were seen. hook_s: what the watching costs a step, as measured. end_s: from the last
    step to the end of the process; None where it was stopped. status: of the process, as a shell
    says it. python, packages: versions of the interpreter that trained, and of the frameworks that
    it imported, by name. device: what trained, such as cuda or cpu. uuids: of the GPUs that it
    used, in its order. host_mib, device_mib: peaks of memory, of the process that reports, and of
    its GPUs together; None where they cannot be read. files: that appeared or changed below the
    working folder. problems: of the watching. error: the exception that ended the script, where it
    was seen; memory did not suffice where there is one and no step.
    """

    command: tuple[str, ...]
    counted_by: str
    ended: Literal["stable", "limit", "steps", "finished", "failed"]
    start_s: Seconds
    stretches: tuple[Stretch, ...]
    gaps: tuple[Gap, ...]
    steps: Count
    resumed_at: Count
    planned: int | None
    planned_by: str | None
    period: int | None
    samples: float | None
    tokens: float | None
    world: Number
    ranks: tuple[int, ...]
    hook_s: Seconds
    end_s: Seconds | None
    status: int
    python: str
    packages: dict[str, str]
    device: str
    uuids: tuple[str, ...]
    host_mib: float | None
    device_mib: float | None
    files: tuple[str, ...]
    problems: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A record.

    settings: the workload's entry of config/workloads.yaml, as it was run; for a workload of one's
    own also `code`, a checksum of its Python file. wall_s: seconds of the run's processes, without
    waiting for other trainings. sample: text that the trained model wrote. flop_per_sample: to
    train on one sample, three times the way forwards through dense, convolutional and recurrent
    layers. energy_j: joules, of the counters that energy_method names. own: what was seen of an own
    training, whose data and quality nobody knows; None for all others, which have both.
    """

    schema_version: Literal[1]
    run: Run
    status: Literal["ok", "failed"]
    failure: Failure | None
    machine: Machine
    yardstick: Yardstick | None
    git: Commit | None
    seed: int | None
    settings: Recipe
    data: Data | None
    weights: Weights | None
    software: Software
    wall_s: Seconds
    phases: Phases
    epochs: tuple[Epoch, ...]
    blocks: tuple[Block, ...]
    input: Input | None
    sample: str | None
    quality: Quality | None
    flop_per_sample: Count | None
    steady_state: SteadyState | None
    utilisation: Utilisation
    energy_j: Amount | None
    energy_method: str | None
    interruptions: Count
    noise: Noise
    own: Own | None = None

    @property
    def gpus_used(self) -> int:
        """How many GPUs trained; 0 where the processor did."""
        if self.software.device != "gpu" or not self.machine.gpus:
            return 0
        return self.software.settings.get("devices", 1)

    @property
    def identity(self) -> tuple[str, ...]:
        """What identifies the run, whatever its file is called.

        Copies of one image may have one machine id, and begin and end in the same seconds.
        """
        run = self.run
        which = (run.hardware, run.workload, run.framework, run.variant)
        machine = self.machine
        host = (machine.id, machine.product or "", machine.boot or "")
        return (*which, run.started_at, run.finished_at, *host, str(self.seed), str(self.wall_s))


def parse(content: Any) -> Record:
    """The record that a document of JSON holds.

    Raises:
        InputError: it follows no record's schema; it says where.
    """
    return read(Record, content)


def encoded(record: Record) -> bytes:
    """The bytes of a record's file."""
    return (json.dumps(document(record), indent=1, ensure_ascii=False) + "\n").encode()


def document(part: Any) -> Any:
    """A record, or a part of one, as a document of JSON."""
    if is_dataclass(part):
        values = {name.rstrip("_"): document(getattr(part, name)) for name in part.__slots__}
        # What only own trainings have is left out of all other records.
        return {name: value for name, value in values.items() if (name, value) != ("own", None)}
    return [document(one) for one in part] if isinstance(part, tuple) else part


if __name__ == "__main__":
    print(json.dumps(json_schema(Record), indent=1))
