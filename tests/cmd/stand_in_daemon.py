# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake oprofiled, for tests that need replies that the real one does not give on request.

stand_in_daemon.py RUN_DIR LOG [VERB=REPLY]... [key:NAME=MODE:VALUE]...: in REPLY, | is the end of
a line.  Writes each request as a line to LOG.  Exits after `shutdown`.  Replies ok to a verb
without a reply; takes half a second for the verb of SLOW=VERB, and logs when it begins and ends.
Keys can be listed, read and written; values that are not numbers are refused.
"""
import fcntl, os, socket, struct, sys, threading, time

run_dir, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
words = dict(word.split("=", 1) for word in sys.argv[3:])
keys = {k[4:]: v.split(":", 1) for k, v in words.items() if k.startswith("key:")}
replies = {k: v for k, v in words.items() if not k.startswith("key:")}
slow = replies.pop("SLOW", None)
os.makedirs(run_dir, exist_ok=True)
lock = open(run_dir + "/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print(os.getpid(), file=lock, flush=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(run_dir + "/control")
os.chmod(run_dir + "/control", 0o666)
listener.listen(16)


def of_keys(verb, args):
    if verb == "list":
        return "".join(f"{name} {mode}|" for name, (mode, _) in keys.items()) + "ok"
    if verb == "get":
        return f"{args[0]} {keys[args[0]][1]}|ok" if args[0] in keys else "error ENOENT no key"
    if verb == "set":
        if not args[1].isdigit():
            keys["last_error"][1] = f"{args[0]}: {args[1]} is no number"
            return "error EINVAL " + keys["last_error"][1]
        keys[args[0]][1] = args[1]
    if verb == "cookie":
        return f"path /bin/a%20b|build_id 0abc|ok" if args[0] == "7" else "error ENOENT no cookie"
    return "ok"


def serve(peer):
    for line in peer.makefile():
        verb, *args = line.split()
        log.write(line)
        if verb == slow:
            log.write("begin\n")
            time.sleep(0.5)
            log.write("end\n")
        reply = replies.get(verb) or of_keys(verb, args)
        peer.sendall(reply.replace("|", "\n").encode() + b"\n")
        if verb == "stream":
            peer.sendall(struct.pack("4Q", 2**64 - 1, 2, 1, 0x401000))
            time.sleep(60)
        if verb == "shutdown":
            os.unlink(run_dir + "/control")
            lock.truncate(0)
            os._exit(0)


log.write("listening\n")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
