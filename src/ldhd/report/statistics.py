"""Moved to `ldhd.statistics`; these names remain until the last import of them is gone."""

from ldhd.statistics import Mean, Paired, Share, mean_interval, paired, sign_test, success_rate

__all__ = ["Mean", "Paired", "Share", "mean_interval", "paired", "sign_test", "success_rate"]
