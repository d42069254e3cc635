# SPDX-License-Identifier: GPL-2.0-or-later
# Output of a recording or binary that not every user can read is readable by its owner only.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	umask 022
	export HOME=$PWD DEBUGINFOD_URLS= XDG_CACHE_HOME=$PWD/cache
	# A directory that other users can search; the tests' own directory can be private.
	public=$(mktemp -d "${TMPDIR:-/tmp}/oprofile-XXXXXX")
	chmod 755 "$public"
	mkdir -p "$public/session/samples/current"
	make_program
	make_session
	DIR=$public/session
	segment=$DIR/samples/current/segment-000001
}

teardown()
{
	rm -r "$public"
}

make_program()
{
	echo 'int leaf(int n) { return n + 1; }
int main(int argc, char **argv) { return leaf(argc) == 9 + (argv == 0); }' >"$public/t.c"
	(cd "$public" && cc -O0 -g -o t t.c)
	chmod 755 "$public/t"
	chmod 644 "$public/t.c"
}

make_session()
{
	local id leaf
	id=$(readelf -n "$public/t" | sed -n 's/.*Build ID: //p')
	leaf=$(($(nm "$public/t" | sed -n 's/^\([0-9a-f]*\) T leaf$/0x\1/p') + 4))
	"$WRITE_SESSION" "$public/session/samples/current/segment-000001" <<END
info|0||$(uname -n)|1000000000|0||
event|TIMER|time|3|0|1000|0
image|1|$public/t|$id
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$leaf|70
END
	chmod 644 "$public/session/samples/current/segment-000001"
}

# write_all DIR: writes one file of each kind of output.
write_all()
{
	mkdir "$1"
	run -0 opreport --session-dir "$DIR" --symbols -o "$1/report"
	grep -q leaf "$1/report"
	run -0 "$OPROFILE" export folded --session-dir "$DIR" -o "$1/folded"
	run -0 "$OPROFILE" export pprof --session-dir "$DIR" -o "$1/pprof"
	run -0 "$OPROFILE" export callgrind --session-dir "$DIR" -o "$1/callgrind"
	run -0 "$OPROFILE" export afdo --session-dir "$DIR" -o "$1/afdo"
	run -0 "$OPROFILE" export perf-script --session-dir "$DIR" -o "$1/script"
	run -0 "$OPROFILE" annotate --session-dir "$DIR" -s -o "$1/tree"
	[ -f "$1/tree$public/t.c" ]
	run -0 "$OPROFILE" annotate --session-dir "$DIR" --html "$1/pages"
	[ -f "$1/pages/index.html" ]
}

# modes_are DIR FILES DIRECTORIES: checks the modes of files and directories.
modes_are()
{
	[ "$(find "$1" -type f -exec stat -c %a {} + | sort -u)" = "$2" ]
	[ "$(stat -c %a "$1/pages" "$1/tree" | sort -u)" = "$3" ]
}

@test "output from a public recording has the mode of the umask" {
	write_all out
	modes_are out 644 755
}

@test "only the owner can read output from a private recording" {
	chmod 640 "$segment"
	write_all out
	modes_are out 600 700
	chmod 644 "$segment"
	chmod 750 "$DIR/samples/current"
	write_all again
	modes_are again 600 700
	# The mode is the same when an older file is replaced. The mode of standard output is up to
	# the shell.
	: >report
	run -0 opreport --session-dir "$DIR" --symbols -o report
	[ "$(stat -c %a report)" = 600 ]
	opreport --session-dir "$DIR" --symbols >by_shell
	[ "$(stat -c %a by_shell)" = 644 ]
}

@test "functions of a private binary are in private files, and not in the names of public ones" {
	chmod 750 "$public/t"
	mkdir out
	run -0 opreport --session-dir "$DIR" --symbols -o out/report
	run -0 "$OPROFILE" annotate --session-dir "$DIR" --html out/pages
	[ -n "$(find out/pages -name '*leaf*')" ]
	[ "$(stat -c %a out/pages)" = 700 ]
	[ "$(find out -type f -exec stat -c %a {} + | sort -u)" = 600 ]
}

