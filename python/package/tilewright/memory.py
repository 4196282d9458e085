"""Memory of the host that kernels access: torch tensors on the CPU, numpy arrays, anything with `data_ptr()`."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError


class ElementType(str):
    """The name of an element type with its size, as Triton asks a tensor for them."""

    itemsize: int

    def __new__(cls, name: str, itemsize: int) -> ElementType:
        made = super().__new__(cls, name)
        made.itemsize = itemsize
        return made


class HostArray:
    """A numpy array in the form that Triton takes as a pointer: it has `data_ptr()` and `dtype`.

    The kernel's writes are seen in `array`.
    """

    def __init__(self, array: Any, dtype: str | None = None) -> None:
        self.array = array
        self.dtype = ElementType(dtype or str(array.dtype), array.itemsize)
        self.shape = tuple(array.shape)

    def data_ptr(self) -> int:
        """Returns the address of the first element."""
        return int(self.array.__array_interface__["data"][0])

    def stride(self, axis: int | None = None) -> Any:
        """Returns the strides in elements, of all axes or of one."""
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if axis is None else strides[axis]

    def size(self, axis: int | None = None) -> Any:
        """Returns the sizes of all axes or of one."""
        return self.shape if axis is None else self.shape[axis]

    def numel(self) -> int:
        """Returns the number of elements."""
        return int(self.array.size)

    def element_size(self) -> int:
        """Returns the bytes of an element."""
        return int(self.array.itemsize)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.array.__array__(*args, **kwargs)


def array(value: Any, dtype: str | None = None) -> HostArray:
    """Wraps a numpy array, so that Triton takes it as a pointer. `dtype` is an element type that numpy lacks, such as
    `bfloat16` for an array of `uint16`."""
    return HostArray(value, dtype)


@dataclass(frozen=True)
class Region:
    """An allocation of the host: the first address, and the number of bytes."""

    base: int
    size: int

    def holds(self, address: int) -> bool:
        """Whether an address is in the allocation, or is its end."""
        return self.base <= address <= self.base + self.size

    def contents(self) -> memoryview:
        """Returns the bytes of the allocation, without a copy."""
        return memoryview((ctypes.c_char * self.size).from_address(self.base)).cast("B")


def region(value: Any) -> Region:
    """Returns the allocation that a kernel may access through a pointer argument."""
    while hasattr(value, "base") and not hasattr(value, "untyped_storage") and hasattr(value.base, "data_ptr"):
        value = value.base  # a reinterpreted tensor of Triton
    if hasattr(value, "untyped_storage") and hasattr(value, "device"):
        if value.device.type not in ("cpu", "meta"):
            raise InputError(f"a tensor is on {value.device}; kernels run on the CPU here: create it with device='cpu'")
        storage = value.untyped_storage()
        return Region(storage.data_ptr(), storage.nbytes())
    if isinstance(value, HostArray):
        value = value.array
    if hasattr(value, "__array_interface__"):
        owner = value
        while getattr(owner, "base", None) is not None and hasattr(owner.base, "__array_interface__"):
            owner = owner.base
        return Region(int(owner.__array_interface__["data"][0]), _extent(owner))
    for name in ("nbytes", "size_bytes"):
        size = getattr(value, name, None)
        if size is not None and hasattr(value, "data_ptr"):
            return Region(value.data_ptr(), int(size() if callable(size) else size))
    if hasattr(value, "data_ptr") and hasattr(value, "numel") and hasattr(value, "element_size"):
        return Region(value.data_ptr(), value.numel() * value.element_size())
    # A pointer without a size, such as programs make to start kernels inside of a tensor.
    for found in map(region, _living_tensors()) if hasattr(value, "data_ptr") else ():
        if found.holds(value.data_ptr()):
            return found
    raise InputError(
        f"the size of the memory behind {type(value).__name__} is unknown; pass a torch tensor, "
        "tilewright.array(numpy array), an object with data_ptr() and nbytes, or a pointer into one that is alive"
    )


def _extent(owner: Any) -> int:
    """Returns the bytes from the first element of a numpy array to the end of its last."""
    if owner.size == 0:
        return 0
    return int(sum((size - 1) * step for size, step in zip(owner.shape, owner.strides)) + owner.itemsize)


class Allocations:
    """The allocations of one launch, each once, however many arguments point into it.

    They lie far from each other in the emulator, so that every access out of bounds is found. If an argument holds addresses
    of other tensors, as a table of pointers does, they lie where they are in the host, and those tensors belong to the launch.
    """

    # Offset 0 of a buffer is a multiple of this in the emulator, as it is for every allocator of a GPU.
    _ALIGNMENT = 16

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._placed = False

    def pointer(self, address: int, within: Region) -> tuple[int, int]:
        """Returns the index of the buffer of an address, and the byte offset in it."""
        if within not in self._regions:
            self._regions.append(within)
        return self._regions.index(within), address - within.base + self._pad(within)

    def _pad(self, allocation: Region) -> int:
        """Returns the bytes before an allocation that keep its addresses as aligned in the emulator as in the host."""
        return allocation.base % self._ALIGNMENT

    def follow(self, table: Any) -> None:
        """Adds the allocations of the tensors whose addresses a tensor of 64-bit integers holds."""
        values = {int(value) for value in _integers(table)}
        for found in {region(one) for one in _living_tensors()} if any(value > 1 << 32 for value in values) else ():
            if any(found.holds(value) for value in values):
                self._placed = True
                if found not in self._regions:
                    self._regions.append(found)

    def read(self) -> list[bytes]:
        """Copies the contents of all allocations."""
        return [b"".join((bytes(self._pad(one)), one.contents())) for one in self._regions]

    def addresses(self) -> list[int] | None:
        """Returns the addresses of the buffers; None if any will do."""
        return [one.base - self._pad(one) for one in self._regions] if self._placed else None

    def write(self, changed: Sequence[bytes | None]) -> None:
        """Copies new contents into the allocations; None is an unchanged one."""
        for one, contents in zip(self._regions, changed):
            if contents is not None:
                one.contents()[:] = memoryview(contents)[self._pad(one) :]


# A longer tensor of integers is data, and not a table of pointers.
_LONGEST_TABLE = 4096


def _integers(value: Any) -> Iterable[Any]:
    """Returns the elements of a tensor of 64-bit integers; nothing for other tensors."""
    array = value.array if isinstance(value, HostArray) else value
    if str(getattr(array, "dtype", "")).rpartition(".")[2] not in ("int64", "uint64"):
        return ()
    count = array.numel() if hasattr(array, "numel") else array.size
    return array.reshape(-1).tolist() if 0 < count <= _LONGEST_TABLE else ()


def _living_tensors() -> Iterator[Any]:
    """Yields the tensors of torch on the CPU and the arrays of numpy wrapped by `array` that are alive."""
    torch = sys.modules.get("torch")
    types = (HostArray,) if torch is None else (HostArray, torch.Tensor)
    for one in gc.get_objects():
        # `isinstance` would read attributes of every object, some of which warn.
        if issubclass(type(one), types) and (isinstance(one, HostArray) or _is_on_host(one, torch)):
            yield one


def _is_on_host(tensor: Any, torch: Any) -> bool:
    return bool(tensor.device.type == "cpu" and tensor.layout == torch.strided)
