"""Puts the results of `device/run.py` into a page, whose sentences are written by hand.

    PYTHONPATH=conformance/peers python3 -m gpu.page RESULTS.json docs/results/DEVICE-DATE.md

A new page gets headings and marks for all tables; a later run replaces the lines between the marks.
"""

import json
import pathlib
import re
import sys
from typing import Any

from gpu import correctness_tables, time_tables
from gpu.device_table import device_name, device_table
from tables import put_tables

# Marks of tables are names in angle brackets.
NEW_PAGE = """# {device}, {date}

<device>

## Correctness

### The kernels

<kernels>

<wrong>

<sanitizer>

### Large programs

<errors>

## Times

### The kernels

<events>

<alone>

<worst>

<best>

### Large programs

<large>

<groups>
"""


def make_tables(results: dict[str, Any]) -> dict[str, list[str]]:
    """All tables by their marks."""
    return {
        "device": device_table(results),
        "kernels": correctness_tables.kernels_table(results),
        "wrong": correctness_tables.list_wrong(results),
        "sanitizer": correctness_tables.sanitizer_table(results),
        "errors": correctness_tables.list_errors(results),
        "events": time_tables.list_events(results),
        "alone": time_tables.alone_table(results),
        "worst": time_tables.extremes_table(results, "worst ten", is_worst=True),
        "best": time_tables.extremes_table(results, "best ten", is_worst=False),
        "large": time_tables.large_table(results),
        "groups": time_tables.list_groups(results),
    }


def main() -> None:
    """Writes the page."""
    results, page = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    if not page.exists():
        marked = re.sub(r"^<(\w+)>$", r"<!-- \1 -->\n<!-- end of \1 -->", NEW_PAGE, flags=re.M)
        page.write_text(marked.format(device=device_name(results), date=results["about"]["date"]).rstrip("\n") + "\n")
    put_tables(make_tables(results), True, page)


if __name__ == "__main__":
    main()