@test "the mode of an archive decides about output, not that of the unpacked files" {
	run -0 oparchive --session-dir "$DIR" --output "$public/a.oparchive"
	[ "$(stat -c %a "$public/a.oparchive")" = 644 ]
	run -0 opreport --symbols -o report "archive:$public/a.oparchive"
	[ "$(stat -c %a report)" = 644 ]
	chmod 640 "$public/a.oparchive"
	run -0 opreport --symbols -o report "archive:$public/a.oparchive"
	[ "$(stat -c %a report)" = 600 ]
	run -0 oparchive --session-dir "$DIR" -o "$public/folder"
	run -0 opreport --symbols -o report "archive:$public/folder"
	[ "$(stat -c %a report)" = 644 ]
	chmod 640 "$public/folder/var/lib/oprofile/samples/current/segment-000001"
	run -0 opreport --symbols -o report "archive:$public/folder"
	[ "$(stat -c %a report)" = 600 ]
}

@test "a session that is imported from a private recording is private" {
	mkdir "$public/into"
	"$OPROFILE" export folded --session-dir "$DIR" >"$public/folded"
	"$OPROFILE" export perf-data --session-dir "$DIR" -o "$public/perf.data"
	for file in folded perf.data; do
		for mode in 644 600; do
			chmod $mode "$public/$file"
			"$OPROFILE_LINKS/opimport" --session-dir "$public/into" --name "$file-$mode" "$public/$file"
		done
		"$OPROFILE_LINKS/opimport" --session-dir "$public/into" --name "$file-stdin" - <"$public/$file"
	done
	for session in "$public"/into/samples/*-600 "$public"/into/samples/*-stdin; do
		[ "$(stat -c %a "$session")" = 700 ]
		[ "$(find "$session" -type f -exec stat -c %a {} + | sort -u)" = 600 ]
	done
	for session in "$public"/into/samples/*-644; do
		[ "$(stat -c %a "$session")" = 750 ]
		[ "$(stat -c %a "$session/segment-000001")" = 640 ]
	done
	# Among several recordings, a single private one makes the output private.
	chmod 644 "$public/perf.data"
	"$OPROFILE_LINKS/opimport" --session-dir "$public/into" "$public/folded" "$public/perf.data"
	[ "$(stat -c %a "$public/into/samples")" = 755 ]
	[ "$(stat -c %a "$public/into/samples/current")" = 700 ]
}

@test "a private file as standard input makes the output private" {
	opreport --session-dir "$DIR" -gdf >text
	chmod 640 text
	"$OPROFILE" export folded --session-dir "$DIR" >folded
	chmod 640 folded
	run -0 opreport --symbols -o report - <folded
	[ "$(stat -c %a report)" = 600 ]
	"$OPROFILE_LINKS/op2calltree" -o calls <text
	[ "$(stat -c %a calls.*)" = 600 ]
	cat text | "$OPROFILE_LINKS/op2calltree" -o piped
	[ "$(stat -c %a piped.*)" = 644 ]
}

@test "a directory of another user below --output-dir is not written to" {
	need_root
	mkdir -p "tree$public"
	chown 65534 "tree$public"
	run -3 --separate-stderr "$OPROFILE" annotate --session-dir "$DIR" -s -o tree
	[[ $stderr == *"tree$public/t.c': its directory belongs to another user: give another --output-dir"* ]]
	[ -z "$(ls "tree$public")" ]
}

@test "a FIFO of another user is not an output file, and one's own is" {
	need_root
	mkfifo "$public/out.fifo" "$public/t.folded"
	chown 65534 "$public/out.fifo" "$public/t.folded"
	export OPROFILE_NO_PAGER=1
	for command in "opreport -o" "$OPROFILE export folded -o" "$OPROFILE export flamegraph -o" \
		"$OPROFILE quality -o"; do
		run -1 --separate-stderr timeout 20 sh -c "PATH=$OPROFILE_LINKS:\$PATH; $command $public/out.fifo session:current --session-dir=$DIR"
		echo "$command: $stderr"
		[[ "$stderr" == *"cannot write '$public/out.fifo': it is a FIFO of user 65534"* ]]
	done
	chown 0 "$public/out.fifo"
	timeout 20 cat "$public/out.fifo" >got 3>&- &
	timeout 20 "$OPROFILE_LINKS/opreport" --session-dir "$DIR" -o "$public/out.fifo"
	wait $!
	"$OPROFILE_LINKS/opreport" --session-dir "$DIR" | diff - got
}
