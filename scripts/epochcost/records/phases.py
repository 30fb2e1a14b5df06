"""The phases of a run, by the names that records have for them, and what each counts as."""

TIMED, OVERHEAD, MEASURING = "timed", "overhead", "measuring"

# timed: in the time of a training; overhead: paid for beside it; measuring: what epochcost adds.
PHASES = {
    "import": OVERHEAD,
    "data": OVERHEAD,
    "build": OVERHEAD,
    "first_step": TIMED,
    "train": TIMED,
    "evaluate": TIMED,
    "finish": OVERHEAD,
    "predict": TIMED,  # with test-time augmentation, where that ends the recipe
    "sample": OVERHEAD,
    "save": OVERHEAD,
    "lost": OVERHEAD,
    "measuring": MEASURING,
    "other": OVERHEAD,  # what is in none of them
}
