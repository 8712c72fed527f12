"""New points of an evaluation: the values of `out_of_sample` called by hand, however their coordinates come about."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError, InputWarning, UnknownName
from dreval.evaluation.new_points import left_out_rows
from dreval.inputs.data import as_data
from dreval.records.frames import notes_of_table

RNG = np.random.default_rng(0)
COLUMNS = ["a", "b", "c", "d", "e"]
X = pd.DataFrame(RNG.normal(size=(90, 5)), [f"p{i}" for i in range(90)], COLUMNS)
NEW = pd.DataFrame(RNG.normal(size=(20, 5)), [f"q{i}" for i in range(20)], COLUMNS)
ROTATION = np.linalg.qr(RNG.normal(size=(5, 5)))[0][:, :2]


class Projection:
    """A fitted map to two columns, with the interface of an estimator; `shift` is learned from the data."""

    def fit(self, X: Any) -> Projection:
        self.shift_ = np.array(X, order="C").mean(axis=0)
        return self

    def transform(self, X: Any) -> np.ndarray:
        return (np.array(X, order="C") - self.shift_) @ ROTATION


class BrokenTransform(Projection):
    """An estimator whose transform works for the data it was fitted to alone."""

    def transform(self, X: Any) -> np.ndarray:
        if not np.allclose(np.mean(X, axis=0), self.shift_):
            raise RuntimeError("cannot place new points")
        return super().transform(X)


def project(X: Any, n_components: int, X_new: Any = None) -> Any:
    """Embed the data and new points by one function."""
    fitted = Projection().fit(X)
    return fitted.transform(X) if X_new is None else (fitted.transform(X), fitted.transform(X_new))


FITTED = Projection().fit(X)
Y, Y_NEW = FITTED.transform(X), FITTED.transform(NEW)


def evaluate(data: Any, embeddings: Any, measures: Any = "continuity", **settings: Any) -> dreval.Results:
    settings = {"random_state": 0, **settings}
    return dreval.Evaluation(data, embeddings, **settings).run(measures, tests=None, ci=None)


def assert_same(left: Any, right: Any, *, ids: bool = True) -> None:
    """Two records have equal values, to the last bit."""
    pd.testing.assert_frame_equal(left.table, right.table, check_exact=True)
    points = [record.points if ids else record.points.drop(columns="id") for record in (left, right)]
    pd.testing.assert_frame_equal(*points, check_exact=True)
    np.testing.assert_array_equal(left.reference, right.reference)


def notes(results: dreval.Results, code: str = "new.") -> list[Any]:
    return [note for note in notes_of_table(results.notes) if note.code.startswith(code)]


def by_hand(**settings: Any) -> Any:
    return dreval.out_of_sample(X, Y, NEW, Y_NEW, **settings)


def doors(folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same map of data and new points in every form: the embedding, and the settings of the new points."""
    pd.DataFrame(Y, X.index).to_csv(folder / "map.csv")
    NEW.to_csv(folder / "query.csv")
    pd.DataFrame(Y_NEW, NEW.index, ["u", "v"]).sample(frac=1, random_state=0).to_csv(folder / "new.csv")
    shuffled = pd.DataFrame(Y_NEW, NEW.index).iloc[::-1]
    coordinates = {"embedding": Y}
    return {
        "arrays": (coordinates, {"new_data": NEW, "new": {"embedding": Y_NEW}}),
        "one table": (coordinates, {"new_data": NEW, "new": Y_NEW}),
        "frame in another order": (coordinates, {"new_data": NEW, "new": {"embedding": shuffled}}),
        "columns in another order": (coordinates, {"new_data": NEW[COLUMNS[::-1]], "new": Y_NEW}),
        "files": (folder / "map.csv", {"new_data": folder / "query.csv", "new": {"embedding": folder / "new.csv"}}),
        "function of new rows": (coordinates, {"new_data": NEW, "new": {"embedding": FITTED.transform}}),
        "fitted estimator": (coordinates, {"new_data": NEW, "new": {"embedding": FITTED}}),
        "estimator": (Projection(), {"new_data": NEW}),
        "callable": (project, {"new_data": NEW}),
    }


