"""Sentences on single records: facts with their numbers, and one phrase for each kind."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dreval.glossary import true_minus
from dreval.report.format import count_noun, join_and, p_text, percent, without_zero
from dreval.report.render.markup import isolate_name

RECORD_PHRASES: dict[str, str] = {
    # Tests of independence, and of two samples.
    "test.dependent": "{variables:and} are dependent{scheme}: {test}, {p:p}, {effect_name} {effect:2}.",
    "test.not_mutual": "{variables:and} are not mutually independent{scheme}: {test}, {p:p}, {effect_name} {effect:2}.",
    "test.different": "{variables:and} have different distributions{scheme}: {test}, {p:p}, {effect_name} {effect:2}.",
    "test.no_dependence": "No evidence of dependence between {variables:and}{scheme} ({test}, {p:p}, {effect_name} "
    "{effect:2}). This does not show independence.",
    "test.no_difference": "No evidence that {variables:and} have different distributions{scheme} ({test}, {p:p}, "
    "{effect_name} {effect:2}). This does not show that they are equal.",
    "test.strength": "p does not measure strength; {effect_name} does (0 without dependence).",
    "test.borderline": "Borderline: the 95 % interval of p over random permutations is {low:3} to {high:3}; raise "
    "n_resamples for a firm answer.",
    "test.smallest": "{p:p} is the smallest that {count:#permutation} can give.",
    "test.too_few": "{count:#permutation} {count:is|are} too few for the 5 % level: {smallest:p} is the smallest "
    "possible.",
    # A test over values of a setting.
    "sensitivity.all": "{test} rejects independence at all {count} values of {setting} (largest {high:p}).",
    "sensitivity.some": "{test} rejects independence at {rejected} of {count} values of {setting}; at the default "
    "({usual:g}) {p:p}.",
    "sensitivity.none": "{test} does not reject independence at any of {count} values of {setting} (smallest "
    "{low:p}). This does not show independence.",
    "sensitivity.caution": "The p-values are not adjusted: a value that is chosen because its p is small gives no "
    "valid test.",
    # The certificate of Definition 1.
    "certificate.rejected": "{name:name} does not meet Definition 1: the residual depends on the embedding "
    "({objections}).",
    "certificate.not_rejected": "Definition 1 is not rejected for {name:name}: no evidence that the residual depends "
    "on the embedding ({tests}). This does not show that the definition holds.",
    "certificate.error": "A function of the embedding leaves {held_out:%} of the variance of held-out points "
    "unexplained.",
    "certificate.empty": "{name:name} explains almost nothing of held-out points (error {held_out:2}; 1 is nothing): "
    "an embedding unrelated to the data also meets the definition, with a constant f.",
    "certificate.also_empty": "The embedding also explains almost nothing of held-out points (error {held_out:2}; 1 is "
    "nothing).",
    "certificate.too_few": "{count:#resample} {count:is|are} too few: no adjusted p can be below {smallest:3}.",
    # The noise test.
    "noise.columns": "{source:name} shows more of these data than of independent columns ({p:p}): the columns are "
    "dependent. This does not show that clusters or a curve are real.",
    "noise.gaussian": "{source:name} shows more of these data than of one Gaussian cloud ({p:p}): the data are not "
    "Gaussian. This does not show which of the structure is real.",
    "noise.other": "{source:name} shows more of these data than of the null data {null} ({p:p}).",
    "noise.none": "No evidence that {source:name} shows more of these data than of {null} ({p:p}). This does not "
    "show that the data have no structure.",
    "noise.borderline": "Borderline: the 95 % interval of p over random null data is {low:3} to {high:3}; raise "
    "n_replicates for a firm answer.",
    "noise.smallest": "{p:p} is the smallest that {count:#null data set} can give.",
    "noise.too_few": "{count:#null data set} {count:is|are} too few for the level {alpha:g}: {smallest:p} is the "
    "smallest possible.",
    "noise.points": "{unlike:,} of {scored:#point} {unlike:is|are} distinguished from noise (e-values at level "
    "{alpha:g}), {like:,} {like:is|are} not; {family:#point} {family:has|have} a family-wise p ≤ {alpha:g}.",
    "noise.limit": "With {count:#null data set} about {most:,} points at most can be distinguished: take more.",
    "noise.no_points": "No single point is distinguished from noise either.",
    "noise.settings": "The largest z, {z:3}, is at {setting}; p is adjusted for the choice among {count:#setting}.",
    # Measures of a method.
    "measure.trustability": "Given all {d:#dimension} of the data, {source:name} returns them with a Procrustes "
    "disparity of {value:3}{scale}.",
    "measure.tractable_consistency": "A small smooth change of the reconstructed data changes the embedding of "
    "{source:name} by a disparity of at most {value:3} in {tried:#trial}{scale}.",
    "measure.reconstruction_error": "From the embedding of {source:name}, {explained:%} of the variance of held-out "
    "points is reconstructed: error {value:3}{scale}.",
    "measure.no_reconstruction": "From the embedding of {source:name}, held-out points are reconstructed no better "
    "than by their mean: error {value:3}{scale}.",
    "measure.stability": "{source:name} agrees with itself over {runs:,} {over}: J = {value:2}, {level} interval "
    "{low:2} to {high:2} for infinitely many replicates of these points{scale}.",
    "measure.other": "{title} of {source:name}: {value:3}{scale}.",
    "measure.method": "This refers to the method with these parameters on these data, not to one embedding.",
    # Values of measures of one embedding.
    "scores.values": "{n:#point}, k = {k}: {parts:and}.",
    "scores.none": "None of {count:#measure} has a value for this embedding of {n:#point}.",
    # Scores of points.
    "scores.distortion": "At half of the points one direction is stretched more than {median:2} times as much as "
    "another (at most {largest:3} times); areas differ {areas:2}-fold between the 5 % and the 95 % point.",
    "scores.no_broken": "No neighborhood is torn: no edge between neighbors is broken.",
    "scores.broken": "{count:#edge} between neighbors {count:is|are} broken, at {points:#point}.",
    "scores.singularity": "The loss of t-SNE is flattest at point {point}: score / n {largest:3}, where the median "
    "point has {median:3}. A large score does not show that the point is in a wrong place.",
    "scores.perturbation": "If a point alone is moved by {length:2} of the distance between neighbors in the data, "
    "half of {count:#point} move by more than {median:%} of the width of the map, point {point} by {largest:%}.",
    # Dimensions, perplexities, cost.
    "dimension.interval": "The intrinsic dimension of these points is about {value:3} ({level} interval {low:3} to "
    "{high:3}), in {p:#column}.",
    "dimension.no_interval": "The intrinsic dimension of these points is about {value:3}, in {p:#column}.",
    "dimension.caution": "The interval covers the sampling of points, not the bias by noise, curvature and edges.",
    "components.some": "{kept:,} of {count:#component} {kept:has a larger eigenvalue|have larger eigenvalues} than "
    "independent columns would give; {kept:it holds|they hold} {share:%} of the variance of the standardized columns.",
    "components.none": "No component has a larger eigenvalue than independent columns would give ({p:p} for the "
    "first). This does not show that the columns are independent.",
    "components.caution": "Components are linear: a curved surface needs more of them than it has dimensions.",
    "perplexity.smallest": "The largest 5 % of the singularity scores are smallest at perplexity {perplexity:g}: "
    "{value:3} ({level} interval {low:3} to {high:3}), and largest at {worst:g}: {largest:3}.",
    "perplexity.value": "The largest 5 % of the singularity scores are smallest at perplexity {perplexity:g}: "
    "{value:3}; with fewer than three maps there is no interval.",
    "perplexity.none": "No t-SNE map has a singularity score: see the notes.",
    "perplexity.caution": "A lower score is not evidence that a map is closer to the data.",
    "cost.total": "run() takes about {seconds} and {memory} MiB for {n:#point} on {threads:#thread}, within a factor "
    "of about three.",
    "cost.without": "Not included, because methods are not run for an estimate: {names:and}.",
    # Embeddings, maps, methods, data.
    "embedding.size": "{method:name} embedded {n:#point} in {d:#dimension}{origin}.",
    "embedding.next": "This does not say how good the embedding is: dreval.Evaluation(data, {{'{method}': "
    "embedding}}).run().",
    "evaluated.best": "{name:name} is the best of {n:#embedding}, or not significantly worse than the best, by {best} "
    "of {total:#measure}{measures}.",
    "evaluated.worse": "{name:name} is significantly worse than the best of {n:#embedding} by each of "
    "{total:#measure} with a test.",
    "evaluated.alone": "{name:name} has values of {total:#measure}; there is no other embedding to compare it with.",
    "evaluated.unranked": "{name:name} has values of {total:#measure}; without tested differences it has no rank.",
    "evaluated.reference": "{name:name} is the data, which are shown for reference and not ranked.",
    "map.error": "The map by {rule} from {inputs:#column} to {outputs:#column} leaves {error:%} of the variance of "
    "its {n:#point} unexplained{left_out}.",
    "map.caution": "The error refers to the points to which the map was fitted.",
    "method.new": "{title} ({name}): not fitted yet; fit_transform(X) embeds data.",
    "method.fitted": "{title} ({name}): fitted to {columns:#column}.",
    "dataset.size": "{name:name}: {n:#point} in {p:#column}{variables}. {title}.",
    "evaluation.new": "{count:#embedding} of {data:name} ({size}) {count:is|are} ready to be "
    "evaluated; nothing is computed yet. run() gives the results.",
    "evaluation.empty": "{data:name} ({size}) has no embedding yet: add with_embedding(name, source).",
    "protocol.files": "Round {round} of {rounds}: {returned:,} of {count:#file} {returned:is|are} returned{wrong}.",
    # Sweeps.
    "sweep.single": "{source:name}: {best} is best by {measure}: mean {mean:3}, {level} interval {low:3} to {high:3}.",
    "sweep.best": "{source:name}: {best} has the best mean {measure}, {mean:3} ({level} interval {low:3} to "
    "{high:3}); {others} not significantly worse.",
    "sweep.only": "{source:name}: {best} was the only setting that could be evaluated by {measure}: mean {mean:3}.",
    "sweep.outside": "The nearest setting outside the best set is {setting} (mean {mean:3}, {p:p}).",
    "sweep.crossed": "Its mean is better than that of {last}, which is in the best set because its differences vary "
    "more.",
    "sweep.failed": "{settings} could not be evaluated: see the notes.",
    "sweep.none": "No setting could be evaluated by {measure}: see the notes.",
    "sweep.few": "{replicates:#replicate}: intervals and tests are unreliable; use n_replicates={needed} or more.",
    "sweep.caution": "A setting in the best set is not shown to be good, or equal to the best.",
    # Studies.
    "study.complete": "All {count:#cell} are finished: {done:,} done{failed}.",
    "study.running": "{finished:,} of {count:#cell} {finished:is|are} finished: {done:,} done{failed}; {left:,} "
    "{left:is|are} left.",
    "study.new": "None of {count:#cell} is finished yet; run() computes them.",
    "study.empty": "The study has no cells.",
    "study.continue": "run() continues; finished cells are not computed again.",
    "study.retry": "run(retry_failed=True) tries the failed cells again.",
    "study.failed": "{count:#cell} failed ({places}): {reason}{others}",
    "study.deterministic": "Seeds change nothing in {names:and}: each has the same coordinates in all replicates on "
    "the same points.",
}


class _PhraseFormatter(string.Formatter):
    """Format the numbers of a finding: ``p`` a p-value, ``%`` a share, ``3`` three digits, ``#point`` a count.

    ``g`` writes a setting, ``and`` joins names, ``name`` isolates one, and ``is|are`` chooses by a count.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "p":
            return p_text(value)
        if format_spec == "%":
            return f"{percent(value)} %"
        if format_spec == "and":
            return join_and([isolate_name(name) for name in value])
        if format_spec == "name":
            return isolate_name(value)
        if format_spec.startswith("#"):
            return count_noun(value, format_spec[1:])
        if "|" in format_spec:
            return format_spec.split("|")[value != 1]
        if format_spec == "g":
            return without_zero(f"{value:g}")
        if format_spec.isdigit():
            return significant(value, int(format_spec))
        return str(format(value, format_spec))


