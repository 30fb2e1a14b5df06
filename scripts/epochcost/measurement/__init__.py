"""Measuring: the clock, the machine, and what else went on. Knows no framework."""
