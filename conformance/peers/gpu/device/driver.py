"""CUDA's driver interface by ctypes: memory, modules, launches, events, tensor maps.

Source: CUDA Driver API. All work goes to the default stream of the device's primary context, which PyTorch uses too.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

CAPABILITY_ATTRIBUTES = {"multiprocessors": 16, "l2_bytes": 38, "major": 75, "minor": 76}
MAX_DYNAMIC_SHARED_BYTES = 8
STATIC_SHARED_BYTES = 48 * 1024
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64
# CUtensorMapDataType by bits of an element, for maps that fill with zeros and with NaN.
INTEGER_TYPES = {8: 0, 16: 1, 32: 2, 64: 4}
FLOAT_TYPES = {16: 6, 32: 7, 64: 8}
L2_PROMOTION_128 = 2


class DriverError(RuntimeError):
    """A failed call of the driver. Most of them end the context, so the process must end too."""


class Driver:
    """The first GPU of this machine."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver."""
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or b'').decode()} ({code})")

    def describe(self) -> dict[str, Any]:
        """The name, the attributes and the driver of the device."""
        name, version, total = ctypes.create_string_buffer(100), ctypes.c_int(), ctypes.c_size_t()
        self.call("cuDeviceGetName", name, 100, self.device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.call("cuDeviceTotalMem_v2", ctypes.byref(total), self.device)
        found: dict[str, Any] = {"name": name.value.decode(), "cuda": version.value, "memory_bytes": total.value}
        for key, number in CAPABILITY_ATTRIBUTES.items():
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
            found[key] = value.value
        return found

    def allocate(self, size: int) -> int:
        """The address of new memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        """Frees memory."""
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, address: int, data: bytes) -> None:
        """Copies bytes to the device."""
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def download(self, address: int, size: int) -> bytes:
        """Copies bytes from the device."""
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def copy(self, to: int, source: int, size: int) -> None:
        """Begins a copy within the device."""
        self.call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size), None)

    def fill(self, address: int, size: int) -> None:
        """Begins to fill memory with zeros."""
        self.call("cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_ubyte(0), ctypes.c_size_t(size), None)

    def load(self, image: bytes) -> ctypes.c_void_p:
        """A module of machine code."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        """Unloads a module."""
        self.call("cuModuleUnload", module)

    def find_function(self, module: ctypes.c_void_p, name: str, shared_bytes: int) -> ctypes.c_void_p:
        """A kernel of a module, which may take this much dynamic shared memory."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared_bytes > STATIC_SHARED_BYTES:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_BYTES, shared_bytes)
        return function

    def launch(
        self, function: ctypes.c_void_p, grid: Sequence[int], threads: int, shared_bytes: int, arguments: ctypes.Array[Any]
    ) -> None:
        """Begins a launch; `arguments` has pointers to the arguments."""
        self.call("cuLaunchKernel", function, *grid, threads, 1, 1, shared_bytes, None, arguments, None)

    def synchronize(self) -> None:
        """Waits for all work."""
        self.call("cuCtxSynchronize")

    def new_event(self) -> ctypes.c_void_p:
        """An event, recorded at the end of the work so far."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        self.call("cuEventRecord", event, None)
        return event

    def take_microseconds(self, begin: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        """Microseconds between two completed events, which are destroyed."""
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        for event in (begin, end):
            self.call("cuEventDestroy_v2", event)
        return milliseconds.value * 1000

    def encode_tensor_map(self, wanted: dict[str, Any], address: int) -> ctypes.Array[ctypes.c_char]:
        """The tensor map of a tensor that begins at an address."""
        rank, is_zero = len(wanted["box"]), wanted["outside"] == "zeros"
        storage = ctypes.create_string_buffer(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGNMENT)
        offset = -ctypes.addressof(storage) % TENSOR_MAP_ALIGNMENT
        tensor_map = (ctypes.c_char * TENSOR_MAP_BYTES).from_buffer(storage, offset)
        # The driver takes no stride of the first axis, along which elements are contiguous.
        self.call(
            "cuTensorMapEncodeTiled",
            tensor_map,
            (INTEGER_TYPES if is_zero else FLOAT_TYPES)[wanted["bits"]],
            rank,
            ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*wanted["sizes"]),
            (ctypes.c_uint64 * rank)(*wanted["strides"][1:]),
            (ctypes.c_uint32 * rank)(*wanted["box"]),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            0,
            wanted["swizzle"],
            L2_PROMOTION_128,
            int(not is_zero),
        )
        return tensor_map
