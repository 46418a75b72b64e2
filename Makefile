# The same few commands for people and for CI. Each step leaves a stamp in .make/ when it is done, so that
# nothing is installed twice and an interrupted step is simply done again.

PYTHON ?= python3
HOST ?= $(or $(GRADWALK_HOST),127.0.0.1)
PORT ?= $(or $(GRADWALK_PORT),8000)
PYTEST_ARGS ?=
SLICE ?= 1/8
GROUP ?=
TORCH ?= $(shell sed -n 's/^torch==//p' requirements/lock.txt)
# An extra index for pip while it installs torch; see README.md, "A smaller PyTorch".
TORCH_INDEX ?=

BIN := .venv/bin
# The page is built by a target of its own.
INSTALL := GRADWALK_SKIP_FRONTEND=1 $(BIN)/python -m pip --disable-pip-version-check install --constraint requirements/lock.txt
FRONTEND_SOURCES := $(shell find frontend -type f -not -path 'frontend/node_modules/*' -not -path 'frontend/dist/*' -not -name '*.test.*')

.PHONY: help install run quick test test-all test-slice test-with test-setup test-hosts check fix generate release bench clean
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

install: .make/package .make/frontend ## set everything up in .venv and frontend/node_modules, without serving

run: install ## install, build the page and serve it on http://127.0.0.1:8000 (HOST=, PORT=)
	@echo "==> gradwalk on http://$(HOST):$(PORT)  (Ctrl-C stops it)"
	@GRADWALK_HOST=$(HOST) GRADWALK_PORT=$(PORT) exec $(BIN)/gradwalk serve

quick: install .make/python-test ## ring 1, under 90 seconds: checks, and the tests that start no process
	@scripts/check quick

test: test-setup ## rings 1 and 2: also servers, browsers, sandboxes, a real redis-server; large collections in samples
	@scripts/test $(PYTEST_ARGS)

test-all: test-setup ## all three rings: every entry of the collections, crowds, kills under load
	@scripts/test all $(PYTEST_ARGS)

test-slice: test-setup ## one part of ring 3: make test-slice SLICE=3/8
	@scripts/test-slice $(SLICE) $(PYTEST_ARGS)

test-setup: install .make/python-test .make/test-packages ## install what the tests need, without running them

test-hosts: test-setup ## the lecturers' recipes in their real hosts (3 GB), or groups: GROUP="tex office", notebooks decks firefox edge
	@scripts/install-host-packages $(GROUP)
	@scripts/test-hosts $(GROUP)

test-with: ## the library's tests with another version: make test-with PYTHON=python3.13 TORCH=2.14.1 (may be gigabytes)
	@scripts/test-with $(PYTHON) $(TORCH) $(PYTEST_ARGS)

check: install .make/python-test ## format, lint, types, import rules, generated files
	@scripts/check

fix: .make/python-test .make/node_modules ## mend what can be mended by machine: format, imports, generated files
	@scripts/fix

generate: .make/package .make/node_modules ## write the TypeScript types anew from the Python models
	@npm --prefix frontend run --silent generate

release: test-setup ## build wheel and sdist into dist/; try both in empty environments and print their sizes
	@$(BIN)/python -m hatchling build --clean --directory dist
	@$(BIN)/python -m pytest --ring 3 tests/house/test_packaging.py
	@ls -lh dist

bench: install .make/python-test ## run every benchmark and print its table
	@scripts/bench

clean: ## forget everything that was installed or built
	rm -rf .venv .make frontend/node_modules server/gradwalk/static .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.make/venv:
	@mkdir -p .make
	@python=$$(PYTHON='$(PYTHON)' scripts/find-python) && echo "==> Virtual environment in .venv ($$($$python --version))" && $$python -m venv .venv
	@touch $@

# torch by its exact version and by itself: any other spelling may fetch a build for graphics cards, several gigabytes large.
.make/torch: .make/venv requirements/lock.txt
	@echo "==> $$(grep '^torch==' requirements/lock.txt) (the large one; only once)"
	@$(INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) "$$(grep '^torch==' requirements/lock.txt)"
	@touch $@

.make/package: .make/torch pyproject.toml hatch_build.py
	@echo "==> gradwalk itself, from this folder, and what it needs"
	@$(INSTALL) --editable '.[server,video]'
	@touch $@

.make/python-test: .make/package
	@echo "==> Python packages for the tests"
	@$(INSTALL) --editable '.[test]'
	@touch $@

.make/test-packages: scripts/install-test-packages
	@mkdir -p .make
	@scripts/install-test-packages
	@touch $@

.make/node_modules: frontend/package.json frontend/package-lock.json frontend/.npmrc
	@mkdir -p .make
	@scripts/check-node
	@echo "==> Front-end packages"
	@npm --prefix frontend ci --no-audit --no-fund
	@touch $@

.make/frontend: .make/venv .make/node_modules $(FRONTEND_SOURCES)
	@echo "==> Front-end build"
	@$(BIN)/python scripts/build_frontend.py
	@touch $@
