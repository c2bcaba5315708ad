#!/usr/bin/python3
"""Two processes save the same record with the same tag: one wins, the other shows the conflict and both versions."""
import subprocess

from support import *

rounds = 10 if QUICK else 100
path = new_journal()
for number in range(rounds):
    name = f"r{number}"
    must("put", "data", name, "text=base", directory=path)
    tag = json.loads(must("get", "data", name, "--json", directory=path))["changeTag"]
    both = [
        subprocess.Popen(
            [SYNCLOG, "-D", path, "put", "data", name, "--if-tag", tag, f"text={who}"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) for who in ("ann", "bob")]
    ended = [(process.communicate(), process.returncode) for process in both]
    codes = [code for _, code in ended]
    check(sorted(codes) == [0, 1], f"{name}: exits {codes}")
    winner = ("ann", "bob")[codes.index(0)] if 0 in codes else None
    found = json.loads(must("get", "data", name, "--json", directory=path))
    check(found["fields"]["text"] == winner, f"{name}: {winner} won but {found['fields']['text']} is there")
    if 1 in codes:
        (out, errors), _ = ended[codes.index(1)]
        told = (out + errors).decode()
        check("ann" in told and "bob" in told and name in told, f"{name}: the conflict does not show both versions: {told}")
end(f"{rounds} pairs: one exit 0, one exit 1 with both versions each")