def test_values_are_those_of_out_of_sample_on_all_doors(tmp_path: Path) -> None:
    expected = by_hand()
    for door, (embeddings, settings) in doors(tmp_path).items():
        record = evaluate(X, embeddings, **settings)["embedding"].out_of_sample
        assert_same(record, expected), door
        assert list(record.points["id"]) == list(NEW.index), door


def test_bundled_methods_embed_new_points_by_the_fit_of_the_run() -> None:
    results = evaluate(X, {"pca": "pca", "isomap": "isomap"}, new_data=NEW)
    for name in ("pca", "isomap"):
        expected = dreval.out_of_sample(X, results.embeddings[name], NEW, results[name].out_of_sample.coordinates)
        assert_same(results[name].out_of_sample, expected)
    fitted = dreval.methods.PCA().fit(X.to_numpy())
    np.testing.assert_allclose(results["pca"].out_of_sample.coordinates, fitted.transform(NEW.to_numpy()), atol=1e-12)


@pytest.mark.slow
def test_scikit_learn_estimators() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), decomposition.PCA(2))
    results = evaluate(X, {"pca": model}, new_data=NEW)
    fitted = model.fit(X.to_numpy())
    expected = dreval.out_of_sample(X, fitted.transform(X.to_numpy()), NEW, fitted.transform(NEW.to_numpy()))
    np.testing.assert_allclose(results["pca"].out_of_sample.table["value"], expected.table["value"], atol=1e-12)


@pytest.mark.doors
def test_cells_use_the_array_of_the_same_key() -> None:
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X, obsm={"X_umap": Y})
    query = anndata.AnnData(NEW[COLUMNS[::-1]], obsm={"X_umap": Y_NEW})
    results = evaluate(cells, "X_umap", new_data=query)
    assert_same(results["X_umap"].out_of_sample, by_hand())
    assert [(note.code, note.scope) for note in notes(results, "new.stored")] == [("new.stored", "X_umap")]


def test_other_values_do_not_change() -> None:
    embeddings = {"pca": "pca", "given": Y}
    plain = evaluate(X, embeddings, "default")
    with_new = evaluate(X, embeddings, "default", new_data=NEW, new={"given": Y_NEW})
    left_out = evaluate(X, {"pca": "pca", "given": Y}, "default", new=0.2)
    for results in (with_new, left_out):
        pd.testing.assert_frame_equal(results.table.drop(columns="seconds"), plain.table.drop(columns="seconds"))
        np.testing.assert_array_equal(results.embeddings["pca"], plain.embeddings["pca"])


# Rows that are left out of a further fit.


def split_by_hand(share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    left_out = left_out_rows(as_data(X), share, seed)
    return np.setdiff1d(np.arange(len(X)), left_out), left_out


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5])
def test_left_out_rows_are_new_points_of_a_fit_to_the_others(share: float) -> None:
    rows, left_out = split_by_hand(share)
    assert len(left_out) == max(round(share * 90), 1)
    fitted = Projection().fit(X.iloc[rows])
    parts = [X.iloc[rows], fitted.transform(X.iloc[rows]), X.iloc[left_out], fitted.transform(X.iloc[left_out])]
    record = evaluate(X, Projection(), new=share)["embedding"].out_of_sample
    assert_same(record, dreval.out_of_sample(*parts))
    assert list(record.points["id"]) == list(X.index[left_out])


def test_left_out_rows_calibrate_new_data() -> None:
    rows, left_out = split_by_hand(0.4)
    fitted = Projection().fit(X.iloc[rows])
    held_out = X.iloc[left_out], fitted.transform(X.iloc[left_out])
    parts = [X.iloc[rows], fitted.transform(X.iloc[rows]), NEW, fitted.transform(NEW)]
    expected = dreval.out_of_sample(*parts, calibration=held_out, random_state=0)
    record = evaluate(X, Projection(), new_data=NEW, new=0.4)["embedding"].out_of_sample
    assert record.has_conformal
    assert record.recipe["n_calibration"] == len(left_out)
    assert_same(record, expected)


