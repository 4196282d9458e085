"""Compares random layouts and operations on layouts with Triton's library.

    python3 layouts_beside_triton.py COMMAND [--rows N] [--seed S] [--differences]

Draws N random rows (default 10,000): parameters and a shape for each layout family, and inputs for each operation of
Triton's Python binding of its linear layouts. Some parameters are invalid on purpose. Triton 3.9.0 (`pip install
triton==3.9.0` for this Python) answers each row in a child process, since its assertions end the process; an ended
process counts as a refusal. COMMAND is the command `tilewright`, which answers the same rows with `batch`. The program
prints, for each family and operation, the rows that Triton answers and refuses and the differences, and fails if there
is a difference. `--differences` prints them.

Triton has no linear layout for `padded_shared`: only the verdict on the parameters is compared.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

DIMS = ["register", "lane", "warp", "block", "offset"]
# Triton's Python class of shared layouts has no value for a block of one element: such rows are not counted.
NOT_EXPRESSIBLE = "offset_bases must not be empty"


def power(low, high):
    return 1 << random.randint(low, high)


def order(rank):
    axes = list(range(rank))
    random.shuffle(axes)
    return axes


def spread(total, rank):
    """Powers of two for each axis with the product 2^total."""
    bits = [0] * rank
    for _ in range(total):
        bits[random.randrange(rank)] += 1
    return [1 << bit for bit in bits]


def cluster(rank, chance=0.25):
    """Bases of the blocks of a cluster, each along one axis; some hold copies."""
    if random.random() > chance:
        return []
    extent, bases = [1] * rank, []
    for _ in range(random.randint(1, 3)):
        basis = [0] * rank
        if random.random() < 0.8:
            axis = random.randrange(rank)
            basis[axis] = extent[axis]
            extent[axis] *= 2
        bases.append(basis)
    random.shuffle(bases)
    return bases


def shape_of(rank):
    return [power(0, {1: 10, 2: 8, 3: 6, 4: 4}[rank]) for _ in range(rank)]


def units(shape, extra=0):
    """The unit bases of a shape and some zero bases, shuffled."""
    bases = [[1 << bit if at == axis else 0 for at in range(len(shape))]
             for axis, size in enumerate(shape) for bit in range(size.bit_length() - 1)]
    bases += [[0] * len(shape) for _ in range(extra)]
    random.shuffle(bases)
    return bases


def blocked(rank, blocks=True):
    return {"kind": "blocked", "size_per_thread": spread(random.randint(0, 4), rank),
            "threads_per_warp": spread(random.choice([4, 5, 5, 6]), rank),
            "warps_per_cta": spread(random.randint(0, 3), rank), "order": order(rank),
            **({"cga_layout": bases} if blocks and (bases := cluster(rank)) else {})}


def nvidia_mma(version=None, rank=2):
    version = version or random.choice([2, 3])
    warps = spread(random.randint(0, 3), rank)
    if version == 3:
        warps = [4 * power(0, 1), power(0, 1)]
        return {"kind": "nvidia_mma", "version": [3, 0], "warps_per_cta": warps,
                "instr_shape": [16, random.choice([8, 16, 32, 64, 128, 256]), random.choice([8, 16, 32])]}
    return {"kind": "nvidia_mma", "version": [2, 0], "warps_per_cta": warps,
            "instr_shape": random.choice([[16, 8], [16, 8], [8, 8]]) if rank == 2 else [1, 16, 8]}


def amd_mfma():
    m, n = random.choice([(32, 32), (16, 16), (64, 4), (4, 64)])
    layout = {"kind": "amd_mfma", "version": random.randint(1, 4), "instr_shape": [m, n, random.choice([4, 8, 16, 32])],
              "transposed": True if (m, n) in ((64, 4), (4, 64)) else random.random() < 0.5,
              "warps_per_cta": spread(random.randint(0, 3), 2)}
    if random.random() < 0.3 and m == n:
        layout["tiles_per_warp"] = spread(random.randint(0, 2), 2)
    if bases := cluster(2, 0.15):
        layout["cga_layout"] = bases
    return layout


def amd_wmma():
    layout = {"kind": "amd_wmma", "version": random.randint(1, 3), "transposed": random.random() < 0.5,
              "warp_bases": units(spread(random.randint(0, 3), 2)), "instr_shape": [16, 16, random.choice([16, 32])]}
    if bases := cluster(2, 0.15):
        layout["cga_layout"] = bases
    return layout


def dot_operand():
    kind = random.choice(["blocked", "mma2", "mma3", "mfma", "wmma"])
    if kind == "blocked":
        width = 0 if random.random() < 0.9 else 2
        return {"kind": "dot_operand", "operand_index": random.randint(0, 1), "k_width": width, "parent": blocked(2)}
    parent = {"mma2": lambda: nvidia_mma(2), "mma3": lambda: nvidia_mma(3), "mfma": amd_mfma, "wmma": amd_wmma}[kind]()
    index = 0 if kind == "mma3" and random.random() < 0.9 else random.randint(0, 1)
    return {"kind": "dot_operand", "operand_index": index, "k_width": power(0, 4), "parent": parent}


def distributed(rank):
    if rank == 2 and random.random() < 0.5:
        return random.choice([nvidia_mma, amd_mfma, amd_wmma, dot_operand])()
    return blocked(rank)


def sliced(rank):
    parent = distributed(rank + 1)
    return {"kind": "slice", "dim": random.randint(0, rank), "parent": parent}


def linear(shape):
    bases = units(shape, random.randint(0, 3))
    cuts = sorted(random.randint(0, len(bases)) for _ in range(3))
    parts = [bases[a:b] for a, b in zip([0, *cuts], [*cuts, len(bases)])]
    names = ("reg_bases", "lane_bases", "warp_bases", "block_bases")
    return {"kind": "linear", **dict(zip(names, parts)), "shape": shape}


def mixed(bases):
    """Adds some bases to others, so that a basis may move along several axes."""
    for _ in range(random.randint(0, 3)):
        if len(bases) > 1:
            a, b = random.sample(range(len(bases)), 2)
            bases[a] = [x ^ y for x, y in zip(bases[a], bases[b])]
    return bases


def shared_linear(shape):
    bases = mixed(units(shape, 0))
    if random.random() < 0.1:
        bases.append(list(random.choice(bases)) if random.random() < 0.7 else [0] * len(shape))
    blocks = [bases.pop() for _ in range(random.choice([0, 0, 0, 1, 2])) if len(bases) > 1]
    return {"kind": "shared_linear", "offset_bases": bases, "block_bases": blocks, "alignment": power(3, 7)}


def padded_shared(shape):
    intervals = random.sample([1 << bit for bit in range(2, 8)], random.randint(1, 2))
    if random.random() < 0.1:
        intervals.append(intervals[0])
    pairs = [[interval, power(0, 4) if random.random() < 0.95 else 3] for interval in intervals]
    bases = units(shape, 0)
    if random.random() < 0.1:
        bases.append(list(random.choice(bases)))
    elif random.random() < 0.1:
        bases = mixed(bases)
    return {"kind": "padded_shared", "interval_padding_pairs": pairs, "offset_bases": bases, "cga_layout": [],
            "shape": shape}


def swizzled_shared(rank):
    return {"kind": "swizzled_shared", "vec": power(0, 4), "per_phase": power(0, 3), "max_phase": power(0, 4),
            "order": order(rank), **({"cga_layout": bases} if (bases := cluster(rank)) else {})}


def nvmma_shared(rank):
    bits, padded = random.choice([8, 16, 32, 64]), random.random() < 0.2
    return {"kind": "nvmma_shared", "swizzle_byte_width": random.choice([0, 32, 64, 128]),
            "element_bitwidth": 8 if padded else bits, "transposed": random.random() < 0.4, "fp4_padded": padded,
            "rank": rank, **({"cga_layout": bases} if (bases := cluster(rank, 0.15)) else {})}


def tensor_memory():
    return {"kind": "tensor_memory", "block": [random.choice([64, 128]), power(3, 8)], "col_stride": power(0, 2)}


FAMILIES = {
    "blocked": 16, "slice": 12, "linear": 10, "dot_operand": 14, "nvidia_mma": 8, "amd_mfma": 8, "amd_wmma": 6,
    "swizzled_shared": 10, "nvmma_shared": 16, "shared_linear": 8, "padded_shared": 6, "tensor_memory": 4,
}


def family_row():
    """Parameters and shape of a random layout."""
    kind = random.choices(list(FAMILIES), FAMILIES.values())[0]
    rank = random.choice([1, 2, 2, 2, 3, 4])
    if kind in ("dot_operand", "nvidia_mma", "amd_mfma", "amd_wmma", "tensor_memory"):
        rank = 2
    if kind == "slice":
        rank = min(rank, 3)
    shape = shape_of(rank)
    if kind in ("shared_linear", "padded_shared") and max(shape) == 1:
        shape[0] = 2
    if kind in ("linear", "shared_linear", "padded_shared"):
        params = globals()[kind](shape)
        if random.random() < 0.3 and kind != "padded_shared":
            shape = shape_of(rank)
    elif kind in ("blocked", "swizzled_shared", "nvmma_shared"):
        params = globals()[kind](rank)
    elif kind == "slice":
        params = sliced(rank)
    else:
        params = globals()[kind]()
    if random.random() < 0.06:
        damage(params)
    return {"op": "layout", "params": params, "shape": shape}


def damage(params):
    """Makes one parameter wrong, or only unusual."""
    fixed = {"kind", "parent", "version", "instr_shape", "element_bitwidth", "fp4_padded", "rank"}
    if params["kind"] == "padded_shared":
        fixed |= {"offset_bases", "cga_layout", "shape"}
    names = [name for name in params if name not in fixed]
    if not names:
        return
    name = random.choice(names)
    value = params[name]
    if isinstance(value, bool):
        params[name] = not value
    elif isinstance(value, int):
        params[name] = random.choice([value + 1, 3 * value, 0])
    elif value and isinstance(value[0], int):
        at = random.randrange(len(value))
        value[at] = random.choice([value[at] + 1, value[at] * 2, 3])
    elif value and value[0]:
        basis = random.choice(value)
        basis[random.randrange(len(basis))] ^= power(0, 4)


def random_layout(ins=None, outs=None, surjective=False):
    """A random linear layout as JSON."""
    ins = ins or random.sample(DIMS, random.randint(1, 3))
    outs = outs or [f"dim{axis}" for axis in order(random.randint(1, 3))]
    out_bits = [random.randint(0, 4) for _ in outs]
    in_bits = [random.randint(0, 4) for _ in ins]
    if surjective:
        while sum(in_bits) < sum(out_bits):
            in_bits[random.randrange(len(ins))] += 1
    style = random.random()
    if surjective or style < 0.5:
        every = mixed(units([1 << bits for bits in out_bits], max(0, sum(in_bits) - sum(out_bits))))
    else:
        every = [[random.randrange(1 << bits) for bits in out_bits] for _ in range(sum(in_bits))]
    while len(every) < sum(in_bits):
        every.append([0] * len(outs))
    bases, at = {}, 0
    for dim, bits in zip(ins, in_bits):
        bases[dim] = every[at:at + bits]
        at += bits
    return {"in_dims": [[dim, 1 << bits] for dim, bits in zip(ins, in_bits)],
            "out_dims": [[dim, 1 << bits] for dim, bits in zip(outs, out_bits)], "bases": bases}


def resized(layout, ins):
    """A layout whose out dims are the input dims `ins`, at most as large."""
    dims = [dim for dim, _ in ins]
    found = random_layout(outs=dims)
    for place, (_, size) in zip(found["out_dims"], ins):
        limit = size
        place[1] = min(place[1], limit)
    for images in found["bases"].values():
        for image in images:
            for at, (_, size) in enumerate(found["out_dims"]):
                image[at] %= size
    return found


def onto(layout, other_dims):
    """A layout from `other_dims` onto the same out dims."""
    found = random_layout(ins=other_dims, outs=[dim for dim, _ in layout["out_dims"]], surjective=True)
    for at, (place, (_, size)) in enumerate(zip(found["out_dims"], layout["out_dims"])):
        if random.random() < 0.9:
            place[1] = max(size, 1)
        for images in found["bases"].values():
            for image in images:
                image[at] %= place[1]
    return found


def invertible():
    while True:
        outs = [f"dim{axis}" for axis in range(random.randint(1, 2))]
        layout = random_layout(outs=outs, surjective=True)
        product = lambda dims: __import__("math").prod(size for _, size in dims)
        if product(layout["in_dims"]) == product(layout["out_dims"]) or random.random() < 0.1:
            return layout


def algebra_row():
    """A random operation of Triton's binding with its inputs."""
    op = random.choice(["identity_1d", "strided_1d", "zeros_1d", "from_bases", "mul", "mul", "compose", "compose", "invert",
                        "pseudoinvert", "invert_and_compose", "invert_and_compose", "equal", "predicates", "matrix", "apply"])
    size = lambda: power(0, 8) if random.random() < 0.95 else random.choice([3, 6])
    ends = {"in_dim": random.choice(DIMS), "out_dim": f"dim{random.randint(0, 3)}"}
    if op == "identity_1d":
        inputs = {"size": size(), **ends}
    elif op == "strided_1d":
        inputs = {"size": size(), "stride": size(), **ends}
    elif op == "zeros_1d":
        inputs = {"size": size(), **ends, **({"out_dim_size": size()} if random.random() < 0.5 else {})}
    elif op == "from_bases":
        layout = random_layout(surjective=random.random() < 0.7)
        sizes = [size for _, size in layout["out_dims"]] if random.random() < 0.6 else None
        inputs = {"bases": [[dim, layout["bases"][dim]] for dim, _ in layout["in_dims"]],
                  "out_dim_names": [dim for dim, _ in layout["out_dims"]], "out_dim_sizes": sizes,
                  "require_surjective": True if sizes is None else random.random() < 0.5}
    elif op == "mul":
        inputs = {"a": random_layout(), "b": random_layout()}
    elif op == "compose":
        outer = random_layout()
        inner = resized(outer, outer["in_dims"]) if random.random() < 0.9 else random_layout()
        inputs = {"inner": inner, "outer": outer}
    elif op == "invert":
        inputs = {"layout": invertible()}
    elif op == "pseudoinvert":
        inputs = {"layout": random_layout(surjective=random.random() < 0.85)}
    elif op == "invert_and_compose":
        a = random_layout()
        shared = [dim for dim, _ in a["in_dims"]]
        others = shared if random.random() < 0.5 else random.sample(DIMS, random.randint(1, 3))
        inputs = {"a": a, "b": onto(a, others)}
        if random.random() < 0.3:
            for dim in set(others) & set(shared):
                if inputs["b"]["out_dims"] == a["out_dims"]:
                    inputs["b"]["bases"][dim] = a["bases"][dim]
                    for place in inputs["b"]["in_dims"]:
                        if place[0] == dim:
                            place[1] = 1 << len(a["bases"][dim])
    elif op == "equal":
        a = random_layout()
        b = json.loads(json.dumps(a)) if random.random() < 0.5 else random_layout()
        if random.random() < 0.3:
            b["in_dims"].reverse()
        inputs = {"a": a, "b": b}
    elif op == "apply":
        layout = random_layout()
        points = [{dim: random.randrange(size) for dim, size in layout["in_dims"]} for _ in range(3)]
        inputs = {"layout": layout, "points": points}
    else:
        inputs = {"layout": random_layout()}
    return {"op": op, "inputs": inputs}


