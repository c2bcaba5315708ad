#!/usr/bin/python3
"""The stream is cut after the commit and before the answer: the client repeats, and the record is stored once."""
import os

from support import *

path, work = new_journal(), temporary()
must("zone", "create", "data", directory=path)
proxy = os.path.join(work, "proxy.py")
with open(proxy, "w") as out:
    out.write(f'''#!/usr/bin/python3
# Relays a session; if the file "cut" is there it is removed, and nothing the server says after its commit is passed on.
import os, subprocess, sys, threading
cut = os.path.exists({work + "/cut"!r})
if cut:
    os.remove({work + "/cut"!r})
def head():
    return open({path + "/HEAD"!r}, "rb").read()
before = head()
server = subprocess.Popen([{SYNCLOG!r}, "-D", {path!r}, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def forward():
    while data := os.read(0, 65536):
        server.stdin.write(data)
        server.stdin.flush()
    server.stdin.close()
threading.Thread(target=forward, daemon=True).start()
while data := os.read(server.stdout.fileno(), 65536):
    if cut and head() != before:
        server.kill()
        open({work + "/was-cut"!r}, "w").close()
        os._exit(1)
    os.write(1, data)
''')
os.chmod(proxy, 0o755)
rounds = 5 if QUICK else 50
cuts = 0
for number in range(rounds):
    open(os.path.join(work, "cut"), "w").close()
    done = run("put", "data", f"r{number}", f"text={number}", directory=f"exec:{proxy}")
    check(done.returncode == 0, f"round {number}: exit {done.returncode}: {done.stderr.decode()}")
    if os.path.exists(os.path.join(work, "was-cut")):
        os.remove(os.path.join(work, "was-cut"))
        cuts += 1
check(cuts == rounds, f"only {cuts} of {rounds} streams were cut after the commit")
saves = [line for line in lines(must("dump", "-u", "data", "-o", "json", "--no-pager", directory=path)) if line.get("OP") == "save"]
names = [line["RECORD"] for line in saves]
check(names == [f"r{number}" for number in range(rounds)], f"{len(names)} saves for {rounds} puts")
must("verify", directory=path)
end(f"{cuts} answers lost after the commit, {len(names)} saves for {rounds} puts")
