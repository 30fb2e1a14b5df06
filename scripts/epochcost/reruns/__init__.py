"""Measuring on a schedule: what has to be set up for it, as files."""
