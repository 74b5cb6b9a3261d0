"""The record of a finished run, and the folder of a run: its files, their integrity, and whether it is finished."""

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ldhd import files
from ldhd.certify import Certificate
from ldhd.evaluate import HardResult, ScaleResult
from ldhd.experiments.config import Hash, Name, RunConfig
from ldhd.experiments.parts import explain
from ldhd.experiments.start import Start
from ldhd.experiments.trace import TraceDocument
from ldhd.train.metrics import Metrics, check_metrics
from ldhd.train.precision import Precision

FITTED = 0.99
"""A run is fitted if its exact match is at least this at every training scale."""
LARGEST_COUNT = 10**12
ROUNDING = 1e-9
"""By how much a stored interval may miss its value."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


Line = Annotated[str, Field(max_length=1000), AfterValidator(_printable)]
"""A text of one line, without signs that control a terminal."""


class Record(BaseModel):
    """One finished run, as in record.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    hash: Hash
    task: Name
    position: Name
    model: Line
    seed: int = Field(ge=0)
    train_scales: list[int] = Field(min_length=1)
    fitted: bool
    results: list[ScaleResult] = Field(min_length=1)
    steps: int = Field(ge=0, le=LARGEST_COUNT)
    seconds: float = Field(ge=0, le=LARGEST_COUNT)
    threads: int = Field(ge=1, le=1_000_000)
    precision: Precision | None = Field(default=None, exclude_if=lambda value: value is None)
    """The arithmetic of training; None in older records."""
    version: Line
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None
    command: str = Field(max_length=1_000_000)
    hard: list[HardResult] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Results on the hard instances of each test scale; None where they were not measured."""
    extended_from: Hash | None = Field(default=None, exclude_if=lambda value: value is None)
    started: Start | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where the source tree stood when training started; None if that is not known."""

    @model_validator(mode="after")
    def _check_intervals(self) -> "Record":
        for result in self.results:
            if not result.low - ROUNDING <= result.exact <= result.high + ROUNDING:
                raise ValueError(f"the interval at scale {result.scale} does not hold its value")
        return self

    def document(self) -> dict[str, Any]:
        """Return the record as in record.json, with its digest."""
        return files.sealed(self.model_dump(mode="json"))

    def exact(self, scale: int) -> float | None:
        """Return the exact match at a scale, None if it was not tested."""
        return self._by_scale.get(scale)

    @cached_property
    def _by_scale(self) -> dict[int, float]:
        return {result.scale: result.exact for result in reversed(self.results)}

    def hard_exact(self, scale: int) -> float | None:
        """Return the exact match on the hard instances of a scale, None if it was not measured."""
        return next((result.exact for result in self.hard or [] if result.scale == scale), None)


@dataclass(frozen=True)
class Failure:
    """Why a run failed, and how often it was tried, as in failure.json."""

    hash: str
    label: str
    message: str
    attempts: int


FAILURE = TypeAdapter(Failure)
Stored = TypeVar("Stored", RunConfig, Record)


def parse_stored(kind: type[Stored], value: Mapping[str, Any], source: object) -> Stored:
    """Check the digest and the fields of a config or a record as stored; errors name `source`."""
    try:
        return kind.model_validate_json(files.unsealed_text(value, source))
    except ValidationError as error:
        raise files.BadFileError(f"{source} cannot be read by this version: {explain(error)}") from None


