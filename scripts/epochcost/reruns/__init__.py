"""Measuring again by the clock: what has to be set up for it, as files."""
