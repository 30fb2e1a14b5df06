"""Numbers about numbers: medians, intervals, predictions. Pure functions."""
