# SPDX-License-Identifier: GPL-2.0-or-later
"""exported.py check FORMAT FILE CSV : checks that an exported profile is well formed, and that its
counts of each function equal those of CSV (`opreport --by symbol --csv`, may be "-") and of the
folded stacks.
exported.py callgrind FOLDED FILE... : compares callgrind files with folded stacks.
exported.py stacks FORMAT FILE : prints its stacks, sorted: "N;outermost;...;innermost" as JSON lines.
exported.py totals FORMAT FILE NAME... : prints "NAME SELF INCLUSIVE" of each function; INCLUSIVE is
"-" if the format has no callers.

The readers are independent of the program under test: each follows the format's own description
and checks its requirements."""
import csv
import gzip
import json
import re
import sys
import xml.etree.ElementTree
from collections import Counter


def need(truth, what):
    if not truth:
        sys.exit(f"exported.py: {what}")


# ---- protobuf: github.com/google/pprof, proto/profile.proto ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            need(key & 7 == 2, f"wire type {key & 7}")
            length, at = varint(data, at)
            value = data[at:at + length]
            need(len(value) == length, "a field is cut short")
            at += length
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def pprof(path):
    data = gzip.open(path).read()
    strings = [v.decode() for f, v in fields(data) if f == 6]
    need(strings[0] == "", "the first string is not empty")
    message = lambda number: [dict(fields(v)) for f, v in fields(data) if f == number]
    types = [strings[t[1]] for t in message(1)]
    mappings = {m[1]: m for m in message(3)}
    functions = {f[1]: strings[f[2]] for f in message(5)}
    locations = {}
    for location in message(4):
        need(location.get(2, 0) in mappings or 2 not in location, "no such mapping")
        if 2 in location:
            mapping = mappings[location[2]]
            need(mapping.get(2, 0) <= location.get(3, 0) < mapping[3], "address outside its mapping")
        locations[location[1]] = []
    for f, v in fields(data):
        if f == 4:
            lines = [functions[dict(fields(line))[1]] for n, line in fields(v) if n == 4]
            locations[dict(fields(v))[1]] = lines
    need(0 not in functions and 0 not in locations, "the number 0 is used")
    for f, v in fields(data):
        if f != 2:
            continue
        sample = list(fields(v))
        values = packed(next(v for f, v in sample if f == 2))
        need(len(values) == len(types), "a sample has not a value of each type")
        labels = {strings[l[1]]: strings[l[2]] if 2 in l else l.get(3, 0)
                  for l in (dict(fields(v)) for f, v in sample if f == 3)}
        stack = [name for n in packed(next((v for f, v in sample if f == 1), b""))
                 for name in locations[n]]
        yield (labels["comm"], *reversed(stack)), sum(values[::2])


def speedscope(path):
    """Reads a speedscope file (its file-format-spec.ts)."""
    data = json.load(open(path, encoding="utf-8"))
    need(data["$schema"] == "https://www.speedscope.app/file-format-schema.json", "schema")
    frames = data["shared"]["frames"]
    need(all(isinstance(f["name"], str) for f in frames), "a frame has no name")
    for profile in data["profiles"]:
        need(profile["type"] == "sampled" and profile["unit"] == "none", "type")
        need(len(profile["samples"]) == len(profile["weights"]), "samples and weights differ")
        need(sum(profile["weights"]) == profile["endValue"] - profile["startValue"], "endValue")
        for stack, weight in zip(profile["samples"], profile["weights"]):
            yield tuple(frames[f]["name"] for f in stack), weight


def table(thread, name):
    columns = thread[name]
    for key, values in columns.items():
        need(not isinstance(values, list) or len(values) == columns["length"],
             f"{name}.{key} has not `length` values")
    return columns


