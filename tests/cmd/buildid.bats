# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile buildid-list, buildid-cache and where: compared with perf, and with the output of perf
# on other machines.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	export PERF_BUILDID_DIR=$BATS_TEST_TMPDIR/cache
	true_id=$("$OPROFILE" buildid-list /bin/true)
}

# Prints the path of the program `work` on the machine that made the recording.
program()
{
	awk '$2 ~ "/work$" { print $2 }' "$DATA/$1/perf.data.buildids.txt"
}

@test "buildid-list prints what perf printed on the recording machine" {
	need_data
	for machine in arm64 armhf s390x; do
		"$OPROFILE" buildid-list "$DATA/$machine/perf.data" >"$BATS_TEST_TMPDIR/ours"
		diff "$BATS_TEST_TMPDIR/ours" "$DATA/$machine/perf.data.buildids.txt"
	done
}

@test "buildid-list --with-hits finds sampled binaries in a file without build-id headers" {
	need_data
	run -0 "$OPROFILE" buildid-list --with-hits "$DATA/armhf/perf.z.data"
	grep -qx " *$(program armhf)" <<<"$output"
	[[ $output == *"[kernel.kallsyms]"* ]]
}

@test "buildid-list prints build-ids of the kernel and of a binary, and rejects a missing file" {
	need perf
	[ "$("$OPROFILE" buildid-list -k)" = "$(perf buildid-list -k)" ]
	[ "$true_id" = "$(perf buildid-list -i /bin/true)" ]
	run ! "$OPROFILE" buildid-list "$BATS_TEST_TMPDIR/none"
	[[ $output == *none*"No such file"* ]]
}

@test "buildid-list rejects a file that is not a recording and does not use the current session" {
	local empty="$BATS_TEST_TMPDIR/empty"
	: >"$empty"
	for command in "buildid-list $empty" "buildid-cache --missing=$empty" "where $empty /bin/true"; do
		run -1 "$OPROFILE" $command
		[[ $output == *": $empty is empty" ]]
	done
	run -1 "$OPROFILE" buildid-list /etc/passwd
	[[ $output == *"/etc/passwd is neither a perf.data file nor a profile of another tool" ]]
	run -1 "$OPROFILE" buildid-list "$BATS_TEST_TMPDIR"
	[[ $output == *"$BATS_TEST_TMPDIR contains neither a session nor a perf.data file" ]]
}

@test "perf reads the cache that we write, and we read the one that perf writes" {
	need perf
	"$OPROFILE" buildid-cache --add /bin/true,/bin/ls
	run -0 perf --buildid-dir "$PERF_BUILDID_DIR" buildid-cache -l
	[[ $output == *"$true_id $(realpath /bin/true)"* ]]
	[ "$("$OPROFILE" buildid-cache --list)" = "$output" ]
	perf --buildid-dir "$PERF_BUILDID_DIR" buildid-cache -r /bin/true
	perf --buildid-dir "$PERF_BUILDID_DIR" buildid-cache -a /bin/cat
	run -0 "$OPROFILE" buildid-cache -l
	[[ $output != *"$true_id"* ]]
	[[ $output == *"$(realpath /bin/cat)"* ]]
}

@test "buildid-cache removes by file, by build-id, by path, and all" {
	"$OPROFILE" buildid-cache -a /bin/true -a /bin/ls -a /bin/cat
	"$OPROFILE" buildid-cache -r /bin/ls -p "$(realpath /bin/cat)"
	run -0 "$OPROFILE" buildid-cache -l
	[ "$output" = "$true_id $(realpath /bin/true)" ]
	run -1 "$OPROFILE" buildid-cache -r /bin/ls
	[[ $output == *"/bin/ls"*": No such file"* ]]
	"$OPROFILE" buildid-cache -r "$true_id"
	"$OPROFILE" buildid-cache -a /bin/true
	"$OPROFILE" buildid-cache --purge-all
	[ -z "$("$OPROFILE" buildid-cache -l)" ]
}

@test "buildid-cache names the files that it cannot add" {
	run -1 "$OPROFILE" buildid-cache -a /etc/passwd,/nowhere
	[[ $output == *"/etc/passwd: is not an ELF file"* ]]
	[[ $output == *"/nowhere"*": No such file"* ]]
	run -1 "$OPROFILE" buildid-cache
	[[ $output == *--list* ]]
}

@test "buildid-list lists missing binaries, with and without the cache" {
	need_data
	run -0 "$OPROFILE" buildid-cache --missing "$DATA/s390x/perf.data"
	[[ $output == *"0847a9bac97c126d5efcdbd5b0aa2d11de3319a0 $(program s390x)"* ]]
	[[ $output == *"[kernel.kallsyms]"* ]]
	PERF_BUILDID_DIR=$DATA/s390x/debug-cache
	run -0 "$OPROFILE" buildid-cache --missing "$DATA/s390x/perf.data"
	[[ $output != *work* ]]
	[[ $output != *"[kernel.kallsyms]"* ]]
}

@test "oprofile where shows each step of the search" {
	need_data
	run -1 "$OPROFILE" where "$DATA/arm64/perf.data" work
	[[ ${lines[0]} == "$(program arm64)  build-id ad00aa0297db90439144d92d877e13f91b5f8e45" ]]
	[[ $output == *"recorded path"*"$(program arm64): not found"* ]]
	[[ $output == *"no symbols"* ]]
	PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	run -0 "$OPROFILE" where "$DATA/arm64/perf.data" work
	[[ $output == *"perf's cache"*"$(program arm64)/ad00aa0297db90439144d92d877e13f91b5f8e45/elf: found"* ]]
	run -0 "$OPROFILE" where ad00aa0297db90439144d92d877e13f91b5f8e45
	[[ $output == *"= "*" symbols from"* ]]
}

@test "where does not use this machine's kernel symbols for another kernel" {
	need_data
	run -1 "$OPROFILE" where "$DATA/arm64/perf.data" '[kernel.kallsyms]'
	[[ $output == *"/proc/kallsyms: another one"* ]]
	PERF_BUILDID_DIR=$DATA/arm64/debug-cache
	run -0 "$OPROFILE" where "$DATA/arm64/perf.data" '[kernel.kallsyms]'
	[[ $output == *"symbols from $DATA/arm64/debug-cache"* ]]
}

# Compares samples, command, object and symbol with the report of the machine that made the
# recording. Left out are objects where perf counts modules as the kernel (arm64), and rows
# without a name.
@test "with the cache, opreport prints the rows of perf on the s390x machine" {
	need_data
	PERF_BUILDID_DIR=$DATA/s390x/debug-cache
	"$OPROFILE" report --csv --by comm,symbol "$DATA/s390x/perf.data" 2>/dev/null |
		awk -F, 'NR > 1 && $2 !~ /^(0x|\/|\(|\[|"|anonymous symbol)/ {print $3 "\t" $1 "\t" $2}' |
		sort >"$BATS_TEST_TMPDIR/ours"
	awk -F'\t' '$4 !~ /^(0x|\[)/ {sub(/ +$/, "", $4); n[$2 "\t" $4] += $1}
		END {for (k in n) print n[k] "\t" k}' "$DATA/s390x/perf.data.native" |
		sort >"$BATS_TEST_TMPDIR/theirs"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -gt 500 ]
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
}
