#!/usr/bin/python3
"""300 flipped bytes through the commands: told with file and offset, or padding; never a wrong record."""
import os
import random

from support import *

flips = 30 if QUICK else 300
random.seed(arguments.seed)
path = new_journal()
file = os.path.join(temporary(), "lines.ndjson")
for generation in range(8):
    with open(file, "w") as out:
        for number in range(60):
            text = "%x" % random.getrandbits(4 * 180)
            out.write(json.dumps({"name": f"r{number}", "text": text, "generation": generation}) + "\n")
    must("import", "data", file, "--key", "name", directory=path)
must("delete", "data", "r7", directory=path)
good = {line["recordName"]: line for line in lines(must("list", "data", "--json", directory=path))}
told = silent = 0


def flip(file, offset, value):
    with open(file, "r+b") as opened:
        opened.seek(offset)
        opened.write(bytes([value]))


for number in range(flips):
    # In place: HEAD of a copy would prove nothing, and the last commit alone could pass for one never acknowledged.
    victim = random.choice(segments(path))
    with open(victim, "rb") as file:
        data = bytearray(file.read())
    offset = random.randrange(len(data))
    mask = random.choice((0xFF, 1, 0x80, 0x10))
    flip(victim, offset, data[offset] ^ mask)
    what = f"flip {offset} of {os.path.basename(victim)}"
    reported = False
    for command in (["list", "data", "--json"], ["dump", "-o", "json", "--no-pager"], ["get", "data", "r5", "--json"], ["verify"]):
        done = run(*command, directory=path, timeout=20)
        text = done.stderr.decode(errors="replace") + (done.stdout.decode(errors="replace") if command == ["verify"] else "")
        check(done.returncode in (0, 1, 3, 4), f"{what}: {command[0]} exits {done.returncode}: {text}")
        if done.returncode == 4:
            reported = True
            check(os.path.basename(victim) in text, f"{what}: {command[0]} does not name the file: {text}")
        if command[0] == "list":
            for line in lines(done.stdout):
                check(line == good.get(line["recordName"]), f"{what}: a wrong record {line['recordName']}")
            check(done.returncode != 0 or len(done.stdout.splitlines()) == len(good), f"{what}: records missing in silence")
        if command[0] == "verify":
            verified = done.returncode
        if command[0] == "get" and done.returncode == 0:
            check(json.loads(done.stdout) == good["r5"], f"{what}: get gives a wrong record")
    check(not reported or verified == 4, f"{what}: verify says {verified} where another command saw damage")
    flip(victim, offset, data[offset])
    told += verified == 4
    silent += verified == 0
end(f"{flips} flips: {told} told with the file, {silent} in padding, no wrong record")
