# Four verbs; each makes its own environment in .venv when there is none. Needed: Python >= 3.11, make, PyPI.
#
#   make demo    evaluate three embeddings of a bundled data set; leaves demo-report.html
#   make test    the tests, without those that need a browser, a Debian package, AnnData or long simulation (.ci/run has all)
#   make lint    ruff (rules and format) and mypy
#   make bench   dreval beside other tools: ratios of time and memory, in one run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint bench

demo: $(VENV)/.runtime
	$(BIN)/python vignettes/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test $(VENV)/.bench
	$(BIN)/python tests/benchmarks/run.py $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dreval needs Python >= 3.11, this is " \
	+ sys.version.split()[0] + "; name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# A stamp per set of dependencies, made anew when pyproject.toml changes.
$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[test]"
	@touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[bench]"
	@touch $@
