# Everything a person does in this checkout starts here: `make help` lists it.
#
# Needs make and a Python of at least 3.11. The environment lives in .venv, or in .venv-3.12 where PYTHON=python3.12 is
# given; nothing is installed outside it, except Debian packages that are missing, and those only when make runs as root.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# A Python that is named has an environment of its own, so that versions do not get into each other's way.
VERSION := $(if $(PYTHON),$(shell '$(PYTHON)' -c 'import sys; print("-%d.%d" % sys.version_info[:2])' 2>/dev/null || echo -none))
VENV := .venv$(VERSION)
BIN := $(VENV)/bin
DEMO := hedgerow-demo

# The Python that makes the environment: the first of these that is at least 3.11, unless PYTHON names one.
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# Debian packages the tests need, as command:package. A package is installed when its command is missing.
# (Debian keeps the programs of PostgreSQL's server off the path, in a folder of their own.)
SYSTEM_PACKAGES := $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),,initdb:postgresql) $(if $(wildcard /usr/sbin/mariadbd),,mariadbd:mariadb-server) java:openjdk-17-jre-headless chromium:chromium openssl:openssl $(if $(wildcard /usr/lib/*/libpangoft2-1.0.so.0),,pango:libpangoft2-1.0-0)

# The tests of the quick loop: those that need no server, no Java and no browser, and little time.
FAST := $(addprefix tests/unit/,plan microdata privacy release reports outside studio cli test_api.py test_habits.py test_imports.py)

# Errors only: what is being installed is said below. What is never imported need not be compiled: Python does it when needed.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile -c constraints.txt
INPUTS := pyproject.toml constraints.txt

# Three stamps in one environment: made, with the package and the studio, with the package and the development tools.
MADE := $(VENV)/.stamp-made
CORE := $(VENV)/.stamp-core
DEV := $(VENV)/.stamp-dev

# The oldest versions of the libraries we name, with the newest of those that they need in turn.
OLDEST := .venv-oldest/.stamp-dev

# The tools that the benchmarks compare with want other versions than we do: an environment of their own.
PEERS := .peers/.stamp-made
ANONYMETER := .peers-anonymeter/.stamp-made

step = @printf '\n\033[1m== %s\033[0m\n' '$(1)'

##@ Start here

.PHONY: demo
demo: $(CORE) ## Anonymize a generated clinic, verify the release, and say where to look and what to type next
	@$(BIN)/hedgerow demo -o $(DEMO) --replace

# Three processes on two cores: one has Spark's tests, one those of the browser, and both wait half of their time.
.PHONY: test
test: system-packages ready ## Everything CI runs: lint, types, import contracts, all tests, doctests (PYTHON=python3.12 TIMES=1)
	$(call step,Tests and doctests: pytest on three processes)
	@$(BIN)/python -m pytest -n 3 --dist loadgroup $(if $(TIMES),-p tests.timing) --doctest-modules src/hedgerow tests

##@ While working

.PHONY: check
check: ready ## The quick loop, a minute and a half: lint, types, import contracts, the tests that take no time
	$(call step,Fast tests: pytest on two processes)
	@$(BIN)/python -m pytest -q -x -n 2 $(FAST)

# Kernels are compiled while checks run that keep one processor busy; what compiling said comes after them.
.PHONY: ready
ready: $(DEV) ## Lint, types, import contracts, and all kernels compiled
	@said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
	$(BIN)/hedgerow prepare >"$$said" 2>&1 & kernels=$$!; \
	$(MAKE) lint types contracts || { kill $$kernels; exit 1; }; \
	printf '\n\033[1m== Kernels: compile what is not compiled yet\033[0m\n'; \
	wait $$kernels || { cat "$$said" >&2; exit 1; }; \
	cat "$$said"

.PHONY: test-oldest
test-oldest: $(OLDEST) ## The fast tests with the oldest libraries that pyproject.toml allows, in .venv-oldest
	$(call step,Kernels: compile what is not compiled yet)
	@.venv-oldest/bin/hedgerow prepare
	$(call step,Fast tests: pytest on two processes)
	@.venv-oldest/bin/python -m pytest -q -n 2 $(FAST)

.PHONY: format
format: $(DEV) ## Format the code and apply the safe lint fixes
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

.PHONY: lint
lint: $(DEV) ## Lint and check the formatting
	$(call step,Lint: ruff check)
	@$(BIN)/ruff check .
	$(call step,Format: ruff format --check)
	@$(BIN)/ruff format --check .

.PHONY: types
types: $(DEV) ## Check the types, strictly
	$(call step,Types: mypy)
	@$(BIN)/mypy

.PHONY: contracts
contracts: $(DEV) ## Check which layer may import which
	$(call step,Import contracts: lint-imports)
	@$(BIN)/lint-imports

.PHONY: prepare
prepare: $(CORE) ## Compile all kernels now, so that no command waits for it later
	@$(BIN)/hedgerow prepare

.PHONY: bench
bench: $(DEV) $(PEERS) $(ANONYMETER) ## Measure time, memory and loss beside other tools, say what changed, and write the page
	@$(BIN)/python -m benchmarks

.PHONY: peers
peers: $(PEERS) $(ANONYMETER) ## Make .peers and .peers-anonymeter with the tools that the benchmarks compare with

.PHONY: torture
torture: system-packages $(DEV) ## Attack it for hours: faults, kills, hostile bytes, tampering (MINUTES=120 SEED=… ONLY=…)
	@$(BIN)/hedgerow prepare
	@$(BIN)/python -m tests.robustness --minutes $(or $(MINUTES),120) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

.PHONY: mutants
mutants: $(DEV) ## Change the verifier in one place after the other, and see that tests notice (SAMPLE=300 SEED=… ONLY=…)
	@$(BIN)/python -m tests.robustness.mutants $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

.PHONY: papers
papers: $(DEV) ## Repeat the papers' experiments on Adult, and write their page
	@$(BIN)/python -m benchmarks.papers

.PHONY: docs
docs: $(DEV) ## Build the documentation into site/
	@$(BIN)/zensical build --clean --strict

.PHONY: screenshots
screenshots: system-packages $(DEV) ## Take the pictures of the documentation anew, and of every screen into build/screens
	@$(BIN)/python -m tests.docs.screenshots

##@ Housekeeping

.PHONY: environment
environment: $(DEV) ## Make .venv with the package and the development tools

.PHONY: system-packages
system-packages: ## Install the Debian packages the tests need and the machine lacks (as root)
	@missing=(); \
	for pair in $(SYSTEM_PACKAGES); do \
	  command -v "$${pair%%:*}" >/dev/null || missing+=("$${pair##*:}"); \
	done; \
	if [ "$${#missing[@]}" -eq 0 ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "The tests need packages this machine lacks: $${missing[*]}." >&2; \
	  echo "Install them, for example with: sudo apt-get install $${missing[*]}" >&2; \
	  exit 1; \
	fi; \
	echo "Installing $${missing[*]}"; \
	apt-get update -qq; \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" >/dev/null

.PHONY: constraints
constraints: $(MADE) ## Pin the newest versions that pyproject.toml allows, in constraints.txt
	@uv=$$(mktemp -d); trap 'rm -rf "$$uv"' EXIT; \
	$(BIN)/python -m venv "$$uv"; \
	"$$uv/bin/python" -m pip install -qq --disable-pip-version-check uv; \
	"$$uv/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras \
	  --no-annotate --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make constraints" pyproject.toml -o constraints.txt

.PHONY: clean
clean: ## Remove the environments, the caches and everything built
	@rm -rf .venv .venv-3.* .venv-oldest .peers .peers-anonymeter $(DEMO) site dist build .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov torture-failures
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.PHONY: help
help: ## List these commands
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n\033[1m%s\033[0m\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# ---- the environment -------------------------------------------------------------------------------------

$(MADE):
	@python=; \
	for candidate in $(PYTHONS); do \
	  if "$$candidate" -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then python="$$candidate"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Hedgerow needs Python 3.11 or later; looked for: $(PYTHONS)." >&2; \
	  echo "Install one, or name the one to use: make PYTHON=python3.12 ..." >&2; \
	  exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	  if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
	    echo "$$python cannot make environments: its venv module is missing." >&2; \
	    echo "Install it, for example with: sudo apt-get install python3-venv" >&2; \
	    exit 1; \
	  fi; \
	  echo "Installing python3-venv"; \
	  apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; \
	fi; \
	echo "Making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)
	@touch $@

$(CORE): $(INPUTS) | $(MADE)
	@echo "Installing hedgerow and its studio into $(VENV) (a minute or so)"
	@$(INSTALL) -e '.[studio]'
	@touch $@

$(DEV): $(INPUTS) | $(MADE)
	@echo "Installing hedgerow and the development tools into $(VENV) (a minute or so)"
	@$(INSTALL) -e '.[dev]'
	@touch $(CORE) $@

$(OLDEST): pyproject.toml | $(MADE)
	@echo "Installing hedgerow and the oldest libraries it allows into .venv-oldest (a minute or so)"
	@uv=$$(mktemp -d); trap 'rm -rf "$$uv"' EXIT; \
	$(BIN)/python -m venv "$$uv"; \
	"$$uv/bin/python" -m pip install -qq --disable-pip-version-check uv; \
	$(BIN)/python -m venv --clear .venv-oldest; \
	"$$uv/bin/uv" pip install --quiet --resolution lowest-direct --python .venv-oldest/bin/python -e '.[dev]'
	@touch $@

# Without them the benchmarks run too, and say so.
$(PEERS): benchmarks/peers.txt | $(MADE)
	@echo "Making .peers with the tools to compare with (a minute or so)"
	@$(BIN)/python -m venv --clear .peers
	@if .peers/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/peers.txt; then touch $@; \
	else echo "They cannot be installed here: the benchmarks go on without them." >&2; rm -rf .peers; fi

$(ANONYMETER): benchmarks/anonymeter.txt | $(MADE)
	@echo "Making .peers-anonymeter (a minute or so)"
	@$(BIN)/python -m venv --clear .peers-anonymeter
	@if .peers-anonymeter/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/anonymeter.txt; then touch $@; \
	else echo "It cannot be installed here: the benchmarks go on without it." >&2; rm -rf .peers-anonymeter; fi
