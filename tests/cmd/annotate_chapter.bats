# SPDX-License-Identifier: GPL-2.0-or-later
# OProfile's manual explains in "Interpreting profiling results" why annotated source can mislead.
# There is one program for each of its cases. Each instruction has samples. The expected samples
# of lines and functions come from llvm-symbolizer and nm, and only instructions for which
# llvm-symbolizer has no line may have none (annotate_truth.py).
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	need python3
	need llvm-symbolizer
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	mkdir src
}

# check FLAGS...: builds src/p.c or src/p.cc as p with each compiler and checks it.
check()
{
	local compiler
	for compiler in ${compilers-gcc clang}; do
		[ ! -e src/p.cc ] || compiler=${compiler/gcc/g++}
		compiler=${compiler/%clang/clang$([ ! -e src/p.cc ] || echo ++)}
		command -v "$compiler" >/dev/null || continue
		echo "$compiler $*"
		"$compiler" -Wl,--build-id "$@" -o p src/p.c*
		timeout 120 python3 "$SOURCE_ROOT/tests/cmd/annotate_truth.py" ./p
	done
}

annotate()
{
	timeout 60 "$OPROFILE_LINKS/opannotate" --session-dir truth "$@"
}

# total NAME: prints the samples of the function in the listing.
total()
{
	sed -n "s/.*[ *]$1 total: *\([0-9]*\) .*/\1/p" listing | head -n 1
}

