# The targets; each creates its environment in .venv if there is none. Needed: Python >= 3.11, make, PyPI.
#
#   make demo    evaluate three embeddings of a bundled data set; writes demo-report.html
#   make test    the fast tests, each below a second; .ci/run has also those that take longer, or need a browser, a
#                Debian package, AnnData or long simulation
#   make lint    ruff (rules and format), codespell, import-linter (the layers of the folders), the stubs and mypy
#   make bench   dreval next to other tools: ratios of time and memory, in one run
#   make benchmark  the public table of the site, vignettes/benchmark.csv: twelve methods on six data sets, in minutes;
#                continues where it was stopped, ARGS=--fresh begins again, ARGS=FOLDER writes there
#   make asv     six benchmarks at the last commit, by airspeed velocity; ARGS=v1.0.0..HEAD at others
#   make site    the reference site in _build/site: every vignette is executed, and any warning is an error
#   make floors  the tests with the oldest versions of its dependencies that the package allows
#   make dist    the wheel and the source archive in dist/, built twice and equal byte for byte
#   make golden  write the numbers of forty scenarios, tests/golden/values; ARGS=--changes only lists what changed
#   make coverage  the fast tests, and the lines of the package that none of them runs
#   make papers  the published comparisons at full size (some hours), whose tables the next `make site` shows

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint bench benchmark asv site floors dist golden papers coverage

demo: $(VENV)/.runtime
	$(BIN)/python vignettes/demo.py

# Keep bytecode whatever the environment says: else every worker compiles every file of tests, and every page the package.
test site: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

coverage: $(VENV)/.test $(VENV)/.review
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term --cov-report=xml $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/lint-imports
	PYTHONPATH=. $(BIN)/python tests/public_stub.py --check
	$(BIN)/mypy

bench: $(VENV)/.test $(VENV)/.bench
	$(BIN)/python tests/benchmarks/run.py $(ARGS)

benchmark: $(VENV)/.runtime
	$(BIN)/python vignettes/benchmark.py $(ARGS)

asv: $(VENV)/.bench
	cd tests/benchmarks && $(abspath $(BIN))/asv machine --yes && $(abspath $(BIN))/asv run $(or $(ARGS),HEAD^!)

# Sphinx executes the vignettes; the tests only read their text.
site: $(VENV)/.test $(VENV)/.site
	@start=$$(date +%s); \
	$(BIN)/python -m sphinx --jobs auto --fresh-env --fail-on-warning --keep-going --quiet -b html -d _build/doctrees vignettes _build/site && \
	$(BIN)/python vignettes/_site/check_links.py _build/site && \
	echo "The site is in _build/site/index.html ($$(( $$(date +%s) - start )) s)."

# The tests of computing, reading and storing; uv resolves to the oldest versions.
floors: $(BIN)/python
	@test -x .venv-floors/bin/python || $(PYTHON) -m venv .venv-floors
	.venv-floors/bin/python -m pip --disable-pip-version-check --quiet install uv
	.venv-floors/bin/python -m uv pip install --quiet --python .venv-floors/bin/python --resolution lowest-direct \
		--editable ".[test]"
	.venv-floors/bin/python -m pytest tests/measures/test_*_measures.py tests/records tests/comparison tests/inputs \
		tests/storage -n auto --dist worksteal

dist: $(VENV)/.test
	@rm -rf dist build && mkdir build && for folder in dist build/second; do \
		$(BIN)/python -m build --outdir $$folder . > build/log 2>&1 || { cat build/log; exit 1; }; done && \
	for file in dist/*; do cmp $$file build/second/$$(basename $$file) || exit 1; done && ls -l dist

# One thread, so that sums have one order. PYTHONPATH: the package of this folder, installed or not.
golden: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python -m golden.make $(ARGS)

papers: $(VENV)/.test
	$(BIN)/python tests/validation/published/run.py $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dreval needs Python >= 3.11, this is " \
	+ sys.version.split()[0] + "; choose another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# A stamp for each set of dependencies, renewed when pyproject.toml changes.
$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[test]"
	@touch $@

$(VENV)/.site: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[site]"
	@touch $@

$(VENV)/.review: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[review]"
	@touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[bench]"
	@touch $@
