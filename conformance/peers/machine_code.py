"""Instructions and loops in the machine code (SASS) of NVIDIA GPUs: for `machine_code_beside_triton.py`.

The code is the text of `nvdisasm -c`. Loops are the natural loops of its control-flow graph, so that blocks which the
assembler moves behind the end of the kernel, such as the retries of a wait, do not stretch the loop over the code between.
"""

import collections
import dataclasses
import re
import struct

# Labels of blocks, and of subroutines that the assembler brings.
LABEL = re.compile(r"\s*(\.L_x_\d+|\$[\w$]+):")
INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][A-Za-z0-9_.]*)\s*(.*?)\s*;?\s*(?:\})?\s*(?:/\*.*)?$"
)
TARGET = re.compile(r"`\(([^()]+)\)")

# The class of an instruction by the start of its opcode; the first that fits counts.
CLASSES = (
    ("copy", "LDGSTS UTMALDG UBLKCP"),
    ("mma", "HGMMA QGMMA IGMMA BGMMA HMMA IMMA DMMA QMMA BMMA"),
    ("shared", "LDSM STSM LDS STS ATOMS"),
    ("load", "LDG LD."),
    ("store", "STG ST. UTMASTG UTMAREDG"),
    ("shuffle", "SHFL"),
    ("barrier", "BAR SYNCS WARPSYNC DEPBAR LDGDEPBAR WARPGROUP ARRIVES FENCE MEMBAR ERRBAR"),
    ("local", "LDL STL"),
    ("atomic", "ATOM RED"),
    ("function", "MUFU"),
    ("convert", "F2F F2I I2F F2FP FRND I2FP F2IP"),
    ("half", "HADD HMUL HFMA HMNMX"),
    ("double", "DADD DMUL DFMA DSETP"),
    ("float", "FADD FMUL FFMA"),
    ("branch", "BRA BSSY BSYNC CALL RET EXIT BREAK BRX"),
)
OTHER = "integer"

# Cycles that a scheduler issues an instruction of 32 lanes for: 32 over the results per cycle of a quarter of the
# multiprocessor. CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"; memory instructions have 8 lanes
# a cycle.
CYCLES = {
    "a100": {"float": 2, "half": 2, "double": 4, "integer": 2, "convert": 2, "function": 8, "shuffle": 4},
    "h100": {"float": 1, "half": 2, "double": 2, "integer": 2, "convert": 2, "function": 8, "shuffle": 4},
}
SAME_CYCLES = {"barrier": 2, "branch": 2, "copy": 4, "load": 4, "store": 4, "shared": 4, "local": 4, "atomic": 8, "mma": 0}
MATRIX_ACCESS_CYCLES = 16

