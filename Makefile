# `make demo` and `make test` do all their own set-up: a virtual environment with pinned dependencies in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint docs torture pythons clean

setup: $(VENV)/ready

# packages are compiled on all cores, without their own tests; pip would do it on one
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e ".[dev]"
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib || true
	touch $@

demo: setup
	$(BIN)/ldhd demo

lint: setup
	$(BIN)/ruff check src tests examples scripts
	$(BIN)/ruff format --check src tests examples scripts
	$(BIN)/mypy

test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

# the documentation as a site that opens from its folder: site/index.html
docs: setup
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# kills, full disks, damaged files, sweeps on one folder, wild clocks, malformed configs: minutes; a summary of counts
torture: setup
	OMP_NUM_THREADS=1 $(BIN)/python tests/torture.py

# For every promised Python: whether the pinned versions exist as wheels (some packages of the tests have none at all, so only
# what users install is checked), and, where it is found and is not that of `make test`, an installation of its own and some tests.
pythons: setup
	@for minor in $$(sed -n 's/.*Python :: 3\.\([0-9]*\)".*/\1/p' pyproject.toml); do \
	  $(BIN)/pip install --quiet --dry-run --ignore-installed --only-binary :all: --python-version 3.$$minor \
	    --target $(VENV)/unused -c constraints.txt ".[hf,onnx,tensorboard]" || exit 1; \
	  echo "3.$$minor: the pinned versions exist"; \
	  $(BIN)/python -c "import sys; sys.exit(sys.version_info[1] != $$minor)" && continue; \
	  python=; for found in python3.$$minor $$HOME/.pyenv/versions/3.$$minor.*/bin/python; do \
	    $$found -c "import ensurepip, venv" 2> /dev/null && python=$$found && break; \
	  done; \
	  [ "$$python" ] || { echo "3.$$minor: not found on this machine, so not tried"; continue; }; \
	  own=$(VENV)/python3.$$minor; \
	  $$python -m venv $$own && \
	  $$own/bin/pip install --quiet --no-compile -c constraints.txt -e . pytest hypothesis beartype && \
	  OMP_NUM_THREADS=1 $$own/bin/pytest --quiet tests/test_imports.py tests/test_cli.py || exit 1; \
	  echo "3.$$minor: installed and tried"; \
	done

clean:
	rm -rf $(VENV) demo runs site dist
