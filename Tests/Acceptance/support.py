"""What the acceptance scripts share: running synclog, temporary directories, and checks that are counted.

Each script takes the path of the built `synclog` and perhaps `--quick` for fewer rounds; its last line says what it
found, and it exits 1 if a check failed.
"""
import argparse
import atexit
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("synclog")
parser.add_argument("--quick", action="store_true")
parser.add_argument("--seed", type=int, default=20)
arguments = parser.parse_args()
SYNCLOG = os.path.abspath(arguments.synclog)
QUICK = arguments.quick
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TZ = sorted(glob.glob(os.path.join(ROOT, "Fixtures", "tz", "*.ndjson")))
failures = []


def temporary():
    """A directory that is removed at the end."""
    path = tempfile.mkdtemp(prefix="synclog-")
    atexit.register(shutil.rmtree, path, True)
    return path


def run(*words, directory=None, stdin=None, timeout=120, environment=None):
    """Runs synclog and returns the finished process, its output as bytes."""
    command = [SYNCLOG] + (["-D", directory] if directory else []) + list(words)
    return subprocess.run(
        command, input=stdin, capture_output=True, timeout=timeout, env={**os.environ, **(environment or {})})


def must(*words, **options):
    """Runs synclog; ends the script if it does not exit 0. Returns its standard output."""
    done = run(*words, **options)
    if done.returncode != 0:
        sys.exit(f"synclog {' '.join(words)}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def new_journal():
    """The path of a fresh journal."""
    path = os.path.join(temporary(), "journal")
    must("init", directory=path)
    return path


def lines(output):
    """Standard output as parsed JSON lines."""
    return [json.loads(line) for line in output.splitlines()]


def check(good, what):
    """Counts a failed check and says what failed."""
    if not good:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)
    return good


def image(path):
    """All files below a path with their bytes and times of change."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            full = os.path.join(folder, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, path)] = (file.read(), os.stat(full).st_mtime_ns)
    return found


def segments(path):
    """The segment files of a journal in order."""
    return sorted(glob.glob(os.path.join(path, "*.lz4")))


def total(path):
    """The bytes of a journal's segment files."""
    return sum(os.path.getsize(segment) for segment in segments(path))


def head(path):
    """The number of the last commit by `stats --json`."""
    return json.loads(must("stats", "--json", directory=path))["head"]


def serve(path):
    """A source that runs `serve --stdio` on a journal."""
    return f"exec:{SYNCLOG} -D {path} serve --stdio"


def end(summary):
    """Prints the summary and ends."""
    print(summary if not failures else f"{len(failures)} checks failed; {summary}")
    sys.exit(1 if failures else 0)
