#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How names are shown: --demangle with none, normal, and smart with the built-in rules and the
# user's rules. The binary has one function of each kind; expected names are those in its source.

load helpers

# Mangled names, each of a function of 0x20 bytes. In the source they are: a sort of strings; a
# lookup in a map; functions of Rust, D, Java and OCaml (4.13 and 5.1); C.
NAMES=(
	_ZSt4sortIN9__gnu_cxx17__normal_iteratorIPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIS7_SaIS7_EEEEEvT_SD_
	_ZNSt3mapIiN3app4CellESt4lessIiESaISt4pairIKiS1_EEEixERS5_
	_RNvNtCsjrHSEGnQ3l9_3std2rt10lang_start
	_D3app4mainFAAyaZi
	_ZN4java4lang6String6charAtEJwi
	'camlStdlib__List__$40_195'
	'camlDune__exe__Main.loop_298'
	plain_c
)

setup_file() {
	export DIR="$BATS_FILE_TMPDIR" ID=0123456789abcdef0123456789abcdef01234567
	export HOME="$DIR/home" XDG_CONFIG_HOME="$DIR/config"
	mkdir -p "$HOME" "$DIR/s/samples/current/images"
	assembler >"$DIR/t.s"
	gcc -nostdlib -static -no-pie -Wl,-e,plain_c,--build-id=0x"$ID",-Ttext=0x1100 -o "$DIR/t" \
		"$DIR/t.s"
	cp "$DIR/t" "$DIR/s/samples/current/images/$ID"
	describe | write_segment "$DIR/s/samples/current"
}

assembler() {
	local name
	echo '.text'
	for name in "${NAMES[@]}"; do
		printf '.globl "%s"\n.type "%s", %%function\n"%s": .fill 32, 1, 0\n.size "%s", 32\n' \
			"$name" "$name" "$name" "$name"
	done
	echo '.section .note.GNU-stack,"",%progbits'
}

describe() {
	local i text
	text=$(($(text_offset "$DIR/t")))
	echo 'info|2400|Some CPU|host1||1000'
	echo 'event|cpu-clock|clock|3|100000|0|0'
	echo "image|1|/home/u/t|$ID"
	echo 'thread|4242|4242|t|0|0|'
	for i in "${!NAMES[@]}"; do
		echo "sample|0|0|0|2000|1|0+$((text + i * 32 + 4))|$((90 - i * 10))"
	done
}

# Prints the symbol column alone, sorted by descending samples.
shown() {
	"$OPROFILE" report --session-dir "$DIR/s" -ln "$@" | sed 's/^[0-9]* *[0-9.]* *//'
}

setup() {
	export HOME="$DIR/home" XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
}

@test "--demangle=none prints names as in the binary" {
	diff -u <(printf '%s\n' "${NAMES[@]}") <(shown --demangle=none)
}

@test "--demangle=normal prints names as in the source, with all template arguments" {
	diff -u - <(shown) <<-'END'
		void std::sort<__gnu_cxx::__normal_iterator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >*, std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > > >(__gnu_cxx::__normal_iterator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >*, std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > >, __gnu_cxx::__normal_iterator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >*, std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > >)
		std::map<int, app::Cell, std::less<int>, std::allocator<std::pair<int const, app::Cell> > >::operator[](int const&)
		std::rt::lang_start
		app.main(immutable(char)[][])
		java.lang.String.charAt(int)
		Stdlib.List.@_195
		Dune.exe.Main.loop_298
		plain_c
	END
}

@test "oprofile script shows names of OCaml as perf script does" {
	diff -u <(printf '%s\n' Dune.exe.Main.loop_298 Stdlib.List.@_195) \
		<("$OPROFILE" script --session-dir "$DIR/s" -F ip,sym | awk '/List|Main/ { print $2 }' | sort -u)
}

