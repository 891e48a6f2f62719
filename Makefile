# One entry point for people, pre-commit and CI. `make test` and `make demo` work in a fresh clone.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := .stamps
# By uv, in a third of pip's time; by pip where it is not, or where only pip is told of the packages' index.
# Silent when all goes well, and the whole story when it does not.
UV := $(or $(shell command -v uv),$(STAMPS)/uv/bin/uv)
HAS_UV = test -x $(UV)
environment = mkdir -p $(STAMPS) && \
	{ test -x $(BIN)/python || { $(HAS_UV) && $(UV) venv -q --seed --python $(PYTHON) $(VENV) 2>/dev/null; } || $(PYTHON) -m venv --clear $(VENV); }
# The folder itself goes onto the path: setuptools' finder would cost each Python that starts in there 20 ms.
# The long name of -C: pip 23.0, which Debian 12 has, knows no other.
EDITABLE = --config-settings editable_mode=compat $(addprefix -e ,$(1))
install = { { $(HAS_UV) && $(UV) pip install --python $(BIN)/python -c constraints.txt $(EDITABLE); } || \
	$(BIN)/python -m pip install --no-compile --progress-bar off --disable-pip-version-check -c constraints.txt $(EDITABLE); } \
	>$(STAMPS)/install.log 2>&1 || { cat $(STAMPS)/install.log >&2; exit 1; }
PYTEST_ARGS ?=
# Tests with processes wait, the long ones more than they compute: workers side by side share the waiting.
JOBS ?= 2
TEST_JOBS ?= 3
LONG_JOBS ?= 4

# The TypeScript client and console are built and tested where Node is new enough; the built console is in turnwire/hub/static.
NODE := $(shell node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null && echo node)
MARKS := not long$(if $(NODE),, and not node)

.DEFAULT_GOAL := help
.PHONY: agents help venv system demo test test-long test-sandbox test-web collect coverage coverage-core lint lint-web types golden docs bench web web-deps client-types web-types pictures release-check pins prices audit image image-test worker-image clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

venv: $(STAMPS)/venv ## create .venv with turnwire and the development tools

$(STAMPS)/turnwire: pyproject.toml constraints.txt
	@echo "installing turnwire into $(VENV)"
	@$(environment)
	@$(call install,.)
	@touch $@

# The tools are many: it pays to have pip bring uv first where it is not.
$(STAMPS)/venv: pyproject.toml constraints.txt clients/python/pyproject.toml
	@echo "installing turnwire and the development tools into $(VENV)"
	@$(environment)
	@$(HAS_UV) || $(BIN)/python -m pip install -q --disable-pip-version-check --target $(STAMPS)/uv uv >$(STAMPS)/install.log 2>&1 || true
	@$(call install,'.[dev]' clients/python)
	@touch $@ $(STAMPS)/turnwire

# Packages are installed for root, and by sudo where $CI is set. Everybody else is told what is missing and how to get it.
system: ## install chromium, firefox-esr, redis-server, curl, tmux, valgrind, bubblewrap and iproute2 as root or in CI; say what is missing otherwise
	@missing=; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing="$$missing chromium"; \
	command -v firefox-esr >/dev/null || command -v firefox >/dev/null || missing="$$missing firefox-esr"; \
	command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	command -v curl >/dev/null || missing="$$missing curl"; \
	command -v tmux >/dev/null || missing="$$missing tmux"; \
	command -v valgrind >/dev/null || missing="$$missing valgrind"; \
	test "$$(uname)" != Linux || command -v bwrap >/dev/null || missing="$$missing bubblewrap"; \
	test "$$(uname)" != Linux || command -v ip >/dev/null || missing="$$missing iproute2"; \
	if [ -z "$$missing" ]; then :; \
	elif ! command -v apt-get >/dev/null; then echo "some tests need:$$missing; install them with this system's packages" >&2; \
	elif [ "$$(id -u)" != 0 ] && [ -z "$$CI" ]; then echo "some tests need:$$missing; install them with: sudo apt-get install$$missing" >&2; \
	else echo "installing$$missing"; sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null \
	    || echo "apt-get could not install them; the tests that need them will say so" >&2; \
	fi

demo: $(STAMPS)/turnwire ## serve a scripted session; prints the URL to open
	@$(BIN)/turnwire run --agent demo --journal memory $(DEMO_ARGS)

