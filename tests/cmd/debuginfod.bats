# SPDX-License-Identifier: GPL-2.0-or-later
# Binaries and debug files from debuginfod servers: good ones, and with a deadline, servers that
# are dead, silent, slow or send wrong data.
load helpers

bats_require_minimum_version 1.5.0

# Build-ids of the stripped program, and of a program that only the server has.
STRIPPED=1234567890123456789012345678901234567890
REMOTE=abcdef7890123456789012345678901234567890

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR
	local here=$DIR/here/stripped
	mkdir -p "$DIR/here" "$DIR/good/$STRIPPED" "$DIR/good/$REMOTE" "$DIR/bad"
	three_functions 16 >"$DIR/program.s"
	gcc -nostdlib -shared -Wl,--build-id=0x$STRIPPED -o "$here" "$DIR/program.s"
	gcc -nostdlib -shared -Wl,--build-id=0x$REMOTE -o "$DIR/good/$REMOTE/executable" \
		"$DIR/program.s"
	TEXT=$(($(text_offset "$here")))
	objcopy --only-keep-debug "$here" "$DIR/good/$STRIPPED/debuginfo"
	cp "$here" "$DIR/good/$STRIPPED/executable"
	objcopy --strip-all --remove-section=.dynsym "$here"
	gcc -nostdlib -shared -Wl,--build-id=0x55555555 -o "$DIR/good/other" "$DIR/program.s"
	cat >"$DIR/described" <<-END
		info|0|Some CPU|host||1000
		event|CPU_CLK_UNHALTED|Clocks|3|100000|0|0
		image|1|$here|$STRIPPED
		image|1|/nowhere/remote|$REMOTE
		thread|1|1|program|0|0|
		sample|0|0|0|2000|1|0+$TEXT|30
		sample|0|0|0|2000|1|0+$((TEXT + 16))|20
		sample|0|0|0|2000|1|1+$((TEXT + 32))|10
	END
	write_segment "$DIR/session/samples/current" <"$DIR/described"
}

setup()
{
	need python3
	export no_proxy='*' HOME=$BATS_TEST_TMPDIR
	export DEBUGINFOD_CACHE_PATH=$BATS_TEST_TMPDIR/cache
	export DEBUGINFOD_URLS=
	servers=
}

teardown()
{
	[ -z "$servers" ] || kill $servers
}