def firefox(path):
    """Reads a profile of the Firefox Profiler (its src/types/profile.js, version 47)."""
    data = json.load(open(path, encoding="utf-8"))
    need(data["meta"]["preprocessedProfileVersion"] == 47, "version")
    for thread in data["threads"]:
        need(isinstance(thread["pid"], str) and isinstance(thread["tid"], int), "pid and tid")
        strings = thread["stringArray"]
        stacks, frames = table(thread, "stackTable"), table(thread, "frameTable")
        functions, resources = table(thread, "funcTable"), table(thread, "resourceTable")
        table(thread, "markers")
        table(thread, "nativeSymbols")
        samples = table(thread, "samples")
        need(samples["time"] == sorted(samples["time"]), "times run backwards")
        need(all(c < len(data["meta"]["categories"]) for c in stacks["category"]), "category")
        need(all(0 <= l < len(data["libs"]) for l in resources["lib"]), "lib")
        names = []
        for i in range(stacks["length"]):
            prefix = stacks["prefix"][i]
            need(prefix is None or prefix < i, "a stack in front of its prefix")
            function = frames["func"][stacks["frame"][i]]
            need(functions["resource"][function] < resources["length"], "resource")
            names.append(("" if prefix is None else names[prefix]) and names[prefix]
                         or (thread["processName"],))
            names[i] = names[i] + (strings[functions["name"][function]],)
        for stack, weight in zip(samples["stack"], samples["weight"]):
            yield (thread["processName"],) if stack is None else names[stack], weight


def chrome(path):
    """Reads a Profile of the DevTools protocol."""
    data = json.load(open(path, encoding="utf-8"))
    nodes = {n["id"]: n for n in data["nodes"]}
    need(len(nodes) == len(data["nodes"]), "an id occurs twice")
    parent = {c: n["id"] for n in data["nodes"] for c in n.get("children", ())}
    need(set(parent) | {data["nodes"][0]["id"]} == set(nodes), "nodes without a parent")
    need(len(data["samples"]) == len(data["timeDeltas"]), "samples and timeDeltas differ")
    need(sum(data["timeDeltas"]) == data["endTime"] - data["startTime"], "endTime")
    took = Counter()
    for i, sample in enumerate(data["samples"][:-1]):
        took[sample] += data["timeDeltas"][i + 1]
    unit = data["endTime"] / sum(n["hitCount"] for n in data["nodes"])
    for node in data["nodes"]:
        need(took[node["id"]] == node["hitCount"] * unit, "hitCount and time differ")
        if node["hitCount"]:
            stack, at = [], node["id"]
            while at in parent:
                stack.append(nodes[at]["callFrame"]["functionName"])
                at = parent[at]
            yield tuple(reversed(stack)), node["hitCount"]


def page(path, scripts):
    """flame_page.h describes the page: its data, and the names in each node's stack."""
    text = open(path, encoding="utf-8").read()
    need(text.count("<script") == scripts and text.count("</script>") == scripts, "a script too many")
    need(not re.search(r"""(src|href)\s*=""", text.split("<script>")[0].split("id=data")[0]),
         "the page is not all by itself")
    data = json.loads(re.search("<script type=application/json id=data>(.*?)</script>", text, re.S)[1])
    names = [()]
    for i in range(1, len(data["up"])):
        need(1 <= data["up"][i] <= i, "a node in front of its caller")
        name, image, kind = data["symbols"][data["symbol"][i]]
        need(-1 <= image < len(data["images"]) and 0 <= kind < 4, "symbol")
        names.append(names[i - data["up"][i]] + (name,))
    need(len(data["rows"]) == len(data["who"]), "rows and who differ")
    return data, names


def flamegraph(path):
    """export/flamegraph.c describes the page."""
    data, names = page(path, 2)
    for who, rows in zip(data["who"], data["rows"]):
        node = 0
        for step, event, nr in zip(rows[::3], rows[1::3], rows[2::3]):
            node += step
            need(event < len(data["events"]), "event")
            yield (who[2], *names[node]), nr


def heatmap(path):
    """export/heatmap.c describes the page; it has no commands."""
    data, names = page(path, 3)
    heat = data["heat"]
    need(len(set(map(tuple, data["who"]))) == len(data["who"]), "a cell occurs twice")
    for (column, row), rows in zip(data["who"], data["rows"]):
        need(column < heat["columns"] and row < heat["nr_rows"], "a cell outside")
        node = 0
        for step, event, nr in zip(rows[::3], rows[1::3], rows[2::3]):
            node += step
            need(event < len(data["events"]), "event")
            yield ("", *names[node]), nr


def folded(path):
    for line in open(path, encoding="utf-8", errors="replace", newline="\n"):
        stack, nr = line.rstrip("\n").rsplit(" ", 1)
        yield tuple(stack.split(";")), int(nr)