@test "a slow division at the end of a loop has the samples, despite skid" {
	cat >src/p.c <<'END'
double fun(double a, double b, double c)
{
	double result = 0;
	for (int i = 0; i < 10000; ++i) {
		result += a;
		result *= b;
		result /= c;
	}
	return result;
}

int main(int argc, char **argv)
{
	(void)argv;
	return fun(argc, 2, 3) > 1;
}
END
	for level in -O0 -O1 -O2; do check -g $level; done
	# The listing warns that a sample can belong to the preceding instruction.
	annotate -a >listing
	grep -q 'The event is not precise: a sample can belong to the instruction executed just before' listing
	compilers=gcc check -g -O2
	local div after t=$(($(text_offset p))) text
	text=0x$(readelf -SW p | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	div=$(objdump -d --no-show-raw-insn p | sed -n 's/^ *\([0-9a-f]*\):	divsd.*/\1/p' | head -n 1)
	[ -n "$div" ] || skip "no such division here"
	after=$(objdump -d --no-show-raw-insn p | grep -A 1 "^ *$div:" | sed -n '2s/^ *\([0-9a-f]*\):.*/\1/p')
	rm truth/samples/current/segment-000001
	"$WRITE_SESSION" truth/samples/current/segment-000001 <<END
info|0||$(uname -n)|1000000000|0||
event|A|a|1|100|0|0
image|1|$PWD/p|$(readelf -n p | sed -n 's/ *Build ID: //p')
thread|7|7|p|0|0|/
sample|0|0|0|2000|1|0+$((0x$after - text + t))|368
sample|0|0|0|2000|1|0+$((0x$div - text + t))|68
END
	LC_ALL=C TERM=xterm timeout 20 python3 "$SOURCE_ROOT/tests/cmd/on_terminal.py" 100 \
		"$OPROFILE_LINKS/opannotate" --session-dir truth -a --no-pager --color=never >listing
	grep -q "^    68 15.5963 :~.*$div:" listing
	grep -q "^   368 84.4037 : .*$after:" listing
}

@test "a struct copy counts for the line that copies" {
	cat >src/p.c <<'END'
struct big_object { int a[500]; };
struct big_object left, right;

int main(void)
{
	for (int i = 0; i != 1000; ++i) {
		right.a[i % 500]++;
		left = right;
	}
	return left.a[7];
}
END
	for level in -O0 -O1 -O2; do check -g $level; done
	compilers=gcc check -g -O1
	annotate -s -a --include-symbols main >listing
	# The compiler emits the copy as "rep movs" or as a call of memcpy.
	awk '/^               :/ { text = $0 } /:\t(rep +movs|call .*memcpy)/ && text !~ /left = right/ { print text; exit 1 }' listing
	grep -q ':	rep *movs\|memcpy' listing
}

@test "inlined helpers count for their lines, and in the totals of their callers" {
	cat >src/p.c <<'END'
static inline __attribute__((always_inline)) void clear(unsigned char *at, int len)
{
	for (volatile int i = 0; i < len; i++)
		at[i] = 0;
}

__attribute__((noinline)) int allocate(unsigned char *at)
{
	clear(at, 64);
	at[0] = 1;
	return at[5];
}

__attribute__((noinline)) int drop(unsigned char *at)
{
	clear(at, 16);
	return at[3];
}

int main(void)
{
	unsigned char at[64];
	return allocate(at) + drop(at);
}
END
	for level in -O0 -O1 -O2; do check -g $level; done
	compilers=gcc check -g -O1
	annotate -s --inline-sites >listing
	local all=$(sed -n 's/.*clear inlined in all: *\([0-9]*\) .*/\1/p' listing)
	local parts=$(sed -n 's/.*clear inlined here: *\([0-9]*\) .*/\1/p' listing | paste -sd +)
	[ "$all" -gt 0 ]
	[ "$((parts))" -eq "$all" ]
	# The code of `allocate` begins with that of the inlined `clear`; its total is shown at
	# its own declaration.
	grep -q 'int allocate(unsigned char \*at) /\* allocate total:' listing
	# The lines of `allocate` add up to less than its total; the rest is in `clear`.
	local own inlined
	own=$(sed -n '/:__attribute__((noinline)) int allocate/,/:}/p' listing |
		sed -n 's/^ *\([0-9]*\) [ .0-9]\{7\} :.*/\1/p' | paste -sd +)
	inlined=$(sed -n 's/.*:	clear(at, 64);.*clear inlined here: *\([0-9]*\) .*/\1/p' listing)
	[ "$inlined" -gt 0 ]
	[ "$(total allocate)" -eq "$((own + inlined))" ]
}

@test "prologues and epilogues count for the first and last lines of functions" {
	cat >src/p.c <<'END'
#include <string.h>
__attribute__((noinline)) int many(const char *text, int n)
{
	char copy[4096];
	int sum = 0;
	memcpy(copy, text, sizeof(copy));
	for (int i = 0; i < n; i++)
		sum += copy[i] * copy[(i * 7) % 4096];
	return sum;
}

int main(int argc, char **argv)
{
	static char text[4096];
	text[argc] = argv[0][0];
	return many(text, 4000);
}
END
	for level in -O0 -O2; do check -g $level -fstack-protector-all -fcf-protection; done
	compilers=gcc check -g -O0 -fstack-protector-all
	annotate -s >listing
	grep -q '^ *[1-9][0-9]* .* :{ /\* many total:\|^ *[1-9][0-9]* .* :.*int many(const char .*/\* many total:' listing
	grep -A 12 'int many' listing | grep -q '^ *[1-9][0-9]* .* :}'
}

@test "functions that the compiler created count for their source" {
	cat >src/p.cc <<'END'
#include <string>
#include <vector>

struct item {
	std::string name;
	std::vector<int> numbers;
	virtual ~item() = default;
};

struct more : item {
	item other;
};

more global;

__attribute__((noinline)) int use(item x)
{
	return (int)x.name.size();
}

int main()
{
	more copy = global;
	copy = global;
	return use(copy) + use(copy.other);
}
END
	for level in -O0 -O2; do check -gdwarf-4 $level; done
	compilers=g++ check -gdwarf-4 -O0
	annotate -s >listing
	# Implicit member functions are listed with their names at the declaration of the class.
	grep -q ':struct item {.*item::item(item const&)' listing
	grep -q 'more::operator=(more const&)' listing
}

@test "a macro counts for the line that uses it" {
	cat >src/p.c <<'END'
#define STEP(x)                                                                \
	do {                                                                   \
		(x) ^= (x) << 5;                                               \
		(x) *= 3;                                                      \
	} while (0)

int main(int argc, char **argv)
{
	unsigned x = argc;
	(void)argv;
	STEP(x);
	STEP(x);
	return x & 1;
}
END
	for level in -O0 -O1 -O2; do check -g $level; done
	compilers=gcc check -g -O0
	annotate -s >listing
	[ "$(grep -c '^ *[1-9][0-9]* .* :	STEP(x);' listing)" -eq 2 ]
	run ! grep '^ *[1-9][0-9]* .* :.*(x) \*= 3' listing
}

@test "a template instantiated three times is summed per line" {
	cat >src/p.cc <<'END'
template <class T> __attribute__((noinline)) T power(T x, int n)
{
	T result = 1;
	while (n-- > 0)
		result *= x;
	return result;
}

int main(int argc, char **)
{
	return (int)(power(argc, 3) + power((long)argc, 4) + power((double)argc, 5));
}
END
	for level in -O0 -O1 -O2; do check -gdwarf-4 $level; done
	compilers=g++ check -gdwarf-4 -O0
	annotate -s >listing
	# All instances are listed at one line, with their sum.
	sed -n 's,.* /\* \(.*power<.*\)total: *\([0-9]*\) .*,\1\n\2,p' listing >totals
	[ "$(head -n 1 totals | grep -o 'power<' | wc -l)" -eq 3 ]
	local parts=$(head -n 1 totals | grep -o ')  *[0-9]*' | tr -d ') ' | paste -sd +)
	[ "$((parts))" -eq "$(tail -n 1 totals)" ]
}

@test "code from link time optimization has its lines" {
	cat >src/q.inc <<'END'
__attribute__((noinline)) unsigned mix(unsigned x)
{
	return x ^ x >> 7;
}
END
	cat >src/p.c <<'END'
unsigned mix(unsigned x);
unsigned twice(unsigned x);
int main(int argc, char **argv)
{
	(void)argv;
	return mix(twice(argc)) & 1;
}
END
	cat >src/r.c <<'END'
unsigned mix(unsigned x);
unsigned twice(unsigned x)
{
	return mix(x) + mix(x + 1);
}
END
	cp src/q.inc src/q.c
	for level in -O1 -O2; do
		gcc -g $level -flto -Wl,--build-id -o p src/*.c
		timeout 120 python3 "$SOURCE_ROOT/tests/cmd/annotate_truth.py" ./p
	done
	annotate -s --inline-sites >listing
	grep -q 'src/q.c"' listing
	grep -q 'twice inlined here' listing
}

@test "code from a unity build has its lines" {
	cat >src/a.inc <<'END'
static int helper(int x)
{
	return x * 3;
}
int first(int x) { return helper(x) + 1; }
END
	cat >src/b.inc <<'END'
int second(int x) { return helper(x) - 1; }
END
	cat >src/p.c <<'END'
#include "a.inc"
#include "b.inc"
int main(int argc, char **argv)
{
	(void)argv;
	return first(argc) + second(argc);
}
END
	for level in -O0 -O2; do check -g $level; done
	annotate -s >listing
	grep -q 'src/a.inc"' listing
	grep -q 'src/b.inc"' listing
	grep -q ' /\* second total: ' listing
}

@test "lines of #line and of deleted generated files are shown" {
	cat >src/p.c <<'END'
int before(int x) { return x + 1; }
#line 3 "grammar.y"
int parse(int x)
{
	return x * 5;
}
#line 70000 "/nowhere/generated.c"
int table(int x)
{
	return x / 7;
}
#line 14 "src/p.c"
int main(int argc, char **argv) { (void)argv; return before(argc) + parse(argc) + table(argc); }
END
	printf '%s\n' '%%' 'start:' 'parse(x)' '{' '  five times' '}' >grammar.y
	touch -d 2000-01-01 grammar.y
	for level in -O0 -O2; do check -g $level; done
	compilers=gcc check -g -O0
	annotate -s >listing 2>said
	grep -q '^ *[1-9][0-9]* .* :  five times' listing
	grep -q '^ *[1-9][0-9]* .* :/\* line 70002 \*/' listing
	grep -q '/nowhere/generated.c (No such file or directory)' said
	# `main` has a line number after the end of its file.
	grep -q ':/\* line 14 \*/ /\* main total: ' listing
}

@test "code without lines is shown: merged by the compiler, or without debug information" {
	cat >src/p.c <<'END'
int f(int), g(int), h(int);
int v;
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 3)
		v = f(argc) * 7 + 1;
	else if (argc > 1)
		v = g(argc) * 7 + 1;
	else
		v = h(argc) * 7 + 1;
	return v;
}
__attribute__((noinline)) int f(int x) { return x + v; }
__attribute__((noinline)) int g(int x) { return x - v; }
__attribute__((noinline)) int h(int x) { return x * v; }
END
	for level in -O1 -O2 -O3; do check -g $level; done
	annotate -s >listing
	grep -q '^ \*  *[0-9]* .* without a source line, of which:' listing
	grep -q "^ \*  *[0-9]* .* $PWD/p (code not covered by its debug information)$" listing
}
