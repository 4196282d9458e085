"""Executed machine instructions of NVIDIA GPUs, for `executed_beside_triton.py`.

The virtual device counts how often warps execute each line of the PTX. `.loc` directives tell `ptxas` the lines, and `nvdisasm -g`
prints the line that each machine instruction comes from; the directives do not change the machine code. So a machine instruction is
executed as often as its line. Where `ptxas` repeats a block, as for an unrolled loop, its copies share the executions: a block has as
many copies as the rarest of its accesses and shuffles has machine instructions. Subroutines that `ptxas` brings for special
operands, such as those of `div.rn`, count as not executed.
"""

import collections
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterator

import sass
from triton_code import find_assembler, run_assembler

# The start of a statement, and a directive or debug section that is left out: lines of other files.
STATEMENT = re.compile(r"\s*(?:\{\s*)?(?:@|[a-z.{])")
OTHER_LINES = re.compile(r"\s*\.(?:loc|file)\b")
# A line that ends a block of PTX, and the class of the machine instruction of an instruction that is always one.
BLOCK_END = re.compile(r"^\s*[$\w]+:|(?:^|\s)(?:bra|ret|exit|brx)\b")
ACCESS = re.compile(r"^\s*(?:@!?%?\w+\s+)?(ld\.global|st\.global|ld\.shared|st\.shared|shfl)\b")
ACCESS_KINDS = {"ld.global": "load", "st.global": "store", "ld.shared": "shared", "st.shared": "shared", "shfl": "shuffle"}
SOURCE_LINE = re.compile(r'\s*//## File ".*", line (\d+)')


def mark_lines(text: str) -> str:
    """PTX that states the line of each of its instructions."""
    marked, is_start, is_body = [], False, False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.split("//")[0].strip()
        if OTHER_LINES.match(line):
            continue
        if is_body and is_start and STATEMENT.match(stripped) and not stripped.startswith("."):
            marked.append(f"\t.loc\t1 {number} 0")
        marked.append(line)
        if stripped:
            is_start = stripped[-1] in ";{}:"
            is_body = is_body or stripped == "{"
        if stripped.startswith(".address_size"):
            marked.append('\t.file\t1 "kernel.ptx"')
    return "\n".join(marked) + "\n"


def read_instructions(listing: str) -> Iterator[tuple[int, str]]:
    """The line of PTX and the class of each machine instruction of the kernel."""
    line = 0
    for text in listing.splitlines():
        if text.startswith("$__internal"):
            return
        if found := SOURCE_LINE.match(text):
            line = int(found[1])
        else:
            yield from ((line, one.kind) for one in sass.read_lines(text) if isinstance(one, sass.Instruction))


def count_copies(text: str, kinds: dict[int, collections.Counter[str]]) -> dict[int, int]:
    """For each line of PTX, how many copies of its block the machine code has; `kinds` are the machine instructions of each line."""
    copies: dict[int, int] = {}
    block: list[int] = []

    def close() -> None:
        found = [kinds[line][ACCESS_KINDS[access[1]]] for line in block if (access := ACCESS.match(lines[line - 1]))]
        copies.update(dict.fromkeys(block, min((count for count in found if count), default=1)))
        block.clear()

    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        block.append(number)
        if BLOCK_END.search(line):
            close()
    close()
    return copies


def count_by_line(text: str, processor: str) -> dict[int, float]:
    """The machine instructions that a warp executes when it executes each line of the PTX `text` once."""
    with tempfile.TemporaryDirectory() as folder:
        marked = pathlib.Path(folder) / "marked.ptx"
        marked.write_text(mark_lines(text))
        cubin, _ = run_assembler(marked, processor, "-lineinfo")
        listing = subprocess.run([find_assembler()[1], "-g", "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    kinds: dict[int, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for line, kind in read_instructions(listing):
        kinds[line][kind] += 1
    copies = count_copies(text, kinds)
    return {line: sum(found.values()) / copies.get(line, 1) for line, found in kinds.items()}
