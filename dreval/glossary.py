"""The words of the tables: a closed list of columns, each with its sentence; and how text fills a terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping

__all__ = [
    "COLUMNS",
    "DIRECTIONS",
    "MARK",
    "NUMERIC_COLUMNS",
    "TEXT_COLUMNS",
    "block",
    "spread",
    "terminal_width",
]

MARK = "\x00"  # stands behind a letter that takes two columns of a terminal, so that lengths are widths
WIDTH = 80

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
    "direction": "which way is better: higher, lower, or none (it describes, and neither way is better)",
    "lower": "smallest value the index can take",
    "upper": "largest value the index can take (empty when there is none)",
    "chance": "value that an embedding unrelated to the data would have, in closed form or the mean of up to 20 draws; "
    "of a test, the null mean of its statistic",
    "effect_size": "size of the effect, on the scale that the test's card names",
    "target": "what the interval or test speaks of",
    "test": "name of the test, for rows that are tests",
    "worst": "value when all ties are broken to its disadvantage (empty when ties do not matter)",
    "best": "value when all ties are broken to its advantage (empty when ties do not matter)",
    "note": "what must be known to read the row: a reason, an assumption, an approximation",
    "seconds": "seconds of computation shared by the rows of one embedding",
}

# Which way of an index is better, by the word of its card, as it is printed.
DIRECTIONS: dict[str, str] = {
    "higher": "higher is better",
    "lower": "lower is better",
    "zero": "better the nearer to 0",
    "none": "no direction",
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


def spread(text: str) -> str:
    """The text with as many characters as it takes columns: a mark behind every broad letter, accents joined."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return "".join(c + MARK if unicodedata.east_asian_width(c) in "WF" else c for c in text)


def terminal_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(spread(text))


def block(title: str, words: Mapping[str, str]) -> str:
    """A title and lines ``name: words``, as broad as a terminal; what has no words is left out.

    Examples
    --------
    >>> print(block("Trustworthiness (T)", {"name": "trustworthiness", "range": "0 to 1", "ties": ""}))
    Trustworthiness (T)
      name: trustworthiness
      range: 0 to 1
    """
    lines = [title]
    for name, said in words.items():
        line = f"{name}: {' '.join(said.split())}"
        lines += textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="      ") if said else []
    return "\n".join(lines)
