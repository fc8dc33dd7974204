# Two commands for a newcomer: make demo, make test.
SHELL := /bin/bash
GO ?= go
export CGO_ENABLED = 0
BUILD_FLAGS := -trimpath -ldflags '-s -w'
PACKAGES := bubblewrap gcc git hyperfine libc6-dev libseccomp-dev make procps python3 ripgrep strace util-linux
# What tests may not do without as an ordinary user.
PROGRAMS := bwrap gcc git python3 rg strace
TEST_USER := sandboxctl-test

.PHONY: build demo test test-root test-user lint bench fuzz differential generate cross deps

# Always leaves bin/sandboxctl.
build:
	@mkdir -p bin
	$(GO) build $(BUILD_FLAGS) -o bin/sandboxctl ./cmd/sandboxctl

# Installs Debian packages by name, those that are missing.
deps:
	@.ci/packages $(PACKAGES)

demo: deps build
	@examples/demo/demo.sh

test: deps lint build cross test-root test-user

# Every package, as the caller (root in CI). A missing kernel feature fails.
test-root:
	SANDBOXCTL_BIN=$(CURDIR)/bin/sandboxctl SANDBOXCTL_TEST_REQUIRE=all $(GO) test -count 1 -timeout 20m ./...
	CGO_ENABLED=1 $(GO) test -tags seccomp ./enforcer/seccomp/...

# Every package again, as an ordinary user that is made for it.
test-user:
	@.ci/as-user $(TEST_USER)

lint:
	@.ci/lint

# arm64 is built, and its seccomp programs run in the simulator of the ordinary tests.
cross:
	GOARCH=arm64 $(GO) build $(BUILD_FLAGS) -o /dev/null ./cmd/sandboxctl
	GOARCH=arm64 $(GO) vet ./...

bench: deps build
	$(GO) run ./bench

fuzz:
	@.ci/fuzz $(or $(FUZZTIME),60s)

# One million decisions, evaluator against kernel.
differential:
	SANDBOXCTL_DIFFERENTIAL=$(or $(N),1000000) $(GO) test -timeout 3h -count 1 -v -run TestEvaluatorEqualsKernel ./tests/differential

# Compiles the seccomp programs anew; needs libseccomp-dev and cgo.
generate: deps
	CGO_ENABLED=1 $(GO) generate ./enforcer/seccomp/...
