"""Asks section-dump of many files at once."""

import bisect
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

File = dict[str, Any]

# The sections of records, and of the structures that records point to.
SECTIONS = ["BeehiveRecords", ".data.rel.ro*", ".data", ".rodata*", "__const"]


class Broken(Exception):
    """Why section-dump did not come to an end."""


def ask(tool: str, command: Sequence[str], paths: Sequence[bytes]) -> Iterator[File]:
    """What one run of the tool says of each file, in their order; one or more for each path."""
    with tempfile.TemporaryFile() as names:
        names.write(b"".join(path + b"\0" for path in paths))
        names.seek(0)
        arguments = [tool, *command, "--stdin0", "--format", "ndjson", "--jobs", "1", "--isolate"]
        with subprocess.Popen(
            arguments, stdin=names, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout
            for line in process.stdout:
                # Skips a line that the tool could not finish.
                if line.endswith(b"\n"):
                    yield json.loads(line)
    # 1: no file has such a section; 2: a file cannot be read, and its line says why.
    if process.returncode not in (0, 1, 2):
        raise Broken(f"section-dump ended with status {process.returncode}")


def path_of(file: File) -> bytes:
    """The path of a file as it was given."""
    return bytes.fromhex(file["pathBytes"]) if "pathBytes" in file else os.fsencode(file["path"])


def sized(tool: str, files: Sequence[File]) -> None:
    """Gives each record of a table of C functions its `table_size`, and where the file has it.

    A record leads to a `beehive_service_table`, whose third field is the size that the author's compiler saw.
    Addresses in an object are those of its sections, which the linker has yet to place.
    """
    tables = {
        (path_of(file), *file["container"]): file
        for file in files
        if file["type"] != "object"
        and any(record["attributes"].get("abi") == "c-table" for record in file["records"])
    }
    if not tables:
        return
    sections = [word for name in SECTIONS for word in ("--section", name)]
    paths = list(dict.fromkeys(path for path, *_ in tables))
    try:
        for slots in ask(tool, ["hex", *sections], paths):
            if file := tables.pop((path_of(slots), *slots["container"]), None):
                size_tables(file, Words(slots))
    except Broken as broken:
        for file in tables.values():
            file["problems"].append({"code": "broken-off", "message": f"{broken} at its tables"})


def size_tables(file: File, words: "Words") -> None:
    for record in file["records"]:
        if record["attributes"].get("abi") != "c-table":
            continue
        context = words.at(int(record["address"], 16) + 24)
        if context and context["target"]:
            size = words.at(int(context["target"], 16) + 8)
            if size and size["raw"]:
                record["table_size"] = int(size["raw"], 16)
                record["table_size_offset"] = int(size["offset"], 16)


class Words:
    """The words of a file by their addresses."""

    def __init__(self, file: File) -> None:
        self.width: int = (file["bits"] or 64) // 8
        entries = (slot for part in file["sections"] for slot in part["entries"] if slot["address"])
        self.slots = sorted(((int(slot["address"], 16), slot) for slot in entries), key=lambda pair: pair[0])

    def at(self, address: int) -> File | None:
        """The word at an address; one that equals those before it is said with the first of them."""
        index = bisect.bisect_right(self.slots, address, key=lambda pair: pair[0]) - 1
        if index < 0:
            return None
        start, slot = self.slots[index]
        if address >= start + slot["repeats"] * self.width:
            return None
        if not slot["offset"]:
            return slot
        return slot | {"offset": hex(int(slot["offset"], 16) + address - start)}
