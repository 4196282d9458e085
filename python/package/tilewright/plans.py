"""Plans of data movement: conversions, accesses of shared memory, bank conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .layouts import LinearLayout
from .session import answer

LayoutLike = LinearLayout | str | Mapping[str, Any]


def _layout(value: LayoutLike) -> Any:
    return value.to_json() if isinstance(value, LinearLayout) else value


class Plan(Mapping[str, Any]):
    """A plan as a mapping of its properties: counts, cost, lower bound. A notebook shows it as a table."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Plan({', '.join(f'{name}={value!r}' for name, value in self._flat())})"

    def frame(self) -> Any:
        """Returns the plan as a pandas data frame of one row."""
        import pandas

        return pandas.DataFrame([dict(self._flat())])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self._flat())
        return f"<table>{rows}</table>"

    def _flat(self) -> list[tuple[str, Any]]:
        flat: list[tuple[str, Any]] = []
        for name, value in self._fields.items():
            if isinstance(value, Mapping):
                flat += [(f"{name}.{inner}", of) for inner, of in value.items()]
            else:
                flat.append((name, value))
        return flat


def convert(src: LayoutLike, dst: LayoutLike, shape: Sequence[int], element_bits: int, target: str) -> Plan:
    """Plans the conversion of a tensor from one distributed layout to another."""
    request = {"src": _layout(src), "dst": _layout(dst), "shape": list(shape), "element_bits": element_bits}
    return Plan(answer("convert", target=target, **request))


def access(
    registers: LayoutLike,
    shape: Sequence[int],
    element_bits: int,
    target: str,
    memory: LayoutLike | None = None,
    order: Sequence[int] | None = None,
) -> Plan:
    """Plans the store and the load between registers and shared memory of the layout `memory`, else global memory."""
    request: dict[str, Any] = {"registers": _layout(registers), "shape": list(shape), "element_bits": element_bits}
    if memory is not None:
        request["memory"] = _layout(memory)
    if order is not None:
        request["order"] = list(order)
    return Plan(answer("access", target=target, **request))


def bank_conflicts(
    distributed: LayoutLike, shared: LayoutLike, shape: Sequence[int], element_bits: int, target: str | None = None
) -> int:
    """Returns the wavefronts above the least number of an access, on 32 banks of four bytes unless a target is named."""
    request = {"distributed": _layout(distributed), "shared": _layout(shared), "shape": list(shape)}
    return int(answer("bank_conflicts", target=target, element_bits=element_bits, **request)["excess"])


def choose_memory(
    shape: Sequence[int],
    element_bits: int,
    target: str,
    *,
    stores: Sequence[LayoutLike] = (),
    loads: Sequence[LayoutLike] = (),
) -> Plan:
    """Chooses the layout of shared memory for register layouts that store and load a tensor."""
    accessors = [{"layout": _layout(one), "direction": "store"} for one in stores]
    accessors += [{"layout": _layout(one), "direction": "load"} for one in loads]
    return Plan(answer("choose_memory", target=target, shape=list(shape), element_bits=element_bits, accessors=accessors))
