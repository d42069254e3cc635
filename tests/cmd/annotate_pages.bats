# SPDX-License-Identifier: GPL-2.0-or-later
# opannotate --html and --json: they contain what the listings contain, and text from sources,
# names and the file system is only displayed, never interpreted. tests/page tests the pages in a
# browser.
load helpers

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	DIR=$PWD/session
	mkdir -p "$DIR/samples/current" src
}

opannotate()
{
	timeout -k 5 60 "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" "$@"
}

# make_program NAME SOURCE: makes a library of it with debug information, and a session in which
# its instructions have 1, 2, 3 ... samples in order.
make_program()
{
	local text base
	gcc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id -o "$1" "$2"
	base=$(($(text_offset "$1")))
	text=0x$(readelf -SW "$1" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\).*/\1/p')
	objdump -d --no-show-raw-insn -j .text "$1" | sed -n 's/^ *\([0-9a-f]*\):	.*/0x\1/p' >addresses
	{
		echo "info|0||$(uname -n)||1000000000|0||"
		echo "event|TIMER|time|3|0|1000|0"
		echo "image|1|$PWD/$1|$(readelf -n "$1" | sed -n 's/ *Build ID: //p')"
		echo "thread|7|7|p|0|0|/"
		local n=0
		while read -r address; do
			echo "sample|0|0|0|2000|1|0+$((address - text + base))|$((++n))"
		done <addresses
	} | "$WRITE_SESSION" "$DIR/samples/current/segment-000001"
}

make_inlined()
{
	cat >src/h.h <<'END'
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
END
	cat >src/p.c <<'END'
#include "h.h"
unsigned work(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		x += mix(x);
	return x;
}
unsigned once(unsigned n)
{
	return mix(n) * 5;
}
END
	make_program p src/p.c
}

@test "--json has the numbers of the listings, and its sums are correct" {
	make_inlined
	opannotate --json >got.json
	opannotate --source >source
	opannotate --assembly >assembly
	python3 - <<'END'
import json, re
j = json.load(open("got.json"))
assert j["schema"] == "oprofile-annotate/1"
total = sum(range(1, len(open("addresses").readlines()) + 1))
assert [c["samples"] for c in j["columns"]] == [total]
# Compare the sources with the listing.
path, line, want = None, 0, {}
for text in open("source"):
    m = re.match(r' \* Total samples for file : "(.*)"', text)
    if m:
        path, line = m[1], -1
    elif re.match(r"^ \*/$", text):
        line = -2
    else:
        line += 1
        m = re.match(r" *(\d+) [ .\d]{7} :", text)
        if m and path:
            want[path, line] = int(m[1])
got = {(f["file"], l["line"]): l["samples"][0] for f in j["files"] for l in f["lines"]}
assert got == want and len(got) > 5, (got, want)
# Compare the instructions with the listing.
want = {int(m[2], 16): int(m[1] or 0)
        for m in re.finditer(r"^ *(\d*)[ .\d]* :  *([0-9a-f]+):\t", open("assembly").read(), re.M)}
got = {int(i["address"], 16): i.get("samples", [0])[0]
       for f in j["functions"] for i in f["instructions"]}
assert got == want and len(got) > 8, (got, want)
s = {k: v[0] for k, v in j["sums"].items()}
assert s["all"] == total == s["instructions"] + s["code_left_out"] + s["functions_left_out"]
assert s["all"] == s["lines"] + s["files_left_out"] + s["without_line"] + s["functions_left_out"]
# Inlined code names the line of its call.
sites = {(i["function"], c["function"], c["line"]) for f in j["functions"]
         for i in f["instructions"] if "inlined_at" in i for c in i["inlined_at"]}
assert sites == {("mix", "work", 6), ("mix", "once", 11)}, sites
END
	run -0 --separate-stderr opannotate --json --source
	[[ $output == *'"lines"'* && $output != *'"instructions"'* ]]
	run -0 --separate-stderr opannotate --json --assembly
	[[ $output != *'"lines"'* && $output == *'"instructions"'* ]]
	opannotate --json --top 1 | python3 -c '
import json, sys
j = json.load(sys.stdin)
assert len(j["functions"]) == 1 and j["sums"]["functions_left_out"][0] > 0
s = {k: v[0] for k, v in j["sums"].items()}
assert s["all"] == s["lines"] + s["files_left_out"] + s["without_line"] + s["functions_left_out"]'
}

# Checks that every link in the pages of directory $1 leads to an existing page and anchor.
check_links()
{
	python3 - "$1" <<'END'
import html.parser, os, sys, urllib.parse
root = sys.argv[1]
ids, links = {}, []
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "form"), tag
        assert not any(a.startswith("on") or a == "style" for a in attrs), (tag, attrs)
        if "id" in attrs:
            assert attrs["id"] not in ids[self.path], attrs["id"]
            ids[self.path].add(attrs["id"])
        for a in ("href", "src"):
            if a in attrs:
                links.append((self.path, attrs[a]))