class Triton:
    """Answers rows with Triton's library."""

    def __init__(self):
        from triton._C.libtriton import gluon_ir, ir, linear_layout

        self.LinearLayout = linear_layout.LinearLayout
        self.context = ir.context()
        ir.load_dialects(self.context)
        self.builder = gluon_ir.GluonOpBuilder(self.context)

    def attribute(self, params):
        """The attribute of a layout, built without the checks of Gluon's classes."""
        build = self.builder
        get = lambda name, default=None: params.get(name, [] if default is None else default)
        match params["kind"]:
            case "blocked":
                return build.get_blocked_layout(params["size_per_thread"], params["threads_per_warp"],
                                                params["warps_per_cta"], params["order"], get("cga_layout"))
            case "slice":
                return build.get_slice_layout(params["dim"], self.attribute(params["parent"]))
            case "linear":
                return build.get_distributed_linear_layout(*(params[name] for name in (
                    "reg_bases", "lane_bases", "warp_bases", "block_bases", "shape")))
            case "dot_operand":
                return build.get_dot_operand_layout(params["operand_index"], self.attribute(params["parent"]),
                                                    params["k_width"])
            case "nvidia_mma":
                return build.get_mma_layout(params["version"], params["warps_per_cta"], get("cga_layout"),
                                            params["instr_shape"])
            case "amd_mfma":
                return build.get_amd_mfma_layout(params["version"], params["warps_per_cta"], params["instr_shape"],
                                                 params["transposed"], get("cga_layout"),
                                                 get("tiles_per_warp", [1] * len(params["warps_per_cta"])), 32)
            case "amd_wmma":
                return build.get_amd_wmma_layout(params["version"], params["transposed"], params["warp_bases"],
                                                 get("reg_bases"), get("cga_layout"), params["instr_shape"], 2)
            case "swizzled_shared":
                return build.get_swizzled_shared_layout(params["vec"], params["per_phase"], params["max_phase"],
                                                        params["order"], get("cga_layout"))
            case "nvmma_shared":
                return build.get_nvmma_shared_layout(params["swizzle_byte_width"], params["element_bitwidth"],
                                                     params["transposed"], params["fp4_padded"], get("cga_layout"),
                                                     params["rank"])
            case "shared_linear":
                return build.get_shared_linear_layout(params["offset_bases"], params["block_bases"], params["alignment"])
            case "padded_shared":
                from triton.experimental.gluon.language._layouts import PaddedSharedLayout

                rest = {name: value for name, value in params.items() if name != "kind"}
                return PaddedSharedLayout(**rest)._to_ir(build)
            case "tensor_memory":
                return build.get_tensor_memory_layout(params["block"], params["col_stride"], [], False, False)

    def layout(self, row):
        attribute = self.attribute(row["params"])
        if row["params"]["kind"] == "padded_shared":
            return "accepted"
        if row["params"]["kind"] == "linear":
            # The attribute of the result, of the layout's own shape, is verified.
            self.builder.to_linear_layout(attribute, row["params"]["shape"])
        found = self.builder.to_linear_layout(attribute, row["shape"])
        names = {"reg_bases": "register", "lane_bases": "lane", "warp_bases": "warp", "offset_bases": "offset",
                 "rows": "row", "cols": "col", "block_bases": "block"}
        return {dim: [list(basis) for basis in getattr(found, name)] for name, dim in names.items()
                if hasattr(found, name)}

    def read(self, layout):
        return self.LinearLayout.from_bases([(dim, layout["bases"][dim]) for dim, _ in layout["in_dims"]],
                                            [dim for dim, _ in layout["out_dims"]],
                                            [size for _, size in layout["out_dims"]], False)

    @staticmethod
    def written(layout):
        return {"in_dims": [[dim, 1 << len(images)] for dim, images in layout.bases],
                "out_dims": [list(dim) for dim in layout.out_dims],
                "bases": {dim: [list(image) for image in images] for dim, images in layout.bases}}

    def operation(self, row):
        inputs = row["inputs"]
        layout = lambda name: self.read(inputs[name])
        match row["op"]:
            case "identity_1d" | "strided_1d" | "zeros_1d":
                names = ("size", "stride", "in_dim", "out_dim", "out_dim_size")
                return self.written(getattr(self.LinearLayout, row["op"])(*(inputs[n] for n in names if n in inputs)))
            case "from_bases":
                bases = [(dim, images) for dim, images in inputs["bases"]]
                return self.written(self.LinearLayout.from_bases(bases, inputs["out_dim_names"], inputs["out_dim_sizes"],
                                                                 inputs["require_surjective"]))
            case "mul":
                return self.written(layout("a") * layout("b"))
            case "compose":
                return self.written(layout("inner").compose(layout("outer")))
            case "invert" | "pseudoinvert":
                return self.written(getattr(layout("layout"), row["op"])())
            case "invert_and_compose":
                return self.written(layout("a").invert_and_compose(layout("b")))
            case "equal":
                return {"value": layout("a") == layout("b")}
            case "predicates":
                found = layout("layout")
                return {"is_surjective": found.is_surjective(), "is_injective": found.is_injective(),
                        "is_invertible": found.is_invertible(), "num_in_dims": found.num_in_dims,
                        "num_out_dims": found.num_out_dims}
            case "matrix":
                return {"rows": [list(line) for line in layout("layout").get_matrix_view()]}
            case "apply":
                found = layout("layout")
                return {"points": [found.apply(point) for point in inputs["points"]]}

    def answer(self, row):
        return self.layout(row) if row["op"] == "layout" else self.operation(row)


