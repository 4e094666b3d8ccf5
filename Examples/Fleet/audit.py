r"""Writes as Parquet what the files of a fleet would register: a row for each image, and one for each file that
cannot be read, with the reason.

    find /srv/fleet -name '*.so*' -type f -print0 > current.list
    spark-submit --master 'local[*]' --py-files tool.py audit.py \
        --tool section-dump --out audit current=current.list next=next.list

A list has paths, each ended by NUL. The workers see the files under these paths; section-dump is sent to them.
"""

import argparse
import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from tool import Broken, File, ask, path_of, sized

# The number of files for one start of the tool.
BATCH = 1000

SCHEMA = """
    release string, path string, path_bytes string, container array<string>, id string, format string, machine string,
    type string,
    records array<struct<
        kind: string, name: string, implementation: string, priority: bigint, attributes: string, table_size: bigint>>,
    problems array<struct<code: string, section: string, message: string>>
"""


def reports(tool: str, paths: Iterable[bytes]) -> Iterator[File]:
    """What the tool says of each file. It is started again behind a file that it breaks off at."""
    waiting = list(paths)
    while waiting:
        files: list[File] = []
        reason = "section-dump said nothing of it"
        try:
            for file in ask(tool, ["records"], waiting):
                files.append(file)
        except Broken as broken:
            reason = str(broken)
        sized(tool, files)
        yield from files
        answered = {path_of(file) for file in files}
        waiting = [path for path in waiting if path not in answered]
        if waiting:
            yield unread(waiting.pop(0), reason)


def unread(path: bytes, reason: str) -> File:
    text = path.decode(errors="replace")
    file: File = {"path": text, "records": [], "problems": [{"code": "broken-off", "message": reason}]}
    return file if text.encode() == path else file | {"pathBytes": path.hex()}


def row(release: str, file: File) -> tuple[Any, ...]:
    """A file in the order of the schema."""
    return (
        release,
        file["path"],
        file.get("pathBytes"),
        file.get("container", []),
        *(file.get(key) for key in ("id", "format", "machine", "type")),
        [
            (
                *(record[key] for key in ("kind", "name", "implementation", "priority")),
                json.dumps(record["attributes"]),
                record.get("table_size"),
            )
            for record in file["records"]
        ],
        [(problem["code"], problem.get("section"), problem["message"]) for problem in file["problems"]],
    )


def audit(spark: SparkSession, tool: str, out: str, lists: dict[str, str]) -> None:
    context = spark.sparkContext
    context.addFile(tool)
    name = os.path.basename(tool)
    for release, paths in lists.items():
        # Read as bytes, because a path need not be text.
        given = (
            spark.read.text(paths, lineSep="\0").select(col("value").cast("binary")).distinct().cache()
        )
        batches = given.repartition(max(math.ceil(given.count() / BATCH), context.defaultParallelism))
        rows = batches.rdd.mapPartitions(
            lambda batch, release=release: (
                row(release, file)
                for file in reports(SparkFiles.get(name), (bytes(line.value) for line in batch))
            )
        )
        spark.createDataFrame(rows, SCHEMA).write.mode("overwrite").parquet(f"{out}/{release}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--tool", required=True, help="section-dump, which is sent to the workers")
    parser.add_argument("--out", required=True, help="the folder of the answer, one for each release in it")
    parser.add_argument("lists", nargs="+", metavar="RELEASE=LIST", help="a list of paths, each ended by NUL")
    options = parser.parse_args()
    lists = dict(word.split("=", 1) for word in options.lists)
    spark = SparkSession.builder.appName("section-dump").getOrCreate()
    audit(spark, options.tool, options.out, lists)
    spark.stop()


if __name__ == "__main__":
    main()
