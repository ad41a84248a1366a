"""A small whole ledger of which every column of texts has a secret of its own, and names of people."""

import json
import re
from pathlib import Path

from aix.schema import TABLES, Column, Type, Unit
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

PEOPLE = "Mara Lindt <mara.lindt@example.org> in /home/mlindt/app as mlindt"
PLANTED = re.compile(rb"zq[0-9]{4}Secret|mara.lindt@example.org|mlindt|Mara Lindt")
PLANTED_UNITS = (Unit.TEXT, Unit.PATH, Unit.NAME, Unit.JSON, Unit.JSON_OBJECT, Unit.JSON_ARRAY)


def is_planted(column: Column) -> bool:
    return column.type is Type.VARCHAR and column.unit in PLANTED_UNITS and not column.words


def planted(value: object, column: Column, secret: str) -> object:
    """Return a value of a column with a secret and names of people in it."""
    text = f"API_KEY={secret} {PEOPLE}"
    match column.unit:
        case Unit.PATH:
            return f"/home/mlindt{value or ''}/API_KEY={secret}"
        case Unit.JSON_ARRAY:
            return json.dumps([*json.loads(str(value or "[]")), text])
        case Unit.JSON | Unit.JSON_OBJECT:
            known = json.loads(str(value or "{}"))
            return json.dumps(
                {**known, "api_key": secret, "note": PEOPLE} if isinstance(known, dict) else [known, text]
            )
        case _:
            return f"{value or ''} {text}".strip()


def make_planted_ledger(folder: Path) -> Path:
    """Write the ledger."""
    number = 0
    rows: dict[str, list[Row]] = {}
    for name, sample in SAMPLE_ROWS.items():
        rows[name] = []
        for row in sample:
            changed = dict(row)
            for column in TABLES[name]:
                if is_planted(column) and column.name not in TABLES[name].key:
                    number += 1
                    changed[column.name] = planted(row.get(column.name), column, f"zq{number:04}Secret")
            rows[name].append(changed)
    write_ledger(folder, rows)
    return folder
