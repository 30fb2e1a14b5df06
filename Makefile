# Two commands do everything on a fresh machine: `make run` and `make test`.
# More options for the workflow: make run ARGS="--config scale=full workloads=mnist_mlp"

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin

.PHONY: run test lint format setup pins

run: setup
	@$(BIN)/python scripts/unlock.py
	@$(BIN)/snakemake $(ARGS)
	@echo
	@cat results/answer.txt
	@echo "The report, with figures and tables: results/report.html"

test: setup
	@$(BIN)/snakemake environments --quiet all --config workloads=all frameworks=all "data={source: synthetic}"
	@$(BIN)/python -m pytest $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

setup: .venv/ready

# The environment of the workflow and the analysis. Frameworks get theirs from a rule, on demand.
.venv/ready: envs/workflow.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "epochcost needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@echo "Making .venv (about half a minute)"
	@$(PYTHON) -m venv .venv || { echo "epochcost: $(PYTHON) cannot make virtual environments; install its venv package (Debian: python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
	@UV_FIND_LINKS="$$PIP_FIND_LINKS" UV_COMPILE_BYTECODE=1 $(BIN)/uv pip install --quiet --python $(BIN)/python -r envs/workflow.txt
	@touch $@

# Resolve envs/*.in anew into the full lists of pins. The CPU list of torch is the GPU list
# without the CUDA packages, which the CPU build does not have.
pins: setup
	for name in workflow tensorflow-cpu tensorflow-gpu torch-gpu jax-cpu jax-gpu; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate envs/$$name.in -o envs/$$name.txt || exit 1; \
	done
	grep -v -P '^(nvidia-(?!ml-py)|triton|cuda-)' envs/torch-gpu.txt > envs/torch-cpu.txt
	$(BIN)/python scripts/pins.py
