# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb_bt.py - run by gdb: stops a program at random instructions, and writes what a profiler would
have recorded there and the frames that gdb finds.

  OUT=FOLDER STOPS=N SEED=N gdb -nx -batch -x gdb_bt.py --args PROGRAM...

NAMES: functions at which to stop, instead of the program's functions whose names begin with f_.
ATTACH=PID: a running program, which is stopped at random times with all its threads.

FOLDER/perf.data: a sample for each stop with the registers and the stack, in perf's format.
FOLDER/stacks: one line for each stop: the addresses of gdb's physical frames as perf shows them.
FOLDER/cache: the vdso, at the path that perf would use.
Source of the format: linux, tools/perf/Documentation/perf.data-file-format.txt.
"""
import os
import random
import re
import struct
import time

import gdb

OUT = os.environ["OUT"]
STOPS = int(os.environ["STOPS"])
STEPS_MAX = int(os.environ.get("STEPS", "60"))
STACK_MAX = 60000
FAR_MAX = int(os.environ.get("FAR", "300"))

IP, TID, TIME, CALLCHAIN, REGS_USER, STACK_USER = 1, 2, 4, 1 << 5, 1 << 12, 1 << 13
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | REGS_USER | STACK_USER
EXCLUDE_KERNEL, MMAP, COMM, SAMPLE_ID_ALL, CALLCHAIN_KERNEL, MMAP2 = (
    1 << 5, 1 << 8, 1 << 9, 1 << 18, 1 << 22, 1 << 23)
REGISTERS = ("rax rbx rcx rdx rsi rdi rbp rsp rip eflags cs ss "
             "r8 r9 r10 r11 r12 r13 r14 r15").split()
REGISTERS_MASK = 0xff0fff
FEATURE_BUILD_ID, FEATURE_ARCH = 2, 6
CPU_CLOCK = (1, 0)  # type, config
MISC_USER = 2


class File:
    """A perf.data with one event."""

    def __init__(self):
        self.data = b""
        self.maps = set()
        self.time = 1000
        self.build_ids = b""

    def record(self, kind, body, misc=MISC_USER):
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def trailer(self, pid, tid):
        self.time += 1000
        return struct.pack("<IIQ", pid, tid, self.time)

    def comm(self, pid):
        name = b"program\0"
        self.record(3, struct.pack("<II", pid, pid) + name + self.trailer(pid, pid))

    def mmap(self, pid, start, length, pgoff, major, minor, inode, path):
        name = path.encode() + b"\0"
        name += b"\0" * (-len(name) % 8)
        self.record(10, struct.pack("<IIQQQIIQQII", pid, pid, start, length, pgoff, major,
                                    minor, inode, 0, 5, 2) + name + self.trailer(pid, pid))

    def sample(self, pid, tid, registers, stack):
        self.time += 1000
        stack += b"\0" * (-len(stack) % 8)
        self.record(9, struct.pack("<QIIQQQ", registers["rip"], pid, tid, self.time, 0, 2) +
                    struct.pack("<20Q", *[registers[name] for name in REGISTERS]) +
                    struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack)))

    def build_id(self, pid, raw, name):
        text = name.encode() + b"\0"
        text += b"\0" * (-len(text) % 8)
        self.build_ids += struct.pack("<IHHi", 0, MISC_USER | 1 << 15, 36 + len(text), pid)
        self.build_ids += raw + struct.pack("<BBH", len(raw), 0, 0) + text

    def write(self, path):
        attr = struct.pack("<IIQQQQQ", CPU_CLOCK[0], 128, CPU_CLOCK[1], 1, SAMPLE_TYPE, 0,
                           EXCLUDE_KERNEL | MMAP | COMM | SAMPLE_ID_ALL | CALLCHAIN_KERNEL |
                           MMAP2)
        attr += struct.pack("<IIQQQQIiQIHHIIQ", 0, 0, 0, 0, 0, REGISTERS_MASK, STACK_MAX, 0,
                            0, 0, 127, 0, 0, 0, 0)
        arch = b"x86_64".ljust(64, b"\0")
        features = [(FEATURE_ARCH, struct.pack("<I", len(arch)) + arch)]
        if self.build_ids:
            features.insert(0, (FEATURE_BUILD_ID, self.build_ids))
        begin = 104 + len(attr) + 16
        end = begin + len(self.data)
        bits = sum(1 << bit for bit, _ in features)
        with open(path, "wb") as out:
            out.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(attr) + 16, 104,
                                                len(attr) + 16, begin, len(self.data), 0, 0))
            out.write(struct.pack("<QQQQ", bits, 0, 0, 0))
            out.write(attr + struct.pack("<QQ", 0, 0) + self.data)
            at = end + 16 * len(features)
            for _, payload in features:
                out.write(struct.pack("<QQ", at, len(payload)))
                at += len(payload)
            for _, payload in features:
                out.write(payload)


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="ascii") as lines:
        for line in lines:
            m = re.match(r"(\w+)-(\w+) (\S+) (\w+) (\w+):(\w+) (\d+)\s*(.*)", line)
            yield (int(m[1], 16), int(m[2], 16), m[3], int(m[4], 16), int(m[5], 16),
                   int(m[6], 16), int(m[7]), m[8])


def id_of(image):
    """Finds the build-id note, which is in the first pages."""
    at = image.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return image[at + 16:at + 36] if at >= 0 else None


def keep_vdso(out, pid, image):
    raw = id_of(image)
    if not raw:
        return
    folder = os.path.join(OUT, "cache", "[vdso]", raw.hex())
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vdso"), "wb") as vdso:
        vdso.write(image)
    out.build_id(pid, raw, "[vdso]")


def note_file(out, pid, path):
    try:
        with open(path, "rb") as image:
            raw = id_of(image.read(4096))
    except OSError:
        return
    if raw:
        out.build_id(pid, raw, path)


def write_maps(out, inferior):
    """Writes new executable mappings, and returns the list of all."""
    pid = inferior.pid
    maps = list(mappings(pid))
    for m in maps:
        start, end, mode, pgoff, major, minor, inode, path = m
        if "x" not in mode or m in out.maps or path == "[vsyscall]":
            continue
        out.maps.add(m)
        if path == "[vdso]":
            keep_vdso(out, pid, bytes(inferior.read_memory(start, end - start)))
        else:
            note_file(out, pid, path)
        out.mmap(pid, start, end - start, pgoff, major, minor, inode, path or "//anon")
    return maps


def link_address(pc, maps):
    """Returns the address as perf shows it. (With current linkers, code has the same address and
    file offset.)"""
    for start, end, mode, pgoff, *_ in maps:
        if start <= pc < end and "x" in mode:
            return pc - start + pgoff
    return None


def physical_frames(maps):
    """Returns the frames up to the first that is not in code: in the loader gdb does not find the
    end of the stack."""
    pcs = []
    frame = gdb.newest_frame()
    interrupted = True
    while frame is not None and frame.is_valid():
        kind = frame.type()
        if kind not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pc = link_address(frame.pc() - (0 if interrupted else 1), maps)
            if pc is None:
                break
            pcs.append(pc)
            interrupted = kind == gdb.SIGTRAMP_FRAME
        try:
            frame = frame.older()
        except gdb.error:
            break
    return pcs


def knows_code(maps):
    """True if gdb has the unwind rules of all files of its frames. It does not know a library
    that the loader has just mapped; it stops there, or guesses."""
    program = os.path.realpath(gdb.current_progspace().filename)
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid():
        pc = frame.pc()
        path = next((m[7] for m in maps if m[0] <= pc < m[1] and "x" in m[2]), "")
        if path.startswith("/") and path != program and not gdb.solib_name(pc):
            return False
        try:
            frame = frame.older()
        except gdb.error:
            break
    return True


def move_to_known(places, inferior):
    move(places)
    while not knows_code(list(mappings(inferior.pid))):
        gdb.execute("sharedlibrary", to_string=True)
        if knows_code(list(mappings(inferior.pid))):
            break
        move(places)


def write_stop(out, inferior, thread, stacks):
    maps = write_maps(out, inferior)
    frame = gdb.newest_frame()
    registers = {name: int(frame.read_register(name)) & (1 << 64) - 1 for name in REGISTERS}
    sp = registers["rsp"]
    end = next((m[1] for m in maps if m[0] <= sp < m[1]), sp)
    stack = bytes(inferior.read_memory(sp, min(end - sp, STACK_MAX)))
    out.sample(inferior.pid, thread.ptid[1], registers, stack)
    stacks.write(" ".join(f"{pc:x}" for pc in physical_frames(maps)) + "\n")


def functions():
    """Returns the program's own functions by name, or those in NAMES."""
    if os.environ.get("NAMES"):
        return [f"&{name}" for name in os.environ["NAMES"].split()]
    text = gdb.execute("info functions -n ^f_", to_string=True)
    text += gdb.execute("info functions ^f_", to_string=True)
    return sorted(set(re.findall(r"\b0x[0-9a-f]+\b", text)))


