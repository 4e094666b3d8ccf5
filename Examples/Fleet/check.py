"""Generates a fleet, audits it, asks the questions and compares the answers with what was planted, and with
Docs/fleet.md. Ends with "N passed, N failed, N skipped"."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ask
import audit

HERE = Path(__file__).resolve().parent
# The page shows the answers of a fleet of this size.
PAGE, PAGE_FILES = HERE.parent.parent / "Docs/fleet.md", 2000


# A tool that is killed at one file, in the midst of a line.
FRAGILE = r"""#!/bin/sh
tr '\0' '\n' | while read -r path; do
  printf '{"path":"%s","container":[],"type":null,' "$path"
  [ "$path" != fatal ] || { kill -9 $$; exit; }
  printf '"records":[],"problems":[]}\n'
done
"""


def fragile(folder: Path) -> list[tuple[str, int]]:
    """The files that an audit by that tool tells of, and the number of their problems."""
    tool = folder / "fragile"
    tool.write_text(FRAGILE)
    tool.chmod(0o755)
    files = audit.reports(str(tool), [b"first", b"fatal", b"last"])
    return sorted((file["path"], len(file["problems"])) for file in files)


def timed(what: str, files: int, work: Callable[[], object]) -> None:
    start = time.monotonic()
    work()
    seconds = time.monotonic() - start
    print(f"{what}: {files} files in {seconds:.0f} s, {files / seconds:.0f} files/s", flush=True)


def run_audit(options: argparse.Namespace, folder: Path) -> None:
    """Runs the job; what Spark says is in a file, and is shown where it fails."""
    command = ["spark-submit", "--master", options.master, "--py-files", HERE / "tool.py", HERE / "audit.py"]
    lists = [f"{release}={folder / release}.list" for release in ("current", "next")]
    log = folder / "spark.log"
    # Spark finds Python by PATH. It binds to a name of this machine, which need not have an address.
    environment = {"SPARK_LOCAL_IP": "127.0.0.1"} | os.environ
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    with log.open("wb") as output:
        status = subprocess.run(
            [*command, "--tool", options.tool, "--out", folder / "audit", *lists],
            stdout=output, stderr=output, env=environment,
        ).returncode  # fmt: skip
    if status:
        print(log.read_text(errors="replace")[-8000:])
        sys.exit(f"error: spark-submit ended with status {status}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--files", type=int, default=PAGE_FILES)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    folder = options.folder.resolve()

    generator = [sys.executable, HERE / "generate.py", "--tool", options.tool, "--files", str(options.files), folder]
    timed("generated", options.files, lambda: subprocess.run(generator, check=True))
    timed("audited", options.files, lambda: run_audit(options, folder))
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"largest process: {largest // 1024} MiB")

    outcomes: list[bool] = []

    def expect(what: str, found: object, planted: object) -> None:
        outcomes.append(found == planted)
        print(f"{'ok' if found == planted else 'fail'}   {what}")
        if found != planted:
            print(f"found   {found}\nplanted {planted}")

    planted = json.loads((folder / "planted.json").read_text())
    connection = ask.connect(folder / "audit")
    counts = connection.execute("SELECT count(*), count(DISTINCT coalesce(path_bytes, path)), "
                                "count(id), count(DISTINCT id) FROM files").fetchone()
    assert counts
    expect("a row for each file, none twice", list(counts[:2]), [planted["files"]] * 2)
    expect("no build-id twice", counts[2], counts[3])
    expect("a file that ends the tool is a row", fragile(folder), [("fatal", 1), ("first", 0), ("last", 0)])
    page = PAGE.read_text()
    questions = sorted(set((HERE / "questions").glob("*.sql")) - {ask.TABLES})
    expect("Docs/fleet.md shows an answer to each question", page.count("\n```text\n"), len(questions))
    for question in questions:
        _, rows = ask.answer(connection, question)
        expect(question.stem, sorted(map(list, rows)), planted[question.stem])
        if options.files == PAGE_FILES:
            shown = ask.table(connection, question)
            expect(f"{question.stem} in Docs/fleet.md", f"\n```text\n{shown}\n```\n" in page, True)
    print(f"{sum(outcomes)} passed, {outcomes.count(False)} failed, 0 skipped")
    sys.exit(outcomes.count(False) > 0)


if __name__ == "__main__":
    main()
