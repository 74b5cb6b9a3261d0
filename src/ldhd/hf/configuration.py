"""The configuration of an exported run."""

from typing import Any

from transformers import PretrainedConfig

SMALLEST = {"layers": 1, "heads": 1, "dimension": 2}
"""The default, since transformers creates a configuration without arguments."""


class LdhdConfig(PretrainedConfig):
    """A GPT of ldhd: the size of the model, and the name and options of its position embedding."""

    model_type = "ldhd"
    keys_to_ignore_at_inference = ("past_key_values",)

    def __init__(
        self,
        model_options: dict[str, Any] | None = None,
        position: str = "none",
        position_options: dict[str, dict[str, Any]] | None = None,
        vocab_size: int = 17,
        use_cache: bool = True,
        **rest: Any,
    ):
        self.model_options = dict(model_options or SMALLEST)
        self.position = position
        self.position_options = position_options or {term: {} for term in position.split("+")}
        self.vocab_size = vocab_size
        self.use_cache = use_cache
        size = self.model_options
        self.num_hidden_layers, self.num_attention_heads = size["layers"], size["heads"]
        self.hidden_size = size["dimension"]
        super().__init__(**rest)
