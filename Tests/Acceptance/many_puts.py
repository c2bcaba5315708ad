#!/usr/bin/python3
"""A process for each put: the directory stays small, its segments few, and the last puts are as fast as the first.

Over 1,000 names most puts supersede an older one; over as many names as puts none does. Times are printed, not judged.
"""
import os
import random
import statistics
import time

from support import *

random.seed(arguments.seed)


def series(name, puts, names):
    """Runs the puts and checks size and number of segments; returns what to print."""
    path = new_journal()
    must("zone", "create", "data", directory=path)
    order = [random.randrange(names) for _ in range(puts)] if names < puts else random.sample(range(names), puts)
    took, most, latest = [], 0, {}
    command = [SYNCLOG, "-D", path, "put", "data"]
    for number, record in enumerate(order):
        started = time.monotonic()
        done = subprocess.run(command + [f"n{record}", f"text=value {number} of a record", f"number:={number}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        took.append(time.monotonic() - started)
        if not check(done.returncode == 0, f"{name}: put {number} exits {done.returncode}: {done.stderr.decode()}"):
            break
        latest[record] = number
        if number % 500 == 0:
            most = max(most, len(segments(path)))
    found = {line["recordName"]: line["fields"]["number"] for line in lines(must("list", "data", "--json", directory=path))}
    check(found == {f"n{record}": number for record, number in latest.items()}, f"{name}: not the last value of each name")
    check(run("verify", directory=path).returncode == 0, f"{name}: verify is not content")
    size = sum(os.path.getsize(os.path.join(path, file)) for file in os.listdir(path))
    must("compact", directory=path)
    live = total(path)
    # The bound of the acceptance, live data being what a compaction of everything leaves; a live segment may be full.
    bound = 3 * live + 60 * puts + (1 << 20)
    check(size < bound, f"{name}: {size} bytes, where {bound} are allowed; compacted {live}")
    # Of each tier at most three stay, and the live one; a tier is four times the size of the one below.
    tiers = 1 + max(0, (size // (2 << 20)).bit_length()) // 2
    check(most <= 4 * tiers + 2, f"{name}: {most} segments for {size} bytes")
    ratio = statistics.median(took[-100:]) / statistics.median(took[:100])
    print(f"{name}: {puts} puts over {names} names: {size} bytes (bound {bound}, compacted {live}), {len(segments(path))} segments "
          f"after compact, at most {most}; median of the first 100 {statistics.median(took[:100]) * 1000:.1f} ms, of the last "
          f"{statistics.median(took[-100:]) * 1000:.1f} ms (ratio {ratio:.2f}), worst {max(took) * 1000:.0f} ms", flush=True)
    return f"{puts} over {names}: {size} bytes, ratio {ratio:.2f}"


def cold_put(records):
    """The median time of one put by a process of its own on a store of so many records."""
    path = new_journal()
    file = os.path.join(temporary(), "lines")
    with open(file, "w") as out:
        for number in range(records):
            out.write(json.dumps({"name": f"n{number}", "text": "%x" % random.getrandbits(400)}) + "\n")
    must("import", "data", file, "--key", "name", directory=path, timeout=600)
    took = []
    for _ in range(20 if QUICK else 100):
        started = time.monotonic()
        must("put", "data", f"n{random.randrange(records)}", "text=new", directory=path)
        took.append(time.monotonic() - started)
    return f"cold put on {records} records: median {statistics.median(took) * 1000:.1f} ms, worst {max(took) * 1000:.1f} ms"


sizes = [("new names", 200, 200), ("few names", 600, 50)] if QUICK else [
    ("new names", 20_000, 20_000), ("few names", 100_000, 1000)]
told = [series(*size) for size in sizes]
told.append(cold_put(3000 if QUICK else 100_000))
end("; ".join(told))
