# SPDX-License-Identifier: GPL-2.0-or-later
# oparchive --sources: archives the sources of sampled code, wherever they are.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home
	export HOME=$BATS_TEST_TMPDIR/home
	unset PERF_BUILDID_DIR
	need_recording
	need cc
	make_program
	operf ./tree/out/program >/dev/null 2>&1
	here=${BATS_TEST_TMPDIR#/}
}

# Makes a program: main.c calls the inlined function of sub/loop.h, and never that of idle.c. It
# is compiled in tree/out, so that the paths in the debug information are relative to that
# directory.
make_program()
{
	mkdir -p tree/out tree/sub
	cat >tree/sub/loop.h <<-'END'
		static inline __attribute__((always_inline)) unsigned loop(unsigned n)
		{
			unsigned sum = n;
			for (unsigned i = 0; i < n; i++)
				sum = sum * 17 + (sum >> 3);
			return sum;
		}
	END
	cat >tree/main.c <<-'END'
		#include "sub/loop.h"
		unsigned idle(unsigned n);
		int main(int argc, char **argv)
		{
			unsigned sum = loop(300000000);
			return argc > 5 ? (int)idle(sum) : sum == 5;
		}
	END
	echo 'unsigned idle(unsigned n) { return n + 1; }' >tree/idle.c
	(cd tree/out && cc -O1 -g -o program ../main.c ../idle.c)
}

@test "--sources archives the sources of sampled code with inlined callers, and no others" {
	oparchive -o folder --sources image:'*/program'
	cmp "folder/$here/tree/sub/loop.h" tree/sub/loop.h
	cmp "folder/$here/tree/main.c" tree/main.c
	[ ! -e "folder/$here/tree/idle.c" ]
	grep '^source .*/tree/' folder/manifest | sort >got
	printf 'source found %s\n' "$PWD/tree/main.c" "$PWD/tree/sub/loop.h" | diff - got
	oparchive --output a.oparchive --sources image:'*/program'
	zstd -qdc a.oparchive | tar t | grep -qx "$here/tree/sub/loop.h"
	opreport --symbols >want
	opreport --symbols archive:a.oparchive | cmp want -
	# An archive of an archive has them also, and reads them from the archive alone.
	mv tree gone
	oparchive -o again --sources archive:folder
	diff -r folder again
	run -0 --separate-stderr oparchive --list-files --sources archive:folder
	[[ $output == *"folder/$here/tree/main.c"* ]]
}

@test "--sources finds sources that were moved, and names missing ones" {
	mkdir elsewhere
	mv tree/main.c tree/sub elsewhere
	run -0 --separate-stderr oparchive -o folder --sources image:'*/program'
	[[ $stderr == *"source file '$PWD/tree/main.c' not found"* ]]
	# Samples in ld.so can have a source also.
	[[ $stderr =~ [2-9]" source files were not found: give their directories with --search-dirs" ]]
	grep -qx "source missing $PWD/tree/main.c" folder/manifest
	rm -r folder
	run -0 --separate-stderr oparchive -o folder --sources --search-dirs elsewhere \
		--base-dirs /nowhere,"$PWD/tree" image:'*/program'
	[[ $stderr != *"/tree/"*" was not found"* ]]
	# They are stored under the paths of the debug information.
	cmp "folder/$here/tree/main.c" elsewhere/main.c
	cmp "folder/$here/tree/sub/loop.h" elsewhere/sub/loop.h
	# Without a base directory the longest matching path suffix decides, so another main.c is
	# not used.
	rm -r folder
	mkdir -p more/tree
	mv elsewhere/main.c more/tree
	echo other >more/main.c
	run -0 --separate-stderr oparchive -o folder --sources --search-dirs elsewhere,more \
		image:'*/program'
	cmp "folder/$here/tree/main.c" more/tree/main.c
	cmp "folder/$here/tree/sub/loop.h" elsewhere/sub/loop.h
	run -1 oparchive -o folder --sources --search-dirs no-such-folder
	[[ $output == *"--search-dirs: no-such-folder isn't a valid directory" ]]
	run -1 oparchive -o folder --search-dirs elsewhere
	run -1 oparchive -o folder --sources --base-dirs elsewhere
}

@test "--sources finds sources through a separate debug file" {
	need objcopy
	objcopy --only-keep-debug tree/out/program tree/out/program.debug
	objcopy --strip-debug --add-gnu-debuglink=tree/out/program.debug tree/out/program
	operf ./tree/out/program >/dev/null 2>&1
	oparchive -o folder --sources image:'*/program'
	cmp "folder/$here/tree/sub/loop.h" tree/sub/loop.h
	[ ! -e "folder/$here/tree/idle.c" ]
}

