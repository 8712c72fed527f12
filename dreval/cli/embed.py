"""The command ``dreval embed``, with the names and defaults of ``dreval.embed``."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import DATA, add_arguments, names
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, check_output, json_text, with_option_name
from dreval.records.base import write_atomic
from dreval.records.frames import coordinates_frame
from dreval.registry import METHODS

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval embed data.csv isomap isomap.csv --n-neighbors 10
  dreval embed data.csv umap umap.npy --random-state 0
  dreval embed full.csv cca cca.csv --labels kind --ids cell -d 1

Other parameters of methods can be set from Python: dreval.embed.

{exit_codes()}"""

ARGUMENTS = ("labels", "response", "header", "layer", "use_rep", "random_state")
SHELL = {
    "labels": {"sentence": "classes, for supervised methods: a column of the data (then not a feature), or a file"},
    "response": {
        "metavar": "COLUMN[,...]",
        "type": names,
        "sentence": "numbers, for supervised methods: columns of the data, or a file",
    },
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("embed", _embed, "Embed a data file with a bundled method.", EPILOG)
    parser.add_argument("data", help=DATA)
    parser.add_argument("method", help=f"one of {len(METHODS.names())}, see: dreval list methods")
    parser.add_argument("output", type=Path, help="file for the coordinates: .csv or .npy")
    add_arguments(parser, "dreval.inputs.source:embed", ("n_components",))
    parser.add_argument(
        "-k", "--n-neighbors", type=int, metavar="K", help="number of neighbors, for methods that use them"
    )
    parser.add_argument("--ids", metavar="COLUMN", help="column with the row names; written to a .csv")
    add_arguments(parser, "dreval.inputs.source:embed", ARGUMENTS, **SHELL)
    add_answer(parser, "method, n, n_components, parameters, random_state, notes, output")


def _embed(options: Any, say: Printer) -> int:
    """Embed, write the coordinates, and print a summary."""
    import numpy as np

    from dreval.inputs.source import BUNDLED, data_and_response, embed

    check_output(options.output, "output", [options.data, options.labels], (".csv", ".npy"))
    options.method = options.method.removeprefix(BUNDLED)
    METHODS.get(options.method, "method")
    columns = {name: getattr(options, name) for name in ("ids", "labels", "layer", "use_rep", "header")}
    data, y = data_and_response(options.data, options.response, **columns)
    settings = {} if options.n_neighbors is None else {"n_neighbors": options.n_neighbors}
    settings |= {"labels": data.labels, "response": y, "random_state": options.random_state}
    embedding = embed(data.X, options.method, options.n_components, **settings)
    notes = dict.fromkeys(with_option_name(note, options) for note in (*data.notes, *embedding.notes))
    embedding = replace(embedding, notes=tuple(notes))
    _write(options, data, np.asarray(embedding))
    if options.json:
        say(_document(embedding, options))
        return ExitCode.OK
    n, d = embedding.shape
    seed = "" if embedding.random_state is None else f" (random_state {embedding.random_state})"
    say(f"{options.method}: {n} points, {d} component{'s' * (d > 1)}{seed}, written to {options.output}")
    for note in embedding.notes:
        say(f"note: {note}")
    return ExitCode.OK


def _write(options: Any, data: Any, Y: Any) -> None:
    """Write the coordinates; the first column has the row names, if any, under the name of ``--ids``."""
    import numpy as np

    if options.output.suffix.lower() == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, Y, allow_pickle=False)
        write_atomic(options.output, buffer.getvalue(), "output")
        return
    frame = coordinates_frame(Y)
    if data.ids is not None:
        frame.insert(0, options.ids or "", data.ids.to_numpy())
    write_atomic(options.output, frame.to_csv(index=False), "output")


def _document(embedding: Any, options: Any) -> str:
    """Return the embedding as a JSON document, without its coordinates."""
    n, d = embedding.shape
    document = {
        "method": options.method,
        "n": n,
        "n_components": d,
        "parameters": dict(embedding.parameters),
        "random_state": embedding.random_state,
        "notes": list(embedding.notes),
        "output": str(options.output),
    }
    return json_text(document)
