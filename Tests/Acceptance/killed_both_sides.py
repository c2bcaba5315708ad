#!/usr/bin/python3
"""Client and server are killed -9 around a commit; a new client sends the same bytes to a new server.

The answer must be the first outcome, item by item, and everything is stored once, whenever the kill came: before the
commit, between the commits of two zones, before the answer was read, or after it. The client speaks the wire protocol as
the article *Wire format* tells it, with cbor2 alone.
"""
import os
import random
import signal
import struct
import time

import cbor2

from support import *

random.seed(arguments.seed)
rounds = {"unread": 5, "read": 3, "any": 12} if QUICK else {"unread": 40, "read": 20, "any": 100}
path = new_journal()
must("zone", "create", "data", directory=path)
must("zone", "create", "more", directory=path)
must("put", "data", "shared", "text=1", directory=path)
count = sum(rounds.values())
doomed = os.path.join(temporary(), "doomed")
with open(doomed, "w") as out:
    out.writelines(json.dumps({"name": f"d{number}"}) + "\n" for number in range(count))
must("import", "data", doomed, "--key", "name", directory=path)


class Client:
    """One side of the protocol; started together with its server."""

    def __init__(self):
        self.server = subprocess.Popen(
            [SYNCLOG, "-D", path, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.send([0, "synclog", 1, 0, None, None, None, None, None])
        self.hello = self.receive()

    def send(self, item):
        data = cbor2.dumps(item)
        self.server.stdin.write(struct.pack("<I", len(data)) + data)

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.server.stdout.read(size - len(data))
            if not more:
                raise EOFError("the server ended")
            data += more
        return data

    def receive(self):
        return cbor2.loads(self.read(struct.unpack("<I", self.read(4))[0]))

    def ask(self, request):
        """Sends the bytes of a request and returns its answer without the part that says who answers."""
        self.send([5, 1, request])
        kind, _, answer = self.receive()[:3]
        check(kind == 6, f"no answer but message {kind}: {answer}")
        return cbor2.loads(answer)[1:] if kind == 6 else None

    def end(self):
        self.server.kill()
        self.server.wait()
        self.server.stdin.close()
        self.server.stdout.close()


def request(number, owner, tags):
    """Saves in two zones, one with a stale tag that is refused, and a deletion; not atomic."""
    def record(zone, name):
        return [[owner, zone], name]
    saves = [
        [record("data", f"n{number}"), "Item", None, [["number", number], ["text", f"first {number}"]]],
        [record("data", "shared"), "Item", None, [["text", "never"]]],
        [record("more", f"m{number}"), "Item", None, [["text", f"more {number}"]]]]
    deletions = [[record("data", f"d{number}"), tags[f"d{number}"]]]
    operation = [random.getrandbits(64), random.getrandbits(64)]
    return cbor2.dumps([[None, owner, None, None, operation], 1, saves, deletions, 0, False])


def tags():
    """The change tags of all live records, by name."""
    return {line["recordName"]: line["changeTag"] for zone in ("data", "more")
            for line in lines(must("list", zone, "--json", directory=path))}


def head_bytes():
    with open(os.path.join(path, "HEAD"), "rb") as file:
        return file.read()


def first_attempt(kind, data, typical):
    """Sends a request from a process of its own and kills both sides; returns the answer if it was read."""
    told, tell = os.pipe()
    go, let_go = os.pipe()
    client = os.fork()
    if client == 0:
        try:
            side = Client()
            os.write(tell, struct.pack("<I", side.server.pid))
            os.read(go, 1)
            os.write(tell, cbor2.dumps(side.ask(data)))
            signal.pause()
        except EOFError:
            signal.pause()  # The server was killed first.
        finally:
            os._exit(1)
    os.close(tell)
    os.close(go)
    server = struct.unpack("<I", os.read(told, 4))[0]
    before = head_bytes()
    os.write(let_go, b"x")
    started = time.monotonic()
    answer = None
    if kind == "unread":
        while head_bytes() == before and time.monotonic() < started + 10:
            pass
    elif kind == "read":
        answer = cbor2.loads(os.read(told, 65536))
    else:
        time.sleep(random.uniform(0, 1.5 * typical))
    took = time.monotonic() - started
    for process in random.sample((server, client), 2):
        os.kill(process, signal.SIGKILL)
    os.waitpid(client, 0)
    while os.path.exists(f"/proc/{server}") and "Z" not in open(f"/proc/{server}/stat").read().split()[2]:
        time.sleep(0.001)
    os.close(told)
    os.close(let_go)
    return answer, took


before = tags()
with_owner = Client()
owner = with_owner.hello[8]
with_owner.end()
seen = {"nothing": 0, "one zone": 0, "all": 0}
typical = 0.02
expected = {}
kinds = [kind for kind, times in rounds.items() for _ in range(times)]
random.shuffle(kinds)
kinds.sort(key=lambda kind: kind == "any")
for number, kind in enumerate(kinds):
    what = f"round {number} ({kind})"
    data = request(number, owner, before)
    answer, took = first_attempt(kind, data, typical)
    if kind == "read":
        typical = took
    stored = tags()
    done = (f"n{number}" in stored) + (f"m{number}" in stored)
    seen[("nothing", "one zone", "all")[done]] += 1
    check(kind != "read" or done == 2, f"{what}: an answer was read, but not all is stored")
    check((f"n{number}" in stored) == (f"d{number}" not in stored), f"{what}: half a commit")
    expected[f"n{number}"] = expected[f"m{number}"] = 1
    changed = f"n{number}" in stored and random.random() < 0.5
    if changed:
        must("put", "data", f"n{number}", "text=later", directory=path)
        expected[f"n{number}"] += 1
    for repeat in range(2):
        client = Client()
        again = client.ask(data)
        client.end()
        kind_of_answer, saves, deletions = again[:3]
        check(kind_of_answer == 1 and len(saves) == 3 and len(deletions) == 1, f"{what}: another answer: {again}")
        if answer is not None:
            check([[item[0], item[1][0] if len(item) > 1 else None] for item in saves]
                  == [[item[0], item[1][0] if len(item) > 1 else None] for item in answer[1]]
                  and deletions == answer[2], f"{what}: first {answer}, then {again}")
        now = tags()
        for place, name in ((0, f"n{number}"), (2, f"m{number}")):
            tag = saves[place][0][0] if saves[place][0] else saves[place]
            wanted = stored.get(name) or now.get(name)
            check(tag == wanted, f"{what}: {name} answered with {tag}, stored as {wanted}")
        check(saves[1][0] is None and saves[1][1][0] == "serverRecordChanged", f"{what}: not refused: {saves[1]}")
        check(deletions == [None], f"{what}: the deletion failed: {deletions}")
        check(f"d{number}" not in now, f"{what}: not deleted")
        # The second repeat compares with the first one's complete outcome.
        answer, stored = again, {**now, **stored}
    if changed:
        text = json.loads(must("get", "data", f"n{number}", "--json", directory=path))["fields"]["text"]
        check(text == "later", f"{what}: the repeat undid a later change")
saves, deletes = {}, {}
for line in lines(must("dump", "-o", "json", "--no-pager", directory=path)):
    if line.get("OP") in ("save", "delete"):
        table = saves if line["OP"] == "save" else deletes
        table[line["RECORD"]] = table.get(line["RECORD"], 0) + 1
check({name: saves.get(name) for name in expected} == expected, "something was stored twice or never")
check(deletes == {f"d{number}": 1 for number in range(count)}, "something was deleted twice or never")
check(saves["shared"] == 1, "the refused save was stored")
check(QUICK or min(seen.values()) > 0, f"not all kinds of moments were met: {seen}")
must("verify", directory=path)
end(f"{count} requests with both sides killed: stored before the repeat {seen}; each stored once, first outcome twice")
