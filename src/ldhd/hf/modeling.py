"""An exported run as a causal language model of transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache, GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.utils import can_return_tuple

from ldhd.hf.cache import LdhdCache
from ldhd.hf.configuration import LdhdConfig
from ldhd.hf.positions import factory_by_name, fill
from ldhd.model.config import ModelConfig
from ldhd.model.gpt import GPT
from ldhd.model.packing import last_tokens
from ldhd.positions import Position


class LdhdForCausalLM(PreTrainedModel, GenerationMixin):
    """A GPT of ldhd. Positions count the tokens that are not masked, so padding changes nothing."""

    config_class = LdhdConfig
    config: LdhdConfig

    def __init__(self, config: LdhdConfig):
        super().__init__(config)
        self.make_position = factory_by_name(config.position, config.position_options)
        self.gpt = GPT(ModelConfig(**config.model_options), config.vocab_size, self.make_position)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Do nothing to new weights, since the GPT initialises itself; recompute what embeddings do not store."""
        if isinstance(module, Position):
            fill(module, self.make_position, self.gpt.config.weight_std)

    def get_input_embeddings(self) -> nn.Module:
        return self.gpt.tokens

    def get_output_embeddings(self) -> None:
        return None

    @can_return_tuple
    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: Cache | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int | Tensor = 0,
        **rest: Any,
    ) -> CausalLMOutputWithPast:
        """Return logits and, from labels, the loss with the penalties of the position embedding among its terms.

        With a cache there is no gradient, so none is kept where there are labels or gradients are on.
        """
        if self.config.model_options.get("log_length") and self.dtype in (torch.float16, torch.bfloat16):
            raise ValueError(f"with log_length it computes in float32, not in {self.dtype}; use dtype=torch.float32")
        wanted = self.config.use_cache if use_cache is None else use_cache
        cache = self._cache(past_key_values, wanted and labels is None and not torch.is_grad_enabled())
        if attention_mask is not None and attention_mask.ndim != 2:
            found = attention_mask.ndim
            raise ValueError(f"the attention mask must have two dimensions, batch and tokens, got {found}")
        # which of the newest tokens are not padding
        valid = None if attention_mask is None else attention_mask[:, -input_ids.shape[1] :].to(torch.bool)
        penalties: list[Tensor] = []
        if cache is not None and isinstance(logits_to_keep, int) and logits_to_keep == 1:
            # `generate` wants the last token's successor alone: no table of all pairs is needed to read a prompt
            packing = last_tokens(len(input_ids), input_ids.shape[1], input_ids.device)
            logits = self.gpt(input_ids, valid, cache.state, packing)[:, None]
        else:
            logits = self.gpt(input_ids, valid, None if cache is None else cache.state, penalties=penalties)
            kept = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
            logits = logits[:, kept]
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **rest)
            loss = sum(penalties, loss)
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=cache)

    def _cache(self, given: Cache | None, wanted: bool) -> LdhdCache | None:
        """Return the cache to continue with; an empty one of another kind, as `generate` makes, is replaced."""
        if isinstance(given, LdhdCache):
            return given
        if given is not None and given.get_seq_length() > 0:
            raise ValueError(f"an ldhd model continues from a cache of its own, not from a {type(given).__name__}")
        return LdhdCache(self.gpt.new_cache()) if wanted else None
