# `make` alone lists the targets.

PYTHON := .venv/bin/python
# Pytest; a test that fails is run once more, alone.
TESTS := $(PYTHON) -m scripts.run_tests
PARALLEL := --numprocesses auto --maxprocesses 4 --dist loadfile
# A test that takes longer (seconds) hangs: it fails and shows where.
QUICK := -m "not slow" --timeout 300 $(PARALLEL)
SLOW := -m slow --timeout 1800 --durations 20 --durations-min 10 $(PARALLEL)
# Files and folders of the slow tier, the longest first: xdist alone would end with files of one long
# test. Whole campaigns wait for their programs, so they run beside the matrices; the tests with torch,
# which takes both processors, come once the training campaign is over.
LONGEST := training agents bench repeated_exec killed_campaign browser_use real
LONGEST := $(addprefix tests/slow/test_,$(addsuffix .py,$(LONGEST)))
CAMPAIGNS := $(LONGEST) $(filter-out $(LONGEST),$(sort $(wildcard tests/slow/test_*.py)))
FIRST := $(addprefix tests/,exec/ llm/ bench/ browser/ training/)
FOLDERS := $(FIRST) $(filter-out $(FIRST) tests/slow/ tests/__pycache__/,$(sort $(wildcard tests/*/)))
IN_ORDER := $(CAMPAIGNS) $(FOLDERS) $(sort $(wildcard tests/test_*.py)) --no-loadscope-reorder
# Of the quick tier, the properties again, with more examples.
THOROUGH := -m "slow or hypothesis" --hypothesis-profile thorough

# One after the other, also under `make -j`: each has processors of its own to fill.
.NOTPARALLEL:

# The tests start Python many times over, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup programs training viewer demo test test-warex test-testbed test-slow test-all coverage check site release-check bench constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: ## make .venv: a Python, the pinned packages, a Chromium
	@sh scripts/setup.sh

demo: setup ## watch an agent meet the paper's failures, to a table and a report
	@.venv/bin/warex demo

test: test-testbed test-warex ## the quick tier; needs nothing but what setup brings

test-warex: setup ## the quick tier without the testbed's
	@$(TESTS) $(QUICK)

test-testbed: setup ## the quick tier of the testbed alone
	@$(TESTS) testbed/tests $(QUICK)

# The testbed's are nearly all in one file.
test-slow: setup programs training ## the slow tier: matrices, whole campaigns, other people's programs
	@status=0; \
	$(TESTS) $(SLOW) $(THOROUGH) $(IN_ORDER) || status=$$?; \
	$(TESTS) testbed/tests $(SLOW) --dist load || status=$$?; \
	exit $$status

test-all: programs test test-slow ## both tiers

# A test that fails does not fail this: those that measure time do, as each line takes longer.
coverage: setup ## the quick tier; fails if it runs less of a package than its floor
	@rm -f .coverage .coverage.*
	@$(PYTHON) -m coverage run -m pytest $(QUICK) || true
	@$(PYTHON) -m coverage combine --quiet
	@$(PYTHON) -m coverage report
	@$(PYTHON) -m coverage json --quiet -o .coverage.json
	@$(PYTHON) -m scripts.coverage_floor .coverage.json

programs: ## install, as root, what the slow tier puts behind WAREX; or say what to install
	@sh scripts/programs.sh

training: setup ## install into .venv what training needs (7 GB)
	@sh scripts/training.sh

viewer: ## build the pages of `warex view`, which are committed (needs Node)
	@cd viewer && npm install --no-audit --no-fund --no-package-lock --silent && npm run --silent check && npm run --silent build

check: setup ## lint, types, contracts, docs
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy src tests $(wildcard bench examples)
	@$(PYTHON) -m mypy --config-file testbed/pyproject.toml testbed/src testbed/tests
	@.venv/bin/lint-imports
	@$(PYTHON) -m scripts.check_forms
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet
	@$(PYTHON) -m pytest -m "not (wire or browser or slow)" -k docs

site: setup ## build the documentation site into build/site, and show it on port 8000
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs serve

release-check: setup ## build the distributions, and install and try them in fresh environments
	@$(PYTHON) -m scripts.release_check

bench: setup ## measure what WAREX costs: a row for each promise
	@$(PYTHON) -m bench

# Without UPGRADE=1, versions that still fit stay as they are. The extra `inspect` wants other versions
# of the rest: tests/exports/pins has what its tests install.
constraints: ## pin again what both distributions ask for (UPGRADE=1: the newest)
	@PATH="$(CURDIR)/.venv/bin:$$PATH" uv pip compile -q --universal --python-version 3.12 \
		--extra dev --extra train --no-emit-package warex-testbed --no-emit-index-url --no-annotate --no-header \
		$(if $(UPGRADE),--upgrade) -o constraints.txt pyproject.toml testbed/pyproject.toml

clean: ## remove .venv, caches and build outputs (your runs/ stay)
	@rm -rf .venv .python build dist src/*.egg-info testbed/build testbed/dist testbed/src/*.egg-info
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
	@rm -rf testbed/.pytest_cache testbed/.mypy_cache testbed/.ruff_cache
	@find src tests scripts testbed -name __pycache__ -type d -prune -exec rm -rf {} +