def callgrind(path):
    """valgrind's manual, "Callgrind Format Specification". Returns self and inclusive costs of
    the first event by function; the inclusive cost of a function is its self cost plus that of
    its calls."""
    names, own, calls, summary = {}, Counter(), Counter(), None
    at, field = {}, re.compile(r"(c?(?:ob|fl|fi|fe|fn))=\((\d+)\)(?: (.*))?$")
    calling = False
    for line in open(path, encoding="utf-8", errors="surrogateescape", newline="\n").read().split("\n"):
        match = field.match(line)
        if match:
            key, number, name = match.groups()
            kind = {"o": "object", "f": "file"}[key.lstrip("c")[0]] if "fn" not in key else "fn"
            need(name is None or (kind, number) not in names, f"{number} is named twice")
            names.setdefault((kind, number), name)
            need(names[kind, number] is not None, f"{number} has no name")
            at[key] = names[kind, number]
        elif line.startswith("calls="):
            calling = True
        elif re.match(r"\d+( \d+)+$", line):
            cost = int(line.split()[1])
            if calling:
                calls[at["fn"]] += cost
            else:
                own[at["fn"]] += cost
            calling = False
        elif line.startswith("summary:"):
            summary = int(line.split()[1])
        else:
            need(not line or line.startswith("#") or
                 re.match("(version|creator|cmd|positions|events):", line), f"odd line: {line}")
    need(summary == sum(own.values()), "the summary is not the sum")
    return own, own + calls


def perf_script(path):
    """tools/perf/Documentation/perf-script.txt: a line for the sample, then its frames, innermost
    first."""
    stack = []
    for line in open(path, encoding="utf-8", errors="replace", newline="\n"):
        line = line.rstrip("\n")
        frame = re.match(r"\s+[0-9a-f]+ (.*) \(.*\)$", line)
        if frame and stack:
            stack.append(re.sub(r"\+0x[0-9a-f]+$", "", frame[1]))
        elif line:
            need(not stack, "a sample without an empty line behind it")
            stack = [re.match(r"\s*(.+?)\s+-?\d+(/-?\d+)? +(\[\d+\] )?\s*[\d.]+: ", line)[1]]
        elif stack:
            yield (stack[0], *reversed(stack[1:])), 1
            stack = []
    need(not stack, "the last sample has no end")


def svg(path):
    """A frame's title is "NAME (N samples, P %)"; its callers are the frames below it."""
    name = "{http://www.w3.org/2000/svg}"
    frames = []
    for group in xml.etree.ElementTree.parse(path).getroot().iter(name + "g"):
        title, box = group.find(name + "title").text, group.find(name + "rect").attrib
        text, nr = re.match(r"(?s)(.*) \(([\d,]+) samples?, [^()]*\)$", title).groups()
        frames.append((float(box["x"]), float(box["width"]), float(box["y"]), text,
                       int(nr.replace(",", ""))))
    for x, width, y, text, nr in frames:
        middle = x + width / 2
        way = sorted((f for f in frames if f[2] >= y and f[0] <= middle < f[0] + f[1]),
                     key=lambda f: -f[2])
        step = min((b - a for a in {f[2] for f in frames} for b in {f[2] for f in frames} if b > a),
                   default=0)
        inner = sum(f[4] for f in frames if abs(f[2] + step - y) < 1e-3 and
                    x - 0.01 <= f[0] and f[0] + f[1] <= x + width + 0.01)
        if nr > inner and len(way) > 1:
            yield tuple(f[3] for f in way[1:]), nr - inner


def gmon(path):
    """Reads the output of gprof -b -p -q, in which seconds are samples. Returns (self,
    inclusive)."""
    own, inclusive, graph = Counter(), Counter(), False
    for line in open(path):
        flat = re.match(r" *[\d.]+ +[\d.]+ +([\d.]+) .*?(\S+)$", line)
        primary = re.match(r"\[\d+\] +[\d.]+ +([\d.]+) +([\d.]+) .*?(\S+) \[\d+\]$", line)
        graph |= line.startswith("index")
        if primary:
            inclusive[primary[3]] = round(float(primary[1]) + float(primary[2]))
        elif flat and not graph:
            own[flat[2]] = round(float(flat[1]))
    return own, inclusive


