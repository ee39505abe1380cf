# Two commands on a fresh machine do everything: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench soak clean

demo: $(VENV)/.demo
	@CLAWMARK="$(BIN)/clawmark" sh examples/demo.sh

test: $(STAMP)
	$(BIN)/pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python benchmarks/daily.py

# The crash harness, and the model-based tests for longer, at other examples each time.
soak: $(STAMP)
	$(BIN)/python benchmarks/crash.py
	SOAK=$${SOAK:-1000} $(BIN)/pytest -x tests/stateful

clean:
	rm -rf $(VENV) examples/workspace/.clawmark

$(VENV)/.demo: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "clawmark needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "clawmark needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@$(BIN)/python -m compileall -q src
	@touch $@
