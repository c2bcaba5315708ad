#!/usr/bin/python3
"""A table of bad input: one clear line on standard error with the next step, the right exit code, nothing written."""
import fcntl
import os
import subprocess

from support import *

path, other, served = new_journal(), new_journal(), new_journal()
for number in range(3):
    must("put", "data", f"n{number}", f"text={number}", directory=path)
must("put", "data", "x", "text=1", directory=other)
must("put", "data", "x", "text=1", directory=served)
foreign_cursor = json.loads(must("dump", "-o", "json", "-n", "1", "--no-pager", directory=other))["__CURSOR"]
base = temporary()


def file(name, content, mode=0o644):
    full = os.path.join(base, name)
    with open(full, "wb") as out:
        out.write(content)
    os.chmod(full, mode)
    return full


program = os.path.join(base, "program")
os.mkdir(program)
file("program/notes.txt", b"hello")
broken = file("broken.ndjson", b'{"name":"a"}\n{"name":"b"}\n{"name":\n')
no_key = file("nokey.ndjson", b'{"name":"a"}\n{"other":"b"}\n')
wrong = file("wrong.ndjson", b'{"name":"a","when":"yesterday"}\n')
nonsense = file("nonsense.sh", b"#!/bin/sh\nprintf 'HTTP/1.1 400 Bad Request\\r\\n\\r\\n'\n", 0o755)
silent = file("silent.sh", b"#!/bin/sh\nexit 0\n", 0o755)
half = file("half.py", f"""#!/usr/bin/python3
# Passes 300 bytes of what the server says, and ends.
import os, subprocess
server = subprocess.Popen([{SYNCLOG!r}, "-D", {served!r}, "serve", "--stdio"], stdout=subprocess.PIPE)
left = 300
while left and (data := os.read(server.stdout.fileno(), left)):
    os.write(1, data)
    left -= len(data)
server.kill()
""".encode(), 0o755)
huge = file("huge.sh", b"#!/bin/sh\nprintf '\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377'; sleep 1\n", 0o755)
huge_item = file("huge_item.sh", b"#!/bin/sh\nprintf '\\232\\377\\377\\377\\377\\132\\377\\377\\377\\377'; sleep 1\n", 0o755)
new = os.path.join(base, "new")

