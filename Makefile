# Everything a developer or CI runs. Needs make and Python 3.11 or newer; uses uv when it is there.
.POSIX:
PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin
CONSTRAINTS = constraints/dev.txt
KILLS = 200
EXAMPLES = 60
SEED = 0
# Neighbours mostly run in one process, which makes what they share once.
PARALLEL = -n auto --dist worksteal
# The first process keeps the bytecode for the hundreds that tests start, whatever the environment says.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

.PHONY: help run check test test-long test-faults test-lowest test-crash test-scale test-orders test-spark test-browser lint format docs screens pictures bench fuzz clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | sort | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

DEMO = build/demo

run: $(VENV)/.run  ## Set up, import the histories on this machine, and show what they hold; without any, show a demo
	@if [ -n "$$($(BIN)/aix sources --format jsonl)" ]; then \
	  $(BIN)/aix import || [ $$? -eq 1 ]; \
	  $(BIN)/aix overview; \
	elif ! $(BIN)/aix overview 2>/dev/null </dev/null; then \
	  echo "There are no histories on this machine that AIX knows. This is a demo of an invented team:" && \
	  mkdir -p $(DEMO) && $(BIN)/aix demo $(DEMO) && \
	  $(BIN)/aix cost --by day --since 7d --ledger $(DEMO)/ledger && \
	  $(BIN)/aix audit --severity high --ledger $(DEMO)/ledger && \
	  $(BIN)/aix audit --ledger $(DEMO)/ledger -o $(DEMO)/audit.html && \
	  echo "The whole audit as a page: $(DEMO)/audit.html"; \
	fi

check: lint  ## Check style, types, and what breaks most often, within a minute
	$(PYTEST) -q $(PARALLEL) -m "not long and not faults" tests/importers/session_log tests/schema/test_schema.py \
	  tests/test_errors.py tests/pipeline/test_growth.py tests/schema/test_migrations.py tests/test_config.py tests/test_ids.py

test: $(VENV)/.dev  ## Set up and run the tests, but for the long ones that have targets of their own
	$(PYTEST) $(PARALLEL) -m "not long and not faults and not scale and not spark and not browser" $(PYTEST_ARGS)

# Test files that have targets of their own: test-orders and test-crash.
ORDERS = tests/merge/test_merge_rows.py tests/pipeline/test_import_properties.py tests/pipeline/test_connected_sources.py
CRASH = tests/merge/test_crash.py
ELSEWHERE = $(ORDERS:%=--ignore=%) $(CRASH:%=--ignore=%)

test-long: $(VENV)/.dev  ## Run the tests that make many commits, processes or environments, and slow variants of others
	$(PYTEST) $(PARALLEL) -m "long and not faults and not scale" $(ELSEWHERE) $(PYTEST_ARGS)

test-faults: $(VENV)/.dev  ## Make every step of a commit and an import fail
	$(PYTEST) $(PARALLEL) -m faults $(ELSEWHERE) $(PYTEST_ARGS)

# Tests that other versions of DuckDB, pyarrow, polars, msgspec or click could break: of the SQL library, of rows that are
# checked, joined, committed, forgotten and read, of the formats and the command line. The SQL library runs there over
# cached rows, which is faster than as in a plain client. Of the long tests those of commits and forgetting.
LOWEST = tests/queries tests/importers/session_log/test_situations.py tests/importers/claude_code/test_golden.py \
  tests/importers/cursor/test_golden.py tests/permissions/test_derived_tables.py tests/cli/test_commands.py \
  tests/cli/test_cost_command.py tests/output/test_formats.py tests/store/test_ledgers_of_all_versions.py \
  tests/schema/test_migrations.py tests/reading/test_ledger.py tests/reading/test_results.py \
  tests/reading/test_statements.py tests/reading/test_sessions.py tests/merge/test_replacement.py \
  tests/schema/test_schema.py tests/cli/test_sql_command.py tests/cli/test_status.py tests/cli/test_stdout.py \
  tests/test_canonical_json.py
LOWEST_LONG = tests/derived/test_catalog.py tests/merge/test_merge_rows.py tests/merge/test_groups.py tests/merge/test_forget.py
LOWEST_PYTEST = PYTHONDONTWRITEBYTECODE= .venv-lowest/bin/python -m pytest $(PARALLEL) $(PYTEST_ARGS)

