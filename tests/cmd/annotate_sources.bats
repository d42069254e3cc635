# SPDX-License-Identifier: GPL-2.0-or-later
# The search for sources in opannotate, and sources that are missing, changed or hostile.
load helpers

bats_require_minimum_version 1.5.0

ID=1111111111111111111111111111111111111111

setup()
{
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	export no_proxy='*' HOME=$PWD DEBUGINFOD_CACHE_PATH=$PWD/fetched DEBUGINFOD_URLS=
	DIR=$PWD/session
	servers=
	public=
	mkdir -p "$DIR/samples/current" src
}

teardown()
{
	[ -z "$servers" ] || kill $servers
	[ -z "$public" ] || rm -r "$public"
}

opannotate()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" "$@"
}

# Prints the end of the function, and a unit in the debug information that contains it.
put_unit()
{
	cat <<END
	.size leaf, . - leaf
.Lend:
	.section .debug_abbrev,"",@progbits
	.byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0
	.section .debug_info,"",@progbits
	.long .Linfo_end - .Linfo
.Linfo:
	.short 4
	.long 0
	.byte 8, 1
	.long 0
	.quad leaf
	.long .Lend - leaf
.Linfo_end:
END
}

# make_session [HOST]: makes a session with 70 samples in line 6 of src/t.c and 30 in line 9; the
# code bytes are in nops.
make_session()
{
	local host=${1-$(uname -n)} text
	cat >t.s <<END
	.file 1 "$PWD/src/t.c"
	.text
	.globl leaf
	.type leaf, @function
leaf:
	.loc 1 6
	.rept 8
	nop
	.endr
	.loc 1 9
	.rept 8
	nop
	.endr
END
	put_unit >>t.s
	clang -c -o t.o t.s
	ld -shared --build-id=0x$ID -o t t.o
	text=$(($(text_offset t)))
	rm -f "$DIR/samples/current/segment-000001"
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$host|1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$PWD/t|$ID
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$((text + 1))|70
sample|0|0|0|2000|1|0+$((text + 9))|30
END
	write_source
}

write_source()
{
	printf '%s\n' one two three four five '	six();' seven eight nine ten >src/t.c
	touch -d 2000-01-01 src/t.c
}

adds_up()
{
	[[ $output == *"    100 100.000 in the lines shown"* || $output == *"    100 100.000 in the instructions shown"* ]] &&
		[[ $output == *"    100 100.000 in all"* ]]
}

@test "opannotate does not use source paths of a recording from another machine" {
	make_session elsewhere
	run -0 --separate-stderr opannotate -s
	[[ $stderr == *"$PWD/src/t.c (it was recorded on another machine; give directories of this machine with --search-dirs)"* ]]
	[[ $output != *"six();"* && $output == *"    70 70.0000 :/* line 6 */"* ]]
	adds_up
	run -0 --separate-stderr opannotate -s -a
	[[ $output != *"six();"* ]]
	run -0 --separate-stderr opannotate -s --search-dirs "$PWD"
	[[ $output == *"    70 70.0000 :	six();"* ]]
	[ -z "$stderr" ]
}

@test "opannotate fetches sources from debuginfod by the build-id of the binary" {
	need python3
	make_session
	mkdir -p "served/$ID/source$PWD/src"
	mv src/t.c "served/$ID/source$PWD/src/"
	python3 "$SOURCE_ROOT/tests/cmd/debuginfod_server.py" good served >asked 2>/dev/null 3>&- &
	servers=$!
	wait_for asked '[0-9]'
	export DEBUGINFOD_URLS="http://127.0.0.1:$(head -n 1 asked)"
	run -0 --separate-stderr opannotate -s
	[[ $output == *"    70 70.0000 :	six();"* ]]
	[[ $stderr != *newer* ]]
	grep -q "$ID/source" asked
	# The source is cached, so the server is not needed a second time.
	kill $servers
	servers=
	run -0 --separate-stderr opannotate -s -a
	[[ $output == *":	six();"* ]]
	run -0 --separate-stderr opannotate -s --debuginfod-timeout 0
	[[ $output == *":	six();"* ]]
}

@test "opannotate names a source that it cannot read" {
	need_nobody
	open_session
	cd "$public"
	chmod 755 .
	DIR=$session
	mkdir -p "$DIR/samples/current" src
	make_session
	chmod 0 src/t.c
	# By default only the owner can read a recording; open it to all users.
	chmod -R o+rX "$DIR"
	mkdir -m 777 nobody
	run -0 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups env \
		XDG_CACHE_HOME="$PWD/nobody" "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" -s
	[[ $stderr == *"src/t.c (Permission denied)"* ]]
	[[ $output == *"    70 70.0000 :/* line 6 */"* ]]
	adds_up
}

