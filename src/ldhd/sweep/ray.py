"""Workers on a Ray cluster, on machines that need not share a file system with this one.

A worker trains in a folder of its own and sends back what it writes there, at each checkpoint and at the end. This
process writes that into the folder of the sweep, and meanwhile holds the lease of each run. When a worker or its
machine dies, the run is tried again on another worker from the last checkpoint that came back.
"""

import contextlib
import logging
import os
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ldhd.experiments import RunConfig, RunFolder
from ldhd.experiments.runner import Job, OnProgress, Progress, Stop
from ldhd.files import BadFileError, Guard, read_bytes, write_bytes
from ldhd.lease import HeldError, holding
from ldhd.sweep.executor import Executor, JobResult, execute, perform
from ldhd.train import checkpoint

REPORT_SECONDS = 0.5
"""How often a worker reports its progress, and how often this process reads the reports."""

Files = dict[str, bytes]
"""Paths within the folder of the runs, and what they hold."""


def on_ray(address: str | None = None, cpus: float = 1, gpus: float = 0) -> Executor:
    """Return an executor that gives each run `cpus` and `gpus` of the cluster at `address`, or of one started here."""
    try:
        import ray
    except ImportError:
        raise ValueError("ray is not installed; in the folder of ldhd: pip install -e '.[ray]'") from None

    def executor(jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[JobResult]:
        with _connected(ray, address):
            yield from execute(_Cluster(ray, cpus, gpus), jobs, on_progress, stop)

    return executor


@contextlib.contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to the cluster, unless this process is connected already."""
    if ray.is_initialized():
        yield
        return
    if address is None:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # listen on 127.0.0.1 alone
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    try:
        if port.isdigit():  # if nothing listened there, Ray would retry for minutes and end the process
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Ray cluster at {address}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


class _Cluster:
    """The workers of a cluster; `running` maps each task of Ray's to its job, its lease, and the lease's check."""

    def __init__(self, ray: Any, cpus: float, gpus: float):
        self.ray = ray
        self.needs = {name: amount for name, amount in (("CPU", cpus), ("GPU", gpus)) if amount > 0}
        self.work = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(_work)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.inbox = ray.remote(num_cpus=0, scheduling_strategy=here, max_concurrency=4)(_Inbox).remote()
        self.running: dict[Any, tuple[Job, contextlib.ExitStack, Guard]] = {}
        self.refused: list[JobResult] = []
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if not any(all(node.get(name, 0) >= amount for name, amount in self.needs.items()) for node in nodes):
            wanted = " and ".join(f"{name} {amount:g}" for name, amount in self.needs.items())
            warnings.warn(f"waiting for {wanted}: no machine of the cluster has that so far", stacklevel=2)

    def has_room(self) -> bool:
        """Return whether the cluster has room for another run; for one it always has, since a node may yet join."""
        resources = self.ray.cluster_resources()
        room = min(resources.get(name, 0) / amount for name, amount in self.needs.items())
        return len(self.running) < max(1, int(room))

    def is_busy(self) -> bool:
        return bool(self.running or self.refused)

    def start(self, job: Job) -> None:
        """Start a job with the files of its run, and of the run it extends; refuse it if another process has it."""
        lease, folder = contextlib.ExitStack(), RunFolder(job.out / job.config.hash)
        try:
            guard = lease.enter_context(holding(folder.path, wait=False)).check
            folder.check_no_links()
        except HeldError:
            self.refused.append(JobResult(job))
            return
        except (OSError, BadFileError) as error:
            lease.close()
            self.refused.append(JobResult(job, error=str(error)))
            return
        runs = [job.config.hash, *([job.config.extended_from] if job.config.extended_from else [])]
        files = _changed(job.out, runs, {})
        how = job.threads, job.command, job.log
        task = self.work.remote(job.config.model_dump_json(), how, files, self.inbox)
        self.running[task] = job, lease, guard

    def collect(self, on_progress: OnProgress) -> Iterator[JobResult]:
        refused, self.refused = self.refused, []
        yield from refused
        ended, _ = self.ray.wait(list(self.running), timeout=REPORT_SECONDS) if self.running else ([], [])
        folders = {job.config.hash: (job.out, guard) for job, _, guard in self.running.values()}
        for files, progress in self.ray.get(self.inbox.take.remote()):  # a task that has ended has sent all its reports
            if progress.run in folders:
                out, guard = folders[progress.run]
                _write(out, files, guard)
                on_progress(progress)
        for task in ended:
            job, lease, guard = self.running.pop(task)
            with lease:
                yield self._result(task, job, guard)

    def ask_to_stop(self) -> None:
        """Ask the tasks that have begun to stop, and cancel those that wait for a machine."""
        begun = self.ray.get(self.inbox.stop.remote())
        for task in self.running:
            if task.task_id().hex() not in begun:
                self.ray.cancel(task)

    def close(self) -> None:
        for task, (_, lease, _) in self.running.items():
            with contextlib.suppress(Exception):
                self.ray.cancel(task, force=True)
            lease.close()
        self.ray.kill(self.inbox)

    def _result(self, task: Any, job: Job, guard: Guard) -> JobResult:
        """Return the result of a task that has ended, after its last files are written."""
        folder = RunFolder(job.out / job.config.hash)
        try:
            files, error = self.ray.get(task)
            _write(job.out, files, guard)
        except self.ray.exceptions.TaskCancelledError:
            return JobResult(job)
        except self.ray.exceptions.RayError as death:
            return JobResult(job, error=f"its worker died: {str(death).splitlines()[0]}")
        except OSError as failure:
            return JobResult(job, error=str(failure))
        record = None if error else folder.finished(job.config)
        if record is not None:
            folder.failure_path.unlink(missing_ok=True)
        return JobResult(job, record, error)


class _Inbox:
    """An actor on the machine of the sweep, to which workers send their reports."""

    def __init__(self) -> None:
        self.reports: list[tuple[Files, Progress]] = []
        self.begun: set[str] = set()
        self.stopping = False

    def begin(self, task: str) -> bool:
        """Note that a task has begun; return whether it is to stop."""
        self.begun.add(task)
        return self.stopping

    def put(self, files: Files, progress: Progress) -> bool:
        """Keep the files that a run has written since its last report; return whether its task is to stop."""
        self.reports.append((files, progress))
        return self.stopping

    def take(self) -> list[tuple[Files, Progress]]:
        """Return the reports since the last call."""
        taken, self.reports = self.reports, []
        return taken

    def stop(self) -> set[str]:
        """Ask all tasks to stop; return which have begun."""
        self.stopping = True
        return self.begun


def _work(config: str, how: tuple[int, str, str | None], files: Files, inbox: Any) -> tuple[Files, str | None]:
    """Do one job in a folder of its own; return the files that were not reported yet, and the error.

    `how` holds the threads, the command and the log of the job.
    """
    import ray

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        job = Job(RunConfig.model_validate_json(config), out, *how)
        sent: dict[Path, tuple[int, int]] = {}
        _write(out, files)
        _changed(out, [job.config.hash], sent)
        last, stopping = 0.0, ray.get(inbox.begin.remote(ray.get_runtime_context().get_task_id()))

        def report(progress: Progress) -> None:
            nonlocal last, stopping
            if time.monotonic() - last >= REPORT_SECONDS:
                last = time.monotonic()
                stopping = ray.get(inbox.put.remote(_changed(out, [progress.run], sent), progress))

        result = perform(job, report, lambda: stopping)
        return _changed(out, [job.config.hash], sent), result.error


def _changed(out: Path, names: Sequence[str], sent: dict[Path, tuple[int, int]]) -> Files:
    """Return the files of some runs that are new or replaced since they were `sent`, and note that they are."""
    found: Files = {}
    for path in sorted(path for name in names for path in (out / name).rglob("*")):
        if path.name in ("lease", "failure.json") or path.name.startswith("."):
            continue
        with contextlib.suppress(FileNotFoundError, BadFileError):  # it may be replaced or removed, or be a folder
            now = path.stat()
            stamp = now.st_ino, now.st_mtime_ns
            if sent.get(path) != stamp:
                found[str(path.relative_to(out))] = read_bytes(path, largest=now.st_size)
                sent[path] = stamp
    return found


def _write(out: Path, files: Files, guard: Guard = lambda: None) -> None:
    """Write files, the record last, since it says that the run is finished; keep the newest two checkpoints."""
    record = RunFolder(out).record_path.name
    for path in sorted(files, key=lambda path: Path(path).name == record):
        write_bytes(out / path, files[path], guard)
    for folder in {(out / path).parent for path in files if "checkpoints" in Path(path).parts}:
        checkpoint.drop_old(folder)
