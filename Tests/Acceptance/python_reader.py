#!/usr/bin/python3
"""The Python reader, written from the format article alone, prints the lines of `list --json`, tags included.

The journal has superseded, deleted and re-created records and zones, a commit over several blocks, a recovered segment,
merged segments and an unfinished tail above HEAD.
"""
import os
import random
import subprocess

from support import *

random.seed(arguments.seed)
path = new_journal()
reader = os.path.join(ROOT, "Tests", "Reader", "read_journal.py")
compared = 0


def file(name):
    return os.path.join(path, name)


def contents(name):
    with open(file(name), "rb") as opened:
        return opened.read()


def put_back(name, data):
    with open(file(name), "r+b") as opened:
        opened.truncate(len(data))
        opened.write(data)


def agree(what):
    """Compares both readers on all zones."""
    global compared
    for zone in ("data", "again", "links"):
        done = subprocess.run(["/usr/bin/python3", reader, path, zone], capture_output=True)
        listed = must("list", zone, "--json", directory=path)
        check(done.returncode == 0, f"{what}, {zone}: the reader exits {done.returncode}: {done.stderr.decode()}")
        if done.stdout != listed:
            # Doubles may be written in another form; everything else is the same text.
            check(lines(done.stdout) == lines(listed), f"{what}, {zone}: the lists differ")
        compared += len(listed.splitlines())
    for segment in segments(path):
        check(subprocess.run(["lz4", "-t", "-q", segment], capture_output=True).returncode == 0 or what == "unfinished tail", f"{what}: lz4 -t {segment}")


for zone in ("again", "links"):
    must("zone", "create", zone, directory=path)
for number in range(30):
    must("put", "data", f"n{number % 11}", f"number:={number}", f"half:={number / 2}", "empty=", directory=path)
must("put", "data", "values", "-", "--types", "b:bytes,d:date,r:reference@links,p:location,l:date[],big:int64,nan:double", directory=path,
     stdin=json.dumps({
         "b": "AP8=", "d": "1969-12-31T23:59:59.999Z", "r": "target", "p": {"latitude": 1.5, "longitude": -2.25}, "nan": "NaN",
         "l": ["2020-02-29T12:00:00.000Z"], "big": str(2 ** 63 - 1), "text": "\u00e9 e\u0301 \U0001F980 \" \\ \n", "w": ["a", "b"]}).encode())
for number in (3, 4, 5):
    must("delete", "data", f"n{number}", directory=path)
must("put", "data", "n4", "made=again", directory=path)
must("put", "again", "old", "x=1", directory=path)
must("zone", "delete", "again", directory=path)
must("zone", "create", "again", directory=path)
must("put", "again", "new", "x=2", directory=path)
agree("superseded, deleted, re-created")

lines_file = os.path.join(temporary(), "lines")
with open(lines_file, "w") as out:
    for number in range(300):
        out.write(json.dumps({"name": f"many{number}", "text": "%x" % random.getrandbits(1600)}) + "\n")
must("import", "data", lines_file, "--key", "name", directory=path)
agree("a commit over several blocks")

# Merged, with one of the replaced files left by a crash; the next compaction would remove it.
for number in range(4):
    with open(lines_file, "w") as out:
        for place in range(400):
            out.write(json.dumps({"name": f"big{place % 200}", "text": "%x" % random.getrandbits(6400)}) + "\n")
    must("import", "links", lines_file, "--key", "name", "--merge", directory=path)
names = {os.path.basename(segment): contents(os.path.basename(segment)) for segment in segments(path)}
must("compact", directory=path)
gone = sorted(set(names) - {os.path.basename(segment) for segment in segments(path)})
if check(len(gone) > 0, "compact replaced no segment"):
    with open(file(gone[-1]), "wb") as out:
        out.write(names[gone[-1]])
    agree("compacted, with a replaced file left")
    os.remove(file(gone[-1]))
agree("compacted")

# HEAD as if the machine had stopped between the sync and HEAD: the next writer copies the commits to a fresh segment.
before, number = contents("HEAD"), len(segments(path))
must("put", "data", "surely-written", "x=1", directory=path)
put_back("HEAD", before)
must("put", "data", "recovers", "x=1", directory=path)
check(len(segments(path)) == number + 1, "no segment was recovered")
agree("a recovered segment")

# A torn block above HEAD; the journal is only read from here.
before, size = contents("HEAD"), os.path.getsize(segments(path)[-1])
must("put", "data", "torn", "text=" + "y" * 5000, directory=path)
put_back("HEAD", before)
last = os.path.basename(segments(path)[-1])
data = contents(last)
put_back(last, data[:max(size, data.rindex(b"\x50\x2a\x4d\x18")) + 90])
agree("unfinished tail")
check(b'"torn"' not in must("list", "data", "--json", directory=path), "the torn record is listed")
end(f"{compared} lines alike in six states of a journal")
