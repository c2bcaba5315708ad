#!/usr/bin/python3
"""Prints a zone's live records as `synclog list` does, by the format article alone: read_journal.py DIRECTORY ZONE"""
import base64, datetime, functools, io, json, math, pathlib, re, sys
import cbor2, lz4.frame
PLACE = "latitude longitude altitude horizontalAccuracy verticalAccuracy course speed timestamp".split()
ELEMENT = {1: "date", 2: "location", 3: "reference", 5: "string", 6: "int64", 7: "double", 8: "bytes"}
TABLE = list(range(256))
for _ in range(8):
    TABLE = [number >> 1 ^ (0x82F63B78 if number & 1 else 0) for number in TABLE]

def crc(data):
    return functools.reduce(lambda value, byte: value >> 8 ^ TABLE[(value ^ byte) & 0xFF], data, 0xFFFFFFFF) ^ 0xFFFFFFFF

def at(data, place, size=8):
    return int.from_bytes(data[place:place + size], "little")

def acknowledged(directory):
    """The last commit that HEAD proves durable; 0 without a HEAD of this directory."""
    data = (directory / "HEAD").read_bytes()
    good = [slot for slot in (data[:512], data[512:1024]) if slot[:8] == b"SYNCHEAD" and crc(slot[:508]) == at(slot, 508, 4)]
    slot = max(good, key=lambda slot: at(slot, 8), default=bytes(512))
    return at(slot, 72) if at(slot, 96) == directory.stat().st_ino else 0

def blocks(data):
    """Each whole block of a segment: syncedThrough and its items."""
    offset = 4096
    while 0x184D2A50 <= at(data, offset, 4) <= 0x184D2A5F:
        header = data[offset:offset + 64]
        offset += 8 + at(header, 4, 4)
        if header[0] != 0x50:
            continue
        frame, seed = data[offset:offset + at(header, 8, 4)], data[3960:3968] + (offset - 64).to_bytes(8, "little")
        if at(header, 60, 4) != crc(seed + header[:60]) or at(header, 40, 4) != crc(frame):
            return
        payload, items = io.BytesIO(lz4.frame.decompress(frame)), []
        while payload.tell() < at(header, 12, 4):
            items.append(cbor2.load(payload))
        yield at(header, 44), items
        offset += len(frame)

def commits(directory):
    """The number and entries of each acknowledged commit, in order."""
    bound, found, covered = acknowledged(directory), {}, 0
    segments = [path for path in directory.iterdir() if re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{4,8}\.lz4", path.name)]
    for path in sorted(segments, key=lambda path: (path.name[:16], int(path.stem[17:], 16))):
        data, parts = path.read_bytes(), {}
        if int(path.name[:16], 16) <= covered >= at(data, 3936):
            continue
        covered = max(covered, at(data, 3936))
        found = {number: entries for number, entries in found.items() if number <= at(data, 3912)}
        for synced, items in blocks(data):
            bound = max(bound, synced)
            for item in items:
                if item[0] == 0:
                    entries = parts.setdefault(item[1], [])
                    if item[5] & 1 == 0:
                        found[item[1]] = entries
                else:
                    entries.append(item)
    if max([*found, at(data, 3912)]) < bound:
        sys.exit(f"commit {bound} was acknowledged, but is not here")
    return sorted((number, entries) for number, entries in found.items() if number <= bound)

def date(time):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=time)).isoformat(timespec="milliseconds") + "Z"

def plain(value):
    """A value as JSON, the name of its kind, and whether JSON alone gives it back."""
    if isinstance(value, str):
        return value, "string", True
    if isinstance(value, (int, float)):
        alone = math.isfinite(value) if isinstance(value, float) else abs(value) <= 2 ** 53
        return value if alone else str(value).replace("nan", "NaN"), "double" if isinstance(value, float) else "int64", alone
    if isinstance(value, bytes):
        return base64.b64encode(value).decode(), "bytes", False
    kind, first, *rest = value
    if kind == 1:
        return date(first), "date", False
    if kind == 2:
        return {key: date(first[key]) if key == PLACE[-1] else first[key] for key in PLACE if key in first}, "location", False
    if kind == 3:
        return ({"zone": rest[0], "recordName": first}, f"reference@{rest[0]}", False) if rest[0] else (first, "reference", False)
    items, kinds, alone = zip(*map(plain, rest)) if rest else ((), (ELEMENT[first],), (False,))
    return items, (kinds[0] if len(set(kinds)) == 1 else ELEMENT[first]) + "[]", all(alone)

zone, records = None, {}
for commit, entries in commits(pathlib.Path(sys.argv[1])):
    for op, index, space, number, key, _, *value in entries:
        value = value[0].value if value else None
        if space == 2 and op < 3 and cbor2.loads(key)[1] == sys.argv[2]:
            zone = cbor2.loads(value)[0] or commit if op == 1 else None
        elif space == 1 and op < 3:
            records[number, key] = (f"{commit:x}-{index:x}-{crc(value):08x}", value) if op == 1 else None
for name, (tag, value) in sorted((key, record) for (number, key), record in records.items() if number == zone and record):
    kind, fields, *_ = cbor2.loads(value)
    shown = {field: plain(value) for field, value in fields.items()}
    line = {"recordName": name.decode(), "recordType": kind, "changeTag": tag}
    line["fields"] = {field: text for field, (text, _, _) in shown.items()}
    line["types"] = {field: kind for field, (_, kind, alone) in shown.items() if not alone}
    print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
