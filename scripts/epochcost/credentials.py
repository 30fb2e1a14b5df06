"""What a profile needs from the environment, checked before Snakemake starts anything."""

import os
import sys
from typing import NoReturn

_MEANING = {
    "GOOGLE_CLOUD_PROJECT": "the project that pays, also for requests to its bucket",
    "EPOCHCOST_BUCKET": "a bucket in which arrays and records travel",
    "AWS_REGION": "where the queue is",
    "EPOCHCOST_QUEUE": "the ARN of a job queue of AWS Batch",
    "EPOCHCOST_ROLE": "the ARN of the role of its jobs",
    "EPOCHCOST_IMAGE": "the container image, made from envs/Dockerfile",
}


_NOT_INSTALLED = "this profile needs `make cloud`, and then .venvs/cloud/bin/snakemake"


def google(*names: str) -> None:
    """Exit with one line if a variable, the plugins or Google's credentials are missing."""
    variables(*names)
    try:
        import google.auth
    except ImportError:
        _end(_NOT_INSTALLED)
    try:
        google.auth.default()
    except google.auth.exceptions.DefaultCredentialsError:
        _end("there are no Google credentials; run: gcloud auth application-default login")


def aws(*names: str) -> None:
    """Exit with one line if variables or AWS credentials are missing."""
    variables(*names)
    try:
        import boto3
    except ImportError:
        _end(_NOT_INSTALLED)
    if boto3.Session().get_credentials() is None:
        _end("there are no AWS credentials; run: aws configure")


def kubernetes(*names: str) -> tuple[str, str]:
    """Which storage a cluster's pods share with this machine: its provider, and where it is.

    EPOCHCOST_BUCKET says that: `s3://name`, or `gs://name` (which a name alone stands for). Google
    is asked for nothing unless the bucket is there.

    Exits with one line if variables, a Kubernetes cluster or a bucket's credentials are missing.
    """
    variables(*names)
    try:
        from kubernetes import config
    except ImportError:
        _end(_NOT_INSTALLED)
    try:
        config.load_config()
    except config.ConfigException:
        _end("there is no Kubernetes cluster; KUBECONFIG or ~/.kube/config names one")
    scheme, found, name = os.environ["EPOCHCOST_BUCKET"].rpartition("://")
    if scheme == "s3":
        aws()
        return "s3", f"s3://{name}/epochcost"
    if scheme not in ("gs", "") or (found and not scheme) or not name:
        _end("EPOCHCOST_BUCKET is s3://NAME or gs://NAME")
    google("GOOGLE_CLOUD_PROJECT")  # which the bucket's plugin requires
    return "gcs", f"gs://{name}/epochcost"


def variables(*names: str) -> None:
    """Exit with one line if an environment variable is missing."""
    if missing := [name for name in names if not os.environ.get(name)]:
        _end("this profile needs " + "; ".join(f"{name} ({_MEANING[name]})" for name in missing))


def _end(message: str) -> NoReturn:
    sys.exit(f"epochcost: {message}")
