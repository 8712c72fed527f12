"""``python -m dreval`` is the command line."""

from dreval.cli import main

raise SystemExit(main())
