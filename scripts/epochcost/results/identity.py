"""What identifies a training in the tables: every table takes its columns from here."""

# The software, and what was changed in its settings.
SOFTWARE = ["framework", "framework_version", "variant", "settings"]
# What makes runs repetitions of each other. For hardware `local`, `machine_id` and `host` say
# which machine it was; machines of one rented type are repetitions, too.
GROUP = [
    "workload",
    "framework",
    "framework_version",
    "variant",
    "hardware_id",
    "machine_id",
    "host",
    "driver",
    "source_id",
    "predicted",
    "synthetic",
    "data_complete",
    "train_samples",
    "data_id",
    "weights",
    "settings",
    "recipe",
    "vcpus",
    "gpus_used",
]


def without(*names: str) -> list[str]:
    """The columns of GROUP but these."""
    return [name for name in GROUP if name not in names]


# One training, predicted by a quick run or measured by a full one.
QUICK_OR_FULL = without("predicted")
# The same, on generated or real data alike.
MEASURED = without("predicted", "synthetic")
ON_ANY_DATA = without("predicted", "synthetic", "data_complete", "train_samples", "data_id")
# Trainings that differ in their software alone, on one machine.
COMPARABLE = [
    "machine" if name == "machine_id" else name
    for name in without(*SOFTWARE, "host", "source_id", "gpus_used")
]
# Trainings on one machine that differ in the number of GPUs alone.
ON_ANY_NUMBER = ["source_id", *without("source_id", "variant", "host", "gpus_used"), "machine"]
