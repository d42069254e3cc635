#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The project's own checks, on small trees that violate one rule each: a check that never fails is
# useless.

setup()
{
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/scripts" "$tree/src/base" "$tree/src/decode" "$tree/src/tools" \
		"$tree/tests/unit/base"
	cp "$SOURCE_ROOT"/scripts/{check-*,measure-words,deps.sh} "$tree/scripts"
	printf '#pragma once\nint thing(void);\n' >"$tree/src/base/thing.h"
	printf '#include "base/thing.h"\n\nint thing(void)\n{\n\treturn 1;\n}\n' \
		>"$tree/src/base/thing.c"
}

@test "check-includes accepts a correct tree" {
	"$tree/scripts/check-includes"
	"$tree/scripts/check-headers"
	"$tree/scripts/check-words"
}

@test "check-includes finds an include of a later layer" {
	printf '#pragma once\n' >"$tree/src/tools/command.h"
	printf '#include "tools/cli/command.h"\n' >>"$tree/src/base/thing.c"
	run "$tree/scripts/check-includes"
	[ "$status" -eq 1 ]
	[[ "$output" == *"src/base/thing.c:7: room base may not include tools/cli/command.h"* ]]
}

@test "check-includes finds an include of a later layer in tests" {
	printf '#include "resolve/space/space.h"\n' >"$tree/tests/unit/base/test_thing.c"
	run "$tree/scripts/check-includes"
	[ "$status" -eq 1 ]
	[[ "$output" == *"tests/unit/base/test_thing.c:1:"* ]]
}

@test "check-includes accepts an include of an earlier layer" {
	printf '#include "base/thing.h"\n' >"$tree/src/decode/x.c"
	"$tree/scripts/check-includes"
}

@test "check-includes finds rooms that include each other" {
	sed -i 's,^    "decode": "format",    "decode": "format tools",' "$tree/scripts/check-includes"
	printf '#include "decode/record.h"\n' >"$tree/src/tools/x.h"
	touch "$tree/src/decode/record.h"
	"$tree/scripts/check-includes"
	printf '#include "tools/x.h"\n' >"$tree/src/decode/record.h"
	run "$tree/scripts/check-includes"
	[ "$status" -eq 1 ]
	[[ "$output" == "rooms in a circle: decode tools" ]]
	"$tree/scripts/check-includes" --graph | grep '^decode .* -> tools'
}

@test "check-includes finds a file in a directory without a row" {
	mkdir "$tree/src/misc"
	printf 'int x;\n' >"$tree/src/misc/x.c"
	run "$tree/scripts/check-includes"
	[ "$status" -eq 1 ]
	[[ "$output" == *"src/misc/x.c: its directory has no row"* ]]
}

@test "check-names finds a function or struct that two files define" {
	"$tree/scripts/check-names"
	printf 'static int thing(int x,\n\t\t int y)\n{\n\treturn x + y;\n}\n' >"$tree/src/tools/a.c"
	run "$tree/scripts/check-names"
	[ "$status" -eq 1 ]
	[[ "$output" == "function thing: defined in src/base/thing src/tools/a" ]]
	printf 'struct row {\n\tint x;\n};\n' | tee "$tree/src/tools/a.c" >"$tree/src/base/b.c"
	run "$tree/scripts/check-names"
	[ "$status" -eq 1 ]
	[[ "$output" == "struct row: defined in src/base/b.c src/tools/a.c" ]]
}

@test "check-headers finds a header that does not compile alone" {
	printf '#pragma once\nsize_t size(void);\n' >"$tree/src/base/size.h"
	run "$tree/scripts/check-headers"
	[ "$status" -eq 1 ]
	[[ "$output" == *"src/base/size.h: does not compile alone"* ]]
}

@test "check-words finds banned calls in code but not in comments" {
	printf '/* not atoi(), not printf() */\n' >"$tree/src/base/a.c"
	"$tree/scripts/check-words"
	for line in 'int a = atoi(s);' 'strcpy(a, b);' 'printf("x");' 'exit(1);' \
		'int fd = open(path, O_RDONLY);'; do
		printf '%s\n' "$line" >"$tree/src/base/a.c"
		run "$tree/scripts/check-words"
		[ "$status" -eq 1 ]
		[[ "$output" == *"src/base/a.c:1:"* ]]
	done
}

@test "check-words lets tools print" {
	printf 'void f(void)\n{\n\tprintf("x");\n}\n' >"$tree/src/tools/a.c"
	"$tree/scripts/check-words"
}

@test "deps.sh without root prints the one command to run" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "gcc installed"\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
	printf '#!/bin/sh\necho 1000\n' >"$BATS_TEST_TMPDIR/bin/id"
	printf '#!/bin/sh\necho "must not be called" >&2\nexit 9\n' \
		>"$BATS_TEST_TMPDIR/bin/apt-get"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	PATH="$BATS_TEST_TMPDIR/bin:$PATH" run "$tree/scripts/deps.sh" build
	[ "$status" -eq 1 ]
	[[ "$output" == *"sudo apt-get install -y --no-install-recommends "*" libdw-dev libelf-dev "* ]]
	[[ "$output" != *" gcc "* ]]
}

