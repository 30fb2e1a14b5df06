"""What a profile needs from the environment, asked for before Snakemake starts anything."""

import os
import sys

_MEANING = {
    "GOOGLE_CLOUD_PROJECT": "the project that pays",
    "EPOCHCOST_BUCKET": "a bucket in which arrays and records travel",
    "EPOCHCOST_IMAGE": "the container image, made from envs/Dockerfile",
}


def google(*names: str) -> None:
    """End with one line where a variable or Google's credentials are missing."""
    variables(*names)
    try:
        import google.auth
    except ImportError:
        sys.exit("epochcost: this profile needs make cloud, and then .venvs/cloud/bin/snakemake")
    try:
        google.auth.default()
    except google.auth.exceptions.DefaultCredentialsError:
        sys.exit(
            "epochcost: there are no Google credentials; run: gcloud auth application-default login"
        )


def variables(*names: str) -> None:
    """End with one line where an environment variable is missing."""
    if missing := [name for name in names if not os.environ.get(name)]:
        told = "; ".join(f"{name} ({_MEANING[name]})" for name in missing)
        sys.exit(f"epochcost: this profile needs {told}")
