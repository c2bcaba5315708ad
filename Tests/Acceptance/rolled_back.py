#!/usr/bin/python3
"""`cp -a`, writes to the original, the copy moved back, more writes: a follower that saw the lost ones stops."""
import os
import subprocess

from support import *

path = new_journal()
base = os.path.dirname(path)
copy = os.path.join(temporary(), "follower")


def writes(count, start):
    for number in range(start, start + count):
        must("put", "data", f"n{number}", f"text={number}", directory=path)


def follower_is_untouched(before):
    after = image(copy)
    for name in ("LOCK",):
        before.pop(name, None), after.pop(name, None)
    return before == after


writes(10, 0)
subprocess.run(["cp", "-a", path, path + ".copy"], check=True)
writes(50, 100)
must("replicate", serve(path), directory=copy)
os.rename(path, path + ".original")
os.rename(path + ".copy", path)
writes(200, 300)
before = image(copy)
done = run("replicate", serve(path), directory=copy)
check(done.returncode == 6, f"exit {done.returncode}: {done.stderr.decode()}")
check(b"rolled back" in done.stderr, f"the error does not say rolled back: {done.stderr.decode()}")
check(follower_is_untouched(before), "the follower changed")
direct = run("replicate", path, directory=copy)
check(direct.returncode == 6, f"from the directory: exit {direct.returncode}: {direct.stderr.decode()}")
check(follower_is_untouched(before), "the follower changed")
must("replicate", serve(path), "--rebuild", directory=copy)
check(must("list", "data", "--json", directory=path) == must("list", "data", "--json", directory=copy), "lists after --rebuild")
end("rolled back: exit 6 over a stream and from the directory, nothing changed; --rebuild follows again")
