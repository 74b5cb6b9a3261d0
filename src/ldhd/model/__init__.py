"""The Transformer and its named sizes."""

from ldhd.model.config import MODELS, ModelConfig
from ldhd.model.gpt import GPT, DecodingCache

__all__ = ["GPT", "MODELS", "DecodingCache", "ModelConfig"]
