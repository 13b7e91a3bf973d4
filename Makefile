# `make` lists what there is. Everything runs in .venv, which is made, and made again when pyproject.toml changes.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c '$(RECENT)' 2>/dev/null && echo $$name && break; done)
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
export PATH := $(BIN):$(PATH)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(VENV)/.installed ## recipes/batch-size on this machine, its totals and its best cell; again: nothing left to do
	@sweeptool run recipes/batch-size/sweep.yaml
	@sweeptool manifest-summary --sweep batch-size
	@sweeptool best batch-size

.PHONY: sweep
sweep: export SPEC ?=
sweep: $(VENV)/.installed ## run any spec: make sweep SPEC=my.yaml [ARGS='--max-cost-usd 5']
	@[[ -n $${SPEC:-} ]] || { echo "make sweep: which one? make sweep SPEC=recipes/batch-size/sweep.yaml" >&2; exit 2; }
	@sweeptool run "$$SPEC" $(ARGS)

.PHONY: test
test: $(VENV)/.installed-test ## all tests: pytest, then bats
	$(VENV)/bin/python -m pytest -n auto $(PYTEST)
	tests/run-bats

.PHONY: lint
lint: $(VENV)/.installed-test ## ruff, mypy, shellcheck, shfmt
	ruff check
	ruff format --check
	mypy
	tests/run-shellcheck

.PHONY: bench
bench: $(VENV)/.installed-test ## our speed against our neighbours', as a markdown table
	tests/rig/setup || true # one of the neighbours; without it, its rows are left out
	$(VENV)/bin/python -m tests.bench $(BENCH)

ROUNDS ?= 50
SEED ?= 1
.PHONY: torture
torture: $(VENV)/.installed-test ## kill sweeps at random and count: make torture ROUNDS=200 SEED=1
	$(VENV)/bin/python -m tests.torture --rounds $(ROUNDS) --seed $(SEED)

.PHONY: mutants
mutants: $(VENV)/.installed-test ## break sweeptool on purpose, and say what torture catches it for
	$(VENV)/bin/python -m tests.torture --mutants --rounds 150

.PHONY: wheel
wheel: $(VENV)/.installed ## the wheel, in dist/
	$(VENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

$(VENV)/bin/python:
	@[[ -n '$(PYTHON)' ]] || { echo "make: Python 3.11 or later is needed, and is not on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.installed
