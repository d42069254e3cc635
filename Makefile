# SPDX-License-Identifier: GPL-2.0-or-later
# Calls Meson.  All paths are relative, because the path of this directory can contain spaces.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
MESON_FLAGS ?=
FUZZ_SECONDS ?= 60

all: $(BUILD)/build.ninja
	@meson compile -C '$(BUILD)' >'$(BUILD)/make.log' || { cat '$(BUILD)/make.log'; exit 1; }
	@echo 'Built: $(BUILD)/links/operf, opreport, oprofile.  Next: make demo'

$(BUILD)/build.ninja:
	@scripts/deps.sh --check build
	@scripts/configure '$(BUILD)' -Dtests=false $(MESON_FLAGS)

demo:
	@scripts/deps.sh build demo
	@$(MAKE) --no-print-directory all
	@scripts/demo '$(BUILD)'

check:
	@scripts/deps.sh build test
	@scripts/deps.sh --try readers screen page
	@scripts/configure '$(BUILD)' -Dtests=true $(MESON_FLAGS)
	@meson compile -C '$(BUILD)' >'$(BUILD)/make.log' || { cat '$(BUILD)/make.log'; exit 1; }
	@scripts/run-tests '$(BUILD)'

check-vm:
	@$(MAKE) --no-print-directory all
	@scripts/check-vm '$(BUILD)'

# Runs the tests that compare with the perf of a newer Debian suite, which is unpacked but not installed.
check-newer-perf:
	@scripts/deps.sh build test
	@scripts/newer-perf
	@scripts/configure '$(BUILD)' -Dtests=true $(MESON_FLAGS)
	@meson compile -C '$(BUILD)' >'$(BUILD)/make.log' || { cat '$(BUILD)/make.log'; exit 1; }
	@scripts/run-case '$(BUILD)' tests/cmd/perf_data.bats 'newer perf'

bench:
	@scripts/deps.sh build bench
	@$(MAKE) --no-print-directory all
	@scripts/bench '$(BUILD)'

# EXACT: options of tests/exact/exact.py, such as '--binary FILE'.
exact:
	@scripts/deps.sh build exact
	@$(MAKE) --no-print-directory all
	@tests/exact/exact.py '$(BUILD)/src/tools/oprofile' --addresses 100000 --slow 100000 \
		--seconds 120 $(EXACT)
	@scripts/configure '$(BUILD)' -Dtests=true $(MESON_FLAGS)
	@meson compile -C '$(BUILD)' decode_text
	@tests/exact/operands.py '$(BUILD)/tests/exact/decode_text' --long

# Also compares redis, sqlite and other programs, whose sources are fetched and built: an hour.
exact-real:
	@scripts/deps.sh exact-real
	@$(MAKE) --no-print-directory exact EXACT="--real --keep '$(BUILD)/exact' $(EXACT)"

# DAEMON: options of tests/daemon/daemon.py, such as '--only kill'.
check-daemon:
	@scripts/deps.sh build test
	@scripts/configure '$(BUILD)' -Dtests=true $(MESON_FLAGS)
	@meson compile -C '$(BUILD)' >'$(BUILD)/make.log' || { cat '$(BUILD)/make.log'; exit 1; }
	@tests/daemon/daemon.py '$(BUILD)' $(DAEMON)

# FAULTS: options of tests/faults/faults.py, such as '--command symbols'.
faults:
	@scripts/deps.sh build test
	@scripts/configure '$(BUILD)' -Dtests=true $(MESON_FLAGS)
	@meson compile -C '$(BUILD)' >'$(BUILD)/make.log' || { cat '$(BUILD)/make.log'; exit 1; }
	@tests/faults/faults.py '$(BUILD)' '$(BUILD)/tests/faults/fault.so' $(FAULTS)

# SEED: another number stops the programs at other instructions.
check-unwind:
	@scripts/deps.sh build test lint
	@$(MAKE) --no-print-directory all
	@tests/unwind/check '$(BUILD)/src/tools/oprofile' 200

fuzz:
	@scripts/deps.sh build fuzz
	@scripts/fuzz '$(BUILD)-fuzz' '$(FUZZ_SECONDS)'

# HOSTILE: further files to damage.
hostile:
	@scripts/deps.sh build test
	@scripts/hostile '$(BUILD)-asan' $(HOSTILE)

lint:
	@scripts/deps.sh build test lint
	@scripts/lint '$(BUILD)-lint'

install: all
	@meson configure '$(BUILD)' --prefix "$$(realpath -m '$(PREFIX)')"
	@DESTDIR='$(DESTDIR)' meson install -C '$(BUILD)' --quiet
	@echo "Installed to $(DESTDIR)$(PREFIX)"

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf '$(BUILD)' '$(BUILD)-fuzz' '$(BUILD)-lint' build-ci-*

.PHONY: all demo check check-daemon check-newer-perf check-vm check-unwind bench exact exact-real faults fuzz hostile lint install format clean
