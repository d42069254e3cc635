#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The program in general: names, versions, help, unknown arguments.

@test "--version prints the version and the libraries" {
	run "$OPROFILE" --version
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^oprofile\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[[ "$output" == *elfutils* ]]
	[[ "$output" == *zstd* ]]
}

@test "oprofile without arguments prints its usage and fails" {
	run "$OPROFILE"
	[ "$status" -eq 1 ]
	[[ "$output" == *"Usage: oprofile COMMAND"* ]]
}

@test "help lists every command" {
	run "$OPROFILE" help
	[ "$status" -eq 0 ]
	[[ "$output" == *completion* ]]
}

@test "an unknown command gets a suggestion" {
	run "$OPROFILE" completon
	[ "$status" -eq 1 ]
	[[ "$output" == *"did you mean 'completion'"* ]]
}

@test "every command has --help, --usage and --version" {
	for cmd in $("$OPROFILE" help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9-]*\).*/\1/p'); do
		run "$OPROFILE" "$cmd" --help
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "Usage: oprofile $cmd"* ]]
		run "$OPROFILE" "$cmd" --usage
		[ "$status" -eq 0 ]
		run "$OPROFILE" "$cmd" --version
		[ "$status" -eq 0 ]
		[[ "$output" == *": oprofile "* ]]
	done
}

@test "a classic link is called by its own name in messages" {
	for link in "$OPROFILE_LINKS"/*; do
		name=${link##*/}
		[ "$name" != oprofile ] || continue
		run "$link" --version
		[ "$status" -eq 0 ]
		[[ "$output" == "$name: oprofile "* ]]
	done
}

@test "help text is wrapped at COLUMNS" {
	for width in 40 60 100; do
		COLUMNS=$width "$OPROFILE" completion --help >"$BATS_TEST_TMPDIR/help"
		[ "$(awk '{ if (length > m) m = length } END { print m }' \
			"$BATS_TEST_TMPDIR/help")" -le "$width" ]
	done
}

@test "every command fails if it cannot write its output" {
	run bash -c '"$1" --version >/dev/full' - "$OPROFILE"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write"* ]]
}

@test "completion scripts are valid shell code" {
	"$OPROFILE" completion bash >"$BATS_TEST_TMPDIR/c.bash"
	bash -n "$BATS_TEST_TMPDIR/c.bash"
	source "$BATS_TEST_TMPDIR/c.bash"
	COMP_WORDS=(oprofile completion --he)
	COMP_CWORD=2
	_oprofile
	[ "${COMPREPLY[*]}" = "--help" ]
	run "$OPROFILE" completion tcsh
	[ "$status" -eq 1 ]
	[[ "$output" == *"bash, zsh or fish" ]]
}

@test "the completion script for fish completes commands, options and links" {
	command -v fish >/dev/null || skip "fish is not installed"
	export HOME=$BATS_TEST_TMPDIR
	"$OPROFILE" completion fish >"$HOME/c.fish"
	fish -n "$HOME/c.fish"
	completions()
	{
		fish --no-config -c "source $HOME/c.fish; complete -C '$1'" | cut -f1
	}
	completions 'oprofile anno' | grep -x annotate
	completions 'oprofile report --callg' | grep -x -- --callgraph
	completions 'oprofile report --thresh' | grep -x -- --threshold
	completions 'opreport --callg' | grep -x -- --callgraph
	completions 'operf --system' | grep -x -- --system-wide
	# Options of another command, and refused ones.
	[ -z "$(completions 'oprofile info --callg')" ]
	[ -z "$(completions 'opreport --field-s')" ]
}

@test "an installation has the links, man pages and completion scripts" {
	command -v meson >/dev/null || skip "meson is not here"
	DESTDIR="$BATS_TEST_TMPDIR/root" meson install -C "$BUILD_ROOT" --no-rebuild --quiet
	prefix=$(dirname "$(dirname "$(find "$BATS_TEST_TMPDIR/root" -name oprofile -path '*/bin/*')")")
	for link in "$OPROFILE_LINKS"/*; do
		name=${link##*/}
		"$prefix/bin/$name" --version
		[ -f "$prefix/share/man/man1/$name.1" ]
		[ -s "$prefix/share/bash-completion/completions/$name.bash" ]
	done
	[ -s "$prefix/share/zsh/site-functions/_oprofile" ]
	[ -s "$prefix/share/fish/vendor_completions.d/opreport.fish" ]
	[ -f "$prefix/share/doc/oprofile/LICENSE" ]
}
