"""Lines of Rust code of each package, without blank lines and comments.

    python3 conformance/peers/code_lines.py [FOLDER]

Lines of `tests`, `benches`, `fuzz`, of the packages for tests and of modules under `#[cfg(test)]` count as tests; files with
`@generated` at their start are counted separately. FOLDER is a checkout of this repository, by default the one of the script.
"""

import collections
import pathlib
import re
import subprocess
import sys

TESTS = re.compile(r"(^|/)(tests|benches|fuzz|testkit|properties)/|tests\.rs$")
PACKAGE_FOLDERS = {"framework", "plugins", "conformance"}


def package(path: str) -> str:
    """Folder of a file's package, to two levels; sources of the facade have the first only."""
    parts = path.split("/")
    deep = parts[0] in PACKAGE_FOLDERS and len(parts) > 2 and parts[1] not in {"src", "tests", "benches"}
    return "/".join(parts[:2]) if deep else parts[0]


def count(text: str) -> tuple[int, int]:
    """Code lines of a file: outside and inside of its module of tests."""
    head, *rest = re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?=mod \w+ \{)", text, maxsplit=1)
    inside = "".join(rest)
    return count_lines(head), count_lines(inside)


def count_lines(text: str) -> int:
    """Lines that are neither blank nor comments."""
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.splitlines())


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else str(pathlib.Path(__file__).parents[2])
    command = ["git", "-C", root, "ls-files", "*.rs"]
    files = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for file in files:
        text = (pathlib.Path(root) / file).read_text(errors="replace")
        product, tests = count(text)
        kind = "generated" if "@generated" in text[:400] else "tests" if TESTS.search(file) else "product"
        counts[package(file)][kind] += product
        counts[package(file)]["tests"] += tests
    print(f"{'package':28}{'product':>9}{'generated':>11}{'tests':>8}")
    total: collections.Counter[str] = sum(counts.values(), collections.Counter())
    for name, lines in [*sorted(counts.items(), key=lambda entry: -entry[1]["product"]), ("all", total)]:
        print(f"{name:28}{lines['product']:9}{lines['generated']:11}{lines['tests']:8}")


if __name__ == "__main__":
    main()