@test "--sources takes no file of this machine for a recording of another" {
	# Make the recording look like one from another host.
	operf --perf-data data ./tree/out/program >/dev/null 2>&1
	host=$(hostname)
	# Replace only whole strings: a short host name can be part of many paths.
	LC_ALL=C sed -i "s/\x00$host\x00/\x00$(printf '%s' "$host" | tr 'a-z0-9' 'b-za1-90')\x00/g" data
	run -0 --separate-stderr oparchive -o folder --sources data image:'*/program'
	[ -z "$(find folder -name main.c)" ]
	echo "$stderr"
	[[ $stderr =~ [2-9]" source files were not found" ]]
}

# Line tables name a binary's sources, and whoever built the binary can make them name
# /etc/shadow.
secret_program()
{
	# All users can search the directory, so that the unprivileged user can run a program there.
	public=$(mktemp -d)
	chmod 755 "$public"
	echo 'secret line' >"$public/secret"
	echo 'ordinary line' >"$public/ordinary"
	chmod 600 "$public/secret"
	chmod 644 "$public/ordinary"
	cat >"$public/p.c" <<-END
		# 1 "$public/secret"
		__attribute__((noinline)) unsigned f(unsigned n) { unsigned s = n; for (unsigned i = 0; i < n; i++) s = s * 17 + (s >> 3); return s; }
		# 1 "$public/ordinary"
		int main(int argc, char **argv) { unsigned s = argc; for (unsigned i = 0; i < 200000000; i++) s = s * 17 + (s >> 3); return (int)(f(200000000) + s) == 5; }
	END
	cc -O1 -g -o "$public/program" "$public/p.c"
	rm -r oprofile_data
	operf "$public/program" >/dev/null 2>&1
}

teardown()
{
	[ -z "${public-}" ] || rm -r "$public"
}

@test "--sources leaves out sources that only root can read, with a warning" {
	[ "$(id -u)" = 0 ] || skip "not root"
	umask 022
	secret_program
	run -0 --separate-stderr oparchive -o folder --sources image:'*/program'
	[[ $stderr == *"source file '$public/secret' is not archived: it is not readable by every user"* ]]
	[[ $stderr == *"1 source files are not archived: "*"--search-dirs"* ]]
	[ ! -e "folder$public/secret" ]
	cmp "folder$public/ordinary" "$public/ordinary"
	[ "$(stat -c %a "folder$public/ordinary")" = 644 ]
	grep -qx "source missing $public/secret" folder/manifest
	run -0 --separate-stderr "$OPROFILE" annotate -s -o tree image:'*/program'
	[[ $stderr == *"$public/secret (left out: not every user can read it; give its directory to --search-dirs to include it)"* ]]
	run -0 --separate-stderr "$OPROFILE" annotate --html pages image:'*/program'
	run ! grep -rq 'secret line' tree pages
	grep -rq 'ordinary line' tree
	grep -rq 'ordinary' pages
	# The same with a symbolic link of that name.
	mv "$public/secret" "$public/other"
	ln -s other "$public/secret"
	run -0 oparchive -o linked --sources image:'*/program'
	run ! grep -rq 'secret line' linked
}

@test "--search-dirs adds the requested sources, and only their owner can read the archive" {
	[ "$(id -u)" = 0 ] || skip "not root"
	umask 022
	secret_program
	run -0 --separate-stderr oparchive -o folder --sources --search-dirs "$public" image:'*/program'
	cmp "folder$public/secret" "$public/secret"
	[ "$(stat -c %a "folder$public/secret")" = 600 ]
	[ "$(stat -c %a "folder$public/ordinary")" = 644 ]
	run -0 oparchive --output a.oparchive --sources --search-dirs "$public" image:'*/program'
	[ "$(stat -c %a a.oparchive)" = 600 ]
	zstd -qdc a.oparchive | tar tv | grep -q '^-rw------- .*/secret$'
	run -0 "$OPROFILE" annotate -s -o tree --search-dirs "$public" image:'*/program'
	[ "$(stat -c %a "tree$public/secret")" = 600 ]
	# The recording is private also.
	[ "$(stat -c %a "tree$public/ordinary")" = 600 ]
	run -0 "$OPROFILE" annotate --html pages --search-dirs "$public" image:'*/program'
	for page in $(grep -rl 'secret line' pages); do
		[ "$(stat -c %a "$page")" = 600 ]
	done
	# The owner of the binary also owns the source, so root's privileges are not needed to
	# read it.
	chown nobody "$public/secret" "$public/program"
	run -0 oparchive -o owners --sources image:'*/program'
	[ "$(stat -c %a "owners$public/secret")" = 600 ]
	chown root "$public/program"
	run -0 oparchive -o others --sources image:'*/program'
	[ ! -e "others$public/secret" ]
}