@pytest.mark.slow
def test_left_out_rows_depend_on_the_seed_alone() -> None:
    embeddings = {"umap": "umap", "pca": "pca"}
    records = [evaluate(X, embeddings, new=0.2, n_jobs=n_jobs)["umap"].out_of_sample for n_jobs in (1, 2, None)]
    for record in records[1:]:
        assert_same(record, records[0])
    alone = evaluate(X, {"umap": "umap"}, "trustworthiness", new=0.2)["umap"].out_of_sample
    assert_same(alone, records[0])
    other = evaluate(X, {"pca": "pca"}, new=0.2, random_state=1)["pca"].out_of_sample
    assert set(other.points["id"]) != set(alone.points["id"])


def test_whole_groups_are_left_out() -> None:
    groups = np.repeat(np.arange(15), 6)
    record = evaluate(X.reset_index(drop=True), Projection(), groups=groups, new=0.4)["embedding"].out_of_sample
    ids = record.points["id"].to_numpy()
    assert record.recipe["groups"]["count"] == 6
    assert np.bincount(groups[ids], minlength=15).tolist() == [6 * (g in groups[ids]) for g in range(15)]


def test_groups_of_another_length_name_the_new_points() -> None:
    """The points that are meant are the new ones, not those of the data."""
    for data, new, metric in ((X, NEW, "euclidean"), (cdist(X, X), cdist(NEW, X), "precomputed")):
        with pytest.raises(InputError, match="`groups` must have one row per point of `X_new`: got 19 rows for 20"):
            dreval.out_of_sample(data, Y, new, Y_NEW, groups=["a"] * 19, metric=metric)


def test_groups_of_new_data_are_the_column_of_the_same_name() -> None:
    donors, donors_new = np.repeat(list("abcdefghi"), 10), np.repeat(list("vwxyz"), 4)
    data, new = X.assign(donor=donors), NEW.assign(donor=donors_new)
    record = evaluate(data, project, groups="donor", new_data=new)["embedding"].out_of_sample
    assert_same(record, by_hand(groups=donors_new))
    results = evaluate(data, project, groups="donor", new_data=NEW)
    assert_same(results["embedding"].out_of_sample, by_hand())
    assert len(notes(results, "new.no_groups")) == 1
    results = evaluate(data, project, groups="donor", new_data=NEW.assign(donor="one"))
    assert_same(results["embedding"].out_of_sample, by_hand())
    assert len(notes(results, "new.one_group")) == 1


# Kinds of data.


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "correlation"])
def test_metrics(metric: str) -> None:
    record = evaluate(X, Y, metric=metric, new_data=NEW, new=Y_NEW)["embedding"].out_of_sample
    assert_same(record, by_hand(metric=metric))


def test_sparse_data() -> None:
    sparse, new = csr_array(X.clip(lower=0).to_numpy()), csr_array(NEW.clip(lower=0).to_numpy())
    dense = evaluate(sparse.toarray(), Y, new_data=new.toarray(), new=Y_NEW)["embedding"].out_of_sample
    for rows in (new, new.toarray()):
        assert_same(evaluate(sparse, Y, new_data=rows, new=Y_NEW)["embedding"].out_of_sample, dense)


class FromDistances:
    """An estimator that reads distances: its map are those to the first two points that were fitted."""

    metric = "precomputed"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"metric": self.metric}

    def set_params(self, **params: Any) -> FromDistances:
        return self

    def fit(self, D: Any) -> FromDistances:
        return self

    def transform(self, D: Any) -> np.ndarray:
        return np.asarray(D)[:, :2]


