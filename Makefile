# The tasks of a developer or administrator, on Debian 12 with Swift 6.3.

SHELL := bash
.SHELLFLAGS := -o pipefail -c

SOURCES := Package.swift Sources Tests Plugins migrations
PACKAGES := libpq-dev libargon2-dev libcurl4-openssl-dev libzxcvbn-dev libidn2-dev libmaxminddb-dev libphonenumber-dev \
	libqrencode-dev pkg-config postgresql

.PHONY: run test faults long ha lint format docs bench build release packages

run: release
	.build/release/gatehouse dev

build: packages
	swift build

# Links Swift's runtime statically: the program runs on machines without Swift and starts sooner. Its symbols are in a
# file beside it.
release: PACKAGES += binutils
release: packages
	swift build -c release --static-swift-stdlib --product gatehouse
	deploy/strip .build/release/gatehouse

# The build refuses warnings, and imports that Package.swift does not declare. It leaves out debug information, which takes
# a part of its time and which no test needs.
test: PACKAGES += python3-venv chromium prometheus systemd docker-compose zbar-tools nodejs node-typescript nginx-light caddy
test: packages lint
	deploy/check-services
	GATEHOUSE_STRICT=1 deploy/retry-crash swift build --build-tests -debug-info-format none --explicit-target-dependency-import-check error
	deploy/check-docs
	GATEHOUSE_STRICT=1 deploy/run-tests

# Faults of machines, networks and PostgreSQL, as docs/operations.md lists them: about 20 minutes. The overload lasts
# ten of them, or as long as GATEHOUSE_OVERLOAD_SECONDS says. GATEHOUSE_PREVIOUS may name the program of the previous
# version, from which the servers are upgraded. The last lines name the tests that were skipped, because they need this
# program or rights; with GATEHOUSE_STRICT=1 they fail instead.
faults: PACKAGES += faketime iproute2 nftables socat
faults: packages
	swift build --build-tests
	GATEHOUSE_LONG_TESTS=1 swift test --skip-build --no-parallel \
		--filter '(ClockJump|Descriptor|Failover|FullDisk|KilledServer|NetworkFault|Overload|RestoredBackup|Upgrade)Tests' \
		2>&1 | tee .build/faults.log; status=$$?; \
		grep -F ' skipped: ' .build/faults.log || echo 'No test was skipped.'; exit $$status

# The other tests that need or use the long mode.
long: PACKAGES += python3-venv
long: packages
	swift build --build-tests
	GATEHOUSE_LONG_TESTS=1 swift test --skip-build --no-parallel \
		--filter '(Contention|DialectEnumeration|ErasureLoad|History|ImmichPinRace|OutsidePackage|Schemathesis)Tests'

# Imports and Package.swift must agree in both directions.
lint:
	deploy/check-imports
	swift format lint --strict --recursive --parallel $(SOURCES)

format:
	swift format --in-place --recursive --parallel $(SOURCES)

# DocC pages of the libraries for apps and for authors of providers, in .build/docs.
docs: build
	deploy/check-docs

bench: PACKAGES += wrk
bench: release
	swift build -c release --static-swift-stdlib --product gatehouse-bench
	.build/release/gatehouse-bench

# Tries the configurations for failover in deploy/ha on this machine, in about six minutes.
ha: PACKAGES += etcd-server patroni haproxy curl
ha: release
	deploy/ha/try .build/release/gatehouse

packages:
	@deploy/install-packages $(PACKAGES)
