# make run   measures this machine in about two minutes
# make test  proves that it works
# Everything else is for developers; see CONTRIBUTING.md.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
BIN     := bin/nativ

.PHONY: all build run test test-vm test-page lint unit e2e bench analysis-report fuzz update clean

all: build

# One static file, so that it also runs on a host that has no Go and inside a
# container that has no libc. scripts/web gives its pages interactive charts, where
# npm can be had, and asks for nothing once that is done.
build:
	@scripts/web
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/nativ

run: build
	@scripts/install-lxc
	@mkdir -p nativ-run
	$(BIN) bench --preset quick --yes --dir nativ-run --out nativ-run

test: build
	@scripts/install-lxc
	$(MAKE) --no-print-directory lint unit e2e test-page

lint:
	@out=$$(gofmt -l cmd internal test); [ -z "$$out" ] || { echo "gofmt wants to change: $$out"; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./internal/job ./internal/record ./internal/analysis ./internal/report ./internal/journal ./cmd/nativ
	GOOS=windows $(GO) build -o /dev/null ./cmd/nativ
	$(GO) tool staticcheck ./...

# The seeds of every fuzz target run as tests, too.
unit:
	$(GO) test -race ./cmd/... ./internal/...
	$(GO) test ./test/attribution/ ./test/method/

# Real containers, real files on the real disk. Skips, and says why, without root.
e2e: build
	$(GO) test -count=1 -timeout 20m ./test/e2e/

# The pages of the built program in Chromium. Skips, and says why, without one;
# PAGEFLAGS=-required fails instead.
test-page: build
	$(GO) test -count=1 ./test/page/ $(PAGEFLAGS)

# A real kernel NVMe driver, pure cgroup v2 and AppArmor, in virtual machines that
# QEMU emulates. Makes the guest first where it is not there, in a minute or two,
# below NATIV_VM_CACHE (default /var/cache/nativ-vm).
test-vm:
	$(GO) test -count=1 -v -timeout 45m ./test/vm/ -required

# Side by side with the installed fio; writes docs/benchmarks.md. Takes five
# minutes, and root for the whole of it; BENCHFLAGS="-dir DIR" for another disk.
bench: build
	@command -v fio >/dev/null || { echo "fio is not installed: apt-get install fio"; exit 1; }
	$(GO) run ./test/bench $(BENCHFLAGS)

# Names the causes of slowdowns that were simulated, and judges runs that were
# simulated, and compares; writes docs/attribution.md and docs/method.md. Takes
# ten minutes.
analysis-report:
	$(GO) run ./test/attribution -out docs/attribution.md
	$(GO) run ./test/method -out docs/method.md

# Five seconds of fuzzing a target; FUZZTIME=1m make fuzz for more.
FUZZTIME ?= 5s
fuzz:
	@scripts/fuzz $(FUZZTIME)

# Writes every golden file and generated document anew; read the diff.
update: build
	$(GO) test ./cmd/... ./internal/... -update

clean:
	rm -rf bin