for folder, _, files in os.walk(root):
    for name in files:
        page = Page()
        page.path = os.path.join(folder, name)
        ids[page.path] = set()
        page.feed(open(page.path, encoding="utf-8", newline="").read())
for page, link in links:
    path, _, place = link.partition("#")
    assert ":" not in path and not path.startswith("/"), link
    to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    assert to in ids, (page, link)
    assert not place or place in ids[to], (page, link)
print(len(links), "links")
END
}

@test "--html writes an index and one page per source and function, and every link works" {
	make_inlined
	run -0 --separate-stderr opannotate --html pages
	[ -z "$output" ]
	[ "$(find pages/source -name '*.html' | wc -l)" -eq 2 ]
	[ "$(find pages/code -name '*.html' | wc -l)" -eq "$(opannotate -a | grep -c '^[0-9a-f]\{16\} <')" ]
	[ -z "$(find . -name '*.making*')" ]
	check_links pages
	# The sums equal those of the listing.
	local total
	total=$(opannotate -s | sed -n 's/^ \* *\([0-9]*\) 100.000 in all/\1/p')
	grep -q ">$total<td class=n>100.000.*in all" pages/index.html
	# The helper's lines link to the calls where it was inlined, and back.
	grep -q 'inlined into.*' pages/source/h.h-*.html
	grep -q 'work at <a class=site href="../source/p.c-[0-9a-f]*.html#L6">p.c:6</a>' pages/source/h.h-*.html
	grep -q 'mix of <a class=site href="../source/h.h-[0-9a-f]*.html#L[34]">h.h:[34]</a>' pages/source/p.c-*.html
	# A second run with another output name gives the same page names and contents.
	opannotate --html again
	sed -i 's/--html again/--html pages/' again/index.html
	diff -r pages again
	mkdir empty
	opannotate --html empty/
	check_links empty
	# Pages that are left out are reported and not linked.
	opannotate --html few --top 1 --exclude-file h.h
	check_links few
	[ "$(find few/code few/source -name '*.html' | wc -l)" -eq 2 ]
}

@test "--html escapes hostile sources and names" {
	local evil='src/"q'"'"' &amp; $(touch x) -->.c'
	printf '%s\n' 'int f(int x) { return x * 3; } // </script><script>alert(1)</script>' \
		'// <!-- "><img src=x onerror=alert(2)> &lt; ]]> '"'"'"' \
		$'// \xff\xfe\x80 \x01\x02\x1b[31m \xe2\x80\xae drow \xc2\x9b \x7f' \
		'int g(int x) { return x / 3; }' >"$evil"
	printf '// \0 nul\n' >>"$evil"
	make_program 'p<i>' "$evil" 2>/dev/null
	objcopy --redefine-sym 'g=</script><img src=x onerror=alert(3)>' 'p<i>'
	# (The NUL makes the file binary, so the listing does not show it either.)
	sed -i '$d' "$evil"
	opannotate --html 'out <u>'
	check_links 'out <u>'
	[ "$(find 'out <u>' -name '*[^A-Za-z0-9._-]*' -name '*.html' | wc -l)" -eq 0 ]
	local page
	page=$(find 'out <u>/source' -name '*.html')
	iconv -f UTF-8 -t UTF-8 "$page" >/dev/null
	# Each page has exactly one script and one style sheet, which are ours, and no control
	# sequence for a terminal or a browser.
	for page in 'out <u>'/*.html 'out <u>'/*/*.html; do
		[ "$(grep -o '<script' "$page" | wc -l)" -eq 1 ]
		[ "$(grep -o '<style' "$page" | wc -l)" -eq 1 ]
		[ "$(tr -d '\011\012\040-\176\200-\377' <"$page" | wc -c)" -eq 0 ]
		! grep -q '"q'"'"'\|<img\|<u>\|<i>\|-->' "$page"
	done
	page=$(find 'out <u>/source' -name '*.html')
	grep -q '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;' "$page"
	grep -q '\[U+202E\] drow \[U+009B\]' "$page"
	grep -q '&lt;/script&gt;&lt;img src=x onerror=alert(3)&gt;' 'out <u>/index.html'
	[ ! -e x ]
}