test-lowest:  ## Run the tests that depend on them with the lowest supported versions of the dependencies
	@$(MAKE) --no-print-directory .venv-lowest/.dev VENV=.venv-lowest CONSTRAINTS=constraints/lowest.txt
	$(LOWEST_PYTEST) -m "not long and not scale and not spark" $(LOWEST)
	$(LOWEST_PYTEST) -m long $(LOWEST_LONG)

test-crash: $(VENV)/.dev  ## Kill processes in the middle of their commits: KILLS=200 each, writers and workers
	AIX_CRASH_KILLS=$(KILLS) $(PYTEST) $(PARALLEL) -rP $(CRASH)

test-scale: $(VENV)/.dev  ## Check what is large within bounded memory: 10,000 turns in a tree, long sessions, many rows
	AIX_SCALE_TURNS=10000 AIX_SCALE_EVENTS=100000 $(PYTEST) tests/test_scale.py
	$(PYTEST) $(PARALLEL) -m scale $(PYTEST_ARGS)

test-orders: $(VENV)/.dev  ## Join random rows, and import random logs, in many orders and splits: EXAMPLES=60 of each
	AIX_PROPERTY_EXAMPLES=$(EXAMPLES) $(PYTEST) $(PARALLEL) $(ORDERS) tests/merge/test_join.py

test-spark:  ## Run the SQL library on Spark, which needs Java 17, and compare the rows with DuckDB's
	@[ -n "$$JAVA_HOME" ] || command -v java >/dev/null 2>&1 || \
	  { echo "Spark needs Java 17 or newer, and there is no java; install one (Debian, Ubuntu: apt install openjdk-17-jre-headless)" >&2; exit 1; }
	@$(MAKE) --no-print-directory $(VENV)/.spark
	$(PYTEST) $(PARALLEL) -m spark tests/queries/test_spark.py $(PYTEST_ARGS)

test-browser: $(VENV)/.dev  ## Open the pages of reports in headless Chromium, which is installed where it is missing
	@tests/support/install_chromium.sh
	$(PYTEST) -m browser tests/permissions/audit/test_browser.py tests/reports/test_browser.py $(PYTEST_ARGS)

lint: $(VENV)/.dev  ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## Put the formatting right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## Write the generated pages and queries
	$(BIN)/python docs/generate.py

screens: $(VENV)/.dev  ## Run the commands of the README and the tutorial, and write what they print
	$(BIN)/python docs/screens.py

pictures: $(VENV)/.dev  ## Take the pictures of reports in docs/pictures/reports
	@tests/support/install_chromium.sh
	$(BIN)/python docs/report_pictures.py

bench: $(VENV)/.dev  ## Measure speed and memory
	$(BIN)/python -m benchmarks.run

fuzz: $(VENV)/.dev  ## Read logs that were changed at random, SEED=0, and look for losses and failures
	$(BIN)/python -m benchmarks.fuzz --seed $(SEED)

clean:  ## Remove what the other targets made
	rm -rf .venv .venv-lowest .venv-spark build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.run: pyproject.toml $(CONSTRAINTS)
	@$(MAKE) --no-print-directory install WHAT=. VENV=$(VENV) CONSTRAINTS=$(CONSTRAINTS)
	@touch $@

$(VENV)/.dev: pyproject.toml $(CONSTRAINTS)
	@$(MAKE) --no-print-directory install WHAT=.[dev] VENV=$(VENV) CONSTRAINTS=$(CONSTRAINTS)
	@touch $@ $(VENV)/.run

$(VENV)/.spark: pyproject.toml $(CONSTRAINTS)
	@$(MAKE) --no-print-directory install WHAT=.[dev,spark] VENV=$(VENV) CONSTRAINTS=$(CONSTRAINTS)
	@touch $@

.PHONY: install
install:
	@set -e; if command -v uv >/dev/null 2>&1; then \
	  [ -x $(BIN)/python ] || uv venv --quiet --python '>=3.11' $(VENV); \
	  uv pip install --quiet --python $(BIN)/python -c $(CONSTRAINTS) -e '$(WHAT)'; \
	else \
	  command -v $(PYTHON) >/dev/null 2>&1 || \
	    { echo "AIX needs Python 3.11 or newer, and there is no $(PYTHON); install one, or name one: make PYTHON=/path/to/python" >&2; exit 1; }; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "AIX needs Python 3.11 or newer, and $(PYTHON) is older; name another: make PYTHON=python3.12" >&2; exit 1; }; \
	  $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	    { echo "$(PYTHON) lacks the venv module; install it (Debian, Ubuntu: apt install python3-venv), or install uv" >&2; exit 1; }; \
	  [ -x $(BIN)/pip ] || $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '$(WHAT)'; \
	fi