def test_distances() -> None:
    D, D_new = cdist(X, X), cdist(NEW, X)
    record = evaluate(D, Y, metric="precomputed", new_data=D_new, new=Y_NEW)["embedding"].out_of_sample
    pd.testing.assert_frame_equal(record.table, by_hand().table)
    rows, left_out = split_by_hand(0.2)
    record = evaluate(D, FromDistances(), metric="precomputed", new=0.2)["embedding"].out_of_sample
    part, between = D[np.ix_(rows, rows)], D[np.ix_(left_out, rows)]
    expected = dreval.out_of_sample(part, part[:, :2], between, between[:, :2], metric="precomputed")
    assert_same(record, expected, ids=False)


def test_one_new_point() -> None:
    record = evaluate(X, project, new_data=NEW[:1])["embedding"].out_of_sample
    assert_same(record, dreval.out_of_sample(X, Y, NEW[:1], Y_NEW[:1]))


def test_anchors_are_a_note_of_the_record() -> None:
    record = evaluate(X, Y, anchors=40, new_data=NEW, new=Y_NEW)["embedding"].out_of_sample
    expected = by_hand()
    for name in ("value", "se", "conf_low", "conf_high", "chance"):
        pd.testing.assert_series_equal(record.table[name], expected.table[name], check_exact=True)
    assert [note.code for note in record.notes if note.code == "new.anchors"] == ["new.anchors"]


@pytest.mark.parametrize(("n_neighbors", "k"), [(5, 5), ([5, 15, 30], 15), ([4, 8, 12], 8), ("auto", 15)])
def test_number_of_neighbors_is_that_of_the_first_table(n_neighbors: Any, k: int) -> None:
    record = evaluate(X, Y, "stress", n_neighbors=n_neighbors, new_data=NEW, new=Y_NEW)["embedding"].out_of_sample
    assert_same(record, by_hand(n_neighbors=k))
    texts = [str(note) for note in record.notes if note.code == "new.one_number"]
    numbers = {"[5, 15, 30]": "5, 15 and 30", "[4, 8, 12]": "4, 8 and 12"}.get(str(n_neighbors))
    expected = f"New points are compared with k = {k} alone, not with each of {numbers} neighbors."
    assert texts == ([expected] if numbers else [])


@given(st.permutations(range(20)), st.permutations(COLUMNS), st.booleans())
def test_orders_of_rows_and_columns_change_nothing(rows: list[int], columns: list[str], extra: bool) -> None:
    new = NEW.iloc[rows][columns].assign(**({"kind": "cell"} if extra else {}))
    results = evaluate(X, {"given": Y, "run": project}, new_data=new, new={"given": pd.DataFrame(Y_NEW, NEW.index)})
    expected = by_hand().points.set_index("id").loc[new.index]
    for name in results:
        points = results[name].out_of_sample.points.set_index("id")
        pd.testing.assert_frame_equal(points, expected, check_exact=True, check_names=False)
    assert len(notes(results, "new.columns_unused")) == extra


# Bad input: one clear error or note each, and nothing that was computed is lost.


def test_embeddings_without_new_points_have_a_note() -> None:
    results = evaluate(X, {"pca": "pca", "sammon": "sammon", "given": Y}, new_data=NEW)
    assert list(results._out_of_sample) == ["pca"]
    reasons = {note.scope: str(note) for note in notes(results)}
    assert "sammon has no transform" in reasons["sammon"]
    assert "{'sammon': Y} with new={'sammon': Y_new}" in reasons["sammon"]
    assert "coordinates only" in reasons["given"]
    for name in ("sammon", "given"):
        with pytest.raises(InputError, match="got one without them"):
            _ = results[name].out_of_sample
    with pytest.raises(InputError, match="an evaluation without new points"):
        _ = evaluate(X, Y)["embedding"].out_of_sample


