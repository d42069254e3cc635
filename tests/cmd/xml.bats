# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --xml: OProfile's schema 3.1.
bats_require_minimum_version 1.5.0
load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR"
	new_session
	mkdir -p "$session/samples/current"
	segment=$session/samples/current/segment-000001
}

# Writes the XML of the session with these options to ./x.xml, and checks it against the schema: that
# of OProfile if OPROFILE_SCHEMAS names its directory, else our own description of it.
xml()
{
	opreport --session-dir "$session" --xml "$@" >x.xml
	command -v xmllint >/dev/null || return 0
	xmllint --noout --schema "${OPROFILE_SCHEMAS:-$SOURCE_ROOT/tests/data}/opreport.xsd" x.xml 2>xmllint.err || {
		cat xmllint.err
		false
	}
}

# Makes a session: 100 samples of two events in a program and its library, of two threads on two
# CPUs, with stacks.
make_session()
{
	"$WRITE_SESSION" "$segment" <<'END'
info|2400|Some CPU|host||1000000000|0||
event|CYCLES|clocks|3|100000|0|0
event|MISSES|misses|3|500|0|65
image|1|/opt/app|
image|1|/opt/a<b>&"c'd.so|
thread|7|7|app|0|0|/
thread|7|8|app|0|0|/
sample|0|0|0|2000|100000|0+16|60
sample|1|0|1|2000|100000|1+32;0+16|20
sample|0|0|1|2000|100000|1+33;0+16|10
sample|0|1|0|2000|500|1+32;0+16|10
END
}

@test "XML contains setup, classes, programs with their images, and the symbol table" {
	make_session
	xml
	diff x.xml - <<END
<?xml version="1.0" ?>
<profile  schemaversion="3.1" cputype="unknown"
 processor="unknown"
 mhz="2400.00"
 title="opreport --session-dir $session --xml ">
<options />
<setup>
<eventsetup  id="0" eventname="CYCLES" unitmask="0" setupcount="100000"/>
<eventsetup  id="1" eventname="MISSES" unitmask="65" setupcount="500"/>
</setup>
<classes>
<class  name="c0" event="0" mask="0"/>
<class  name="c1" event="1" mask="65"/>
</classes>
<binary  name="/opt/app">
<count class="c0">
60</count>
<symbol  idref="0">
<count class="c0">
60</count>
</symbol>
<module  name="/opt/a&lt;b&gt;&amp;&quot;c&#39;d.so">
<count class="c0">
30</count>
<count class="c1">
10</count>
<symbol  idref="1">
<count class="c0">
30</count>
<count class="c1">
10</count>
</symbol>
</module>
</binary>
<symboltable>
<symboldata  id="0"  name="/opt/app"  startingaddr="00000000"/>
<symboldata  id="1"  name="/opt/a&lt;b&gt;&amp;&quot;c&#39;d.so"  startingaddr="00000000"/>
</symboltable>
</profile>
END
}

@test "XML of one event without a unit mask has no classes; of the timer it has the rate" {
	"$WRITE_SESSION" "$segment" <<'END'
info|0||host||1000000000|0||
event|TIMER|time|7|0|997|0
image|1|/opt/app|
thread|7|7|app|0|0|/
sample|0|0|0|2000|1|0+16|60
END
	xml event:TIMER session:current
	grep -q '^<options  session="current"/>$' x.xml
	grep -q '^<timersetup  rtcinterrupts="997"/>$' x.xml
	grep -A1 -x '<count>' x.xml | grep -qx '60</count>'
	[ "$(grep -c 'class' x.xml)" -eq 0 ]
}

@test "XML shows threads and CPUs separately in one report" {
	make_session
	xml --separate-thread --separate-cpu
	python3 - <<'END'
import xml.etree.ElementTree as E
root = E.parse("x.xml").getroot()
assert root.get("separatedcpus") == "2", root.attrib
classes = {c.get("name"): (c.get("cpu"), c.get("event")) for c in root.find("classes")}
assert sorted(classes.values()) == [("0", "0"), ("0", "1"), ("1", "0")], classes
got = {}
for process in root.findall("process"):
    assert (process.get("pid"), process.get("name")) == ("7", "/opt/app"), process.attrib
    for thread in process.findall("thread"):
        for module in thread.findall("module"):
            for count in module.findall("symbol/count"):
                key = thread.get("tid"), module.get("name")[:8], classes[count.get("class")]
                got[key] = got.get(key, 0) + int(count.text)
assert got == {("7", "/opt/app", ("0", "0")): 60, ("8", "/opt/a<b", ("1", "0")): 20,
               ("7", "/opt/a<b", ("1", "0")): 10, ("7", "/opt/a<b", ("0", "1")): 10}, got
END
}

@test "--details puts addresses below their symbols, in all classes" {
	make_session
	xml --details --separate-thread
	python3 - <<'END'
import xml.etree.ElementTree as E
root = E.parse("x.xml").getroot()
details = {int(d.get("id")): d for d in root.iter("detaildata")}
table = {s.get("id"): [int(d.get("id")) for d in s] for s in root.iter("symboldetails")}
for symbol in root.iter("symbol"):
    ids = range(int(symbol.get("detaillo")), int(symbol.get("detailhi")) + 1)
    assert set(ids) <= set(table[symbol.get("idref")]), (symbol.attrib, table)
    for name in {c.get("class") for c in symbol.findall("count")}:
        own = sum(int(c.text) for c in symbol.findall("count") if c.get("class") == name)
        below = sum(int(c.text) for i in ids for c in details[i] if c.get("class") == name)
        assert own == below, (symbol.attrib, name, own, below)
offsets = sorted((d.get("vmaoffset"), sum(int(c.text) for c in d)) for d in details.values())
assert offsets == [("10", 60), ("20", 10), ("20", 20), ("21", 10)], offsets
END
}

