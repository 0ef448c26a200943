# The index of commands. Each target sets up what it needs; `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= runs

.PHONY: help install demo test lint types cover bench wheel lock clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@# The lock is complete: nothing to resolve. Python compiles what it imports, and no more.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

install: $(VENV)/.installed  ## make the virtual environment from the lock file

demo: install  ## run the main job on the bundled history with the offline engine
	$(BIN)/memsteer demo --out $(OUT)/demo

test: install  ## run the tests
	$(BIN)/python -m pytest

lint: install  ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install  ## check types, on a copy that is not editable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --target build/typed --upgrade .
	MYPYPATH=build/typed $(BIN)/mypy -p memsteer

cover: install  ## run the tests and print coverage
	$(BIN)/python -m pytest --cov=memsteer --cov-report=term-missing:skip-covered --cov-fail-under=90

bench: install  ## print the speed ratios
	$(BIN)/python benchmarks/knob_trials.py
	$(BIN)/python benchmarks/program_overhead.py
	$(BIN)/python benchmarks/graph_scaling.py

wheel: install  ## build the wheel
	$(BIN)/python -m build --wheel --no-isolation

lock: install  ## write requirements.lock anew from what is installed
	$(BIN)/python -m pip freeze --all --exclude-editable | grep -vE "^(pip|memsteer)==" | sed "s/+cpu//" > requirements.lock

clean:  ## remove what was built
	rm -rf $(VENV) build dist runs .pytest_cache .mypy_cache .ruff_cache
