# Everything a developer or an admin does from a checkout. Nothing needs to be set up beforehand but Swift 6.3.

SHELL := bash
.SHELLFLAGS := -o pipefail -c

SOURCES := Package.swift Sources Tests Plugins migrations
PACKAGES := libpq-dev libargon2-dev libcurl4-openssl-dev libzxcvbn-dev libidn2-dev libphonenumber-dev pkg-config \
	postgresql

.PHONY: run test lint format bench build release packages

run: release
	.build/release/gatehouse dev

build: packages
	swift build

# With Swift's runtime inside, so that the program runs on machines without Swift, and begins sooner; its symbols are
# in a file beside it.
release: PACKAGES += binutils
release: packages
	swift build -c release --static-swift-stdlib --product gatehouse
	deploy/strip .build/release/gatehouse

# An import of a target that is not declared in Package.swift is an error: the arrows are enforced here. One test at a
# time: those that kill a database or measure a deadline need the machine for themselves.
test: PACKAGES += python3-venv
test: packages lint
	swift build --build-tests --explicit-target-dependency-import-check error
	@swift test --skip-build --no-parallel 2>&1 | tee .build/test.log || \
		{ echo 'What failed, again:'; grep -a 'recorded an issue' .build/test.log | cut -c 1-400; exit 1; }

# Imports are those that Package.swift declares, in both directions.
lint:
	deploy/check-imports
	swift format lint --strict --recursive --parallel $(SOURCES)

format:
	swift format --in-place --recursive --parallel $(SOURCES)

bench: PACKAGES += wrk
bench: release
	swift build -c release --static-swift-stdlib --product gatehouse-bench
	.build/release/gatehouse-bench

packages:
	@deploy/install-packages $(PACKAGES)