def test_a_failed_transform_loses_nothing() -> None:
    plain = evaluate(X, {"broken": BrokenTransform(), "given": Y})
    with pytest.warns(InputWarning, match="broken: No values of the new points: .*cannot place new points"):
        results = evaluate(
            X, {"broken": BrokenTransform(), "given": Y}, new_data=NEW, new={"given": lambda rows: rows @ ROTATION}
        )
    pd.testing.assert_frame_equal(results.table.drop(columns="seconds"), plain.table.drop(columns="seconds"))
    assert list(results._out_of_sample) == ["given"]
    assert [(note.code, note.scope) for note in notes(results, "new.failed")] == [("new.failed", "broken")]
    with pytest.raises(InputError, match="cannot place new points"):
        _ = results["broken"].out_of_sample


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: rows[:, :3], "must have the 2 columns"),
        (lambda rows: rows[:5, :2], "must have one row per point"),
        (lambda _: np.full((20, 2), np.nan), "must be finite"),
        (lambda _: None, "got None"),
    ],
)
def test_a_wrong_result_of_a_function_is_a_note(function: Any, message: str) -> None:
    with pytest.warns(InputWarning, match=message):
        results = evaluate(X, {"given": Y, "pca": "pca"}, new_data=NEW, new={"given": function})
    assert list(results._out_of_sample) == ["pca"]


def test_wrong_columns_of_a_transform_are_a_note() -> None:
    class Wide(Projection):
        def transform(self, X: Any) -> np.ndarray:
            values = super().transform(X)
            return values if len(X) == 90 else np.c_[values, values]

    with pytest.warns(InputWarning, match="must return the 2 columns of the embedding"):
        results = evaluate(X, {"wide": Wide(), "pca": "pca"}, new_data=NEW)
    assert list(results._out_of_sample) == ["pca"]


WITHOUT_COLUMN = NEW.drop(columns="c")
WITH_GAP = NEW.assign(b=[np.nan, *[0.0] * 19])
OTHER_IDS = pd.DataFrame(Y_NEW, ["z0", *NEW.index[1:]])
REFUSED = {
    "no column": ({"new_data": WITHOUT_COLUMN, "new": Y_NEW}, "`new_data` must have the columns .* no column 'c'"),
    "width": (
        {"new_data": NEW.to_numpy()[:, :4], "new": Y_NEW},
        "`new_data` must have the 5 columns",
    ),
    "gap": ({"new_data": WITH_GAP, "new": Y_NEW}, "`new_data` must be finite: got NaN in row 0, column 'b'"),
    "text": ({"new_data": NEW.assign(b="x"), "new": Y_NEW}, "`new_data` must hold numbers"),
    "gap in coordinates": ({"new_data": NEW, "new": np.where(Y_NEW > 1, np.nan, Y_NEW)}, "embedding.* must be finite"),
    "other ids": ({"new_data": NEW, "new": OTHER_IDS}, "must have the same ids as `new_data`.*'q0' only in `new_data`"),
    "rows": ({"new_data": NEW, "new": Y_NEW[:7]}, "must have one row per point of `new_data`: got 7 rows for 20"),
    "components": ({"new_data": NEW, "new": Y_NEW[:, :1]}, "must have the 2 columns of the map of the data: got 1"),
    "no rows": ({"new": {"embedding": Y_NEW}}, "`new` must come with the new rows"),
    "unknown name": ({"new_data": NEW, "new": {"embeding": Y_NEW}}, "Did you mean 'embedding'"),
    "no estimator": ({"new_data": NEW, "new": {"embedding": object()}}, r"new\['embedding'\]"),
    "no coordinates": ({"new_data": NEW}, "coordinates only"),
    "share of coordinates": ({"new": 0.2}, "`new` must come with an embedding of new points.*coordinates only"),
    "share": ({"new": 1.0}, "must be a share of the rows, between 0 and 1"),
    "negative share": ({"new": -0.1}, "must be a share of the rows, between 0 and 1"),
    "no share": ({"new": float("nan")}, "must be a share of the rows, between 0 and 1"),
    "truth value": ({"new_data": NEW, "new": True}, "`new` must be a dict"),
}


@pytest.mark.parametrize("settings", REFUSED)
def test_refused(settings: str) -> None:
    arguments, message = REFUSED[settings]
    with pytest.raises((InputError, UnknownName), match=message):
        evaluate(X, Y, **arguments)


