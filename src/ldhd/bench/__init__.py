"""Benchmarks: ratios within one run, never absolute times."""

from collections.abc import Callable

from ldhd.bench.attention import attention_cases, length_cases
from ldhd.bench.decode import decoding_cases
from ldhd.bench.peers import peers_cases
from ldhd.bench.ratio import Case
from ldhd.bench.seeds import seeds_cases
from ldhd.bench.start import start_cases
from ldhd.bench.step import step_cases
from ldhd.bench.sweep import sweep_cases
from ldhd.bench.wht import walsh_hadamard_cases

BENCHMARKS: dict[str, Callable[[], list[Case]]] = {
    # first, since it wants a package that may be missing
    "wht": walsh_hadamard_cases,
    "attention": attention_cases,
    "length": length_cases,
    "step": step_cases,
    "peers": peers_cases,
    "decode": decoding_cases,
    "start": start_cases,
    "seeds": seeds_cases,
    "sweep": sweep_cases,
}

__all__ = ["BENCHMARKS", "Case"]