# What is installed and what is checked goes side by side, and what each says stays together where make can do that; then
# the tests, for which the checks leave room. `collect` has every test read and compiled once, or each worker would do so
# for itself: mypy leaves a core to it.
unexport PYTHONDONTWRITEBYTECODE
CHECKS = types lint test-web collect
TOGETHER = $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

test: system ## everything that must hold
	@$(MAKE) --no-print-directory -j $(JOBS) $(TOGETHER) $(CHECKS)
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist worksteal -m "$(MARKS)" $(PYTEST_ARGS)

collect: venv
	@$(BIN)/python -m pytest --collect-only -q >$(STAMPS)/collect.log 2>&1 || { cat $(STAMPS)/collect.log >&2; exit 1; }

test-long: venv system coverage-core $(if $(NODE),web-deps agents) ## the same of older CLIs, under faults, floods and attacks
	$(BIN)/python -m pytest -n $(LONG_JOBS) --dist worksteal -m "long$(if $(NODE),, and not node)" $(PYTEST_ARGS)

# Without the hand-over to an agent's own interface: a sandboxed session refuses it.
IN_SANDBOX = $(addprefix tests/e2e/test_,$(addsuffix .py,real_agents permissions policies sessions session_options \
	run_with_the_real_cli mcp mcp_server costs history recordings_are_the_session one_figure)) tests/frontends/acp/test_acp_real_cli.py

test-sandbox: venv system web-deps agents ## the end-to-end tests of real agents, each agent in the sandbox `network`
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "long or not long" --in-sandbox $(IN_SANDBOX) $(PYTEST_ARGS)

