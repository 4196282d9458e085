"""The table of the device and of the software that a page of results begins with."""

from typing import Any

from tables import row

MEBIBYTE = 1 << 20


def device_name(results: dict[str, Any]) -> str:
    """The name of the device."""
    return str(results["device"].get("device", {}).get("name", "unknown device"))


def device_table(results: dict[str, Any]) -> list[str]:
    """The device, its driver and clocks, the compilers and the assembler."""
    about, found = results["about"], results["device"]
    device, smi = found.get("device", {}), found.get("smi", {})
    size = f"{device.get('multiprocessors', '?')} multiprocessors, {device.get('l2_bytes', 0) // MEBIBYTE} MiB of L2"
    memory, ecc, power = (smi.get(key, "?") for key in ("memory.total", "ecc.mode.current", "power.limit"))
    cuda = device.get("cuda", 0)
    lines = {
        "device": f"{device_name(results)}, {size}, {memory} of memory, ECC {ecc}, power limit {power}",
        "driver": f"{smi.get('driver_version', '?')} (CUDA {cuda // 1000}.{cuda % 1000 // 10})",
        "clocks": f"multiprocessors {number(found, 'clock')} MHz (`%clock64` against `%globaltimer`), "
        f"memory {smi.get('clocks.mem', '?')}; both as found",
        "copy": f"{number(found, 'copy')} GB/s within the device, bytes read and written",
        "date": about["date"],
        "Tilewright": f"version {about['tilewright']}, target `{about['target']}`, `--opt 3`",
        "Triton": f"{about['triton']}, the same Triton IR, warps and stages",
        "assembler": f"`ptxas` {about['ptxas']} for both compilers",
    }
    return ["| | |", "|---|---|", *(row(key, line) for key, line in lines.items())]


def number(found: dict[str, Any], key: str) -> str:
    """A measured number; a question mark if its measurement failed."""
    value = found.get(key)
    return f"{value:,.0f}" if isinstance(value, float) else "?"
