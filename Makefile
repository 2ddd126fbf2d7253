# Three commands matter: `make demo`, `make test` and, before a release, `make check`. All set everything up first.

PYTHON ?= python3
PYTHONS ?= $(PYTHON)
STUDIES ?= ./studies[bbob,rl]
BIN := .venv/bin
READY := .venv/.ready

# Compiled XLA programs are kept between runs. One BLAS thread: two test workers share the cores.
CHECK_ENV := OMP_NUM_THREADS=1 JAX_PLATFORMS=cpu JAX_COMPILATION_CACHE_DIR=$(CURDIR)/.cache/jax
CHECK_ENV += JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
# XLA warns of a foreign machine whenever it reads a cached program, even its own: tuning hints count as missing features.
CHECK_ENV += TF_CPP_MIN_LOG_LEVEL=3
# Most of the time goes into compiling programs that run for moments: less than half of it without optimising or fusing them,
# and with one thread for each program, as there are two processes on two cores.
CHECK_ENV += XLA_FLAGS="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
# pyright takes node from its wheel, and does not look for newer versions of itself.
PYRIGHT_ENV := PYRIGHT_PYTHON_GLOBAL_NODE=0 PYRIGHT_PYTHON_IGNORE_WARNINGS=1
PYTEST_ARGS ?= -n 2 --dist worksteal -m "not check"

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types layers pytest wheel studies marked browser docs notebook paper rl bbob picture fix lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with the pinned versions; does nothing when up to date

$(READY): pyproject.toml studies/pyproject.toml constraints.txt
	@echo "Setting up .venv with the pinned versions (about a minute)"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]" --editable "$(STUDIES)"
	@touch $@

demo: $(READY) ## GNN-CMA-ES against CMA-ES on the 10-D Rosenbrock function
	$(BIN)/thalweg demo

test: lint types layers pytest ## quick checks of the library; about five minutes on two cores

check: docs notebook marked browser wheel studies paper rl bbob ## the longer checks: the site, real clusters, a browser, MuJoCo, the studies

lint: $(READY) ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY) ## pyright, strict
	$(PYRIGHT_ENV) $(BIN)/pyright --pythonpath $(BIN)/python

layers: $(READY) ## import-linter: a module imports only from below
	$(BIN)/lint-imports --no-logo

pytest: $(READY) ## quick tests and doctests; PYTEST_ARGS replaces the arguments
	$(CHECK_ENV) $(BIN)/pytest $(PYTEST_ARGS)

marked: $(READY) ## tests of the library with the marker check, but for those in a browser
	$(CHECK_ENV) $(BIN)/pytest -n 2 --dist worksteal -m check tests --ignore tests/browser

browser: $(READY) ## pages of runs in Chromium, which is installed first if it is missing (as root); about a minute
	scripts/install_chromium.sh
	$(CHECK_ENV) $(BIN)/pytest -m check tests/browser

docs: $(READY) ## the site, from docs/ into site/; any warning or broken link is an error; about ten seconds
	NO_MKDOCS_2_WARNING=1 JAX_PLATFORMS=cpu $(BIN)/mkdocs build --quiet --strict
	JAX_PLATFORMS=cpu $(BIN)/python scripts/check_site.py site

notebook: $(READY) ## run the notebook in examples/ and compare its texts with those it holds; about half a minute
	$(CHECK_ENV) $(BIN)/python scripts/run_notebook.py examples/curved_valley.ipynb

wheel: $(READY) ## sdist and wheel, built twice to the same bytes; the wheel, used in an empty environment of each of PYTHONS
	rm -rf .cache/wheel
	scripts/build_dist.sh .cache/wheel
	for python in $(PYTHONS); do scripts/try_wheel.sh $$python .cache/wheel || exit 1; done

studies: $(READY) ## tests and doctests of the studies
	$(CHECK_ENV) $(BIN)/pytest -n 2 --dist worksteal studies/tests studies/src

paper: $(READY) ## the paper's experiments with a few seeds each, for real; about three minutes
	rm -rf .cache/paper
	$(CHECK_ENV) $(BIN)/thalweg reproduce --quick --workers 2 --out .cache/paper
	test $$(grep -o ';base64,' .cache/paper/report.html | wc -l) -ge 10
	cp .cache/paper/report.md .cache/paper.md
	$(CHECK_ENV) $(BIN)/thalweg reproduce --quick --workers 2 --out .cache/paper  # nothing is computed again
	cmp .cache/paper.md .cache/paper/report.md

rl: $(READY) ## policy search in MuJoCo, two seeds and short rollouts; about a minute
	rm -rf .cache/rl
	$(CHECK_ENV) $(BIN)/thalweg reproduce rl --quick --workers 2 --out .cache/rl
	test -s .cache/rl/rl.md

bbob: $(READY) ## BBOB for a few problems, all engines and loggers; about a minute
	rm -rf .cache/bbob
	$(CHECK_ENV) $(BIN)/thalweg bench bbob --quick --workers 2 --methods gnn-cma,cma,pycma,scipy-de --out .cache/bbob/coco
	$(CHECK_ENV) $(BIN)/thalweg bench bbob --quick --workers 2 --methods cmaes,nevergrad-cma --logger ioh --out .cache/bbob/ioh
	$(CHECK_ENV) $(BIN)/thalweg bench bbob --quick --methods cma --engine jax --out .cache/bbob/jax
	test -s .cache/bbob/coco/ppdata/index.html

picture: $(READY) ## draw docs/layers.svg from the import contract
	$(BIN)/python scripts/draw_layers.py

fix: $(READY) ## format, and repair what ruff can repair
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: ## renew constraints.txt from pyproject.toml
	rm -rf .cache/lock
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/pip install --quiet --disable-pip-version-check --editable ".[dev]" --editable "./studies[bbob,rl]"
	{ echo "# What \`make setup\` installs, to the last dependency. Renewed by \`make lock\`."; \
	  .cache/lock/bin/pip freeze --exclude-editable; } > constraints.txt
	rm -rf .cache/lock

clean: ## remove .venv and all caches
	rm -rf .venv .cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
