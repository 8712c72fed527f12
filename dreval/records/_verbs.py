"""The verbs of records that live higher up in the house, each with the function it calls.

This is the one place where a lower room names a higher one: a record prints, draws and compares itself for its user's
convenience. Code of the house calls the functions, never the verbs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from dreval._check import keywords_checked, no_attribute

VERBS = {
    "Certificate.summary": "dreval.report.contents.tests:certificate_summary",
    "Certificate.verdict": "dreval.report.contents.tests:certificate_verdict",
    "Comparison.bibtex": "dreval.report.contents.methods:bibtex",
    "Comparison.paragraph": "dreval.report.contents.paragraph:paragraph",
    "Comparison.plot": "dreval.report.plot:plot_comparison",
    "Comparison.report": "dreval.report.compared:write_comparison",
    "Comparison.summary": "dreval.report.contents.comparison:comparison_summary",
    "CostEstimate.summary": "dreval.report.contents.single:cost_summary",
    "Dataset.summary": "dreval.report.contents.single:dataset_summary",
    "Embedding.embedding_map": "dreval.geometry.rkhs:embedding_map",
    "Embedding.reconstruction_map": "dreval.geometry.rkhs:reconstruction_map",
    "Embedding.summary": "dreval.report.contents.single:embedding_summary",
    "Evaluation.summary": "dreval.report.contents.single:evaluation_preview",
    "IndependenceTest.plot": "dreval.report.figures._nulls:null_histogram",
    "IndependenceTest.summary": "dreval.report.contents.tests:test_summary",
    "IntrinsicDimension.plot": "dreval.report.figures._dimension:draw_intrinsic_dimension",
    "IntrinsicDimension.summary": "dreval.report.contents.dimension:intrinsic_dimension_summary",
    "KernelMap.summary": "dreval.report.contents.single:map_summary",
    "LocalDistortion.summary": "dreval.report.contents.single:scores_summary",
    "MeasureRecord.summary": "dreval.report.contents.single:measure_summary",
    "Method.summary": "dreval.report.contents.single:method_summary",
    "ParallelAnalysis.plot": "dreval.report.figures._dimension:draw_parallel_analysis",
    "ParallelAnalysis.summary": "dreval.report.contents.dimension:parallel_analysis_summary",
    "PerplexityCurve.plot": "dreval.report.figures._perplexity:draw_perplexity_curve",
    "PerplexityCurve.summary": "dreval.report.contents.single:perplexity_summary",
    "PerturbationScore.summary": "dreval.report.contents.single:scores_summary",
    "PointScores.plot": "dreval.report.figures._points:scores_map",
    "ProtocolStatus.summary": "dreval.report.contents.status:protocol_summary",
    "NoiseTest.plot": "dreval.report.figures._points:noise_map",
    "NoiseTest.summary": "dreval.report.contents.tests:noise_summary",
    "Results.bibtex": "dreval.report.contents.methods:bibtex",
    "Results.certificate": "dreval.significance._certificate:certify",
    "Results.compare": "dreval.comparison.across:compare",
    "Results.data": "dreval.inputs.data:as_data",
    "Results.paragraph": "dreval.report.contents.paragraph:paragraph",
    "Results.plot": "dreval.report.plot:plot",
    "Results.ranking": "dreval.comparison.ranking:ranking",
    "Results.report": "dreval.report.page:write_report",
    "Results.save": "dreval.records.archive:save_results",
    "Results.summary": "dreval.report.contents.evaluation:summarize",
    "Results.to_anndata": "dreval.records.annotated:annotate",
    "Results.to_html": "dreval.report.contents.table:to_html",
    "Results.to_latex": "dreval.report.contents.table:to_latex",
    "Results.to_markdown": "dreval.report.contents.table:to_markdown",
    "Sensitivity.plot": "dreval.report.figures._lines:sensitivity_curve",
    "Sensitivity.summary": "dreval.report.contents.tests:sensitivity_summary",
    "SingularityScore.summary": "dreval.report.contents.single:scores_summary",
    "Stability.plot": "dreval.report.figures._points:stability_figure",
    "Stability.summary": "dreval.report.contents.single:measure_summary",
    "Study.plot": "dreval.report.plot:plot_study",
    "Study.report": "dreval.report.studies:write_study",
    "StudyStatus.summary": "dreval.report.contents.status:study_summary",
    "Sweep.plot": "dreval.report.figures._sweep:draw_sweep",
    "Sweep.report": "dreval.report.swept:write_sweep",
    "Sweep.save": "dreval.records.archive:save_sweep",
    "Sweep.summary": "dreval.report.contents.sweep:sweep_summary",
}


def call(verb: str, *arguments: Any, **options: Any) -> Any:
    """What the function behind a verb gives; its module is imported only now."""
    return function(verb)(*arguments, **options)


def function(verb: str) -> Any:
    """The function behind a verb."""
    module, _, name = VERBS[verb].partition(":")
    return getattr(import_module(module), name)


class Summary(Protocol):
    """A printed result: ``str()`` gives text for 80 columns, the other verbs the same content in other forms."""

    def as_text(self) -> str:
        """Plain text, for a terminal of 80 columns."""
        ...

    def as_markdown(self) -> str:
        """Markdown, with the tables of GitHub."""
        ...

    def as_html(self) -> str:
        """A part of a page."""
        ...

    def as_latex(self, label: str | None = None) -> str:
        """Tables with captions and labels, for a LaTeX document."""
        ...


@keywords_checked
class Record:
    """What was computed: ``print`` shows its summary, and a notebook shows it as HTML."""

    def summary(self) -> Summary:
        """The printed record.

        Returns
        -------
        Summary
            ``str()`` of it is text for 80 columns; ``as_html()``, ``as_latex()``, ``as_markdown()`` give the rest.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> str(dreval.embed(X, "pca").summary()).splitlines()[0].strip()
        'Embedding'
        """
        made: Summary = call(f"{type(self).__name__}.summary", self)
        return made

    if not TYPE_CHECKING:  # a type checker must go on refusing attributes that are not there

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name)

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
