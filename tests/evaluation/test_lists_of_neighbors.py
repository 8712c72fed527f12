"""Evaluations of neighbor lists: rows, intervals, bounds and notes; AnnData, files and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, save_npz
from scipy.spatial.distance import cdist

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.inputs.data import as_data
from dreval.registry import MEASURES

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 4))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
DISTANCES = cdist(X, X)
np.fill_diagonal(DISTANCES, np.inf)
ORDER = np.argsort(DISTANCES, axis=1)
NUMBERS = ["value", "se", "conf_low", "conf_high", "chance", "worst", "best"]
MEASURES_OF_RANKS = ["trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "mrre_missing"]


def graph(k: int) -> Any:
    """Return the sparse matrix of the distances of the k nearest."""
    distances = np.take_along_axis(DISTANCES, ORDER[:, :k], axis=1)
    return csr_matrix((distances.ravel(), ORDER[:, :k].ravel(), np.arange(61) * k), (60, 60))


def table(data: Any, measures: Any = MEASURES_OF_RANKS, **options: Any) -> pd.DataFrame:
    """Return the rows of an evaluation by measure."""
    run_options = {key: options.pop(key) for key in ("ci",) if key in options}
    evaluation = dreval.Evaluation(data, {"e": Y}, random_state=0, **options)
    return evaluation.run(measures, tests=None, **run_options).table.set_index("measure")


@pytest.mark.slow
@pytest.mark.parametrize("anchors", [None, 25])
def test_full_lists_have_the_rows_of_the_data(anchors: int | None) -> None:
    """Value, interval, chance level and bounds over ties are those of the data, also from anchors."""
    rows = table(ORDER[:, :-1], metric="neighbors", anchors=anchors, n_neighbors=8)
    expected = table(X, anchors=anchors, n_neighbors=8)
    pd.testing.assert_frame_equal(rows[NUMBERS], expected[NUMBERS], check_exact=True)


def test_short_lists_have_exact_values_bounds_and_reasons() -> None:
    """Values of k < K are those of the data with the delete-one interval; other cells are missing with a reason."""
    rows, full = table(ORDER[:, :9], metric="neighbors", n_neighbors=8), table(X, n_neighbors=8, ci="jackknife")
    exact = ["continuity", "neighborhood_overlap", "mrre_missing"]
    assert rows.loc[exact, "value"].tolist() == full.loc[exact, "value"].tolist()
    for name in ("continuity", "neighborhood_overlap"):
        assert rows.loc[name, ["conf_low", "conf_high"]].tolist() == full.loc[name, ["conf_low", "conf_high"]].tolist()
        assert "too short on two thirds" in rows.loc[name, "note"]
    row = rows.loc["trustworthiness"]
    assert np.isnan(row[["value", "conf_low", "chance"]].astype(float)).all()
    assert row["worst"] < full.loc["trustworthiness", "value"] < row["best"]
    assert "only bounds" in row["note"]
    assert np.isnan(rows.loc["r_nx_auc", "conf_low"])
    assert "the area up to K = 9" in rows.loc["r_nx_auc", "note"]


def test_curves_have_bands_up_to_the_lists() -> None:
    """Curves end at K, and their bands below it: those of b_nx at the shortest lists without a group of points."""
    evaluation = dreval.Evaluation(ORDER[:, :12], {"e": Y}, metric="neighbors", random_state=0)
    results = evaluation.run(["b_nx", "r_nx"], None)
    for name, least in (("b_nx", 4), ("r_nx", 11)):
        curve, full = results.curve(name, bands=True), getattr(dreval, name)(X, Y)
        assert curve["value"].tolist() == full.loc[curve["K"]].tolist()
        ends = curve.loc[curve["conf_low"].notna(), "K"]
        assert curve["K"].max() == 12
        assert least <= ends.max() < 12


def test_an_interval_needs_one_neighbor_more() -> None:
    """At k = K the value is exact and has no interval, with the reason; the automatic k is below K."""
    row = table(ORDER[:, :8], ["continuity"], metric="neighbors", n_neighbors=8).loc["continuity"]
    assert row["value"] == dreval.continuity(X, Y, 8)
    assert np.isnan(row["conf_low"])
    assert "below the length of the shortest list" in row["note"]
    evaluation = dreval.Evaluation(ORDER[:, :8], {"e": Y}, metric="neighbors", random_state=0)
    assert evaluation.n_neighbors == [7]
    assert "one below the length of the shortest list (8)" in str(
        evaluation.run(["continuity"], None).summary(full=True)
    )


def test_long_lists_have_the_interval_of_the_cross_jackknife() -> None:
    """Where two thirds of the points keep enough neighbors, the interval is that of the data to the bit."""
    names = ["continuity", "neighborhood_overlap"]
    rows, full = (
        table(data, names, n_neighbors=3, **metric)
        for data, metric in ((ORDER[:, :40], {"metric": "neighbors"}), (X, {}))
    )
    pd.testing.assert_frame_equal(rows[NUMBERS], full[NUMBERS], check_exact=True)
    assert not rows["note"].str.contains("too short").any()


def test_all_other_measures_share_one_reason() -> None:
    """Measures without a value from lists have the same note, and no measure fails otherwise."""
    labels = np.arange(60) % 3
    rows = table(ORDER[:, :12], "all", metric="neighbors", n_neighbors=5, labels=labels, ci=None)
    reasons = set()
    for name, row in rows.iterrows():
        card = MEASURES.card(str(name))
        if card.level == "algorithm" or not card.reads_data:
            continue
        has_value = card.lists == "neighbors"
        assert np.isnan(row["value"]) != has_value, name
        if not has_value and not card.lists:
            reasons.add(row["note"])
    assert len(reasons) == 1
    assert "need distances or coordinates of the data" in reasons.pop()


def test_bounds_are_printed_as_bounds() -> None:
    """The table of the print and of the page has bounds in brackets, and no value of trustworthiness."""
    results = dreval.Evaluation(ORDER[:, :9], {"e": Y}, metric="neighbors", n_neighbors=8, random_state=0).run()
    row = results.table.set_index("measure").loc["trustworthiness"]
    text = f"[{row['worst']:.3f}, {row['best']:.3f}]".replace("0.", ".")
    line = next(line for line in str(results).splitlines() if line.startswith("Trustworthiness"))
    assert line.split(maxsplit=1)[1].strip() == text
    assert "in brackets bounds, no value" in " ".join(str(results).split())
    assert "Overlap up to K = 9" in str(results)
    assert "neighborhoods of most sizes" not in str(results).lower()


def test_methods_and_tests_of_the_data_are_refused() -> None:
    """No method is run on lists, tests against the data say why, and results of lists have no coordinates to give."""
    evaluation = dreval.Evaluation(ORDER[:, :9], {"e": Y, "p": "pca"}, metric="neighbors", random_state=0)
    with pytest.warns(dreval.errors.EmbeddingFailed, match="must be coordinates where metric='neighbors'"):
        results = evaluation.run(["continuity"], ["hsic:data"])
    row = results.table[(results.table["test"] == "hsic") & (results.table["embedding"] == "e")].iloc[0]
    assert "must not be 'neighbors' for hsic:data" in row["note"]
    with pytest.raises(InputError, match="must not be 'neighbors' here"):
        results.certificate("e")
    with pytest.raises(InputError, match="must hold all ranks"):
        results.plot("coranking")
    with pytest.raises(UndefinedMeasure, match="must be coordinates where metric='neighbors'"):
        dreval.noise_test(ORDER[:, :9], "pca", metric="neighbors")


def cells(**obsp: Any) -> Any:
    """Return an object with the attributes of AnnData."""
    names = pd.Index([f"cell{i}" for i in range(60)])
    obs = pd.DataFrame({"kind": np.arange(60) % 2}, index=names)
    return SimpleNamespace(
        X=X, obs=obs, obsm={"X_umap": Y}, obsp=obsp, obs_names=names, var_names=None, layers={}, uns={}
    )


def test_anndata_has_its_lists_in_obsp() -> None:
    """obsp["distances"] is the default, use_rep names another key; connectivities and unknown keys are refused."""
    connectivities = graph(9).maximum(graph(9).T)
    data = cells(distances=graph(9), k5=graph(5), connectivities=connectivities)
    evaluation = dreval.Evaluation(data, labels="kind", metric="neighbors", random_state=0)
    assert len(evaluation.names) == 1
    assert evaluation.data.list_length == 9
    assert evaluation.data.labels is not None
    assert as_data(data, metric="neighbors", use_rep="k5").list_length == 5
    with pytest.raises(InputError, match="a symmetric graph"):
        as_data(data, metric="neighbors", use_rep="connectivities")
    with pytest.raises(UnknownName, match="Did you mean 'distances'"):
        as_data(data, metric="neighbors", use_rep="distance")


def test_paths_of_anndata_say_what_they_are_over() -> None:
    """The points by their name; obsp["distances"] is named, in the printed result and as a warning of a function."""
    data = cells(distances=graph(9))
    for options, used in (({}, "X"), ({"use_rep": "X_umap"}, "obsm['X_umap']")):
        results = dreval.Evaluation(data, {"e": Y}, metric="geodesic", random_state=0, **options).run(
            "continuity", None
        )
        text = " ".join(str(results).split())
        assert f'computed from {used} of the AnnData object; its obsp["distances"] is not used' in text
    with pytest.warns(dreval.errors.InputWarning, match="is not used: pass adata.obsp"):
        dreval.continuity(data, Y, metric="geodesic")
    assert "geodesic.obsp_unused" not in [note.code for note in as_data(cells(), metric="geodesic").notes]


SHORT = np.where((np.arange(60)[:, None] == 3) & (np.arange(9) >= 6), -1, ORDER[:, :9])
PRINTED: dict[str, tuple[Any, str]] = {
    "padded": (SHORT, "1 of 60 lists of neighbors have entries without a neighbor (-1)"),
    "unequal": (SHORT, "k is at most 6, the length of the shortest one, also if it is the only one"),
    "gap": (SHORT[:, ::-1], "read as one place nearer"),
    "self behind": (np.c_[ORDER[:, :8], np.where(np.arange(60) < 3, np.arange(60), ORDER[:, 8])], "not in first place"),
    "NaN": (np.where(SHORT == -1, np.nan, SHORT), "without a neighbor (NaN)"),
    "self": (np.c_[np.arange(60), ORDER[:, :8]], "60 of 60 lists of neighbors hold the point itself"),
    "from 1": (ORDER[:, :9] + 1, "The neighbors are counted from 1"),
    "swapped": ((np.sort(DISTANCES, axis=1)[:, :9], ORDER[:, :9]), "The pair was read as (distances, indices)"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_guesses_on_lists_are_printed(case: str) -> None:
    """The short form says what was recognized, since it changes what was read."""
    data, text = PRINTED[case]
    results = dreval.Evaluation(data, {"e": Y}, metric="neighbors", random_state=0).run("continuity", None, None)
    assert text in " ".join(str(results).split())


def test_lists_in_another_order_than_the_map_are_matched_or_refused() -> None:
    """By names, where the numbers can only count the rows of the lists; refused where they may count those of the map.

    The same for the distances of an embedding.
    """
    names = pd.Index([f"p{i}" for i in range(60)])
    order = np.random.default_rng(2).permutation(60)
    lists, named = pd.DataFrame(ORDER[:, :9], index=names), pd.DataFrame(Y, index=names)
    expected = dreval.continuity(ORDER[:, :9], Y, 5, metric="neighbors")
    assert dreval.continuity(lists, named.iloc[order], 5, metric="neighbors") == expected
    shuffled = lists.iloc[order]
    with pytest.raises(InputError, match="`Y` must have its rows in the order of the lists"):
        dreval.continuity(shuffled, named, 5, metric="neighbors")
    assert dreval.continuity(shuffled.loc[named.index], named, 5, metric="neighbors") == expected
    first = pd.DataFrame(np.c_[np.arange(60), ORDER[:, :9]], index=names)
    assert dreval.continuity(first, named.iloc[order], 5, metric="neighbors") == expected
    distances = pd.DataFrame(cdist(Y, Y), index=names, columns=names).iloc[order, order]
    options = {"metric": "neighbors", "embedding_metric": "precomputed"}
    assert dreval.continuity(lists, distances, 5, **options) == expected
    with pytest.raises(InputError, match="in the order of the lists"):
        dreval.Evaluation(shuffled, {"e": distances.loc[names, names]}, **options).run("continuity", None, None)


def test_functions_warn_of_guesses_on_lists() -> None:
    """Numbers have no notes."""
    for data, text in ((ORDER[:, :9] + 1, "counted from 1"), (SHORT[:, ::-1], "one place nearer")):
        with pytest.warns(dreval.errors.InputWarning, match=text):
            dreval.continuity(data, Y, 5, metric="neighbors")


def test_files_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sparse .npz file, a .npy file of numbers and a .csv file give the same value in a shell."""
    save_npz(tmp_path / "graph.npz", graph(9))
    np.save(tmp_path / "numbers.npy", ORDER[:, :9])
    np.savetxt(tmp_path / "numbers.csv", ORDER[:, :9], fmt="%d", delimiter=",")
    np.save(tmp_path / "map.npy", Y)
    for name in ("graph.npz", "numbers.npy", "numbers.csv"):
        command = ["evaluate", str(tmp_path / name), "-e", f"map={tmp_path / 'map.npy'}", "--metric", "neighbors"]
        assert main([*command, "--measures", "continuity", "--n-neighbors", "8", "--ci", "none", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["table"]
        assert [row["value"] for row in rows] == [dreval.continuity(X, Y, 8)]


def test_a_saved_result_keeps_its_lists(tmp_path: Path) -> None:
    """A result reads its lists again where it needs them, and can be saved and loaded."""
    results = dreval.Evaluation(graph(9), {"e": Y}, metric="neighbors", random_state=0).run(["continuity"], None)
    assert results._checked_data(results.data).sha256 == results.recipe["data_sha256"]
    results.save(tmp_path / "lists.dreval")
    loaded = dreval.load_results(tmp_path / "lists.dreval")
    assert loaded.recipe["metric"] == "neighbors"
    pd.testing.assert_frame_equal(loaded.table, results.table)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["groups", "subsampling"])
def test_intervals_from_parts_of_the_points(setting: str) -> None:
    """Parts of the points have shorter lists: full ones have the numbers of the data, others values or a reason."""
    names = [*MEASURES_OF_RANKS, "b_nx"]
    options: dict[str, Any] = {"n_neighbors": 3}
    options |= {"groups": np.arange(60) % 10} if setting == "groups" else {"ci": "subsampling"}
    full, lists, short = (
        table(data, names, **options, **metric)
        for data, metric in (
            (X, {}),
            (ORDER[:, :-1], {"metric": "neighbors"}),
            (ORDER[:, :25], {"metric": "neighbors"}),
        )
    )
    pd.testing.assert_frame_equal(lists[NUMBERS], full[NUMBERS], check_exact=True)
    exact = ["continuity", "neighborhood_overlap", "mrre_missing"]
    pd.testing.assert_frame_equal(short.loc[exact, NUMBERS[:5]], full.loc[exact, NUMBERS[:5]], check_exact=True)
    assert np.isnan(short.loc["r_nx_auc", "conf_low"])
    assert "with fewer points the lists of neighbors end before K = 25" in short.loc["r_nx_auc", "note"]


@pytest.mark.slow
def test_anchors_among_very_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the ranks of the data would be sampled, those of lists are exact: the curve has its values at its K."""
    options: dict[str, Any] = {"n_neighbors": 8, "anchors": 25, "random_state": 0}
    names = ["continuity", "neighborhood_overlap", "r_nx", "r_nx_auc"]
    usual = dreval.Evaluation(ORDER[:, :9], {"e": Y}, metric="neighbors", **options).run(names, None)
    monkeypatch.setattr("dreval.geometry.blocks.ALL_RANKS", 40)
    streamed = dreval.Evaluation(ORDER[:, :9], {"e": Y}, metric="neighbors", **options).run(names, None)
    columns = ["measure", "value"]
    pd.testing.assert_frame_equal(streamed.table[columns], usual.table[columns])
    curve = streamed.curve("r_nx", bands=True)
    assert curve["K"].tolist() == list(range(1, 10))
    assert curve["value"].tolist() == usual.curve("r_nx", bands=True)["value"].tolist()
