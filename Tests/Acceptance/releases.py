#!/usr/bin/python3
"""The ten tz releases as snapshots: the last one is what the lists show, on the authority and on its follower."""
import base64
import os
import subprocess

from support import *

source, copy = new_journal(), os.path.join(temporary(), "copy")
for release in TZ:
    types = ["--type-field", "type", "--types", "tzif:bytes,target:reference@zones,location:location"]
    for zone, kind in (("zones", "Zone"), ("links", "Link")):
        must("import", zone, release, "--key", "name", *types, "--where", f"type={kind}", "--snapshot", directory=source)
    must("replicate", serve(source), directory=copy)

checked = 0
for zone, kind in (("zones", "Zone"), ("links", "Link")):
    listed = must("list", zone, "--json", directory=source)
    check(listed == must("list", zone, "--json", directory=copy), f"{zone}: the follower's list differs")
    wanted = [line for line in lines(open(TZ[-1], "rb").read()) if line["type"] == kind]
    found = {line["recordName"]: line for line in lines(listed)}
    check(sorted(found) == sorted(line["name"] for line in wanted), f"{zone}: names differ")
    check([line["recordName"] for line in lines(listed)] == sorted(found, key=lambda name: name.encode()), f"{zone}: order")
    for line in wanted:
        record = found.get(line["name"], {"fields": {}})
        check(record.get("recordType") == kind, f"{line['name']}: type {record.get('recordType')}")
        fields = dict(record["fields"])
        if isinstance(fields.get("target"), dict):
            check(fields["target"]["zone"] == "zones", f"{line['name']}: reference into {fields['target']}")
            fields["target"] = fields["target"]["recordName"]
        expected = {key: value for key, value in line.items() if key not in ("name", "type")}
        fields.pop("name", None)
        checked += check(fields == expected, f"{line['name']}: {fields} is not {expected}")
deletions = 0
before = {"Zone": set(), "Link": set()}
expected = {"zones": 0, "links": 0}
for release in TZ:
    rows = lines(open(release, "rb").read())
    for zone, kind in (("zones", "Zone"), ("links", "Link")):
        names = {line["name"] for line in rows if line["type"] == kind}
        expected[zone] += len(before[kind] - names)
        before[kind] = names
for zone, count in expected.items():
    dumped = [line for line in lines(must("dump", "-u", zone, "-o", "json", "--no-pager", directory=source))
              if line.get("OP") == "delete" and line.get("RECORD")]
    check(len(dumped) == count, f"{len(dumped)} deletions of {zone} in the dump, not {count}")
    deletions += len(dumped)
check(deletions == 53, f"{deletions} deletions in all, not 53")
for path in (source, copy):
    must("verify", directory=path)
    for segment in segments(path):
        check(subprocess.run(["lz4", "-t", "-q", segment]).returncode == 0, f"lz4 -t {segment}")
reader = os.path.join(ROOT, "Tests", "Reader", "read_journal.py")
for zone in ("zones", "links"):
    read = subprocess.run(["/usr/bin/python3", reader, source, zone], capture_output=True)
    check(read.stdout == must("list", zone, "--json", directory=source), f"{zone}: the Python reader differs {read.stderr}")
end(f"{checked} records as in the last release, {deletions} deletions in the dump ({expected}), lists identical, lz4 and Python agree")
