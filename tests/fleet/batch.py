"""A Google Batch of this machine, and Snakemake pointed at it.

A real gRPC server takes the requests of the real executor plugin. It runs a job's scripts as a
machine of Google's would, in a folder of its own instead of a virtual machine and a container. It
stands in for what cannot be reached from a test: nothing here says that Google grants a request.

In: a folder for machines and requests, then Snakemake's own words. Out: each request as JSON.
"""

import os
import re
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import snakemake_executor_plugin_googlebatch.executor as plugin
from google.cloud import batch_v1
from google.cloud.batch_v1.services.batch_service.transports.grpc import BatchServiceGrpcTransport
from snakemake.cli import main

State = batch_v1.JobStatus.State


class Batch:
    """The two calls that the plugin makes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: dict[str, batch_v1.Job] = {}
        calls = {
            "CreateJob": grpc.unary_unary_rpc_method_handler(self.create),
            "GetJob": grpc.unary_unary_rpc_method_handler(self.get),
        }
        service = "google.cloud.batch.v1.BatchService"
        self._server = grpc.server(ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(service, calls)]
        )
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def create(self, message: bytes, _) -> bytes:
        """Keep a request, and start its job."""
        request = batch_v1.CreateJobRequest.deserialize(message)
        as_json = batch_v1.CreateJobRequest.to_json(request)
        (self._folder / f"{request.job_id}.json").write_text(as_json)
        job = batch_v1.Job(request.job)
        job.name = f"{request.parent}/jobs/{request.job_id}"
        job.uid = request.job_id
        job.status.state = State.RUNNING
        self._jobs[job.name] = job
        if "GRANTS_NO_MACHINE" in os.environ:
            job.status.state = State.FAILED
        else:
            threading.Thread(target=self._run, args=[job], daemon=True).start()
        return batch_v1.Job.serialize(job)

    def get(self, message: bytes, _) -> bytes:
        """How a job is."""
        return batch_v1.Job.serialize(self._jobs[batch_v1.GetJobRequest.deserialize(message).name])

    def _run(self, job: batch_v1.Job) -> None:
        """Do what the machine would: its scripts, then the container's command."""
        machine = self._folder / f"machine-{uuid.uuid4().hex[:6]}"
        (machine / "workdir").mkdir(parents=True)
        task = job.task_groups[0].task_spec
        for _ in range(task.max_retry_count + 1):
            status = 0
            for runnable in task.runnables:
                text = runnable.script.text
                if runnable.container.image_uri:
                    entry = runnable.container
                    text = " ".join([entry.entrypoint, *entry.commands])
                status = status or self._step(text, machine, dict(runnable.environment.variables))
            if status == 0:
                break
        job.status.state = State.FAILED if status else State.SUCCEEDED

    def _step(self, text: str, machine: Path, variables: dict[str, str]) -> int:
        text = text.replace("/tmp/workdir", str(machine / "workdir"))
        # A container has its packages; what the plugin would add to them is left out here.
        text = re.sub(r"^(python3 -m )?pip install [^&\n]*", "true ", text, flags=re.M)
        with open(machine / "log", "a") as log:
            return subprocess.run(
                ["bash", "-c", text],
                cwd=machine / "workdir",
                # A machine of theirs knows of this one what it is told.
                env={k: v for k, v in os.environ.items() if not k.startswith("EPOCHCOST_")}
                | {"BATCH_TASK_INDEX": "0"}
                | variables,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            ).returncode


def connect(port: int) -> None:
    """Point the plugin at a server, and leave out the logs of Google's."""
    client = batch_v1.BatchServiceClient
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    plugin.batch_v1.BatchServiceClient = lambda: client(
        transport=BatchServiceGrpcTransport(channel=channel)
    )
    plugin.GoogleBatchExecutor.save_finished_job_logs = lambda *_, **__: None


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    connect(Batch(folder).port)
    status = 0
    try:
        main(sys.argv[2:])
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)
