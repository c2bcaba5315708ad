#!/usr/bin/python3
"""Counts syncs with strace: one warm put is one fdatasync and no fsync."""
import os
import re
import subprocess

from support import *

path = new_journal()
for number in range(5):
    must("put", "data", f"warm{number}", "text=x", directory=path)
counts = []
for number in range(10):
    log = os.path.join(temporary(), "trace")
    subprocess.run(
        ["strace", "-f", "-o", log, "-e", "trace=fdatasync,fsync", SYNCLOG, "-D", path, "put", "data", f"n{number}", "text=y"],
        check=True, capture_output=True)
    text = open(log).read()
    counts.append((len(re.findall(r"\bfdatasync\(", text)), len(re.findall(r"\bfsync\(", text))))
check(set(counts) == {(1, 0)}, f"(fdatasync, fsync) of ten warm puts: {counts}")
end(f"ten warm puts: {sorted(set(counts))} (fdatasync, fsync)")
