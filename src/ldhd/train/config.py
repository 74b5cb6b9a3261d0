"""How a model is trained."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class TrainConfig(BaseModel):
    """AdamW with linear warm-up and cosine decay."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    steps: int = Field(default=1200, ge=1)
    schedule_steps: int | None = Field(default=None, ge=1)
    """Length of the cosine, if training stops before its end (the paper: 10000, stopped at 1000)."""
    batch_size: int = Field(default=256, ge=1, le=1_000_000)
    accumulation: int = Field(default=1, ge=1, le=1024)
    """Number of batches whose gradients are averaged for one step."""
    samples: int | Literal["endless"] = 10_000
    """Size of the training set, or fresh instances at every step."""
    priming_share: float = Field(default=0.0, ge=0.0, lt=1.0, exclude_if=lambda value: value == 0)
    """Share of training instances taken from `priming_scale` instead of the training scales."""
    priming_scale: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    learning_rate: float = Field(default=1e-3, gt=0.0)
    warmup: float = Field(default=0.05, ge=0.0, lt=1.0)
    """Share of the schedule with a linearly rising learning rate."""
    weight_decay: float = Field(default=0.1, ge=0.0)
    """Applied to parameters of two or more dimensions (projections, embeddings, tables of positions, null keys),
    not to biases and norms."""
    gradient_clip: float = Field(default=1.0, gt=0.0)
    loss: Literal["answer", "sequence"] = "answer"
    """Which tokens are to be predicted: those of the answer, or all."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """`auto` uses bfloat16 autocast where it is faster: `ldhd.train.precision.choose`."""
    settle: float = Field(default=0.0, ge=0.0, le=1.0, exclude_if=lambda value: value == 0)
    """Share of the steps, at the end, that are the fine-tuning phase: the model is trained as it is tested, anchors
    that are hard in tests are hard and keep what they have learned, and nothing is random."""
    evaluate_every: int = Field(default=50, ge=1)
    measure_test_scales: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether accuracy at the test scales is measured along with that at the training scales, as `test_accuracy` in
    the metrics. It is for learning curves only; nothing is ever chosen by it."""
    checkpoint_every: int = Field(default=100, ge=1)

    @model_validator(mode="after")
    def _check(self) -> "TrainConfig":
        if self.schedule_steps is not None and self.schedule_steps < self.steps:
            raise ValueError(f"schedule_steps {self.schedule_steps} must not be below steps {self.steps}")
        if (self.priming_share > 0) != (self.priming_scale is not None):
            raise ValueError("priming_share and priming_scale go together: give both or neither")
        return self

    @field_validator("samples", mode="before")
    @classmethod
    def _check_samples(cls, value: object) -> object:
        if value == "endless" or (type(value) is int and 1 <= value <= 100_000_000):
            return value
        raise ValueError(f"must be a whole number from 1 to 100 million or 'endless', got {value!r}")