# Runs opannotate with at most 400 MB of memory.
opannotate_small()
{
	timeout -k 5 60 python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit(status or (f"{peak} kB" if peak > 400000 else 0))' \
		"$OPROFILE_LINKS/opannotate" --session-dir "$DIR" "$@"
}

@test "opannotate annotates 100 MB of source in little memory" {
	need python3
	make_session
	{
		cat src/t.c
		yes 'a line of a source that somebody generated, and that is rather long' | head -c 104857600
	} >big
	mv big src/t.c
	touch -d 2000-01-01 src/t.c
	opannotate_small -s >listing
	[ "$(wc -l <listing)" -gt 1500000 ]
	grep -q '^    70 70.0000 :	six(); ' listing
	grep -q '^ \*    100 100.000 in all' listing
	opannotate_small -s --context 2 >listing
	[ "$(wc -l <listing)" -lt 100 ]
	opannotate_small -s -a >listing
	grep -q '^               :	six();$' listing
}

@test "opannotate -s -a handles CRLF, invalid UTF-8, binaries, directories and missing sources" {
	make_session
	printf 'one\r\ntwo\r\n\r\n\r\nfive\r\n\xff\xfe six\r\n7\r\n8\r\nnine' >src/t.c
	opannotate -s -a >got
	grep -qax '               :\\xff\\xfe six' got
	grep -qax '               :nine' got
	local kind
	for kind in folder fifo binary missing; do
		rm -rf src/t.c
		case $kind in
		folder) mkdir src/t.c ;;
		fifo) mkfifo src/t.c ;;
		binary) printf 'one\ntwo\0\1\2\nthree\n' >src/t.c ;;
		esac
		run -0 --separate-stderr opannotate -s -a
		[[ $output == *"               :/* $PWD/src/t.c:6 */"* ]]
		[[ $stderr == *"t.c ("*")"* ]]
		adds_up
	done
}

@test "both listings of opannotate mark a source that has changed since the recording" {
	make_session
	touch src/t.c
	touch -d '1 hour ago' t
	run -0 --separate-stderr opannotate -s -a
	[[ $stderr == *"/src/t.c' is newer than '$PWD/t': line numbers can differ from those of the recorded program"* ]]
	run -0 --separate-stderr opannotate -s
	[[ $output == *" * The source is newer than the binary"* ]]
}

@test "opannotate refuses an output directory with links, or that contains the sources" {
	make_session
	mkdir real
	ln -s real out
	# The output directory that the user named can itself be a symbolic link.
	run -0 opannotate -s -o out
	grep -q 'six();' "real$PWD/src/t.c"
	ln -s / slash
	run -1 opannotate -s -o slash
	[[ $output == *"Output path of / would over-write the source files"* ]]
	[ "$(sed -n 6p src/t.c)" = '	six();' ]
	# A directory on the path is a symbolic link.
	rm -rf real
	mkdir -p "real/${PWD%/*}" elsewhere
	ln -s "$PWD/elsewhere" "real$PWD"
	run -3 opannotate -s -o out
	[[ $output == *"refusing to create file"* ]]
	[ -z "$(ls elsewhere)" ]
	# Debug information has paths with "..".
	sed -i "s,$PWD/src/t.c,$PWD/src/../../../../../../../../../../../../tmp/../evil.c," t.s
	clang -c -o t.o t.s
	ld -shared --build-id=0x$ID -o t t.o
	rm -rf real "$XDG_CACHE_HOME"
	mkdir real
	run -0 opannotate -s -o out
	[ -f real/evil.c ]
	[ ! -e /evil.c ]
	run -0 opannotate -s -a
	[[ $output == *"evil.c:6 */"* ]]
}

