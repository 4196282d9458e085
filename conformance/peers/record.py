"""Counts of Triton's code and of ours that are committed, so that tests compare ours with them without Triton."""

import datetime
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Protocol

VERSION = "3.9.0"


class Pair(Protocol):
    """A case on both sides."""

    name: str

    @property
    def own(self) -> Mapping[str, float]:
        """Our counts."""

    @property
    def other(self) -> Mapping[str, float]:
        """Triton's counts."""


def write_record(file: pathlib.Path, pairs: Sequence[Pair], metrics: Sequence[str], **about: str) -> None:
    """Writes a line that says what made the counts, and a line for each case.

    Tests of the plugin write the file too, with `TILEWRIGHT_BLESS=1`, in the same form.
    """
    lines: list[dict[str, object]] = [{"triton": VERSION, "date": datetime.date.today().isoformat(), **about}]
    for pair in pairs:
        own, other = ({metric: side[metric] for metric in metrics} for side in (pair.own, pair.other))
        lines.append({"case": pair.name, "ours": own, "triton": other})
    text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
    file.write_text(text)
