"""Instructions and loops in machine code, for `machine_code_beside_triton.py`.

`sass.py` and `amdgcn.py` read the text. Loops are the natural loops of the control-flow graph, so that blocks which the
assembler moves behind the end of the kernel, such as the retries of a wait, do not stretch the loop over the code between.
"""

import collections
import dataclasses
from collections.abc import Iterable
from typing import Protocol


class Instruction(Protocol):
    """One instruction."""

    @property
    def kind(self) -> str:
        """The class of the instruction."""

    @property
    def access_bytes(self) -> int:
        """Bytes for each lane of an access of memory."""

    @property
    def matrix_work(self) -> int:
        """Multiply-adds of one warp."""

    @property
    def ends_block(self) -> bool:
        """Whether control may go elsewhere after the instruction."""

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction may follow."""

    @property
    def branch_targets(self) -> list[str]:
        """Labels to which the instruction may branch."""

    def cycles(self, target: str) -> float:
        """Cycles of a scheduler to issue the instruction."""


def classify(opcode: str, classes: Iterable[tuple[str, str]]) -> str:
    """The class of an instruction: the first of `classes` with a start of its opcode, or else `integer`."""
    return next((name for name, starts in classes if opcode.startswith(tuple(starts.split()))), "integer")


@dataclasses.dataclass
class Block:
    """A basic block, and the indices of the blocks that may follow it."""

    instructions: list[Instruction] = dataclasses.field(default_factory=list)
    follows: list[int] = dataclasses.field(default_factory=list)


def read_blocks(lines: Iterable[str | Instruction]) -> list[Block]:
    """The basic blocks that the kernel may reach, with the edges between them; the first is the entry."""
    blocks, starts, is_open = [Block()], {}, True
    for line in lines:
        if isinstance(line, str):
            if blocks[-1].instructions or not is_open:
                blocks.append(Block())
            starts[line], is_open = len(blocks) - 1, True
            continue
        if not is_open:
            blocks.append(Block())
        blocks[-1].instructions.append(line)
        is_open = not line.ends_block
    for index, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.ends_block:
            block.follows = [starts[name] for name in last.branch_targets if name in starts]
        if index + 1 < len(blocks) and (last is None or not last.ends_block or last.falls_through):
            block.follows.append(index + 1)
    return keep_reachable(blocks)


def keep_reachable(blocks: list[Block]) -> list[Block]:
    """The blocks that the first one reaches, in order."""
    found, waiting = {0}, [0]
    while waiting:
        for follower in blocks[waiting.pop()].follows:
            if follower not in found:
                found.add(follower)
                waiting.append(follower)
    numbers = {old: new for new, old in enumerate(sorted(found))}
    return [Block(blocks[old].instructions, [numbers[follower] for follower in blocks[old].follows]) for old in numbers]


def find_dominators(blocks: list[Block]) -> list[set[int]]:
    """For each block, the blocks that every path from the entry to it passes."""
    before: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for follower in block.follows:
            before[follower].append(index)
    dominators = [{0}] + [set(range(len(blocks))) for _ in blocks[1:]]
    changed = True
    while changed:
        changed = False
        for index in range(1, len(blocks)):
            new = {index} | set.intersection(*(dominators[earlier] for earlier in before[index]))
            changed = changed or new != dominators[index]
            dominators[index] = new
    return dominators


def find_loops(blocks: list[Block]) -> list[set[int]]:
    """The natural loops: the blocks of each, loops of the same header as one."""
    dominators = find_dominators(blocks)
    before = collections.defaultdict(list)
    for index, block in enumerate(blocks):
        for follower in block.follows:
            before[follower].append(index)
    loops: dict[int, set[int]] = {}
    for index, block in enumerate(blocks):
        for header in block.follows:
            if header not in dominators[index]:
                continue
            body, waiting = loops.setdefault(header, {header}), [index]
            while waiting:
                if (current := waiting.pop()) not in body:
                    body.add(current)
                    waiting.extend(before[current])
    return list(loops.values())


# The classes of loads of global memory.
LOADS = ("load", "copy")


class Loop:
    """The instructions of a loop, whose blocks are `body`."""

    def __init__(self, blocks: list[Block], body: set[int]) -> None:
        self.body = body
        self.instructions = instructions_of(blocks, body)
        self.work = sum(instruction.matrix_work for instruction in self.instructions)
        self.bytes_read = sum(one.access_bytes for one in self.instructions if one.kind in LOADS)

    @property
    def is_wait(self) -> bool:
        """Whether the loop only waits at a barrier in shared memory."""
        names = {instruction.kind for instruction in self.instructions}
        return "barrier" in names and names <= {"barrier", "branch", "integer"}


def instructions_of(blocks: list[Block], body: set[int]) -> list[Instruction]:
    """The instructions of some blocks in order."""
    return [one for index in sorted(body) for one in blocks[index].instructions]


def find_heaviest_loop(blocks: list[Block]) -> Loop | None:
    """The innermost loop with the most matrix work, or else bytes read, or else instructions; waits are no loops.

    The repetitions of a wait are not counted: how often they run is a matter of time, and the first attempt is in the loop
    itself.
    """
    loops = find_loops(blocks)
    waits = [body for body in loops if Loop(blocks, body).is_wait]
    waiting = {index for body in waits for index in body}
    bodies = [body - waiting for body in loops if body not in waits]
    found = [Loop(blocks, body) for body in bodies if body]
    working = [loop for loop in found if loop.work] or [loop for loop in found if loop.bytes_read] or found
    innermost = [loop for loop in working if not any(other.body < loop.body for other in working)]
    return max(innermost, key=lambda loop: (loop.work, loop.bytes_read, len(loop.instructions)), default=None)


def count_loads(instructions: Iterable[Instruction]) -> int:
    """How many load global memory."""
    return sum(one.kind in LOADS for one in instructions)


def count_prefetches(blocks: list[Block], loop: Loop) -> int:
    """Loads before a loop that take the place of its first iteration's: as many as an iteration has, if there are so many."""
    before = {index for index, block in enumerate(blocks) if loop.body.intersection(block.follows)} - loop.body
    while new := {index for index, block in enumerate(blocks) if before.intersection(block.follows)} - before - loop.body:
        before |= new
    return min(count_loads(loop.instructions), count_loads(instructions_of(blocks, before)))


def summarize(lines: Iterable[str | Instruction], target: str) -> dict[str, float]:
    """Counts of a kernel's machine code."""
    blocks = read_blocks(lines)
    everything = [one for block in blocks for one in block.instructions]
    loop = find_heaviest_loop(blocks)
    within = loop.instructions if loop else []
    return {
        "instructions": len(everything),
        "global_loads": count_loads(everything),
        "prefetches": count_prefetches(blocks, loop) if loop else 0,
        "global_stores": sum(one.kind == "store" for one in everything),
        "loop": len(within),
        "loop_work": loop.work if loop else 0,
        "loop_bytes_read": loop.bytes_read if loop else 0,
        "loop_cycles": sum(one.cycles(target) for one in within),
    }
