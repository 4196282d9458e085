"""SASS, the machine code of NVIDIA GPUs, as `nvdisasm -c` prints it, for `machine_code.py`."""

import dataclasses
import re
import struct

from machine_code import classify

# Labels of blocks, and of subroutines that the assembler brings.
LABEL = re.compile(r"\s*(\.L_x_\d+|\$[\w$]+):")
INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][A-Za-z0-9_.]*)\s*(.*?)\s*;?\s*(?:\})?\s*(?:/\*.*)?$"
)
TARGET = re.compile(r"`\(([^()]+)\)")
# The disassembler lists the labels of an indexed branch behind it.
LISTED_TARGET = re.compile(r"\.L_x_\d+")

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
        return classify(self.opcode, CLASSES)

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

    @property
    def ends_block(self) -> bool:
        """Whether control may go elsewhere after the instruction."""
        return self.opcode.split(".")[0] in ("BRA", "EXIT", "RET", "BRX", "JMP", "JMX", "CALL", "BREAK")

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction may follow."""
        name = self.opcode.split(".")[0]
        conditional = self.guarded or not self.operands.startswith("`(")
        return name in ("CALL", "BREAK") or (conditional if name == "BRA" else self.guarded)

    @property
    def branch_targets(self) -> list[str]:
        """Labels to which the instruction may branch."""
        if self.opcode.startswith("RET"):
            return []
        return (LISTED_TARGET if self.opcode.startswith("BRX") else TARGET).findall(self.operands)


def read_lines(text: str) -> list[str | Instruction]:
    """The labels and the instructions of a disassembly, without padding."""
    lines: list[str | Instruction] = []
    for line in text.splitlines():
        if label := LABEL.match(line):
            lines.append(label[1])
        elif (found := INSTRUCTION.match(line)) and found[2] != "NOP":
            lines.append(Instruction(bool(found[1]), found[2], found[3]))
    return lines


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
