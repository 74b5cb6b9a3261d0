"""Runs on a Ray cluster, on machines that need share nothing with this one.

A worker trains in a folder of its own and sends back what it writes there, at each checkpoint and at the end; this
process puts that into the sweep's folder, whose lease it holds for each run meanwhile. When a worker or its machine
dies, the run is tried again elsewhere from the last checkpoint that came back.
"""

import contextlib
import logging
import os
import socket
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ldhd.experiments import Progress, Record, RunConfig
from ldhd.experiments.folder import RunFolder
from ldhd.files import write_bytes
from ldhd.lease import HeldError, holding
from ldhd.sweep.job import Executor, Job, OnProgress, Outcome, Stop, perform
from ldhd.train import checkpoint

REPORT_SECONDS = 0.5
"""How often a worker reports, and how often this process looks for reports."""

CONNECT_SECONDS = 10
"""How long a cluster may take to answer."""

Files = dict[str, bytes]
"""Paths within the folder of the runs, and what they hold."""


def on_ray(address: str | None = None, cpus: float = 1, gpus: float = 0) -> Executor:
    """Each run gets `cpus` and `gpus` of the cluster at `address`, or of one on this machine alone."""
    try:
        import ray
    except ImportError:
        raise ValueError("ray is not installed; in the folder of ldhd: pip install -e '.[ray]'") from None

    def execute(jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[Outcome]:
        if address is None:
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # listen on 127.0.0.1 alone
        began = not ray.is_initialized()
        if began:
            _check_answers(address)
            try:
                ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError) as error:
                raise ValueError(f"no Ray cluster at {address}: {error}") from None
        try:
            yield from _Cluster(ray, cpus, gpus).execute(jobs, on_progress, stop)
        finally:
            if began:
                ray.shutdown()

    return execute


def _check_answers(address: str | None) -> None:
    """Ray tries an address for minutes and then ends the process: try it first."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        except OSError as error:
            raise ValueError(f"no Ray cluster at {address}: {error}") from None


class _Cluster:
    """The runs that are out, each with the lease that is held for it here."""

    def __init__(self, ray: Any, cpus: float, gpus: float):
        self.ray = ray
        self.needs = {name: amount for name, amount in (("CPU", cpus), ("GPU", gpus)) if amount > 0}
        self.work = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(_work)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.inbox = ray.remote(num_cpus=0, scheduling_strategy=here, max_concurrency=4)(_Inbox).remote()
        self.out: dict[Any, tuple[Job, contextlib.ExitStack]] = {}

    def execute(self, jobs: Iterator[Job | None], on_progress: OnProgress, stop: Stop) -> Iterator[Outcome]:
        self._warn_of_what_lacks()
        more, told = True, False
        try:
            while more or self.out:
                while more and len(self.out) < self._room():
                    if stop():
                        more = False
                    elif (job := next(jobs, _NO_MORE)) is None:
                        break
                    elif isinstance(job, Job):
                        if not self._send(job):
                            yield Outcome(job)
                    else:
                        more = False
                if stop() and not told:
                    self._tell_to_stop()
                    more, told = False, True
                ready = self._ready()
                self._receive(on_progress)  # before they are let go: whoever has ended has all its reports in the inbox
                yield from self._ended(ready)
        finally:
            for reference, (_, held) in self.out.items():
                with contextlib.suppress(Exception):
                    self.ray.cancel(reference, force=True)
                held.close()
            self.ray.kill(self.inbox)

    def _warn_of_what_lacks(self) -> None:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        if not any(all(node.get(name, 0) >= amount for name, amount in self.needs.items()) for node in nodes):
            wanted = " and ".join(f"{name} {amount:g}" for name, amount in self.needs.items())
            warnings.warn(f"waiting for {wanted}: no machine of the cluster has that so far", stacklevel=2)

    def _tell_to_stop(self) -> None:
        """Those that have begun are told; those that wait for their turn, or for a machine, are called off."""
        begun = self.ray.get(self.inbox.stop.remote())
        for reference in self.out:
            if reference.task_id().hex() not in begun:
                self.ray.cancel(reference)

    def _room(self) -> int:
        """How many runs the cluster has room for, at least one: a node may be on its way."""
        there = self.ray.cluster_resources()
        return max(1, int(min(there.get(name, 0) / amount for name, amount in self.needs.items())))

    def _send(self, job: Job) -> bool:
        """Start a job with what there is of its run; False if another process has it."""
        held = contextlib.ExitStack()
        try:
            held.enter_context(holding(job.out / job.config.hash, wait=False))
        except HeldError:
            return False
        runs = [job.config.hash, *([job.config.extended_from] if job.config.extended_from else [])]
        files = _read(job.out, _stamps(job.out, runs))
        config = job.config.model_dump_json()
        reference = self.work.remote(config, job.threads, job.command, files, self.inbox)
        self.out[reference] = job, held
        return True

    def _receive(self, on_progress: OnProgress) -> None:
        """Write what came in where it belongs."""
        for name, files, progress in self.ray.get(self.inbox.take.remote()):
            for job, _ in self.out.values():
                if job.config.hash == name:
                    _write(job.out, files)
                    if progress is not None:
                        on_progress(Progress(**progress))

    def _ready(self) -> list[Any]:
        """Those that have ended, after a while of waiting."""
        if not self.out:
            time.sleep(REPORT_SECONDS)
            return []
        ready, _ = self.ray.wait(list(self.out), timeout=REPORT_SECONDS)
        return ready

    def _ended(self, ready: list[Any]) -> Iterator[Outcome]:
        for reference in ready:
            job, held = self.out.pop(reference)
            try:
                files, error, done = self.ray.get(reference)
                _write(job.out, files)
                record = RunFolder(job.out / job.config.hash).finished(job.config) if done else None
                yield Outcome(job, record, error)
            except self.ray.exceptions.TaskCancelledError:
                yield Outcome(job)
            except self.ray.exceptions.RayError as death:
                yield Outcome(job, error=f"its worker died: {str(death).splitlines()[0]}")
            except OSError as error:
                yield Outcome(job, error=str(error))
            finally:
                held.close()


_NO_MORE = object()


class _Inbox:
    """Where workers put their reports; it lives on the machine of the sweep."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, Files, dict[str, Any] | None]] = []
        self.begun: set[str] = set()
        self.stopping = False

    def begin(self, task: str) -> bool:
        """A task of Ray's begins; the answer is whether to stop."""
        self.begun.add(task)
        return self.stopping

    def put(self, name: str, files: Files, progress: dict[str, Any] | None) -> bool:
        """Keep a report; the answer is whether to stop."""
        self.reports.append((name, files, progress))
        return self.stopping

    def take(self) -> list[tuple[str, Files, dict[str, Any] | None]]:
        taken, self.reports = self.reports, []
        return taken

    def stop(self) -> set[str]:
        """From now on all are told to stop; the answer is which tasks have begun."""
        self.stopping = True
        return self.begun


