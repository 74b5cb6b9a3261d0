"""Tables and figures, made from records alone."""

from ldhd.report.output import print_results, print_runs, print_view
from ldhd.report.plot import plot_accuracy
from ldhd.report.table import accuracy_table, digit_table

__all__ = ["accuracy_table", "digit_table", "plot_accuracy", "print_results", "print_runs", "print_view"]
