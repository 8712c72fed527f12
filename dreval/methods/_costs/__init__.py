"""Costs E(Y) of an embedding of given data: one file is one cost, found by its name."""

from __future__ import annotations

from dreval.registry import Registry

__all__ = ["COSTS"]

COSTS = Registry("dreval.methods._costs", "cost")
