# Each target is the script of its name, which sets up what it needs first.
# Options for the script: make test ARGS="-k hover". Another interpreter: make test PYTHON=python3.13.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: demo test test-all coverage mutation conformance conformance-client agreement check bench release docs pictures gen setup clean help

demo: ## drive a demonstration shop through the server and show each call
	@scripts/demo $(ARGS)

test: ## run the tests of every feature on a real browser
	@scripts/test $(ARGS)

test-all: ## run all tests: also drills, other people's servers, long properties, examples
	@scripts/test-all $(ARGS)

coverage: ## run all tests and print the statement and branch coverage of src
	@scripts/coverage $(ARGS)

mutation: ## change single places of src and see which tests notice
	@scripts/mutation $(ARGS)

conformance: ## run the protocol's public test suite against the server
	@scripts/conformance $(ARGS)

conformance-client: ## run the protocol's public test suite against the client
	@scripts/conformance-client $(ARGS)

agreement: ## compare snapshots with the roles and names that Chrome computes
	@scripts/agreement $(ARGS)

check: ## format, lint, JavaScript, types, import rules, generated files, requirements
	@scripts/check $(ARGS)

bench: ## measure, beside the same work in plain Playwright
	@scripts/bench $(ARGS)

release: ## build and check wheel, sdist, MCPB bundle and container context; publish nothing
	@scripts/release $(ARGS)

docs: ## build the documentation as a site, in .docs/site
	@scripts/docs $(ARGS)

pictures: ## make the pictures of the README and the documentation, from real runs
	@scripts/pictures $(ARGS)

gen: ## write the generated files anew
	@scripts/gen $(ARGS)

setup: ## make .venv with the package, its tools and a browser
	@scripts/setup $(ARGS)

clean: ## remove .venv and everything else these targets made
	@scripts/clean $(ARGS)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\): ## /  make \1	/p' $(firstword $(MAKEFILE_LIST))
