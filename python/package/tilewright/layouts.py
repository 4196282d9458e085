"""Linear layouts: linear maps over F2 between named dims, with the operations of Triton's `LinearLayout`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .errors import InputError
from .session import answer, session

Sizes = Mapping[str, int] | Sequence[tuple[str, int]]


def _pairs(sizes: Sizes) -> list[list[Any]]:
    pairs = sizes.items() if isinstance(sizes, Mapping) else sizes
    return [[name, size] for name, size in pairs]


class LinearLayout(Mapping[str, list[list[int]]]):
    """A linear layout. As a mapping it gives, for each input dim, the images of the powers of two (the bases).

    >>> lanes = LinearLayout.identity_1d(4, "lane", "dim0")
    >>> registers = LinearLayout.identity_1d(2, "register", "dim0")
    >>> (lanes * registers)["register"]
    [[4]]
    """

    __slots__ = ("_json",)

    def __init__(
        self,
        bases: Mapping[str, Sequence[Sequence[int]]],
        out_dims: Sizes | Sequence[str],
        require_surjective: bool = True,
    ) -> None:
        """Makes a layout from its bases. `out_dims` are names, or names with sizes."""
        names = list(out_dims) if not isinstance(out_dims, Mapping) else list(out_dims.items())
        sizes = None if all(isinstance(name, str) for name in names) else [size for _, size in names]
        plain = [name if isinstance(name, str) else name[0] for name in names]
        listed = [[name, [list(basis) for basis in images]] for name, images in bases.items()]
        made = _operation(
            "from_bases",
            bases=listed,
            out_dim_names=plain,
            out_dim_sizes=sizes,
            require_surjective=require_surjective,
        )
        self._json: dict[str, Any] = made._json

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | str) -> LinearLayout:
        """Makes a layout from its JSON: `in_dims`, `out_dims` and `bases`."""
        fields = json.loads(value) if isinstance(value, str) else dict(value)
        made = object.__new__(cls)
        made._json = {name: fields[name] for name in ("in_dims", "out_dims", "bases")}
        return made

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON of the layout, as every request of `tilewright batch` takes it."""
        return self._json

    # Constructors

    @classmethod
    def identity_1d(cls, size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """The map x to x."""
        return _operation("identity_1d", size=size, in_dim=in_dim, out_dim=out_dim)

    @classmethod
    def strided_1d(cls, size: int, stride: int, in_dim: str, out_dim: str) -> LinearLayout:
        """The map x to stride * x."""
        return _operation("strided_1d", size=size, stride=stride, in_dim=in_dim, out_dim=out_dim)

    @classmethod
    def zeros_1d(cls, size: int, in_dim: str, out_dim: str, out_dim_size: int = 1) -> LinearLayout:
        """The map x to zero: all positions hold the same elements."""
        return _operation("zeros_1d", size=size, in_dim=in_dim, out_dim=out_dim, out_dim_size=out_dim_size)

    @classmethod
    def empty(cls) -> LinearLayout:
        """The layout without dims, the neutral element of `*`."""
        return _operation("empty")

    # Dims

    @property
    def in_dims(self) -> dict[str, int]:
        """The input dims with their sizes, the most minor first."""
        return {name: size for name, size in self._json["in_dims"]}

    @property
    def out_dims(self) -> dict[str, int]:
        """The output dims with their sizes, the most minor first."""
        return {name: size for name, size in self._json["out_dims"]}

    @property
    def bases(self) -> dict[str, list[list[int]]]:
        """For each input dim, the images of the powers of two; coordinates are in the order of `out_dims`."""
        return {name: self._json["bases"].get(name, []) for name in self.in_dims}

    def __getitem__(self, dim: str) -> list[list[int]]:
        return self.bases[dim]

    def __iter__(self) -> Iterator[str]:
        return iter(self.in_dims)

    def __len__(self) -> int:
        return len(self._json["in_dims"])

    # Values

    def apply(self, position: Mapping[str, Any] | None = None, /, **dims: Any) -> dict[str, Any]:
        """Returns the coordinate of a position. Indices may be numpy arrays, which are broadcast.

        Input dims that are not named have index 0.
        """
        given = {**(position or {}), **dims}
        unknown = [name for name in given if name not in self.in_dims]
        if unknown:
            raise InputError(f"the layout has no input dim {unknown[0]!r}; it has {', '.join(self.in_dims)}")
        results: list[Any] = [0] * len(self.out_dims)
        for name, index in given.items():
            size = self.in_dims[name]
            if (index.min() < 0 or index.max() >= size) if hasattr(index, "shape") else not 0 <= index < size:
                raise InputError(f"index of {name!r}: expected 0 to {size - 1}, got {index}")
            for bit, image in enumerate(self.bases[name]):
                for axis, value in enumerate(image):
                    results[axis] = results[axis] ^ ((index >> bit & 1) * value)
        return dict(zip(self.out_dims, results))

    __call__ = apply

    def table(self) -> Any:
        """Returns a numpy array with the coordinate of every position: its axes are the input dims, most major first, and
        last the output dims."""
        import numpy

        names = list(self.in_dims)[::-1]
        grids = numpy.meshgrid(*(numpy.arange(self.in_dims[name]) for name in names), indexing="ij")
        shape = tuple(self.in_dims[name] for name in names)
        values = self.apply(dict(zip(names, grids))).values()
        return numpy.stack([numpy.broadcast_to(value, shape) for value in values], axis=-1)

    # Operations

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The direct sum; in a shared output dim `other` has the higher bits."""
        return _operation("mul", a=self._json, b=other._json)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearLayout):
            return NotImplemented
        return bool(answer("equal", inputs={"a": self._json, "b": other._json})["value"])

    def __hash__(self) -> int:
        return hash(json.dumps(self._json, sort_keys=True))

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """The map x to outer(self(x))."""
        return _operation("compose", inner=self._json, outer=outer._json)

    def invert(self) -> LinearLayout:
        """The inverse of a bijective layout."""
        return _operation("invert", layout=self._json)

    def pseudoinvert(self) -> LinearLayout:
        """A right inverse of a surjective layout."""
        return _operation("pseudoinvert", layout=self._json)

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """A map C with self(x) = outer(C(x))."""
        return _operation("invert_and_compose", a=self._json, b=outer._json)

    def flatten_ins(self) -> LinearLayout:
        """The same map with one input dim."""
        return _operation("flatten_ins", layout=self._json)

    def flatten_outs(self) -> LinearLayout:
        """The same map with one output dim."""
        return _operation("flatten_outs", layout=self._json)

    def reshape_ins(self, ins: Sizes) -> LinearLayout:
        """The same map with other input dims."""
        return _operation("reshape_ins", layout=self._json, ins=_pairs(ins))

    def reshape_outs(self, outs: Sizes) -> LinearLayout:
        """The same map with other output dims."""
        return _operation("reshape_outs", layout=self._json, outs=_pairs(outs))

    def transpose_ins(self, order: Sequence[str]) -> LinearLayout:
        """The same map with the input dims in another order."""
        return _operation("transpose_ins", layout=self._json, order=list(order))

    def transpose_outs(self, order: Sequence[str]) -> LinearLayout:
        """The same map with the output dims in another order."""
        return _operation("transpose_outs", layout=self._json, order=list(order))

    def sublayout(self, ins: Sequence[str], outs: Sequence[str]) -> LinearLayout:
        """The part of the map between these dims."""
        return _operation("sublayout", layout=self._json, ins=list(ins), outs=list(outs))

    def divide_left(self, divisor: LinearLayout) -> LinearLayout:
        """The layout q with divisor * q = self."""
        return _operation("divide_left", layout=self._json, divisor=divisor._json)

    def divide_right(self, divisor: LinearLayout) -> LinearLayout:
        """The layout q with q * divisor = self."""
        return _operation("divide_right", layout=self._json, divisor=divisor._json)

    def operation(self, name: str, **inputs: Any) -> Any:
        """Performs any operation of the table of layout operations on this layout, by its name or Triton's."""
        inputs = {key: value.to_json() if isinstance(value, LinearLayout) else value for key, value in inputs.items()}
        return _result(answer(name, inputs={"layout": self._json, **inputs}))

    @property
    def is_surjective(self) -> bool:
        """Whether every coordinate has a position."""
        return bool(self._predicates()["is_surjective"])

    @property
    def is_injective(self) -> bool:
        """Whether no two positions have the same coordinate."""
        return bool(self._predicates()["is_injective"])

    @property
    def is_invertible(self) -> bool:
        """Whether the layout is a bijection."""
        return bool(self._predicates()["is_invertible"])

    def _predicates(self) -> dict[str, Any]:
        return dict(answer("predicates", inputs={"layout": self._json}))

    # Names of Triton and of the Linear Layouts tutorial
    identity1D = identity_1d
    strided1D = strided_1d
    zeros1D = zeros_1d
    invertAndCompose = invert_and_compose
    flattenIns = flatten_ins
    flattenOuts = flatten_outs
    reshapeIns = reshape_ins
    reshapeOuts = reshape_outs
    transposeIns = transpose_ins
    transposeOuts = transpose_outs
    divideLeft = divide_left
    divideRight = divide_right

    # Display

    def __repr__(self) -> str:
        outs = ", ".join(f"{name}: {size}" for name, size in self.out_dims.items())
        lines = [f"  {name}: {images}" for name, images in self.bases.items()]
        return "\n".join([f"LinearLayout to ({outs})", *lines])

    def picture(self, form: str = "svg", title: str = "layout") -> str:
        """Draws the layout as `svg`, `html` (with tooltips) or `text`."""
        return session().picture(json.dumps(self._json), [], form, title)

    def _repr_svg_(self) -> str | None:
        try:
            return self.picture("svg")
        except InputError:  # too large, or not to a tensor
            return None

    def _repr_html_(self) -> str:
        return _html(self)


class MemoryLayout(LinearLayout):
    """A layout of shared memory, from offsets to coordinates. `alignment` is in bytes, None if unknown."""

    __slots__ = ("_request", "alignment")
    _request: dict[str, Any]
    alignment: int | None

    def to_json(self) -> dict[str, Any]:
        # The parameters have the padding, which bases lack.
        return self._request


# The arguments by which Gluon's layouts in Triton 3.5 place a single block of a cluster; other placements are refused.
_ONE_BLOCK = re.compile(r", ctas_per_cga=\[[1, ]*\], cta_split_num=\[[1, ]*\], cta_order=\[[0-9, ]*\]")


def layout(text: Any, shape: Sequence[int], target: str | None = None) -> LinearLayout:
    """Returns the layout that a family builds for a tensor of `shape`.

    `text` is an attribute of Triton (`#ttg.blocked<{...}>`), a call of Gluon (`gl.BlockedLayout(...)`), JSON, or a layout
    object of Triton or Gluon, whose text is read. `target` restricts the families to those of one target's vendor.

    >>> shared = layout("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>", (8, 16))
    >>> shared.apply(offset=16)
    {'dim0': 1, 'dim1': 4}
    """
    params: Any = text if isinstance(text, (str, Mapping)) else _ONE_BLOCK.sub("", repr(text))
    found = answer("layout", params=params, shape=list(shape), target=target)
    if "offset" not in dict(found["in_dims"]):
        return LinearLayout.from_json(found)
    memory = MemoryLayout.from_json(found)
    assert isinstance(memory, MemoryLayout)
    memory._request = {"layout": memory._json, "params": params}
    memory.alignment = found.get("alignment")
    return memory


def cute(operation: str, *inputs: Any) -> Any:
    """Performs an operation of CuTe's layout algebra; layouts and shapes are text.

    >>> cute("composition", "(4,8):(8,1)", "8:2")
    '(2,4):(16,1)'
    """
    return answer(f"cute.{operation}", inputs=list(inputs))


def _operation(name: str, **inputs: Any) -> LinearLayout:
    return LinearLayout.from_json(answer(name, inputs=inputs))


def _result(result: Any) -> Any:
    if isinstance(result, dict) and "in_dims" in result:
        return LinearLayout.from_json(result)
    if isinstance(result, dict) and len(result) == 1:
        return next(iter(result.values()))
    return result


def _html(value: LinearLayout) -> str:
    outs = ", ".join(f"{name}: {size}" for name, size in value.out_dims.items())
    rows = "".join(
        f"<tr><th>{name}</th><td>{' '.join(map(str, map(tuple, images)))}</td></tr>" for name, images in value.bases.items()
    )
    return f"<table><caption>linear layout to ({outs})</caption>{rows}</table>"
