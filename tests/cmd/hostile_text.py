#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_text.py DIR - checks every text output of every command, for a session with hostile names.

Any user can choose the names of commands, binaries, functions, source files, source lines,
events, control groups and hosts.  None of them may reach a terminal as a control sequence, start
a new line, or break the output format.  OPROFILE_LINKS, OPROFILE and WRITE_SESSION are as in
tests/cmd/meson.build.  Prints each violation; exit status 1 if there is one."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom

PROFILER = os.environ["OPROFILE"]
MARK = b"Qz"  # follows each line end in a name: no line of output may start with it
LONG = b"L" * 4096

HOSTILE = {
    "escape": b"e\x1b[31mred\x1b]0;title\x07",
    "line": b"a\n" + MARK + b" 999 100.000 forged",
    "return": b"c\r" + MARK + b"over",
    "tab": b"t\tab",
    "c1": b"raw\x9b31m\x85" + MARK,
    "c1utf8": b"u\xc2\x9b31m\xc2\x85" + MARK,
    "invalid": b"i\xff\xfe\xc3(\xe2\x82",
    "overlong": b"o\xc0\x9b\xe0\x80\x9b\xf4\x90\x80\x80\xed\xa0\x80",
    "bidi": "b\u202egnp.exe\u2066x\u2028".encode() + MARK,
    "delete": b"d\x7f\x08\x08back",
    "markup": b"<b onload=\"x\">&amp;'</script>]]>--><!--",
    "formula": b"=cmd|' /C calc'!A0",
    "parts": b"s;semi:colon, \"comma\" fn=(1) x\\ny|bar",
    "other": b"\x01\x02\x0b\x0c\x1f$(touch x)`y`",
    "noncharacter": "n\uffff\ufffe\U0001f600".encode(),
    "long": LONG,
}

failures = []


def fail(words, what, text=b""):
    failures.append((words, what))
    print(" ".join(shown(w)[:60] for w in words[1:]), "::", what, shown(text))


def shown(word):
    return ascii(os.fsencode(word))[2:-1][:200]


def place_of(text, match):
    return text[max(0, match.start() - 50):match.end() + 40]


def check_bytes(words, text, control=rb"[\x00-\x08\x0b-\x1f\x7f]"):
    found = re.search(control, text)
    if found:
        fail(words, "control character", place_of(text, found))
    found = re.search(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]", text)
    if found:
        fail(words, "C1 or bidi character", place_of(text, found))
    found = re.search(rb"(?m)^" + MARK, text)
    if found:
        fail(words, "a name begins a line", place_of(text, found))
    try:
        text.decode()
    except UnicodeDecodeError as e:
        fail(words, "invalid UTF-8", text[max(0, e.start - 50):e.end + 40])


def check_json(words, text):
    try:
        json.loads(text)
    except ValueError as e:
        fail(words, f"JSON: {e}", text)


def check_xml(words, text):
    try:
        xml.dom.minidom.parseString(text)
    except Exception as e:
        fail(words, f"XML: {e}", text)


def check_csv(words, text):
    """Checks that all rows have the same number of fields. RFC 4180 ends lines with CR LF."""
    rows = [r for r in csv.reader(io.StringIO(text.decode(errors="replace"), newline=""),
                                  strict=True)]
    if len({len(r) for r in rows}) > 1:
        fail(words, "CSV: rows of %s fields" % sorted({len(r) for r in rows}))
    if not rows:
        fail(words, "CSV: empty")


def check_folded(words, text):
    for line in text.splitlines():
        if not re.fullmatch(rb"[^ ;]+(;[^;]*)* [0-9]+", line):
            fail(words, "not a folded stack", line)


def check_html(words, text):
    """Checks that names add no tag or script."""
    for bad in (b"<b onload", b"</script>]]>"):
        if bad in text:
            fail(words, "markup", text[text.index(bad) - 80:][:200])