# make_named NAME...: samples in each of these sources, most in the first.
make_named()
{
	local name text i=0
	{
		printf '.text\n.globl leaf\n.type leaf, @function\nleaf:\n'
		for name; do
			i=$((i + 1))
			printf '.file %d "%s"\n.loc %d 6\n.rept 8\nnop\n.endr\n' $i "$name" $i
		done
		put_unit
	} >t.s
	clang -c -o t.o t.s
	ld -shared --build-id=0x$ID -o t t.o
	text=$(($(text_offset t)))
	rm -rf "$DIR/samples/current/segment-000001" "$XDG_CACHE_HOME" out
	{
		printf 'info|0||%s|1000000000|0||\nevent|TIMER|time|3|0|1000|0\n' "$(uname -n)"
		printf 'image|1|%s|%s\nthread|7|7|work|0|0|/\n' "$PWD/t" $ID
		for ((i = 0; i < $#; i++)); do
			printf 'sample|0|0|0|2000|1|0+%d|%d\n' $((text + 8 * i + 1)) $((99 - i))
		done
	} | "$WRITE_SESSION" "$DIR/samples/current/segment-000001"
	write_source
}

@test "--output-dir skips only sources whose names cannot be file names" {
	local long=$(printf 'y%.0s' {1..300}) names
	names=(/nonexistent/a /nonexistent/a/b "/x/$long/z.c" "/x/$long" / '/x/\033]0;owned\007\nb\377.c'
		'/x/c\033.c' '/x/c\\x1b.c' "$PWD/src/t.c")
	make_named "${names[@]}"
	run -3 --separate-stderr opannotate -s -o out
	echo "$stderr"
	grep -q '^    91 .*six();' "out$PWD/src/t.c"
	[ -f out/nonexistent/a ]
	[ "$(grep -c 'source file left out: ' <<<"$stderr")" -eq 5 ]
	grep -qx ".*: source file left out: cannot create the directory of 'out/nonexistent/a/b': Not a directory" <<<"$stderr"
	grep -q "source file left out: cannot .*'out/x/$long/z.c'.*: File name too long" <<<"$stderr"
	grep -q "source file left out: cannot .*'out/x/$long'.*: File name too long" <<<"$stderr"
	grep -q "source file left out: cannot write a source file with the name '/'" <<<"$stderr"
	grep -qF "source file left out: cannot write 'out/x/c\x1b.c': another source file was already written to it: File exists" <<<"$stderr"
	[ "$(grep -c "nonexistent/a/b" <<<"$stderr")" -eq 1 ]
	# File names contain no control characters.
	[ -f 'out/x/\x1b]0;owned\x07\nb\xff.c' ]
	[ "$(find out -print0 | tr '\0' /| LC_ALL=C tr -cd '\001-\037\177-\377' | wc -c)" -eq 0 ]
	grep -q '^    93 ' 'out/x/c\x1b.c'
	# Escapes would make this name too long.
	make_named "/x/$(printf '\\033%.0s' {1..100}).c" "$PWD/src/t.c"
	run -0 --separate-stderr opannotate -s -o out
	[ -f "out/x/$(printf '_%.0s' {1..100}).c" ]
	# The names are the same in the other order, and when an earlier run has left its files.
	make_named /nonexistent/a/b /nonexistent/a "$PWD/src/t.c"
	for _ in 1 2; do
		run -3 --separate-stderr opannotate -s -o out
		echo "$stderr"
		[ -f out/nonexistent/a/b ] && [ -f "out$PWD/src/t.c" ]
		[[ $stderr == *"source file left out: cannot write 'out/nonexistent/a': Is a directory"* ]]
		[ "$(grep -c 'source file left out: ' <<<"$stderr")" -eq 1 ]
	done
	# Pages have names of their own.
	make_named "${names[@]}"
	run -0 --separate-stderr opannotate --html pages
	[ "$(ls pages/source | wc -l)" -eq "${#names[@]}" ]
	[ "$(ls -q pages/source | grep -c '[^A-Za-z0-9._-]')" -eq 0 ]
}

@test "opannotate escapes terminal control sequences in the names of sources" {
	need python3
	make_session
	rm -rf "$XDG_CACHE_HOME"
	sed -i "s,$PWD/src/t.c,/x\\\\033]0;owned\\\\007.c," t.s
	clang -c -o t.o t.s
	ld -shared --build-id=0x$ID -o t t.o
	local how
	for how in "-s" "-s -a"; do
		LC_ALL=C TERM=xterm timeout 20 python3 "$SOURCE_ROOT/tests/cmd/on_terminal.py" 100 \
			"$OPROFILE_LINKS/opannotate" --session-dir "$DIR" $how --no-pager --color=never >got
		grep -qa 'owned' got
		run ! grep -qa $'\033\]' got
	done
}

@test "opannotate shows a source that is embedded in the debug information" {
	make_session
	cat >src/e.c <<'END'
unsigned leaf(unsigned n)
{
	/* embedded */ return n * 7;
}
END
	clang -gdwarf-5 -gembed-source -O1 -shared -fPIC -nostdlib -Wl,--build-id=0x2222 -o e src/e.c ||
		skip "needs a clang that embeds sources"
	rm src/e.c "$DIR/samples/current/segment-000001"
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)|1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$PWD/e|2222
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$(($(text_offset e)))|100
END
	run -0 --separate-stderr opannotate -s
	[[ $output == *"   100 100.000 :	/* embedded */ return n * 7;"* ]]
	[ -z "$stderr" ]
	run -0 --separate-stderr opannotate -s -a
	[[ $output == *"               :	/* embedded */ return n * 7;"* ]]
	adds_up
	# A local source file takes precedence.
	printf 'one\ntwo\nthree, edited\n' >src/e.c
	touch -d 2000-01-01 src/e.c
	run -0 --separate-stderr opannotate -s
	[[ $output == *"   100 100.000 :three, edited"* ]]
}
