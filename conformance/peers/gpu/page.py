"""Puts the results of `device/run.py` into a page, whose sentences are written by hand.

    PYTHONPATH=conformance/peers python3 -m gpu.page RESULTS.json docs/results/gpus.md

A target without tables on the page gets a section with headings and marks for all tables; a later run replaces the lines
between the marks.
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
NEW_SECTION = """## {device}, {date}

<device>

### Correctness

#### The kernels

<kernels>

<wrong>

<sanitizer>

#### Large programs

<errors>

### Times

#### The kernels

<events>

<alone>

<worst>

<best>

#### Large programs

<large>

<groups>
"""


def make_tables(results: dict[str, Any]) -> dict[str, list[str]]:
    """All tables by their marks, which begin with the target."""
    tables = {
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
    return {f"{results['about']['target']} {name}": lines for name, lines in tables.items()}


def main() -> None:
    """Writes the section of the results' target."""
    results, page = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    target, date = results["about"]["target"], results["about"]["date"]
    text = page.read_text() if page.exists() else "# Measured on GPUs\n"
    if f"<!-- {target} device -->" not in text:
        marks = rf"<!-- {target} \1 -->\n<!-- end of {target} \1 -->"
        section = re.sub(r"^<(\w+)>$", marks, NEW_SECTION, flags=re.M)
        page.write_text(f"{text}\n{section.format(device=device_name(results), date=date)}")
    put_tables(make_tables(results), True, page)


if __name__ == "__main__":
    main()
