"""Which measures for which goal: the closed list of goals, and what an experiment with known defects says of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import check_one_of, keywords_checked
from dreval.glossary import block, filled
from dreval.records.read_only import read_only
from dreval.registry import MEASURES

SEES, PREFERS = 0.8, 0.5  # shares of the draws in which an embedding is found worse, or better
MOST, LEAST_GAIN = 3, 0.02  # measures of a recommendation; what the next one must add
GRADES = 4


class Goal(NamedTuple):
    """What somebody wants to read off an embedding, and the defects that would mislead them.

    ``title`` heads the measures of the goal in reports, and ``keeps`` is what a good embedding does, in the plural.
    Where ``at_chance`` the chance level is what a good embedding reaches, as of batches that are spread at random.
    """

    question: str
    title: str
    keeps: str
    defects: tuple[str, ...] = ()
    at_chance: bool = False


GOALS = {
    "neighbors": Goal(
        "Are points that lie near each other neighbors in the data?", "Neighborhoods", "keep neighbors",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "local noise", "global noise",
            "wrong rows", "exaggerated classes",
        ),
    ),
    "neighborhoods": Goal(
        "Are small neighborhoods shown in their shape, or also their size?", "Local geometry", "keep local shapes",
        ("local noise", "global noise", "flattened density", "stretched axis", "duplicated points"),
    ),
    "density": Goal(
        "Are dense regions of the data dense in the embedding?", "Density", "keep densities",
        ("flattened density", "duplicated points"),
    ),
    "distances": Goal(
        "Are distances, and the global structure, those of the data?", "Global structure", "keep distances",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "rearranged classes", "global noise",
            "flattened density", "stretched axis", "outliers pulled in", "exaggerated classes",
        ),
    ),
    "arrangement": Goal(
        "Which clusters lie near which?", "Clusters", "keep the arrangement of clusters",
        ("fold", "merged classes", "swapped places", "rearranged classes"),
    ),
    "latent": Goal(
        "Are known latent variables recovered?", "Latent variables", "show the latent variables",
        ("tear", "fold", "swapped places", "rearranged classes", "global noise", "wrong rows"),
    ),
    "classes": Goal(
        "Are the classes as far apart as they are in the data?", "Classes", "show the classes apart",
        ("merged classes", "split class", "swapped places", "global noise", "wrong rows", "exaggerated classes"),
    ),
    "prediction": Goal(
        "Can the class of a point be predicted from its position?", "Prediction", "tell the classes",
        ("merged classes", "global noise", "wrong rows"),
    ),
    "batches": Goal(
        "Are the batches mixed, and the labels still apart?", "Batches", "blend the batches", at_chance=True
    ),
    "method": Goal("Would the method do the same with other data?", "Method", "hold up as methods"),
    "reconstruction": Goal("Can the data be computed from the embedding?", "Reconstruction", "return the data"),
}  # fmt: skip


@cache
def detections() -> pd.DataFrame:
    """What the experiment of ``vignettes/defects.py`` found: one row for each data set, measure, change and grade.

    ``worse`` and ``better`` count the draws, of ``draws``, in which the changed embedding is found worse or better than
    the good one at 5 %; where the measure never has a test (``tested`` is False), those in which its value is. A draw
    in which a measure that else has a test has none counts as not found. Grade 0 is a harmless change.
    """
    with files("dreval.measures").joinpath("detections.csv.gz").open("rb") as file:
        found = pd.read_csv(file, compression="gzip", keep_default_na=False, na_values={"size": ""})
    letters = found["found"]  # one a draw; capitals where there was no test
    differ = [letters.str.count(pair).groupby(found["measure"]).sum() for pair in ("[wb]", "[WB]")]
    tested = found["measure"].map((differ[0] > 0) | (differ[1] == 0))
    small = letters.where(tested, letters.str.lower())
    counts = {side: small.str.count(letter) for side, letter in (("worse", "w"), ("better", "b"))}
    return found.assign(draws=letters.str.len(), **counts, tested=tested)


def shares(found: pd.DataFrame) -> pd.DataFrame:
    """Shares of the draws of all data sets in which a change is found worse and better, by measure, change, grade."""
    sums = found.groupby(["measure", "change", "grade"])[["draws", "worse", "better"]].sum()
    made = sums[["worse", "better"]].div(sums["draws"], axis=0)
    return made.assign(draws=sums["draws"], tested=found.groupby(["measure", "change", "grade"])["tested"].all())


def first_seen(found: pd.DataFrame) -> pd.DataFrame:
    """The lowest grade from which on every grade of a defect is seen, measures x defects; 0 where the highest is not.

    Negative where the embedding with the defect is preferred at some grade: minus the first such grade.
    """
    grades = shares(found[found["grade"] > 0])
    worse, better = (grades[side].unstack("grade") for side in ("worse", "better"))
    seen = (worse >= SEES).iloc[:, ::-1].cumprod(axis=1).sum(axis=1)
    preferred = better >= PREFERS
    first = (GRADES + 1 - seen).where(seen > 0, 0).where(~preferred.any(axis=1), -(preferred.idxmax(axis=1)))
    return first.astype(int).unstack("change")


def false_alarms(found: pd.DataFrame) -> pd.Series:
    """The largest share of draws in which a harmless change that the card declares is found worse or better."""
    harmless = shares(found[found["grade"] == 0])
    return (harmless["worse"] + harmless["better"]).groupby("measure").max()


@read_only
@dataclass(frozen=True, repr=False)
class Recommendation:
    """The measures for a goal, with the reasons; made by ``recommend``.

    Attributes
    ----------
    goal, question : str
        The goal and what it asks.
    measures : tuple of str
        The recommended measures, as ``Evaluation.run(measures=...)`` takes them; the most important one first.
    table : DataFrame
        All measures whose cards name the goal, the recommended ones first: ``measure``, ``recommended``, ``detected``
        (share of the draws and grades of the goal's defects in which a paired test finds the defect; NaN without a
        test), ``preferred`` (the defects that it finds better), ``needs`` and ``question``.
    evidence : DataFrame
        Measures x defects of the goal: the first of four grades of severity from which on a defect is seen (found in
        80 % of the draws), 0 where it is not seen; negative where the embedding with the defect is preferred. Empty
        where no defect of the experiment concerns the goal.
    """

    goal: str
    question: str
    measures: tuple[str, ...]
    table: pd.DataFrame
    evidence: pd.DataFrame

    def __repr__(self) -> str:
        said = {name: self._reason(name) for name in self.measures}
        others = [name for name in self.table["measure"] if name not in self.measures]
        said |= {"also for this goal": ", ".join(others)}
        if not self.evidence.empty:
            said["in brackets"] = "the mildest of four grades from which on it is seen, in maps of 120 points"
        return block(f"{self.goal}: {self.question}", said)

    def _reason(self, name: str) -> str:
        """The question of a measure, what it sees and what it does not."""
        row = self.table.set_index("measure").loc[name]
        words = [row["question"]]
        if name in self.evidence.index:
            first = self.evidence.loc[name]
            parts = {
                "Sees": [
                    f"{defect} ({grade})" for defect, grade in first[first > 0].sort_values(kind="stable").items()
                ],
                "Does not see": list(first[first == 0].index),
                "Prefers": list(first[first < 0].index),
            }
            words += [f"{verb} {', '.join(defects)}." for verb, defects in parts.items() if defects]
            words += [f"Detects {row['detected']:.0%} of them in all."] if row["detected"] >= 0 else []
        needs = [need for need in ("labels", "latent", "batch", "method") if need in row["needs"].split(", ")]
        return " ".join([*words, *([f"Needs {', '.join(needs)}."] if needs else [])])


@keywords_checked
def recommend(goal: str) -> Recommendation:
    """Recommend measures for what you want to read off an embedding.

    Good embeddings of six data sets were damaged by 14 defects at four grades of severity, and every measure was asked
    by ``Results.compare`` whether the damaged embedding is worse (the vignette "Which measure sees which defect?").
    Recommended is the measure with a test that detects most of the defects which concern the goal, and then, up to
    three, the one that adds most to those before it (at least .02); only measures that see a defect of the goal, find
    none of them better, and no difference where their card says that there is none. Where no defect concerns the goal
    all of its measures are recommended that depend on how the rows of embedding and data are paired.

    Parameters
    ----------
    %(goals)s

    Returns
    -------
    Recommendation
        It prints the measures with the reasons. ``measures`` goes into ``Evaluation.run``, ``table`` has all measures
        for the goal, ``evidence`` what each sees.

    Raises
    ------
    UnknownName
        If there is no such goal; the nearest right one is given.

    See Also
    --------
    list_measures : the names of all measures.
    card : what is known of one measure.

    Notes
    -----
    The experiment has 120 points in the plane a data set and k = 10 neighbors: an order of measures, not a power
    calculation for other data. With more points every measure sees more. Damaged embeddings were compared with a good
    one; beside an embedding that is wrong already a defect may repair what a measure looks at. Grades 1 to 4 are given
    in the vignette, from the mildest on; measures without a test (``detected`` is NaN) were judged by their values.
    What a measure detects alone is not adjusted for the others.

    Examples
    --------
    >>> import dreval
    >>> "ilisi" in dreval.recommend("batches").measures
    True
    """
    wanted = GOALS[check_one_of(goal, GOALS, "goal", aliases=True)]
    cards = {card.name: card for card in MEASURES.cards() if goal in card.goals}
    found = detections()
    found = found[found["measure"].isin(cards)]
    alarms = false_alarms(found)
    found = found[found["change"].isin(wanted.defects)]
    evidence = first_seen(found)[[*wanted.defects]] if wanted.defects else pd.DataFrame()
    grades = shares(found)
    rates = grades["worse"].where(grades["tested"]).unstack("measure")
    preferred = {name: [*evidence.columns[evidence.loc[name] < 0]] for name in evidence.index}
    sees = (evidence > 0).any(axis=1) if wanted.defects else {}
    chosen = _cover(rates[[n for n in rates if sees[n] and not preferred[n] and not alarms.get(n, 0.0)]])
    if not wanted.defects:
        chosen = sorted(name for name in cards if cards[name].chance is not None)
    detected = rates.mean(skipna=False)
    detected = detected.reindex([*cards])  # NaN without a test: those come last
    rest = sorted(
        set(cards) - set(chosen), key=lambda name: (np.isnan(detected[name]), -np.nan_to_num(detected[name]), name)
    )
    rows = [
        {
            "measure": name,
            "recommended": name in chosen,
            "detected": float(detected[name]),
            "preferred": ", ".join(preferred.get(name, ())),
            "needs": ", ".join(cards[name].needs),
            "question": cards[name].question,
        }
        for name in [*chosen, *rest]
    ]
    order = [row["measure"] for row in rows if row["measure"] in evidence.index]
    return Recommendation(goal, wanted.question, tuple(chosen), pd.DataFrame(rows), evidence.loc[order])


_LISTED = [f"goal : {{{', '.join(map(repr, GOALS))}}}", *(f"    - {one!r}: {GOALS[one].question}" for one in GOALS)]
recommend.__doc__ = filled(recommend.__doc__, {"goals": "\n".join(_LISTED)})


def _cover(rates: pd.DataFrame) -> list[str]:
    """The measure (column) with the largest mean rate, and then those that add most to the best of each row."""
    rates = rates.dropna(axis=1)
    chosen: list[str] = []
    best: Any = 0.0
    while len(chosen) < MOST and not rates.empty:
        gains = rates.clip(lower=best, axis=0).mean() - (best.mean() if chosen else 0.0)
        if chosen and gains.max() < LEAST_GAIN:
            break
        chosen.append(str(gains.idxmax()))
        best = rates[chosen].max(axis=1)
    return chosen