@test "--callgraph puts callers and callees below each symbol, and the symbol itself" {
	make_session
	xml --callgraph event:CYCLES
	python3 - <<'END'
import xml.etree.ElementTree as E
root = E.parse("x.xml").getroot()
name = {s.get("id"): s.get("name") for s in root.iter("symboldata")}
def listed(symbol, side):
    return {(name[s.get("idref")][:8], s.get("self")): int(s.find("count").text)
            for s in symbol.findall(side + "/module/symbol")}
found = {name[s.get("idref")][:8]: (listed(s, "callers"), listed(s, "callees"))
         for top in (root.findall("binary/symbol"), root.findall("binary/module/symbol")) for s in top}
assert found == {
    "/opt/app": ({}, {("/opt/app", "true"): 60, ("/opt/a<b", None): 30}),
    "/opt/a<b": ({("/opt/app", None): 30}, {("/opt/a<b", "true"): 30})}, found
END
}

# XML has to accept any name of a function or file.
@test "XML escapes all kinds of characters in names" {
	need python3
	python3 - >description <<'END'
names = ["/a/\x01\x7f\x1b[31m", "/a/\u202eold", "/a/]]>", "/b/\ufffe\uffff", "/a/\U0001f600", "/a/caf\u00e9", "/a/%s%n"]
print("info|0||host||1000000000|0||\nevent|A|a|1|100|0|0\nthread|7|7|work|0|0|/")
for i, name in enumerate(names):
    print(f"image|1|{name}|")
for i in range(len(names)):
    print(f"sample|0|0|0|2000|1|{i}+16|{i + 1}")
END
	printf 'image|1|/a/\xff\xc3|\nsample|0|0|0|2000|1|7+16|9\n' >>description
	"$WRITE_SESSION" "$segment" <description
	xml
	python3 -c '
import xml.etree.ElementTree as E
root = E.parse("x.xml").getroot()
names = {s.get("name") for s in root.iter("symboldata")}
assert len(names) == 8, names
assert {"/a/]]>", "/a/caf\u00e9", "/a/%s%n", "/a/\U0001f600"} <= names, names'
}

@test "XML of a recording has correct code, lines and sums in every form" {
	need gcc
	need_recording
	rm -f "$segment"
	printf 'int main(void)\n{\n\tvolatile long x = 0;\n\tfor (long i = 0; i < 200000000; i++)\n\t\tx += i;\n\treturn 0;\n}\n' >work.c
	gcc -g -O1 -o work work.c
	operf -d "$session" --callgraph -e cpu-clock:1000000 ./work
	for form in '' '--details --debug-info' --callgraph --separate-cpu '--merge lib' --exclude-dependent '--threshold 20'; do
		# shellcheck disable=SC2086
		xml $form
		grep -q 'name="main"' x.xml
	done
	xml --details --debug-info image:"$PWD/work"
	grep -q "name=\"main\" file=\"$PWD/work.c\" line=\"[1-4]\"  startingaddr=" x.xml
	grep -q '^<bytestable>$' x.xml
	code=$(objdump -d --no-addresses work | sed -n '/^<main>:/,/^$/s/^\t\([0-9a-f ]*\)\t*.*/\1/p' | tr -d ' \n\t' | tr a-f A-F)
	id=$(sed -n 's/<symboldata  id="\([0-9]*\)"  name="main".*/\1/p' x.xml)
	grep -qx "<bytes  id=\"$id\">$code</bytes>" x.xml
}

@test "--threshold keeps a symbol if any of the events reaches it" {
	"$WRITE_SESSION" "$segment" <<-END
		info|2400|Some CPU|host||1000000000|0||
		event|CYCLES|clocks|3|100000|0|0
		event|MISSES|misses|3|500|0|65
		image|1|/opt/app|
		image|1|/opt/lib.so|
		thread|7|7|app|0|0|/
		sample|0|0|0|2000|100000|0+16|99
		sample|0|0|0|2000|100000|1+16|1
		sample|0|1|0|2000|500|1+16|10
	END
	xml --threshold 50
	[ "$(grep -c '^<symbol  idref' x.xml)" -eq 2 ]
	xml --threshold 50 event:CYCLES
	[ "$(grep -c '^<symbol  idref' x.xml)" -eq 1 ]
}

@test "options that XML cannot represent are rejected" {
	make_session
	for option in --csv --json '--by image' --accumulated --global-percent '--ratio MISSES/CYCLES' --quality; do
		# shellcheck disable=SC2086
		run -1 opreport --session-dir "$session" --xml $option
		echo "$output"
		[[ $output == *"--xml is incompatible with ${option%% *}"* ]]
	done
	run -0 --separate-stderr opreport --session-dir "$session" --xml --sort image
	[[ $stderr == *'--sort is ignored with --xml'* ]]
}
