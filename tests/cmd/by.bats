#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --by: every key, and the names that perf uses for them.

load helpers

setup_file() {
	export DIR="$BATS_FILE_TMPDIR"
	describe | make_session current
	describe_other | make_session other
	export S="$DIR"
}

make_session() {
	write_segment "$DIR/samples/$1"
}

# Images of every kind, and threads whose numbers would sort differently as text.
describe() {
	cat <<-'END'
		info|2400|CPU|host1||1000000000
		event|CLK|Clocks|3|100000|0|0
		image|1|/nowhere/bin/make
		image|2|[kernel.kallsyms]
		image|3|ext4
		image|4|bpf_prog_0123456789abcdef_f
		image|5|[vdso]
		image|6|//anon||9|0x1000|0x2000
		image|7|[unknown]||9
		image|8|[guest.kernel.kallsyms]
		image|9|[unknown]
		image|10|[unknown]
		image|6|[vsyscall]||9|0xffffffffff600000|0xffffffffff601000
		thread|9|9|make|0|0|/a
		thread|9|10|make|0|0|/a
		thread|100|100|cc1|0|0|/b
		sample|0|0|9|1000000000|100000|0+0x10|1
		sample|0|0|10|1100000000|200000|1+0x10|1
		sample|1|0|9|1200000000|100000|2+0x10|1
		sample|1|0|9|1300000000|100000|3+0x10|1
		sample|2|0|9|1400000000|100000|4+0x10|1
		sample|0|0|9|1500000000|100000|5+0x10|1
		sample|0|0|9|1600000000|100000|6+0x10|1
		sample|0|0|9|1700000000|100000|7+0x10|1
		sample|0|0|9|1800000000|100000|8+0x10|1
		sample|0|0|9|1900000000|100000|9+0x10|1
		sample|0|0|9|2000000000|100000|10+0x10|1
	END
}

describe_other() {
	cat <<-'END'
		info|2400|CPU|host2||1000
		event|CLK|Clocks|3|100000|0|0
		image|1|/nowhere/bin/make
		thread|9|9|make|0|0|
		sample|0|0|0|2000|1|0+0x10|3
	END
}

report() {
	"$OPROFILE" report --session-dir "$S" "$@" 2>"$BATS_TEST_TMPDIR/err"
}

# rows OPTION...: prints CSV without its header line and with plain line ends.
rows() {
	report --csv -n "$@" | tr -d '\r'
}

refused() {
	local status=0
	report "$@" >"$BATS_TEST_TMPDIR/out" || status=$?
	[ "$status" -eq 1 ] && [ ! -s "$BATS_TEST_TMPDIR/out" ] || return 1
	sed 's/^[^:]*: *//' "$BATS_TEST_TMPDIR/err"
}

@test "images have perf's names, and origins tell the kinds of images apart" {
	diff -u <(rows --by dso,origin) - <<-'END'
		/nowhere/bin/make,[.],1,100000,9.090909091
		[JIT] tid 9,[.],1,100000,9.090909091
		[ext4],[k],1,100000,9.090909091
		[guest.kernel.kallsyms],[g],1,100000,9.090909091
		[kernel.kallsyms],[k],1,200000,9.090909091
		[unknown],[.],1,100000,9.090909091
		[unknown],[H],1,100000,9.090909091
		[unknown],[u],1,100000,9.090909091
		[vdso],[.],1,100000,9.090909091
		[vsyscall],[.],1,100000,9.090909091
		bpf_prog_0123456789abcdef_f,[k],1,100000,9.090909091
	END
}

@test "--by origin works alone and with symbols" {
	diff -u <(rows --by origin) - <<-'END'
		[.],5,500000,45.45454545
		[k],3,400000,27.27272727
		[H],1,100000,9.090909091
		[g],1,100000,9.090909091
		[u],1,100000,9.090909091
	END
	report --by origin | tail -n 6 | diff -u - <(cat <<-'END'
		samples  %        origin
		5        45.4545  [.]
		3        27.2727  [k]
		1         9.0909  [H]
		1         9.0909  [g]
		1         9.0909  [u]
	END
	)
	report --by comm,dso,sym 'lib-image:make,ext4,\[guest*,kernel*' comm:make | tail -n 4 |
		diff -u - <(cat <<-'END'
			samples  %        command          image name                   symbol name
			1        33.3333  make             make                     [.] /nowhere/bin/make
			1        33.3333  make             [ext4]                   [k] /ext4
			1        33.3333  make             [guest.kernel.kallsyms]  [g] [guest.kernel.kallsyms]
		END
		)
	# A column that the user requested is not shown twice.
	[ "$(report --by origin,sym -n lib-image:ext4)" = "1        100.000  [k]    /ext4" ]
}