@test "--html overwrites no existing file and follows no link" {
	make_inlined
	mkdir full victim
	touch full/mine
	ln -s "$PWD/victim" link
	ln -s nowhere dangling
	touch file
	for place in full link link/ dangling file .; do
		run -1 opannotate --html "$place"
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == "opannotate: "*"give"* ]] || [[ $place == link/ ]]
	done
	[ -z "$(ls victim)" ] && [ "$(ls full)" = mine ] && [ ! -s file ] && [ ! -e nowhere ]
	[ -z "$(find . -name '*.making*')" ]
	run -1 opannotate --html ""
	run -1 opannotate --html none/such/place
	[[ $output == *"none/such/place"* ]]
	run -1 opannotate --html a --json
	[[ $output == *"--html is incompatible with --json"* ]]
	run -1 opannotate --html a --output-dir b
	run -1 opannotate --json --hottest
	[ ! -e a ]
}

@test "--html reports a full disk in one line and leaves no files" {
	need_root
	make_inlined
	mkdir disk
	unshare -m sh -c 'mount -t tmpfs -o size=40k,nr_inodes=100 none disk && exec "$@"' - true ||
		skip "cannot mount"
	run -1 unshare -m sh -c 'mount -t tmpfs -o size=40k none disk && "$@"; r=$?; ls -A disk >left; exit $r' - \
		timeout 60 "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" --html disk/pages
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "opannotate: cannot write 'disk/pages/"*"': No space left on device" ]]
	[ ! -s left ]
}

@test "--html leaves all or no pages when it is killed" {
	make_inlined
	{
		cat src/p.c
		yes '/* long */' | head -n 100000
	} >src/more.c
	mv src/more.c src/p.c
	local after
	for after in 0.001 0.01 0.02 0.03 0.05 0.1; do
		timeout -s KILL "$after" "$OPROFILE_LINKS/opannotate" --session-dir "$DIR" --html "at$after" || true
		[ ! -e "at$after" ] || check_links "at$after"
	done
	for after in $(seq 100); do
		[ -n "$(find . -name '*.making*')" ] || break
		sleep 0.1
	done
	[ -z "$(find . -name '*.making*')" ]
}

@test "--html handles sources of 100000 lines, with long lines, and missing ones" {
	{
		for i in $(seq 1 20); do
			echo "int f$i(int x) { return x * $i + x / 7; }"
			yes '/* nothing here */' | head -n 5000
		done
		head -c 300000 /dev/zero | tr '\0' x | sed 's,^,//,'
	} >src/big.c
	make_program p src/big.c
	opannotate --html pages
	check_links pages
	[ "$(grep -o 'id=L' pages/source/big.c-*.html | wc -l)" -ge 100020 ]
	[ "$(grep -c 'class=c>' pages/source/big.c-*.html)" -ge 500 ]
	grep -q '(and 296002 bytes more)' pages/source/big.c-*.html
	# After the first 200000 lines of a file only lines near samples are shown.
	{
		yes '' | head -n 249999
		echo 'int f(int x) { return x / 7; }'
		yes '' | head -n 50000
	} >src/long.c
	rm "$DIR/samples/current/segment-000001"
	make_program q src/long.c
	opannotate --html long
	check_links long
	[ "$(grep -o 'id=L[0-9]*' long/source/long.c-*.html | wc -l)" -eq 200201 ]
	grep -q 'id=L249900 ' long/source/long.c-*.html
	grep -q 'id=L250100 ' long/source/long.c-*.html
	[ "$(grep -c 'class=gap' long/source/long.c-*.html)" -eq 1 ]
	rm "$DIR/samples/current/segment-000001"
	make_program p src/big.c
	mv src/big.c gone
	run -0 --separate-stderr opannotate --html none
	[ "$(grep -c 'unable to open for reading' <<<"$stderr")" -eq 1 ]
	check_links none
	grep -q 'Source file not found' none/source/big.c-*.html
}

@test "--html and --json show several events" {
	make_inlined
	local t
	t=$(($(text_offset p)))
	rm "$DIR/samples/current/segment-000001"
	"$WRITE_SESSION" "$DIR/samples/current/segment-000001" <<END
info|0||$(uname -n)||1000000000|0||
event|A|a|1|100|0|0
event|B|b|1|100|0|0
image|1|$PWD/p|$(readelf -n p | sed -n 's/ *Build ID: //p')
thread|7|7|work|0|0|/
sample|0|0|0|2000|1|0+$t|3
sample|0|1|0|2000|1|0+$t|4
END
	opannotate --html pages
	grep -q '<th>A:100<th>%<th>B:100<th>%' pages/index.html
	grep -q '>3<td class=n>100.000<td class="n">4<td class=n>100.000.*in all' pages/index.html
	opannotate --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
assert j["sums"]["all"] == [3, 4] and j["files"][0]["lines"][0]["samples"] == [3, 4]
assert [c["event"] for c in j["columns"]] == ["A", "B"]'
}
