"""What section-dump says of each slot of some sections, and how that is compared with an oracle."""

import collections
import json
import subprocess

Slot = collections.namedtuple("Slot", "address raw resolution target symbol")


class Unreadable(Exception):
    """Why an oracle cannot say what stands in a file."""


def number(text):
    """The value of a hexadecimal string; None for null."""
    return None if text is None else int(text, 16)


def slots(tool, section, paths):
    """For each image of the files: what section-dump says of it, and the slots of the section."""
    arguments = [tool, "strings", "--section", section, "--format", "ndjson", "--stdin0",
                 "--max-bytes", str(1 << 23)]
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(b"".join(path.encode() + b"\0" for path in paths))
    process.stdin.close()
    for line in process.stdout:
        file = json.loads(line)
        # Equal words are one entry; a number is no pointer, as oracles see it, like a null.
        found = [
            Slot(number(slot["address"]) + index * file["bits"] // 8, number(slot["raw"]),
                 slot["resolution"].replace("number", "none"), number(slot["target"]),
                 slot["symbol"])
            for part in file["sections"] for slot in part["entries"] if slot["kind"] != "text"
            for index in range(slot["repeats"])]
        yield file, found
    # 1: none of the files has the section.
    if process.wait() not in (0, 1, 2):
        raise SystemExit(f"section-dump ended with {process.returncode} for {section}")


class Agreement:
    """Counts what agrees in one file, and keeps the first slots that do not."""

    def __init__(self):
        self.wrong, self.failures = 0, []
        self.kinds = collections.Counter()
        self.unreadable = None

    def fail(self, message):
        self.wrong += 1
        if self.wrong <= 5:
            self.failures.append(message)

    def compare(self, image, slot, kind, expected):
        """`expected` maps fields of the slot to what the oracle says."""
        self.kinds[kind] += 1
        wrong = {name: (getattr(slot, name), value) for name, value in expected.items()
                 if getattr(slot, name) != value}
        if wrong:
            self.fail(f"{image} 0x{slot.address:x} ({kind}): {wrong} (ours, the oracle's)")

    def report(self, path):
        """A line of JSON, which OracleReport of Tests/ProjectTests reads."""
        print(json.dumps({
            "path": path, "kinds": self.kinds, "wrong": self.wrong, "failures": self.failures,
            "unreadable": self.unreadable}), flush=True)