table = [
    # what, words, directory, exit codes, words that the error must have (any case)
    ("no directory given", ["zones"], None, [2], ["-D"]),
    ("missing directory", ["zones"], os.path.join(base, "missing"), [3], ["missing", "init"]),
    ("missing directory, put", ["put", "data", "a", "x=1"], os.path.join(base, "missing"), [3], ["init"]),
    ("directory of another program", ["zones"], program, [3], ["program"]),
    ("init in another program's directory", ["init"], program, [3], ["program"]),
    ("init where a journal is", ["init"], path, [3], ["already"]),
    ("unknown command", ["frobnicate"], path, [2], ["frobnicate", "help"]),
    ("unknown option", ["zones", "--frobnicate"], path, [2], ["frobnicate"]),
    ("missing argument", ["get", "data"], path, [2], ["get"]),
    ("unknown zone", ["list", "nowhere", "--json"], path, [1], ["nowhere"]),
    ("unknown zone, put without making", ["put", "nowhere", "a", "x=1", "--no-create"], path, [1], ["nowhere"]),
    ("unknown record", ["get", "data", "nobody"], path, [1], ["nobody"]),
    ("delete of an unknown record", ["delete", "data", "nobody"], path, [1], ["nobody"]),
    ("over-long name", ["put", "data", "n" * 256, "x=1"], path, [2], ["255"]),
    ("empty name", ["put", "data", "", "x=1"], path, [2], ["name"]),
    ("reserved name", ["put", "data", "_mine", "x=1"], path, [2], ["_"]),
    ("bad field name", ["put", "data", "a", "1x=1"], path, [2], ["1x"]),
    ("field without value", ["put", "data", "a", "justaword"], path, [2], ["justaword"]),
    ("malformed JSON in a field", ["put", "data", "a", "x:={"], path, [2], ["x"]),
    ("stale tag", ["put", "data", "n0", "--if-tag", "1-0-00000000", "x=1"], path, [1], ["n0"]),
    ("malformed tag", ["put", "data", "n0", "--if-tag", "nonsense", "x=1"], path, [2], ["tag"]),
    ("malformed JSON at line 3", ["import", "data", broken, "--key", "name"], path, [2], ["3"]),
    ("line without key", ["import", "data", no_key, "--key", "name"], path, [2], ["2", "name"]),
    ("wrong type", ["import", "data", wrong, "--key", "name", "--types", "when:date"], path, [2], ["1", "when"]),
    ("unknown type", ["import", "data", wrong, "--key", "name", "--types", "when:colour"], path, [2], ["colour"]),
    ("reserved type", ["import", "data", wrong, "--key", "name", "--types", "when:asset"], path, [2], ["asset"]),
    ("missing file", ["import", "data", os.path.join(base, "nofile"), "--key", "name"], path, [3], ["nofile"]),
    ("malformed cursor", ["dump", "--after-cursor", "nonsense", "--no-pager"], path, [2], ["cursor"]),
    ("cursor of another journal", ["dump", "--after-cursor", foreign_cursor, "--no-pager"], path, [3], ["journal"]),
    ("unknown output form", ["dump", "-o", "xml", "--no-pager"], path, [2], ["xml", "export"]),
    ("bad number", ["dump", "-n", "x", "--no-pager"], path, [2], ["x"]),
    ("source is a missing directory", ["replicate", os.path.join(base, "missing")], new, [3], ["missing"]),
    ("source that speaks nonsense", ["replicate", f"exec:{nonsense}"], new, [5], []),
    ("source that says nothing", ["replicate", f"exec:{silent}"], new, [5], []),
    ("source that stops inside a message", ["replicate", f"exec:{half}"], new, [5], []),
    ("source that announces more than 4 GB", ["replicate", f"exec:{huge}"], new, [5], []),
    ("source that announces a huge item", ["replicate", f"exec:{huge_item}"], new, [5], []),
    ("source that cannot be run", ["replicate", "exec:/nonexistent/program"], new, [5], []),
    ("unknown kind of source", ["replicate", "gopher://x/y"], new, [2, 3], ["gopher"]),
]
rows = 0
for what, words, directory, codes, needed in table:
    before = [image(place) for place in (path, other, program)]
    done = run(*words, directory=directory, timeout=100, environment={"SYNCLOG_DIR": ""})
    text = done.stderr.decode(errors="replace")
    good = check(done.returncode in codes, f"{what}: exit {done.returncode}, not {codes}: {text}")
    good &= check(text.strip() != "", f"{what}: nothing on standard error")
    good &= check(len(text.strip().splitlines()) <= 3, f"{what}: more than a line or two: {text}")
    for word in needed:
        good &= check(word.lower() in text.lower(), f"{what}: the error does not say {word!r}: {text}")
    after = [image(place) for place in (path, other, program)]
    for place in before + after:
        place.pop("LOCK", None)
    good &= check(before == after, f"{what}: something was written")
    good &= check(not os.path.exists(os.path.join(base, "missing")), f"{what}: the directory was made")
    rows += good
    if os.path.isdir(new):
        check(segments(new) == [] or total(new) <= 2 * 4096, f"{what}: the new copy holds data")
        subprocess.run(["rm", "-rf", new], check=True)

# A second writer holding LOCK.
with open(os.path.join(path, "LOCK"), "r+b") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    before = image(path)
    done = run("put", "data", "blocked", "x=1", "--lock-timeout", "0.2", directory=path)
    check(done.returncode == 75, f"a held lock: exit {done.returncode}: {done.stderr.decode()}")
    check(b"busy" in done.stderr.lower(), f"a held lock: {done.stderr.decode()}")
    check(run("get", "data", "n0", directory=path).returncode == 0, "reading beside a held lock")
    after = image(path)
    check(before == after, "a held lock: something was written")
rows += 1

# A read-only directory; root may write everywhere, so the check of the error needs another user.
reader = os.path.join(base, "readonly")
subprocess.run(["cp", "-a", path, reader], check=True)
for folder, names, files in os.walk(reader):
    for name in files:
        os.chmod(os.path.join(folder, name), 0o444)
    os.chmod(folder, 0o555)
os.chmod(base, 0o755)
check(run("list", "data", "--json", directory=reader).returncode == 0, "a read-only directory can be listed")
check(run("verify", directory=reader).returncode == 0, "a read-only directory can be verified")
if os.getuid() == 0 and os.access(SYNCLOG, os.X_OK):
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", SYNCLOG, "-D", reader, "put", "data", "a", "x=1"],
        capture_output=True)
else:
    done = run("put", "data", "a", "x=1", directory=reader)
check(done.returncode == 3 and b"read" in done.stderr, f"a read-only directory: exit {done.returncode}: {done.stderr.decode()}")
subprocess.run(["chmod", "-R", "u+w", reader])
rows += 1
end(f"{rows} of {len(table) + 2} rows as they should be")
