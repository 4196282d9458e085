"""Writes the facts that Triton's test of its axis information expects in the form of `framework/tile/tests/tile/axis_info`.

    python3 alignment_facts.py TEST FACTS
    TILEWRIGHT_AXIS_FACTS=FACTS cargo test --workspace --test tile facts

TEST is Triton's `test/Analysis/test-alignment.mlir`: a comment before an operation has the contiguity, divisibility,
constancy and value of its first result. FACTS gets one function after another, each line with the facts at its end. The
test compares them with our axis information and lists those that are less precise.
"""

import argparse
import pathlib
import re

REMARK = re.compile(r"//\s*expected-remark\s*(@below|@\+1)?\s*{{(.*)}}")


def functions(part):
    """Lines of each function of a part, after the aliases of the part."""
    lines = part.splitlines()
    aliases = [line for line in lines if re.match(r"\s*#\w+ = ", line)]
    starts = [at for at, line in enumerate(lines) if "tt.func" in line] + [len(lines)]
    for start, end in zip(starts, starts[1:]):
        depth, opened, kept = 0, False, []
        for line in lines[start:end]:
            kept.append(line)
            code = line.split("//")[0]
            depth += code.count("{") - code.count("}")
            opened |= code.rstrip().endswith("{")
            if opened and depth == 0:
                break
        yield aliases + kept


def state_facts(lines):
    """Lines with each expectation behind the operation that it precedes."""
    expected = None
    for line in lines:
        remark = REMARK.search(line)
        if remark and line.strip().startswith("//"):
            expected = remark[2]
        elif line.strip().startswith("//"):
            continue
        elif expected and re.match(r"\s*%\w+:\d", line):
            # The expectation holds for one of several results.
            yield line
            expected = None
        elif expected and line.strip():
            yield f"{line.split('//')[0].rstrip()} // {expected.replace(' = ', ' ')}"
            expected = None
        else:
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("facts", type=pathlib.Path)
    arguments = parser.parse_args()
    parts = re.split(r"^\s*// -----.*$", arguments.test.read_text(), flags=re.M)
    programs = ["\n".join(state_facts(lines)) for part in parts for lines in functions(part)]
    arguments.facts.write_text("\n// -----\n".join(programs) + "\n")


if __name__ == "__main__":
    main()
