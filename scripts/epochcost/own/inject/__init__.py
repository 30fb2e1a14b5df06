"""A folder for PYTHONPATH: every Python that starts with it loads the probe."""
