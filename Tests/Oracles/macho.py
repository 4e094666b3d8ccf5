"""Compares every slot of every data section of Mach-O files with llvm-objdump; a line a file.

    macho.py SECTION-DUMP LLVM-OBJDUMP FILE...
"""

import collections
import json
import re
import subprocess
import sys

from agreement import Agreement, slots

Fixup = collections.namedtuple("Fixup", "kind target symbol")


def oracle(objdump, path):
    """The fixups of each image by address: {architecture: {address: {kind: Fixup}}}."""
    output = subprocess.run(
        [objdump, "--macho", "--arch=all", "--dyld-info", "--rebase", "--bind", "--weak-bind",
         "--lazy-bind", path], capture_output=True, text=True, check=True).stdout
    images = {}
    table = fixups = None
    for line in output.splitlines():
        if line.startswith(path):
            found = re.search(r"\(architecture (\w+)\):", line)
            fixups = images.setdefault(found.group(1) if found else "", {})
            continue
        heading = re.match(r"(dyld information|Rebase table|Bind table|Weak bind table|Lazy bind)",
                           line)
        if heading:
            table = heading.group(1)
            continue
        words = line.replace("(weak import)", "").replace("(weak_import)", "").split()
        if len(words) < 4 or not words[2].startswith("0x"):
            continue
        address = int(words[2], 16)
        if table == "dyld information":
            if words[4] == "rebase":
                fixup = Fixup("rebase", int(words[-1], 16), None)
            else:
                fixup = Fixup("bind", None, words[-1])
        elif table == "Rebase table":
            fixup = Fixup("rebase", None, None)
        elif table == "Weak bind table":
            fixup = Fixup("weak", None, words[5])
        else:
            fixup = Fixup("bind", None, words[-1])
        fixups.setdefault(address, {})[fixup.kind] = fixup
    return images


def sections(tool, path):
    """SEGMENT,section of what may hold pointers, over all images of a file."""
    output = subprocess.run([tool, "sections", "--format", "json", path], capture_output=True,
                            text=True, check=True).stdout
    return sorted({
        f'{section["segment"]},{section["name"]}' for file in json.loads(output)["files"]
        for section in file["sections"]
        if section["segment"].startswith("__DATA") and section["offset"] is not None})


def check(agreement, image, slot, fixups):
    """One slot with what the oracle says of its address."""
    bind, rebase, weak = (fixups.get(kind) for kind in ("bind", "rebase", "weak"))
    if bind:
        agreement.compare(image, slot, "bind", {"resolution": "symbol", "symbol": bind.symbol})
    elif rebase:
        chained = rebase.target is not None
        agreement.compare(image, slot, "chained rebase" if chained else "rebase", {
            "resolution": "chained-rebase" if chained else "rebase",
            "target": rebase.target if chained else slot.raw,
            "symbol": weak.symbol if weak and not chained else slot.symbol})
    elif weak:
        agreement.compare(image, slot, "weak bind", {"resolution": "symbol", "symbol": weak.symbol})
    else:
        agreement.compare(image, slot, "no fixup", {"resolution": "none", "target": None})


def main(tool, objdump, *paths):
    for path in paths:
        agreement = Agreement()
        images = oracle(objdump, path)
        met = collections.defaultdict(set)
        for section in sections(tool, path):
            for file, found in slots(tool, section, [path]):
                machine = file["container"][-1] if file["container"] else ""
                for slot in found:
                    met[machine].add(slot.address)
                    check(agreement, f"{path}({machine})", slot, images[machine].get(slot.address, {}))
        # Words that do not stand where a pointer of an array would are no slots of ours.
        for machine, fixups in images.items():
            missed = [address for address in fixups if address not in met[machine]]
            if any(address % 8 == 0 for address in missed):
                agreement.fail(f"{path}({machine}): the oracle has fixups at "
                               f"{[hex(address) for address in missed[:5]]}, section-dump no slots")
        agreement.report(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
