# `make demo` shows rules on embedded data, `make test` is exactly what CI runs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types browser bench docs clean

demo: .venv/installed
	$(BIN)/frri demo

test: lint types browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

# The page is tested in Chromium and with axe-core. Where they cannot be had, its tests say so: by being
# skipped, in CI by failing.
AXE := .venv/axe/node_modules/axe-core/axe.min.js
browser: .venv/installed-dev
	@test -x /usr/bin/chromium || ! command -v apt-get >/dev/null || { apt-get update && apt-get install -y chromium; } || true
	@test -e $(AXE) || ! command -v npm >/dev/null || npm install --silent --no-fund --prefix .venv/axe axe-core || true

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks

# Into site/, readable from disk; a warning (a dead link, a page outside the menu) is an error.
docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Debian splits venv off Python itself: fetch it when it is missing and we may.
.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ .venv/installed

.venv/installed-bench: .venv/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	touch $@