def move(places):
    """Continues to one of the program's functions, then for some instructions."""
    if places and random.random() < 0.7:
        gdb.execute(f"tbreak *{random.choice(places)}", to_string=True)
        gdb.execute("continue", to_string=True)
        gdb.execute(f"stepi {random.randint(1, STEPS_MAX)}", to_string=True)
    else:
        gdb.execute(f"stepi {random.randint(1, FAR_MAX)}", to_string=True)


def step_about(out, inferior, stacks):
    places = []
    for i in range(STOPS):
        # The first stops are in the loader.
        if i == STOPS // 8 and os.environ.get("PLACES", "1") == "1":
            places = functions()
            gdb.execute("tbreak " + (f"*{places[0]}" if os.environ.get("NAMES") else "main"),
                        to_string=True)
            gdb.execute("continue", to_string=True)
            places = functions()
        try:
            move_to_known(places, inferior)
            thread = gdb.selected_thread()
            if thread is None:
                break
            write_stop(out, inferior, thread, stacks)
        except gdb.error as error:
            print("gdb_bt:", error)
            break


def come_and_go(out, pid, stacks):
    """Repeatedly lets the program run for a moment and stops it."""
    stops = 0
    while stops < STOPS:
        gdb.execute(f"attach {pid}", to_string=True)
        inferior = gdb.selected_inferior()
        if not stops:
            out.comm(inferior.pid)
        for thread in inferior.threads():
            thread.switch()
            write_stop(out, inferior, thread, stacks)
            stops += 1
        gdb.execute("detach", to_string=True)
        time.sleep(random.random() / 50)


def main():
    random.seed(int(os.environ["SEED"]))
    for line in ("set pagination off", "set confirm off", "set backtrace past-main on",
                 "set backtrace past-entry on", "set backtrace limit 500",
                 "set debuginfod enabled off", "set print thread-events off",
                 "handle all nostop noprint pass", "handle SIGTRAP stop noprint nopass"):
        gdb.execute(line, to_string=True)
    attach = os.environ.get("ATTACH")
    out = File()
    with open(os.path.join(OUT, "stacks"), "w", encoding="ascii") as stacks:
        if attach:
            come_and_go(out, int(attach), stacks)
        else:
            gdb.execute("starti", to_string=True)
            gdb.execute("set scheduler-locking step", to_string=True)
            inferior = gdb.selected_inferior()
            out.comm(inferior.pid)
            step_about(out, inferior, stacks)
    out.write(os.path.join(OUT, "perf.data"))
    if not attach:
        gdb.execute("kill", to_string=True)


main()
