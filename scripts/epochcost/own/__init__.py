"""Own trainings: any command that trains, unchanged, watched. Standard library only.

`asked` reads what is to be measured, `run` makes a record of it. `watch` starts the command with
`inject/` first on PYTHONPATH. Its `sitecustomize` loads the probe into every Python that is started
then; the probe counts steps and writes what it saw to a journal, which `journals` reads.
"""
