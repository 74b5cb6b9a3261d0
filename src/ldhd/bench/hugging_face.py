"""A GPT-2 of Hugging Face with the same size and weights as our GPT with `absolute`."""

from typing import Any

import torch

from ldhd.model import GPT, ModelConfig
from ldhd.positions import Absolute
from ldhd.tasks.tokens import VOCABULARY_SIZE

POSITIONS = 1024
NAMES = {
    "attn.c_attn": "attention.qkv",
    "attn.c_proj": "attention.out",
    "mlp.c_fc": "mlp.0",
    "mlp.c_proj": "mlp.2",
    "ln_1": "attention_norm",
    "ln_2": "mlp_norm",
}
"""The modules of a block of GPT-2, and ours."""


def plain(size: ModelConfig) -> ModelConfig:
    """Return a model of this size without the options that GPT-2 does not have."""
    return ModelConfig(layers=size.layers, heads=size.heads, dimension=size.dimension, dropout=size.dropout)


def same_gpt2(config: ModelConfig) -> tuple[GPT, Any]:
    """Return our GPT with absolute positions and a GPT-2 of transformers, eager attention, with equal weights."""
    try:
        import transformers
    except ImportError:
        raise ValueError("transformers is not installed; in the folder of ldhd: pip install -e '.[bench]'") from None
    transformers.logging.set_verbosity_error()
    theirs = transformers.AutoModelForCausalLM.from_config(
        transformers.GPT2Config(
            vocab_size=VOCABULARY_SIZE,
            n_positions=POSITIONS,
            n_embd=config.dimension,
            n_layer=config.layers,
            n_head=config.heads,
            resid_pdrop=config.dropout,
            embd_pdrop=config.dropout,
            attn_pdrop=config.dropout,
            bos_token_id=None,
            eos_token_id=None,
        ),
        attn_implementation="eager",
    )
    ours = GPT(config, VOCABULARY_SIZE, lambda d, h, layer: Absolute(d, h, layer, table_size=POSITIONS))
    ours.load_state_dict(translate(theirs.state_dict(), config.layers))
    return ours, theirs


def translate(state: dict[str, torch.Tensor], layers: int) -> dict[str, torch.Tensor]:
    """Return the weights of GPT-2 under our names; GPT-2 stores its projections transposed (Conv1D)."""
    result = {
        "tokens.weight": state["transformer.wte.weight"],
        "blocks.0.attention.position.table": state["transformer.wpe.weight"],
        "norm.weight": state["transformer.ln_f.weight"],
        "norm.bias": state["transformer.ln_f.bias"],
    }
    for layer in range(layers):
        theirs, ours = f"transformer.h.{layer}.", f"blocks.{layer}."
        for there, here in NAMES.items():
            for kind in ("weight", "bias"):
                tensor = state[f"{theirs}{there}.{kind}"]
                result[f"{ours}{here}.{kind}"] = tensor.T if tensor.ndim == 2 else tensor
    return result
