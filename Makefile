# `make` alone lists the targets.

PYTHON := .venv/bin/python

.PHONY: help setup demo test test-slow check bench constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: ## make .venv: a Python, the pinned packages, a Chromium
	@sh scripts/setup.sh

demo: setup ## watch an agent meet the paper's failures, to a table and a report
	@.venv/bin/warex demo

test: setup ## the pure, wire and browser tiers
	@$(PYTHON) -m pytest -m "not slow" --numprocesses auto --maxprocesses 4 --dist loadfile

test-slow: setup ## the slow tier: whole campaigns, a fresh clone
	@$(PYTHON) -m pytest -m slow

check: setup ## lint, types, contracts, docs
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy src tests $(wildcard bench examples)
	@.venv/bin/lint-imports
	@$(PYTHON) -m pytest -m "not (wire or browser or slow)" -k docs

bench: setup ## measure against peers, each a ratio in one run
	@$(PYTHON) -m bench

# Without UPGRADE=1, versions that still fit stay as they are.
constraints: ## pin again what pyproject.toml asks for (UPGRADE=1: the newest)
	@PATH="$(CURDIR)/.venv/bin:$$PATH" uv pip compile -q --universal --python-version 3.12 \
		--all-extras --no-emit-index-url --no-annotate --no-header \
		$(if $(UPGRADE),--upgrade) -o constraints.txt pyproject.toml

clean: ## remove .venv, caches and build outputs (your runs/ stay)
	@rm -rf .venv build dist src/*.egg-info
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
