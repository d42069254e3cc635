#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# op2calltree: converts the output of opreport -gdf to callgrind files.

bats_require_minimum_version 1.5.0
load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR"
}

op2calltree()
{
	timeout -k 5 60 "$OPROFILE_LINKS/op2calltree" "$@"
}

report()
{
	cat <<-'END'
		CPU: Intel Core, speed 2000 MHz (estimated)
		Counted CPU_CLK_UNHALTED events (Clock cycles) with a unit mask of 0x00 (No unit mask) count 100000
		Counted LLC_MISSES events (Misses) with a unit mask of 0x41 (No unit mask) count 6000
		vma      samples  %        samples  %        linenr info                 image name               app name                 symbol name
		0000000000401000 308  61.6000  7 70.0000  /src/main.c:6 /usr/bin/app /usr/bin/app main
		  0000000000401004 300  97.4026  7 100.000  /src/main.c:7
		  0000000000401008 8  2.5974  0 0  /src/inline.h:3
		00000000000020f0 100  20.0000  0 0  (no location information)   /lib/libz.so.1.2.13 /usr/bin/app inflate
		  00000000000020f4 100  100.000  0 0  (no location information)
		0000000000402000 50  10.0000  3 30.0000  /src/my file.c:9 /opt/app /opt/app operator new(unsigned long)
		  0000000000402000 50  100.000  3 100.000  /src/my file.c:9
		00000000000020f0 42  8.4000  0 0  (no location information)   /lib/libz.so.1.2.13 /opt/tool (no symbols)
		  00000000000020f8 42  100.000  0 0  (no location information)
	END
}

@test "op2calltree writes one file per application, named as by KCachegrind's script" {
	report | op2calltree
	[ "$(ls | paste -sd' ')" = 'oprof.out.app oprof.out.app.2 oprof.out.tool' ]
	diff - oprof.out.app <<-'END'
		# callgrind format
		version: 1
		creator: op2calltree
		cmd: /usr/bin/app
		positions: instr line
		events: CPU_CLK_UNHALTED LLC_MISSES
		summary: 408 7

		ob=/usr/bin/app
		fl=(1) /src/main.c
		fn=main
		0x401004 7 300 7
		fi=(2) /src/inline.h
		0x401008 3 8 0
		ob=/lib/libz.so.1.2.13
		fl=(3) ???
		fn=inflate
		0x20f4 0 100 0
	END
	grep -qx 'fl=(1) /src/my file.c' oprof.out.app.2
	grep -qx 'fn=operator new(unsigned long)' oprof.out.app.2
	grep -qx 'fn=???' oprof.out.tool
	report | op2calltree -o x/none 2>err && return 1
	[ "$(wc -l <err)" -eq 1 ]
	if command -v callgrind_annotate >/dev/null; then
		callgrind_annotate oprof.out.app >annotated
		cat annotated
		grep -q '^ *300 .* 7 .*/src/main.c:main ' annotated
	fi
}

# Compares one event and unique symbols, for which KCachegrind's script is correct.
@test "op2calltree computes the same costs as KCachegrind's script" {
	[ -x /usr/bin/op2calltree ] || skip "needs KCachegrind's op2calltree"
	mkdir theirs ours
	report | sed '/operator new/,+1d' >report
	(cd theirs && /usr/bin/op2calltree <../report >/dev/null)
	(cd ours && op2calltree <../report)
	costs()
	{
		awk 'FNR == 1 { delete name } /^f[lie]=/ { id = $1; sub(/^f.=/, "", id); if (NF > 1) name[id] = $2; file = name[id] }
			/^fn=/ { fn = $0 } /^ob=/ { ob = $0 } /^0x/ { sub(/^0x0*/, "", $1); print ob, fn, file, $0 }' "$1" | sort
	}
	for name in app tool; do
		diff <(costs "theirs/oprof.out.$name") <(costs "ours/oprof.out.$name")
		[ -n "$(costs "ours/oprof.out.$name")" ]
	done
}

@test "op2calltree loses no sample of the output of opreport -gdf" {
	new_session
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|CYCLES|cycles|1|1000|0|0
		image|1|/no/prog|00
		image|1|/no/libx.so|00
		thread|7|7|p|0|0|/
		sample|0|0|0|2000|1000|0+4096|40
		sample|0|0|0|2000|1000|1+8192|2
	END
	opreport --session-dir "$session" -gdf 2>err >report
	cat report
	op2calltree <report
	[ "$(sed -n 's/^summary: //p' oprof.out.* | awk '{ n += $1 } END { print n }')" -eq 42 ]
}

@test "op2calltree reads names of programs, libraries and sources that contain blanks" {
	new_session
	write_segment "$session/samples/current" <<-END
		info|0||$(uname -n)||1000000000|0||
		event|CYCLES|cycles|1|1000|0|0
		image|1|/no/a  /no/other main|00
		image|1|/no/lib :7 x.so|00
		image|1|/no/a\x20\x20/no/other main|00
		thread|7|7|p|0|0|/
		thread|8|8|q|2|0|/
		sample|0|0|0|2000|1000|0+4096|40
		sample|0|0|0|2000|1000|1+8192|2
		sample|1|0|0|2000|1000|2+8192|5
	END
	opreport --session-dir "$session" -gdf 2>err >report
	cat report
	grep -F ' /no/lib\x20:7\x20x.so ' report
	op2calltree <report
	grep -hx 'cmd: .*' oprof.out.* | sort >names
	diff - names <<-'END'
		cmd: /no/a  /no/other main
		cmd: /no/a\x20\x20/no/other main
	END
	grep -hx 'ob=/no/lib :7 x.so' oprof.out.*
	[ "$(grep -l 'cmd: /no/a  /no' oprof.out.* | xargs -d '\n' sed -n 's/^summary: //p')" -eq 42 ]
	# For people, names have their blanks.
	opreport --session-dir "$session" -lf 2>err | grep -F ' /no/lib :7 x.so '
}

@test "op2calltree keeps the name of a function that is named like a number of callgrind's" {
	report | sed 's/ inflate$/ (1) main/' | op2calltree
	grep -Fx 'fn=\x281) main' oprof.out.app
}

@test "op2calltree rejects other input and prints the line number" {
	run -1 --separate-stderr op2calltree </dev/null
	[[ $stderr == *"opreport -gdf"* ]]
	run -1 --separate-stderr op2calltree < <(report | sed 's/^  0000000000401008 8 /  0000000000401008 x /')
	[[ $stderr == *"line 7: no number of samples"* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
	run -1 --separate-stderr op2calltree < <(report | sed 's/linenr info//')
	[[ $stderr == *"line 4: "*"--debug-info"* ]]
	run -1 --separate-stderr op2calltree report.txt
	[[ $stderr == *"standard input"* ]]
	[ -z "$(ls | grep oprof)" ]
}
