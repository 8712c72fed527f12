"""What the docstrings of several tests say in the same words: a line ``%(name)s`` of a docstring stands for it."""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS: dict[str, str] = {
    "coinciding_rows": """\
DegenerateDataWarning
    More than half of the pairs of rows coincide, so that the median of the distances is 0.""",
    "permutations": """\
permutation : {"free", "within", "blocks", "cyclic"}
    Which rows may be exchanged under the null hypothesis: all; those of the same block; whole ``blocks`` of equal
    size; or all by a cyclic shift, for a stationary time series.
blocks : (n,) array of classes, optional
    The block of each row, for ``permutation="within"`` and ``"blocks"``; a series follows the row names of ``x``.
n_resamples : int
    Number B of permutations. When there are at most B different ones (n! <= B), all of them are enumerated and p
    is exact.""",
    "draws": """\
stop_after : int, optional
    Stop as soon as this many permuted statistics have reached the observed one (Besag & Clifford 1991): fewer
    permutations where p is large, and still a valid p.
random_state : int, numpy Generator or None
    Seed; permutation b depends on the seed and b only.
n_jobs : int, optional
    Number of threads, all cores by default; the numbers do not depend on it.""",
}
