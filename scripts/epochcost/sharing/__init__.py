"""Records to others and back: what may join the shipped ones, and git with DVC."""
