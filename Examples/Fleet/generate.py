"""Makes the files of a fleet: one library, built once, whose copies differ in build-id, words and table sizes.

    generate.py --tool section-dump --files 100000 FOLDER

Nine of ten files are what hosts have now, four each; the others are what a roll-out would put onto the first of
them. FOLDER gets the files, the lists of their paths, and `planted.json`: the answers that an audit has to give.
"""

import argparse
import collections
import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tool import File, ask, sized

HERE = Path(__file__).resolve().parent
LIBRARIES = ["greeter", "storage", "payments", "desk"]


class Plugin(NamedTuple):
    """What one file declares."""

    module: str
    requires: str
    service: str
    implementation: str
    version: str
    table_size: int


@dataclass
class Template:
    """A built library, and where in it the tool says that something is."""

    data: bytes
    id: bytes
    records: dict[str, File]

    @staticmethod
    def build(tool: str, folder: Path) -> "Template":
        library = folder / "template.so"
        small = "-Wl,--build-id=sha1,-z,noseparate-code,-z,norelro,-z,max-page-size=4096,-s"
        headers = HERE.parent.parent / "CSupport/CBeeHive/include"
        command = [os.environ.get("CC", "cc"), "-Os", "-shared", "-fPIC", "-nostdlib", small, f"-I{headers}"]
        subprocess.run([*command, HERE / "plugin.c", "-o", library], check=True)
        files = list(ask(tool, ["records"], [os.fsencode(library)]))
        sized(tool, files)
        data = library.read_bytes()
        library.unlink()
        id = bytes.fromhex(files[0]["id"])
        assert data.count(id) == 1
        return Template(data, id, {record["kind"]: record for record in files[0]["records"]})

    def copy(self, id: bytes, plugin: Plugin) -> bytes:
        """The library as another author would have built it."""
        data = bytearray(self.data.replace(self.id, id))
        self.write(data, "module", plugin.module, "operations", "abi=c-module", plugin.requires)
        self.write(
            data, "service", plugin.service, plugin.implementation, "abi=c-table", f"version={plugin.version}"
        )
        offset = self.records["service"]["table_size_offset"]
        data[offset : offset + 8] = plugin.table_size.to_bytes(8, "little")
        return bytes(data)

    def write(self, data: bytearray, kind: str, *fields: str) -> None:
        """Puts other words into a record: its size comes first, its text is 32 bytes behind it."""
        start = int(self.records[kind]["offset"], 16)
        room = int.from_bytes(data[start : start + 4], "little") - 32
        text = b"".join(field.encode() + b"\0" for field in fields if field)
        assert len(text) <= room, fields
        data[start + 32 : start + 32 + room] = text.ljust(room, b"\0")


def current(host: int) -> list[Plugin]:
    """What a host has now. A few were built with headers that are not those of their version."""
    version, size = [("1.0.0", 16), ("1.1.0", 24), ("2.0.0", 32)][host % 3]
    greeter = "FrenchGreeter" if host % 7 == 0 else "EnglishGreeter"
    return [
        Plugin("greeter", "", "Greeter", greeter, version, 16 if host % 150 == 1 else size),
        Plugin("storage", "", "Storage", "DiskStorage", "5.2.0", 56 if host % 100 == 7 else 64),
        Plugin("payments", "requires=storage", "Payments", "CardPayments", "1.4.0", 96),
        Plugin("desk", "requires=greeter", "Desk", "FrontDesk", "1.0.0", 8),
    ]


def upcoming(host: int) -> list[Plugin]:
    """What the roll-out would put in their place."""
    requires = "requires=printer" if host % 2 else "requires=greeter"
    return [
        Plugin("greeter", "", "Greeter", "EnglishGreeter", "3.0.0", 40),
        Plugin("storage", "", "Storage", "DiskStorage", "6.0.0", 48),
        Plugin("payments", "requires=storage", "Billing", "CardBilling", "1.0.0", 96),
        Plugin("desk", requires, "Desk", "FrontDesk", "1.1.0", 8),
    ]


class Fleet:
    def __init__(self, template: Template, folder: Path) -> None:
        self.template, self.folder = template, folder
        self.lists: dict[str, list[bytes]] = {"current": [], "next": []}

    def add(self, release: str, host: bytes, library: str, plugin: Plugin, harm: str = "") -> None:
        """Writes a file, or one that cannot be read."""
        folder = os.path.join(os.fsencode(self.folder), release.encode(), host)
        path = os.path.join(folder, f"lib{library}.so".encode())
        self.lists[release].append(path)
        if harm == "missing":
            return
        data = self.template.copy(hashlib.sha1(path).digest(), plugin)
        match harm:
            case "cut":
                data = data[: len(data) // 2]
            case "text":
                data = b"#!/bin/sh\n"
        os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def write_lists(self) -> None:
        for release, paths in self.lists.items():
            (self.folder / f"{release}.list").write_bytes(b"".join(path + b"\0" for path in paths))


# The codes that section-dump reports for each kind of damage.
CODES = {
    "": [],
    "missing": ["unreadable"],
    "text": ["not-an-object"],
    "cut": ["truncated"],
}


def harm(host: int, hosts: int) -> str:
    """What is wrong with the last library of a host: no host of the roll-out, and none that is counted."""
    if host == hosts - 1:
        return "missing"
    return {98: "text", 99: "cut"}.get(host % 100, "") if host >= hosts // 9 else ""


def generate(tool: str, folder: Path, files: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fleet = Fleet(Template.build(tool, folder), folder)
    new = files // 10 // 4
    hosts = files // 4 - new
    providers: collections.Counter[tuple[str, str, int]] = collections.Counter()
    odd: list[tuple[str, str, int, int, str]] = []
    unread: dict[str, list[str]] = collections.defaultdict(list)
    for host in range(hosts):
        # A name may be any bytes.
        name = f"host-{host:05}".encode() + (b"\n\xff" if host == hosts - 2 else b"")
        shown = name.decode(errors="replace")
        for library, plugin in zip(LIBRARIES, current(host)):
            fault = harm(host, hosts) if library == "desk" else ""
            fleet.add("current", name, library, plugin, fault)
            for code in CODES[fault]:
                unread[code].append(f"{shown}/lib{library}.so")
            if plugin.service == "Greeter":
                providers[plugin.version, plugin.implementation, plugin.table_size] += 1
            usual = {"1.1.0": 24, "5.2.0": 64}.get(plugin.version, plugin.table_size)
            if plugin.table_size != usual:
                odd.append((plugin.service, plugin.version, plugin.table_size, usual, f"{shown}/lib{library}.so"))
        if host < new:
            for library, plugin in zip(LIBRARIES, upcoming(host)):
                fleet.add("next", name, library, plugin)
    fleet.write_lists()
    planted = {
        "files": sum(map(len, fleet.lists.values())),
        "providers": sorted([*key, count] for key, count in providers.items()),
        "sizes": sorted(odd),
        "rollout": sorted(
            [
                ["adds", "service", "Billing", "version 1.0.0", new],
                ["breaks", "module", "desk", "requires printer, which no library has", new // 2],
                ["breaks", "service", "Payments", "no library has it any more", new],
                ["breaks", "service", "Storage", "its table shrinks to 48 bytes", new],
            ]
        ),
        "unread": sorted([code, len(images), images[0]] for code, images in unread.items()),
    }
    (folder / "planted.json").write_text(json.dumps(planted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--tool", required=True, help="section-dump")
    parser.add_argument("--files", type=int, default=2000, help="how many (2,000)")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    generate(options.tool, options.folder.resolve(), options.files)


if __name__ == "__main__":
    main()
