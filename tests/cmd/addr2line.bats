#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# oprofile addr2line: its output equals that of binutils' addr2line, byte for byte, with and
# without index files.

bats_require_minimum_version 1.5.0

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	cat > program.c <<'EOF'
volatile int sink;
static inline int leaf(int x)
{
	for (int i = 0; i < x; i++)
		sink += i * x;
	return sink;
}
static inline int middle(int x) { return leaf(x) + leaf(x + 1); }
__attribute__((noinline)) static int cold(int x) { return middle(x) * 3; }
int main(int argc, char **argv)
{
	(void)argv;
	return argc > 3 ? cold(argc) : middle(argc);
}
EOF
	cat > program.cc <<'EOF'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace place {
template <typename T> struct holder {
	std::vector<T> all;
	void add(T v) { all.push_back(v); std::sort(all.begin(), all.end()); }
};
}
int main(int argc, char **argv)
{
	place::holder<std::string> h;
	std::map<std::string, int> m;
	for (int i = 0; i < argc; i++) {
		h.add(argv[i]);
		m[argv[i]] += [&](int x) { return x * i; }(argc);
	}
	return (int)m.size();
}
EOF
}

setup()
{
	cd "$BATS_FILE_TMPDIR"
	export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
	# Do not build index files in the background during a test.
	export OPROFILE_CACHE_FILL=no
	command -v addr2line > /dev/null || skip "no binutils"
}

# Prints every third address of each function except the C library's start-up code.
addresses()
{
	nm -S --defined-only "$1" | awk 'NF == 4 && $3 ~ /[tTwW]/ && $4 != "_start" { print $1, $2 }' |
		while read -r at size; do
			for ((i = 0; i < 0x$size; i += 3)); do printf '%x\n' $((0x$at + i)); done
		done
}

# Fails and prints the differences unless both programs print the same for all addresses.
same_as_binutils() # BINARY OPTIONS...
{
	local binary=$1
	shift
	addresses "$binary" > addrs
	[ "$(wc -l < addrs)" -gt 30 ] || return 1
	addr2line -e "$binary" "$@" < addrs > expected || return 1
	"$OPROFILE" addr2line --no-cache -e "$binary" "$@" < addrs > got || return 1
	diff expected got
}

@test "addr2line prints C functions in every output form" {
	gcc -g -O2 -fcf-protection=none -o c program.c
	same_as_binutils c
	same_as_binutils c -a
	same_as_binutils c -f -i
	same_as_binutils c -a -f -i -p -s
	same_as_binutils c -afip -C
	"$OPROFILE" addr2line --no-cache -afipCe c < addrs | diff got -
}

@test "addr2line reads DWARF 2 to 5, 64-bit DWARF and compressed sections" {
	for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-gdwarf64 -gdwarf-4" -gz=zlib \
		"-gz=zlib-gnu -gdwarf-4" "-O0" "-ffunction-sections -Wl,--gc-sections"; do
		# shellcheck disable=SC2086
		gcc -g -O2 $flags -o v program.c
		same_as_binutils v -f -i || { echo "$flags"; false; }
	done
}

@test "addr2line prints C++ names mangled and demangled" {
	g++ -g -O2 -o cc program.cc
	# binutils prints a wrong file name for the first line of one function.
	same_as_binutils cc -f -i | grep '^>' | grep -v 'basic_string.tcc:217$' > differs || true
	[ ! -s differs ]
	same_as_binutils cc -f -i -C | grep '^>' | grep -v 'basic_string.tcc:217$' > differs || true
	[ ! -s differs ]
}