def check_agreement(record: Record, config: RunConfig, source: object) -> None:
    """Raise BadFileError if a record cannot be that of a run of `config`."""
    scales = [result.scale for result in record.results]
    counts = {result.n for result in record.results}
    within = [result.exact >= FITTED for result in record.results if result.scale in config.train_scales]
    whole = len(within) == len(config.train_scales)
    if record.hash != (own := config.hash):
        raise files.BadFileError(f"{source} holds the record of {record.hash} beside the config of {own}")
    facts = {
        "task": (record.task, config.task),
        "position": (record.position, config.position),
        "seed": (record.seed, config.seed),
        "train_scales": (record.train_scales, list(config.train_scales)),
        "test scales": (scales, list(config.test_scales)),
        "number of instances": (counts, {config.test_instances}),
        "steps": (record.steps, config.train.steps),
        "extended_from": (record.extended_from, config.extended_from),
        "fitted": (record.fitted, all(within) if whole else record.fitted and all(within)),
    }
    for name, (stored, expected) in facts.items():
        if stored != expected:
            raise files.BadFileError(
                f"{source} does not agree with its config: its {name} is {_short(stored)}, not {_short(expected)}"
            )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def parse_certificate(value: Mapping[str, Any], owner: str, source: object) -> Certificate:
    """Check the digest and the fields of a certificate as stored, and that it is about the run `owner`."""
    stored = files.unsealed(value, source)
    run, _ = stored.pop("run", None), stored.pop("weights", None)
    if run != owner:
        raise files.BadFileError(f"{source} belongs to run {run}")
    try:
        return TypeAdapter(Certificate).validate_json(json.dumps(stored), strict=True)
    except ValidationError as error:
        raise files.BadFileError(f"{source} is no certificate: {explain(error)}") from None


