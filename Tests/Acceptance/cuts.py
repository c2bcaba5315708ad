#!/usr/bin/python3
"""The active segment cut anywhere in its last three commits, and HEAD put back to older versions, through the commands.

With HEAD of the commit before the cut, the next command that opens for writing gives exactly the whole commits before it.
With HEAD left in place the loss is told with both places, and no file changes. With an older HEAD, or none, readers show
a prefix and say that recovery is pending, and after the next open for writing every acknowledged commit is there.
"""
import os
import random
import shutil

from support import *

random.seed(arguments.seed)
path = new_journal()
copies = []  # HEAD as it stood after each put, with the number of its puts
sizes = []
puts = 40
must("zone", "create", "data", directory=path)
for number in range(puts):
    # Most are small; the last but one is larger than a block is meant to be.
    text = "%x" % random.getrandbits(4 * (40_000 if number == puts - 2 else random.choice((20, 60, 90, 200))))
    must("put", "data", f"r{number:03}", f"text={text}", directory=path)
    with open(os.path.join(path, "HEAD"), "rb") as file:
        copies.append(file.read())
    sizes.append(os.path.getsize(segments(path)[-1]))
good = must("list", "data", "--json", directory=path).splitlines()
assert len(good) == puts
active = segments(path)[-1]
with open(active, "rb") as file:
    content = file.read()


def end_of(head):
    """The end of what a copy of HEAD proves: the offset in the slot with the higher counter."""
    slots = [head[place:place + 512] for place in (0, 512) if len(head) >= place + 512]
    slots = [slot for slot in slots if slot[:8] == b"SYNCHEAD"]
    slot = max(slots, key=lambda slot: int.from_bytes(slot[8:16], "little"))
    return int.from_bytes(slot[64:72], "little")


def lay(segment, head):
    """Puts the journal back as it was, with these bytes of the active segment and of HEAD, same files."""
    for name in os.listdir(path):
        full = os.path.join(path, name)
        if name in ("aside", "tmp"):
            shutil.rmtree(full)
        elif name.endswith(".lz4") and full != active:
            os.remove(full)
    with open(active, "wb") as out:
        out.write(segment)
    if head is None:
        if os.path.exists(os.path.join(path, "HEAD")):
            os.remove(os.path.join(path, "HEAD"))
    else:
        with open(os.path.join(path, "HEAD"), "wb") as out:
            out.write(head)


def files():
    found = image(path)
    return {name: found[name][0] for name in found if name != "LOCK"}


def stats():
    return json.loads(must("stats", "--json", directory=path))


assert segments(path) == [active], "the puts are meant to fit one segment"
ends = [end_of(head) for head in copies]
check(ends == sorted(ends) and ends[-1] <= len(content), "HEAD's ends do not rise")
first, last = ends[puts - 4], ends[puts - 1]
everywhere = set(range(first, last + 1))
if QUICK:
    stride = random.sample(sorted(everywhere), 12)
    near = {end + by for end in ends[puts - 4:] for by in (-1, 0, 1)}
    everywhere = {cut for cut in [*stride, *near] if first <= cut <= last}
elif len(everywhere) > 4000:
    # One of the last three is large: every byte of the small ones, and of the large one's beginning and end.
    edge = {end + by for end in ends[puts - 4:] for by in range(-300, 301)}
    everywhere = {cut for cut in everywhere if cut in edge or cut % 31 == 0}
cuts = sorted(everywhere)
for cut in cuts:
    whole = max(place for place in range(puts) if ends[place] <= cut)
    lay(content[:cut], copies[whole])
    done = run("put", "data", "after", "text=x", directory=path)
    check(done.returncode == 0, f"cut at {cut}: put exits {done.returncode}: {done.stderr.decode()}")
    found = must("list", "data", "--json", directory=path).splitlines()
    others = [line for line in found if json.loads(line)["recordName"] != "after"]
    check(others == good[:whole + 1] and len(found) == whole + 2, f"cut at {cut}: {len(others)} of {whole + 1} records")
    check(run("verify", directory=path).returncode == 0, f"cut at {cut}: verify is not content")

    if cut < last:
        lay(content[:cut], copies[-1])
        before = files()
        for words in (["put", "data", "after", "text=x"], ["list", "data"], ["get", "data", "r000"], ["dump", "--no-pager"],
                      ["compact"]):
            if words[0] != "put" and cut % 4:
                continue
            done = run(*words, directory=path)
            text = done.stderr.decode()
            check(done.returncode == 4, f"cut at {cut}, HEAD left: {words[0]} exits {done.returncode}: {text}")
            check(str(last) in text and os.path.basename(active) in text,
                  f"cut at {cut}, HEAD left: {words[0]} does not name the place: {text}")
        check(files() == before, f"cut at {cut}, HEAD left: a file changed")

pending = 0
older = range(0, puts, 7) if QUICK else range(puts)
for place in [*older, None]:
    what = "no HEAD" if place is None else f"HEAD of put {place}"
    lay(content, copies[place] if place is not None else None)
    before = files()
    found = must("list", "data", "--json", directory=path).splitlines()
    told = stats()["recoveryPending"]
    check(found == good[:len(found)], f"{what}: readers show no prefix")
    check(len(found) == puts or told, f"{what}: {puts - len(found)} are missing and nobody says so")
    check(place == puts - 1 or told, f"{what}: recovery is not pending")
    check(place is None or len(found) >= place + 1, f"{what}: less than HEAD proves")
    check(files() == before, f"{what}: a reader changed a file")
    pending += told
    must("put", "data", "after", "text=x", directory=path)
    after = must("list", "data", "--json", directory=path).splitlines()
    check([line for line in after if json.loads(line)["recordName"] != "after"] == good, f"{what}: an acknowledged put is gone")
    check(not stats()["recoveryPending"], f"{what}: still pending after an open for writing")
    check(run("verify", directory=path).returncode == 0, f"{what}: verify is not content")
end(f"{len(cuts)} cuts in the last three commits ({first} to {last}); {len(older) + 1} older or missing HEADs, {pending} told as pending")
