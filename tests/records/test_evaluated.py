"""One embedding of a result: its scores, table, figures, maps and certificate."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dreval
from dreval.errors import InputError
from dreval.records.points import Embedding

X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
SOURCES = {"front": X[:, :2], "back": X[:, 2:], "all": X}
MEASURES = ["trustworthiness", "continuity", "k_max"]


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    ev = dreval.Evaluation(X, SOURCES, labels=["a", "b"] * 20, n_neighbors=5, random_state=0)
    return ev.run(MEASURES, "hsic", n_resamples=19)


def test_scores_are_those_of_the_table_with_their_rank(results: dreval.Results) -> None:
    """Values and intervals are those of ``tidy``, ranks and best sets those of ``ranking``; missing without a rank."""
    for name in ("front", "back"):
        scores = results[name].scores.set_index("measure")
        rows = results.table.query("embedding == @name and test == ''").set_index("measure")
        ranks = results.ranking().query("embedding == @name").set_index("measure")
        columns = ["value", "conf_low", "conf_high", "chance", "note"]
        pd.testing.assert_frame_equal(scores[columns], rows[columns])
        assert scores.loc[ranks.index, "rank"].tolist() == ranks["rank"].tolist()
        assert scores.loc[ranks.index, "in_best_set"].tolist() == ranks["in_best_set"].tolist()
        assert scores.loc[ranks.index, "n_ranked"].tolist() == [2] * len(ranks)
    assert results["all"].scores["rank"].isna().all()
    without = dreval.Evaluation(X, SOURCES, n_neighbors=5, random_state=0).run("continuity", None, None)
    assert without["front"].scores["rank"].isna().all()


def test_an_embedding_answers_first(results: dreval.Results) -> None:
    """The printed form begins with the standing, and has the scores; in full it has the tests and the call."""
    assert str(results["front"]).startswith("front is the best of 2 embeddings, or not significantly worse")
    assert str(results["back"]).startswith("back is significantly worse than the best of 2 embeddings by each of")
    assert "all is the data" in str(results["all"])
    assert "Trustworthiness" in repr(results["front"])
    assert "1 of 2" in repr(results["front"])
    full = str(results["front"].summary(full=True))
    assert "hsic" in full
    assert "dreval.Evaluation(" in full
    alone = dreval.Evaluation(X, {"a": X[:, :2]}, n_neighbors=5, random_state=0).run("continuity", None)
    assert "no other embedding" in " ".join(str(alone["a"]).split())
    unranked = dreval.Evaluation(X, SOURCES, n_neighbors=5, random_state=0).run("continuity", None, None)
    assert "it has no rank" in " ".join(str(unranked["front"]).split())


def test_an_embedding_forwards_to_its_result(results: dreval.Results) -> None:
    """Tables, figures and tests are those of the result for this name."""
    embedding = results["front"]

    for full in (False, True):
        expected = results.tidy(full=full).query("embedding == 'front'").reset_index(drop=True)
        pd.testing.assert_frame_equal(embedding.tidy(full=full), expected)
    pd.testing.assert_frame_equal(embedding.augment(), results.augment("front"))
    assert len(embedding.plot("map").axes) == len(results.plot("map", embedding="front").axes)
    assert embedding.certificate(n_resamples=19).verdict == results.certificate("front", n_resamples=19).verdict
    np.testing.assert_array_equal(embedding.transform(X[:3]), results.transform("front", X[:3]))
    with pytest.raises(InputError):
        embedding.plot("forest")


def test_an_embedding_is_an_array_with_maps(results: dreval.Results, tmp_path: Path) -> None:
    """Coordinates, data and copies are as before; a loaded one needs its data for maps only."""
    embedding = results["front"]
    assert isinstance(embedding, Embedding)
    np.testing.assert_array_equal(np.asarray(embedding), X[:, :2])
    np.testing.assert_array_equal(embedding.data, X)
    assert not embedding.data.flags.writeable
    assert embedding.data_shape == X.shape
    for twin in (pickle.loads(pickle.dumps(embedding)), copy.copy(embedding), copy.deepcopy(embedding)):
        np.testing.assert_array_equal(twin.coordinates, embedding.coordinates)
        assert str(twin) == str(embedding)

    loaded = dreval.load_results(results.save(tmp_path / "a.dreval"))
    assert str(loaded["front"]) == str(embedding)
    assert loaded["front"].data is None
    with pytest.raises(InputError, match=r"results\.embedding\(name, data=X\)"):
        loaded["front"].transform(X[:2])
    np.testing.assert_array_equal(loaded.embedding("front", data=X).transform(X[:2]), embedding.transform(X[:2]))


def test_scores_do_not_make_sparse_data_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores and coordinates of an embedding do not read the data."""
    ev = dreval.Evaluation(sparse.csr_array(np.abs(X)), {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    results = ev.run("continuity", None)
    monkeypatch.setattr(dreval.Results, "_dense_data", lambda *_: pytest.fail("the data were read"))
    assert results["a"].shape == (40, 2)
    assert len(results["a"].scores) == 1
    assert str(results["a"])


def test_records_compare_without_an_error(results: dreval.Results) -> None:
    """Results, embeddings and recommendations are equal to themselves only; cards by their contents."""
    front = results["front"]
    for record, other in ((results, copy.copy(results)), (front, results["front"])):
        assert record == record
        assert record != other
        assert len({record, other}) == 2
    assert dreval.recommend("neighbors") != dreval.recommend("neighbors")
    card = dreval.card("trustworthiness")
    assert card == copy.copy(card)
    assert len({card, copy.copy(card), dreval.card("continuity")}) == 2
    data = dreval.simulate("bump_map", n=30, random_state=0)
    for twin in (pickle.loads(pickle.dumps(data)), copy.copy(data), copy.deepcopy(data)):
        np.testing.assert_array_equal(twin.data, data.data)
        assert twin.card == data.card
