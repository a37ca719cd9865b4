# SPDX-License-Identifier: MIT
# The few commands there are. `make help` lists them.

CARGO ?= cargo
export SECONDS ?= 60
MINUTES ?= 60

.PHONY: help demo test fmt lint msrv coverage bench cost changes experiments fuzz diff soak conformance docs book dist wheel

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort

demo: ## one program, two hosts, a real peer on the Linux kernel's stack; ends with a table
	@demo/demo

test: ## all tests (as root also those in network namespaces)
	@scripts/test

fmt: ## bring Rust, C and .mtp into the one layout
	$(CARGO) fmt --all
	rustfmt --edition 2024 targets/*/mod.rs
	$(CARGO) run -q --bin carrick -- fmt $$(git ls-files 'protocols/*.mtp' 'examples/*.mtp')

lint: ## formatting and warnings, as CI sees them
	@scripts/lint

msrv: ## check all packages with the oldest Rust that Cargo.toml promises (rustup fetches it)
	@scripts/msrv

coverage: ## which lines the crates' tests reach: a report, in target/llvm-cov/html (needs cargo-llvm-cov)
	@scripts/coverage

bench: ## measure, side by side with peers, and write docs/benchmarks.md (bench/run --only NAME: a part of it)
	@bench/run

cost: ## compare the instructions that a packet costs with those at BASE=COMMIT (HEAD~1): 3 % more need a reason, `Cost: REASON` in a commit's message
	@bench/run --against $(or $(BASE),HEAD~1) --only protocols-instructions --runs 1 --no-write --gate

changes: ## what the protocols do otherwise than at BASE=COMMIT (HEAD~1): proofs, or values with which they differ
	@scripts/changes $(or $(BASE),HEAD~1)

experiments: ## make figures of papers again, beside the papers' numbers (QUICK=1: smaller ones; EXPERIMENTS=experiments/NAME: some)
	@for e in $(or $(EXPERIMENTS),experiments/*); do echo "== $$e"; "$$e" $(if $(QUICK),--quick) || failed=1; done; exit $${failed:-0}

fuzz: ## fuzz the front end, generated code and what surrounds it for SECONDS (60)
	@fuzz/run $(SECONDS)

diff: ## compare each program on each target with the interpreter, over SEEDS (200) random networks
	@scripts/diff --seeds $(or $(SEEDS),200)

soak: ## TCP, in the kernel or with TARGET=native, while everything about it dies, for MINUTES (60)
	@scripts/soak --minutes $(MINUTES) --target $(or $(TARGET),xdp)

conformance: ## play a public suite of packetdrill scripts (SUITE=DIR) against TCP, also a target's (TARGET=xdp), and with PACKETDRILL=PATH against Linux, and print a table
	@CARRICK_CONFORMANCE_TARGET=$(TARGET) CARRICK_SUITE=$(if $(SUITE),$(abspath $(SUITE))) CARRICK_PACKETDRILL=$(if $(PACKETDRILL),$(abspath $(PACKETDRILL))) $(CARGO) test -q -p carrick-tests --test conformance -- --nocapture suite

book: ## tutorial, reference and diagnostics as a website, in target/book (needs mdbook)
	@command -v mdbook >/dev/null || { echo "make book: mdbook is missing: run scripts/setup as root" >&2; exit 3; }
	@mdbook build docs

dist: ## a Debian package and a tarball, in target/dist
	@scripts/dist

wheel: ## the Python package, in target/dist (needs maturin)
	@scripts/wheel

docs: ## API documentation
	$(CARGO) doc --workspace --no-deps
