#!/usr/bin/python3
"""Names and values of every kind survive put, export, import, dump, and replicate."""
import base64
import os

from support import *

KEYS = ["recordName", "recordType", "fields", "types"]
path, again, dumped, copy = new_journal(), new_journal(), new_journal(), os.path.join(temporary(), "copy")
names = ["\u00e9", "e\u0301", "\u212b", "\u00c5", "A\u030a", "\U0001F468\u200d\U0001F469\u200d\U0001F467", "\u2764", "\u2764\ufe0f",
         "n" * 255, "\u00e9" * 127, " ", "a b", "a/b", "..", "-", "quote\"'", "tab\tname", "a\nb"]
values = [
    ({"v": ""}, None), ({"v": "x" * 900_000}, None), ({"v": "line\nline\ttab\u0000nul"}, None), ({"v": "\u00e9 e\u0301 \U0001F980"}, None),
    ({"v": base64.b64encode(b"a\0b\xff\xfe").decode()}, "v:bytes"), ({"v": ""}, "v:bytes"),
    ({"v": 2 ** 53}, None), ({"v": str(2 ** 63 - 1)}, "v:int64"), ({"v": str(-2 ** 63)}, "v:int64"), ({"v": 0}, None), ({"v": -1}, None),
    ({"v": "NaN"}, "v:double"), ({"v": "inf"}, "v:double"), ({"v": "-inf"}, "v:double"), ({"v": 5}, "v:double"), ({"v": 0.1}, None),
    ({"v": 5e-324}, None), ({"v": 1.7976931348623157e308}, None), ({"v": -0.0}, "v:double"),
    ({"v": "1969-07-20T20:17:40.123Z"}, "v:date"), ({"v": "0001-01-01T00:00:00.000Z"}, "v:date"), ({"v": "9999-12-31T23:59:59.999Z"}, "v:date"),
    ({"v": {"latitude": -89.5, "longitude": 179.25}}, "v:location"),
    ({"v": {"latitude": 1.5, "longitude": 2.5, "altitude": 3.25, "timestamp": "2020-01-01T00:00:00.000Z"}}, "v:location"),
    ({"v": "other"}, "v:reference"), ({"v": "far"}, "v:reference@links"),
    ({"v": []}, "v:string[]"), ({"v": ["a", ""]}, None), ({"v": [1, 2]}, None), ({"v": [1.5, 2.5]}, None), ({"v": [1, 2]}, "v:double[]"),
    ({"v": ["YQA=", ""]}, "v:bytes[]"), ({"v": ["2020-01-01T00:00:00.000Z"]}, "v:date[]"), ({"v": ["a", "b"]}, "v:reference[]"),
    ({"v": ["a", "b"]}, "v:reference@links[]"),
    ({"v": [{"latitude": 1.5, "longitude": 2.5}]}, "v:location[]"), ({"v": []}, "v:bytes[]"),
]
put = 0
for name in names:
    must("put", "data", name, "-", directory=path, stdin=json.dumps({"v": name}).encode())
    put += 1
for number, (fields, types) in enumerate(values):
    command = ["put", "data", f"value{number:02}", "-"] + (["--types", types] if types else [])
    done = run(*command, directory=path, stdin=json.dumps(fields).encode())
    put += check(done.returncode == 0, f"put {types} {str(fields)[:60]}: {done.stderr.decode()}")

listed = lines(must("list", "data", "--json", directory=path))
check(len(listed) == put, f"{put} put, {len(listed)} listed")
found = {line["recordName"]: line for line in listed}
for name in names:
    check(found.get(name, {}).get("fields") == {"v": name}, f"name {name!r}")
for number, (fields, types) in enumerate(values):
    line = found.get(f"value{number:02}", {})
    if types and "@" in types:
        # Names in another zone are listed with their zone.
        zone = types.split("@")[1].removesuffix("[]")
        far = [{"zone": zone, "recordName": name} for name in (fields["v"] if isinstance(fields["v"], list) else [fields["v"]])]
        fields = {"v": far if isinstance(fields["v"], list) else far[0]}
    check(json.dumps(line.get("fields", {}).get("v")) == json.dumps(fields["v"]) or line.get("fields") == fields,
          f"value {types} {str(fields)[:60]} became {str(line)[:200]}")

stream = must("export", directory=path)
exported = os.path.join(temporary(), "export.ndjson")
open(exported, "wb").write(stream)
must("import", "data", exported, directory=again)
journal = os.path.join(temporary(), "journal.export")
open(journal, "wb").write(must("dump", "-o", "export", "--no-pager", directory=path))
must("import", "data", journal, "--format", "export", directory=dumped)
must("replicate", path, directory=copy)


def bare(where):
    return [{key: line.get(key) for key in KEYS} for line in lines(must("list", "data", "--json", directory=where))]


check(bare(again) == bare(path), "export and import lose something")
check(bare(dumped) == bare(path), "dump -o export and import lose something")
check(must("list", "data", "--json", directory=copy) == must("list", "data", "--json", directory=path), "the follower's list differs")
end(f"{put} records: {len(names)} names, {len(values)} values, unchanged by export, dump and replicate")