@test "addr2line reads split DWARF, .dwo and .dwp" {
	for version in 4 5; do
		gcc -g -gdwarf-$version -O2 -o whole program.c
		addresses whole > addrs
		addr2line -e whole -f -i < addrs > expected
		gcc -g -gdwarf-$version -gsplit-dwarf -O2 -o split program.c
		# Both binaries have the same code. binutils does not find inlined calls in split
		# units.
		cmp <(objcopy -O binary -j .text whole /dev/stdout) \
			<(objcopy -O binary -j .text split /dev/stdout)
		"$OPROFILE" addr2line -e split -f -i < addrs > got
		diff expected got
		grep -q leaf got
		# The cache must not remember that a .dwo file was missing.
		rm -rf "$XDG_CACHE_HOME"
		mkdir -p away
		mv ./*.dwo away
		"$OPROFILE" addr2line -e split -f -i < addrs > none
		! grep -q leaf none
		mv away/*.dwo .
		"$OPROFILE" addr2line -e split -f -i < addrs | diff got -
		dwp -e split -o split.dwp 2> /dev/null || llvm-dwp-14 -e split -o split.dwp || skip "no dwp"
		rm -rf ./*.dwo "$XDG_CACHE_HOME"
		"$OPROFILE" addr2line -e split -f -i < addrs | diff got -
		rm -rf split.dwp "$XDG_CACHE_HOME"
	done
}

# Prints every address of main in a file.
addresses_of_main()
{
	nm -S "$1" | awk '$4 == "main" { print $1, $2 }' | while read -r at size; do
		for ((i = 0; i < 0x$size; i++)); do printf '%x\n' $((0x$at + i)); done
	done
}

@test "addr2line prints the same with type units in .dwo, .dwp and .o files" {
	cat > types.cc <<-'EOF'
		struct point {
			int x, y;
			int norm() const { return x * 31 + y; }
		};
		struct box {
			point low, high;
			int size() const { return high.norm() - low.norm(); }
		};
		volatile int sink;
		static inline int grow(const box &b) { return b.size() + sink; }
		int main(int argc, char **)
		{
			for (int i = 0; i < argc; i++)
				sink = grow(box{ { i, 1 }, { argc, i } });
			return sink;
		}
	EOF
	local compiler version types flags n=0
	for compiler in g++ clang++; do
		command -v $compiler > /dev/null || continue
		for version in 4 5; do
			flags="-g -O2 -gdwarf-$version"
			types="$flags -fdebug-types-section"
			# shellcheck disable=SC2086
			{
				$compiler $flags -c types.cc -o plain.o
				$compiler $types -c types.cc -o typed.o
				$compiler $types -gsplit-dwarf -c types.cc -o split.o
			}
			for name in plain typed split; do
				$compiler $name.o -o $name
				addresses_of_main $name | "$OPROFILE" addr2line --no-cache -e $name -f -i > $name.out
				# Without relocations only the addresses in the file differ.
				addresses_of_main $name.o | "$OPROFILE" addr2line --no-cache -e $name.o -f -i > $name.rel
				diff plain.out $name.out || { echo "$compiler $version $name"; false; }
				diff plain.rel $name.rel || { echo "$compiler $version $name.o"; false; }
			done
			grep -q norm plain.out
			grep -q norm plain.rel
			n=$((n + 1))
			# gcc's dwp crashes on type units, and llvm-dwp does not terminate with
			# those of DWARF 5.
			[ "$compiler $version" != "g++ 5" ] || continue
			command -v llvm-dwp > /dev/null || continue
			llvm-dwp -e split -o split.dwp
			mv split.dwo away.dwo
			addresses_of_main split | "$OPROFILE" addr2line --no-cache -e split -f -i | diff plain.out -
			rm split.dwp
		done
	done
	[ "$n" -ge 2 ]
}

@test "addr2line finds a .dwo file by its id, also in the directory of the binary" {
	mkdir -p src/obj
	cp program.c src
	(cd src && gcc -g -gsplit-dwarf -O2 -c program.c -o obj/program.o && gcc obj/program.o -o split)
	addresses src/split > addrs
	"$OPROFILE" addr2line --no-cache -e src/split -f -i < addrs > expected
	grep -q leaf expected
	# The tree was moved, and a file of another build has the old name.
	mv src moved
	"$OPROFILE" addr2line --no-cache -e moved/split -f -i < addrs | diff expected -
	mv moved/obj/program.dwo moved
	sed 's/leaf/other/' program.c > moved/other.c
	(cd moved && gcc -g -gsplit-dwarf -O2 -c other.c -o obj/program.o)
	[ -e moved/obj/program.dwo ]
	"$OPROFILE" addr2line --no-cache -e moved/split -f -i < addrs | diff expected -
	rm -r moved
}

@test "addr2line names inlined functions without linkage name like their symbols" {
	cat > scopes.cc <<-'EOF'
		static volatile long sink;
		template <class F> static inline void repeat(F f, int n)
		{
			for (int i = 0; i < n; i++)
				f(i);
		}
		template <class F, class... G> static inline void each(F f, G... g)
		{
			f(1);
			(g(2), ...);
		}
		namespace {
		struct step {
			int k;
			void go(int i) const { sink = i * k; }
		};
		inline void helper(int i) { sink = i; }
		inline void helper(double i) { sink = (long)(i * 3); }
		template <class T, int N> struct box {
			T v[N];
			T sum() const
			{
				T s{};
				for (int i = 0; i < N; i++)
					s += v[i];
				return s;
			}
		};
		} // namespace
		namespace outer { inline namespace v1 { namespace {
		inline void deep(unsigned long i) { sink = (long)i + 7; }
		} } }
		static inline void work(int n)
		{
			auto first = [](int i) { sink = i; };
			auto second = [n](int i, const char *s) { sink = i * n + (s ? 1 : 0); };
			auto generic = [](const auto &x) { sink = (long)x + 5; };
			repeat(first, n);
			second(n, "x");
			generic(3);
			generic(2.5);
			{
				auto third = [](int i) {
					sink = i ^ 5;
					auto nested = [](int q) { sink = q + 99; };
					nested(i);
				};
				repeat(third, n);
				each(first, third);
			}
		}
		static inline void work(double n)
		{
			auto first = [](int i) { sink = i - 3; };
			repeat(first, (int)n);
		}
		enum class letter { x, y };
		int main(int argc, char **)
		{
			step s{ argc };
			s.go(3);
			helper(argc);
			helper(argc * 1.5);
			box<int, 3> b{ { argc, 1, 2 } };
			sink = b.sum();
			outer::deep((unsigned long)argc);
			work(argc);
			work(argc * 1.5);
			auto last = [argc](letter e, step &st, int (*f)(int), int *arr) {
				sink = (int)e + st.k + f(arr[0]) + argc;
			};
			int arr[3] = { 1, 2, 3 };
			last(letter::x, s, [](int x) { return x + (int)sink; }, arr);
			return 0;
		}
	EOF
	# Without inlining each function has a symbol.
	g++ -g -O0 -std=c++17 scopes.cc -o symbols
	nm -C symbols | cut -d' ' -f3- | sed 's/^\(void\|auto\|int\) //' > symbols.txt
	g++ -g -O2 -std=c++17 scopes.cc -o plain
	addresses_of_main plain > addrs
	"$OPROFILE" addr2line --no-cache -f -i -C -e plain < addrs > plain.out
	sed -n 'p;n' plain.out | sort -u > names
	cat names
	while IFS= read -r name; do
		case $name in
		*'operator()') grep -qF -e "$name(" symbols.txt ;;
		main | *')') grep -qxF -e "$name" symbols.txt ;;
		*) grep -qF -e "$name(" symbols.txt ;;
		esac || { echo "no symbol: $name"; false; }
	done < names
	[ "$(wc -l < names)" -ge 20 ]
	grep -qxF "(anonymous namespace)::helper(double)" names
	grep -qxF "outer::v1::(anonymous namespace)::deep" names
	[ "$(grep -c '^work(int)::{lambda(int)#[0-9]*}::operator()$' names)" -eq 2 ]
	[ "$(grep -c '^repeat<work(int)::{lambda(int)#[0-9]*}>$' names)" -eq 2 ]
	# The form of the debug information changes no name.
	local flags
	for flags in -gdwarf-4 -gsplit-dwarf "-gsplit-dwarf -fdebug-types-section" -gz "-g dwz"; do
		# shellcheck disable=SC2086
		g++ -g -O2 -std=c++17 ${flags% dwz} scopes.cc -o other
		if [ "$flags" = "-g dwz" ]; then
			command -v dwz > /dev/null || continue
			cp other twin
			dwz -m shared.debug -M shared.debug other twin
		fi
		"$OPROFILE" addr2line --no-cache -f -i -C -e other < addrs > other.out
		# Types of parameters that are in type units are not read.
		sed "s/$([[ $flags == *types* ]] && echo lambda.letter, || echo ^$)/lambda(?,/" plain.out > wanted
		diff wanted other.out || { echo "$flags"; false; }
	done
}

@test "addr2line finds a separate debug file by its debug link" {
	gcc -g -O2 -o whole program.c
	cp whole stripped
	objcopy --only-keep-debug whole stripped.debug
	strip --strip-debug stripped
	objcopy --add-gnu-debuglink=stripped.debug stripped
	addresses whole > addrs
	"$OPROFILE" addr2line -e whole --no-cache -f -i < addrs > expected
	"$OPROFILE" addr2line -e stripped --no-cache -f -i < addrs | diff expected -
}

@test "addr2line reads relocatable files" {
	gcc -g -O2 -c -o p.o program.c
	for ((i = 0; i < 60; i++)); do printf '%x\n' $i; done > addrs
	addr2line -e p.o -f -i < addrs > expected
	"$OPROFILE" addr2line --no-cache -e p.o -f -i < addrs | diff expected -
	addr2line -e p.o -j .text.startup -f -i < addrs > expected
	"$OPROFILE" addr2line --no-cache -e p.o -j .text.startup -f -i < addrs | diff expected -
}

@test "addr2line prints the same with the index, and ignores a damaged index" {
	g++ -g -O2 -o cc program.cc
	addresses cc > addrs
	"$OPROFILE" addr2line --no-cache -e cc -f -i < addrs > expected
	"$OPROFILE" addr2line -e cc -f -i < addrs | diff expected -
	index=$(echo "$XDG_CACHE_HOME"/oprofile/*.lines)
	[ -s "$index" ]
	"$OPROFILE" addr2line -V -e cc -f -i < addrs 2> said | diff expected -
	grep -q 'index found; 0 of' said
	size=$(stat -c %s "$index")
	for ((at = 0; at < size; at += size / 40)); do
		cp "$index" kept
		printf 'X' | dd of="$index" bs=1 seek=$at conv=notrunc 2> /dev/null
		"$OPROFILE" addr2line -e cc -f -i < addrs | diff expected - || { echo "byte $at"; false; }
		cp kept "$index"
	done
	head -c $((size / 2)) kept > "$index"
	"$OPROFILE" addr2line -e cc -f -i < addrs | diff expected -
	# Give the index of another binary the name of this binary's index.
	gcc -g -O2 -o c program.c
	"$OPROFILE" addr2line -e c 1140 > /dev/null
	for other in "$XDG_CACHE_HOME"/oprofile/*.lines; do
		[ "$other" = "$index" ] || cp "$other" "$index"
	done
	"$OPROFILE" addr2line -e cc -f -i < addrs | diff expected -
}

@test "addr2line answers each request at once, for programs that use it through pipes" {
	gcc -g -O2 -o c program.c
	coproc talk { "$OPROFILE" addr2line -e c -f; }
	main=$(nm c | awk '$3 == "main" { print $1 }')
	for _ in 1 2 3; do
		echo "$main" >&"${talk[1]}"
		read -r -t 10 function <&"${talk[0]}"
		read -r -t 10 place <&"${talk[0]}"
		[ "$function" = main ]
		[[ $place == */program.c:* ]]
	done
	exec {talk[1]}>&-
	wait "$talk_PID" || true
}

