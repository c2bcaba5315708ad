#!/usr/bin/python3
"""Puts and deletes over the same names while compactions are killed -9, with three copies; nothing deleted comes back.

One copy follows after every round, one is away for all of it with a lease, and one begins when all is over. That a lease
outlives the 30 days that deletions are kept, and what happens without one, is tested with a clock of its own in the package's tests.
"""
import os
import random
import signal
import time

from support import *

random.seed(arguments.seed)
kills, names = (6, 200) if QUICK else (500, 10_000)
path, copies = new_journal(), temporary()
file = os.path.join(temporary(), "lines")
wanted, changes, killed, done, largest = {}, 0, 0, 0, 0


def publish(number):
    """Makes the zone a random half of the names, some with new text; returns the number of changes."""
    chosen = random.sample(range(names), names // 2)
    for name in [name for name in wanted if name not in set(chosen)]:
        del wanted[name]
    for name in chosen:
        if name not in wanted or random.random() < 0.3:
            wanted[name] = f"{number}: %x" % random.getrandbits(300)
    with open(file, "w") as out:
        out.writelines(json.dumps({"name": f"n{name}", "text": text}) + "\n" for name, text in wanted.items())
    told = must("import", "data", file, "--key", "name", "--snapshot", "--json", directory=path, timeout=300)
    counts = lines(told)[-1]
    return counts["new"] + counts["changed"] + counts["deleted"]


def expected():
    return {f"n{name}": text for name, text in wanted.items()}


def records(directory):
    return {line["recordName"]: line["fields"]["text"] for line in lines(must("list", "data", "--json", directory=directory))}


def follow(copy):
    return json.loads(must("replicate", path, "--json", directory=os.path.join(copies, copy), timeout=300))


changes += publish(0)
follow("stays")
follow("away")
typical, number = 0.05, 0
while killed < kills:
    number += 1
    changes += publish(number)
    started = time.monotonic()
    process = subprocess.Popen([SYNCLOG, "-D", path, "compact"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # Once in a while it may finish, which also tells how long that takes.
        process.wait(None if number % 20 == 1 else random.uniform(0, typical))
        typical = time.monotonic() - started if number % 20 == 1 else typical
        done += 1
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += 1
    report = follow("stays")
    check(not report["rebuilt"], f"round {number}: the copy that stays was made anew")
    largest = max(largest, total(path))
    if number % 10 == 0 or killed == kills:
        check(records(path) == expected(), f"round {number}: other records than were published")
        check(records(os.path.join(copies, "stays")) == expected(), f"round {number}: the copy has other records")
        check(run("verify", directory=path).returncode == 0, f"round {number}: verify is not content")
report = follow("away")
check(not report["rebuilt"], "the copy with a lease was made anew")
follow("late")
for copy in ("stays", "away", "late"):
    check(records(os.path.join(copies, copy)) == expected(), f"the copy '{copy}' has other records")
    check(run("verify", directory=os.path.join(copies, copy)).returncode == 0, f"verify of '{copy}' is not content")
must("compact", directory=path)
drafts = os.path.join(path, "tmp")
check(not os.path.exists(drafts) or os.listdir(drafts) == [], "drafts are left")
stats = json.loads(must("stats", "--json", directory=path))
check(stats["live"]["entries"] >= len(wanted) and stats["dead"]["entries"] < len(wanted), f"not compacted: {stats}")
check(len(stats["leases"]) == 3 and all(lease["state"] == "live" for lease in stats["leases"]), f"leases: {stats['leases']}")
check(largest < 6 * total(path) + (12 << 20), f"{largest} bytes, compacted {total(path)}")
end(f"{changes} puts and deletes over {names} names; {killed} of {killed + done} compactions killed; at most {largest} bytes, "
    f"compacted {total(path)} with {stats['tombstones']['entries']} deletions kept; three copies equal")
