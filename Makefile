# Two commands do everything on a fresh machine: `make run` and `make test`.
# More options for the workflow: make run ARGS="--config scale=full workloads=mnist_mlp"

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin

# A variable that nobody reads would be ignored without a word (such as price=0.10).
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(word 1,$(origin $(name)))),$(name)))
UNKNOWN := $(filter-out PYTHON ARGS EPOCHCOST_% PIP_% UV_% %_proxy %_PROXY,$(GIVEN))
ifneq ($(UNKNOWN),)
$(error epochcost: make knows no $(UNKNOWN); options of the workflow go into ARGS: make run ARGS="--config price=0.10")
endif

# As Snakemake takes braces for its own, and a search path is divided at colons.
ifneq ($(findstring {,$(CURDIR))$(findstring },$(CURDIR))$(findstring :,$(CURDIR)),)
$(error epochcost: $(CURDIR): move the clone to a path without braces and colons)
endif

# What a user has set for other projects changes nothing here: installing into the home folder, other
# versions than the pins, packages from elsewhere.
override PIP_USER := 0
export PIP_USER
unexport PYTHONPATH PYTHONHOME PYTHONOPTIMIZE PIP_CONSTRAINT PIP_TARGET PIP_PREFIX
unexport UV_CONSTRAINT UV_OVERRIDE UV_EXCLUDE UV_EXCLUDE_NEWER UV_REQUIRE_HASHES UV_SYSTEM_PYTHON

# Caches need a home folder that can be written, which an account without a name has not.
ifneq ($(shell test -d "$$HOME" && echo there),there)
export HOME := $(CURDIR)/.snakemake/home
$(shell mkdir -p .snakemake/home)
else ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export XDG_CACHE_HOME ?= $(CURDIR)/.snakemake/cache
endif

.PHONY: run test lint format setup cloud docs own pins

run: setup ## everything: environments, data, training, prices, report
	@$(BIN)/python scripts/unlock.py
	@$(BIN)/snakemake $(ARGS)

test: setup ## run the tests
	@$(BIN)/snakemake environments --quiet all --config workloads=all frameworks=all "data={source: synthetic}"
	@$(BIN)/python -m pytest -n 2 $(ARGS)

lint: setup ## check the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

format: setup ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

setup: .venv/ready ## make the workflow's environment alone

# The environment of the workflow and the analysis. Frameworks get theirs from a rule, on demand.
.venv/ready: envs/workflow.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "epochcost needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@echo "Creating .venv (about half a minute)"
	@$(PYTHON) -m venv .venv || { echo "epochcost: $(PYTHON) cannot make virtual environments; install its venv package (Debian: python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
	@UV_FIND_LINKS="$${UV_FIND_LINKS:-$$PIP_FIND_LINKS}" UV_COMPILE_BYTECODE=1 $(BIN)/uv pip install --quiet --python $(BIN)/python -r envs/workflow.txt
	@ln -sf ../../epochcost $(BIN)/epochcost
	@touch $@

# The workflow with the cloud executors, each of which makes every start of Snakemake slower.
cloud: .venvs/cloud/ready ## make the environment with the executors of clouds

.venvs/cloud/ready: envs/cloud.txt .venv/ready
	@$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .venvs/cloud
	@UV_FIND_LINKS="$${UV_FIND_LINKS:-$$PIP_FIND_LINKS}" UV_COMPILE_BYTECODE=1 $(BIN)/uv pip install --quiet --python .venvs/cloud/bin/python -r envs/cloud.txt
	@touch $@

# The manual, in an environment of its own.
docs: .venvs/docs/ready ## build the manual: docs/_build/html/README.html
	@.venvs/docs/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --write-all docs docs/_build/html
	@echo "The manual: docs/_build/html/README.html"

.venvs/docs/ready: envs/docs.txt .venv/ready
	@$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .venvs/docs
	@UV_FIND_LINKS="$${UV_FIND_LINKS:-$$PIP_FIND_LINKS}" UV_COMPILE_BYTECODE=1 $(BIN)/uv pip install --quiet --python .venvs/docs/bin/python -r envs/docs.txt
	@touch $@

# Real frameworks for the tests of own trainings.
own: .venvs/own/ready ## make the frameworks that tests of own trainings run

.venvs/own/ready: envs/own.txt .venv/ready
	@$(BIN)/python scripts/environment.py own
	@# transformers imports it where it is there, and the package index has no build for CPUs.
	@$(BIN)/uv pip uninstall --quiet --python .venvs/own/bin/python torchvision
	@touch $@

# Resolve envs/*.in again into the full lists of pins. The CPU list of torch is the GPU list
# without the CUDA packages, which the CPU build does not have; so is that of own. Conda makes an environment anew where
# its script has changed, so that names the checksum of the pins.
pins: setup ## resolve the pins of `envs/` again
	for name in workflow cloud docs tensorflow-cpu tensorflow-gpu torch-gpu jax-cpu jax-gpu own; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate envs/$$name.in -o envs/$$name.txt || exit 1; \
	done
	grep -v -P '^(nvidia-(?!ml-py)|triton|cuda-)' envs/torch-gpu.txt > envs/torch-cpu.txt
	sed -i -E '/^(nvidia-|triton|cuda-)/d' envs/own.txt
	for script in envs/*.post-deploy.sh; do \
		sum=$$(sha256sum < $${script%.post-deploy.sh}.txt | cut -d ' ' -f 1) && \
		sed -i "s/^# sha256 of the pins: .*/# sha256 of the pins: $$sum/" $$script || exit 1; \
	done
