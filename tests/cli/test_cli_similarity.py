"""`dreval similarity`: the same numbers as in Python, files, ids, several files, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import Y, without_call
from numpy.testing import assert_allclose

import dreval

COMMAND = "similarity"
FEW = ("--random-state", "0", "--n-resamples", "19")


def test_the_command_prints_and_writes_the_results_of_python(run: Any) -> None:
    """Summary, table, figure and saved file are those of the function; dreval show prints the same."""
    expected = dreval.representation_similarity(
        "cells.csv", "shuffled.csv", ids="cell", metric="cosine", n_resamples=19, random_state=0
    )
    files = ("--table", "t.csv", "--plot", "items=i.png,curve=c.svg", "--save", "s.dreval", "--report", "r.html")
    code, out, err = run("cells.csv", "shuffled.csv", "--ids", "cell", "--metric", "cosine", *FEW, *files)

    assert (code, err) == (0, "")
    assert expected.names == ("cells", "shuffled")
    assert without_call(out)[0] == without_call(str(expected))[0]
    assert "similarity written to s.dreval" in out
    assert_allclose(pd.read_csv("t.csv")["value"], expected.tidy()["value"])
    assert all(Path(name).stat().st_size > 3000 for name in ("i.png", "c.svg", "r.html"))
    pd.testing.assert_frame_equal(dreval.load_results("s.dreval").augment(), expected.augment())
    assert dreval.load_results("s.dreval").augment()["id"].str.startswith("cell").all()


def test_a_saved_similarity_is_shown(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """dreval show and dreval report read it; as an evaluation it is refused."""
    from dreval.cli._main import main

    code, out, err = run("data.csv", "umap.csv", *FEW, "--save", "s.dreval")
    assert (code, err) == (0, "")
    assert main(["show", "s.dreval", "--plot", "items=a.png"]) == 0
    assert capfd.readouterr().out.startswith(out.removesuffix("\nsimilarity written to s.dreval\n"))
    assert main(["report", "s.dreval", "r.md"]) == 0
    assert Path("r.md").read_text("utf-8").startswith("# Similarity of representations")
    capfd.readouterr()
    assert main(["compare", "s.dreval", "s.dreval"]) == 2
    assert "a similarity of representations" in capfd.readouterr().err


def test_the_document_has_the_moved_items(run: Any) -> None:
    """Of two files; of three it has the maxima over all pairs."""
    document = json.loads(run("data.csv", "umap.csv", *FEW, "--json")[1])
    assert list(document) == ["recipe", "table", "maxima", "curve", "moved", "notes"]
    assert [row["moved"] for row in document["moved"]] == sorted(
        (row["moved"] for row in document["moved"]), reverse=True
    )
    assert "dreval similarity data.csv umap.csv" in document["recipe"]["call"]
    document = json.loads(run("data.csv", "umap.csv", "tsne.npy", *FEW, "--json")[1])
    assert list(document) == ["recipe", "table", "maxima", "curve", "notes"]
    assert {row["n_pairs"] for row in document["maxima"]} == {3}
    assert (
        run("data.csv", "umap.csv", "tsne.npy", *FEW, "--quiet", "--metric", "data=cosine,umap=euclidean,tsne=cosine")[
            0
        ]
        == 0
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("data.csv",), "`representations` must be two files or more"),
        (("data.csv", "short.npy"), "`short.npy`"),
        (("data.csv", "gaps.csv"), "`gaps.csv`"),
        (("data.csv", "missing.npy"), "missing.npy"),
        (("data.csv", "data.csv"), "`representations` must be different files"),
        (("data.csv", "umap.csv", "./data.csv"), "`representations` must be different files"),
        (("data.csv", "umap.csv", "--bibtex"), "--bibtex"),
        (("data.csv", "umap.csv", "--paragraph", "text"), "--paragraph"),
        (("data.csv", "umap.csv", "--metric", "manhattan"), "`--metric`"),
        (("data.csv", "umap.csv", "--n-resamples", "5"), "`--n-resamples` must be at least 19"),
        (("data.csv", "umap.csv", "--plot", "map=m.png"), "`--plot` must be one of matrix, items, curve"),
        (("data.csv", "umap.csv", "--save", "data.csv"), "`--save`"),
    ],
)
def test_errors_name_files_and_options(run: Any, arguments: tuple[str, ...], words: str) -> None:
    """One line on stderr, code 2, and nothing is written."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not list(Path().glob("*.png"))


def test_columns_and_groups_of_files(run: Any) -> None:
    """A column of ids is no feature, and groups are a column of the first file."""
    np.save("other.npy", Y**2)
    code, out, err = run("kinds.csv", "other.npy", "--groups", "kind", *FEW, "--measures", "cka,rsa")
    assert (code, err) == (0, "")
    assert "within 2 groups" in out


def test_groups_of_both_files_are_no_coordinates(run: Any) -> None:
    """A second file with the column of the groups has the values of one without it."""
    kinds = pd.read_csv("kinds.csv")["kind"]
    for name, frame in (("plain.csv", pd.DataFrame(Y**2)), ("both.csv", pd.DataFrame(Y**2).assign(kind=kinds))):
        frame.add_prefix("c").rename(columns={"ckind": "kind"}).to_csv(name, index=False)
    values = []
    for name in ("plain.csv", "both.csv"):
        code, _, err = run("kinds.csv", name, "--groups", "kind", *FEW, "--quiet", "--table", f"t{name}")
        assert (code, err) == (0, "")
        values.append(pd.read_csv(f"t{name}")["value"])
    assert_allclose(*values)


def test_files_of_one_stem_have_different_names(run: Any) -> None:
    """Of two and of three files, the names are the paths below the folder that they share."""
    for folder in ("v1", "v2", "v3"):
        Path(folder).mkdir()
        np.save(f"{folder}/emb.npy", Y ** int(folder[1]))
    names = [f"{folder}/emb.npy" for folder in ("v1", "v2", "v3")]
    for count in (2, 3):
        document = json.loads(run(*names[:count], *FEW, "--json")[1])
        assert {*document["curve"][0].values()} >= {*names[:2]}


def test_help_has_no_option_that_is_refused(run: Any) -> None:
    """Texts for papers belong to results and comparisons."""
    out = run("--help")[1]
    assert "--paragraph" not in out
    assert "--bibtex" not in out
    assert "--markdown" in out


def test_hints_name_options_that_exist(run: Any) -> None:
    """A column of names without --ids: the command has no --labels; other ids are compared with the first file."""
    frame = pd.DataFrame(Y).add_prefix("c").assign(id=[f"d{i}" for i in range(len(Y))])
    frame.to_csv("left.csv", index=False)
    frame.assign(id=[f"d{i + 3}" for i in range(len(Y))]).to_csv("right.csv", index=False)
    code, _, err = run("left.csv", "right.csv", *FEW)
    assert code == 2
    assert "Name it as --groups id or --ids id, or drop it; dreval evaluate --metric gower" in err
    code, _, err = run("left.csv", "right.csv", "--ids", "id", *FEW)
    assert code == 2
    assert "`right.csv` must have the same ids as `left.csv`, in any order" in err