def run(words, check=None, statuses=(0, 1), crlf=False, **kwargs):
    done = subprocess.run(words, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
                          **kwargs)
    if done.returncode not in statuses:
        fail(words, f"status {done.returncode}", done.stderr)
    if os.environ.get("HOSTILE_TRACE"):
        print(done.returncode, len(done.stdout), " ".join(shown(w)[:60] for w in words[1:]),
              shown(done.stderr), file=sys.stderr)
    check_bytes(words, done.stderr)
    text = done.stdout
    check_bytes(words, text.replace(b"\r\n", b"\n") if crlf else text)
    if check and done.returncode == 0:
        check(words, text)
    return done


def run_to_file(words, path, check=None):
    """Like run(), and also checks the output file that `words` name."""
    done = run(words)
    if done.returncode == 0:
        text = open(path, "rb").read()
        check_bytes(words, text)
        if check:
            check(words, text)


# ---- checks of the output ----

def escaped(name):
    return "".join("\\x%02x" % c for c in name)


def file_name(name):
    """Returns the name as a valid file name."""
    return name.replace(b"/", b"_")[:200]


def make_binary(dir):
    """Makes a library with a function for each name, compiled from a source file whose name,
    directory and lines are hostile. Placeholders of the same length are replaced in the linked
    file."""
    names = list(HOSTILE.values())
    holders = [(b"H%03d_" % i).ljust(max(len(n), 5), b"x") for i, n in enumerate(names)]
    names = [n.ljust(len(h), b"_") for n, h in zip(names, holders)]
    source = file_name(b"\xc2\x9b".join(names[:-1]))[:150] + b".c"
    source_holder = b"SRC".ljust(len(source) - 2, b"y") + b".c"
    folder = file_name(HOSTILE["escape"] + b"\n" + MARK + b"\xff")
    folder_holder = b"DIR".ljust(len(folder), b"z")
    os.mkdir(dir + b"/" + folder_holder)
    with open(dir + b"/" + folder_holder + b"/" + source_holder, "wb") as f:
        for n, h in zip(names, holders):
            comment = n.replace(b"\n", b" ").replace(b"*/", b"* ")
            f.write(b"/* %s */\n__attribute__((noinline)) int\n%s(int x)\n{\n" % (comment, h) +
                    b"\treturn x * 3; /* %s */\n}\n" % comment[:100])
    binary = dir + b"/" + file_name(HOSTILE["escape"] + b"\n" + MARK + HOSTILE["c1"]) + b".so"
    subprocess.run(["gcc", "-g", "-O0", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id",
                    "-Wno-bidi-chars", "-o", binary, folder_holder + b"/" + source_holder], cwd=dir, check=True)
    data = open(binary, "rb").read()
    tables = subprocess.run(["nm", "-S", binary], capture_output=True, check=True).stdout
    functions = sorted((int(a, 16), int(s, 16)) for a, s in
                       re.findall(rb"^(\w+) (\w+) T H\d+_", tables, re.M))
    notes = subprocess.run(["readelf", "-n", binary], capture_output=True, check=True).stdout
    for holder, name in [*zip(holders, names), (source_holder, source), (folder_holder, folder)]:
        data = data.replace(holder, name)
    open(binary, "wb").write(data)
    os.rename(dir + b"/" + folder_holder + b"/" + source_holder,
              dir + b"/" + folder_holder + b"/" + source)
    os.rename(dir + b"/" + folder_holder, dir + b"/" + folder)
    return binary, re.search(rb"Build ID: (\w+)", notes)[1].decode(), functions


