"""The reference, written from the registries: adding a measure, a test or a method adds its page."""

from __future__ import annotations

import argparse
import importlib
import inspect
import warnings
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import dreval
from _site import _drawing as draw
from _site._figures import write_figures
from _site._measures import write_measures
from _site._methods import write_methods
from _site._sheets import write_sheets
from _site._tests import write_tests
from _site._text import code, keep_plain, page, plain, raw, table, title, toctree, write
from dreval import errors, glossary, testing
from dreval.cli._exit import exit_codes
from dreval.cli._main import _parser
from dreval.registry import DATASETS, MEASURES, TESTS
from dreval.report.documents.methods import software_reference

CITATION = Path(__file__).resolve().parents[2] / "CITATION.cff"
# The records that functions return; users never construct them.
RECORDS = (
    "dreval.records.comparison.Comparison",
    "dreval.records.tests.Certificate",
    "dreval.records.tests.NoiseTest",
    "dreval.records.tests.Sensitivity",
    "dreval.records.estimates.MeasureRecord",
    "dreval.records.estimates.Stability",
    "dreval.records.estimates.CostEstimate",
    "dreval.records.points.LocalDistortion",
    "dreval.records.points.SingularityScore",
    "dreval.records.points.PerturbationScore",
    "dreval.records.estimates.PerplexityCurve",
    "dreval.records.points.Embedding",
    "dreval.records.evaluated.EvaluatedEmbedding",
    "dreval.records.class_distances.ClassDistances",
    "dreval.records.misplaced.MisplacedPoints",
    "dreval.records.estimates.IntrinsicDimension",
    "dreval.records.estimates.ParallelAnalysis",
    "dreval.records.importance.ColumnImportance",
    "dreval.records.recall.GraphRecall",
    "dreval.records.bound.GeneralizationBound",
    "dreval.records.sweep.Sweep",
    "dreval.records.out_of_sample.OutOfSample",
    "dreval.records.similarity.RepresentationSimilarity",
    "dreval.records.held_out.HeldOutFidelity",
    "dreval.records.held_out.ClusterTest",
    "dreval.protocol.protocol.ProtocolStatus",
    "dreval.study.study.StudyStatus",
    "dreval.geometry.kernels.KernelMap",
    "dreval.datasets._dataset.Dataset",
    "dreval.measures.core.Recommendation",
)
RECORDED = "What functions return"
# The pages of the reference by what a reader wants to do: those that are written here, with a line, and public names.
GROUPS: dict[str, tuple[dict[str, str], str]] = {
    "Evaluate": (
        {"figures": "Figures of results.", "columns": "Columns of the tables."},
        (
            "Evaluation Results score Scores out_of_sample get_scorer compare recommend embed centroid_triplets "
            "load_results card list_measures list_figures"
        ),
    ),
    "Test suites": ({}, "assert_not_worse replicate_values"),
    "Reliability": (
        {},
        (
            "representation_similarity sweep split_measurements local_distortion column_importance graph_recall "
            "generalization_bound "
            "singularity_score "
            "perturbation_score perplexity_curve list_analyses"
        ),
    ),
    "Number of dimensions": (
        {},
        "intrinsic_dimension parallel_analysis",
    ),
    "Tests": (
        {"tests/index": "Tests of independence, with their error rates, and the test against noise."},
        "IndependenceTest bandwidth_curve kappa_curve dependence_ranking list_tests",
    ),
    "Methods": (
        {"methods/index": "Methods of dimensionality reduction, on a rolled sheet."},
        "Study Protocol list_methods",
    ),
    "Data": ({"datasets": "Data sets, bundled and simulated."}, "load_dataset simulate list_datasets"),
    "Command line": (
        {"commands": "Every verb and option.", "errors": "Errors and warnings."},
        "",
    ),
}
EXIT_CODES = (
    "The names and defaults are those of the Python functions. All commands have these "
    f"{' '.join(exit_codes('something failed or is missing, and all else was computed').split())}. Every error message "
    "says which input is wrong, why, and what to do."
)


def write_reference(folder: Path) -> None:
    """Write every page of the reference."""
    for write_part in (write_classes, write_figures, write_measures, write_methods, write_sheets, write_tests):
        write_part(folder)
    write(folder / "commands.rst", _commands())
    write(folder / "citation.rst", _citation())
    write(folder / "index.rst", _overview())


