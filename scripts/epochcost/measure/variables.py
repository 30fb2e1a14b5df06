"""Environment variables that change what a framework computes: removed, or put on record."""

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
    "OMP_THREAD_LIMIT",
    # Keras would train less than the recipe says.
    "KERAS_MAX_EPOCHS",
    "KERAS_MAX_STEPS_PER_EPOCH",
)

# Set by users, modules of a cluster or images (NVIDIA's of PyTorch turn TF32 on). Removing them
# would not do: some act as a process starts, and some are needed on the machine that has them.
_EFFECTIVE = (
    # The loader and the allocator of the C library.
    *("LD_AUDIT", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "MALLOC_MMAP_MAX_"),
    *("MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_"),
    # Python: other packages than those of its environment, and how it runs.
    *("PYTHONPATH", "PYTHONHOME", "PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONOPTIMIZE"),
    *("PYTHONTRACEMALLOC", "PYTHON_GIL", "PYTHON_JIT"),
    # Threads.
    *("OMP_DYNAMIC", "OMP_PLACES", "OMP_PROC_BIND", "OMP_SCHEDULE", "OMP_WAIT_POLICY"),
    *("GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_DYNAMIC"),
    # Kernels for processors.
    *("ATEN_CPU_CAPABILITY", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "TF_ENABLE_ONEDNN_OPTS"),
    *("DNNL_DEFAULT_FPMATH_MODE", "DNNL_MAX_CPU_ISA"),
    *("ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA"),
    # Compilers.
    *("TF_XLA_FLAGS", "XLA_FLAGS", "TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_MAX_AUTOTUNE"),
    *("TORCH_COMPILE_DISABLE", "JAX_COMPILATION_CACHE_DIR", "JAX_DISABLE_JIT"),
    # Precision, and results that are the same each time.
    *("JAX_DEFAULT_MATMUL_PRECISION", "JAX_ENABLE_X64", "NVIDIA_TF32_OVERRIDE"),
    *("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TF_ENABLE_AUTO_MIXED_PRECISION"),
    *("CUBLAS_WORKSPACE_CONFIG", "TF_CUDNN_DETERMINISTIC", "TF_DETERMINISTIC_OPS"),
    # Devices and their memory.
    *("CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING", "JAX_PLATFORMS"),
    *("KERAS_NNX_ENABLED", "KERAS_TORCH_DEVICE"),
    *("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING"),
    *("TF_CUDNN_USE_AUTOTUNE", "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR"),
    *("TF_GPU_THREAD_COUNT", "TF_GPU_THREAD_MODE"),
    *("XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_PREALLOCATE"),
)

_NO_USER_PACKAGES = "PYTHONNOUSERSITE"


def lift_limits() -> None:
    """Remove limits on threads and epochs; to use fewer cores, allow fewer (taskset).

    Call this before a framework is imported, which is when it reads them.
    """
    for name in _LIMITS:
        os.environ.pop(name, None)


def forget_python() -> None:
    """Remove Python's own variables, such as PYTHONPATH, for what this process starts from now on.

    They say where the user's Python finds packages. A pinned environment has its own.
    """
    for name in [name for name in os.environ if name.startswith("PYTHON")]:
        if name != _NO_USER_PACKAGES:
            del os.environ[name]


def ignore_user_packages() -> None:
    """Keep what `pip install --user` left out of what this process starts.

    Python of conda sees it, unlike that of a virtual environment.
    """
    os.environ[_NO_USER_PACKAGES] = "1"


def effective() -> dict[str, str]:
    """The variables that are set and change how a framework computes, with their values.

    Call this before a framework is loaded, as settings of the run are passed in some of them.
    """
    return {name: os.environ[name] for name in _EFFECTIVE if os.environ.get(name)}
