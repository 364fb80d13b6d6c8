# What a newcomer needs: `make demo` and `make test`. Everything else is a part of these or goes beyond them.

SHELL := /bin/bash
PREFIX ?= $(HOME)/.local
CHECK := --explicit-target-dependency-import-check error
RELEASE := -c release --static-swift-stdlib $(CHECK)
# The compiler takes files in groups, and looks at the rest of the module once for each group. As many groups as processors, not one for
# each 25 files, save a tenth of a first build.
DEBUG := $(CHECK) -Xswiftc -driver-batch-size-limit -Xswiftc 1000

# The environment's EDITOR is a person's, and no order to test it.
EDITOR_ASKED := $(if $(filter command line,$(origin EDITOR)),$(EDITOR))

# One run of screen_bench.py each.
SCREEN_OPTIONS := "" "--delays 1,20,100 --alone= --letters 200 --one-way" "--bytes 1000000 --letters 300"

.PHONY: all build test test-all lint format demo demo-record screens bench screen-bench siege bench-store bench-peers partitions kills servers simulate soak seeds mutants chaos together conformance conformance-next outside fuzz install install-serve deb tarball newcomer uninstall manual pictures docs docs-check setup setup-test setup-docs clean

all: build

setup:
	@Tests/setup.sh build

setup-test:
	@Tests/setup.sh test

setup-docs:
	@Tests/setup.sh docs

build: setup
	swift build $(RELEASE) --product notes-lsp

lint:
	@Tests/lint.sh

format:
	swift format -i --recursive --configuration .swift-format Package.swift Sources Tests

# All but the linters, the end-to-end tests and what else takes long. Not more than this is built.
test: setup-test
	NOTES_LEAVE_OUT=EndToEnd,notes-bench,notes-soak swift build --build-tests $(DEBUG)
	@Tests/test.sh

# Everything. CI runs this.
test-all: setup-test
	swift build --build-tests $(DEBUG)
	@Tests/test.sh all

# A debug build: ready in half the time, and quick enough for two people.
demo: setup
	swift build $(DEBUG) --product notes-lsp
	@NOTES_LSP_BINARY=$$PWD/.build/debug/notes-lsp Tests/Demo/demo.sh

demo-record: setup
	swift build $(DEBUG) --product notes-lsp
	@NOTES_LSP_BINARY=$$PWD/.build/debug/notes-lsp Tests/Demo/demo.sh --record

# The pictures of the README and of the documentation: the demo as it is recorded, and the modules as Package.swift has them.
pictures: setup-docs
	swift build $(DEBUG) --product notes-lsp
	Tests/Demo/pictures.py Sources/Documentation/Pictures/Demo.svg
	Sources/Documentation/Site/architecture.py Sources/Documentation/Pictures/Architecture.svg

# The documentation as a site in .build/docs; DOCS_BASE is the path below which it will be served. `docs-check` reads it in Chromium.
docs: setup-docs
	swift build $(DEBUG)
	.build-venv/bin/python Sources/Documentation/Site/site.py .build/docs "$(DOCS_BASE)"

docs-check: docs
	.build-venv/bin/python Sources/Documentation/Site/check.py .build/docs

# Plays the scenario of Tests/Screens in both editors, and keeps what the screens show.
screens: setup
	swift build $(DEBUG) --product notes-lsp
	Tests/Screens/play.py
	Tests/Screens/terminals.py

bench: setup
	swift build $(RELEASE) --product notes-lsp
	swift build $(RELEASE) --product notes-bench
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench latency
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench joining
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench peers

# Keystrokes of two people while 128 hostile peers do their worst to one of them.
siege: setup
	swift build $(RELEASE) --product notes-lsp
	swift build $(RELEASE) --product notes-bench
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench siege

# From the key to the other person's screen, in real editors in real terminals; the delays, which need root, are one way. Wants a quiet
# machine for six minutes. OPTIONS are those of Tests/Benchmarks/screen_bench.py, instead of all this.
screen-bench: setup-test
	swift build $(RELEASE) --product notes-lsp
	python3 -m venv .build-bench-venv
	.build-bench-venv/bin/python -m pip install -q --disable-pip-version-check pyte==0.8.2
	rm -f .build/screen.json
	for options in $(or $(OPTIONS),$(SCREEN_OPTIONS)); do \
	  .build-bench-venv/bin/python Tests/Benchmarks/screen_bench.py .build/release/notes-lsp --json .build/screen.json $$options || exit; done
	Tests/Benchmarks/screen_plot.py .build/screen.json .build/screen.svg

