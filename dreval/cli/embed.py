"""The verb ``dreval embed``, with the names and defaults of ``dreval.embed``."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dreval.cli._main import DATA, DONE, Say, Verb, add_answer, add_header, check_output, in_flags, json_text, names
from dreval.records.base import write_whole
from dreval.registry import METHODS

EPILOG = """examples:
  dreval embed data.csv isomap isomap.csv --n-neighbors 10
  dreval embed data.csv umap umap.npy --random-state 0
  dreval embed full.csv cca cca.csv --labels kind --ids cell -d 1

Other parameters of methods can be set from Python: dreval.embed.

exit codes: 0 done, 2 refused"""


def add_verb(add: Callable[..., Verb]) -> None:
    """Add the verb to the command line."""
    verb = add("embed", _embed, "Embed a data file with a bundled method.", EPILOG)
    verb.add_argument("data", help=DATA)
    verb.add_argument("method", help=f"one of {len(METHODS.names())}, see: dreval list methods")
    verb.add_argument("output", type=Path, help="file for the coordinates: .csv or .npy")
    verb.add_argument("-d", "--n-components", type=int, default=2, metavar="D", help="columns of the embedding (2)")
    verb.add_argument(
        "-k", "--n-neighbors", type=int, metavar="K", help="number of neighbors, for methods that use them"
    )
    verb.add_argument("--ids", metavar="COLUMN", help="column with the row names; kept in a .csv")
    verb.add_argument(
        "--labels", help="classes, for supervised methods: a column of the data (no feature then), or file.csv[:column]"
    )
    verb.add_argument(
        "--response", type=names, metavar="COLUMN[,...]",
        help="numbers, for supervised methods: columns of the data, or a file",
    )  # fmt: skip
    add_header(verb)
    verb.add_argument("--layer", help="of a .h5ad file: a layer, or raw, in place of X")
    verb.add_argument("--use-rep", metavar="KEY", help="of a .h5ad file: an array of obsm, in place of X")
    verb.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and printed)")
    add_answer(verb, "method, n, n_components, parameters, random_state, notes, output")


def _embed(options: Any, say: Say) -> int:
    """Embed, write the coordinates, and print a summary."""
    import numpy as np

    from dreval.inputs.source import BUNDLED, data_and_response, embed

    check_output(options.output, "output", [options.data, options.labels], (".csv", ".npy"))
    options.method = options.method.removeprefix(BUNDLED)
    METHODS.get(options.method, "method")
    known = {"ids": options.ids, "labels": options.labels, "layer": options.layer, "use_rep": options.use_rep}
    known["header"] = options.header
    data, y = data_and_response(options.data, options.response, **known)
    more = {} if options.n_neighbors is None else {"n_neighbors": options.n_neighbors}
    more |= {"labels": data.labels, "response": y, "random_state": options.random_state}
    made = embed(data.X, options.method, options.n_components, **more)
    said = tuple(dict.fromkeys(in_flags(note, options) for note in (*data.notes, *made.notes)))
    made = replace(made, notes=said)
    _write(options, data, np.asarray(made))
    if options.json:
        say(_document(made, options))
        return DONE
    n, d = made.shape
    seed = "" if made.random_state is None else f" (random_state {made.random_state})"
    say(f"{options.method}: {n} points, {d} component{'s' * (d > 1)}{seed}, written to {options.output}")
    for note in made.notes:
        say(f"note: {note}")
    return DONE


def _write(options: Any, data: Any, Y: Any) -> None:
    """Write the coordinates; row names come first, in an unnamed column unless ``--ids`` names it."""
    import numpy as np
    import pandas as pd

    if options.output.suffix.lower() == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, Y, allow_pickle=False)
        write_whole(options.output, buffer.getvalue(), "output")
        return
    frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
    if data.ids is not None:
        frame.insert(0, options.ids or "", data.ids.to_numpy())
    write_whole(options.output, frame.to_csv(index=False), "output")


def _document(made: Any, options: Any) -> str:
    """The embedding as a JSON document, without its coordinates."""
    n, d = made.shape
    known = {"method": options.method, "n": n, "n_components": d, "parameters": dict(made.parameters)}
    rest = {"random_state": made.random_state, "notes": list(made.notes), "output": str(options.output)}
    return json_text({**known, **rest})
