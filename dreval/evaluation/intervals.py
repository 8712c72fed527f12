"""Which kind of interval each embedding of an evaluation gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dreval._check import check_int, check_one_of
from dreval.errors import InputError, UndefinedMeasure
from dreval.inference.intervals import CI_WORDS, unseen_share
from dreval.inputs.source import Source

__all__ = ["CI_OPTIONS", "Intervals", "plan_intervals"]

Options = Mapping[str, Mapping[str, Any]]
OVER = ("default", "seeds", "subsamples")
RUNS = 10  # runs of a method with other seeds, or splits into two halves on which it is run
PARTITIONS = 8  # random partitions into groups, where no value without a single point can be had
SPLITS = 20  # splits into two halves with the embedding held fixed
CI_OPTIONS: dict[str, dict[str, Any]] = {
    "replicates": {"n_resamples": RUNS, "over": "default"},
    "subsampling": {"n_resamples": SPLITS},
    "points": {"n_partitions": PARTITIONS},
}


@dataclass(frozen=True)
class Intervals:
    """The kind of interval by embedding, a word of ``inference.intervals.METHODS``, or the reason why it has none.

    ``counts`` holds the number of resamples by kind, where that is an option.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def notes(self, sources: Mapping[str, Source]) -> list[str]:
        """What the intervals do not cover, once for all embeddings of a kind."""
        still = {name: source for name, source in sources.items() if source.can_embed}
        fixed = [name for name in still if self.kinds.get(name) in ("points", "subsampling")]
        drawn, found = [name for name in still if self.kinds.get(name) == "seeds"], []
        if fixed:
            words = "intervals hold the coordinates fixed, and do not cover what the method gives on other points"
            found.append(f"{', '.join(fixed)}: {words}; ci='replicates' runs it anew.")
        if drawn:
            runs, least = self.counts["seeds"], 100 * unseen_share(self.counts["seeds"])
            words = f"intervals of {runs} runs say nothing of what fewer than {least:.0f} % of the seeds give"
            found.append(f"{', '.join(drawn)}: {words} (30 runs: 10 %, 60 runs: 5 %).")
        return found

    def named(self, kind: str) -> list[str]:
        """The embeddings that get this kind."""
        return [name for name, own in self.kinds.items() if own == kind]


def plan_intervals(ci: Any, sources: Mapping[str, Source], anchors: int | None, options: Options) -> Intervals:
    """The kind of every embedding; refused where the word fits none of them."""
    word = "none" if ci is None else check_one_of(ci, CI_WORDS, "ci")
    splits = _settings("subsampling", options)["n_resamples"]
    runs = _settings("replicates", options)
    partitions = _settings("points", options)["n_partitions"]
    counts = {"subsampling": splits, "partitions": partitions} | dict.fromkeys(
        ("seeds", "subsamples"), runs["n_resamples"]
    )
    if word == "none":
        return Intervals()
    if word != "default" and (word == "anchors") != (anchors is not None):
        cure = "Pass anchors=m to Evaluation." if word == "anchors" else "Use ci='anchors', or leave anchors out."
        raise InputError("ci", "must fit the rows that are used", f"{ci!r} with anchors={anchors}", cure)
    if anchors is not None:
        return Intervals(dict.fromkeys(sources, "anchors"))
    if word in ("points", "subsampling") or (word == "default" and "replicates" not in options):
        return Intervals(dict.fromkeys(sources, "points" if word == "default" else word), counts=counts)
    kinds, reasons = _replicates(sources, runs["over"])
    if word == "default":
        return Intervals({name: kinds.get(name, "points") for name in sources}, counts=counts)
    if not kinds:
        _refuse(reasons)
    return Intervals(kinds, {name: _no_interval(sources[name], reason) for name, reason in reasons.items()}, counts)


def _settings(name: str, options: Options) -> dict[str, Any]:
    """The options of one word, the usual ones where nothing is said."""
    usual, given = CI_OPTIONS[name], options.get(name, {})
    for key in given:
        check_one_of(key, usual, f"options[{name!r}]")
    made = {**usual, **given}
    for key in made.keys() & {"n_resamples", "n_partitions"}:
        check_int(made[key], f"options[{name!r}][{key!r}]", low=2)
    if "over" in made:
        check_one_of(made["over"], OVER, f"options[{name!r}]['over']")
    return made


def _replicates(sources: Mapping[str, Source], over: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is altered when each source is run anew, and why others are not."""
    kinds, reasons = {}, {}
    for name, source in sources.items():
        if source.recording is not None:
            reasons[name] = "recorded runs, which are not made again"
        elif source.reason is not None:
            reasons[name] = source.reason
        elif over == "seeds" and source.reseed_reason is not None:
            reasons[name] = f"{source.reseed_reason}, so that there are no other seeds"
        else:
            kinds[name] = "subsamples" if source.reseed_reason is not None or over == "subsamples" else "seeds"
    return kinds, reasons


def _refuse(reasons: Mapping[str, str]) -> None:
    """Refuse replicates where nothing can be run anew."""
    said = "; ".join(dict.fromkeys(reasons.values()))
    cure = "Pass an estimator, a callable or the name of a bundled method, or use ci='points'."
    raise InputError("ci", "must be 'replicates' only where an embedding can be run anew", said, cure)


def _no_interval(source: Source, reason: str) -> str:
    """Why one embedding has no interval beside others that have."""
    rule = "must be able to run anew for ci='replicates'"
    return f"no interval: {UndefinedMeasure(source.argument, rule, reason, 'Use ci=' + repr('points') + '.')}"