@test "reports show samples, periods and shares in columns" {
	report --by image --show-total-period lib-image:make,no-vmlinux | tail -n 3 |
		diff -u - <(cat <<-'END'
			samples  period         %        image name
			1        100000         50.0000  make
			1        200000         50.0000  [kernel.kallsyms]
		END
		)
	[ "$(report -ln --show-total-period lib-image:no-vmlinux)" = \
		"1        200000         100.000  no-vmlinux               /no-vmlinux" ]
	[[ "$(refused --show-total-period)" == \
		"--show-total-period is meaningless without --by, --symbols, --details, --callgraph, --csv, --json or --xml "* ]]
	diff -u <(report --by comm) <(report --by comm --show-nr-samples)
}

@test "numeric keys are sorted as numbers" {
	diff -u <(rows --by tid | head -n 3) - <<-'END'
		9,8,900000,72.72727273
		10,2,200000,18.18181818
		100,1,100000,9.090909091
	END
	diff -u <(rows --by cpu lib-image:make,no-vmlinux) - <<-'END'
		9,1,100000,50
		10,1,200000,50
	END
	diff -u <(rows --by tgid,tid 'lib-image:make,ext4,\[vdso*') - <<-'END'
		9,9,1,100000,33.33333333
		9,10,1,100000,33.33333333
		100,100,1,100000,33.33333333
	END
	diff -u <(rows --by time:200ms tid:10) - <<-'END'
		0.2,2,200000,100
	END
}

@test "sessions and hosts are shown separately or summed" {
	diff -u <(rows --by session session:current,other) - <<-'END'
		current,11,1200000,78.57142857
		other,3,3,21.42857143
	END
	diff -u <(rows --by session,host "$S/samples/other" "$S/samples/current") - <<-END
		$S/samples/current,host1,11,1200000,78.57142857
		$S/samples/other,host2,3,3,21.42857143
	END
	diff -u <(rows --by comm session:current,other) - <<-'END'
		make,13,1100003,92.85714286
		cc1,1,100000,7.142857143
	END
	# A session can be given by its directory or by its name.
	[ "$(rows --by event "$S/samples/other")" = "CLK,3,3,100" ]
}

@test "opreport rejects unknown keys and suggests the known ones" {
	[ "$(refused --by comm,dos)" = "--by: unknown key 'dos': did you mean 'dso'?" ]
	[ "$(refused --by symbl)" = "--by: unknown key 'symbl': did you mean 'symbol'?" ]
	[ "$(refused --by sym,symbol)" = "--by: key 'symbol' is given twice" ]
	[[ "$(refused --by nonsense)" == "--by: unknown key 'nonsense' (event, comm, pid, tid, cpu, image, app, symbol, origin, address, line, file, inline, function-line, stack, cgroup, session, host, time:10ms)" ]]
}

@test "opreport accepts options of perf report" {
	diff -u <(rows --by tid) <(rows --by tid --stdio --no-children --no-inline \
		--show-nr-samples --force)
	diff -u <(rows --by tid --threshold 50) <(rows --by tid --percent-limit 50)
	diff -u <(rows --by comm tgid:100) <(rows --by comm --pid 100)
	diff -u <(rows --by comm tid:10) <(rows --by comm --tid=10)
	diff -u <(rows --by comm cpu:10) <(rows --by comm --cpu 10)
	diff -u <(rows --by dso time:10%-30%) <(rows --by dso --time 10%-30%)
	[ "$(rows --by dso --time 10%-30%)" != "$(rows --by dso)" ]
	diff -u <(rows --by comm,session "$S/samples/other") \
		<(rows --by comm,session --input "$S/samples/other")
	[ "$(refused --input /nowhere/perf.data)" = \
		"--input: /nowhere/perf.data: No such file or directory" ]
	[ "$(refused --input /dev/null)" = "--input: /dev/null: neither a session nor a perf.data" ]
	[ "$(refused --pid 100 tgid:100)" = "tag specified more than once: tgid:100" ]
	[[ "$(refused --fields comm)" == *"--by"* ]]
	[[ "$(refused --field-separator ,)" == *"--csv"* ]]
	[[ "$(refused --call-graph none)" == *"--tree=callers"* ]]
}

# Names are compared eight bytes at a time. The lengths here are around eight, the differing byte
# is before or after the eighth, and some bytes are above 127.
@test "rows with equal counts are sorted by the bytes of their names" {
	local names=(abcdefg abcdefgh abcdefghi abcdefghj abcdefgi abcdefghABCDEFG a b
		$'abcdefgh\xc3\xa9' $'\xc3\xa9' abcdefgz zbcdefgh abcdefghA Abcdefgh)
	{
		printf '%s\n' 'info|2400|CPU|host1||1000000000' 'event|CLK|Clocks|3|100000|0|0' \
			'image|1|/a'
		for i in "${!names[@]}"; do
			echo "thread|$((i + 1))|$((i + 1))|${names[i]}|0|0|/a"
		done
		for i in "${!names[@]}"; do
			echo "sample|$i|0|0|$((1000000000 + i))|100000|0+0x10|1"
		done
	} | make_session names
	"$OPROFILE" report --session-dir "$DIR" session:names --by comm --csv --no-header \
		2>/dev/null >"$DIR/ordered"
	diff <(cut -d , -f 1 "$DIR/ordered") <(printf '%s\n' "${names[@]}" | LC_ALL=C sort)
}
