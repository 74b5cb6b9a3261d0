"""A trained model as one ONNX file: token ids to logits, for strings and batches of any size.

Where a model computes the same thing in several ways, depending on the length, the graph has one of them: that of
strings of `PADDING` + 1 to `PADDING` + `EXPORTED` tokens, which is right at every length. Shorter strings reach these
lengths by padding on the right, which the graph adds and removes again.
"""

import importlib.util
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.experiments import RunConfig, load_run
from ldhd.experiments.packaged import run_path
from ldhd.files import write_bytes
from ldhd.model import GPT
from ldhd.report.terminal import Output
from ldhd.tasks.tokens import Vocabulary

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
PADDING, EXPORTED = 32, 16
BATCH = 2
CHECKED = (1, 7, 30, 120)
"""The lengths at which a file is compared with the model before it is written."""
TOLERANCE = 1e-3
"""How far logits may differ; those of models in float32 differ by some 1e-5."""


def export_onnx(run: Path, out: Path, *, trust: bool = False) -> Output:
    """Write the model of a finished run as the ONNX file `out`, which must not exist.

    It has the input `input_ids` (strings, tokens) and the output `logits` (strings, tokens, vocabulary). Its metadata
    name the run, and the tokens in the order of their ids.
    """
    if out.exists():
        raise ValueError(f"{out} exists already; export writes a new file")
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"{missing[0]} is not installed; in the folder of ldhd: pip install -e '.[onnx]'")
    config, task, gpt = load_run(run_path(run), trust=trust)
    _check_exportable(config, gpt)
    try:
        file = onnx_file(gpt, _metadata(config, task.vocabulary))
    except Exception as error:  # of many classes, private ones among them
        reason = str(error).strip().split("\n")[0]
        raise ValueError(f"{config.position} cannot be exported to ONNX with its options: {reason}") from None
    difference = largest_difference(file, gpt)
    if not difference <= TOLERANCE:
        raise ValueError(
            f"the exported {config.position} differs from the model by {difference:.2g}; it was not written"
        )
    write_bytes(out, file)
    document = {"file": str(out), "hash": config.hash, "task": config.task, "position": config.position}
    view = [f"{config.task} {config.position}: {out}, logits within {difference:.1e} of torch's"]
    return {**document, "lengths": CHECKED, "largest_difference": difference}, view


def onnx_file(gpt: GPT, metadata: dict[str, str] | None = None) -> bytes:
    """Return a model as the bytes of an ONNX file."""
    import onnx

    length = torch.export.Dim("length", min=1, max=EXPORTED)
    batch = torch.export.Dim("batch", min=1, max=BATCH)
    example = torch.zeros(BATCH, EXPORTED // 2, dtype=torch.long)
    with torch.no_grad(), _quiet():
        program = torch.export.export(
            _AnyLength(gpt).eval(),
            (example,),
            dynamic_shapes={"input_ids": {0: batch, 1: length}},
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )
        exported = torch.onnx.export(
            program,
            dynamo=True,
            input_names=["input_ids"],
            output_names=["logits"],
            custom_translation_table=_translations(),
            verbose=False,
        )
    assert exported is not None
    proto = exported.model_proto
    for node in proto.graph.node:
        del node.metadata_props[:]  # where in the code each came from, with paths of this machine
    onnx.helper.set_model_props(proto, metadata or {})
    return proto.SerializeToString()


def largest_difference(file: bytes, gpt: GPT) -> float:
    """Return by how much logits of an ONNX file differ from those of the model, on random strings of some lengths."""
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    stream, largest = torch.Generator().manual_seed(0), 0.0
    for length in CHECKED:
        tokens = torch.randint(gpt.tokens.num_embeddings, (BATCH + 1, length), generator=stream)
        try:
            with torch.no_grad():
                expected = gpt(tokens)
        except ValueError:  # longer than the table of the embedding
            break
        logits = torch.from_numpy(session.run(["logits"], {"input_ids": tokens.numpy()})[0])
        largest = max(largest, float((logits - expected).abs().max()))
    return largest


class _AnyLength(nn.Module):
    """A model that pads its strings on the right, and leaves out the logits of the padding."""

    def __init__(self, gpt: GPT):
        super().__init__()
        self.gpt = gpt

    def forward(self, input_ids: Int[Tensor, "B n"]) -> Float[Tensor, "B n V"]:
        valid = F.pad(torch.ones_like(input_ids, dtype=torch.bool), (0, PADDING), value=False)
        logits: Tensor = self.gpt(F.pad(input_ids, (0, PADDING)), valid)
        return logits[:, : input_ids.shape[1]]


def _check_exportable(config: RunConfig, gpt: GPT) -> None:
    if config.model_options.architecture != "transformer":
        raise ValueError(
            f"only Transformers can be exported, and the run is of architecture {config.model_options.architecture}"
        )
    if gpt.redraws:
        raise ValueError(f"{config.position} draws positions in tests, which cannot be exported to ONNX")


def _metadata(config: RunConfig, vocabulary: Vocabulary) -> dict[str, str]:
    tokens = [vocabulary.word(character) for character in vocabulary.characters]
    return {"task": config.task, "position": config.position, "hash": config.hash, "tokens": json.dumps(tokens)}


def _translations() -> dict[Any, Callable[..., Any]]:
    """Return what ONNX has no operator for, as tables of all pairs (n, n) of which attention has one, too.

    The exporter's own `logcumsumexp` subtracts the largest of all scores, beside which those of the first tokens of a
    long string vanish.
    """
    from onnx import TensorProto
    from onnxscript import opset18 as op

    last = [-1]

    def up_to(x: Any) -> Any:
        """[.., j, l] = x[.., l] for l <= j, minus infinity beyond."""
        index = op.Range(op.Constant(value_int=0), op.Squeeze(op.Shape(x, start=-1)), op.Constant(value_int=1))
        earlier = op.LessOrEqual(op.Unsqueeze(index, 0), op.Unsqueeze(index, 1))
        return op.Where(earlier, op.Unsqueeze(x, -2), op.CastLike(op.Constant(value_float=-torch.inf), x))

    def cummax(self: Any, dim: int) -> Any:
        table = up_to(op.Cast(self, to=TensorProto.DOUBLE))
        largest = op.ReduceMax(table, last, keepdims=0)
        return op.CastLike(largest, self), op.ArgMax(table, axis=-1, keepdims=0, select_last_index=1)

    def logcumsumexp(self: Any, dim: int) -> Any:
        table = up_to(self)
        largest = op.ReduceMax(table, last, keepdims=1)
        finite = op.Max(largest, op.CastLike(op.Constant(value_float=torch.finfo(torch.float32).min), self))
        total = op.ReduceSum(op.Exp(op.Sub(table, finite)), last, keepdims=1)
        return op.Squeeze(op.Add(finite, op.Log(total)), last)

    return {torch.ops.aten.cummax.default: cummax, torch.ops.aten.logcumsumexp.default: logcumsumexp}


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's advice to programmers."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