# The document core beside other libraries, in one run and one table. Takes half an hour; needs ../shared.
bench-peers: setup
	swift build $(RELEASE) --product notes-bench
	python3 -m venv .build-bench-venv
	.build-bench-venv/bin/pip install -q --disable-pip-version-check loro==1.17.1 pycrdt==0.14.13 automerge==1.0.0rc1
	.build/release/notes-bench all --peers

# Three machines in network namespaces, typing while their cables are pulled and plugged in again. Needs root.
partitions: setup-test
	swift build $(RELEASE) --product notes-lsp
	swift build --build-tests $(DEBUG)
	NOTES_PARTITIONS=$(or $(PARTITIONS),50) NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp \
	  swift test --skip-build --filter cablesArePulledAndNothingIsLost

# Many notes in one store, and several processes typing into one note.
bench-store: setup
	swift build $(RELEASE) --product notes-lsp
	swift build $(RELEASE) --product notes-bench
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench store
	NOTES_LSP_BINARY=$$PWD/.build/release/notes-lsp .build/release/notes-bench writers

# Services killed at random moments, NOTES_KILLS times (default 2,000; a quarter of an hour on two free cores), a store's writer
# killed 200 times, and a service whose fsyncs fail. The ledger gets what came of it.
kills: setup-test
	swift build --build-tests $(DEBUG)
	(NOTES_SEEDS=$${NOTES_SEEDS:-1,2,3,4,5,6,7,8,9,10} NOTES_KILLS=$${NOTES_KILLS:-2000} swift test --skip-build \
	  --filter KilledServiceTests && \
	  NOTES_KILLS=200 swift test --skip-build --filter KilledWriterTests) 2>&1 | tee .build/kills.log; \
	  status=$${PIPESTATUS[0]}; Tests/ledger.py kills "make kills" .build/kills.log; exit $$status

# The random tests that take longest, with COUNT seeds each (default 20; of DoorsTests, 50 times as many).
seeds: setup-test
	swift build --build-tests $(DEBUG)
	NOTES_SEED_COUNT=$(or $(COUNT),20) swift test --skip-build \
	  --filter 'DoorsTests|TwoURIsTests|OutOfStepTests|ServiceSimulationTests|RepoSyncTests|HostileShapesTests'

# Nine people in real and model editors on three servers with one PostgreSQL, while processes are killed, the database is away for a
# minute and connections are cut. A judge of its own writes its report to REPORT.
servers: setup-test
	swift build --build-tests $(DEBUG)
	NOTES_SERVERS_REPORT=$(abspath $(or $(REPORT),.build/servers.md)) swift test --skip-build --filter ServedEditorsTests

# Whole services in one process and virtual time: COUNT seeds (default 100), or SEED alone, with its history. FAULTS are
# what goes wrong beside the steps: `all`, or names of Tests/ServiceSimulation/Fault.swift with commas between them.
simulate: setup
	swift build $(DEBUG) --product notes-soak
	SWIFT_DETERMINISTIC_HASHING=1 .build/debug/notes-soak $(or $(SEED),1) 1 $(or $(COUNT),$(if $(SEED),1,100)) "$(FAULTS)" "$(WITHOUT)" \
	  $(if $(SEED),history)

# The same with all faults that the program stands, or these FAULTS, seed after seed for so many HOURS on all CORES, and then COUNT seeds
# (default 1,000) of `make together`; the ledger gets what came of it. With KEPT=file, HOURS are processor time, and an interrupted soak
# goes on when it is called again: KEPT=Tests/soak.json is the one that goes on from machine to machine.
soak: setup-test
	swift build $(RELEASE) --product notes-soak
	KEPT="$(KEPT)" Tests/ledger.py soak $(or $(HOURS),1) "$(CORES)" "$(FAULTS)"
	swift build --build-tests $(DEBUG)
	(NOTES_FUZZ_COUNT=$(or $(COUNT),1000) swift test --skip-build --filter ThreeEditorsTests) 2>&1 | tee .build/together.log; \
	  status=$${PIPESTATUS[0]}; Tests/ledger.py together "make soak" .build/together.log; exit $$status

# Changes the program in 520 small ways and looks which of them the tests notice. Takes hours; the ledger gets the figures.
mutants: setup-test
	Tests/Mutants/mutants.py --count $(or $(MUTANTS),520)
	Tests/ledger.py mutants "make mutants MUTANTS=$(or $(MUTANTS),520)" .build-mutants/.build/mutants.json