@test "addr2line answers many requests in their order, as if each were alone" {
	# With a name of 2000 letters the answers need 48 MB; the test runs them more than once.
	printf -v name '%2000s' ''
	gcc -g -O2 -Dmiddle="middle_${name// /m}" -o long program.c
	addresses long | shuf --random-source="$OPROFILE" >some
	for ((i = 0; i < 80000; i += $(wc -l <some))); do cat some; done >many
	"$OPROFILE" addr2line --no-cache -e long -a -f -i -C <some >once
	"$OPROFILE" addr2line --no-cache -e long -a -f -i -C <many >got
	[ "$(stat -c %s got)" -gt 100000000 ]
	while cat once 2>/dev/null; do :; done | cmp -n "$(stat -c %s got)" - got
}

@test "addr2line reads arguments from files and rejects wrong ones" {
	gcc -g -O2 -o c program.c
	main=$(nm c | awk '$3 == "main" { print $1 }')
	echo "-f -e c $main" > words
	run "$OPROFILE" addr2line @words
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = main ]
	run "$OPROFILE" addr2line -e nothing 1
	[ "$status" -eq 1 ]
	[[ $output == *nothing* ]]
	run "$OPROFILE" addr2line -e program.c 1
	[ "$status" -eq 1 ]
	[[ $output == *"not an ELF file"* ]]
	run "$OPROFILE" addr2line -b elf64-x86-64 -e c 1
	[ "$status" -eq 1 ]
}

