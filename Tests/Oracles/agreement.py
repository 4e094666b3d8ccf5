"""What section-dump says of each slot of some sections, and how that is compared with an oracle."""

import collections
import json
import subprocess

Slot = collections.namedtuple("Slot", "address raw resolution target symbol")


def number(text):
    """The value of a hexadecimal string; None for null."""
    return None if text is None else int(text, 16)


def slots(tool, section, paths):
    """For each image of the files: its path, its container, and the slots of its sections."""
    arguments = [tool, "strings", "--section", section, "--format", "ndjson", "--stdin0",
                 "--max-bytes", str(1 << 23)]
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(b"".join(path.encode() + b"\0" for path in paths))
    process.stdin.close()
    for line in process.stdout:
        file = json.loads(line)
        found = [
            Slot(number(slot["address"]), number(slot["raw"]), slot["resolution"],
                 number(slot["target"]), slot["symbol"])
            for part in file["sections"] for slot in part["entries"]]
        yield file, found
    if process.wait() not in (0, 2):
        raise SystemExit(f"section-dump ended with {process.returncode} for {section}")


class Agreement:
    """Counts what agrees, and shows the first slots that do not."""

    def __init__(self):
        self.files, self.slots, self.failures = set(), 0, 0
        self.kinds = collections.Counter()

    def compare(self, path, slot, kind, expected):
        """`expected` maps fields of the slot to what the oracle says."""
        self.files.add(path)
        self.slots += 1
        self.kinds[kind] += 1
        wrong = {name: (getattr(slot, name), value) for name, value in expected.items()
                 if getattr(slot, name) != value}
        if wrong:
            self.failures += 1
            if self.failures <= 20:
                print(f"fail {path} 0x{slot.address:x} ({kind}): {wrong} (ours, the oracle's)")

    def report(self, oracle):
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        print(f"{oracle}: {self.slots} slots of {len(self.files)} images agree but {self.failures}"
              f" ({kinds})")
        return self.failures == 0 and self.slots > 0