def describe(dir):
    """Returns the input of write_session."""
    binary, build_id, functions = make_binary(dir)
    names = [escaped(n) for n in HOSTILE.values()]
    host = escaped(HOSTILE["escape"] + HOSTILE["line"])
    yield "escapes"
    yield f"info|2400|{host}|{host}|{escaped(b'/' + HOSTILE['escape'])}|1000|0|{host}|"
    yield f"event|{names[0]}{names[1]}|{names[1]}|3|100000|0|1|{names[0]}"
    yield f"image|1|{escaped(binary)}|{build_id}"
    for name in names:
        yield f"image|1|{escaped(b'/nowhere/')}{name}|"
    yield f"image|3|{names[0]}{names[1]}|"
    yield f"image|6|{names[0]}||4242|0x7f0000000000|0x7f0000010fff"
    for i, name in enumerate(names):
        yield f"thread|{10 + i}|{10 + i}|{name}|{1 + i}|0|/{name}"
    time = 2000
    for i in range(len(names)):
        address, size = functions[i]
        # A call from one function to another, and to code of a missing binary.
        caller = functions[i - 1][0]
        for frames in (f"0+{address};0+{caller + 4}", f"{1 + i}+0x10;0+{address + 5}",
                       f"{len(names) + 1}+0x20;0+{address}", f"{len(names) + 2}+0x30"):
            time += 1000000
            yield f"sample|{i}|0|0|{time}|1|{frames}|3"


def make_session(dir):
    session = dir + b"/" + file_name(b"session" + HOSTILE["escape"] + b"\n" + MARK)
    os.makedirs(session + b"/samples/current")
    subprocess.run([os.environ["WRITE_SESSION"], session + b"/samples/current/segment-000001"],
                   input="\n".join(describe(dir)).encode() + b"\n", check=True)
    return session


# ---- the commands ----

KEYS = ("event", "comm", "pid", "tid", "cpu", "image", "app", "symbol", "origin", "address",
        "cgroup", "session", "host", "line", "file", "inline", "function-line", "stack")


def command(name, *words):
    return [PROFILER, name, *words]


def check_reports(session):
    at = ("--session-dir", session)
    views = [(), ("-l",), ("-d",), ("-l", "-a", "-w"), ("-l", "-f"), ("-g", "-l"), ("-c",),
             ("--tree",), ("--inline", "--tree"), ("--quality",), ("--verbose=all",), ("-V", "all"),
             ("-c", "--inline"), ("-l", "-r"), ("--comms", "x"), ("-t", "0.1"),
             ("--tree", "--children"), ("--separate-thread",), ("--by", "comm,stack"),
             ("--by", "image,symbol,line,comm")]
    views += [("--by", key) for key in KEYS]
    for view in views:
        run(command("report", *at, *view))
        run(command("report", *at, "--csv", *view), check_csv, crlf=True)
        run(command("report", *at, "--json", *view), check_json)
        run(command("report", *at, "--xml", *view), check_xml)
        done = subprocess.run(command("report", *at, "--color=always", *view),
                              capture_output=True, timeout=60)
        check_bytes([*view, "--color=always"],
                    re.sub(rb"\x1b\[(1|31|32|)m", b"", done.stdout))
    for kind in ("comm", "image", "symbol", "event", "session", "archive", "cgroup", "host", "app"):
        for name in HOSTILE.values():
            run(command("report", *at, kind + ":" + os.fsdecode(name)))
    for name in HOSTILE.values():
        run(command("report", "--session-dir", b"/nowhere/" + name))
        run(command("report", *at, "--by", name))
        run(command("report", *at, name))
        run(command("report", b"--x" + name))
        run(command("report", *at, "--sort", name))
        # A name with a slash is a program to record: 127 if it does not exist.
        run([PROFILER, name], statuses=(1, 127))
    for word in ("session:current", b"cgroup:/" + HOSTILE["line"]):
        run(command("report", *at, word))


def check_pages(words, dir, checks):
    run(words, statuses=(0,))
    found = False
    for folder, _, files in os.walk(dir):
        for file in files:
            text = open(os.path.join(folder, file), "rb").read()
            check_bytes([*words, file], text)
            check_bytes([*words, "name of", file], os.path.join(folder, file)[len(dir):])
            if checks:
                checks([*words, file], text)
            found = True
    if not found:
        fail(words, "wrote nothing")


