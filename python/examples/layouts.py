"""Layouts without Triton: where an element lies, what a conversion costs, and which accesses have bank conflicts."""

import tilewright as tw

ROWS = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
COLUMNS = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"


def main() -> None:
    shape = (64, 64)
    rows, columns = tw.layout(ROWS, shape), tw.layout(COLUMNS, shape)
    print("register 3 of lane 9 of warp 2 holds", rows(register=3, lane=9, warp=2))

    # Which register of which lane of COLUMNS has the element that a register of ROWS has?
    there = rows.invert_and_compose(columns)
    assert there.compose(columns) == rows

    plan = tw.convert(rows, columns, shape, 16, "h100")
    wavefronts, bound = plan["wavefronts_loaded"], plan["bound"]["wavefronts_loaded"]
    print(f"conversion: {plan['path']}, {wavefronts} wavefronts loaded, the bound is {bound}")
    for name, shared in (("plain", PLAIN), ("swizzled", SWIZZLED)):
        lanes = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>"
        print(f"{name} shared memory:", tw.bank_conflicts(lanes, shared, (32, 64), 16), "wavefronts too many")


if __name__ == "__main__":
    main()