def test_coordinates_of_another_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"'pca', which the run fits: they are of another fit.*its transform"):
        evaluate(X, {"pca": "pca"}, new_data=NEW, new={"pca": Y_NEW})
    with pytest.raises(InputError, match=r"'sammon', which the run fits.*Pass its coordinates of the data, too"):
        evaluate(X, {"sammon": "sammon"}, new_data=NEW, new={"sammon": Y_NEW})


def test_rows_of_a_map_that_is_not_fitted_cannot_be_left_out() -> None:
    class Map:
        def transform(self, X: Any) -> np.ndarray:
            return FITTED.transform(X)

    assert_same(evaluate(X, Map(), new_data=NEW)["embedding"].out_of_sample, by_hand())
    with pytest.raises(InputError, match="is not fitted by the run"):
        evaluate(X, Map(), new=0.2)


def test_a_share_that_leaves_too_few_rows_is_refused() -> None:
    with pytest.raises(InputError, match="must leave more than 15 rows to a fit, as many as neighbors: got 9"):
        evaluate(X, "pca", n_neighbors=15, new=0.9)


def cells(X: Any, **arrays: Any) -> Any:
    """Return an object with the attributes of AnnData."""
    fields = {"obs": pd.DataFrame(index=X.index), "obs_names": X.index, "var_names": X.columns}
    return SimpleNamespace(X=X.to_numpy(), obsm=arrays, layers={}, raw=None, **fields)


def test_stored_coordinates_with_the_name_of_a_method_are_named() -> None:
    """The error says what was read, and how the method is run."""
    data = cells(X, X_pca=X.to_numpy())
    message = r"'pca' is read as the stored coordinates obsm\['X_pca'\]; 'method:pca' runs the method"
    for settings in ({"new": 0.2}, {"new_data": cells(NEW)}):
        with pytest.raises(InputError, match=message):
            evaluate(data, {"pca": "pca"}, **settings)
    assert "method" in evaluate(data, {"method": "method:pca"}, new=0.2)._out_of_sample


def test_new_data_without_the_array_of_the_data_are_refused() -> None:
    data, query = cells(X, X_pca=X.to_numpy(), X_umap=Y), cells(NEW, X_umap=Y_NEW)
    with pytest.raises(UnknownName, match=r"`new_data` must have the matrix of use_rep='X_pca', as the data: got none"):
        evaluate(data, "X_umap", use_rep="X_pca", new_data=query)


def test_columns_of_an_embedding_are_matched_by_name() -> None:
    """Swapped columns change nothing, and other names are refused before anything is computed or noted."""
    embedding = {"map": pd.DataFrame(Y, X.index, ["u", "v"])}
    swapped, others = (pd.DataFrame(Y_NEW, NEW.index, names) for names in (["u", "v"], ["x", "y"]))
    expected = evaluate(X, embedding, new_data=NEW, new=Y_NEW)["map"].out_of_sample
    assert_same(evaluate(X, embedding, new_data=NEW, new=swapped[["v", "u"]])["map"].out_of_sample, expected)
    results = evaluate(X, embedding, new_data=NEW, new=others)
    assert_same(results["map"].out_of_sample, expected)
    assert [note.scope for note in notes(results, "new.map_columns")] == ["map"]
    with pytest.raises(InputError, match=r"must have the columns of the map, 'u', 'v': got 'u', 'w'"):
        evaluate(X, embedding, new_data=NEW, new=swapped.set_axis(["u", "w"], axis=1))


def test_a_share_that_lowers_the_number_of_neighbors_is_noted() -> None:
    record = evaluate(X, "pca", new=0.9)["pca"].out_of_sample
    assert [str(note) for note in record.notes if note.code == "neighbors.auto"] == [
        'n_neighbors="auto" is 4 for 9 points; it is 15 for 31 points or more.'
    ]


