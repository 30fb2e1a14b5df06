"""The phases of a run, by their names in records, and what each counts as."""

TIMED, OVERHEAD, MEASURING = "timed", "overhead", "measuring"

# timed: in the time of a training; overhead: paid for besides it; measuring: what epochcost adds.
PHASES = {
    "import": OVERHEAD,
    "data": OVERHEAD,
    "build": OVERHEAD,
    "first_step": TIMED,
    "train": TIMED,
    "evaluate": TIMED,
    "finish": OVERHEAD,
    "predict": TIMED,  # with test-time augmentation, where the recipe ends with that
    "sample": OVERHEAD,
    "save": OVERHEAD,
    "lost": OVERHEAD,
    "measuring": MEASURING,
    "other": OVERHEAD,  # what is in none of them
}
