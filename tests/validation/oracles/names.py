"""Evaluate expressions in the names of measures, as on the pages about other programs, on one cloud."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure_calls import call_measure
from validation.oracles.two_clouds import Cloud

from dreval.registry import MEASURES


class Names(dict[str, object]):
    """The names that an expression may use: ``k``, ``n``, and measures at ``k`` neighbors, computed at first use."""

    def __init__(self, data: Cloud, k: int) -> None:
        super().__init__(k=k, n=len(data.X))
        self.data = data

    def __missing__(self, word: str) -> object:
        """Return the value of a measure; a curve is indexed by K, and its slices count K from 1."""
        card = MEASURES.card(word)
        options: dict[str, object] = {"n_neighbors": self["k"]} if "n_neighbors" in card.parameters else {}
        options |= {"labels": self.data.labels} if "labels" in card.needs else {}
        options |= {"batch": np.arange(len(self.data.X)) // 3 % 2} if "batch" in card.needs else {}
        options |= {"size": 20} if word == "kbet" else {}
        options |= {"random_state": 0} if {"n_init", "n_walks"} & {*card.parameters} else {}
        value = call_measure(word, self.data.X, self.data.Y, **options)
        self[word] = int(value) if word == "k_max" else value
        return self[word]

    def value(self, expression: str) -> Any:
        """Return the value of an expression."""
        return eval(expression, {"__builtins__": {}}, self)
