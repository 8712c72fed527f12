"""Mappings f(X; theta) from data to embeddings: one file is one mapping, found by its name."""

from __future__ import annotations

from dreval.registry import Registry

__all__ = ["MAPPINGS"]

MAPPINGS = Registry("dreval.methods._mappings", "mapping")
