# Lore on a fresh machine: `make run` starts it for an agent, `make test` checks all of it.
# Both set up what they need in .venv first: with uv if it is there, with python3 -m venv if not.
MAKEFLAGS += --no-print-directory
# each of the thousand processes of a test run would compile Lore again
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# what the libraries of the explorer are made from
LIBRARIES := $(addprefix scripts/vendor/,package-lock.json bundle.mjs bring)

.PHONY: run test lint pytest fix bench lock release-artifacts clean

run: .venv/ready-to-run
	@$(BIN)/lore mcp --sample --guide

# the type checker uses one core, and tests often wait: both at once are done sooner
test: .venv/ready-to-test
	@$(MAKE) --jobs=2 lint pytest

pytest: .venv/ready-to-test
	$(BIN)/python -m pytest

lint: .venv/ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: .venv/ready-to-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready-to-test
	$(BIN)/python -m bench.speed

# stdout belongs to the protocol that `make run` speaks, so set-up talks on stderr
.venv/ready-to-run: pyproject.toml uv.lock requirements.txt scripts/setup $(LIBRARIES)
	@scripts/setup run 1>&2

.venv/ready-to-test: pyproject.toml uv.lock requirements.txt scripts/encryption.txt scripts/setup $(LIBRARIES)
	@scripts/setup test 1>&2

# what is tested is pinned: uv.lock for uv, requirements.txt (made from it) for pip
lock:
	uv lock
	uv export --quiet --frozen --no-hashes --no-emit-project --no-header --group dev --group model-test \
		--output-file requirements.txt
	uv export --quiet --frozen --no-hashes --no-emit-project --no-header --only-group encryption-test \
		--output-file scripts/encryption.txt

# what a release publishes: the wheel, the bundle for Claude Desktop, the entry for the MCP registry
release-artifacts: .venv/ready-to-test
	rm -rf dist
	if command -v uv >/dev/null; then uv build --quiet --wheel --out-dir dist; \
		else $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .; fi
	$(BIN)/python -m scripts.release_artifacts dist

clean:
	rm -rf .venv dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf scripts/vendor/node_modules src/lore/doors/http/explorer_static/vendor