# What the fast tests take, in whatever process. Not measured are those that count calls, modules or steps themselves, and would count the
# measuring; and, for the time that it takes, those of browsers and real CLIs, which take what others take as well.
PURE_CORE = turnwire/protocol/*,normalize/*,adapter/permissions/machine.py,adapter/session/core.py
UNMEASURED = tests/bench tests/test_backtracking.py tests/sidecar/process/test_start_cost.py tests/console tests/docs tests/e2e tests/recordings/test_redact_kinds.py
CORE_TESTS = tests/normalize tests/protocol tests/history tests/recordings tests/sessions tests/runner/test_server.py tests/tracing/test_acp_spans.py \
	$(addprefix tests/adapter/,acp/test_asking.py codex one_shot permissions session streams) --ignore=tests/recordings/test_redact_kinds.py
COVERAGE = COVERAGE_FILE=$(STAMPS)/coverage/data $(BIN)/python -m coverage
define measure
@rm -rf $(STAMPS)/coverage && mkdir -p $(STAMPS)/coverage
@$(BIN)/python tests/support/processes/measured.py $(STAMPS)/coverage/data $(BIN)/python -m pytest -n $(TEST_JOBS) --dist worksteal -q -m "$(MARKS)" \
	$(1) >$(STAMPS)/coverage/log 2>&1 || { cat $(STAMPS)/coverage/log >&2; exit 1; }
@$(COVERAGE) combine -q >>$(STAMPS)/coverage/log
@$(COVERAGE) report --show-missing --skip-covered --include='$(PURE_CORE)' --fail-under=100
endef

coverage: venv system ## branches that the fast tests take; fails where one of the pure core is not taken, or less than 96 % of all
	$(call measure,$(addprefix --ignore=,$(UNMEASURED)))
	@$(COVERAGE) report --show-missing --skip-covered --fail-under=96 >$(STAMPS)/coverage/report || { cat $(STAMPS)/coverage/report; exit 1; }
	@grep ^TOTAL $(STAMPS)/coverage/report

coverage-core: venv system ## the same of the pure core alone, by the tests that take it
	$(call measure,$(CORE_TESTS))

test-web: $(if $(NODE),web-deps) ## types and unit tests of the TypeScript side
ifdef NODE
	npm run --silent types && npm test --silent
else
	@echo "Node 20.19 or newer is not here: the tests of the TypeScript client cannot run" >&2; test -z "$$CI"
endif

web-deps: $(STAMPS)/web

agents: $(STAMPS)/agents ## install the agents that the long tests drive, beside the tests

# Not `npm ci`: that wants each machine's own optional packages in the lock, and some registries have those of one machine alone.
$(STAMPS)/agents: tests/agents/package-lock.json
	@echo "installing the agents of the long tests into tests/agents"
	@npm install --prefix tests/agents --no-save --ignore-scripts --no-audit --no-fund --silent
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/web: package-lock.json
	npm ci --no-audit --no-fund --silent && npm run --silent build -w turnwire-client
	@mkdir -p $(STAMPS) && touch $@

lint: venv lint-web ## ruff, the import floors, and Biome over the TypeScript side
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

lint-web: $(if $(NODE),web-deps) ## Biome: rules and format of the TypeScript side
ifdef NODE
	npm run --silent lint
else
	@echo "Node 20.19 or newer is not here: the TypeScript side cannot be linted" >&2; test -z "$$CI"
endif

types: venv ## mypy --strict over everything, tests included
	$(BIN)/mypy

golden: venv ## write goldens and generated documents anew; read the diff before committing it
	$(BIN)/python -m pytest tests/normalize tests/sidecar/checks/test_drift.py tests/config/test_tables.py --update-goldens
	$(BIN)/python docs/generate_events.py
	$(BIN)/python -m turnwire.hub.schema.reference >docs/protocol.md

docs: venv ## build the documentation as a site in .stamps/site; fails for links and anchors that lead nowhere
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

bench: venv ## measure
	@set -e; for script in bench/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

pictures: venv system ## take the demo's pictures and its animation anew, for README and docs/console.md
	$(BIN)/python docs/capture_demo.py
	$(BIN)/python -m pytest -q -m "long or not long" --update-goldens tests/console/test_accessible.py tests/console/test_live_session.py tests/console/test_changes.py -k "any_state or whole_turn or by_git"

web: web-deps ## build the console into turnwire/hub/static
	npm run build

client-types: venv ## generate from the schema what both clients share with the hub: the Python client's structs, the codes
	$(BIN)/python -m clients.generate

web-types: client-types ## the same, and the TypeScript client's types
	@mkdir -p $(STAMPS)
	$(BIN)/turnwire schema frames >$(STAMPS)/frames.json
	$(BIN)/turnwire schema commands >$(STAMPS)/commands.json
	$(BIN)/turnwire schema results >$(STAMPS)/results.json
	node clients/typescript/scripts/generate_types.mjs $(STAMPS)/frames.json $(STAMPS)/commands.json $(STAMPS)/results.json >clients/typescript/src/schema.ts

pins: ## pin what a release is installed from, with hashes; after constraints.txt has changed (needs uv)
	$(PYTHON) release/pins.py

prices: venv ## write what models cost anew, from the releases of LiteLLM that release/prices.py names (needs the network)
	$(BIN)/python release/prices.py

audit: $(STAMPS)/audit ## ask for known holes in what is pinned: Python packages, npm packages (needs the networks of both registries)
	$(STAMPS)/audit/bin/pip-audit --strict --disable-pip --require-hashes -r release/requirements.txt
	npm audit --omit dev

$(STAMPS)/audit: release/tools.txt
	@$(PYTHON) -m venv $@ && $@/bin/pip install -q --disable-pip-version-check --require-hashes -r release/tools.txt

release-check: venv ## try what would be released, in bare environments; see docs/release.md
	$(BIN)/python release/check.py $(RELEASE_ARGS)

# What deploy/ and docker-compose.yml run, by the version of this checkout. DOCKER=podman works as well.
DOCKER ?= docker
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
CLI ?= claude

image: ## build the image of hubs, and of workers with the scripted agent (needs docker)
	$(DOCKER) build --tag turnwire:$(VERSION) .

image-test: venv ## build the image, run the compose file's fleet of it and drive it, with podman (as root; installs it with apt-get)
	@for program in podman buildah debootstrap podman-compose; do \
		command -v $$program >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
			podman buildah runc debootstrap catatonit golang-github-containernetworking-plugin-dnsname podman-compose >/dev/null && break; }; done
	@$(BIN)/python -c 'import podman_compose' 2>/dev/null || $(BIN)/pip install -q podman-compose
	@PATH=$(abspath $(BIN)):$$PATH $(BIN)/python tests/containers/run_images.py

worker-image: ## build the image of workers with a CLI: CLI=claude, or CLI=npm PACKAGE=name@version (needs docker)
	$(DOCKER) build --tag turnwire-worker:$(VERSION) --target $(CLI) \
		$(if $(CLAUDE_CODE_VERSION),--build-arg CLAUDE_CODE_VERSION=$(CLAUDE_CODE_VERSION)) $(if $(PACKAGE),--build-arg PACKAGE=$(PACKAGE)) .

clean: ## remove what make made, the virtual environment excepted
	rm -rf $(STAMPS) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
