"""Own trainings: any command that trains, unchanged, watched. Standard library only.

`watch` starts the command with `inject/` first on PYTHONPATH. Its `sitecustomize` loads the probe
into every Python that the command starts; the probe counts steps and writes what it saw to a
journal, which `journal` reads.
"""
