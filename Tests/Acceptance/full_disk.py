#!/usr/bin/python3
"""Compaction on a file system that is nearly full: it completes, or stops with a clear error and changes nothing.

A loop-mounted ext4 of 64 MB with about 1 % free, and less and less of it. Skipped with its reason where mounting is not
allowed. Afterwards, with room again, the same compaction completes.
"""
import os
import random

from support import *

random.seed(arguments.seed)
work = temporary()
disk, mount = os.path.join(work, "disk"), os.path.join(work, "mount")
os.mkdir(mount)
with open(disk, "wb") as out:
    out.truncate(64 << 20)


def mounted():
    """Makes and mounts the file system; the reason why not, or nothing."""
    for command in (["mkfs.ext4", "-q", "-m", "0", disk], ["mount", "-o", "loop", disk, mount]):
        try:
            done = subprocess.run(command, capture_output=True)
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
        if done.returncode != 0:
            return f"{command[0]}: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}"
    return None


reason = mounted()
if reason:
    end(f"skipped: mounting is not allowed here ({reason})")
atexit.register(subprocess.run, ["umount", "-l", mount])
path, ballast = os.path.join(mount, "journal"), os.path.join(mount, "ballast")
must("init", directory=path)


def fill(generation, names):
    """Puts random text under the names, a third of them superseding older ones."""
    file = os.path.join(work, "lines")
    with open(file, "w") as out:
        for number in names:
            out.write(json.dumps({"name": f"r{number}", "generation": generation,
                                  "text": "%x" % random.getrandbits(4 * 2000)}) + "\n")
    must("import", "data", file, "--key", "name", directory=path)


def free():
    """The bytes that are left."""
    state = os.statvfs(mount)
    return state.f_bavail * state.f_frsize


def leave(size):
    """Fills the file system up to so many bytes, in small pieces at the end."""
    if os.path.exists(ballast):
        os.remove(ballast)
    with open(ballast, "wb", buffering=0) as out:
        while (more := free() - size) > 0:
            try:
                out.write(b"x" * min(more, 1 << 20))
            except OSError:
                break
        os.fsync(out.fileno())


def content():
    return must("list", "data", "--json", directory=path), sorted(os.path.basename(segment) for segment in segments(path))


for generation in range(3):
    fill(generation, range(generation * 300, generation * 300 + 700))
size = total(path)
done_with, stopped, said = [], [], set()
rooms = [650_000, 200_000, 60_000, 20_000, 4096, 0, size // 2, size * 2]
for room in rooms:
    fill(room, random.sample(range(1300), 100))
    leave(room)
    records, names = content()
    done = run("compact", directory=path)
    text = done.stderr.decode()
    after, names_after = content()
    check(after == records, f"{room} bytes free: other records after compact")
    check(run("verify", directory=path).returncode == 0, f"{room} bytes free: verify is not content")
    left = os.listdir(os.path.join(path, "tmp")) if os.path.exists(os.path.join(path, "tmp")) else []
    check(left == [], f"{room} bytes free: drafts are left: {left}")
    if done.returncode == 0:
        done_with.append(room)
    else:
        stopped.append(room)
        check(done.returncode == 3, f"{room} bytes free: exit {done.returncode}: {text}")
        check(len(text.strip().splitlines()) <= 2 and "space" in text.lower(), f"{room} bytes free: not clear: {text}")
        check(names_after[:len(names) - 1] == names[:len(names) - 1], f"{room} bytes free: sealed segments changed")
        said.add(text.strip().splitlines()[0].rsplit("': ", 1)[-1])
    os.remove(ballast)
    # With room it goes on as if nothing had been.
    must("put", "data", "later", f"text={room}", directory=path)
check(size * 2 in done_with, "with room for all it does not complete")
check(stopped, "the disk was never too full")
must("compact", directory=path)
check(len(segments(path)) == 2, f"{len(segments(path))} segments after the last compact")

# With no byte left half of the records is deleted one by one, and compacting makes the room that puts need again.
path = os.path.join(mount, "other")
must("init", directory=path)
names = [f"r{number}" for number in range(4000)]
for start in range(0, len(names), 50):
    file = os.path.join(work, "lines")
    with open(file, "w") as out:
        for name in names[start:start + 50]:
            out.write(json.dumps({"name": name, "text": "%x" % random.getrandbits(4 * 2000)}) + "\n")
    must("import", "data", file, "--key", "name", directory=path)
leave(0)
check(run("put", "data", "more", "text=" + "x" * 90_000, directory=path).returncode == 3, "there is room on the full disk")
compactions = 0
for name in random.sample(names, 2000):
    if run("delete", "data", name, directory=path).returncode == 0:
        continue
    compactions += 1
    done = run("compact", directory=path)
    check(done.returncode == 0, f"with no byte left compact fails: {done.stderr.decode()}")
    done = run("delete", "data", name, directory=path)
    check(done.returncode == 0, f"after a compaction delete fails: {done.stderr.decode()}")
must("compact", directory=path)
for number in range(20):
    must("put", "data", f"new{number}", "text=room", directory=path)
check(len(must("list", "data", "--json", directory=path).splitlines()) == 2020, "other records than those that were not deleted")
check(run("verify", directory=path).returncode == 0, "verify is not content after the full disk")
end(f"{size} bytes on 64 MB: completed with {done_with} bytes free, stopped with {stopped} ({'; '.join(sorted(said))}); nothing changed; "
    f"with no byte left 2000 deletions and {compactions + 1} compactions")