def check_annotations(session, dir):
    at = ("--session-dir", session)
    for view in (("-s",), ("-a",), ("-s", "-a"), ("-s", "--inline-sites"),
                 ("-a", "--objdump-params=-M intel"), ("-s", "-a", "--objdump-params=-l"),
                 ("-s", "--top=20"), ("-s", "--hottest"), ("-s", "--context=2"),
                 ("-s", "--verbose=all"), ("-a", "--verbose=all")):
        run(command("annotate", *at, *view))
        run(command("annotate", *at, *view, "--color=never"))
    run(command("annotate", *at, "--json"), check_json)
    check_pages(command("annotate", *at, "-s", "-o", dir + b"/tree"), dir + b"/tree", None)
    check_pages(command("annotate", *at, "--html", dir + b"/pages"), dir + b"/pages", check_html)


def check_exports(session, dir):
    at = ("--session-dir", session)
    out = dir + b"/exported"
    for words, check in ((("perf-script",), None), (("folded",), check_folded),
                         (("speedscope",), check_json),
                         (("firefox",), check_json), (("flamegraph",), check_html),
                         (("flamegraph", "--svg"), check_xml), (("heatmap",), check_html),
                         (("heatmap", "--rows=thread"), check_html), (("chrome",), check_json),
                         (("folded", "--inline"), check_folded), (("pprof",), None),
                         (("afdo",), None), (("bolt",), None), (("gmon",), None)):
        binary = words[0] in ("pprof", "gmon")
        done = run(command("export", *words, *at, "-o", out))
        if os.path.exists(out):
            if not binary:
                text = open(out, "rb").read()
                check_bytes([*words], text)
                if check:
                    check(words, text)
            os.unlink(out)
        elif done.returncode == 0:
            fail(words, "wrote nothing")
        if not binary:
            run(command("export", *words, *at))
    run(command("export", "callgrind", "--verbose", *at, "-o", out))
    check_callgrind_files(out)


def check_callgrind(words, text):
    line = rb"(\+?-?(0x[0-9a-f]+|[0-9*]+)( [0-9]+)*|[a-z0-9]+=.*|[a-z]+: ?.*|#.*|)"
    for l in text.splitlines():
        if not re.fullmatch(line, l):
            fail(words, "callgrind line", l)


def check_callgrind_files(prefix):
    folder, name = os.path.split(prefix)
    files = [f for f in os.listdir(folder) if f.startswith(name + b".")]
    if not files:
        fail(["", "callgrind", prefix], "wrote nothing")
    for file in files:
        text = open(os.path.join(folder, file), "rb").read()
        check_bytes(["", file], text)
        check_callgrind(["", file], text)
        os.unlink(os.path.join(folder, file))


def check_op2calltree(dir):
    """op2calltree reads text, which need not come from opreport."""
    text = b"CPU: c\nCounted %s events (x) with a unit mask of 0x00 (y) count 1\n" \
        b"vma      samples  %%        linenr info                 image name               " \
        b"app name                 symbol name\n" % HOSTILE["escape"]
    for name in HOSTILE.values():
        name = name.replace(b"\n", b"\x0b").replace(b" ", b"_")
        text += b"00401000 308  61.6000  /src/%s.c:6 /bin/%s /bin/%s %s\n" % ((name,) * 4)
        text += b"  00401004 300  97.4026  /src/%s.c:7\n" % name
    done = subprocess.run(command("op2calltree", "--output-prefix", dir + b"/oprof.out"),
                          input=text, capture_output=True)
    check_bytes(["op2calltree"], done.stdout + done.stderr)
    check_callgrind_files(dir + b"/oprof.out")


