"""The words of the tables: a closed list of columns, each with its sentence."""

from __future__ import annotations

__all__ = ["COLUMNS", "NUMERIC_COLUMNS", "TEXT_COLUMNS"]

COLUMNS: dict[str, str] = {
    "dataset": "name of the data set",
    "embedding": "name of the embedding",
    "replicate": "number of the replicate (a re-run of the method); 0 for given coordinates",
    "index": "name of the index or test",
    "parameters": "parameters of the index, as name=value; of a test, what its effect size is",
    "n": "number of points",
    "n_components": "number of columns of the embedding",
    "value": "the value of the index",
    "se": "standard error of the value, for the target named in `target`",
    "ci_low": "lower end of the 95 % interval",
    "ci_high": "upper end of the 95 % interval",
    "ci_method": "how the interval was made",
    "statistic": "the test's statistic",
    "p_value": "the test's p-value; (b + 1) / (m + 1) for m sampled permutations",
    "p_adjusted": "p-value adjusted over all tests of this table",
    "n_resamples": "number of resamples (permutations, groups, replicates)",
    "direction": "which way is better: higher or lower",
    "lower": "smallest value the index can take",
    "upper": "largest value the index can take (empty when there is none)",
    "chance": "value that an embedding unrelated to the data would have; of a test, the null mean of its statistic",
    "effect_size": "size of the effect, on the scale that the test's card names",
    "target": "what the interval or test speaks of",
    "test": "name of the test, for rows that are tests",
    "worst": "value when all ties are broken to its disadvantage (empty when ties do not matter)",
    "best": "value when all ties are broken to its advantage (empty when ties do not matter)",
    "note": "what must be known to read the row: a reason, an assumption, an approximation",
    "seconds": "seconds of computation shared by the rows of one embedding",
}

TEXT_COLUMNS = (
    "dataset",
    "embedding",
    "index",
    "parameters",
    "ci_method",
    "direction",
    "target",
    "test",
    "note",
)
NUMERIC_COLUMNS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)
