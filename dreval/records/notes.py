"""Notes on values, as codes with values; one table gives each code its sentence."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from dreval.errors import DrevalError
from dreval.glossary import part_texts, printable, true_minus
from dreval.records.provenance import to_plain
from dreval.registry import DIMENSIONS, MEASURES, METHODS, SCORES, TESTS

# The severity of a note.
ASSUMPTION = "assumption"  # something was assumed or chosen
LIMIT = "limit"  # the value means less than it seems to
FAILURE = "failure"  # there is no value


class Code(NamedTuple):
    """The meaning of a code: its sentence with a field for each value, its severity, and a hint what to do."""

    sentence: str
    severity: str
    hint: str = ""


@dataclass(frozen=True)
class Note:
    """An assumption, a limit or a failure that affects how to read a value; ``str`` of it is its sentence.

    Attributes
    ----------
    code : str
        The code; see ``CODES``.
    values : tuple of (str, value)
        The values in its sentence, by name: numbers, text, tuples of them, or notes.
    scope : str
        The embedding or measure it refers to, if the row it belongs to does not name it.

    Examples
    --------
    >>> half = note("neighbors.half", k=8, n=16)
    >>> half.code, dict(half.values), str(half)
    ('neighbors.half', {'k': 8, 'n': 16}, 'k = 8 is at least half of the 16 points')
    """

    code: str
    values: tuple[tuple[str, Any], ...] = ()
    scope: str = ""

    @property
    def kind(self) -> Code:
        """Sentence, severity and hint of the code."""
        return _code(self.code)

    @property
    def severity(self) -> str:
        """Severity of the code: "assumption", "limit" or "failure"."""
        return self.kind.severity

    @property
    def text(self) -> str:
        """The sentence, after the scope."""
        sentence = _FORMATTER.format(self.kind.sentence, **dict(self.values))
        return printable(f"{self.scope}: {sentence}" if self.scope else sentence)

    def __str__(self) -> str:
        return self.text

    def named(self, names: Mapping[str, str]) -> Note:
        """Return the note with other names of arguments: values called ``argument``, also of notes within it."""
        return replace(self, values=tuple((key, _rename_arguments(key, value, names)) for key, value in self.values))

    def with_values(self, **values: Any) -> Note:
        """Return the note with new values; names that the note does not have are ignored."""
        return replace(self, values=tuple((key, values.get(key, value)) for key, value in self.values))

    def with_scope(self, scope: str) -> Note:
        """Return the note with another scope."""
        return replace(self, scope=scope)

    def plain(self) -> dict[str, Any]:
        """Return code, values, scope and sentence in types that JSON can store."""
        return {"code": self.code, "values": to_plain(dict(self.values)), "scope": self.scope, "text": self.text}

    @classmethod
    def of_plain(cls, saved: Mapping[str, Any]) -> Note:
        """Return the note from the result of ``plain``; its sentence comes from the table."""
        values = tuple((str(key), _from_plain(value)) for key, value in saved["values"].items())
        return cls(str(saved["code"]), values, str(saved["scope"]))


Notes = tuple[Note, ...]
FIRST_ROW_CODES = ("file.header", "file.header_compared", "file.row")  # notes on the first row of a file


class _NoteFormatter(string.Formatter):
    """Format values in a sentence.

    Tuples are joined with commas, or with "and" by ``{names:and}``; ``{n:point|points}`` chooses by n.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            return str(format_spec.split("|")[value != 1])
        if format_spec == "parts":
            return ", ".join(f"{title} {text}" for title, text in part_texts(value).items() if text)
        if format_spec == "and":
            names = list(map(str, value if isinstance(value, tuple) else (value,)))
            return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        if isinstance(value, tuple):
            texts = [self.format_field(item, format_spec if isinstance(item, float) else "") for item in value]
            return (" / " if value and isinstance(value[0], Note) else ", ").join(texts)
        text = str(format(str(value) if isinstance(value, Note) else value, format_spec))
        return true_minus(text[:1]) + text[1:] if isinstance(value, float) else text  # keep the minus of 1e-12


_FORMATTER = _NoteFormatter()


def note(code: str, scope: str = "", /, **values: Any) -> Note:
    """Return a note of a code of the table."""
    _code(code)
    return Note(code, tuple((key, _frozen(value)) for key, value in values.items()), scope)


def define(code: str, severity: str, sentence: str, hint: str = "") -> Callable[..., Note]:
    """Add the code of a note of one measure, test or method, and return a function that creates the note.

    Call it in the file of the measure, test or method; its name is the first part of the code.
    """
    CODES[code] = Code(sentence, severity, hint)
    return partial(note, code)


def note_from_error(error: DrevalError, scope: str = "") -> Note:
    """Return the note for an error."""
    return note(
        "refused",
        scope,
        argument=error.argument,
        requirement=error.requirement,
        received=error.received,
        hint=error.hint,
    )


def join_notes(notes: Iterable[Note]) -> str:
    """Return the notes of a row as one text."""
    texts = list(dict.fromkeys(map(str, notes)))
    return "; ".join([*(text.rstrip(".") for text in texts[:-1]), *texts[-1:]])


def _code(code: str) -> Code:
    """Return a code from the table; load the file that defines it if needed. Several names may share a file."""
    if code not in CODES:
        owner = code.partition(".")[0]
        for registry in (MEASURES, TESTS, METHODS, DIMENSIONS, SCORES):
            if owner in registry:
                registry.get(owner)
    if code not in CODES:
        for registry in (MEASURES, TESTS, METHODS, DIMENSIONS, SCORES):
            registry.cards()
    return CODES[code]


