"""The class of a tile program: which tables of comparisons it is in."""

import re
from collections.abc import Iterator
from typing import Protocol, TypeVar

CLASSES = ("attention", "matmul", "reduction, scan", "elementwise", "other")

DOT = re.compile(r"\btt\.dot(?:_scaled)?\b")
EXPONENTIAL = re.compile(r"\bmath\.exp2?\b")
REDUCTION = re.compile(r"\btt\.(?:reduce|scan)\b")
LOOP = re.compile(r"\bscf\.(?:for|while)\b")
OTHER = re.compile(r"\btt\.(?:atomic_rmw|atomic_cas|gather|histogram|trans|descriptor_reduce)\b|\bscf\.while\b|\bcf\.cond_br\b")


def classify(text: str) -> str:
    """The class of a program by the operations of its text."""
    dots = len(DOT.findall(text))
    if dots > 1 and EXPONENTIAL.search(text) and REDUCTION.search(text):
        return "attention"
    if dots:
        return "matmul"
    if REDUCTION.search(text):
        return "reduction, scan"
    return "other" if OTHER.search(text) else "elementwise"


def has_plain_loop(text: str) -> bool:
    """Whether a program has loops and no dots."""
    return bool(LOOP.search(text)) and not DOT.search(text)


class Classified(Protocol):
    """A compared case with its class."""

    kind: str


ClassifiedCase = TypeVar("ClassifiedCase", bound=Classified)


def class_rows(compared: dict[str, list[ClassifiedCase]]) -> Iterator[tuple[str, str, list[ClassifiedCase]]]:
    """Target, class and cases of each line of a table; the last class of a target is all of its cases."""
    for target, cases in compared.items():
        for kind in (*CLASSES, "all"):
            if some := [case for case in cases if kind in (case.kind, "all")]:
                yield target, kind, some
