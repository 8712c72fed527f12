"""How an evaluation looks in a notebook, before it is run."""

from __future__ import annotations

from typing import Any

from dreval.report.render.summary import Block, Summary

__all__ = ["shown_evaluation"]


def shown_evaluation(evaluation: Any) -> Summary:
    """Data, settings, and where each embedding comes from; nothing is computed."""
    data, anchors = evaluation.data, evaluation.anchors
    header = [
        ("Data", str(data.name)),
        ("Points n", f"{data.n:,}"),
        ("Columns p", f"{data.p:,}"),
        ("Metric", evaluation.metric),
        ("Neighbors k", ", ".join(map(str, evaluation.n_neighbors))),
        ("Anchors", f"{anchors:,}" if anchors else "all points"),
        ("Labels", "" if data.labels is None else "given"),
        ("Covariates", ", ".join(map(str, data.covariates))),
        ("Seed", str(evaluation.seed)),
    ]
    rows = [[name, source.kind, str(source.what)] for name, source in evaluation.sources.items()]
    blocks = [Block("Embeddings", ["", "from", "what"], rows, names=3)] if rows else []
    return Summary("Evaluation", header, blocks, ["Nothing is computed yet: run() gives the results."])
