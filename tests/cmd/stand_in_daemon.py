"""Stands for oprofiled where a test wants answers that a real one does not give at will.

stand_in_daemon.py RUN_DIR LOG [VERB=REPLY]...: REPLY has | for the end of a line.  Every request
is a line of LOG.  Ends after `shutdown`.  A verb without a reply is answered by ok; SLOW=VERB
takes half a second for it, and notes in LOG when it begins and ends.
"""
import fcntl, os, socket, sys, threading, time

run_dir, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
replies = dict(word.split("=", 1) for word in sys.argv[3:])
slow = replies.pop("SLOW", None)
os.makedirs(run_dir, exist_ok=True)
lock = open(run_dir + "/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print(os.getpid(), file=lock, flush=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(run_dir + "/control")
os.chmod(run_dir + "/control", 0o666)
listener.listen(16)


def serve(peer):
    for line in peer.makefile():
        verb = line.split()[0]
        log.write(line)
        if verb == slow:
            log.write("begin\n")
            time.sleep(0.5)
            log.write("end\n")
        reply = replies.get(verb, "ok").replace("|", "\n") + "\n"
        peer.sendall(reply.encode())
        if verb == "shutdown":
            os.unlink(run_dir + "/control")
            lock.truncate(0)
            os._exit(0)


log.write("listening\n")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