# start_server MODE DIRECTORY: adds one more server to $DEBUGINFOD_URLS; $asked is its list of
# requests.
start_server()
{
	asked=$BATS_TEST_TMPDIR/asked.${servers// /.}
	python3 "$SOURCE_ROOT/tests/cmd/debuginfod_server.py" "$1" "$2" >"$asked" 2>/dev/null 3>&- &
	servers="$servers $!"
	wait_for "$asked" '[0-9]'
	DEBUGINFOD_URLS="$DEBUGINFOD_URLS http://127.0.0.1:$(head -n 1 "$asked")"
}

nr_asked()
{
	grep -c buildid "$asked" || true
}

symbols()
{
	opreport --session-dir "$DIR/session" --by image,symbol --csv "$@"
}

# within SECONDS COMMAND...: runs it and fails if it takes longer.
within()
{
	local begun=$SECONDS limit=$1
	shift
	run --separate-stderr -0 "$@"
	[ $((SECONDS - begun)) -le "$limit" ] || {
		echo "took $((SECONDS - begun)) s, allowed are $limit"
		return 1
	}
}

all_named()
{
	[ "$(grep -c -e leaf,30 -e mid,20 -e 'turn(char const\*, int)",10' <<<"$output")" -eq 3 ]
}

none_named()
{
	! grep -q -e leaf -e mid -e turn <<<"$output"
}

@test "a missing file is fetched from the server and cached" {
	run --separate-stderr -0 symbols
	none_named
	start_server files "$DIR/good"
	run --separate-stderr -0 symbols --strict
	all_named
	[ -z "$stderr" ]
	[ "$(sort "$asked" | grep buildid)" = "$(sort <<-END
		/buildid/$STRIPPED/debuginfo
		/buildid/$REMOTE/executable
	END
	)" ]
	[ "$(stat -c %a "$DEBUGINFOD_CACHE_PATH/$REMOTE/executable")" = 400 ]
	run --separate-stderr -0 symbols --debuginfod-timeout=0
	all_named
	run --separate-stderr -0 symbols
	all_named
	[ "$(nr_asked)" -eq 2 ]
	run -0 bash -c "ls '$DEBUGINFOD_CACHE_PATH'/*/"
	[[ $output != *"executable."* && $output != *"debuginfo."* ]]
}

@test "elfutils' client finds the files that we fetched, and we find its files" {
	need debuginfod-find
	start_server files "$DIR/good"
	run --separate-stderr -0 symbols
	run -0 debuginfod-find executable $REMOTE
	[ "$output" = "$DEBUGINFOD_CACHE_PATH/$REMOTE/executable" ]
	[ "$(nr_asked)" -eq 2 ]
	rm -rf "$DEBUGINFOD_CACHE_PATH"
	run -0 debuginfod-find executable $REMOTE
	run -0 debuginfod-find debuginfo $STRIPPED
	[ "$(nr_asked)" -eq 4 ]
	run --separate-stderr -0 symbols
	all_named
	[ "$(nr_asked)" -eq 4 ]
}

@test "reports by image, a timeout of 0 or no servers cause no request" {
	start_server files "$DIR/good"
	run -0 opreport --session-dir "$DIR/session"
	run -0 opreport --session-dir "$DIR/session" --by comm,image
	run -0 symbols --debuginfod-timeout=0
	DEBUGINFOD_URLS='  ' run -0 symbols
	[ "$(nr_asked)" -eq 0 ]
	[ ! -e "$DEBUGINFOD_CACHE_PATH" ]
	run -1 symbols --debuginfod-timeout=soon
	[[ $output == *"--debuginfod-timeout: soon is not a time"* ]]
}

@test "opreport requests only the files that the report needs" {
	start_server files "$DIR/good"
	run -0 symbols lib-image:/nowhere/remote
	[ "$(nr_asked)" -eq 1 ]
	grep -q "/buildid/$REMOTE/executable" "$asked"
}

@test "a report of an archive requests no files" {
	(cd "$BATS_TEST_TMPDIR" && "$OPROFILE_LINKS/oparchive" --session-dir "$DIR/session" -o archive)
	start_server files "$DIR/good"
	run -0 opreport --by image,symbol --csv "archive:$BATS_TEST_TMPDIR/archive"
	none_named
	[ "$(nr_asked)" -eq 0 ]
}

@test "oparchive archives fetched files" {
	start_server files "$DIR/good"
	(cd "$BATS_TEST_TMPDIR" && "$OPROFILE_LINKS/oparchive" --session-dir "$DIR/session" -o archive)
	DEBUGINFOD_URLS=
	run --separate-stderr -0 opreport --by image,symbol --csv "archive:$BATS_TEST_TMPDIR/archive"
	all_named
}

@test "an unreachable server is reported once, and the next report does not contact it" {
	DEBUGINFOD_URLS=http://127.0.0.1:1/
	within 10 symbols
	none_named
	[ "$(grep -c 'the debuginfod server http://127.0.0.1:1/* cannot be used:' <<<"$stderr")" -eq 1 ]
	within 5 symbols
	[[ $stderr == *"http://127.0.0.1:1 failed"*"will be tried again later"* ]]
	within 10 symbols --debuginfod-timeout=3
	[[ $stderr == *"cannot be used:"* ]]
}

@test "a server that never answers delays the report by the timeout, once" {
	start_server never "$DIR/good"
	within 7 symbols --debuginfod-timeout=2
	none_named
	[[ $stderr == *"no file was complete in time"* ]]
	[[ $stderr == *"2 of 2 files did not come"*" in 2 s"* ]]
	within 5 symbols
	none_named
	[ "$(nr_asked)" -eq 2 ]
}

@test "a very slow server cannot exceed the timeout, and the next report does not wait" {
	start_server drip "$DIR/good"
	within 7 symbols --debuginfod-timeout=2
	none_named
	within 5 symbols
	[ -z "$(find "$DEBUGINFOD_CACHE_PATH" -name 'executable*' -o -name 'debuginfo*')" ]
}

@test "a fetched file with a wrong build-id is discarded" {
	for mode in garbage other short error; do
		rm -rf "$DEBUGINFOD_CACHE_PATH"
		DEBUGINFOD_URLS=
		start_server "$mode" "$DIR/good"
		within 10 symbols --debuginfod-timeout=5
		none_named
		case $mode in
		garbage | other) [[ $stderr == *"sent a file that is not the"*": discarded"* ]] ;;
		*) [[ $stderr == *"cannot be used:"* ]] ;;
		esac
		run -0 find "$DEBUGINFOD_CACHE_PATH" -name 'executable*' -o -name 'debuginfo*'
		[ -z "$output" ]
		within 5 symbols
		[[ $stderr == *"will be tried again later"* ]]
	done
}

