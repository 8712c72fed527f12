"""``python -m dreval`` is the command line."""

from dreval.cli._main import main

raise SystemExit(main())