def check_files(session, dir):
    """Runs commands that read or write files with such names."""
    at = ("--session-dir", session)
    current = session + b"/samples/current"
    data = dir + b"/perf" + HOSTILE["line"].replace(b"/", b"") + HOSTILE["escape"] + b".data"
    run(command("dump", *at))
    for words in ((), ("--json",)):
        for path in (current, current + b"/segment-000001", b"/nowhere/" + HOSTILE["c1"]):
            run(command("info", *words, path), check_json if words else None)
    run(command("script", *at))
    run(command("script", current))
    run(command("script", "--show-mmap-events", "--show-task-events", current))
    fields = "comm,tid,pid,time,cpu,event,ip,sym,dso,symoff,srcline,period,iregs,addr"
    for field in fields.split(","):
        run(command("script", "-F", field, current))
    for image in ("*", *HOSTILE.values()):
        run(command("where", *at, image))
    run(command("buildid-list", current))
    run(command("buildid-list", "--with-hits", current))
    run(command("buildid-cache", "--missing", current))
    run(command("gprof", *at, "-o", dir + b"/gmon"))
    check_op2calltree(dir)
    run(command("export", "perf-data", *at, "-o", data))
    if not os.path.exists(data):
        fail(["export perf-data"], "wrote nothing")
    for words in (("report",), ("report", "-l"), ("script",), ("info",), ("info", "--json"),
                  ("buildid-list", "-i"), ("dump",)):
        run(command(*words, data))
    os.mkdir(dir + b"/imported")
    run(command("import", data, "--session-dir", dir + b"/imported", "--verbose"))
    for name in HOSTILE.values():
        run(command("import", b"/nowhere/" + name, "--session-dir", dir + b"/imported"))
        run(command("addr2line", "-e", b"/nowhere/" + name, "0x10"))
        run(command("archive", *at, "-o", dir + b"/nowhere/" + name))
        run(command("cache", "--build", b"/nowhere/" + name))
        run(command("buildid-cache", "--add", b"/nowhere/" + name))
        run(command("events", name), statuses=(0, 1, 2))
        run(command("check", name), statuses=range(256))
        run(command("count", "-e", name, "true"), statuses=range(256))
        run(command("record", "-e", name, "true"), statuses=range(256))
        run(command("record", b"/nowhere/" + name), statuses=range(256))
        run(command("export", name, *at), statuses=range(256))
        program = dir + b"/" + file_name(name)
        if not os.path.exists(program):
            os.symlink("/bin/true", program)
        run(command("count", "-e", "task-clock", program), statuses=range(256))
        run(command("record", "--session-dir", dir + b"/imported", program),
            statuses=range(256))
    run(command("report", "-l", "--session-dir", dir + b"/imported"))
    run(command("events", "--event-list-verbose"), statuses=(0, 1))


def check_binary(session, dir):
    binary = [os.path.join(dir, f) for f in os.listdir(dir) if f.endswith(b".so")][0]
    for words in (("-f",), ("-f", "-i", "-p"), ("-f", "-C"), ("-s",), ("-a", "-f", "-v")):
        run(command("addr2line", "-e", binary, *words, "0x%x" % 0x1010, *(
            hex(a) for a in range(0x1000, 0x1200, 8))))
    run(command("cache", "--build", binary))
    run(command("cache", "--list"))
    run(command("buildid-cache", "--add", binary, "--buildid-dir", dir + b"/ids"))
    run(command("buildid-cache", "--list", "--buildid-dir", dir + b"/ids"))
    run(command("buildid-list", binary))
    run(command("where", "--session-dir", session, binary))
    out = dir + b"/a" + HOSTILE["line"] + b".tar"
    run(command("archive", "--session-dir", session, "-o", out))
    run(command("archive", "--session-dir", session, "--list-files"))
    run(command("archive", "--verify", out))
    run(command("cache", "--purge", binary))


def main():
    dir = os.fsencode(sys.argv[1]) + b"/" + file_name(b"dir" + HOSTILE["escape"])
    shutil.rmtree(dir, ignore_errors=True)
    os.makedirs(dir)
    os.environ.update(XDG_CACHE_HOME=os.fsdecode(dir + b"/cache"), HOME=os.fsdecode(dir),
                      TERM="xterm", DEBUGINFOD_URLS="", OPROFILE_PAGER="")
    session = make_session(dir)
    parts = {"reports": lambda: check_reports(session),
             "annotations": lambda: check_annotations(session, dir),
             "exports": lambda: check_exports(session, dir),
             "files": lambda: check_files(session, dir),
             "binary": lambda: check_binary(session, dir)}
    for part in sys.argv[2:] or parts:
        parts[part]()
    print(len(failures), "violations")
    sys.exit(1 if failures else 0)


main()