# Two people type in real editors while everything happens to their note, NOTES_CHAOS times (default 200).
chaos: setup-test
	swift build --build-tests $(DEBUG)
	NOTES_CHAOS=$${NOTES_CHAOS:-200} swift test --skip-build --filter ChaosTests

# Vim, Emacs and Neovim in one note, in which everything happens at random: COUNT seeds (default 60), or SEED alone.
together: setup-test
	swift build --build-tests $(DEBUG)
	NOTES_FUZZ_COUNT=$(or $(COUNT),60) $(if $(SEED),NOTES_FUZZ_SEEDS=$(SEED)) swift test --skip-build --filter ThreeEditorsTests

# The table of what every editor must do, in EDITOR: vim, neovim, emacs or all. DRIVER is the command of a driver of yours, and ROWS
# a pattern of the rows to run; see Sources/Documentation/Conformance.md.
conformance: setup-test
	swift build $(DEBUG) --product notes-lsp
	Tests/Editors/conformance.py $(if $(DRIVER),--driver '$(DRIVER)',$(or $(EDITOR_ASKED),all)) --rows '$(ROWS)'

# The same with the editors of the next Debian, in a root of its own that is made once in NEXT, and then Helix as a plain client. Needs
# root, debootstrap and, the first time, the internet.
conformance-next: setup-test
	swift build $(DEBUG) --product notes-lsp
	Tests/Editors/next.sh "$(or $(NEXT),.build-next)" Tests/Editors/conformance.py $(or $(EDITOR_ASKED),all) --rows '$(ROWS)'
	$(if $(EDITOR_ASKED)$(ROWS),,Tests/Editors/next.sh "$(or $(NEXT),.build-next)" Tests/Editors/helix.py)

# Programs that depend on the products alone, as a package of their own. Builds everything once more, so it takes minutes.
outside: setup
	swift test --package-path Tests/OutsidePackage

# Foreign bytes, for FUZZ_SECONDS each (default 60), with coverage; the ledger gets the figures. Not a part of `make test`.
fuzz: setup
	@Tests/Fuzz/fuzz.sh $(FUZZ_SECONDS)

# PROGRAM=path installs a notes-lsp that is built already.
install: $(if $(PROGRAM),,build)
	@Sources/Packaging/install.sh install "$(PREFIX)" "$(or $(PROGRAM),.build/release/notes-lsp)"

# A server that is always on, as a service of systemd: see Serve.md. As root; enable it with `systemctl enable --now notes-lsp`.
install-serve: $(if $(PROGRAM),,build)
	install -D "$(or $(PROGRAM),.build/release/notes-lsp)" "$(DESTDIR)/usr/local/bin/notes-lsp"
	install -D -m 644 Sources/Documentation/notes-lsp.service "$(DESTDIR)/etc/systemd/system/notes-lsp.service"

# Debian packages in .build/packages, of PROGRAM or of the release build. What this needs beyond the build it names.
deb: $(if $(PROGRAM),,build)
	@Sources/Packaging/deb.sh deb "$(or $(PROGRAM),.build/release/notes-lsp)" .build/packages

# Program, plugins, manual pages and completions, to unpack anywhere.
tarball: $(if $(PROGRAM),,build)
	@Sources/Packaging/deb.sh tarball "$(or $(PROGRAM),.build/release/notes-lsp)" .build/packages

# In an empty Debian 12, with times: installs, upgrades and removes the packages of `make deb`, two people's first note in between, and
# then the README's two commands from a clone. Needs root, debootstrap and the internet. PART=packages or PART=source is one of them.
newcomer:
	@[ "$(PART)" = source ] || Sources/Packaging/try-deb.sh .build/packages .build/bookworm
	@[ "$(PART)" = packages ] || Sources/Packaging/try-source.sh . .build/bookworm

# Notes and their history stay: only what installing put there goes.
uninstall:
	@Sources/Packaging/install.sh uninstall "$(PREFIX)"

# Writes the program's commands and options into its manual pages, and makes the Info manual. Needs mandoc.
manual:
	swift build $(DEBUG) --product notes-lsp
	python3 Tests/manual.py .build/debug/notes-lsp Sources/Documentation/man/notes-lsp.1
	python3 Tests/manual.py .build/debug/notes-lsp Sources/Documentation/man/notes-lsp-serve.1
	Sources/Documentation/Site/info.py Sources/Documentation/info/notes-lsp.info

clean:
	rm -rf .build
