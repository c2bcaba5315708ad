#!/usr/bin/python3
"""Beside a process that keeps LOCK exclusively others are told its pid at once, exit 75; reading goes on."""
import fcntl
import os
import time

from support import *

path = new_journal()
must("put", "data", "n", "text=x", directory=path)
times = []
with open(os.path.join(path, "LOCK"), "r+b") as lock:
    # As an exclusive holder writes it: the format article names the text, process id and mode.
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write(f"{os.getpid()} exclusive".encode().ljust(31) + b"\n")
    lock.flush()
    for number in range(11):
        started = time.monotonic()
        done = run("put", "data", f"m{number}", "text=y", directory=path)
        times.append(time.monotonic() - started)
        check(done.returncode == 75, f"exit {done.returncode}: {done.stderr.decode()}")
        check(str(os.getpid()) in done.stderr.decode(), f"the pid is not named: {done.stderr.decode()}")
    check(run("get", "data", "n", directory=path).returncode == 0, "reading beside the holder")
middle = sorted(times)[len(times) // 2]
check(middle < 0.1, f"told after {middle * 1000:.0f} ms")
must("put", "data", "after", "text=z", directory=path)
check(len(must("list", "data", "--json", directory=path).splitlines()) == 2, "something was written beside the holder")
end(f"exit 75 with the pid after {middle * 1000:.0f} ms")
