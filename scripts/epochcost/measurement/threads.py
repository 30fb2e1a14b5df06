"""Let a framework choose its own number of threads for the cores that its process may use."""

import os

# Snakemake sets the first six to the threads of a job, which --cores may make fewer than the cores.
# PyTorch respects them, TensorFlow and JAX do not: frameworks in the same table would differ.
_LIMITS = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "NPROC",
    "PJRT_NPROC",
)


def lift_limits() -> None:
    """Remove limits on threads from the environment; to use fewer cores, allow fewer (taskset).

    Call this before a framework is imported, which is when it reads them.
    """
    for name in _LIMITS:
        os.environ.pop(name, None)
