"""Write the golden numbers of this checkout, or list what changed: see ``README.md``.

``make golden`` is ``python -m golden.make``, with ``tests`` on the path. ``ARGS=--changes`` writes nothing, and lists
the entries that differ from the stored ones, as "scenario | entry | old | new"; ``ARGS="--only NAME"`` runs one.
"""

from __future__ import annotations

import argparse
import time

from golden.entries import Rows
from golden.scenarios import SCENARIOS
from golden.stored import FOLDER, HEADER, all_differences, machine, read, same_machine, write, written_names


def main(arguments: list[str] | None = None) -> int:
    """Run the scenarios, and write their entries or list what changed."""
    parser = argparse.ArgumentParser(prog="make golden", description="Write the golden numbers, or list what changed.")
    parser.add_argument("--changes", action="store_true", help="write nothing; list scenario | entry | old | new")
    parser.add_argument("--near", action="store_true", help="list only what differs by more than rounding")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), metavar="NAME", help="run this scenario")
    options = parser.parse_args(arguments)
    start, fresh = time.process_time(), dict[str, Rows]()
    for name in options.only or SCENARIOS:
        fresh[name] = SCENARIOS[name].run()
    seconds = time.process_time() - start
    changes = all_differences(fresh, exact=not options.near)
    for change in changes:
        print(change)
    count = sum(len(row) for rows in fresh.values() for row in rows.values())
    print(f"{len(fresh)} scenarios, {count:,} entries, {len(changes)} changed, {seconds:.0f} s of processor time")
    if options.changes or options.near:
        same = "the same" if same_machine(read("header"), machine()) else "another"
        print(f"Nothing was written. This is {same} machine as that of the stored entries.")
        return 0
    for name, rows in fresh.items():
        write(name, rows)
    if not options.only:
        for name in written_names() - set(SCENARIOS):
            (FOLDER / f"{name}.json").unlink()
        write(HEADER.stem, machine())
    size = sum(path.stat().st_size for path in FOLDER.glob("*.json"))
    print(f"Written to {FOLDER}: {size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