# Multiply-adds of a warp by the shape in the opcode.
MMA_WORK = {"884": 256, "1684": 512, "1688": 1024, "8816": 1024, "16816": 2048, "8832": 2048, "16832": 4096, "16864": 8192}
MMA = re.compile(r"[HIQDB]MMA\.(?:SP\.)?(\d+)")
WARPGROUP_MMA = re.compile(r"[HQIB]GMMA\.(?:SP\.)?64x(\d+)x(\d+)")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One instruction."""

    guarded: bool
    opcode: str
    operands: str

    @property
    def kind(self) -> str:
        """The class of the instruction."""
        fits = (name for name, starts in CLASSES if any(self.opcode.startswith(start) for start in starts.split()))
        return next(fits, OTHER)

    @property
    def access_bytes(self) -> int:
        """Bytes for each lane of an access of memory."""
        widths = ((r"\.128\b", 16), (r"\.64\b", 8), (r"\.[US]8\b", 1), (r"\.[US]16\b", 2))
        return next((width for pattern, width in widths if re.search(pattern, self.opcode)), 4)

    @property
    def matrix_work(self) -> int:
        """Multiply-adds of one warp."""
        if found := WARPGROUP_MMA.match(self.opcode):
            return 64 * int(found[1]) * int(found[2]) // 4
        found = MMA.match(self.opcode)
        return MMA_WORK.get(found[1], 0) if found else 0

    def cycles(self, target: str) -> float:
        """Cycles of a scheduler to issue the instruction."""
        if self.opcode.startswith(("LDSM", "STSM")):
            return MATRIX_ACCESS_CYCLES
        taken = (SAME_CYCLES | CYCLES[target])[self.kind]
        return taken * max(1, self.access_bytes // 4) if self.kind in ("load", "store", "shared", "copy") else taken


@dataclasses.dataclass
class Block:
    """A basic block, and the indices of the blocks that may follow it."""

    instructions: list[Instruction] = dataclasses.field(default_factory=list)
    follows: list[int] = dataclasses.field(default_factory=list)


def read_lines(text: str) -> list[str | Instruction]:
    """The labels and the instructions of a disassembly, without padding."""
    lines: list[str | Instruction] = []
    for line in text.splitlines():
        if label := LABEL.match(line):
            lines.append(label[1])
        elif (found := INSTRUCTION.match(line)) and found[2] != "NOP":
            lines.append(Instruction(bool(found[1]), found[2], found[3]))
    return lines


def ends_block(instruction: Instruction) -> bool:
    """Whether control may go elsewhere after the instruction."""
    return instruction.opcode.split(".")[0] in ("BRA", "EXIT", "RET", "BRX", "JMP", "JMX", "CALL", "BREAK")


def falls_through(instruction: Instruction) -> bool:
    """Whether the next instruction may follow."""
    name = instruction.opcode.split(".")[0]
    conditional = instruction.guarded or not instruction.operands.startswith("`(")
    return name in ("CALL", "BREAK") or (conditional if name == "BRA" else instruction.guarded)


def read_blocks(text: str) -> list[Block]:
    """The basic blocks that the kernel may reach, with the edges between them; the first is the entry."""
    blocks, starts, is_open = [Block()], {}, True
    for line in read_lines(text):
        if isinstance(line, str):
            if blocks[-1].instructions or not is_open:
                blocks.append(Block())
            starts[line], is_open = len(blocks) - 1, True
            continue
        if not is_open:
            blocks.append(Block())
        blocks[-1].instructions.append(line)
        is_open = not ends_block(line)
    for index, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else None
        if last is not None and ends_block(last) and not last.opcode.startswith("RET"):
            block.follows = [starts[name] for name in TARGET.findall(last.operands) if name in starts]
        if index + 1 < len(blocks) and (last is None or not ends_block(last) or falls_through(last)):
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


class Loop:
    """The instructions of a loop."""

    def __init__(self, instructions: list[Instruction]) -> None:
        self.instructions = instructions
        self.work = sum(instruction.matrix_work for instruction in instructions)
        self.bytes_read = sum(one.access_bytes for one in instructions if one.kind in ("load", "copy"))

    @property
    def is_wait(self) -> bool:
        """Whether the loop only waits at a barrier in shared memory."""
        names = {instruction.kind for instruction in self.instructions}
        return "barrier" in names and names <= {"barrier", "branch", OTHER}


def instructions_of(blocks: list[Block], body: set[int]) -> list[Instruction]:
    """The instructions of some blocks in order."""
    return [one for index in sorted(body) for one in blocks[index].instructions]


def find_heaviest_loop(blocks: list[Block]) -> Loop | None:
    """The innermost loop with the most matrix work, or else bytes read, or else instructions; waits are no loops.

    The repetitions of a wait are not counted: how often they run is a matter of time, and the first attempt is in the loop
    itself.
    """
    loops = find_loops(blocks)
    waits = [body for body in loops if Loop(instructions_of(blocks, body)).is_wait]
    waiting = {index for body in waits for index in body}
    bodies = [body - waiting for body in loops if body not in waits]
    found = [(body, Loop(instructions_of(blocks, body))) for body in bodies if body]
    working = [pair for pair in found if pair[1].work] or [pair for pair in found if pair[1].bytes_read] or found
    innermost = [loop for body, loop in working if not any(other < body for other, _ in working)]
    return max(innermost, key=lambda loop: (loop.work, loop.bytes_read, len(loop.instructions)), default=None)


def count_encoded(cubin: bytes) -> int:
    """The instructions in the sections of code of an object, without padding, as tests count them without a disassembler.

    An instruction has 16 bytes; the low 12 bits of a `NOP` are 0x918.
    """
    table = struct.unpack_from("<Q", cubin, 40)[0]
    size, number, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + size * index) for index in range(number)]
    strings = headers[names][4]
    code = [header for header in headers if cubin[strings + header[0] :].startswith(b".text.")]
    words = [struct.unpack_from("<H", cubin, at)[0] for *_, start, length in code for at in range(start, start + length, 16)]
    return sum(word & 0xFFF != 0x918 for word in words)


def summarize(text: str, target: str) -> dict[str, float]:
    """Counts of a kernel's machine code."""
    blocks = read_blocks(text)
    everything = [one for block in blocks for one in block.instructions]
    loop = find_heaviest_loop(blocks)
    within = loop.instructions if loop else []
    return {
        "instructions": len(everything),
        "global_loads": sum(one.kind in ("load", "copy") for one in everything),
        "global_stores": sum(one.kind == "store" for one in everything),
        "loop": len(within),
        "loop_work": loop.work if loop else 0,
        "loop_bytes_read": loop.bytes_read if loop else 0,
        "loop_cycles": sum(one.cycles(target) for one in within),
    }
