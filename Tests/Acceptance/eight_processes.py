#!/usr/bin/python3
"""Eight processes put different names at once, some are killed; whatever returned 0 is there once."""
import random
import subprocess
import time

from support import *

rounds = 10 if QUICK else 200
random.seed(arguments.seed)
path = new_journal()
must("zone", "create", "data", directory=path)
promised, killed, maybe = {}, 0, set()
for number in range(rounds):
    running = []
    for place in range(8):
        name, value = f"r{number}-{place}", f"{random.getrandbits(64):x}"
        process = subprocess.Popen(
            [SYNCLOG, "-D", path, "put", "data", name, f"text={value}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        running.append((name, value, process))
    for name, value, process in running:
        if random.random() < 0.25:
            time.sleep(random.uniform(0, 0.01))
            process.kill()
    for name, value, process in running:
        errors = process.communicate()[1]
        if process.returncode == 0:
            promised[name] = value
        elif process.returncode == -9:
            killed += 1
            maybe.add(name)
        else:
            check(False, f"put {name}: exit {process.returncode}: {errors.decode(errors='replace')}")
must("verify", directory=path)
found = {line["recordName"]: line["fields"]["text"] for line in lines(must("list", "data", "--json", directory=path))}
for name, value in promised.items():
    check(found.get(name) == value, f"{name} was put and is {found.get(name)}")
check(set(found) - set(promised) <= maybe, "records that nobody put")
puts = [line for line in lines(must("dump", "-u", "data", "-o", "json", "--no-pager", directory=path)) if line.get("OP") == "save"]
names = [line["RECORD"] for line in puts]
check(len(names) == len(set(names)), "a put is there twice")
end(f"{rounds} rounds, {len(promised)} puts returned 0 and are there once, {killed} killed")