@test "a fetched file that was cut is discarded, and one in the cache is fetched again" {
	for mode in cut cut-size; do
		rm -rf "$DEBUGINFOD_CACHE_PATH"
		export DEBUGINFOD_URLS=
		start_server "$mode" "$DIR/good"
		run --separate-stderr -0 symbols
		echo "$stderr"
		none_named
		[[ "$stderr" == *"is not the whole "* ]] || [[ "$stderr" == *"incomplete"* ]]
		[ ! -s "$DEBUGINFOD_CACHE_PATH/$STRIPPED/debuginfo" ]
	done
	# Another client left half a file.
	rm -rf "$DEBUGINFOD_CACHE_PATH"
	mkdir -p "$DEBUGINFOD_CACHE_PATH/$STRIPPED"
	head -c $(($(stat -c %s "$DIR/good/$STRIPPED/debuginfo") / 2)) "$DIR/good/$STRIPPED/debuginfo" \
		>"$DEBUGINFOD_CACHE_PATH/$STRIPPED/debuginfo"
	export DEBUGINFOD_URLS=
	start_server files "$DIR/good"
	run --separate-stderr -0 symbols
	all_named
	cmp "$DEBUGINFOD_CACHE_PATH/$STRIPPED/debuginfo" "$DIR/good/$STRIPPED/debuginfo"
}

@test "a cached file with a wrong build-id is not used" {
	start_server files "$DIR/bad"
	mkdir -p "$DEBUGINFOD_CACHE_PATH/$STRIPPED" "$DEBUGINFOD_CACHE_PATH/$REMOTE"
	cp "$DIR/good/other" "$DEBUGINFOD_CACHE_PATH/$STRIPPED/debuginfo"
	cp "$DIR/program.s" "$DEBUGINFOD_CACHE_PATH/$REMOTE/executable"
	run --separate-stderr -0 symbols
	none_named
}