def afdo(path):
    """llvm/ProfileData/SampleProfReader.h: "NAME:TOTAL:HEAD", then its lines, with their samples.
    Returns (self, None)."""
    own = Counter()
    for line in open(path):
        head = re.match(r"(\S+):(\d+):\d+$", line)
        if head:
            name = head[1]
            need(name not in own, f"{name} occurs twice")
            own[name] = 0
            continue
        body = re.match(r" +[\d.]+: (\d+)( |$)", line)
        need(body, f"odd line: {line}")
        own[name] += int(body[1])
    return own, None


def bolt(path):
    """bolt/Profile/DataReader.h, with samples: "no_lbr EVENT:", "1 NAME OFFSET COUNT". Returns
    (self, None)."""
    own = Counter()
    with open(path) as file:
        need(next(file).startswith("no_lbr "), "no_lbr")
        for line in file:
            kind, name, offset, count = line.split()
            need(kind == "1" and int(offset, 16) >= 0, f"odd line: {line}")
            own[name] += int(count)
    return own, None


READERS = {f.__name__: f for f in (pprof, speedscope, firefox, chrome, flamegraph, heatmap, folded,
                                   perf_script, svg)}
SUMMED = {f.__name__: f for f in (callgrind, gmon, afdo, bolt)}


def read(form, path):
    stacks = Counter()
    for stack, nr in READERS[form](path):
        stacks[stack] += nr
    return stacks


def totals(stacks):
    own, inclusive = Counter(), Counter()
    for stack, nr in stacks.items():
        own[stack[-1]] += nr
        for name in set(stack[1:]):
            inclusive[name] += nr
    return own, inclusive


def as_folded(name):
    """Returns the name as folded stacks write it."""
    return re.sub("[\x00-\x1f\x7f]", "?", name.replace(";", ":"))


def as_csv(name):
    """Returns the name as CSV writes it, which has one line for each row."""
    named = {"\n": "\\n", "\t": "\\t"}
    return re.sub("[\x00-\x1f\x7f]", lambda c: named.get(c[0], "\\x%02x" % ord(c[0])), name)


def check(form, path, reported, beside):
    own, inclusive = totals(read(form, path))
    need(own, "no samples")
    for ours, theirs in zip((own, inclusive), totals(read("folded", beside))):
        folded_names = Counter()
        for name, nr in ours.items():
            folded_names[as_folded(name)] += nr
        need(folded_names == theirs, f"{folded_names - theirs} {theirs - folded_names}")
    if reported != "-":
        with open(reported, newline="", encoding="utf-8", errors="replace") as file:
            rows = {row[0]: int(row[1]) for row in list(csv.reader(file))[1:]}
        for name, nr in own.items():
            row = rows.get(as_csv(name))
            need(name.startswith("[") or row == nr,
                 f"{name[:80]!r}: {nr} here, {row} in the report")
        need(sum(own.values()) == sum(rows.values()), "not all of the samples")


def check_callgrind(beside, *paths):
    """Compares the sum of several applications' files with folded stacks, for functions that do
    not recurse."""
    own, inclusive = Counter(), Counter()
    for path in paths:
        more = callgrind(path)
        own += more[0]
        inclusive += more[1]
    stacks = read("folded", beside)
    theirs = totals(stacks)
    recursive = {n for stack in stacks for n in stack[1:] if stack[1:].count(n) > 1}
    for ours, other in zip((own, inclusive), theirs):
        for name, nr in ours.items():
            need(name in recursive or other[name.replace(";", ":")] == nr,
                 f"{name[:80]}: {nr} here, {other[name]} in the folded stacks")
    need(sum(own.values()) == sum(stacks.values()), "not all of the samples")


def print_totals(form, path, *names):
    own, inclusive = SUMMED[form](path) if form in SUMMED else totals(read(form, path))
    for name in names:
        print(name, own[name], "-" if inclusive is None else inclusive[name])


def main():
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    elif sys.argv[1] == "totals":
        print_totals(*sys.argv[2:])
    elif sys.argv[1] == "callgrind":
        check_callgrind(*sys.argv[2:])
    else:
        for stack, nr in sorted(read(*sys.argv[2:]).items()):
            print(json.dumps([nr, *stack]))


main()
