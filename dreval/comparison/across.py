"""Embeddings compared across data sets and replicates, from any tidy table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_float, check_names, check_one_of, keywords_checked
from dreval._random import root_seed, stream
from dreval.comparison._pairs import (
    letters_of,
    mixed_rows,
    nemenyi_rows,
    only_found,
    overall_frame,
    pair_frame,
    signed_rank_rows,
)
from dreval.comparison._ranks import AT_ONCE, block_ranks, decisive_test, overall_rows
from dreval.comparison._tables import TABLES, families, gather, names_hint
from dreval.comparison.within import compare_pairs
from dreval.errors import Hint, InputError
from dreval.glossary import STANDING_COLUMNS
from dreval.inference.adjustment import adjust_p_values, check_adjustment
from dreval.inference.ties import tied_ranks
from dreval.records.archive import load_evaluation
from dreval.records.call import written_again
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import PAIR_NOTE_KEYS, full_name, notes_frame
from dreval.records.results import Results
from dreval.records.whole_file import is_journal

ACROSS_TESTS = ("friedman", "nemenyi", "wilcoxon", "mixed", "bayes")
DEFAULT = ("friedman", "nemenyi", "wilcoxon")


@keywords_checked
def compare(
    results: Results | pd.DataFrame | str | os.PathLike[str] | Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    measure: str | Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    rope: float | None = None,
    direction: str | Mapping[str, str] | None = None,
    tests: str | Sequence[str] = "default",
    alpha: float = 0.05,
    adjust: str | None = "holm",
    columns: Mapping[str, str] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare embeddings on one data set, or across data sets and replicates.

    One result (or its saved file) is compared by its points, as ``Results.compare`` does. Everything else is compared
    across data sets: they are the sample, and every test refers to further data sets like these. Replicates (re-runs,
    seeds) are averaged within data set before ranks are taken, since re-runs are no new data sets; the mixed model
    keeps them.

    Parameters
    ----------
    results : DataFrame, Results, path, or list of them
        A tidy table with the columns ``dataset``, ``embedding`` and ``value``, and where there are any ``measure``,
        ``parameters``, ``replicate`` and ``direction``; a file of such a table (.csv, .tsv, .parquet) made by anyone;
        what ``Evaluation.run`` gave, or its saved file; the file of a ``Study``. Results on the same data (by hash)
        are one data set, those with another seed its replicates.
    names : list of str, optional
        The embeddings to compare. By default all; of results and studies without those that are the data, on the data
        sets where they are. A second result is no name: pass a list of results.
    measure : str or list of str, optional
        Which measures; all by default, each on its own.
    baseline : str, optional
        One embedding: all others are compared with it, and with nothing else. It is the second of every pair; p-values
        are adjusted over these pairs only, except those of Nemenyi's test, which hold for all pairs, and there are no
        letters. All pairs by default.
    margin : float or dict of measure to float, optional
        On one data set: margin of equivalence, in the unit of the measure; see ``Results.compare``.
    rope : float, optional
        Across data sets: region of practical equivalence, in the unit of the measure. Smaller differences do not count,
        and one of exactly ``rope`` counts half, as in the program baycomp of the authors of the test.
    direction : {"higher", "lower"} or dict of measure to one of them, optional
        Which way is better. By default as the table says, else as the card of the measure says.
    tests : "default", "all" or list of str
        "friedman" (chi-square corrected for ties, with the F of Iman and Davenport, and up to 30 data sets the p by all
        arrangements of the ranks, or by 9,999 random ones, which then decides; Skillings-Mack where cells are missing,
        with p by exchanges within data sets; needs three embeddings), "nemenyi" (all pairs of mean ranks), "wilcoxon"
        (signed ranks of each pair), "mixed" (a linear mixed model), "bayes" (needs ``rope``). "default" is the first
        three, and "bayes" with ``rope``.
    alpha : float
        Level of the critical difference, the letters, the intervals of differences and the words; 0.05 also for a
        result whose own intervals are at another level.
    adjust : "holm", "benjamini_hochberg" or None
        Adjustment over all pairs and measures that have the same test. Nemenyi's p-values hold for all pairs of a
        measure already, and are adjusted over measures. "BH" and "fdr_bh" are accepted for "benjamini_hochberg".
    columns : dict, optional
        What the columns of tables are called, as ``{"embedding": "algorithm", "value": "score"}``.
    random_state : int, Generator or None
        Seed of the posterior draws of "bayes", and of the arrangements of "friedman" where they are too many to count.

    Returns
    -------
    Comparison
        Verbs ``tidy``, ``glance``, ``wins``, ``summary``, ``paragraph``, ``plot``.

    Raises
    ------
    InputError
        Two values for one cell, an infinite value, a direction that is not known, fewer than two embeddings on two
        data sets; ``rope``, ``direction``, ``tests`` or ``columns`` on one data set, ``margin`` across data sets.
    UnknownName
        A measure, test or word that is not known.

    Notes
    -----
    Pairs are compared on the data sets that have both embeddings; mean ranks, Nemenyi and the critical difference use
    the data sets that have all. One test decides: letters, diagrams, forests and words go by the Wilcoxon tests where
    they are run, which unlike Nemenyi do not depend on what else is compared (Benavoli, Corani and Mangili 2016). On N
    data sets no exact Wilcoxon p is below 2 / 2^N: where after adjustment none can be up to ``alpha``, Nemenyi's test
    decides, else the mixed model, if one was run and can be significant on more measures; the recipe has its name
    (``decided_by``) and the smallest adjusted p that it can have (``attainable``), and where nothing could have been
    significant the summary begins with that. Values that agree to 12 digits are ties. The advantage beside Wilcoxon's
    test is the Hodges-Lehmann estimate, the median of the averages of any two differences (of one with itself, too),
    which lies in the test's interval; the plain median of the differences need not.
    O(N k^2) time; "bayes" O(50,000 N^2) for each pair.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 1-30.
    Iman and Davenport (1980), Commun. Stat. 9, 571-595. Skillings and Mack (1981), Technometrics 23, 171-177.
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), 1-36.

    Examples
    --------
    >>> import pandas as pd, dreval
    >>> table = pd.DataFrame({"dataset": list("aabbccddee"), "embedding": ["umap", "pca"] * 5,
    ...                       "value": [0.9, 0.8, 0.8, 0.6, 0.95, 0.7, 0.7, 0.65, 0.9, 0.6]})
    >>> found = dreval.compare(table, direction="higher")
    >>> found.tidy()[["first", "second", "test", "n", "advantage", "p_value"]]
      first second      test  n  advantage  p_value
    0  umap    pca  wilcoxon  5      0.175   0.0625
    """
    single = _single(results)
    if single is not None:
        across = {
            "rope": rope,
            "direction": direction,
            "columns": columns,
            "tests": None if tests == "default" else tests,
        }
        for argument, value in across.items():
            if value is not None:
                other = "; the margin of equivalence on one data set is {margin}" if argument == "rope" else ""
                cure = f"Leave it out{other}."
                got = f"{value!r} with one result"
                raise InputError(argument, "must be used across data sets only", got, cure, margin="margin")
        return compare_pairs(
            single, names, measure=measure, baseline=baseline, margin=margin, alpha=alpha, adjust=adjust
        )
    if margin is not None:
        cure = "Across data sets pass {rope}, the difference below which none counts."
        raise InputError("margin", "must be used on one data set only", f"{margin!r} with several", cure, rope="rope")
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    rope = None if rope is None else check_float(rope, "rope", low=0.0)
    adjust, wanted, root = check_adjustment(adjust), _tests(tests, rope), root_seed(random_state)
    named = [] if names is None else check_names(names, "names", names_hint(names, ()))
    table, notes, metric = gather(results, columns, [*named, *([baseline] if isinstance(baseline, str) else [])])
    found = families(table, measure, direction, named or None, baseline)
    pairs, overall = [], []
    for family in found:
        whole, rows = _family_rows(family, wanted, rope if "bayes" in wanted else None, alpha, root)
        overall += whole
        pairs += [row for row in rows if baseline in (None, row["second"])]
    frame = only_found(adjust_p_values(pair_frame(pairs, alpha), adjust, AT_ONCE), alpha)
    decided = decisive_test(frame, {full_name(f.measure, f.parameters): f for f in found}, alpha, adjust)
    by = frame[frame["test"] == decided["decided_by"]]
    standing = pd.DataFrame([row for family in found for row in _standing(family, by, alpha)])
    recipe = {"kind": "datasets", "alpha": alpha, "adjust": adjust or "nothing", "rope": rope}
    recipe |= {} if baseline is None else {"baseline": baseline}
    recipe |= {"metric": metric} if metric else {}
    given = {
        "names": names,
        "measure": measure,
        "baseline": baseline,
        "direction": direction,
        "tests": tests,
        "rope": rope,
        "columns": columns,
        "alpha": alpha,
        "adjust": adjust,
        "random_state": root,
    }
    recipe |= {"call": written_again("dreval.compare", ["results"], given, compare)}
    recipe |= {"tests": [name for name in ACROSS_TESTS if name in wanted], "random_state": root, **decided}
    return Comparison(
        pairs=frame,
        overall=overall_frame(overall),
        standing=standing[list(STANDING_COLUMNS)],
        families={full_name(f.measure, f.parameters): f for f in found},
        recipe=recipe,
        notes=notes_frame(
            [{"notes": notes}, *({**f.key, "notes": f.notes} for f in found), *overall, *pairs], PAIR_NOTE_KEYS
        ),
    )