class RunFolder:
    """The files of one run.

    Files are written atomically, and checked when they are read: a damaged file raises BadFileError, an absent one
    FileNotFoundError. The record is written last, so a folder that holds one is finished. `guard` is called before a
    written file gets its name, and may refuse that.
    """

    def __init__(self, path: Path, guard: files.Guard = lambda: None):
        self.path = path
        self.guard = guard
        self.config_path = path / "config.json"
        self.metrics_path = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.weights_path = path / "model.safetensors"
        self.trace_path = path / "trace.json"
        self.record_path = path / "record.json"
        self.failure_path = path / "failure.json"
        self.certificate_path = path / "certificate.json"
        self.start_path = path / "start.json"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return any(map(os.path.lexists, (self.config_path, self.record_path, self.failure_path)))

    @property
    def is_finished(self) -> bool:
        """Whether the folder holds a record, be it damaged."""
        return os.path.lexists(self.record_path)

    def config(self) -> RunConfig:
        return parse_stored(RunConfig, files.load_json(self.config_path), self.config_path)

    def record(self) -> Record:
        return parse_stored(Record, files.load_json(self.record_path), self.record_path)

    def finished_pair(self) -> tuple[RunConfig, Record]:
        """Return the config and the record, which agree; BadFileError if there is no config."""
        try:
            config = self.config()
        except FileNotFoundError:
            raise files.BadFileError(f"{self.path} holds a record without config.json") from None
        record = self.record()
        check_agreement(record, config, self.record_path)
        return config, record

    def start(self) -> Start | None:
        """Return where the source tree stood when training started, None if that is not known."""
        try:
            return Start(**files.read_json(self.start_path))
        except (FileNotFoundError, files.BadFileError, ValidationError):
            return None

    def begin(self, start: Start | None) -> Start | None:
        """Note where the source tree stands, unless that was noted before or training has begun without a note."""
        begun = any(path.exists() for path in (self.checkpoints, self.metrics_path, self.weights_path))
        if start is not None and not begun and not self.start_path.exists():
            files.write_json(self.start_path, start.model_dump(mode="json"))
        return self.start()

    def metrics(self) -> Metrics:
        rows = files.read_lines(self.metrics_path)
        check_metrics(rows, self.metrics_path)
        return rows

    def trace(self) -> dict[str, Any]:
        found = files.read_json(self.trace_path)
        TraceDocument.check(found, self.trace_path)
        return found

    def failure(self) -> Failure:
        try:
            return FAILURE.validate_json(files.unsealed_text(files.load_json(self.failure_path), self.failure_path))
        except ValidationError as error:
            raise files.BadFileError(f"{self.failure_path} cannot be read: {explain(error)}") from None

    def certificate(self) -> Certificate:
        """Return what `ldhd certify` found about this run; FileNotFoundError if it was not asked."""
        stored = files.load_json(self.certificate_path)
        if self.weights_path.exists() and stored.get("weights") != self.weights_digest():
            raise files.BadFileError(f"{self.certificate_path} is about other weights; run `ldhd certify` again")
        return parse_certificate(stored, self.config().hash, self.certificate_path)

    def write_certificate(self, certificate: Certificate) -> None:
        """Store what `ldhd certify` found about this run."""
        files.write_json(self.certificate_path, certificate.document(self.config().hash, self.weights_digest()))

    def weights_digest(self) -> str:
        """Return the SHA-256 digest of the file of the trained weights."""
        return hashlib.sha256(self.weights_path.read_bytes()).hexdigest()

    def completed_metrics(self, config: RunConfig) -> Metrics | None:
        """Return the metrics if they go to the last training step of `config`."""
        metrics = self.metrics()
        return metrics if metrics and metrics[-1]["step"] == config.train.steps else None

    def finished(self, config: RunConfig) -> Record | None:
        """Return the record if the run of `config` needs no more work, or None if a file is absent or damaged."""
        try:
            record, metrics = self.record(), self.completed_metrics(config)
            check_agreement(record, config, self.record_path)
            same = files.read_json(self.config_path) == config.model_dump(mode="json")
        except (FileNotFoundError, NotADirectoryError, files.BadFileError):
            return None
        return record if same and metrics is not None else None

    def prepare(self, config: RunConfig) -> None:
        """Make the folder ready for work: remove partly written files, warn of damaged ones, write the config."""
        self.check_no_links()
        for path in (self.config_path, self.metrics_path, self.weights_path, self.trace_path, self.record_path):
            if path.is_dir():
                raise files.BadFileError(f"{path} is a folder where a file has to be written; move it away")
        for folder in (self.path, self.checkpoints):
            files.remove_leftovers(folder)
        with _warning_of_damage():
            _check_owner(self.config_path, self.config().hash, config)
        with _warning_of_damage():
            record = self.record()
            _check_owner(self.record_path, record.hash, config)
            check_agreement(record, config, self.record_path)
        with _warning_of_damage():
            if self.completed_metrics(config) is None and self.is_finished:
                raise files.BadFileError(f"{self.metrics_path} lacks its last lines")
        files.write_json(self.config_path, config.model_dump(mode="json"), self.guard)

    def write_metrics(self, metrics: Metrics) -> None:
        files.write_lines(self.metrics_path, metrics, self.guard)

    def write_result(self, record: Record, trace: Mapping[str, Any]) -> None:
        """Finish the run: write its trace, then its record, and remove the note of an earlier failure."""
        files.write_json(self.trace_path, trace, self.guard)
        files.write_json(self.record_path, record.model_dump(mode="json"), self.guard)
        self.failure_path.unlink(missing_ok=True)

    def write_failure(self, failure: Failure) -> None:
        """Note why the run failed, unless another process has finished it since."""
        self.check_no_links()
        if not self.is_finished:
            files.write_json(self.failure_path, asdict(failure))

    def check_no_links(self) -> None:
        """Raise BadFileError if a link stands for a folder: whoever made it chooses where it leads."""
        for folder in (self.path, self.checkpoints):
            if folder.is_symlink():
                raise files.BadFileError(f"{folder} is a link, and nothing is written through it")


@contextlib.contextmanager
def _warning_of_damage() -> Iterator[None]:
    """Warn of a file that is damaged or of another run; an absent one is neither."""
    try:
        yield
    except FileNotFoundError:
        pass
    except files.BadFileError as error:
        warnings.warn(f"{error}; it is written again", stacklevel=3)


def _check_owner(path: Path, owner: str, config: RunConfig) -> None:
    if owner != config.hash:
        raise files.BadFileError(f"{path} belongs to run {owner}, not to {config.hash}")
