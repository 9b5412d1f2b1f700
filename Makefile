# Every target sets up .venv first, from constraints.txt, and again when pyproject.toml or constraints.txt change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt
OFFLINE := HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 RAY_USAGE_STATS_ENABLED=0
# More arguments for the program behind a target: make test ARGS="tests/unit -x"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install serve test test-gpu gpu-check lint format bench load-test proto manifests clean

help: ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

install: $(STAMP) ## Set up .venv

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Seer needs Python 3.11 or newer; name one with PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[serve,plot,data,harness,load,dev]'
	@touch $@

serve: $(STAMP) ## Serve the embedded model: HTTP on 8000, gRPC on 9000
	$(BIN)/python -m deployments $(ARGS)

# The coverage floor is for the whole suite; a part of it, named in ARGS, is judged by its tests alone.
test: $(STAMP) ## Run every test that needs no GPU, with the coverage floor
	$(OFFLINE) RAY_AUTH_MODE=disabled $(BIN)/python -m pytest $(if $(ARGS),,--cov) $(ARGS)

test-gpu: $(STAMP) ## Run the tests that need a GPU
	$(OFFLINE) RAY_AUTH_MODE=disabled $(BIN)/python -m pytest tests/gpu $(ARGS)

gpu-check: $(STAMP) ## Check and measure what needs a GPU, in minutes; ends in one JSON line
	$(BIN)/python -m seer_core.tools.gpu_check

lint: $(STAMP) ## Check style, formatting, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## Rewrite the code in the house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(STAMP) ## Measure this machine; ends in one JSON line
	$(BIN)/seer bench --json $(ARGS)

load-test: $(STAMP) ## Load a running service, watch workers scale; ends in one JSON line
	$(OFFLINE) $(BIN)/python -m load_tests $(ARGS)

proto: $(STAMP) ## Regenerate the gRPC modules from deployments/proto/seer.proto
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. --grpc_python_out=. deployments/proto/seer.proto

manifests: ## Write serve_config.yaml into the RayService
	sed -i '/^  serveConfigV2: |$$/q' cluster/kuberay/rayservice.yaml
	sed 's/^\(..*\)$$/    \1/' serve_config.yaml >> cluster/kuberay/rayservice.yaml

clean: ## Remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