@test "deps.sh installs missing packages and prints their names" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	# A dpkg-query that reports all packages except bats as installed.
	cat >"$BATS_TEST_TMPDIR/bin/dpkg-query" <<'END'
#!/bin/sh
for word; do
	case $word in
	-* | '$'* | bats) ;;
	*) echo "$word installed" ;;
	esac
done
END
	printf '#!/bin/sh\necho 0\n' >"$BATS_TEST_TMPDIR/bin/id"
	printf '#!/bin/sh\necho "$@" >>"%s"\n' "$BATS_TEST_TMPDIR/called" \
		>"$BATS_TEST_TMPDIR/bin/apt-get"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	PATH="$BATS_TEST_TMPDIR/bin:$PATH" run "$tree/scripts/deps.sh" test
	[ "$status" -eq 0 ]
	[ "$output" = "Installing packages: bats" ]
	[ "$(cat "$BATS_TEST_TMPDIR/called")" = "install -y -q --no-install-recommends bats" ]
}

@test "deps.sh accepts its package groups and no others" {
	run "$tree/scripts/deps.sh" nonsense
	[ "$status" -ne 0 ]
	[[ "$output" == *"unknown group 'nonsense'"* ]]
}

# Runs git without the user's name and without the settings of this machine.
git_in_tree()
{
	GIT_CONFIG_GLOBAL=/dev/null git -C "$tree" -c user.name=x -c user.email=x@example.org "$@"
}

commit()
{
	git_in_tree commit -q --allow-empty -m "$1"
}

@test "measure-words fails above the limit of a directory" {
	git_in_tree init -q
	mkdir "$tree/docs"
	printf 'The recorder reads the ring.\n%.0s' {1..100} >"$tree/docs/page.md"
	git_in_tree add docs
	"$tree/scripts/measure-words" --check
	printf 'Nobody tells what stands behind it.\n%.0s' {1..3} >>"$tree/docs/page.md"
	run "$tree/scripts/measure-words" --check
	[ "$status" -eq 1 ]
	[[ "$output" == *"text"*"docs"*"TOO HIGH"* ]]
	run "$tree/scripts/measure-words" --list docs
	[[ "$output" == *"docs/page.md:"*"Nobody tells"* ]]
}

@test "measure-words does not count code in a page as text" {
	git_in_tree init -q
	mkdir "$tree/docs"
	printf '# Page\n\n    nobody behind anew\n\n```\nnobody told\n```\n\n`nobody`\n' >"$tree/docs/page.md"
	git_in_tree add docs
	"$tree/scripts/measure-words" --check
}

@test "check-commit checks the subjects of new commits" {
	git_in_tree init -q
	commit 'an old commit, before the check'
	git_in_tree add -A
	commit 'scripts: Add the check'
	commit 'base, tools: Report a full disk'
	"$tree/scripts/check-commit"
	commit 'base: reported a full disk'
	commit 'report a full disk'
	commit "base: Report $(printf 'x%.0s' {1..80})"
	commit 'base: Reports a full disk'
	run "$tree/scripts/check-commit"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 5 ]
	[[ "$output" != *"an old commit"* ]]
	[[ "$output" == *"imperative"* ]]
	"$tree/scripts/check-commit" HEAD~5..HEAD~4
}

@test "check-docs finds broken links, long lines and pages that are not in the index" {
	git_in_tree init -q
	mkdir "$tree/docs"
	printf '# Index\n\n[page](page.md#a-heading)\n' >"$tree/docs/README.md"
	printf '# Page\n\n## A heading\n' >"$tree/docs/page.md"
	git_in_tree add -A
	"$tree/scripts/check-docs"
	printf '[x](missing.md) [y](README.md#missing) `src/base/missing.c`\n%s\n' "$(printf 'word %.0s' {1..25})" \
		>>"$tree/docs/page.md"
	touch "$tree/docs/lost.md"
	git_in_tree add -A
	run "$tree/scripts/check-docs"
	[ "$status" -eq 1 ]
	[[ "$output" == *"docs/page.md:4: link to a missing file: missing.md"* ]]
	[[ "$output" == *"docs/page.md:4: link to a missing heading: README.md#missing"* ]]
	[[ "$output" == *"docs/page.md:4: path of a missing file: src/base/missing.c"* ]]
	[[ "$output" == *"docs/page.md:5: 125 columns"* ]]
	[[ "$output" == *"docs/lost.md: not in the index"* ]]
}

@test "check-spdx finds source files without a license line and adds one" {
	git_in_tree init -q
	printf '#!/bin/bash\ntrue\n' >"$tree/scripts/run"
	git_in_tree add src scripts/run
	run "$tree/scripts/check-spdx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"src/base/thing.c: no license line"* ]]
	"$tree/scripts/check-spdx" --add
	"$tree/scripts/check-spdx"
	[ "$(sed -n 1p "$tree/src/base/thing.h")" = '/* SPDX-License-Identifier: GPL-2.0-or-later */' ]
	[ "$(sed -n 2p "$tree/scripts/run")" = '# SPDX-License-Identifier: GPL-2.0-or-later' ]
}
