#!/usr/bin/python3
"""Prints the live records of one zone of a journal as JSON lines, by the format article alone.

usage: read_journal.py DIRECTORY ZONE      (needs python3-lz4 and python3-cbor2)
"""
import base64, datetime, io, json, math, os, re, struct, sys
import cbor2, lz4.frame

TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)

def crc(data, before=0):
    value = ~before & 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 0xFF]
    return ~value & 0xFFFFFFFF

def acknowledged(directory):
    """The last commit that HEAD proves durable, 0 without a HEAD of this directory."""
    try:
        data = open(os.path.join(directory, "HEAD"), "rb").read()
    except FileNotFoundError:
        return 0
    inode, best = os.stat(directory).st_ino, (0, 0)
    for slot in (data[0:512], data[512:1024]):
        if len(slot) == 512 and slot[:8] == b"SYNCHEAD" and crc(slot[:508]) == struct.unpack_from("<I", slot, 508)[0]:
            counter, commit, of = (struct.unpack_from("<Q", slot, place)[0] for place in (8, 64, 88))
            best = max(best, (counter, commit if of == inode else 0))
    return best[1]

def blocks(data):
    """Each whole block of a segment: does its last commit end there, syncedThrough, the CBOR items."""
    (salt,), offset = struct.unpack_from("<Q", data, 3960), 4096
    while offset + 64 <= len(data):
        magic, size = struct.unpack_from("<II", data, offset)
        if magic == 0x184D2A50:
            stored, _, _, _, _, flags, payload_crc, synced, _, _, header_crc = struct.unpack_from("<IIQQIIIQIII", data, offset + 8)
            frame = data[offset + 64:offset + 64 + stored]
            if crc(data[offset:offset + 60], crc(struct.pack("<QQ", salt, offset))) != header_crc or crc(frame) != payload_crc:
                return
            payload = io.BytesIO(lz4.frame.decompress(frame))
            decoder, items = cbor2.CBORDecoder(payload), []
            while payload.tell() < len(payload.getbuffer()):
                items.append(decoder.decode())
            yield flags & 1, synced, items
            offset += 64 + stored
        elif 0x184D2A51 <= magic <= 0x184D2A5F:
            offset += 8 + size
        else:
            return

def commits(directory):
    """(number, entries) of all acknowledged commits in order."""
    bound, found = acknowledged(directory), {}
    for name in sorted(name for name in os.listdir(directory) if re.fullmatch("[0-9a-f]{16}-[0-9a-f]{4}[.]lz4", name)):
        data = open(os.path.join(directory, name), "rb").read()
        if len(data) < 4096 or crc(data[:4092]) != struct.unpack_from("<I", data, 4092)[0]:
            sys.exit(f"{name}: damaged header")
        previous = struct.unpack_from("<Q", data, 3912)[0]
        found = {number: entries for number, entries in found.items() if number <= previous}
        number, whole = previous, previous
        for ends, synced, items in blocks(data):
            bound = max(bound, synced)
            for item in items:
                if item[0] == 0:
                    whole, number = (number if item[1] != number else whole), item[1]
                    found.setdefault(number, [])
                else:
                    found[number].append(item)
            whole = number if ends else whole
        found = {number: entries for number, entries in found.items() if number <= whole}
    if max(found, default=0) < bound:
        sys.exit(f"lost: commit {bound} was acknowledged, {max(found, default=0)} is the last one there")
    return sorted((number, entries) for number, entries in found.items() if number <= bound)

def date(milliseconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds") + "Z"

def plain(value):
    """A field's value as JSON, and its kind if JSON alone does not give that back."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode(), "bytes"
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"nan": "NaN"}.get(str(value), str(value)), "double"
        return value, "double" if value == int(value) else None
    if isinstance(value, int):
        return (value, None) if abs(value) <= 2 ** 53 else (str(value), "int64")
    if isinstance(value, str):
        return value, None
    kind, *rest = value
    if kind == 1:
        return date(rest[0]), "date"
    if kind == 2:
        return rest[0], "location"
    if kind == 3:
        return (rest[0], "reference") if rest[1] is None else ({"recordName": rest[0], "zone": rest[1]}, "reference")
    raise ValueError(kind)
