"""As many threads as a framework takes by itself on the cores that its process may use."""

import os

# Snakemake sets the first six to the threads of a job, which --cores may make fewer than cores.
# PyTorch keeps to them, TensorFlow and JAX do not: two frameworks of a table would differ in it.
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
    """Forget what the environment says of threads; who wants fewer cores gives fewer (taskset).

    To be called before a framework is imported, which reads it then.
    """
    for name in _LIMITS:
        os.environ.pop(name, None)