def _overview() -> str:
    named = {f"records/{name}": words for name, words in records()}
    named |= {f"names/{name}": first_sentence(thing) for name, (_, thing) in public_things().items()}
    parts = []
    for group, (pages, names) in GROUPS.items():
        listed = [*pages, *(f"names/{name}" for name in names.split())]
        rows = [(f":doc:`{document}`", pages.get(document) or named[document]) for document in listed]
        parts += [title(group, "-"), table(["page", "content"], rows), toctree(listed, "hidden:", f"caption: {group}")]
    listed = [document for document in named if document.startswith("records/")]
    returned = table(["record", "content"], [(f":doc:`{document}`", named[document]) for document in listed])
    parts += [title(RECORDED, "-"), returned, toctree(listed, "hidden:", f"caption: {RECORDED}")]
    return page(title("Reference"), "The :doc:`gallery` has a page for every measure.", *parts)


def public_things() -> dict[str, tuple[str, Any]]:
    """Return the public names of ``dreval`` other than measures, tests and folders, each with its place and object."""
    excluded = {*MEASURES.names(), *TESTS.public_names()}
    names = [name for name in dreval._public_names() if name not in excluded and not _is_folder(name)]
    things = {name: (f"dreval.{name}", getattr(dreval, name)) for name in names}
    return things | {name: (f"dreval.testing.{name}", getattr(testing, name)) for name in testing.__all__}


def _is_folder(name: str) -> bool:
    return inspect.ismodule(getattr(dreval, name))


def write_classes(folder: Path) -> None:
    """Write the pages of names and records, errors, columns and data."""
    for name, (place, thing) in public_things().items():
        write(folder / "names" / f"{name}.rst", _page(place, name, thing))
    for name, place, thing in _records():
        write(folder / "records" / f"{name}.rst", _page(place, name, thing))
    write(folder / "errors.rst", _errors())
    write(folder / "columns.rst", _columns())
    write(folder / "datasets.rst", _datasets())


def _page(place: str, name: str, thing: Any) -> str:
    directive = "autoclass" if inspect.isclass(thing) else "autofunction"
    return page(title(name), f".. {directive}:: {place}")


def first_sentence(thing: Any) -> str:
    """Return the first paragraph of a documentation."""
    lines = (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()
    keep_plain(lines)
    return " ".join(lines)


def records() -> list[tuple[str, str]]:
    """Return names of the records, each with its first sentence."""
    return [(name, first_sentence(thing)) for name, _, thing in _records()]


def _records() -> Iterator[tuple[str, str, Any]]:
    """Yield name, place and class of each record."""
    for place in RECORDS:
        module, _, name = place.rpartition(".")
        yield name, place, getattr(importlib.import_module(module), name)


def _errors() -> str:
    names = [name for name in errors.__all__ if inspect.isclass(getattr(errors, name))]
    return page(
        title("Errors and warnings"),
        "An error names the argument, the rule, the value it got, and the remedy. A result that rests on an assumption "
        "comes with a warning that states the assumption. Harmless events become notes of the result.",
        *(f".. autoexception:: dreval.errors.{name}" for name in names),
    )


def _columns() -> str:
    short = f"``tidy()`` has {len(glossary.TIDY_COLUMNS)}: {', '.join(map('``{}``'.format, glossary.TIDY_COLUMNS))}"
    parts = {
        "Results.tidy(full=True)": (f"one row for each embedding, measure and parameter; {short}", glossary.COLUMNS),
        "Comparison.tidy()": ("one row for each pair of embeddings, measure and test", glossary.PAIR_COLUMNS),
        "Comparison.overall": ("one row for each measure and test of all embeddings", glossary.OVERALL_COLUMNS),
        "Comparison.standing": ("one row for each embedding and measure", glossary.STANDING_COLUMNS),
    }
    intro = (
        "These lists are complete. On the command line ``--json`` has all columns, ``--table`` of a result those of "
        "``tidy()``, and with ``--full`` all. Curves over K have a table of their own, ``Results.curves``."
    )
    pieces = [title("Columns of the tables"), intro]
    for name, (words, columns) in parts.items():
        rows = ((f"``{column}``", plain(meaning)) for column, meaning in columns.items())
        pieces += [title(name, "-"), f"{words[0].upper()}{words[1:]}.", table(["column", "meaning"], rows, "22 78")]
    return page(*pieces)


def _datasets() -> str:
    cards = DATASETS.cards()
    kinds = {"bundled": "Bundled", "simulated": "Simulated", "loader": "Read from your own files"}
    how = {
        "bundled": "``dreval.load_dataset(name)`` loads them; they come with the package.",
        "simulated": "``dreval.simulate(name, n=..., random_state=...)`` simulates them, with these parameters.",
        "loader": "``dreval.load_dataset(name, path)`` reads the files of the authors, which are not redistributed.",
    }
    pieces = [title("Data")]
    for kind, words in kinds.items():
        kind_cards = [card for card in cards if card.origin == kind]
        pieces += [title(words, "-"), how[kind], raw(_panels(kind_cards)) if kind == "simulated" else ""]
        rows = ((f"``{c.name}``", _described(c), f"{c.n} x {c.p}", plain(c.reference)) for c in kind_cards)
        pieces.append(table(["name", "title", "n x p", "reference"], rows, "18 34 12 36"))
    return page(*pieces)


def _described(card: Any) -> str:
    """Return the title of a data set, with the parameters of a simulation."""
    return ", ".join([plain(card.title), *(f"``{name}={value!r}``" for name, value in card.parameters.items())])


def _panels(cards: list[Any]) -> str:
    figures = []
    for card in cards:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.DrevalWarning)
            dataset = dreval.simulate(card.name, random_state=0)
        label = f"Simulated data: {card.title}"
        figures.append(
            draw.figure(draw.scatter(_drawable_columns(dataset.data), _colors(dataset), label), escape(card.name))
        )
    return f'<div class="maps many">{"".join(figures)}</div>'