def _work(config: str, threads: int, command: str, files: Files, inbox: Any) -> tuple[Files, str | None, bool]:
    """The whole life of a run on a worker: what it wrote last, its error, and whether it is finished."""
    import ray

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        _write(out, files)
        job = Job(RunConfig.model_validate_json(config), out, threads, command)
        name, sent = job.config.hash, _stamps(out, [job.config.hash])
        last, stopping = 0.0, ray.get(inbox.begin.remote(ray.get_runtime_context().get_task_id()))

        def report(progress: Progress) -> None:
            nonlocal last, stopping
            if time.monotonic() - last < REPORT_SECONDS:
                return
            last = time.monotonic()
            stopping = ray.get(inbox.put.remote(name, _changed(out, name, sent), vars(progress)))

        outcome = perform(job, report, lambda: stopping)
        return _changed(out, name, sent), outcome.error, isinstance(outcome.record, Record)


def _changed(out: Path, name: str, sent: dict[Path, tuple[int, int]]) -> Files:
    """Files that are new, or replaced, since they were last sent."""
    now = _stamps(out, [name])
    new = [path for path, stamp in now.items() if sent.get(path) != stamp]
    sent.update(now)
    return _read(out, new)


def _stamps(out: Path, names: list[str]) -> dict[Path, tuple[int, int]]:
    """The files of some runs, with what tells one from the one that replaces it."""
    found = {}
    for name in names:
        for path in sorted((out / name).rglob("*")):
            if path.name != "lease" and not path.name.startswith((".", "~")):
                with contextlib.suppress(FileNotFoundError):  # replaced or removed at this moment
                    if path.is_file():
                        found[path] = path.stat().st_ino, path.stat().st_mtime_ns
    return found


def _read(out: Path, paths: Iterable[Path]) -> Files:
    found: Files = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            found[str(path.relative_to(out))] = path.read_bytes()
    return found


def _write(out: Path, files: Files) -> None:
    """The record last: it says that all is there. Of checkpoints the newest two are kept, as everywhere."""
    for path in sorted(files, key=lambda path: path.endswith("record.json")):
        write_bytes(out / path, files[path])
    for folder in {(out / path).parent for path in files if "checkpoints" in Path(path).parts}:
        checkpoint.drop_old(folder)
