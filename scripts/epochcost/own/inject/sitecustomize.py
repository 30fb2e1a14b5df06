"""Loads the probe, steps out of the way, and runs the sitecustomize that would have run.

Python imports this file as it starts. PYTHONPATH stays as it is, for children of this process.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]

try:
    if os.environ.get("EPOCHCOST_OWN"):
        _place = os.path.join(_HERE, "probe")
        _spec = spec_from_file_location(
            "_epochcost_probe",
            os.path.join(_place, "__init__.py"),
            submodule_search_locations=[_place],
        )
        sys.modules["_epochcost_probe"] = _probe = module_from_spec(_spec)
        _spec.loader.exec_module(_probe)
        _probe.install()
except Exception:  # whatever is wrong with the probe, the script runs
    pass

_theirs = PathFinder.find_spec("sitecustomize")
if _theirs is None or _theirs.loader is None:
    # Python takes this for: there is none.
    raise ImportError("no sitecustomize beside that of epochcost", name="sitecustomize")
# Deleting our entry instead would make Python's import of this very file fail.
sys.modules["sitecustomize"] = _module = module_from_spec(_theirs)
_theirs.loader.exec_module(_module)