@test "sources below a directory that others cannot search stay private" {
	[ "$(id -u)" = 0 ] || skip "not root"
	umask 022
	secret_program
	mkdir "$public/closed"
	chmod 644 "$public/secret"
	mv "$public/secret" "$public/closed/secret"
	ln -s closed/secret "$public/secret"
	chmod 700 "$public/closed"
	# The source belongs to root, and the program is in another directory.
	run -0 --separate-stderr oparchive -o folder --sources image:'*/program'
	[[ $stderr == *"source file '$public/secret' is not archived: it is not readable by every user"* ]]
	[ ! -e "folder$public/secret" ]
	run -0 --separate-stderr "$OPROFILE" annotate -s -o tree image:'*/program'
	run -0 --separate-stderr "$OPROFILE" annotate --html pages image:'*/program'
	run ! grep -rq 'secret line' tree pages
	run -0 oparchive -o named --sources --search-dirs "$public/closed" image:'*/program'
	[ "$(stat -c %a "named$public/secret")" = 600 ]
	# The source belongs to a user, and is named by another user's program, then by a program
	# of the same user.
	chown -R nobody "$public/closed"
	run -0 oparchive -o others --sources image:'*/program'
	[ ! -e "others$public/secret" ]
	chown nobody "$public/program"
	run -0 oparchive -o owners --sources image:'*/program'
	[ "$(stat -c %a "owners$public/secret")" = 600 ]
	[ "$(stat -c %a "owners$public/ordinary")" = 644 ]
	[ "$(stat -c %a owners/manifest)" = 600 ]
}

@test "root's private program and sources are archived for root alone" {
	[ "$(id -u)" = 0 ] || skip "not root"
	umask 022
	secret_program
	chmod 644 "$public/secret"
	chmod 700 "$public"
	run -0 --separate-stderr oparchive -o folder --sources image:'*/program'
	[[ $stderr != *"left out"* ]]
	for name in secret ordinary program; do
		[ "$(stat -c %a "folder$public/$name")" = 600 ]
	done
	run -0 oparchive --output a.oparchive --sources image:'*/program'
	[ "$(stat -c %a a.oparchive)" = 600 ]
	run -0 "$OPROFILE" annotate --html pages image:'*/program'
	[ "$(stat -c %a "$(grep -rl 'secret line' pages | head -n 1)")" = 600 ]
	run -0 "$OPROFILE" annotate --html code --assembly image:'*/program'
	[ "$(stat -c %a code/code/* | sort -u)" = 600 ]
	# A file that only root can read is left out, wherever it is.
	chmod 600 "$public/secret"
	run -0 oparchive -o others --sources image:'*/program'
	[ ! -e "others$public/secret" ]
	# The file is not archived either for a program of another user in that directory.
	chmod 644 "$public/secret"
	chown nobody "$public/program"
	run -0 oparchive -o users --sources image:'*/program'
	[ ! -e "users$public/secret" ]
	[ ! -e "users$public/ordinary" ]
	[ "$(stat -c %a "users$public/program")" = 600 ]
}

@test "a separate debug file is archived only if it has the binary's owner" {
	[ "$(id -u)" = 0 ] || skip "not root"
	need objcopy
	umask 022
	secret_program
	objcopy --only-keep-debug "$public/program" "$public/program.debug"
	objcopy --strip-debug --strip-all --remove-section=.note.gnu.build-id \
		--add-gnu-debuglink="$public/program.debug" "$public/program"
	chown nobody "$public/program"
	chmod 600 "$public/program.debug"
	rm -r oprofile_data
	operf "$public/program" >/dev/null 2>&1
	run -0 --separate-stderr oparchive -o folder image:'*/program'
	[[ $stderr == *"$public/program.debug is not archived: it is not readable by every user, and it belongs neither to you nor to the owner of the binary"* ]]
	[ ! -e "folder$public/program.debug" ]
	[ -e "folder$public/program" ]
	chown nobody "$public/program.debug"
	run -0 oparchive -o owners image:'*/program'
	[ "$(stat -c %a "owners$public/program.debug")" = 600 ]
	chown root "$public/program.debug"
	chmod 644 "$public/program.debug"
	run -0 oparchive -o public image:'*/program'
	[ "$(stat -c %a "public$public/program.debug")" = 644 ]
}
