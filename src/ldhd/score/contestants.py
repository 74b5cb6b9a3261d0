"""The models that can be scored: a run, a folder of transformers, a Python function, a program.

Each becomes a function from prompts and the length of the longest right answer to as many answers.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ldhd.names import lookup

Answers = Callable[[list[str], int], Sequence[str]]

BATCH = 32
"""Prompts that a model of transformers answers at once, at most."""

LARGEST_ATTENTION = 8_000_000
"""The largest number of pairs of positions, over a batch, that it attends to at once."""


@dataclass(frozen=True)
class Contestant:
    """A model under its name, with the number of its parameters and its largest training scale where they are known."""

    name: str
    answers: Answers
    parameters: int | None = None
    trained_to: int | None = None
    task: str | None = None
    """The only task that it is trained on."""


def contestant(model: str, timeout: float, trust: bool) -> Contestant:
    """Return the contestant that `hf:FOLDER`, `python:module:function`, `program:COMMAND` or a run's folder names."""
    kind, colon, rest = model.partition(":")
    if colon and kind in ("hf", "python", "program") and not rest:
        raise ValueError(f"{model!r} names no model; write hf:FOLDER, python:module:function or program:COMMAND")
    if colon and kind == "hf":
        return _transformers(rest, trust)
    if colon and kind == "python":
        return _function(rest)
    if colon and kind == "program":
        return _program(rest, timeout)
    return _run(Path(model), trust)


def _run(path: Path, trust: bool) -> Contestant:
    from ldhd.evaluate.accuracy import answers
    from ldhd.experiments import load_run

    config, task, model = load_run(path, trust=trust)
    size = sum(parameter.numel() for parameter in model.parameters())
    return Contestant(
        str(path),
        lambda prompts, longest: answers(model, prompts, longest, task.vocabulary),
        size,
        max(config.train_scales),
        config.task,
    )


def _function(name: str) -> Contestant:
    found: object = lookup(name, {}, "function")
    if not callable(found):
        raise ValueError(f"python:{name} is no function that takes a list of prompts")
    function = found

    def answers(prompts: list[str], longest: int) -> Sequence[str]:
        try:
            written = list(function(list(prompts)))
        except Exception as error:  # a user's function may raise anything
            raise ValueError(f"python:{name} failed: {type(error).__name__}: {error}") from error
        wrong = next((answer for answer in written if not isinstance(answer, str)), None)
        if wrong is not None:
            raise ValueError(f"python:{name} must return strings, got {type(wrong).__name__}")
        return written

    return Contestant(f"python:{name}", answers)


def _program(command: str, timeout: float) -> Contestant:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"program:{command} cannot be read as a command: {error}") from None

    def answers(prompts: list[str], longest: int) -> Sequence[str]:
        return _answered(words, prompts, timeout)

    return Contestant(f"program:{command}", answers)


def _answered(words: Sequence[str], prompts: Sequence[str], timeout: float) -> list[str]:
    """Run a program on some prompts; a ValueError says how it failed."""
    text = "".join(f"{prompt}\n" for prompt in prompts).encode()
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise ValueError(f"{words[0]} cannot be started: {error.strerror}") from None
    try:
        out, complaints = process.communicate(text, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ValueError(f"{words[0]} did not answer {len(prompts)} prompts within {timeout:g} s") from None
    finally:
        if process.poll() is None:  # the program and what it has started
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        last = complaints.decode(errors="replace").strip().splitlines()[-1:]
        raise ValueError(f"{words[0]} ended with exit code {process.returncode}{': ' if last else ''}{''.join(last)}")
    return out.decode(errors="replace").splitlines()


def _transformers(folder: str, trust: bool) -> Contestant:
    if not Path(folder).is_dir():
        raise ValueError(f"hf:{folder}: there is no such folder")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    import ldhd.hf  # noqa: F401  registers our own models

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=trust, local_files_only=True).eval()
    except Exception as error:  # transformers raises many kinds
        raise ValueError(f"hf:{folder} cannot be loaded: {str(error).strip().splitlines()[0]}") from error
    tokenizer.padding_side = "left"

    @torch.inference_mode()
    def answers(prompts: list[str], longest: int) -> Sequence[str]:
        order = sorted(range(len(prompts)), key=lambda k: len(prompts[k]))
        written = [""] * len(prompts)
        size = max(1, min(BATCH, LARGEST_ATTENTION // (len(prompts[order[-1]]) + longest) ** 2))
        for start in range(0, len(order), size):
            own = order[start : start + size]
            inputs = tokenizer([prompts[k] for k in own], return_tensors="pt", padding=True)
            tokens = model.generate(**inputs, max_new_tokens=longest, do_sample=False)
            for k, row in zip(own, tokens[:, inputs["input_ids"].shape[1] :], strict=True):
                text = tokenizer.decode(row)
                written[k] = text[: text.index("e") + 1] if "e" in text else text
        return written

    return Contestant(f"hf:{folder}", answers, sum(parameter.numel() for parameter in model.parameters()))
