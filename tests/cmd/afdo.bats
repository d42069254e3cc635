#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile export afdo: clang and llvm-profdata accept the profile, and it equals that of
# llvm-profgen.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	need clang
	out=$BATS_TEST_TMPDIR
	cp "$SOURCE_ROOT/tests/workloads/interpreter.c" "$out"
	cd "$out"
	export XDG_CACHE_HOME=$out/cache
	new_session
}

# build NAME [FLAG...]: compiles the interpreter workload with these flags.
build()
{
	local name=$1
	shift
	clang -O2 -Wl,--build-id "$@" -o "$name" interpreter.c
}

export_afdo()
{
	timeout -k 5 60 "$OPROFILE" export afdo "$@"
}

# need_llvm NAME: sets $llvm to the tool's path; Debian appends a version to the name.
need_llvm()
{
	llvm=$(command -v "$1" || compgen -c "$1-" | sort -V | tail -n 1)
	[ -n "$llvm" ] || skip "needs $1: NOT TESTED"
}

# Makes a session with samples at each instruction of .text: one at the first, two at the second,
# ...
made_session()
{
	local n=0 address
	{
		printf '%s\n' "info|0||$(uname -n)||1000000000|0||" "event|TIMER|time|7|1000000|0|0" \
			"image|1|$out/$1|$(readelf -n "$1" | sed -n 's/^.*Build ID: //p')" "thread|7|7|p|0|0|/"
		objdump -d -j .text --no-show-raw-insn "$1" |
			sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' >addresses
		while read -r address; do
			echo "sample|0|0|0|2000|1000000|0+$((address - $2))|$((n++ % 50 + 1))"
		done <addresses
	} | write_segment "$session/samples/current"
}

# lines_of FILE: prints a profile's counts by source line. The profile has offsets from the first
# line of each function, which this converts.
lines_of()
{
	python3 - "$1" <<-'END'
		import collections, re, sys
		begins = {}
		for number, line in enumerate(open("interpreter.c"), 1):
		    if found := re.match(r"(?:static )?\w+ (\w+)\(.*\)$", line):
		        begins[found[1]] = number
		counts, stack = collections.Counter(), []
		for line in open(sys.argv[1]):
		    depth = len(line) - len(line.lstrip(" "))
		    words = line.strip().split(" ")
		    if not depth:
		        stack = [words[0].split(":")[0]]
		        continue
		    at = int(re.match(r"\d+", words[0])[0])
		    if words[1].isdigit():
		        counts[begins[stack[depth - 1]] + at] += int(words[1])
		    else:
		        stack[depth:] = [words[1].split(":")[0]]
		for line, count in sorted(counts.items()):
		    print(line, count)
	END
}

@test "afdo of samples has the counts of opreport's lines, and clang accepts it" {
	build plain -gmlt -fdebug-info-for-profiling -no-pie
	made_session plain "$(($(text_address plain) - $(text_offset plain)))"
	export_afdo --session-dir "$session" -o profile
	cat profile
	lines_of profile >found
	opreport --session-dir "$session" --by line --csv | tr -d '\r' |
		sed -n 's/.*interpreter\.c:\([1-9][0-9]*\),\([0-9]*\),.*/\1 \2/p' | sort -n >wanted
	diff wanted found
	[ "$(wc -l <wanted)" -gt 15 ]
	# The compiler's remarks show which parts of the profile it used.
	build again -gmlt -fdebug-info-for-profiling -fprofile-sample-use=profile \
		-Rpass=sample-profile-inline -Rpass=sample-profile 2>remarks
	cat remarks
	grep -q "'mix' inlined into 'main' to match profiling context" remarks
	grep -q "most popular destination for" remarks
	[ "$(./again 1000)" = "$(./plain 1000)" ]
}

