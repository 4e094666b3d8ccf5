"""Prints what an ELF object file contains by RecordLayout.md: its note and its typed records.

    records.py everything.o        one line per record, sorted; exit status 1 if a rule is broken

Object files need no relocation: every field that a person reads is in the bytes.
"""
import struct
import sys

RETAIN, GROUP, ALLOC = 0x200000, 0x200, 0x2


def sections(data):
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    header = struct.unpack_from(order + ("16xHHIQQQIHHHHHH" if wide else "16xHHIIIIIHHHHHH"), data)
    offset, size, count, names = header[5], header[10], header[11], header[12]
    entries = [
        struct.unpack_from(order + ("IIQQQQIIQQ" if wide else "10I"), data, offset + size * i)
        for i in range(count)
    ]
    strings = entries[names][4]
    for name, kind, flags, _, at, length, _, _, align, _ in entries:
        end = data.index(b"\0", strings + name)
        yield data[strings + name : end].decode(), flags, align, data[at : at + length], order


def expect(condition, message):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {message}")


def record_lines(data, order):
    while data:
        size, version, kind, flags, text, accessor, _ = struct.unpack_from(order + "IHHII2Q", data)
        expect(size % 8 == 0 and 40 <= size <= len(data), f"record of {size} bytes")
        expect((version, flags, text, accessor) == (1, 0, 32, 0), "head")
        body = data[text:size]
        expect(body.endswith(b"\0") and len(body) - len(body.rstrip(b"\0")) <= 9, "padding")
        yield f"{kind} " + " | ".join(body.rstrip(b"\0").decode().split("\0"))
        data = data[size:]


notes, lines = [], []
for name, flags, align, body, order in sections(open(sys.argv[1], "rb").read()):
    if name == ".note.beehive":
        notes.append(body)
        expect(flags == ALLOC | GROUP | RETAIN and align == 4, f"note flags {flags:#x}")
        expect(len(body) == 56, f"note of {len(body)} bytes")
        fields = struct.unpack_from(order + "III8sII", body)
        expect(fields == (8, 36, 0x42454501, b"Beehive\0", 1, 0), f"note {fields}")
    elif name.startswith("Beehive"):
        expect(flags & ALLOC and flags & RETAIN, f"{name} flags {flags:#x}")
        expect(align == 8, f"{name} is aligned to {align}")
        expect(body or flags & GROUP, f"{name} is empty outside the group")
        if name == "BeehiveRecords":
            lines += record_lines(body, order)
expect(len(notes) == 1, f"{len(notes)} notes")
print("\n".join(sorted(lines)))