def _rename_arguments(key: str, value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the new name of an argument."""
    if isinstance(value, Note):
        return value.named(names)
    if isinstance(value, tuple):
        return tuple(_rename_arguments(key, item, names) for item in value)
    return names.get(value, value) if key == "argument" else value


def _frozen(value: Any) -> Any:
    """Return an immutable value: lists become tuples, numpy numbers become Python numbers."""
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    return value.item() if hasattr(value, "dtype") else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Note.of_plain(value)
    return tuple(_from_plain(item) for item in value) if isinstance(value, list) else value


_PARTS = "{components} components of {sizes}{more: ...|} points"
_FEW_CARRY = "few points may carry a difference of a measure of pairs, and the anchors can miss them"

CODES: dict[str, Code] = {
    # failures
    "refused": Code("`{argument}` {requirement}: got {received}. {hint}", FAILURE),
    "labels.none": Code("needs labels; pass {way}", FAILURE, "Pass labels."),
    "batch.none": Code("needs batches; pass {way}", FAILURE, "Pass the batch of each point."),
    "latent.none": Code("needs latent variables; pass {way}", FAILURE, "Pass latent variables."),
    # arguments that were not used
    "options.unused": Code(
        "`options` of {names} were not used: no measure or test of this run reads them.", LIMIT, "Leave them out."
    ),
    "batch.unused": Code(
        "The batches were not used: no measure of this run reads them (ilisi, kbet and silhouette_batch do).",
        LIMIT,
        "Add measures such as ilisi, kbet and silhouette_batch.",
    ),
    "source.labels": Code(
        "Labels were not used: {what} is not supervised.", ASSUMPTION, "Leave them out, or choose a supervised method."
    ),
    "source.response": Code("Labels were not used: the response replaces them.", ASSUMPTION, "Pass only one of them."),
    "arguments.unused": Code("{names} {count:was|were} not used: {reason}.", ASSUMPTION, "Leave {count:it|them} out."),
    # values of measures
    "neighbors.half": Code("k = {k} is at least half of the {n} points", LIMIT, "Choose a smaller n_neighbors."),
    "neighbors.auto": Code(
        'n_neighbors="auto" is {k} for {n} points; it is {usual} for {least} points or more.',
        ASSUMPTION,
        "Pass n_neighbors.",
    ),
    "ties.index": Code("ties are broken by row number", ASSUMPTION),
    "ties.bounds": Code(
        "ties are broken by row number{flatters: in both spaces, which makes this value too favorable|} (worst, "
        "best: over all orders)",
        ASSUMPTION,
    ),
    "chance.drawn": Code(
        "ties in the embedding change the chance level: it is the mean over {draws} row permutations", ASSUMPTION
    ),
    "labels.partly": Code("evaluated on the {labeled} labeled points of {n} only", ASSUMPTION),
    "metric.coordinates": Code("computed from the coordinates of the data, not with the metric {metric!r}", LIMIT),
    "metric.neighbors": Code("neighbors by the metric {metric!r}; the measure uses the coordinates of the data", LIMIT),
    "parts": Code("{parts:parts}", ASSUMPTION),
    "pairs.anchors": Code("{drawn:,} pairs from the anchors drawn at random", LIMIT, "Use more anchors."),
    "pairs.drawn": Code(
        "{drawn:,} of {total:,} pairs drawn at random, standard error of this draw {se:.2g}",
        LIMIT,
        "Compare the standard error of this draw with the differences.",
    ),
    "points.drawn": Code(
        "{drawn:,} of {total:,} points drawn at random, standard error of this draw {se:.2g}",
        LIMIT,
        "Compare the standard error of this draw with the differences.",
    ),
    "points.some": Code("{drawn:,} of {total:,} points drawn at random", LIMIT),
    "clusters.drawn": Code(
        "{walks} random clusters, standard error of these draws {se:.2g}",
        LIMIT,
        "Compare the standard error of these draws with the differences.",
    ),
    "clusters.flat": Code(
        "{count} of {walks} random clusters count as right: none of their points has {least} similar points in the "
        "other space",
        LIMIT,
        "Use more neighbors.",
    ),
    "clusters.none": Code("no pair of clusters is wrong: counted as 1", ASSUMPTION),
    "pairs.largest": Code(
        "slightly too high on average: the largest distance in the sample may be below the largest of all", LIMIT
    ),
    "correlation.both_equal": Code("all {what} are equal in the data and in the embedding: counted as 1", ASSUMPTION),
    "correlation.equal": Code("all {what} in the {space} are equal: counted as 0", ASSUMPTION),
    "coranking.drawn": Code(
        "{drawn:,} pairs of {rows:,} anchors and other points, drawn with more weight on near points, represent all "
        "pairs; the interval includes this sampling error",
        LIMIT,
    ),
    "coranking.anchors": Code(
        "slightly too low on average: K_max is also estimated from the anchors",
        LIMIT,
        "Leave anchors out, or use more.",
    ),
    "density.flat": Code("all distances in the embedding are 0: its density counts as uniform", ASSUMPTION),
    "procrustes.coincident": Code("{count} neighborhoods of coinciding points contribute 0", ASSUMPTION),
    "stretch.flat": Code(
        "{count} of {n} neighborhoods have fewer dimensions than the embedding: the directions that they lack are "
        "left out",
        LIMIT,
        "Use more neighbors, or fewer dimensions.",
    ),
    # reasons for a missing interval
    "interval.jumps": Code("no interval: {reason}", LIMIT),
    "interval.fixed": Code("no interval: the value is the same whichever point is left out", LIMIT),
    "interval.same_runs": Code(
        "no interval: every run gave the same value",
        LIMIT,
        "Leave ci='replicates' out: the method does not depend on its seed.",
    ),
    "interval.same_halves": Code("no interval: halves of the points have equal values", LIMIT),
    "interval.few_carry": Code(
        "no interval: few anchors carry the value, and the contribution of one point has no bound",
        LIMIT,
        "Use more anchors.",
    ),
    "interval.scale": Code("no interval: the scale is also estimated from the anchors", LIMIT, "Leave anchors out."),
    "interval.missed": Code(
        "no interval: the error may come from so few points that the anchors can miss them", LIMIT, "Use more anchors."
    ),
    "interval.refused": Code("no interval: {reason}", LIMIT),
    "interval.undefined": Code("no interval: undefined without some of the points", LIMIT, "Use ci='subsampling'."),
    "interval.large_k": Code(
        "no interval: k is too large relative to n to leave groups out", LIMIT, "Choose a smaller n_neighbors."
    ),
    "interval.group": Code("no interval: without one group of points {reason}", LIMIT, "Use ci='subsampling'."),
    "interval.one_run": Code(
        "no interval: of several runs only the first succeeded", LIMIT, "See why the other runs failed."
    ),
    "interval.few_points": Code("no interval: too few points for halves", LIMIT, "Use ci='points'."),
    "interval.half": Code("no interval: at one half of the points {reason}", LIMIT, "Use ci='points'."),
    "runs.apart": Code(
        "{few} of {runs} runs are far from the others: read the runs, not their mean",
        LIMIT,
        "Read the rows of the runs.",
    ),
    "runs.failed": Code(
        "{failed} of {runs} runs failed and are excluded from all means: {reasons}", LIMIT, "See the reasons."
    ),
    "interval.coordinates": Code(
        "intervals hold the coordinates fixed, and do not include the variation of the method between samples; {way} "
        "re-runs it.",
        LIMIT,
    ),
    "interval.recorded": Code(
        "intervals hold the coordinates fixed, and do not include the variation of the tool between samples; its "
        "recorded runs are not repeated.",
        LIMIT,
        "Export a protocol with seeds= or halves=, and see stability.",
    ),
    "interval.runs": Code(
        "intervals of {runs} runs have no information on outcomes of fewer than {least:.0f} % of the seeds (30 runs: "
        "10 %, 60 runs: 5 %).",
        LIMIT,
        "Use more replicates.",
    ),
    # tests
    "test.data": Code(
        "read the effect size: an embedding is computed from the data, so dependence is certain and p means almost "
        "nothing; it is excluded from the adjustment",
        LIMIT,
        "Read the effect size.",
    ),
    "test.reference": Code("these are the data, tested for reference; p is excluded from the adjustment", ASSUMPTION),
    "test.residual": Code(
        "p by a residual bootstrap with refit, as in certificate(); without noise the residual is small but not "
        "independent: read the effect size and reconstruction_error first",
        LIMIT,
        "Read the effect size and reconstruction_error first.",
    ),
    "test.known": Code("on the {known} of {n} points at which `{argument}` is known", ASSUMPTION),
    "test.all_points": Code("tested on all {n} points", ASSUMPTION),
    "test.drawn_enough": Code("tested on {drawn:,} of {n:,} points, drawn at random", LIMIT),
    "test.drawn_matrices": Code(
        "tested on {drawn} points drawn at random: {test} needs n x n matrices",
        LIMIT,
        "Use hsic or kcca, which have low-rank kernels.",
    ),
    "test.drawn_factors": Code(
        "tested on {drawn} points drawn at random: {test} found no low-rank factor of a kernel",
        LIMIT,
        "Choose a larger bandwidth.",
    ),
    "test.unused": Code("not used here: {options}", ASSUMPTION),
    "test.attainable": Code(
        "No {word} of {tests:this test|these {tests} tests} can be below {least:.2g}, with {most} permutations each: "
        "a large p means little. Pass {way} or more.",
        LIMIT,
        "Pass more resamples.",
    ),
    "maps.refused": Code(
        "{refused} of {runs} maps {refused:has|have} no score; the first reason: {first}",
        LIMIT,
        "See the first reason.",
    ),
    "permutation.all": Code(
        "All {count} {what} were enumerated, including the identity: {exact:p is exact|p is not random}.",
        ASSUMPTION,
    ),
    "permutation.stopped": Code(
        "Sampling stopped at permutation {count}, when {reached} permuted statistics had reached the observed one: p "
        "= {reached}/{count}.",
        ASSUMPTION,
    ),
    "variable.integers": Code(
        "`{argument}` holds whole numbers with {count} different values and is used as numbers: if they are codes of "
        "classes, pass them as text.",
        ASSUMPTION,
    ),
    "permutation.within": Code("Rows were permuted within their blocks only.", ASSUMPTION),
    "permutation.blocks": Code("Whole blocks of rows were permuted.", ASSUMPTION),
    "permutation.cyclic": Code(
        "Rows were shifted cyclically, which joins the ends: p is approximate, for stationary series only.",
        LIMIT,
        "Use blocks if the series is not stationary.",
    ),
    "kernel.delta": Code("`{argument}` holds classes: its kernel is delta (1 if equal, else 0).", ASSUMPTION),
    "bandwidth.smallest": Code(
        "More than half of the pairs of rows of `{argument}` coincide: its bandwidth is the smallest positive "
        "distance, not the median.",
        ASSUMPTION,
        "Pass a bandwidth.",
    ),
    "bandwidth.drawn": Code(
        "The bandwidth of `{argument}` is the median over {rows} rows drawn at random.", ASSUMPTION
    ),
    "embedding.one_place": Code("`{argument}` puts all points in one place.", LIMIT, "See what the method returned."),
    "residual.drawn": Code("Tested on {drawn} points drawn at random.", LIMIT),
    # approximations of methods
    "perplexity.smaller": Code(
        "A perplexity of {wanted:g} is too large for {n} points; {used:.4g} was used, a third of the other points.",
        ASSUMPTION,
        "Choose a smaller perplexity.",
    ),
    "neighbors.fewer": Code(
        "{wanted} neighbors are too many for {n} points; {used}, all others, were used.",
        ASSUMPTION,
        "Choose a smaller n_neighbors.",
    ),
    "graph.parts": Code(f"{_PARTS} with {{reach}}", FAILURE, "Choose a larger n_neighbors or radius."),
    "graph.joined": Code(
        f"The graph of {{near}} has {_PARTS}. They were joined by {{links}} {{links:link|links}} of length up to "
        "{longest:.4g} (the median edge has {median:.4g}); paths between components use these links.",
        LIMIT,
        "Choose a larger n_neighbors or radius.",
    ),
    "graph.short_cuts": Code(
        "The graph of {k} nearest neighbors probably has shortcuts: {percent:.2g} % of its edges join points that "
        "are more than {times:g} times their length apart along the graph of {fewer} neighbors.",
        LIMIT,
        "Choose a smaller n_neighbors.",
    ),
    "graph.largest": Code(
        f"The graph of {{near}} has {_PARTS}. Only the largest was embedded; the other {{others}} "
        "points got the coordinates of their nearest point in it.",
        LIMIT,
        "Choose a larger n_neighbors or radius.",
    ),
    "graph.separate": Code(
        f"The graph of {{near}} has {_PARTS}. Each was embedded separately; their relative positions have no meaning.",
        LIMIT,
        "Choose a larger n_neighbors or radius.",
    ),
    "null_space.larger": Code(
        "more than {d} {d:eigenvalue is|eigenvalues are} 0 up to rounding, besides that of the constant: the choice "
        "of eigenvectors for the {d:coordinate|coordinates} is arbitrary. {way}",
        LIMIT,
        "Choose a larger n_neighbors or radius, or LTSA in place of HessianLLE.",
    ),
    "tessellation.moved": Code(
        "Rounding made the Delaunay tessellation ambiguous; for it, the points were moved by about a billionth of "
        "their size.",
        ASSUMPTION,
    ),
    "cost.unsettled": Code(
        "{method} did not converge within max_iter={max_iter}: the cost was still falling after {n_iter} iterations. "
        "Raise max_iter, or tol.",
        LIMIT,
        "Raise max_iter, or tol.",
    ),
    "eigenvalues.negative": Code(
        "{negative} of the {d} leading eigenvalues are negative (the smallest {least:.4g}, the largest "
        "{largest:.4g}), since the distances are not Euclidean; their coordinates are set to 0.",
        LIMIT,
        "Use metric_mds, which needs no Euclidean distances.",
    ),
    "response.classes": Code(
        "The {classes} integers in `{argument}` were used as classes; pass floats, {argument}.astype(float), for a "
        "numeric response.",
        ASSUMPTION,
        "Pass floats for a numeric response.",
    ),
    "scores.zero": Code(
        "{zero} of the {d} columns of the embedding are 0: data and response determine no more directions.",
        LIMIT,
        "Choose a smaller n_components.",
    ),
    "neighborhoods.copies": Code(
        "{flat} of {n} neighborhoods hold copies of one point only, and have no information on its position.",
        LIMIT,
        "Choose a larger n_neighbors, at least the number of copies of any point, or leave copies out.",
    ),
    "folds.fewer": Code("{points} points are too few for {folds} folds: each point is one fold.", ASSUMPTION),
    # measures of methods
    "columns.fewer": Code(
        "{given} {given:column was returned and counts|columns were returned and count} as padded with zeros "
        "({asked} requested).",
        LIMIT,
        "Request as many columns as the method returns.",
    ),
    "columns.more": Code(
        "More dimensions were requested ({asked}) than the data have columns ({columns}).", ASSUMPTION
    ),
    "amplitude.smaller": Code(
        "The amplitude {asked:g} would fold the data{outliers:, whose spread is large relative to the bandwidth "
        "(outliers)|; it is too large for them}: {used:.3g} is used.",
        ASSUMPTION,
    ),
    "warned": Code("{category}: {message}", LIMIT),
    # data and sources
    "rows.matched": Code("Rows of `{argument}` were matched to {data} by {by}.", ASSUMPTION),
    "rows.counted": Code(
        "Rows of `{argument}` were matched to {data} by {by}; {whose} only count the rows.", ASSUMPTION
    ),
    "rows.unused": Code(
        "{unused:,} of {rows:,} rows of `{argument}` have names that the data lack, and were not used.", ASSUMPTION
    ),
    "rows.nothing_common": Code(
        "Row names of `{argument}` and of {data} have nothing in common, and those of one of them only count the "
        "rows: rows were matched by position.",
        LIMIT,
    ),
    "rows.ids_alone": Code("`{argument}` has ids and {data} have none: rows were matched by position.", LIMIT),
    "rows.ids_beside": Code(
        "Rows of `{argument}` were matched by position, although its column {column!r} has a different name or "
        "number for each of them.",
        LIMIT,
        "Pass these names as `ids` of the data, or write both in the same order.",
    ),
    "rows.names_dropped": Code(
        "{columns:and} of `{argument}` {count:names or counts|name or count} its rows: {count:it is not a "
        "variable|they are not variables}, and {count:was|were} left out.",
        ASSUMPTION,
        "Name the columns that are variables.",
    ),
    "rows.names_unused": Code(
        "Row names of `{argument}` were not used, since {data} have none: rows were matched by position.", LIMIT
    ),
    "rows.data_alone": Code(
        "The data have {names} and `{argument}` has none: rows were matched by position.", ASSUMPTION
    ),
    "labels.many": Code("`{argument}` has {count} different values for {points} points.", ASSUMPTION),
    "labels.spaces": Code(
        "{count:A value|Values} of `{argument}` {count:differs|differ} from {count:another|others} only in spaces at "
        "{count:its|their} ends ({values}): spaces at the ends are ignored.",
        ASSUMPTION,
    ),
    "labels.gaps": Code(
        "`{argument}` has no class for {gaps} of {n} points: measures of labels use the other {labeled}.", ASSUMPTION
    ),
    "labels.floats": Code(
        "`{argument}` holds whole numbers as floats, which are used as codes of classes.", ASSUMPTION
    ),
    "missing.text": Code(
        "In `{argument}` the text {texts} stands for a missing value, as in files: {count} {count:point|points}.",
        ASSUMPTION,
        "Use another text if it is the name of a class.",
    ),
    "covariates.integers": Code(
        "`{argument}` holds whole numbers with {count} different values and is used as numbers: if they are codes of "
        "classes, pass {call}, or append :class to the column on the command line.",
        ASSUMPTION,
    ),
    "covariates.numbers": Code(
        "`{argument}` is used as classes, although {count} of its {known} values are numbers: {text} is text. If it "
        "holds numbers, leave that cell empty.",
        ASSUMPTION,
    ),
    "covariates.names_rows": Code(
        "`{argument}` holds a different whole number in every row, as row ids do, and is used as numbers.",
        LIMIT,
        "Leave it out if it names the rows.",
    ),
    "response.integers": Code(
        "`{argument}` holds whole numbers with {count} different values and is used as numbers: if they are codes of "
        "classes, pass text, or append :class to the name of the column.",
        ASSUMPTION,
    ),
    "file.first_value": Code("The first row {row!r} of '{file}' was read as a value, not as a name.", ASSUMPTION),
    "file.commas": Code("{columns} {columns:column|columns} of '{file}' had decimal commas.", ASSUMPTION),
    "file.grouped": Code(
        "{columns} {columns:column|columns} of '{file}' had points between thousands and decimal commas.", ASSUMPTION
    ),
    "file.separator": Code("'{file}' was read with {separator} between its columns.", ASSUMPTION),
    "file.header": Code(
        "The first row of '{file}' ({row}) was read as column names. If it is data, {remedy}.", ASSUMPTION
    ),
    "file.header_compared": Code(
        "The first row of '{file}' ({row}) was read as column names: it has {reasons:and}. If it is data, {remedy}.",
        ASSUMPTION,
    ),
    "file.row": Code(
        "The first row of '{file}' ({row}) was read as data, although it has {reasons:and}. If it has the names of the "
        "columns, {remedy}.",
        LIMIT,
    ),
    # properties of the first row of a file, compared with the rows below: parts of the notes on it
    "row.even": Code("equal steps", ASSUMPTION),
    "row.sorted": Code("sorted numbers", ASSUMPTION),
    "row.counting": Code("numbers that count the columns", ASSUMPTION),
    "row.magnitude": Code("another magnitude", ASSUMPTION),
    "row.decimals": Code("another number of decimals", ASSUMPTION),
    "row.empty": Code("an empty cell above a complete column", ASSUMPTION),
    "row.text_below": Code("a number above text", ASSUMPTION),
    "row.name": Code("text unlike the text below", ASSUMPTION),
    "row.whole": Code("whole numbers next to text", ASSUMPTION),
    "file.comments": Code(
        "{lines} {lines:line|lines} that {lines:begins|begin} with # at the top of '{file}' {lines:was|were} left out.",
        ASSUMPTION,
    ),
    "file.marks": Code(
        "{marks} invisible byte-order {marks:mark|marks} within '{file}' {marks:was|were} left out.",
        ASSUMPTION,
    ),
    "file.old_anndata": Code(
        "'{file}' has the layout of an old AnnData version, which dreval can still read; writing the file with a "
        "current version updates it.",
        ASSUMPTION,
    ),
    "file.counting_column": Code(
        "The unnamed first column of `{argument}` only counts the rows and was left out.", ASSUMPTION
    ),
    "file.names_column": Code("The unnamed first column of `{argument}` was used as row names.", ASSUMPTION),
    "data.levels": Code(
        "The row names of `{argument}` have {levels} levels without names, as pandas creates from rows with more "
        "fields than names.",
        LIMIT,
        "Check that the file was read with its separator and decimal mark.",
    ),
    "data.not_reduced": Code(
        "{names} {count:has|have} as many columns as the data ({columns}) or more: the dimension was not reduced.",
        LIMIT,
        "Request fewer columns, or leave out measures of lost structure.",
    ),
    "data.reference": Code(
        "{names} {count:is|are} the data: shown for reference, and excluded from ranks, best sets and verdicts.",
        ASSUMPTION,
    ),
    "data.dense": Code("A sparse matrix of {rows} x {columns} was converted to a dense one.", ASSUMPTION),
    "data.like_distances": Code(
        "The data are a symmetric matrix with zeros on the diagonal and were used as features; if they are "
        'distances, pass metric="precomputed" if there is a `metric`, else pass the points.',
        LIMIT,
    ),
    "data.like_similarities": Code(
        "The data are a symmetric matrix and were used as features; if its entries compare the points, as "
        'correlations and kernels do, pass the points, or distances with metric="precomputed" if there is a `metric`.',
        LIMIT,
        "Pass the points, or distances.",
    ),
    "data.truth_values": Code(
        "{columns:and} {count:holds|hold} True and False next to columns of numbers and {count:was|were} used as "
        "{count:a feature|features} (1 and 0). If {count:it holds|they hold} classes, pass {count:it|them} as "
        "`labels` or `covariates`.",
        LIMIT,
        "Pass the column as labels or covariates, or drop it.",
    ),
    "data.counts_rows": Code(
        "Column {column!r} counts the rows ({first}, {second}, ...) and was used as a feature; if it names the rows, "
        "pass ids={column!r}, or drop it.",
        LIMIT,
        "Pass it as ids, or drop it.",
    ),
    "data.names_rows": Code(
        "{count:Column|Columns} {columns:and} {count:holds|hold} a different integer in every row, as row ids do, "
        "and {count:was|were} used as {count:a feature|features}; if {count:it|one of them} names the rows, pass it "
        "as `ids`, or drop it.",
        LIMIT,
        "Pass it as ids, or drop it.",
    ),
    "data.pca_unused": Code(
        "The data are X of the AnnData object; obsm[{key!r}] is not used: pass use_rep={key!r} for it.", ASSUMPTION
    ),
    "data.target_unused": Code(
        "The target of the data set was not used; pass it as `labels` if it holds classes.", ASSUMPTION
    ),
    "data.constant": Code("{constant} of {columns} columns are constant ({named}).", ASSUMPTION),
    "data.one_column": Code(
        "Column {column!r} carries {percent:.1f} % of the total variance; data are never scaled.",
        LIMIT,
        "Scale the columns if their units are arbitrary.",
    ),
    "data.binary_last": Code(
        "The last column has no name and two values ({values}); it was used as a feature. If it holds labels, pass it "
        "as `labels`.",
        LIMIT,
    ),
    "data.ids_used": Code(
        "Column {column!r} looks like row ids and is used as a feature; pass ids={column!r} to use it as ids.",
        LIMIT,
        "Pass it as ids.",
    ),
    "data.parallel": Code(
        "All rows point in nearly one direction: with metric={metric!r} they differ by at most {spread:.1g} of their "
        "length, and the numbers are rounded at 1e-16.",
        LIMIT,
        "Subtract the mean of each column first, or use metric='euclidean'.",
    ),
    "data.repeated": Code("{rows} {rows:row repeats|rows repeat} an earlier one.", ASSUMPTION),
    "distances.ordered": Code("Columns of the distances were put into the order of the rows, by name.", ASSUMPTION),
    "distances.zero": Code(
        "{pairs} {pairs:pair of points is|pairs of points are} at distance 0, up to {share} of the largest.", ASSUMPTION
    ),
    "source.map": Code("{what} is a map: it is applied without being fitted.", ASSUMPTION),
    "source.refitted": Code("Its earlier fit is not used: a copy is fitted to the data.", ASSUMPTION),
    "source.seed": Code(
        "Its random_state is not used: the seed of each run comes from the seed of the evaluation.", ASSUMPTION
    ),
    "source.metric_none": Code(
        "{what} has no parameter `metric`: it was run on the coordinates (Euclidean distances), while distances in "
        "the data are measured by {metric!r}.",
        LIMIT,
        "Pass coordinates that a method with this metric computed, or choose one that has a `metric`.",
    ),
    "source.metric_kept": Code(
        "{what} was run with {settings}, while distances in the data are measured by {metric!r}.",
        LIMIT,
        "Use the same metric for both.",
    ),
    "source.metric_unknown": Code(
        "The metric {metric!r} is not passed to {what}, which chooses its metric itself.",
        LIMIT,
        "Make sure that it uses the same metric.",
    ),
    "source.own": Code(
        "{what} has no set_params and no attribute {lost}: {count:it keeps its value|they keep their values}.",
        ASSUMPTION,
    ),
    "source.column": Code("`{argument}` has the column {column} of the data, which was left out.", ASSUMPTION),
    "source.doubtful": Code(
        "`{argument}` may have columns that are not coordinates; all are used: {doubts}. To leave these out, pass "
        "{way}.",
        LIMIT,
        "Pass the columns that are coordinates.",
    ),
    "column.of_data": Code(
        "{columns:and} {count:equals the column of this name|equal the columns of these names} in the data",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.copied": Code(
        "{columns:and} {count:has|have} the values of {features:and} in the data",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.of_variable": Code(
        "{columns:and} {count:has the name of a variable|have the names of variables} of the data, with other values",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.shares": Code(
        "{columns:and} add up to {total} in each row, as probabilities of classes do",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.names_rows": Code(
        "{columns:and} {count:holds|hold} a different integer in every row, as row ids do (give the data the same "
        "`ids` to match rows by them; leave them out only if the rows are in the order of the data)",
        LIMIT,
        "Give the data the same `ids` if it names the rows.",
    ),
    "column.integers": Code(
        "{columns:and} {count:holds|hold} integers next to decimals, as counts and classes do",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.spread": Code(
        "{columns:and} {count:varies|vary} {ratio:,.0f} times as much as the other columns (if {count:it holds|these "
        "hold} the coordinates, leave out the others instead)",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "column.narrow": Code(
        "the other columns vary {ratio:,.0f} times as much as {columns:and} (if {count:it holds|these hold} the "
        "coordinates, leave out the others instead)",
        LIMIT,
        "Select the columns that are coordinates.",
    ),
    "source.stored": Code("coordinates stored in obsm[{key!r}].", ASSUMPTION),
    "source.stored_too": Code("coordinates stored in obsm[{key!r}]; the bundled method is {method!r}.", ASSUMPTION),
    # pairs of embeddings on one data set
    "pair.no_value": Code("no value of {embeddings:and}", FAILURE, "See the notes on the values."),
    "pair.reference": Code(
        "{names} {count:is|are} the data, and {count:was|were} left out; name {count:it|them} to compare "
        "{count:it|them}",
        ASSUMPTION,
    ),
    "pair.one_embedding": Code("{embedding} is a single embedding, which is not re-run", ASSUMPTION),
    "pair.exact": Code("no test: both values are computed from all points, and therefore exact", ASSUMPTION),
    "pair.no_interval": Code(
        "no test: no interval of {embeddings:and}", LIMIT, "Run the evaluation with ci='points', or with anchors."
    ),
    "pair.targets": Code(
        "no test: their intervals refer to different targets", LIMIT, "Evaluate both with the same `ci`."
    ),
    "pair.few_carry": Code(f"no test: {_FEW_CARRY}", LIMIT, "Use more anchors."),
    "pair.unbounded": Code(
        "no test: few anchors carry the difference, and the contribution of one point has no bound",
        LIMIT,
        "Use more anchors.",
    ),
    "pair.bets": Code(
        "few anchors carry the difference, or it is so small that points which were not drawn could outweigh it: "
        "tested by the betting test of a bounded mean, which is valid in both cases",
        ASSUMPTION,
        "Use more anchors.",
    ),
    "pair.few_runs": Code("no test: fewer than two runs", LIMIT, "Re-run the methods with more seeds."),
    "pair.same_runs": Code("no test: every run of both gave the same value", LIMIT),
    "pair.fixed": Code("no test: the values are the same whichever point is left out", LIMIT),
    "pair.equal": Code("no difference, whichever points are left out", ASSUMPTION),
    # the set of embeddings that are not distinguishable from the best
    "best.no_value": Code("no value", FAILURE, "See the note on the value."),
    "best.reference": Code("the data: shown for reference, not ranked", ASSUMPTION),
    "best.no_interval": Code(
        "no interval, so it cannot be compared with the best",
        LIMIT,
        "Run the evaluation with ci='points', or with anchors.",
    ),
    "best.target": Code(
        "its interval has another target than the other intervals", LIMIT, "Evaluate all with the same `ci`."
    ),
    "best.few_carry": Code(_FEW_CARRY, LIMIT, "Use more anchors."),
    "best.better_untested": Code(
        "an embedding with a better value has no interval of the same target",
        LIMIT,
        "Evaluate all with the same `ci`.",
    ),
    "best.no_spread": Code("neither it nor a better embedding varies, so they cannot be tested", LIMIT),
    "best.unbounded": Code(
        "few anchors carry the difference from a better embedding, and the contribution of one point has no bound",
        LIMIT,
        "Use more anchors.",
    ),
    "best.untested": Code("no other embedding can be tested against it", LIMIT, "See the notes of the others."),
    "best.fixed": Code("no separate interval: tested by the spread of its differences from the others", LIMIT),
    "best.exact": Code("exact: computed from all points", ASSUMPTION),
    # settings of a method
    "sweep.seeds": Code(
        "Other seeds on the same points: the best sets apply to these data only.",
        LIMIT,
        "Use over='halves'.",
    ),
    "sweep.same_seeds": Code(
        "Every seed gives the same embedding at each setting: there is no spread to compare settings with.",
        LIMIT,
        "Use over='halves'.",
    ),
    "sweep.halves": Code(
        "Halves of the points: the best sets refer to embeddings of {half:,} points, half of these, from the same "
        "population; a setting that counts points, such as a number of neighbors, is for {half:,} points.",
        ASSUMPTION,
    ),
    "sweep.each": Code(
        "Each of the {measures} measures has a separate best set at level {level:g}; choose the deciding measure in "
        "advance.",
        LIMIT,
        "Name one measure.",
    ),
    "sweep.components": Code(
        "More components can show more of the data: by most measures the largest number of them is best.",
        LIMIT,
        "See intrinsic_dimension and parallel_analysis.",
    ),
    "sweep.few": Code(
        "{replicates} replicates are few for {settings} settings: a setting is called worse only if it is "
        "{critical:.1f} standard errors behind another; with {needed} replicates {reached:.1f}, with many "
        "{limit:.1f}.",
        LIMIT,
        "Raise n_replicates.",
    ),
    "sweep.equal": Code(
        "{equal} settings gave only {made} different {made:embedding|embeddings} in every replicate: their options "
        "made no difference, or the method changed them.",
        LIMIT,
        "Leave out the equal settings.",
    ),
    "sweep.drawn": Code(
        "Evaluated at {drawn:,} of {n:,} points, drawn at random, the same for all settings.", ASSUMPTION
    ),
    "sweep.failed": Code(
        "not compared: {failed} of {runs} runs failed; the first: {first}",
        LIMIT,
        "Correct the settings that the method refuses.",
    ),
    "sweep.no_spread": Code(
        "behind a better setting by the same amount in every replicate, so no test is possible", LIMIT
    ),
    "sweep.alone": Code("no other setting can be compared with it", LIMIT, "See the notes of the others."),
    # comparisons across data sets
    "datasets.reference": Code(
        "{name} is the data of {dataset}, and was left out there; name it to compare it", ASSUMPTION
    ),
    "datasets.renamed": Code("different data with the same name {name!r} are called {called!r}", ASSUMPTION),
    "datasets.few": Code(
        "{embeddings} embeddings, {shared} {shared:data set|data sets} with two values", FAILURE, "Add data sets."
    ),
    "datasets.no_embedding": Code("no value of embedding {names}, left out", LIMIT, "See the notes on the values."),
    "datasets.no_dataset": Code("no value of data set {names}, left out", LIMIT, "See the notes on the values."),
    "datasets.replicates": Code("replicates are averaged within data sets before ranking", ASSUMPTION),
    "datasets.partly": Code(
        "{whole} of {n} data sets have a value of every embedding; mean ranks and Nemenyi use these, and each pair "
        "the data sets that have both",
        LIMIT,
        "Compute the missing values.",
    ),
    "ranks.two": Code("needs three embeddings; see the test of the pair", LIMIT, "See the test of the pair."),
    "ranks.equal": Code("undefined: all embeddings are equal on every data set", FAILURE),
    "ranks.agree": Code("F is infinite, since all data sets agree; p is exact, by enumeration", ASSUMPTION),
    "ranks.counted": Code("p by enumeration of all arrangements of the ranks", ASSUMPTION),
    "ranks.drawn": Code("p from {draws:,} random arrangements of the ranks", ASSUMPTION),
    "ranks.missing": Code("some data sets have no value of some embeddings", ASSUMPTION),
    "ranks.one_value": Code("{count} {count:data set|data sets} with one value left out", ASSUMPTION),
    "ranks.unlinked": Code(
        "undefined: the data sets do not link all embeddings", FAILURE, "Compare the embeddings of each part."
    ),
    "ranks.exchanged": Code(
        "p by permuting the values within data sets, which is valid if missingness does not depend on the values",
        ASSUMPTION,
    ),
    "signed_ranks.none": Code("no data set has both", FAILURE, "Evaluate both on the same data sets."),
    "signed_ranks.equal": Code("equal on every data set", ASSUMPTION),
    "signed_ranks.ties": Code("data sets with equal values are left out, also from the advantage", ASSUMPTION),
    "mixed.normal": Code("normal approximation, too optimistic with few data sets", LIMIT, "Add data sets."),
    "mixed.unconverged": Code("the fit did not converge", FAILURE, "Use the signed-rank tests."),
    "mixed.refused": Code("no fit: {message}", FAILURE, "Use the signed-rank tests."),
    "mixed.undefined": Code("no fit: the standard errors are not defined", FAILURE, "Use the signed-rank tests."),
    "mixed.statsmodels": Code("statsmodels warns: {message}", LIMIT),
    "variance.dataset": Code("found no variance between data sets", ASSUMPTION),
    "variance.cell": Code("found no variance of embeddings within data sets", ASSUMPTION),
    "variance.replicate": Code("found no variance that all embeddings of a replicate share", ASSUMPTION),
    # embeddings from tools outside Python
    "protocol.missing": Code(
        "{count} of {runs} runs have not been returned; the first is {first}.",
        LIMIT,
        "Run the driver again for these files.",
    ),
    "protocol.rounded": Code(
        "{count} of {runs} embeddings {count:looks|look} rounded to a few digits; the first is {first}: write all "
        "digits.",
        LIMIT,
        "Write all digits.",
    ),
    "protocol.copied": Code(
        "{count} of {runs} embeddings of transformed data {count:is|are} equal to that of the data ({base}); the "
        "first is {first}: check whether a file was copied.",
        LIMIT,
        "Run the tool on the transformed data.",
    ),
    "protocol.one_place": Code(
        "The embedding of the data puts all points in one place.", LIMIT, "See what the tool returned."
    ),
    "protocol.dimensions": Code("More dimensions were requested ({asked}) than the data have ({columns}).", ASSUMPTION),
}
