# Two commands set everything up on a fresh machine: `make augment` and `make test`.
#
#   make augment [CORPUS=sentences.txt] [STORE=store] [ARGS="--set una.beta=0.4"]
#   make test | make test-slow | make lint
#   PIP_ARGS= reaches pip, for example PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"

PYTHON   := .venv/bin/python
BOOTSTRAP ?= python3
STORE    ?= store
CORPUS   ?=
ARGS     ?=
PIP_ARGS ?=
DATA     ?= ../shared/data
TORCHRUN := .venv/bin/torchrun

# The real data are optional: tests that need them skip where the folder does not exist.
ifneq ($(wildcard $(DATA)/README.md),)
export DATA
endif

.PHONY: help setup augment test test-slow lint clean

help:
	@echo "make augment    make augmentations of the sample (or CORPUS=...) in STORE=store"
	@echo "make train      train a sentence encoder on the store"
	@echo "make eval       score an encoder"
	@echo "make reproduce  train and score every method next to its baseline (docs/evidence.md)"
	@echo "make data       fetch the public evaluation sets (needs the network)"
	@echo "make test       lint, types and the quick tests; make test-slow runs the long ones"

# One environment, made anew whenever the pinned versions or the package's needs change.
.venv/.complete: constraints.txt setup.cfg pyproject.toml
	$(BOOTSTRAP) -m venv .venv
	$(PYTHON) -m pip install --quiet $(PIP_ARGS) --constraint constraints.txt --editable ".[dev]"
	@touch .venv/.complete

setup: .venv/.complete

augment: setup
	.venv/bin/augment-cli run default --store $(STORE) $(if $(CORPUS),--corpus $(CORPUS)) $(ARGS)

lint: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

test: lint
	$(PYTHON) -m pytest -m "not slow"

test-slow: setup
	$(PYTHON) -m pytest -m slow

clean:
	rm -rf .venv store runs results .pytest_cache .mypy_cache .ruff_cache .hypothesis

-include eval/Makefile.inc
-include train/Makefile.inc
-include data/recipes/pipeline/Makefile.inc
-include data/recipes/paraphraser/Makefile.inc
