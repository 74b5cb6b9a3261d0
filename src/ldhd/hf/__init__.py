"""Hugging Face: exported runs as models of transformers, and other position embeddings inside GPT-2 or Llama.

Importing this package registers its models with the Auto classes.
"""

from ldhd.hf.missing import MissingPackageError

try:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast
except ImportError:
    raise MissingPackageError("transformers is not installed; in the folder of ldhd: pip install -e '.[hf]'") from None

from ldhd.hf.configuration import LdhdConfig
from ldhd.hf.export import character_tokenizer, export_run
from ldhd.hf.modeling import LdhdForCausalLM
from ldhd.hf.positioned_gpt2 import PositionedGPT2Config, PositionedGPT2ForCausalLM
from ldhd.hf.positioned_llama import (
    PositionedLlamaConfig,
    PositionedLlamaForCausalLM,
    PositionedMistralConfig,
    PositionedMistralForCausalLM,
    PositionedQwen2Config,
    PositionedQwen2ForCausalLM,
)
from ldhd.hf.swapped import FAMILIES, swap_position

AutoConfig.register(LdhdConfig.model_type, LdhdConfig, exist_ok=True)
AutoModelForCausalLM.register(LdhdConfig, LdhdForCausalLM, exist_ok=True)
AutoTokenizer.register(LdhdConfig, fast_tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)
for model in FAMILIES.values():
    AutoConfig.register(model.config_class.model_type, model.config_class, exist_ok=True)
    AutoModelForCausalLM.register(model.config_class, model, exist_ok=True)

__all__ = ["LdhdConfig", "LdhdForCausalLM", "MissingPackageError", "PositionedGPT2Config"]
__all__ += ["PositionedGPT2ForCausalLM", "PositionedLlamaConfig", "PositionedLlamaForCausalLM", "PositionedQwen2Config"]
__all__ += [
    "PositionedMistralConfig",
    "PositionedMistralForCausalLM",
    "PositionedQwen2ForCausalLM",
    "character_tokenizer",
]
__all__ += ["export_run", "swap_position"]
