"""Measuring: the clock, the machine, and other activity. Independent of any framework."""
