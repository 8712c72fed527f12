"""The command line: the words and defaults of the Python names, no numerics of its own.

Exit codes: 0 done, 1 done but something failed or is missing, 2 refused, 3 a defect in dreval, 130 stopped by Ctrl-C.
With ``--json`` stdout holds one JSON document and nothing else; errors and progress go to stderr.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from dreval import __version__
from dreval.cli._arguments import BROKEN, DONE, REFUSED, STOPPED, Verb
from dreval.cli.compare import add_compare
from dreval.cli.embed import add_embed
from dreval.cli.evaluate import add_evaluate
from dreval.cli.list import add_list
from dreval.cli.protocol import add_protocol
from dreval.cli.study import add_study
from dreval.errors import DrevalError, DrevalWarning

__all__ = ["main"]

EPILOG = """examples:
  dreval evaluate data.csv -e umap=umap.csv -e isomap --report report.html
  dreval embed data.csv isomap isomap.csv
  dreval list methods

dreval VERB --help has examples of each verb. Exit codes: 0 done, 1 something
failed or is missing, 2 refused, 3 a defect in dreval, 130 stopped by Ctrl-C.
With DREVAL_DEBUG=1 every error shows where it was raised."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    options = _parser().parse_args(arguments)
    options.words = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot show must not lose the result
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.environ.get("DREVAL_DEBUG", "0") not in ("", "0"):
        return _run(options)
    try:
        with _Defects():
            return _run(options)
    except BrokenPipeError:  # the reader of the output has gone, as in `dreval list measures | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("dreval: stopped", file=sys.stderr)
        return STOPPED
    except MemoryError as error:
        print(f"dreval: out of memory ({' '.join(str(error).split()) or 'no more is said'})", file=sys.stderr)
        return REFUSED
    except (DrevalError, OSError) as error:
        print(f"dreval: {_as_options(str(error), options.parser.flags)}", file=sys.stderr)
        return REFUSED


class _Defects:
    """A block that leaves with words and a code of its own where dreval itself is wrong, and with no traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, DrevalError | OSError | MemoryError):
            return
        why = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"dreval: a defect in dreval, not in what it was given ({why})", file=sys.stderr)
        print("dreval: DREVAL_DEBUG=1 shows where; please tell the developers", file=sys.stderr)
        raise SystemExit(BROKEN) from None


def _run(options: Any) -> int:
    """Run the verb, or show the help of what has verbs below it."""
    if options.run is None:
        options.parser.print_help()
        return DONE
    quiet = getattr(options, "quiet", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default", DrevalWarning)
        warnings.showwarning = _show_warning
        code = int(options.run(options, _keep_quiet if quiet else print))
    sys.stdout.flush()
    return code


def _keep_quiet(_: str) -> None:
    """Say nothing."""


def _as_options(message: str, flags: set[str]) -> str:
    """A refusal in the words of the command line: `labels` is --labels, labels='kind' is --labels kind."""
    message = message.replace("`options['replicates']['n_resamples']`", "`--n-replicates`")
    message = re.sub(f"`({'|'.join(sorted(flags))})`", lambda found: f"`--{found[1].replace('_', '-')}`", message)
    message = re.sub(r"\bdirection=\{'([^']*)': '(\w+)'\}", r"--direction \1=\2", message)
    message = re.sub(r"\bcolumns=\{'(\w+)': '\.\.\.'\}", r"--columns \1=NAME", message)
    message = re.sub(r"\brope=([0-9.]+[0-9])", r"--rope \1", message)
    message = re.sub(r"dreval\.list_(\w+)\(\)", r"dreval list \1", message)
    named = r"\b(labels|covariates|ids|direction|layer)='([^']*)'"
    return re.sub(named, lambda found: f"--{found[1]} {shlex.quote(found[2])}", message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """One line without the place in the source where it was raised."""
    print(f"dreval: {message}", file=sys.stderr)


def _parser() -> Verb:
    parser = Verb(prog="dreval", description="Formal evaluation of dimensionality reduction.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"dreval {__version__}")
    add = parser.steps("VERB")
    for add_verb in (add_evaluate, add_embed, add_compare, add_study, add_protocol, add_list):
        add_verb(add)
    return parser