def _single(results: Any) -> Results | None:
    """The one result that is to be compared by its points, itself or from its file; None for everything else."""
    one = results[0] if isinstance(results, list | tuple) and len(results) == 1 else results
    if isinstance(one, str | os.PathLike) and not is_journal(Path(one)) and Path(one).suffix.lower() not in TABLES:
        return load_evaluation(Path(one), "results")
    return one if isinstance(one, Results) else None


def _tests(tests: Any, rope: float | None) -> tuple[str, ...]:
    """The tests that are asked for."""
    if tests == "default":
        return (*DEFAULT, *(("bayes",) if rope is not None else ()))
    given = ACROSS_TESTS if tests == "all" else [tests] if isinstance(tests, str) else list(tests)
    names = [check_one_of(name, (*ACROSS_TESTS, "default", "all"), "tests", aliases=True) for name in given]
    if "bayes" in names and rope is None:
        cure = "Pass {rope}, the difference below which none counts, in the unit of the measure."
        raise InputError("rope", "must be given for the Bayesian test", "none", cure, rope=Hint("rope", 0.01))
    return tuple(names)


def _family_rows(
    family: Family, wanted: Sequence[str], rope: float | None, alpha: float, root: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Overall tests and pairs of one measure."""
    rng = stream(root, "friedman", family.measure, family.parameters)
    overall = [{**family.key, **row} for row in overall_rows(family.goodness, rng)] if "friedman" in wanted else []
    pairs = nemenyi_rows(family, alpha) if "nemenyi" in wanted else []
    pairs += [row for row in signed_rank_rows(family, rope, alpha, root) if row["test"] in wanted]
    if "mixed" in wanted:
        whole, rows = mixed_rows(family, alpha)
        overall.append({**family.key, **whole})
        pairs += rows
    return overall, pairs


def _standing(family: Family, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """One row for each embedding, the best first by mean rank, then by mean; letters by the pairs of one test."""
    whole = family.goodness[np.isfinite(family.goodness).all(axis=1)]
    k = len(family.names)
    ranks = block_ranks(whole).mean(axis=0) if len(whole) else np.full(k, np.nan)
    order = np.lexsort((tied_ranks(np.nanmean(family.goodness, axis=0)), tied_ranks(-ranks)))
    mine = pairs[(pairs["measure"] == family.measure) & (pairs["parameters"] == family.parameters)]
    names = [family.names[place] for place in order]
    letters = letters_of(names, mine, alpha)
    return [
        {
            **family.key,
            "embedding": family.names[place],
            "n": int(family.cells.iloc[:, place].notna().sum()),
            "value": float(family.cells.iloc[:, place].mean()),
            "sd": float(family.cells.iloc[:, place].std()),
            "mean_rank": float(ranks[place]),
            "letters": letters.get(family.names[place], ""),
        }
        for place in order
    ]
