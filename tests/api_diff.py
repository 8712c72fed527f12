"""What changed in the public names since another commit: ``python tests/api_diff.py origin/main``, with griffe.

Names are those of the stubs (``tests/public_stub.py``). Printed are names that were added, and changes that may break
code of others: names that are gone, parameters that were removed, moved or became required, defaults that changed. It
is a list for the review, so the exit status is 0; CONTRIBUTING.md says which changes a version may have.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parent.parent
STUBS = ("dreval", "dreval.datasets", "dreval.measures", "dreval.methods")
COLOR = re.compile(r"\x1b\[\d+m")


def public_names(stubs: Mapping[str, str]) -> dict[str, str]:
    """Return what stubs define, or import under its own name, with the path at which it is defined."""
    names = {}
    for module, text in stubs.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom):
                names |= {f"{module}.{a.asname}": f"{node.module}.{a.name}" for a in node.names if a.asname}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                names[f"{module}.{node.name}"] = f"{module}.{node.name}"
    return names


def changes(old: griffe.Module, before: Mapping[str, str], new: griffe.Module, after: Mapping[str, str]) -> list[str]:
    """Return a line for each added name, and for each change of a public name that may break code of others."""
    lines = [f"added: {name}" for name in sorted(after.keys() - before)]
    lines += [f"removed: {name}" for name in sorted(before.keys() - after)]
    by_path = {path: name for name, path in reversed(before.items()) if name in after}  # the shortest name is first
    for breakage in griffe.find_breaking_changes(old, new):
        path, name = breakage.obj.canonical_path, breakage.obj.name
        owner = next((place for place in (path, path.rpartition(".")[0]) if place in by_path), None)
        if owner and (not name.startswith("_") or name == "__init__"):
            _, _, change = COLOR.sub("", breakage.explain(griffe.ExplanationStyle.ONE_LINE)).partition(": ")
            lines.append(f"changed: {by_path[owner]}, {change}")
    return lines


def main(commit: str) -> None:
    """Print the changes since a commit."""
    files = {module: f"{module.replace('.', '/')}/__init__.pyi" for module in STUBS}
    show = ("git", "-C", str(ROOT), "show")
    stubs = {
        module: subprocess.run([*show, f"{commit}:{file}"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for module, file in files.items()
    }
    old = griffe.load_git("dreval", ref=commit, repo=ROOT)
    new = griffe.load("dreval", search_paths=[ROOT])
    before = public_names(stubs)
    after = public_names({module: (ROOT / file).read_text("utf-8") for module, file in files.items()})
    print("\n".join(changes(old, before, new, after)) or f"The {len(after)} public names are those of {commit}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
