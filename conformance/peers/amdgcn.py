"""AMDGCN, the machine code of AMD GPUs, as LLVM prints it, for `machine_code.py`."""

import dataclasses
import re
from collections.abc import Iterator

from machine_code import classify

LABEL = re.compile(r"([.\w$]+):")
INSTRUCTION = re.compile(r"\s+([a-z][a-z0-9_]+)\b\s*(.*)$")
TARGET = re.compile(r"\.LBB\w+")

# The class of an instruction by the start of its opcode; the first that fits counts.
CLASSES = (
    ("mma", "v_mfma v_smfma"),
    ("shuffle", "ds_bpermute ds_permute ds_swizzle"),
    ("shared", "ds_"),
    ("load", "global_load buffer_load flat_load"),
    ("store", "global_store buffer_store flat_store"),
    ("atomic", "global_atomic buffer_atomic flat_atomic"),
    ("local", "scratch_"),
    ("wait", "s_waitcnt s_nop"),
    ("barrier", "s_barrier"),
    ("branch", "s_cbranch s_branch s_endpgm s_setpc s_swappc"),
    ("scalar", "s_"),
    ("function", "v_exp v_log v_rcp v_rsq v_sqrt v_sin v_cos"),
)

# Cycles of a SIMD unit to issue an instruction of 64 lanes: 4 for 16 lanes a cycle, 16 for functions at a quarter of that rate
# (CDNA3 instruction set architecture, section 1). The scalar unit and waits take one.
CYCLES = {"wait": 1, "scalar": 1, "barrier": 4, "branch": 4, "function": 16, "shuffle": 8, "atomic": 16, "mma": 0}
ACCESS_CYCLES = 8

# Multiply-adds of a warp from the shape in the opcode, with the number of its blocks.
MMA = re.compile(r"v_s?mfma_[a-z0-9]+_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?")
WIDTH = re.compile(r"dwordx(\d)|_b(\d+)")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One instruction."""

    opcode: str
    operands: str

    @property
    def kind(self) -> str:
        """The class of the instruction."""
        return classify(self.opcode, CLASSES)

    @property
    def access_bytes(self) -> int:
        """Bytes for each lane of an access of memory."""
        if found := WIDTH.search(self.opcode):
            width = 4 * int(found[1]) if found[1] else int(found[2]) // 8
            return width * (2 if re.match(r"ds_(read|write)2", self.opcode) else 1)
        return 4 if "dword" in self.opcode else 1 if "byte" in self.opcode or "8" in self.opcode else 2

    @property
    def matrix_work(self) -> int:
        """Multiply-adds of one warp."""
        found = MMA.match(self.opcode)
        return int(found[1]) * int(found[2]) * int(found[3]) * int(found[4] or 1) if found else 0

    @property
    def ends_block(self) -> bool:
        """Whether control may go elsewhere after the instruction."""
        return self.kind == "branch"

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction may follow."""
        return self.opcode.startswith(("s_cbranch", "s_swappc"))

    @property
    def branch_targets(self) -> list[str]:
        """Labels to which the instruction may branch."""
        return TARGET.findall(self.operands)

    def cycles(self, _target: str) -> float:
        """Cycles of a scheduler to issue the instruction."""
        if self.kind in ("load", "store", "shared", "local"):
            return ACCESS_CYCLES * max(1, self.access_bytes // 4)
        return CYCLES.get(self.kind, 4)


def read_lines(text: str) -> Iterator[str | Instruction]:
    """The labels and the instructions of the kernel, without those of functions that it may call."""
    name = re.search(r"\.amdhsa_kernel (\S+)", text)
    code = text[text.find(f"\n{name[1]}:") :] if name else text
    for line in code.split(".amdhsa_kernel")[0].splitlines():
        code = line.split(";")[0].rstrip()
        if label := LABEL.match(code):
            yield label[1]
        elif found := INSTRUCTION.match(code):
            yield Instruction(found[1], found[2])


def read_resources(text: str) -> dict[str, int]:
    """Written instructions, vector registers of a lane (accumulation registers included), and bytes of spilled ones."""
    numbers = (re.search(rf"\.{name}:\s+(\d+)", text) for name in ("vgpr_count", "vgpr_spill_count"))
    registers, spills = (int(found[1]) if found else 0 for found in numbers)
    written = sum(isinstance(line, Instruction) for line in read_lines(text))
    return {"written": written, "registers": registers, "spills": 4 * spills}
