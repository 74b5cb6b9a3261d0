"""Predict, without training, whether a position embedding carries a task from small scales to large ones.

The words used here (docs/glossary.md has the others):

- A **query** is the last token before an answer token; its **keys** are the tokens up to and including it.
- A **slot** is the role of a token that an answer token depends on; the task says where each slot is (its *needs*).
- A **view** is what one head knows about the positions of a query and a key (`views.py`).
- A **cell** is all that a head knows about a key without its content: the class of query and key in its view, the
  type of the query and the type of the key (`cells.py`).
- A **head** is one candidate: a view, the slots it serves, and what a first layer does for it (`analysis.py`).
- A head **serves** its slots if every cell they need at test scales was learned in training (*coverage*) and one score
  of cells puts what is needed above everything else (*consistency*). `FailureScales` says where it stops doing so.
- A **relay** is a token, the only one of its kind, that reads a slot in the first layer and is read in the second.
- A **witness** consists of the smallest strings that show why no head serves a slot (`witness.py`).
"""

from ldhd.predict.prediction import ASSUMPTIONS, Constraint, Prediction, SlotPrediction, Witness
from ldhd.predict.predictor import Strings, predict, predict_layers, prepare
from ldhd.predict.shapes import ShapeSource, StringShape

__all__ = [
    "ASSUMPTIONS",
    "Constraint",
    "Prediction",
    "ShapeSource",
    "SlotPrediction",
    "StringShape",
    "Strings",
    "Witness",
]
__all__ += ["predict", "predict_layers", "prepare"]
