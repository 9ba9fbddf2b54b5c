# Each target sets up what it needs in .venv, once, and again only after pyproject.toml or constraints.txt changed.
PYTHON ?= python3
BIN := .venv/bin
# setuptools, which has a hash, builds packages without a wheel; `make test BUILD=` lets pip fetch other build tools
BUILD := --no-build-isolation
PIP = $(BIN)/pip install --disable-pip-version-check $(BUILD) $(LAZILY)
# two processes; files stay whole, so that each game compiles in one of them; a process that dies ends the tests
BOTH := -n 2 --dist loadfile --max-worker-restart 0

FILES := rules board text evaluate hidden patterns cards
CHECKS := $(patsubst %,tests/checks/test_%.py,laws portrait fault_lines)
RULES := $(wildcard tests/games/test_*.py $(FILES:%=tests/games/*/test_%.py)) $(CHECKS) # rule functions

.PHONY: demo web test test-peers test-cluster test-web test-slow torture lint audit docs docs-serve bench bench-gpu clean help

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

demo: .venv/.pictures .venv/.web  ## an agent learns Connect Four before your eyes, in about a minute and a half, compiling included
	$(BIN)/plyground train --profile connect_four_demo
demo: LAZILY := --no-compile # Python compiles a module when it is first imported, and most never are: 70 MB less

web: .venv/.learn .venv/.web  ## play, watch, understand and learn in a browser: a page from a server on this machine
	$(BIN)/plyground serve --open

test: .venv/.test  ## all tests but the slow ones; the rules also with bounds checked and with the compiler off
	$(BIN)/pytest $(BOTH) -m "not slow and not peers and not cluster and not interpreted" --ignore tests/web/browser
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest $(BOTH) -m "not slow and not once and not interpreted" $(RULES)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest $(BOTH) -m "not slow and not compiled" $(RULES)

test-peers: .venv/.peers  ## the adapters, with the tests of PettingZoo, Gymnasium and OpenSpiel; ONNX; model folders
	$(BIN)/pytest $(BOTH) -m "peers and not slow"

test-cluster: .venv/.test  ## clusters of one node and of two on this machine: the same results as in one process
	$(BIN)/pytest -m "cluster and not slow" tests/cluster

test-web: .venv/.browser build/node_modules/axe-core  ## the page in a real browser: Chromium; without one the tests skip with the reason
	$(BIN)/pytest $(BOTH) -m "not slow" tests/web/browser

test-slow: .venv/.peers  ## the proofs that take minutes
	$(BIN)/pytest -m slow --ignore tests/web/browser

SEED ?= 0
SECONDS ?= 600
torture: .venv/.test  ## proofs for as long as you like, with a report: make torture SEED=1 SECONDS=3600 PROOFS="texts games"
	PYTHONPATH=tests $(BIN)/python -m torture $(PROOFS) --seed $(SEED) --seconds $(SECONDS) --report build/torture.json

lint: .venv/.lint  ## format, rules and strict types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

audit: .venv/.test  ## versions, pins and licences of what is installed
	$(BIN)/python tools/audit.py

docs: .venv/.docs  ## the documentation as a site, into build/site
	$(BIN)/python tools/build_site.py

docs-serve: docs  ## the same on http://127.0.0.1:8004, with search, until Ctrl-C
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8004

bench: .venv/.bench  ## speed beside the peers', as ratios from one run
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/chess_speed.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/paco_sako.py
	$(BIN)/python benchmarks/sequence.py
	$(BIN)/python benchmarks/solver.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/teacher.py
	$(BIN)/python benchmarks/interop.py

bench-gpu: .venv/.gpu  ## everything on a GPU: rules, encoders, a learner, and pgx where it is installed
	$(BIN)/python benchmarks/gpu.py

build/node_modules/axe-core: # rules of accessibility; the tests that need them skip without
	npm install --no-save --no-audit --no-fund --prefix build axe-core@4.14.0 || echo "axe-core could not be installed"

clean:  ## remove what these targets made
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/pip:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Plyground needs Python 3.11 or newer; this is ' + sys.version)"
	$(PYTHON) -m venv .venv

NEEDS_TORCH = grep -q '^torch==.* $* ' constraints.txt
TORCH_IS_NEW = $(NEEDS_TORCH) && ! ls .venv/lib/python*/site-packages/torch >/dev/null 2>&1

# .venv/.learn holds the extra [learn], and so on: files that have a hash in constraints.txt, then torch, which fits the
# machine, then Plyground itself, which finds all that it needs installed.
.venv/.%: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing Plyground with its extra [$*] into .venv$$($(TORCH_IS_NEW) && \
		echo ': PyTorch is most of it, about 1.3 GB in all and some minutes')"
	sed -n 's/ #.* $* .*: / /p' constraints.txt > .venv/$*.txt
	grep '^setuptools==' .venv/$*.txt > .venv/setuptools.txt
	$(PIP) --no-deps --require-hashes --requirement .venv/setuptools.txt
	$(PIP) --no-deps --require-hashes --requirement .venv/$*.txt
	if $(NEEDS_TORCH); then $(PIP) --constraint constraints.txt torch; fi
	$(PIP) --no-index --editable ".[$*]"
	touch $@

# numba-cuda and torch's GPU parts fit the machine too: they have neither pins nor hashes
.venv/.gpu: .venv/.learn
	$(PIP) --constraint constraints.txt --editable ".[gpu]"
	touch $@
