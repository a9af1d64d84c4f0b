# Two commands set everything up on a fresh machine: `make run` and `make test`. The rest serves those who change things.
PYTHON ?= python3
MANAGE = $(PYTHON) manage.py

.DEFAULT_GOAL := help

.PHONY: help run test check format admit bench load chaos setup system

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup ## start the site and print its address
	@$(PYTHON) ops/supervisor.py

setup: ## prepare everything that running needs; does nothing when it is done
	@$(PYTHON) ops/setup.py run

system: ## install the Debian packages that running and testing need (root)
	@$(PYTHON) ops/setup.py system

test: ## all tests, as CI runs them
	@$(PYTHON) ops/setup.py test
	@$(PYTHON) ops/run_tests.py $(TESTS)

check: ## format, lint, types, import contracts, migrations, assets, documentation
	@$(PYTHON) ops/check.py

format: ## put the code in the one format
	@.venv/bin/ruff format . && .venv/bin/ruff check --fix .

admit: ## play every solution of every scenario through the real engines; write anchors.json
	@$(MANAGE) admit $(SCENARIOS)
	@$(PYTHON) ops/believable.py
	@$(PYTHON) ops/evidence.py

bench: ## speed and memory beside peers, as ratios of one run
	@$(PYTHON) ops/setup.py test
	@$(PYTHON) ops/bench.py

load: ## a class at work on the product: what its people wait for, and what it costs
	@$(PYTHON) ops/setup.py test
	@$(PYTHON) ops/load $(LOAD)

chaos: ## kill parts of a site under people's hands, a hundred times, and count what is lost or doubled
	@$(PYTHON) ops/setup.py test
	@$(PYTHON) -m ops.chaos $(CHAOS)