@test "afdo of branch stacks has the counts of llvm-profgen for the same recording" {
	need_llvm llvm-profgen
	[ "$(uname -m)" = x86_64 ] || skip "the stepper knows x86-64 alone: NOT TESTED"
	local flags name
	for flags in "-O2" "-O1 -fno-inline" "-O3 -no-pie"; do
		name=stepped${flags// /}
		# shellcheck disable=SC2086
		build "$name" -gmlt -fdebug-info-for-profiling $flags
		python3 "$SOURCE_ROOT/tests/cmd/step_branches.py" data "./$name" 60
		"$OPROFILE" script --show-mmap-events -F ip,brstack -i data >text
		"$llvm" --perfscript=text --binary="$name" --output=wanted --format=text 2>err
		rm -rf cache
		export_afdo data -o found
		# Remove the totals: llvm-profgen counts bytes, we count the lines of
		# instructions. llvm-profgen also counts line 0 as a line.
		sed -i 's/^\(  *[0-9.]*: [^0-9 ][^ ]*\):[0-9]*$/\1/; s/^\([^ ]*\):[0-9]*:/\1:/
			/^ *6[0-9][0-9][0-9][0-9]: [0-9]/d' wanted found
		sort wanted >wanted.sorted # functions by their totals
		sort found | diff wanted.sorted -
		[ "$(wc -l <found)" -gt 15 ]
		# The second run uses the index that the first one wrote.
		export_afdo data | sed 's/^\(  *[0-9.]*: [^0-9 ][^ ]*\):[0-9]*$/\1/
			s/^\([^ ]*\):[0-9]*:/\1:/' | sort | diff wanted.sorted -
	done
	# Compare also the calls and how often each function was called.
	build calls -gmlt -fdebug-info-for-profiling -O1 -fno-inline
	python3 "$SOURCE_ROOT/tests/cmd/step_branches.py" data ./calls 60
	export_afdo data -o p
	grep -q '^mix:[0-9]*:[1-9][0-9]*$' p
	grep -q '^ [0-9.]*: [0-9]* mix:[1-9][0-9]*$' p
}

@test "llvm-profdata shows and merges the exported profile" {
	need_llvm llvm-profdata
	build plain -g -fdebug-info-for-profiling -no-pie
	made_session plain "$(($(text_address plain) - $(text_offset plain)))"
	export_afdo --session-dir "$session" -o profile
	"$llvm" show --sample profile >shown
	cat shown
	grep -q 'inlined callee: mix: ' shown
	# Merging a profile with itself doubles the counts, and so do two sources.
	"$llvm" merge --sample --text profile profile -o twice
	mkdir -p other/samples
	cp -r "$session/samples/current" other/samples/second
	export_afdo "$session/samples/current" other/samples/second -o both
	"$llvm" merge --sample --text both -o both.text
	diff twice both.text
}

@test "afdo rejects inputs that it cannot export in one line each" {
	build bare
	made_session bare 0
	run -1 --separate-stderr export_afdo --session-dir "$session" -o none
	echo "$stderr"
	[ "${#stderr_lines[@]}" -eq 1 ] && [[ $stderr == *"-fdebug-info-for-profiling"* ]]
	build lines -gmlt -no-pie
	rm -r "$session/samples"
	made_session lines "$(($(text_address lines) - $(text_offset lines)))"
	run -1 --separate-stderr export_afdo --session-dir "$session" -o none
	echo "$stderr"
	[ "${#stderr_lines[@]}" -eq 1 ] && [[ $stderr == *"start lines of the functions"*"-fdebug-info-for-profiling"* ]]
	run -1 --separate-stderr export_afdo --session-dir "$session" symbol:mix -o none
	[[ $stderr == *"symbol:"* ]]
	run -1 --separate-stderr export_afdo --session-dir "$session" comm:nobody -o none
	[[ $stderr == *"too strict"* ]]
	[ ! -e none ]
}

@test "static functions with the same name keep the suffix that distinguishes them" {
	cat > one.c <<-'END'
		int two(int);
		__attribute__((noinline)) static int helper(int x)
		{
			int s = 0;
			for (int i = 0; i < x; i++)
				s = s * 31 ^ i;
			return s;
		}
		int main(int argc, char **argv)
		{
			(void)argv;
			return helper(argc) + two(argc);
		}
	END
	cat > two.c <<-'END'
		__attribute__((noinline)) static int helper(int x)
		{
			int s = 1;
			for (int i = 0; i < x; i++)
				s = s * 17 + (i | 1);
			return s;
		}
		int two(int x)
		{
			return helper(x);
		}
	END
	clang -O2 -g -fdebug-info-for-profiling -funique-internal-linkage-names -no-pie \
		-Wl,--build-id one.c two.c -o unique
	made_session unique "$(($(text_address unique) - $(text_offset unique)))"
	export_afdo --session-dir "$session" -o profile
	cat profile
	nm unique | sed -n 's/.* t \(.*helper.*\)/\1/p' | sort > wanted
	[ "$(wc -l < wanted)" -eq 2 ]
	sed -n 's/^\([^ :]*helper[^ :]*\):.*/\1/p' profile | sort | diff wanted -
	# The compiler finds both functions by these names.
	clang -O2 -g -fdebug-info-for-profiling -funique-internal-linkage-names \
		-fprofile-sample-use=profile one.c -c -S -emit-llvm -o - | grep -q 'helper.*!prof'
}
