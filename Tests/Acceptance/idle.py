#!/usr/bin/python3
"""`replicate --follow` and `dump -f`: quick when something happens, quiet when nothing does."""
import os
import subprocess
import threading
import time

from support import *

idle = 5 if QUICK else 60
commits = 200 if QUICK else 1000
path = new_journal()
copy, out = os.path.join(temporary(), "copy"), os.path.join(temporary(), "dump")
must("put", "data", "first", "text=x", directory=path)
with open(out, "wb") as file:
    dump = subprocess.Popen([SYNCLOG, "-D", path, "dump", "-f", "-n", "0", "-o", "json", "--no-pager"], stdout=file)
follower = subprocess.Popen([SYNCLOG, "-D", copy, "replicate", path, "--follow"], stdout=subprocess.DEVNULL)


def wait_for(condition, seconds):
    """Whether a condition comes true in time, and when."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        if condition():
            return time.monotonic() - started
        time.sleep(0.005)
    return None


def copied(name):
    return run("get", "data", name, directory=copy).returncode == 0


def cpu(process):
    """The seconds of processor time of a process so far, to a nanosecond where the kernel tells."""
    with open(f"/proc/{process.pid}/schedstat") as file:
        main = int(file.read().split()[0])
    for task in os.listdir(f"/proc/{process.pid}/task"):
        if int(task) != process.pid:
            with open(f"/proc/{process.pid}/task/{task}/schedstat") as file:
                main += int(file.read().split()[0])
    return main / 1e9


def written(process):
    with open(f"/proc/{process.pid}/io") as file:
        return dict(line.split(": ") for line in file.read().splitlines())["wchar"]


check(wait_for(lambda: copied("first"), 5) is not None, "the follower did not start")
worst = 0.0
for number in range(5):
    must("put", "data", f"late{number}", "text=y", directory=path)
    for what, condition in (
        ("dump", lambda: f"late{number}".encode() in open(out, "rb").read()), ("follower", lambda: copied(f"late{number}"))):
        took = wait_for(condition, 1)
        check(took is not None, f"the change did not appear in the {what} within a second")
        worst = max(worst, took or 1)
time.sleep(1)
before = image(copy)
used, wrote = [cpu(dump), cpu(follower)], [written(dump), written(follower)]
time.sleep(idle)
spent = [round((cpu(process) - first) * 1000, 1) for process, first in zip((dump, follower), used)]
check(max(spent) < 50 * idle / 60, f"{spent} ms of processor time in {idle} idle seconds")
check(wrote == [written(dump), written(follower)], "bytes were written while idle")
check(image(copy) == before, "files changed while idle")

size = os.path.getsize(out)
file = os.path.join(temporary(), "lines")
for number in range(commits):
    with open(file, "w") as lines_out:
        lines_out.write(json.dumps({"name": f"c{number}", "text": "%0600d" % number}) + "\n")
    must("import", "data", file, "--key", "name", directory=path)
check(wait_for(lambda: f'"c{commits - 1}"'.encode() in open(out, "rb").read(), 10) is not None, "the dump did not get to the end")
with open(out, "rb") as dumped:
    dumped.seek(size)
    names = [line["RECORD"] for line in lines(dumped.read()) if line.get("OP") == "save"]
check(names == [f"c{number}" for number in range(commits)], f"{len(names)} of {commits} commits, or out of order")
check(wait_for(lambda: copied(f"c{commits - 1}"), 10) is not None, "the follower did not get to the end")
for process in (dump, follower):
    process.terminate()
    process.wait(10)
end(f"appears within {worst * 1000:.0f} ms; {idle} s idle cost {spent} ms (dump, follower); {commits} commits once each in order")
