"""The size of a model and the options of its attention."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

DropoutOfOnePlace = Annotated[float | None, Field(ge=0.0, lt=1.0, exclude_if=lambda value: value is None)]


class ModelConfig(BaseModel):
    """A decoder-only Transformer, or a recurrent model; its position embedding is configured separately."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    architecture: Literal["transformer", "lstm", "ssm"] = Field(
        default="transformer", exclude_if=lambda value: value == "transformer"
    )
    """What a block mixes tokens with: attention, an LSTM, or a selective state-space layer."""
    layers: int = Field(ge=1, le=1000)
    heads: int = Field(ge=1, le=100_000)
    dimension: int = Field(ge=1)
    mlps: int = Field(default=1, ge=1, le=100, exclude_if=lambda value: value == 1)
    """The number of MLPs after each attention: depth for computing that attends to no other token."""
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    """The share of values that dropout sets to zero in the exploratory phase of training, in each of three places."""
    attention_dropout: DropoutOfOnePlace = None
    """Dropout of the attention weights; None means `dropout`."""
    residual_dropout: DropoutOfOnePlace = None
    """Dropout of what each attention and each MLP adds to the residual stream; None means `dropout`."""
    embedding_dropout: DropoutOfOnePlace = None
    """Dropout of the token embeddings, with what a position embedding adds to them; None means `dropout`."""
    position_only: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether queries and keys are learned constants of each head, so that attention depends on positions alone."""
    log_length: bool = False
    """Whether the logits of a query are multiplied by log(1 + visible keys) / log(1 + log_length_reference)."""
    log_length_reference: int = Field(default=10, ge=1)
    ssmax: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether each head also learns a factor of these logits, which starts at 1: with `log_length`, this is scalable
    softmax (SSMax; Nakanishi, Scalable-Softmax Is Superior for Attention, 2025), whose s is that factor divided by
    log(1 + log_length_reference)."""
    sharpen: float = Field(default=1.0, ge=1.0, exclude_if=lambda value: value == 1)
    """Factor of the logits in tests; in exploratory training each sequence has a random factor between 1 and this."""
    null_key: bool = False
    """Whether each head has a learned key with value zero, to attend to when what is needed is absent."""
    null_lead: float = Field(default=0.0, exclude_if=lambda value: value == 0)
    """The initial advantage of the null key's logit: a head that has found nothing attends to it."""
    weight_std: float = Field(default=0.02, gt=0.0)

    @model_validator(mode="after")
    def _heads_divide_dimension(self) -> "ModelConfig":
        if self.dimension % self.heads:
            raise ValueError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")
        attention = ("position_only", "log_length", "ssmax", "sharpen", "null_key", "null_lead", "attention_dropout")
        changed = [name for name in attention if getattr(self, name) != type(self).model_fields[name].default]
        if self.architecture != "transformer" and changed:
            raise ValueError(f"architecture {self.architecture} has no attention, which {changed[0]} is an option of")
        if self.ssmax and not self.log_length:
            raise ValueError("ssmax learns a factor of the logarithm of the length: it needs log_length")
        return self

    def dropout_of(self, place: Literal["attention", "residual", "embedding"]) -> float:
        """Return the dropout of one place: its own if it is set, else that of all places."""
        own: float | None = getattr(self, f"{place}_dropout")
        return self.dropout if own is None else own


MODELS: dict[str, ModelConfig] = {
    "small": ModelConfig(layers=1, heads=4, dimension=64, log_length=True, null_key=True),
    "small-2": ModelConfig(layers=2, heads=4, dimension=64, log_length=True, null_key=True),
    "base": ModelConfig(layers=1, heads=8, dimension=128, log_length=True, null_key=True),
    "lstm": ModelConfig(architecture="lstm", layers=2, heads=1, dimension=64, weight_std=0.08),
    "ssm": ModelConfig(architecture="ssm", layers=2, heads=1, dimension=64, weight_std=0.08),
    "gpt2": ModelConfig(layers=12, heads=12, dimension=768, dropout=0.1),
}