def test_a_share_of_few_groups_says_what_is_missing(tmp_path: Path) -> None:
    """On the page: new points of one or two groups have no interval, and left-out rows are no calibration."""
    groups, new_groups = [f"d{i % 8}" for i in range(90)], [f"n{i % 6}" for i in range(20)]
    data, query = X.assign(donor=groups), NEW.assign(donor=new_groups)
    results = evaluate(data, {"pca": "pca"}, new=0.2, groups="donor")
    page = " ".join(results.report(tmp_path / "page.html").read_text().split())
    assert "There is no interval: the new points are of 2 groups, and at least 5 are needed." in page
    for rows in (query, NEW):
        with pytest.raises(InputError, match="`new` must not be a share for new points with groups"):
            dreval.Evaluation(data, {"pca": "pca"}, new=0.2, groups="donor", new_data=rows)


def test_the_print_says_that_left_out_rows_are_not_fitted() -> None:
    """The reference points are those of the further fit: in the short form, in the record and in its note."""
    results = evaluate(X, {"pca": "pca"}, "neighborhood_overlap", new=0.3, new_data=NEW)
    record = results["pca"].out_of_sample
    sentence = "Fitted without 30 % of the rows: the reference points are the other 63."
    for text in (str(results), str(record), str(results.summary(full=True))):
        assert sentence in " ".join(text.split())
    assert record.recipe["n"] == 63
    assert "without 27 of 90 rows: the reference points are the other 63" in " ".join(map(str, record.notes))
    assert "No new point is flagged." in " ".join(str(results).split())
    unseen = np.linalg.svd(X - X.mean())[2][-1]  # the direction that a plane of principal components shows least
    far = X.mean() + NEW * 0 + 30 * unseen * np.where(np.arange(20) % 2, 1, -1)[:, None]
    flagged = evaluate(X, {"pca": "pca"}, "neighborhood_overlap", new=0.3, new_data=far)
    assert flagged["pca"].out_of_sample.flagged.any()
    assert "['pca'].out_of_sample.augment()." in " ".join(str(flagged).split())
    whole = evaluate(X, {"pca": "pca"}, "neighborhood_overlap", new_data=NEW)
    assert "Fitted without" not in str(whole)
    assert "needs held-out points: pass new=0.2." in " ".join(str(whole).split())


def test_the_print_has_the_measures_of_the_run() -> None:
    """Trustworthiness and continuity alone: their values of new points, and not the overlap."""
    results = evaluate(X, {"pca": "pca"}, ["trustworthiness", "continuity"], new_data=NEW)
    table = results["pca"].out_of_sample.table.set_index("measure")
    values = [
        f"{name} {table.loc[name, 'value']:.3f} (fitted points {table.loc[name, 'in_sample']:.3f})".replace(" 0.", " .")
        for name in ("trustworthiness", "continuity")
    ]
    short = " ".join(str(results).split())
    assert f"For 20 new points (k = 15), pca has {' and '.join(values)}." in short
    assert "keeps" not in short


def test_cosine_distances_on_the_map_have_their_cure() -> None:
    """Rows of length 1 have Euclidean distances in the order of cosine distances."""
    with pytest.raises(InputError, match="Divide each row of the embedding, and of its new points, by its length"):
        dreval.Evaluation(X, {"e": Y}, new_data=NEW, new={"e": Y_NEW}, embedding_metric="cosine")
    unit, unit_new = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (Y, Y_NEW))
    record = dreval.out_of_sample(X, unit, NEW, unit_new, n_neighbors=10)
    nearest = [np.argsort(d, axis=1)[:, :10] for d in (cdist(NEW, X), cdist(Y_NEW, Y, "cosine"))]
    expected = np.mean([len({*a} & {*b}) / 10 for a, b in zip(*nearest, strict=True)])
    assert record.of("neighborhood_overlap")["value"] == pytest.approx(expected, abs=1e-12)


def test_new_points_with_names_of_the_data_are_noted() -> None:
    results = evaluate(X, project, new_data=pd.concat([X[:3], NEW]))
    assert [dict(note.values)["count"] for note in notes(results, "new.same_names")] == [3]