def triton_answers(rows):
    """Triton's answer to each row; `None` if it refuses."""
    answers, reasons = [None] * len(rows), [""] * len(rows)
    triton = Triton()
    start = 0
    said = tempfile.TemporaryFile()
    while start < len(rows):
        said.truncate(0)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            with os.fdopen(writer, "w") as pipe:
                for at in range(start, len(rows)):
                    try:
                        line = {"at": at, "answer": triton.answer(rows[at])}
                    except Exception as error:
                        line = {"at": at, "refused": str(error)}
                    pipe.write(json.dumps(line) + "\n")
                    pipe.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            for line in pipe:
                line = json.loads(line)
                start = line["at"] + 1
                answers[line["at"]] = line.get("answer")
                reasons[line["at"]] = line.get("refused", "")
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
            reasons[start] = next((line for line in lines if "Assertion" in line or "LLVM ERROR" in line), "crash")
            start += 1
    return answers, reasons


def our_answers(command, rows):
    requests = "".join(json.dumps({"id": at, **row}) + "\n" for at, row in enumerate(rows))
    done = subprocess.run([*command, "batch"], input=requests, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(row, theirs, ours):
    """Whether both answers agree: both refuse, or both have the same layout or value."""
    result = ours.get("result")
    if theirs is None or result is None:
        return theirs is None and result is None
    if row["op"] != "layout":
        return theirs == result
    if theirs == "accepted":
        return True
    return theirs == {dim: images for dim, images in result["bases"].items() if dim in theirs}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", nargs="+", help="the command `tilewright`")
    arguments.add_argument("--rows", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--differences", action="store_true")
    chosen = arguments.parse_args()
    random.seed(chosen.seed)
    rows = [family_row() if random.random() < 0.6 else algebra_row() for _ in range(chosen.rows)]
    theirs, reasons = triton_answers(rows)
    ours = our_answers(chosen.command, rows)
    counts = {}
    for row, their, reason, own in zip(rows, theirs, reasons, ours):
        if NOT_EXPRESSIBLE in reason:
            continue
        name = row["params"]["kind"] if row["op"] == "layout" else row["op"]
        entry = counts.setdefault(name, [0, 0, 0])
        entry[their is None] += 1
        if not same(row, their, own):
            entry[2] += 1
            if chosen.differences:
                print(json.dumps({"row": row, "triton": their, "reason": reason, "ours": own}))
    print("| family or operation | answered by Triton | refused | differences |\n|---|--:|--:|--:|")
    for name, entry in sorted(counts.items()):
        print(f"| `{name}` | " + " | ".join(map(str, entry)) + " |")
    total = [sum(entry[at] for entry in counts.values()) for at in range(3)]
    print("| all | " + " | ".join(map(str, total)) + " |")
    sys.exit(total[2] > 0)


if __name__ == "__main__":
    main()
