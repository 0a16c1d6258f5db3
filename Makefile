# make run, make test: nothing else is needed before, but Python 3.11 or newer.

VENV   := .venv
PYTHON := $(VENV)/bin/python
SYSTEM := $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: run test test-browser lint install requirements compiled messages schema api sbom dist docs
.DEFAULT_GOAL := run

# Everything on this machine, PostgreSQL included. Ctrl-C ends it. PORT=8001 make run takes another port.
run: $(VENV)/base.stamp compiled
	@exec $(PYTHON) manage.py run

# Two workers more than there are cores, for tests of processes mostly wait; a file to one worker.
# TESTS="tests/feeds -k name" make test runs a part, TESTS="-n 0 --pdb tests/feeds/test_opml.py" in this process.
# Those with the machine's Redis, RabbitMQ and Virtuoso have a lane of their own: make test TESTS="-m services"
TESTS ?= -m "not browser and not faults and not services"
PYTEST := $(PYTHON) -m pytest -n $$(( $$(nproc) + 2 )) --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test: $(VENV)/dev.stamp compiled
	$(PYTEST) $(TESTS)

# Walks through the pages in headless Chromium, and readers of the desktop; skipped where these are not installed.
test-browser: $(VENV)/dev.stamp compiled
	$(PYTEST) -m browser

lint: $(VENV)/dev.stamp
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(VENV)/bin/djangofmt --check --quiet --indent-width 2 templates
	$(PYTHON) -m mypy
	$(VENV)/bin/lint-imports
	DATABASE_URL=none $(PYTHON) manage.py makemigrations --check --dry-run

install: $(VENV)/dev.stamp

# Bytecode is written once, not by each of the processes that start together; some may not write it at all.
compiled: | $(PYTHON)
	-@$(PYTHON) -m compileall -q crawler feeds articles recrawl 2>/dev/null

# Gather the texts of pages for translators, and compile their translations; needs GNU gettext.
messages: $(VENV)/dev.stamp
	DATABASE_URL=none $(PYTHON) manage.py makemessages --all --no-wrap --no-obsolete --add-location file \
		--ignore $(VENV) --ignore tests --ignore benchmarks --ignore docs
	DATABASE_URL=none $(PYTHON) manage.py compilemessages --ignore $(VENV)

# Write the tables that a new database gets at once; after a new migration.
schema: $(VENV)/dev.stamp
	$(PYTHON) contrib/schema.py

# Write down what programs may rely on in the API; a test compares.
api: $(VENV)/dev.stamp
	$(PYTHON) contrib/api.py

# Write the bill of materials (CycloneDX) of the version that a build would have.
sbom: $(VENV)/dev.stamp
	$(PYTHON) contrib/sbom.py "$$($(PYTHON) manage.py version | cut -d' ' -f2)"

# Pin and hash what requirements/*.in name; needs uv.
requirements:
	for set in base dev docs; do uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header \
		--universal --python-version 3.11 requirements/$$set.in -o requirements/$$set.txt; done

# Build a wheel, a source distribution and the browser extension into dist/.
dist: $(VENV)/dev.stamp
	$(PYTHON) -m hatchling build -d dist
	$(PYTHON) contrib/webextension/build.py dist

# The documentation as a site into dist/site, from the Markdown files as they lie here. It asks nothing of others.
docs: $(VENV)/docs.stamp
	rm -rf dist/pages dist/site
	mkdir -p dist/pages
	cp --parents *.md docs/*.md docs/*.png docs/*.txt docs/notes/*.md dist/pages
	cp -r docs/figures dist/pages/docs/
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build --strict --quiet --config-file contrib/site/mkdocs.yml

$(PYTHON):
	@test -n "$(SYSTEM)" || { echo "Freshet needs Python 3.11 or newer (python3.11 or python3)"; exit 1; }
	$(SYSTEM) -m venv $(VENV)

# dev.txt holds all of base.txt, so a development environment can run Freshet as well.
$(VENV)/base.stamp: requirements/base.txt | $(PYTHON)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt | $(PYTHON)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@ $(VENV)/base.stamp

$(VENV)/docs.stamp: requirements/docs.txt | $(PYTHON)
	$(SYSTEM) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@
