#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The opreport commands in the documents that the project is based on, as written there (relative
# to a directory with ./oprofile_data), and their output.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	export PATH="$OPROFILE_LINKS:$PATH"
	build_module
	describe_module | make_session module
	build_program
	describe_program | make_session program
	describe_system | make_session system
}

make_session() {
	mkdir -p "$DIR/$1/oprofile_data/samples/current/images"
	cp "$DIR"/kept/* "$DIR/$1/oprofile_data/samples/current/images" 2>/dev/null || true
	cp "$DIR/modules" "$DIR/$1/oprofile_data/samples/current/modules"
	write_segment "$DIR/$1/oprofile_data/samples/current"
}

# functions NAME...: prints assembler code of functions of 16 bytes each.
functions() {
	printf '.text\n'
	for name; do
		printf '.globl %s\n.type %s, %%function\n%s: .fill 16, 1, 0\n.size %s, 16\n' \
			"$name" "$name" "$name" "$name"
	done
	printf '.section .note.GNU-stack,"",%%progbits\n'
}

# Builds a kernel module as the kernel's build leaves it: not linked.
build_module() {
	mkdir -p "$DIR/tree/kernel/fs/ext3"
	functions ext3_group_sparse ext3_count_free_blocks ext3_fill_super rest > "$DIR/ext3.s"
	gcc -c -o "$DIR/tree/kernel/fs/ext3/ext3.ko" "$DIR/ext3.s"
	echo 'ext3 0xffffffffc0000000 16384 - .text=0xffffffffc0000000' > "$DIR/modules"
}

# Describes a session with the numbers in the note on modules.
describe_module() {
	cat <<-'END'
		info|797.948|AMD64 processors|host||1000
		event|DATA_CACHE_ACCESSES|Data cache accesses|3|500000|0|0
		event|DATA_CACHE_MISSES|Data cache misses|3|500000|0|0
		image|3|ext3||0|0xffffffffc0000000|0xffffffffc0004000
		image|2|[kernel.kallsyms]
		thread|30|30|kjournald|-|1|
		sample|0|0|0|2000|1|0+0x4|16728
		sample|0|0|0|2000|1|0+0x14|16454
		sample|0|0|0|2000|1|0+0x24|14583
		sample|0|0|0|2000|1|0+0x34|100956
		sample|0|1|0|2000|1|0+0x4|7
		sample|0|1|0|2000|1|0+0x14|4
		sample|0|1|0|2000|1|0+0x24|51
		sample|0|1|0|2000|1|0+0x34|1431
		sample|0|0|0|2000|1|1+0x34|5000
	END
}

build_program() {
	mkdir -p "$DIR/kept"
	functions contains find_duplicates main > "$DIR/program.s"
	gcc -nostdlib -shared -Wl,--build-id=0x1234567890123456789012345678901234567890 \
		-o "$DIR/kept/1234567890123456789012345678901234567890" "$DIR/program.s"
	export TEXT=$(($(readelf -SW "$DIR"/kept/* |
		sed -n 's/^.*\] \.text *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/0x\1/p')))
}

# Describes a session with the numbers on the slides: a flat profile, and 8 kernel samples of 1728.
describe_program() {
	cat <<-END
		info|0|Some CPU|host||1000
		event|CPU_CLK_UNHALTED|Clocks|3|100000|0|0
		image|1|/opt/program|1234567890123456789012345678901234567890
		image|2|[kernel.kallsyms]
		thread|1|1|program|0|0|
		sample|0|0|0|2000|1|0+$TEXT|2828
		sample|0|0|0|2000|1|0+$((TEXT + 16))|358
		sample|0|0|0|2000|1|0+$((TEXT + 32))|8
		sample|0|0|0|2000|1|1+0x10|8
	END
}

# Describes a system-wide recording as in the manual.
describe_system() {
	cat <<-'END'
		info|863.195|PIII|host||1000
		event|CPU_CLK_UNHALTED|clocks processor is not halted|3|23150|0|0
		image|1|/usr/lib/gcc-lib/i386-redhat-linux/3.2/cc1plus
		image|1|/usr/bin/as
		image|1|/usr/bin/oprofiled
		image|1|/lib/i686/libc-2.3.2.so
		image|1|/bin/myprog
		image|1|/bin/myprog2
		thread|1|1|cc1plus|0|0|
		thread|2|2|as|1|0|
		thread|3|3|oprofiled|2|0|
		thread|4|4|myprog|4|0|
		thread|5|5|myprog2|5|0|
		sample|0|0|0|2000|1|0+0x10|600
		sample|1|0|0|2000|1|1+0x10|200
		sample|2|0|0|2000|1|2+0x10|75
		sample|2|0|0|2000|1|3+0x10|25
		sample|3|0|0|2000|1|4+0x10|60
		sample|4|0|0|2000|1|5+0x10|40
	END
}

@test "opreport prints the published report of a module: /ext3" {
	cd "$DIR/module"
	opreport /ext3 2>"$BATS_TEST_TMPDIR/stderr" | diff -u - <(cat <<-'END'
		CPU: AMD64 processors, speed 797.948 MHz (estimated)
		Counted DATA_CACHE_ACCESSES events (Data cache accesses) with a unit mask of 0x00 (No unit mask) count 500000
		Counted DATA_CACHE_MISSES events (Data cache misses) with a unit mask of 0x00 (No unit mask) count 500000
		DATA_CACHE_ACC...|DATA_CACHE_MIS...|
		  samples|      %|  samples|      %|
		------------------------------------
		   148721 100.000      1493 100.000 ext3
	END
	)
	grep -qx "Using $DIR/module/oprofile_data/samples/ for samples directory." \
		"$BATS_TEST_TMPDIR/stderr"
}

@test "opreport prints the published report of a module: functions, without links" {
	cd "$DIR/module"
	opreport image:/ext3 -l --image-path="$DIR/tree/kernel" -t 9 2>/dev/null | more |
		diff -u - <(cat <<-'END'
		CPU: AMD64 processors, speed 797.948 MHz (estimated)
		Counted DATA_CACHE_ACCESSES events (Data cache accesses) with a unit mask of 0x00 (No unit mask) count 500000
		Counted DATA_CACHE_MISSES events (Data cache misses) with a unit mask of 0x00 (No unit mask) count 500000
		samples  %        samples  %        symbol name
		100956   67.8828  1431     95.8473  rest
		16728    11.2479  7         0.4689  ext3_group_sparse
		16454    11.0637  4         0.2679  ext3_count_free_blocks
		14583     9.8056  51        3.4159  ext3_fill_super
	END
	)
	opreport image:/ext3 -l 2>/dev/null | tail -n 1 |
		diff -u - <(echo '148721   100.000  1493     100.000  /ext3')
}

@test "the note on modules: functions, with a link in the root folder" {
	cd "$DIR/module"
	mkdir -p "$BATS_TEST_TMPDIR/other"
	ln -s "$DIR/tree/kernel/fs/ext3/ext3.ko" "$BATS_TEST_TMPDIR/other/ext3"
	# Where the tests cannot write into /, the option for another root does the same.
	opreport image:/ext3 -ln --root "$BATS_TEST_TMPDIR/other" -t 9 2>/dev/null |
		diff -u - <(cat <<-'END'
		100956   67.8828  1431     95.8473  rest
		16728    11.2479  7         0.4689  ext3_group_sparse
		16454    11.0637  4         0.2679  ext3_count_free_blocks
		14583     9.8056  51        3.4159  ext3_fill_super
	END
	)
	# The path of the module's file selects it, too.
	opreport "$DIR/tree/kernel/fs/ext3/ext3.ko" -n 2>/dev/null |
		diff -u - <(echo '   148721 100.000      1493 100.000 ext3')
}

@test "opreport prints the report of the slides with the kernel and libraries left out" {
	cd "$DIR/program"
	opreport --symbols --exclude-dependent 2>/dev/null | tail -n 4 | diff -u - <(cat <<-'END'
		samples  %        symbol name
		2828     88.5410  contains
		358      11.2085  find_duplicates
		8         0.2505  main
	END
	)
}

@test "opreport prints the report of the slides with a nameless kernel" {
	cd "$DIR/program"
	opreport --symbols 2>/dev/null | tail -n 5 | diff -u - <(cat <<-'END'
		samples  %        image name               symbol name
		2828     88.3198  program                  contains
		358      11.1805  program                  find_duplicates
		8         0.2498  no-vmlinux               /no-vmlinux
		8         0.2498  program                  main
	END
	)
	opreport 2>/dev/null | tail -n 6 | diff -u - <(sed 's/^>/\t/' <<-'END'
		     3202 100.000 program
		>CPU_CLK_UNHALT...|
		>  samples|      %|
		>------------------
		>     3194 99.7502 program
		>        8  0.2498 no-vmlinux
	END
	)
}

@test "opreport prints the manual's image summary with long names" {
	cd "$DIR/system"
	opreport --long-filenames 2>/dev/null | diff -u - <(sed 's/^>/\t/' <<-'END'
		CPU: PIII, speed 863.195 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (clocks processor is not halted) with a unit mask of 0x00 (No unit mask) count 23150
		CPU_CLK_UNHALT...|
		  samples|      %|
		------------------
		      600 60.0000 /usr/lib/gcc-lib/i386-redhat-linux/3.2/cc1plus
		      200 20.0000 /usr/bin/as
		      100 10.0000 /usr/bin/oprofiled
		>CPU_CLK_UNHALT...|
		>  samples|      %|
		>------------------
		>       75 75.0000 /usr/bin/oprofiled
		>       25 25.0000 /lib/i686/libc-2.3.2.so
		       60  6.0000 /bin/myprog
		       40  4.0000 /bin/myprog2
	END
	)
}

@test "opreport prints the manual's functions of some programs" {
	cd "$DIR/system"
	opreport -l /usr/bin/oprofiled 2>/dev/null | more | tail -n 3 | diff -u - <(cat <<-'END'
		samples  %        image name               symbol name
		75       75.0000  oprofiled                /usr/bin/oprofiled
		25       25.0000  libc-2.3.2.so            /lib/i686/libc-2.3.2.so
	END
	)
	opreport -l image:/bin/myprog,/bin/myprog2 2>/dev/null | tail -n 3 |
		diff -u - <(cat <<-'END'
		samples  %        app name                 symbol name
		60       60.0000  myprog                   /bin/myprog
		40       40.0000  myprog2                  /bin/myprog2
	END
	)
	opreport -l /bin/myprog,/bin/myprog2 2>/dev/null | tail -n 3 |
		diff -u - <(opreport -l image:/bin/myprog,/bin/myprog2 2>/dev/null | tail -n 3)
}

@test "opreport prints the manual's reports with patterns" {
	cd "$DIR/system"
	opreport -n image:/usr/bin/\* 2>/dev/null | diff -u - <(sed 's/^>/\t/' <<-'END'
		      200 66.6667 as
		      100 33.3333 oprofiled
		>       75 75.0000 oprofiled
		>       25 25.0000 libc-2.3.2.so
	END
	)
	opreport -n -x 'image:/usr/bin/oprofiled,*op*,./oprofpp' 2>/dev/null |
		diff -u - <(echo '       75 100.000 oprofiled')
}

@test "opreport prints the published details with lines and complete paths" {
	cd "$DIR/program"
	run opreport -gdf
	[ "$status" -eq 0 ]
}

@test "every test that the page on the manual names exists" {
	local nr=0 file name
	while IFS=$'\t' read -r file name; do
		grep -qF "@test \"$name\"" "$SOURCE_ROOT/tests/cmd/$file.bats" ||
			{ echo "$file.bats has no test '$name'"; return 1; }
		nr=$((nr + 1))
	done < <(sed -n 's/.*| \([a-z_]*\): "\(.*\)" |$/\1\t\2/p' \
		"$SOURCE_ROOT/docs/oprofile-manual.md")
	# Every row names a test.
	[ "$nr" -gt 0 ]
	[ "$nr" -eq $(($(grep -c '^| ' "$SOURCE_ROOT/docs/oprofile-manual.md") -
		$(grep -c '^| manual' "$SOURCE_ROOT/docs/oprofile-manual.md"))) ]
}