@test "a file that no server has is not requested again until cache_miss_s has passed" {
	start_server files "$DIR/bad"
	run --separate-stderr -0 symbols
	run --separate-stderr -0 symbols
	none_named
	[ "$(nr_asked)" -eq 2 ]
	[ ! -s "$DEBUGINFOD_CACHE_PATH/$REMOTE/executable" ]
	echo 1 >"$DEBUGINFOD_CACHE_PATH/cache_miss_s"
	touch -d '1 minute ago' "$DEBUGINFOD_CACHE_PATH"/*/executable
	run --separate-stderr -0 symbols
	[ "$(nr_asked)" -eq 3 ]
}

@test "one good server among bad ones is enough" {
	start_server never "$DIR/good"
	start_server garbage "$DIR/bad"
	DEBUGINFOD_URLS="$DEBUGINFOD_URLS http://127.0.0.1:1"
	start_server files "$DIR/good"
	within 10 symbols --debuginfod-timeout=5
	all_named
}

@test "the images with the most samples are requested first" {
	{
		printf 'info|0|Some CPU|host||1000\nevent|TIMER|Clocks|3|100000|0|0\n'
		for i in 0 1 2 3 4 5 6 7 8 9; do
			echo "image|1|/nowhere/$i|123456789012345678901234567890123456789$i"
		done
		echo 'thread|1|1|program|0|0|'
		for i in 0 1 2 3 4 5 6 7 8 9; do
			echo "sample|0|0|0|2000|1|$i+0x1000|$((i + 1))"
		done
	} | write_segment "$BATS_TEST_TMPDIR/hot/samples/current"
	start_server never "$DIR/bad" # gets all requests that are made in parallel
	run -0 opreport --session-dir "$BATS_TEST_TMPDIR/hot" --symbols --debuginfod-timeout=1
	[ "$(sed -n 's,.*\(.\)/executable$,\1,p' "$asked" | sort | tr -d '\n')" = 456789 ]
}

@test "oprofile where shows files of servers" {
	start_server files "$DIR/good"
	run -0 "$OPROFILE" where --session-dir "$DIR/session" remote
	[[ $output == *"debuginfod  "*"$REMOTE/executable: found"* ]]
	[[ $output == *"= 3 symbols from $DEBUGINFOD_CACHE_PATH/$REMOTE/executable"* ]]
	run -0 "$OPROFILE" where --session-dir "$DIR/session" $STRIPPED
	[[ $output == *"debuginfod  "*"$STRIPPED/debuginfo: found"* ]]
	run -1 "$OPROFILE" where 0123456789abcdef0123456789abcdef01234567
	[[ $output == *"debuginfod  "*"executable: not found"* ]]
}

@test "oprofile script uses names from the server" {
	start_server files "$DIR/good"
	run --separate-stderr -0 "$OPROFILE" script --fields comm,ip,sym --session-dir "$DIR/session"
	[[ $output == *leaf* && $output == *turn* ]]
}

@test "--version shows libcurl" {
	run -0 "$OPROFILE" --version
	[[ $output == *libcurl*"debuginfod servers"* ]]
}

@test "a report with binaries from a server has the same rows as on the recording machine" {
	need_data
	python3 "$SOURCE_ROOT/tests/perf_data/native.py" "$OPROFILE" --debuginfod \
		"$SOURCE_ROOT/tests/cmd/debuginfod_server.py" "$DATA/s390x" "$DATA/armhf"
}

@test "elfutils' debuginfod serves files of a Debian debug package to opreport" {
	need debuginfod
	need dpkg-deb
	local tree=$BATS_TEST_TMPDIR/tree packages=$BATS_TEST_TMPDIR/packages port url
	mkdir -p "$tree/DEBIAN" "$tree/usr/lib/debug/.build-id/12" "$tree/usr/lib/remote" "$packages"
	cp "$DIR/good/$STRIPPED/debuginfo" "$tree/usr/lib/debug/.build-id/12/${STRIPPED#12}.debug"
	cp "$DIR/good/$REMOTE/executable" "$tree/usr/lib/remote/remote"
	printf 'Package: x-dbg\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n' \
		>"$tree/DEBIAN/control"
	dpkg-deb --build "$tree" "$packages/x-dbg_1_all.deb" >/dev/null
	for port in 18402 28403 38404; do
		debuginfod -d "$BATS_TEST_TMPDIR/index" -p $port -t 600 \
			-Z '.deb=dpkg-deb --fsys-tarfile' "$packages" \
			>"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
		servers="$servers $!"
		url=http://127.0.0.1:$port
		if wait_for "$BATS_TEST_TMPDIR/log" 'started http server'; then
			break
		fi
	done
	# Wait until the server has read the package.
	for ((i = 0; i < 100; i++)); do
		DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH=$BATS_TEST_TMPDIR/probe.$i \
			debuginfod-find executable $REMOTE >/dev/null 2>&1 && break
		sleep 0.2
	done
	DEBUGINFOD_URLS=$url
	run --separate-stderr -0 symbols
	all_named
}

@test "recording requests nothing from servers, and neither does archiving at its end" {
	need_recording
	start_server never "$DIR/good"
	cd "$BATS_TEST_TMPDIR"
	new_session
	within 20 operf --session-dir "$session" -e page-faults:1 --archive=a.oparchive ls
	[ "$(nr_asked)" -eq 0 ]
}

@test "progress is shown on a terminal, and erased at the end" {
	start_server late "$DIR/good"
	run -0 env TERM=xterm OPROFILE_PAGER=cat timeout 60 python3 \
		"$SOURCE_ROOT/tests/cmd/on_terminal.py" 100 \
		"$OPROFILE_LINKS/opreport" --session-dir "$DIR/session" --by image,symbol --csv
	[[ $output == *"opreport: fetched 0 of 2 files from debuginfod"* ]]
	[[ $output == *$'\r\e[K'*leaf,30* ]]
}