def _drawable_columns(X: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Return up to three columns as they are; of more the two leading principal components."""
    if X.shape[1] <= 3:
        return X
    centered = X - X.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T


def _colors(dataset: Any) -> list[str]:
    if dataset.labels is not None:
        return draw.by_class(dataset.labels)
    return draw.along(dataset.data[:, 0] if dataset.latent is None else dataset.latent[:, 0])


def _commands() -> str:
    """Return the page of the command line, from the parser."""
    pieces = [
        title("Command line"),
        EXIT_CODES,
    ]
    for parser in _leaves(_parser()):
        pieces += [title(parser.prog, "-"), plain(parser.description or "")]
        rows = [(_named(action), plain(_help(action))) for action in parser._actions if action.dest != "help"]
        pieces.append(table(["argument", "meaning"], rows, "32 68"))
        if parser.epilog:
            pieces.append(".. code-block:: sh\n\n" + "\n".join(f"    {line}" for line in parser.epilog.splitlines()))
    return page(*pieces)


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of single commands, below those that only choose one."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for below in group.choices.values():
            yield from _leaves(below)


def _named(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    if action.nargs == 0:
        return ", ".join(code(option) for option in action.option_strings)
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest)
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return code(value)
    placeholder = value if action.metavar or action.choices else value.upper()
    return ", ".join(code(f"{option} {placeholder}") for option in action.option_strings)


def _help(action: argparse.Action) -> str:
    """Return the help text of an argument, with its percent signs filled in, and its lines joined."""
    text = (action.help or "") % {**vars(action), "prog": "dreval"} if action.help else ""
    return "; ".join(" ".join(line.split()) for line in text.splitlines())


def _citation() -> str:
    """Return the page that says how to cite: the entry of ``bibtex()``, and the abstract of ``CITATION.cff``."""
    import yaml

    abstract = yaml.safe_load(CITATION.read_text("utf-8"))["abstract"]
    words = (
        "Please cite the package, and the paper of every measure and method that you report. ``results.bibtex()`` "
        'returns all these entries for your results, ``results.paragraph("methods")`` the text that cites them. A '
        "single paper is in the last line of a card (``dreval.card(name).reference``) and in the section References of "
        "each page."
    )
    entry = software_reference(dreval.__version__).bibtex()
    block = ".. code-block:: bibtex\n\n" + "\n".join(f"   {line}" for line in entry.splitlines())
    return page(title("How to cite"), words, block, plain(abstract))