_FORMATTER = _PhraseFormatter()


MAX_DECIMALS = 4


def significant(value: float, digits: int) -> str:
    """Return a number with some significant digits, at most four decimals, and no zero before the point.

    Examples
    --------
    >>> significant(0.12345, 2), significant(12.345, 3), significant(1.0, 2), significant(0.00001, 2)
    ('.12', '12.3', '1.0', '<.0001')
    """
    size = abs(value)
    if value != value or size >= 1e6:
        return true_minus(f"{value:.{digits - 1}e}")
    if 0 < size < 0.5 * 10**-MAX_DECIMALS:
        return f"<{without_zero(f'{10**-MAX_DECIMALS:.{MAX_DECIMALS}f}')}" if value > 0 else "0"
    power = math.floor(math.log10(size)) if size else digits - 1
    places = min(max(digits - 1 - power, 0), MAX_DECIMALS)
    return without_zero(true_minus(f"{value:,.{places}f}"))


@dataclass(frozen=True)
class RecordFinding:
    """A fact on a record: its kind, and the numbers and names in its phrase."""

    kind: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence; names of users are between direction marks."""
        return _FORMATTER.format(RECORD_PHRASES[self.kind], **self.numbers)


def findings_text(findings: Iterable[RecordFinding]) -> str:
    """Return the sentences of findings."""
    return " ".join(finding.text for finding in findings)


def record_finding(kind: str, **numbers: Any) -> RecordFinding:
    """Return a finding of a kind with its numbers.

    Examples
    --------
    >>> record_finding("sweep.few", replicates=3, needed=5).text
    '3 replicates: intervals and tests are unreliable; use n_replicates=5 or more.'
    """
    return RecordFinding(kind, numbers)
