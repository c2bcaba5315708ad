#!/usr/bin/python3
"""A follower over a byte stream, killed with SIGKILL again and again while the source grows."""
import os
import random
import signal
import subprocess
import threading
import time

from support import *

rounds = 20 if QUICK else 200
megabytes = 5 if QUICK else 105
random.seed(arguments.seed)
source, work = new_journal(), temporary()
copy, sent = os.path.join(work, "copy"), os.path.join(work, "sent")
stop = threading.Event()
written = 0


def line(number):
    return json.dumps({"name": f"r{number % 5000}", "n": number, "text": "%x" % random.getrandbits(4 * 2400)})


def keep_writing():
    """Commits batches until told to stop, and until enough is written."""
    global written
    number = 0
    while not (stop.is_set() and total(source) >= megabytes << 20):
        batch = "\n".join(line(number + place) for place in range(60)).encode()
        file = os.path.join(work, "batch.ndjson")
        with open(file, "wb") as out:
            out.write(batch)
        must("import", "data", file, "--key", "name", directory=source)
        number += 60
        written += 1
        # As much as is needed over all rounds, not more.
        while not QUICK and not stop.is_set() and total(source) > (megabytes << 20) * (done + 1.5) / rounds:
            time.sleep(0.005)


done, between, heads, before = 0, 0, [], 0
must("zone", "create", "data", directory=source)
writer = threading.Thread(target=keep_writing)
writer.start()
script = os.path.join(work, "source.sh")
with open(script, "w") as out:
    out.write(f"#!/bin/sh\n'{SYNCLOG}' -D '{source}' serve --stdio | tee -a '{sent}'\n")
os.chmod(script, 0o755)
for done in range(rounds):
    follower = subprocess.Popen(
        [SYNCLOG, "-D", copy, "replicate", f"exec:{script}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True)
    time.sleep(random.uniform(0.005, 0.2))
    try:
        os.killpg(follower.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    follower.wait()
    stats = run("stats", "--json", directory=copy)
    now = json.loads(stats.stdout)["head"] if stats.returncode == 0 else 0
    check(now >= before, f"round {done}: the head went back from {before} to {now}")
    between += before < now < head(source)
    before = now
stop.set()
writer.join()
must("replicate", f"exec:{script}", directory=copy, timeout=600)
for path in (source, copy):
    must("verify", directory=path, timeout=600)
check(must("list", "data", "--json", directory=source) == must("list", "data", "--json", directory=copy), "lists differ")
check(head(source) == head(copy), "heads differ")
limit = total(source) + rounds * (512 << 10)
check(os.path.getsize(sent) <= limit, f"{os.path.getsize(sent)} bytes sent, more than {limit}")
# Twenty rounds on a busy machine say little about how many end between.
check(between >= (rounds // 2 if QUICK else rounds * 3 // 4), f"only {between} of {rounds} rounds ended between")
end(f"{rounds} kills, {between} ended between, {total(source) >> 20} MiB source, {os.path.getsize(sent) >> 20} MiB sent")