def test_a_callable_must_return_a_pair() -> None:
    def single(X: Any, n_components: int, X_new: Any = None) -> np.ndarray:
        return FITTED.transform(X)

    with pytest.raises(dreval.errors.DrevalError, match="must return a pair where it gets X_new"):
        evaluate(X, single, new_data=NEW)


# What is stored and written.


def test_saved_results_hold_new_points(tmp_path: Path) -> None:
    results = evaluate(X, {"a": project, "sammon": "sammon"}, new_data=NEW, new=0.3)
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))
    assert_same(loaded["a"].out_of_sample, results["a"].out_of_sample)
    assert loaded["a"].out_of_sample.notes == results["a"].out_of_sample.notes
    assert loaded.recipe["new"] == {"n": 20, "sha256": as_data(NEW).sha256, "share": 0.3, "coordinates": []}
    with pytest.raises(InputError, match="sammon has no transform"):
        _ = loaded["sammon"].out_of_sample


@pytest.mark.parametrize("share", [None, 0.2])
def test_a_journal_holds_the_new_points(tmp_path: Path, share: float | None) -> None:
    counts = str(tmp_path / "runs.txt")  # a list in the closure would be part of the identity of the function

    def counted(X: Any, n_components: int, X_new: Any = None) -> Any:
        with open(counts, "a") as file:
            file.write(f"{len(X)} ")
        return project(X, n_components, X_new)

    evaluation = dreval.Evaluation(X, {"f": counted}, new_data=NEW, new=share, random_state=0)
    first, second = (evaluation.run("continuity", None, None, journal=tmp_path / "r.journal") for _ in range(2))
    assert Path(counts).read_text() == ("90 " if share is None else "90 72 ")
    assert_same(first["f"].out_of_sample, second["f"].out_of_sample)
    other = dreval.Evaluation(X, {"f": counted}, new_data=NEW + 1, new=share, random_state=0)
    other.run("continuity", None, None, journal=tmp_path / "r.journal")
    assert Path(counts).read_text() == ("90 90 " if share is None else "90 72 72 ")


def test_summary_and_page_show_new_points(tmp_path: Path) -> None:
    results = evaluate(X, {"first": project, "second": "pca"}, "default", new_data=NEW)
    record, text = results["first"].out_of_sample, " ".join(str(results.summary(full=True)).split())
    for name in results:
        assert f"New points on {name}" in text
    assert f"{record.of('trustworthiness')['value']:.3f}".removeprefix("0") in text
    assert "No conformal bound and no p-values" in text
    short = " ".join(str(results).split())
    assert "Of the 15 nearest points of each of 20 new points, first keeps" in short
    page = results.report(tmp_path / "page.html").read_text()
    assert "Are new points where they belong?" in page
    assert page.count('<path class="nw"') == 3  # two maps, and the key
    text = results.report(tmp_path / "page.md").read_text()
    assert "Are new points where they belong?" in text
    assert (tmp_path / "page-figures" / "new-first.svg").is_file()
    assert "new_data=new_data" in results.recipe["call"]
    assert record.call.endswith("['first'].out_of_sample")


def test_results_without_new_points_do_not_mention_them(tmp_path: Path) -> None:
    results = evaluate(X, {"first": project})
    assert "new point" not in str(results.summary(full=True)).lower()
    assert "Are new points" not in results.report(tmp_path / "page.html").read_text()
    assert "new" not in results.recipe


def test_notes_of_the_further_fit_say_so(tmp_path: Path) -> None:
    """What the fit without the left-out rows warns of is not taken for a note on the map of all points."""
    parts = pd.concat([X, X + 100])
    parts.index = [f"r{i}" for i in range(180)]
    with pytest.warns(dreval.errors.ApproximationWarning):
        results = evaluate(parts, {"isomap": "isomap"}, new=0.2)
    texts = [str(note) for note in notes(results, "new.fit")]
    assert len(texts) == 1
    assert texts[0].startswith("isomap: In the fit without the left-out rows: The graph of ")
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))
    assert [str(note) for note in notes(loaded, "new.fit")] == texts
