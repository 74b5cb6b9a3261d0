"""What models of transformers with a position embedding of ldhd have in common."""

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ldhd.files import write_bytes
from ldhd.hf.attention import NAME, hand_over, refuse_several_texts
from ldhd.hf.positions import factory_by_name, fill
from ldhd.positions import Position
from ldhd.positions.factory import PositionFactory

LOADER = "ldhd_swapped"
"""The file, in the folder of a saved model, from which transformers loads it with `trust_remote_code=True`."""

LOADER_TEXT = '''"""The position embedding of this model is one of ldhd, which must be installed.

After `import ldhd.hf`, transformers loads the model as usual. With `trust_remote_code=True` it runs this file instead,
which does the same.
"""

from ldhd.hf import {config}, {model}

__all__ = ["{config}", "{model}"]
'''


class LoadedByName:
    """A class that a saved folder names in `LOADER`, so that transformers need not copy its module there."""

    @classmethod
    def register_for_auto_class(cls, auto_class: str = "") -> None:
        """Do nothing: transformers calls this when it has loaded the class with `trust_remote_code=True`."""


class PositionedModel(LoadedByName):
    """The part of a causal language model that replaces its position embedding by one of ldhd; a class to mix in.

    The configuration has `position` and `position_options`. Derived classes say where the model keeps its layers.
    """

    config: Any

    def __init__(self, config: Any):
        super().__init__(config)  # type: ignore[call-arg]
        self.install()
        self.post_init()  # type: ignore[attr-defined]

    def inner(self) -> nn.Module:
        """Return the module whose `forward` gets the attention mask and calls the layers."""
        raise NotImplementedError

    def attentions(self) -> list[nn.Module]:
        """Return the attention module of each layer."""
        raise NotImplementedError

    def remove_own_position(self) -> None:
        """Let the model's own position embedding do nothing; called again, change nothing."""
        raise NotImplementedError

    def install(self) -> None:
        """Give each layer the embedding that the configuration names."""
        config, model, make = self.config, self.inner(), self._factory()
        if not hasattr(self.attentions()[0], "position"):
            model.register_forward_pre_hook(refuse_several_texts, with_kwargs=True)
        self.remove_own_position()
        for layer, attention in enumerate(self.attentions()):
            if not hasattr(attention, "position"):
                attention.register_forward_pre_hook(hand_over, with_kwargs=True)
            attention.add_module("position", make(config.hidden_size, config.num_attention_heads, layer))
        config.auto_map = {
            "AutoConfig": f"{LOADER}.{type(config).__name__}",
            "AutoModelForCausalLM": f"{LOADER}.{type(self).__name__}",
        }
        self.set_attn_implementation(NAME)  # type: ignore[attr-defined]

    def with_penalties(self, forward: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return what `forward` returns; a loss from labels includes the penalties of the position embedding."""
        penalties: list[Tensor] = []
        output = forward(*arguments, **named, penalties=penalties, return_dict=True)
        if output.loss is not None:
            output.loss = sum(penalties, output.loss)
        return output

    def initialize_weights(self) -> None:
        """Initialise as usual, and then the tensors of embeddings that are in no file."""
        super().initialize_weights()  # type: ignore[misc]
        for module in self.modules():  # type: ignore[attr-defined]
            if isinstance(module, Position):
                fill(module, self._factory(), self.config.initializer_range)

    def save_pretrained(self, save_directory: Any, *arguments: Any, **named: Any) -> None:
        """Save as usual, with a file that loads the model, or says what is missing, where ldhd was not imported."""
        super().save_pretrained(save_directory, *arguments, **named)  # type: ignore[misc]
        text = LOADER_TEXT.format(config=type(self.config).__name__, model=type(self).__name__)
        write_bytes(Path(save_directory) / f"{LOADER}.py", text.encode())

    def _factory(self) -> PositionFactory:
        return factory_by_name(self.config.position, self.config.position_options or {})
