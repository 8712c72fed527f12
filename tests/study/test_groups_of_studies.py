"""Groups of points in stability, sweep, studies and on the command line: halves draw groups, records name them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cli_runs import call

import dreval
from dreval.errors import InputError
from dreval.inference.groups import half_of_groups, smallest_half
from dreval.inputs.data import as_data
from dreval.measures.replicates import _overs

SIZES = (9, 7, 12, 8, 10, 6, 11, 9)
GROUPS = np.random.default_rng(0).permutation(np.repeat([f"p{g}" for g in range(8)], SIZES))
X = np.random.default_rng(1).normal(size=(len(GROUPS), 4)) * [3, 2, 1, 1]


def test_halves_are_halves_of_the_groups():
    """All points of four of eight groups, others each time."""
    codes = np.unique(GROUPS, return_inverse=True)[1]
    halves = [half_of_groups(codes, np.random.default_rng(seed)) for seed in range(20)]
    for half in halves:
        chosen = np.unique(codes[half])
        assert len(chosen) == 4
        assert (half == np.flatnonzero(np.isin(codes, chosen))).all()
    assert len({tuple(half) for half in halves}) > 5
    assert smallest_half(codes) == sum(sorted(SIZES)[:4])


def test_stability_leaves_out_groups():
    """Each replicate is all points without one group, each group once; the record names the groups."""
    data = as_data(X, groups=GROUPS)
    (over,) = _overs(data, "groups")
    left_out = [set(GROUPS) - set(GROUPS[over.rows(5, len(X), r)]) for r in range(8)]
    assert sorted(name for names in left_out for name in names) == sorted(set(GROUPS))

    record = dreval.stability(X, "pca", groups=GROUPS, over="groups", n_replicates=20, random_state=0)

    assert record.recipe["parameters"]["over"] == "groups"
    assert record.recipe["parameters"]["n_replicates"] == 8
    assert (record.points["n_replicates"] == 7).all()
    assert "8 groups" in str(record)
    assert float(record) > 0.5


def test_stability_of_halves_draws_groups():
    """No group is cut."""
    record = dreval.stability(X, "pca", groups=GROUPS, over="halves", n_replicates=4, n_neighbors=5, random_state=0)
    counts = pd.Series(record.points["n_replicates"].to_numpy()).groupby(GROUPS).nunique()
    assert (counts == 1).all()
    assert "stability.halved_groups" in [note.code for note in record.notes]


def noisy(X, n_components, random_state, size=1.0):
    """Return the first columns with noise that depends on the seed."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def test_a_note_says_where_runs_do_not_use_groups():
    """Seeds have all points: the value is that without groups, which are not in the printed text of the replicates."""
    donors = {"groups": pd.Series(GROUPS, name="donor"), "random_state": 0}
    record = dreval.stability(X, noisy, n_replicates=3, **donors)
    assert float(record) == float(dreval.stability(X, noisy, n_replicates=3, random_state=0))
    assert "over 3 seeds:" in str(record)
    text = "The 8 groups (donor) do not change the runs: over seeds, each has all points."
    assert [str(note) for note in record.notes] == [f"{text} Over groups or halves, runs leave out groups."]
    for over in ("groups", "halves", "both"):
        record = dreval.stability(X, noisy, over=over, n_replicates=3, n_neighbors=5, **donors)
        assert "groups.unused" not in {note.code for note in record.notes}
        assert "8 groups (donor)" in str(record)

    grid = {"size": [0.1, 2.0]}
    for over, text in (("seeds", "over seeds"), ("split_measurements", "over split measurements"), ("halves", "")):
        result = dreval.sweep(X, noisy, grid, over=over, n_replicates=3, **donors)
        notes = [str(note) for note in result.notes if note.code == "groups.unused"]
        alone = dreval.sweep(X, noisy, grid, over=over, n_replicates=3, random_state=0)
        assert result.tidy()["mean"].equals(alone.tidy()["mean"]) == bool(text)
        assert [f"{text}, each has all points. Over halves, runs leave out groups." in note for note in notes] == (
            [True] if text else []
        )


def test_a_journal_of_other_groups_is_not_used(tmp_path):
    """Halves of other groups are other work."""
    path = tmp_path / "x.journal"
    options = {"over": "groups", "random_state": 0, "journal": path}
    first = dreval.stability(X, "pca", groups=GROUPS, **options)
    repeated = dreval.stability(X, "pca", groups=GROUPS, **options)
    other = dreval.stability(X, "pca", groups=np.roll(GROUPS, 1), **options)
    assert float(first) == float(repeated)
    assert float(other) == float(dreval.stability(X, "pca", groups=np.roll(GROUPS, 1), over="groups", random_state=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "groups"}, "must be given"),
        ({"over": "halves", "groups": np.where(GROUPS < "p3", "a", "b")}, "at least 6"),
        ({"over": "groups", "groups": np.where(GROUPS < "p3", "a", "b")}, "at least 3"),
        ({"groups": GROUPS[:-1]}, "groups"),
    ],
)
def test_refusals_of_stability(options, message):
    """No groups, too few of them, another length."""
    with pytest.raises(InputError, match=message):
        dreval.stability(X, "pca", random_state=0, **options)


def test_sweep_over_halves_of_groups():
    """The note and the recipe name the groups; too few are refused."""
    grid = {"n_components": [1, 2]}
    result = dreval.sweep(X, "pca", grid, groups=GROUPS, n_replicates=3, random_state=0)
    assert result.over == "halves"
    assert "random halves of the 8 groups" in " ".join(map(str, result.notes))
    assert "groups=groups" in result.recipe["call"]
    with pytest.raises(InputError, match="at least 6 for halves"):
        dreval.sweep(X, "pca", grid, groups=np.where(GROUPS < "p3", "a", "b"), n_replicates=3, random_state=0)


def test_studies_have_groups(tmp_path):
    """Intervals of a cell are those of the evaluation; subsamples, which cut groups, are refused."""
    options = {"measures": "trustworthiness", "n_neighbors": 6, "random_state": 0, "ci": "points"}
    study = dreval.Study(tmp_path / "s.journal", {"mine": X}, ["pca"], groups={"mine": GROUPS}, **options)
    table = study.run(progress=False).table()
    row = table[table["measure"] == "trustworthiness"].iloc[0]
    Y = dreval.embed(X, "pca").coordinates
    (expected,) = (
        dreval.Evaluation(X, {"pca": Y}, groups=GROUPS, n_neighbors=6).run("trustworthiness").table.itertuples()
    )
    assert row["se"] == pytest.approx(expected.se, rel=1e-6)
    with pytest.raises(InputError, match="groups"):
        dreval.Study(tmp_path / "t.journal", {"mine": X}, ["pca"], groups={"mine": GROUPS}, subsample=0.5)
    with pytest.raises(InputError, match="groups"):
        dreval.Study(tmp_path / "t.journal", {"mine": X}, ["pca"], groups=GROUPS)


def test_the_command_line_has_groups(tmp_path, capfd):
    """A column of the data file, in the printed header."""
    pd.DataFrame(X, columns=list("wxyz")).assign(patient=GROUPS).to_csv(tmp_path / "d.csv", index=False)
    pd.DataFrame(X[:, :2], columns=["a", "b"]).to_csv(tmp_path / "y.csv", index=False)
    command = ["evaluate", str(tmp_path / "d.csv"), "-e", f"y={tmp_path / 'y.csv'}", "--groups", "patient"]
    code, out, _ = call(capfd, *command, "--measures", "trustworthiness", "-k", "5", "--random-state", "0")
    assert code == 0
    assert "72 points in 8 groups (patient)" in " ".join(out.split())