@test "names of an OCaml program are those of perf script" {
	command -v ocamlopt >/dev/null ||
		skip "no OCaml compiler (scripts/deps.sh languages): NOT TESTED"
	command -v perf >/dev/null || skip "no perf: NOT TESTED"
	cd "$BATS_TEST_TMPDIR"
	cat >m.ml <<-'END'
		let[@inline never] first x = x + 1
		module Shape = struct
		  let[@inline never] ( @+ ) a b =
		    let s = ref 0 in
		    for i = 0 to b do s := !s + a * i done;
		    !s
		end
		let () = for i = 1 to 100000 do ignore (Sys.opaque_identity Shape.(first i @+ 3000)) done
	END
	ocamlopt -o m m.ml
	perf_record -e cpu-clock -F 999 -o m.data ./m
	perf script -F ip,sym -i m.data 2>/dev/null | awk '{ print $2 }' >expected
	"$OPROFILE" script -F ip,sym m.data 2>/dev/null | awk '{ print $2 }' | diff expected -
	grep -q '^M\.@+_[0-9]*$' expected
}

@test "--demangle=smart shortens names of the C++ library and leaves others unchanged" {
	cat >"$BATS_TEST_TMPDIR/expected" <<-'END'
		void std::sort<std::vector<std::string>::iterator>(std::vector<std::string>::iterator, std::vector<std::string>::iterator)
		std::map<int, app::Cell>::operator[](int const&)
		std::rt::lang_start
		app.main(immutable(char)[][])
		java.lang.String.charAt(int)
		Stdlib.List.@_195
		Dune.exe.Main.loop_298
		plain_c
	END
	diff -u "$BATS_TEST_TMPDIR/expected" <(shown --demangle=smart)
	diff -u "$BATS_TEST_TMPDIR/expected" <(shown -D smart)
	diff -u "$BATS_TEST_TMPDIR/expected" <(shown --smart-demangle)
}

@test "--demangle=smart applies the user's rules first, and they can use built-in definitions" {
	mkdir -p "$XDG_CONFIG_HOME/oprofile"
	cat >"$XDG_CONFIG_HOME/oprofile/stl.pat" <<-'END'
		# Rules of the user.
		$us = "app"
		"${us}::Cell" = "Cell"
		"^std::map<(${type}), Cell${args}>::" = "CellMap<\1>::"
		"plain_c" = "never: it is not mangled"
	END
	shown -D smart -i _ZNSt3mapIiN3app4CellESt4lessIiESaISt4pairIKiS1_EEEixERS5_ |
		diff -u <(echo 'CellMap<int>::operator[](int const&)') -
	diff -u <(echo plain_c) <(shown -D smart -i plain_c)
	shown -i _ZNSt3mapIiN3app4CellESt4lessIiESaISt4pairIKiS1_EEEixERS5_ |
		grep -q '^std::map<int, app::Cell, std::less'
}

@test "--demangle=smart reads rules in ~/.config, or in the file of an option" {
	export HOME=$BATS_TEST_TMPDIR
	unset XDG_CONFIG_HOME
	mkdir -p "$HOME/.config/oprofile"
	echo '"lang_start" = "home"' >"$HOME/.config/oprofile/stl.pat"
	echo '"lang_start" = "other"' >"$HOME/other.pat"
	diff -u <(echo std::rt::home) <(shown -D smart -i std::rt::lang_start)
	diff -u <(echo std::rt::other) \
		<(shown --demangle-patterns="$HOME/other.pat" -i std::rt::lang_start)
}

@test "--demangle=smart reports errors in a rules file with line numbers" {
	local file=$BATS_TEST_TMPDIR/bad.pat
	wrong() { # TEXT MESSAGE
		printf '%s\n' '# first' "$1" >"$file"
		run "$OPROFILE" report --session-dir "$DIR/s" -l --demangle-patterns="$file"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"$file:2: $2"* ]] || { echo "$output"; return 1; }
	}
	wrong 'std = x' 'a rule is: "pattern" = "replacement"'
	wrong '"a" = "b" c' 'a rule is: "pattern" = "replacement"'
	wrong '$x "y"' 'a definition is: $name = "text"'
	wrong '"${nothing}" = "x"' 'no such definition'
	wrong '"(" = "x"' 'Unmatched ( or \('
	wrong '"a" = "\1"' 'the pattern has fewer groups'
	run "$OPROFILE" report --session-dir "$DIR/s" -l --demangle-patterns=/nonexistent
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot open '"*"/nonexistent': No such file"* ]]
	run "$OPROFILE" report --session-dir "$DIR/s" -l -D normal --demangle-patterns="$file"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--demangle-patterns is meaningless with --demangle=normal"* ]]
}