@test "addr2line uses the first of several units that claim the same code" {
	# Both objects define the function. The linker keeps the first copy, and the debug
	# information of the second still claims its address.
	for file in first second; do
		cat > $file.cc <<EOF
#line 100 "$file.h"
template <typename T> __attribute__((noinline)) int shared(T x) { return (int)x * 3 + 1; }
int $file(int x) { return shared(x); }
EOF
	done
	echo 'int first(int), second(int); int main(int n, char **) { return first(n) + second(n); }' > main.cc
	for order in "first second" "second first"; do
		set -- $order
		g++ -g -O1 -o both main.cc "$1.cc" "$2.cc"
		at=$(nm both | awk '$3 ~ /shared/ { print $1 }')
		for again in cold warm; do
			run "$OPROFILE" addr2line -f -s -e both "$at"
			[ "$output" = "_Z6sharedIiEiT_
$1.h:100" ]
		done
	done
}

@test "addr2line skips an oversized debug section with a warning" {
	gcc -g -O2 -o large program.c
	main=$(nm large | awk '$3 == "main" { print "0x" $1 }')
	# A compressed section: 3 MB of zeros in the file, and a header that claims 3 GB.
	python3 - large <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 40)
number, names = struct.unpack_from("<HH", data, 60)
texts, = struct.unpack_from("<Q", data, table + 64 * names + 24)
for i in range(number):
    at = table + 64 * i
    name, = struct.unpack_from("<I", data, at)
    if data[texts + name:].startswith(b".debug_info\0"):
        struct.pack_into("<Q", data, at + 8, 1 << 11)  # SHF_COMPRESSED
        struct.pack_into("<QQ", data, at + 24, len(data), 3 << 20)
data += struct.pack("<IIQQ", 1, 0, 3 << 30, 1)
data += bytes(3 << 20)
open(sys.argv[1], "wb").write(data)
EOF
	run --separate-stderr "$OPROFILE" addr2line -f -e large "$main"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = main ]
	[[ $stderr == *"large': debug section too large: skipping .debug_info"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "oprofile cache builds, lists, measures, purges and evicts indexes" {
	gcc -g -O2 -o c program.c
	g++ -g -O2 -o cc program.cc
	run "$OPROFILE" cache --list
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	"$OPROFILE" cache --build c cc
	run "$OPROFILE" cache --list
	[ "${#lines[@]}" -eq 2 ]
	[[ $output == *"$PWD/cc"* ]]
	run "$OPROFILE" cache --size
	[[ $output == *"2 index files"* ]]
	run "$OPROFILE" cache --purge c
	[[ $output == "1 index files removed" ]]
	run "$OPROFILE" cache --purge c
	[ "$status" -eq 1 ]
	run "$OPROFILE" cache
	[ "${#lines[@]}" -eq 1 ]
	# With a cache limit of 0 MB each new index is evicted at once.
	OPROFILE_CACHE_MB=0 "$OPROFILE" cache --build c
	run "$OPROFILE" cache
	[ -z "$output" ]
	run "$OPROFILE" cache --build program.c
	[ "$status" -eq 1 ]
	run "$OPROFILE" cache --build --purge
	[ "$status" -eq 1 ]
}

# Changes the type of the symbol tables in an ELF file, so that readers do not find them.
hide_symbols()
{
	python3 - "$1" <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 40)
number, = struct.unpack_from("<H", data, 60)
for i in range(number):
    kind, = struct.unpack_from("<I", data, table + 64 * i + 4)
    if kind in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
        struct.pack_into("<I", data, table + 64 * i + 4, 1)
open(sys.argv[1], "wb").write(data)
EOF
}

# The index of the first program has lines but no symbols. The frame's index is already in use
# when the symbols of the second program are looked up; only then its debug information shows that
# it is another program.
@test "two programs with the same build-id have separate indexes in the cache" {
	local id=-Wl,--build-id=0x5555555555555555
	local i

	for ((i = 0; i < 300; i++)); do
		echo "extern \"C\" __attribute__((noinline)) int f$i(int x)" \
			"{ int y = x; for (int k = 0; k < x; k++) y ^= k * $i; return y; }"
	done > first.cc
	echo "int main(int argc, char **) { return f1(argc); }" >> first.cc
	echo "int other(int x) { return x * 3; }" > other.cc
	g++ -g -O1 $id -o first first.cc
	g++ -g -O1 $id -o second first.cc other.cc
	addrs=$(nm first | awk '$3 ~ /^f[0-9]+$/ { print "0x" $1 }' | head -50)
	hide_symbols first
	XDG_CACHE_HOME=$PWD/none "$OPROFILE" addr2line -f -e second $addrs > right
	"$OPROFILE" addr2line -e first $addrs > /dev/null
	[[ $("$OPROFILE" cache) == *"$PWD/first"* ]]
	"$OPROFILE" addr2line -f -e second $addrs > out
	cmp out right
	grep -qx f1 out
}

# Builds a program of many units. Only the unit with main() is large enough for an index.
many_units()
{
	local i
	local calls=

	for ((i = 0; i < 30; i++)); do
		echo "int f$i(int x) { return x * $i; }" > "unit$i.c"
		calls+=" + f$i(argc)"
		echo "int f$i(int x);" >> all.h
	done
	echo "int main(int argc, char **argv) { (void)argv; return 0$calls; }" > all.c
	for ((i = 0; i < 300; i++)); do
		echo "int g$i(int x) { return x / $((i + 2)); }" >> all.c
	done
	gcc -g -O1 -include all.h -o many all.c unit*.c
}

# Prints how many units the index covers and how many there are: "3/31".
known()
{
	"$OPROFILE" cache | grep -o '[0-9]*/[0-9]*' | head -1
}

@test "a partial index is completed in the background if requested" {
	many_units
	main=$(nm many | awk '$3 == "main" { print $1 }')
	"$OPROFILE" addr2line -e many "$main"
	[ "$(known)" = 1/31 ]
	"$OPROFILE" cache --purge
	OPROFILE_CACHE_FILL= "$OPROFILE" addr2line --no-cache -e many "$main"
	[ -z "$(known)" ]
	# A reader of the command's output gets end of file before the background work ends.
	[[ $(OPROFILE_CACHE_FILL= "$OPROFILE" addr2line -e many "$main") == *all.c:1 ]]
	for ((i = 0; i < 300; i++)); do # the background process has a low priority
		[ "$(known)" = 31/31 ] && break
		sleep 0.2
	done
	[ "$(known)" = 31/31 ]
	run "$OPROFILE" addr2line -V -e many "$(nm many | awk '$3 == "f7" { print $1 }')"
	[[ $output == *"unit7.c:1"* ]]
	[[ $output == *"index found; 0 of 31 units read"* ]]
	run "$OPROFILE" cache --background
	[ "$status" -eq 1 ]
}

@test "of two concurrent writers, the more complete index is kept" {
	many_units
	main=$(nm many | awk '$3 == "main" { print $1 }')
	coproc talk { "$OPROFILE" addr2line -e many; }
	echo "$main" >&"${talk[1]}"
	read -r -t 10 place <&"${talk[0]}"
	"$OPROFILE" cache --build --background many
	[ "$(known)" = 31/31 ]
	exec {talk[1]}>&-
	wait "$talk_PID" || true
	[ "$(known)" = 31/31 ]
	# An index that is damaged, or belongs to another binary, is replaced.
	printf 'x' | dd of="$(echo "$XDG_CACHE_HOME"/oprofile/*.lines)" bs=1 seek=70 conv=notrunc status=none
	cp "$(echo "$XDG_CACHE_HOME"/oprofile/*.lines)" damaged
	"$OPROFILE" cache --build many
	! cmp -s damaged "$XDG_CACHE_HOME"/oprofile/*.lines
}
