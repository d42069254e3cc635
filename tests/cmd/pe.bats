#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs and libraries of Windows (PE files), as Wine maps them: symbols and exports. A program of
# our own maps the library; if the MinGW compiler is installed, its files are read, too.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR" HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME" "$DIR/s" "$DIR/s.stripped"
	cd "$DIR"
	python3 "$SOURCE_ROOT/tests/cmd/make_pe.py" whole.dll
	python3 "$SOURCE_ROOT/tests/cmd/make_pe.py" stripped.dll stripped
	loader | gcc -O1 -x c -o loader -
	"$OPROFILE" record --session-dir s ./loader whole.dll >log 2>&1
	"$OPROFILE" record --session-dir s.stripped ./loader stripped.dll >>log 2>&1
}

# Maps the code of a library and calls its functions, two thirds of the time in the first.
loader() {
	cat <<-'END'
		#include <fcntl.h>
		#include <sys/mman.h>
		int main(int argc, char **argv)
		{
			int fd = open(argv[argc - 1], O_RDONLY);
			char *code = mmap(0, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0x1000);
			if (code == MAP_FAILED)
				return 1;
			((void (*)(long))(code + 0x10))(800000000);
			((void (*)(long))(code + 0x40))(400000000);
			return 0;
		}
	END
}

names() { # SESSION
	"$OPROFILE" report --session-dir "$1" -l -n 2>/dev/null | awk '/dll/ { print $NF }'
}

@test "opreport shows the symbols of a mapped PE file" {
	cd "$DIR"
	cat log
	names s
	[ "$(names s)" = "$(printf '%s\n' spin idle)" ]
}

@test "opreport shows the exports of a stripped PE file" {
	cd "$DIR"
	[ "$(names s.stripped)" = spin ]
}

@test "opannotate shows the instructions of a PE file" {
	cd "$DIR"
	"$OPROFILE" annotate --assembly --session-dir s 2>/dev/null >out
	cat out
	grep -q '18000101[0-9a-f].*dec *%\?rcx' out
	grep -q 'spin' out
}

@test "an archive contains the PE file and shows its symbols" {
	cd "$DIR"
	"$OPROFILE" archive --session-dir s -o a.oparchive >log 2>&1
	"$OPROFILE" report -l -n archive:a.oparchive 2>/dev/null | awk '/dll/ { print $NF }' >out
	diff -u <(printf '%s\n' spin idle) out
}

@test "addr2line rejects a kernel with an EFI header as a program" {
	cd "$BATS_TEST_TMPDIR"
	cp "$DIR/whole.dll" efi
	printf '\x0a' | dd of=efi bs=1 seek=$((0x80 + 24 + 68)) conv=notrunc status=none
	run "$OPROFILE" addr2line --no-cache -e efi 0x180001010
	[ "$status" -eq 1 ]
	[[ "$output" == *"neither an ELF file nor a Windows program"* ]]
}

@test "addr2line shows the lines of a program built by MinGW" {
	command -v x86_64-w64-mingw32-gcc >/dev/null || skip "no MinGW compiler (scripts/deps.sh languages): NOT TESTED"
	cd "$BATS_TEST_TMPDIR"
	cat >p.c <<-'END'
		volatile int x;
		static int twice(int n) { return n + n; }
		__attribute__((noinline)) int work(int n)
		{
			x += twice(n);
			return x;
		}
		int main(void) { return work(1); }
	END
	x86_64-w64-mingw32-gcc -O1 -g -o p.exe p.c
	local start size
	start=$(x86_64-w64-mingw32-nm p.exe | awk '$3 == "work" { print "0x" $1 }')
	for size in $(seq 0 12); do printf '0x%x\n' $((start + size)); done >addrs
	x86_64-w64-mingw32-addr2line -e p.exe -f -i <addrs >expected
	"$OPROFILE" addr2line --no-cache -e p.exe -f -i <addrs | diff -u expected -
}
