"""Asks an audit the questions in files of SQL, in their order.

    python ask.py audit questions/*.sql
"""

import sys
from pathlib import Path

import duckdb

TABLES = Path(__file__).resolve().parent / "questions/tables.sql"


def connect(audit: Path) -> duckdb.DuckDBPyConnection:
    """The audit as the tables that questions ask."""
    connection = duckdb.connect()
    connection.execute(f"SET file_search_path = '{audit}'")
    connection.execute(TABLES.read_text())
    return connection


def table(connection: duckdb.DuckDBPyConnection, question: Path) -> str:
    """The answer for people."""
    columns, rows = answer(connection, question)
    cells = [columns] + [["" if cell is None else str(cell) for cell in row] for row in rows]
    # Control characters in a path must not reach the terminal.
    cells = [[cell if cell.isprintable() else ascii(cell)[1:-1] for cell in line] for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
    return "\n".join(lines)


def answer(connection: duckdb.DuckDBPyConnection, question: Path) -> tuple[list[str], list[tuple]]:
    """The names of the columns, and the rows."""
    found = connection.execute(question.read_text())
    return [column[0] for column in found.description], found.fetchall()


if __name__ == "__main__":
    asked = connect(Path(sys.argv[1]).resolve())
    for path in map(Path, sys.argv[2:]):
        if path.resolve() != TABLES:
            print(path.read_text().splitlines()[0].removeprefix("-- "), table(asked, path), "", sep="\n")
