"""One training from its command line to its record, and what starts many of them."""
