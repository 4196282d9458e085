//! Running a kernel on tensors of known elements, and comparing what it wrote.

use tilewright_emulator::{Argument, Buffer, Emulator, GlobalMemory, Limits, Meanings, Report};
use tilewright_kernel::{self as kernel, Counts, Kernel, Module};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::row_major;
use tilewright_plan::movement::{Bound, Means};

use super::Disproof;

/// The values as so many bytes each.
pub(super) fn little_endian(values: impl Iterator<Item = u64>, bytes: usize) -> Vec<u8> {
    values.flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect()
}

/// The value of little-endian bytes.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The low bits of a number.
pub(super) fn low(value: u64, bits: u32) -> u64 {
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

/// Runs a kernel whose parameters are buffers, first read, then written: what it did and wrote. The
/// instructions of `means` mean what their rows say.
pub(crate) fn run(
    kernel: Kernel,
    inputs: &[Vec<u8>],
    outputs: &[usize],
    blocks: u32,
    means: Means<'_>,
) -> Result<(Report, Vec<Vec<u8>>), Disproof> {
    let mut memory = GlobalMemory::new();
    let inputs: Vec<_> = inputs.iter().map(|bytes| memory.allocate_with(bytes)).collect();
    let outputs: Vec<_> = outputs.iter().map(|&bytes| memory.allocate(bytes)).collect();
    let report = run_in(kernel, &[inputs, outputs.clone()].concat(), &mut memory, blocks, means)?;
    Ok((report, contents(&memory, &outputs)?))
}

/// Runs a kernel whose parameters are buffers of known contents: what it did, and what they hold then.
pub(super) fn run_on(
    kernel: Kernel,
    buffers: &[Vec<u8>],
    blocks: u32,
    means: Means<'_>,
) -> Result<(Report, Vec<Vec<u8>>), Disproof> {
    let mut memory = GlobalMemory::new();
    let buffers: Vec<_> = buffers.iter().map(|bytes| memory.allocate_with(bytes)).collect();
    let report = run_in(kernel, &buffers, &mut memory, blocks, means)?;
    Ok((report, contents(&memory, &buffers)?))
}

fn run_in(
    kernel: Kernel,
    buffers: &[Buffer],
    memory: &mut GlobalMemory,
    blocks: u32,
    means: Means<'_>,
) -> Result<Report, Disproof> {
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module)?;
    let arguments: Vec<_> = buffers.iter().map(|&buffer| Argument::Buffer(buffer)).collect();
    let meanings = Meanings::of_rows(means.instructions);
    Emulator::new(&module.kernels[0], means.target)
        .and_then(|emulator| {
            emulator.with_meanings(&meanings).run([blocks, 1, 1], &arguments, memory, &Limits::default())
        })
        .map_err(|fault| Disproof::Fault(Box::new(fault)))
}

fn contents(memory: &GlobalMemory, buffers: &[Buffer]) -> Result<Vec<Vec<u8>>, Disproof> {
    buffers.iter().map(|&buffer| Ok(memory.read_all(buffer)?.to_vec())).collect()
}

/// Element `index` of the tensor: a pattern in which neighbours differ in all bytes.
pub(super) fn element(index: u64, bits: u32) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = mixed ^ mixed >> 29;
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Where a kernel writes the element of a place, counted in elements: for each register all threads, side by side.
pub(super) fn written_at(dst: &LinearLayout, place: u64) -> usize {
    let (lane_bits, warp_bits) = (dst.in_bits(Dim::LANE), dst.in_bits(Dim::WARP));
    let at = |dim| dst.ins().coordinate(place, dim);
    let thread = at(Dim::LANE) | at(Dim::WARP) << lane_bits;
    let register = at(Dim::BLOCK) << dst.in_bits(Dim::REGISTER) | at(Dim::REGISTER);
    (register << (lane_bits + warp_bits) | thread) as usize
}

/// Compares every register of every lane with the element that its layout says.
pub(super) fn compare_registers(
    dst: &LinearLayout,
    bits: u32,
    written: &[u8],
    expected: impl Fn(u64) -> u64,
) -> Result<(), Disproof> {
    let bytes = (bits / 8) as usize;
    for place in 0..1u64 << dst.ins().bits() {
        let start = written_at(dst, place) * bytes;
        let mut found = [0u8; 8];
        found[..bytes].copy_from_slice(&written[start..start + bytes]);
        let found = u64::from_le_bytes(found);
        let index = row_major(dst, dst.apply_packed(place));
        let expected = expected(index);
        if found != expected {
            let place = dst.ins().unpack(place).map(|(dim, value)| format!("{dim} {value}"));
            let place = place.collect::<Vec<_>>().join(", ");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    Ok(())
}

/// Compares what was executed with what was planned and with what nothing can go below.
pub(super) fn compare_counts(planned: &Counts, bound: &Bound, executed: &Counts) -> Result<(), Disproof> {
    if executed != planned {
        return Err(Disproof::Counts { planned: Box::new(*planned), executed: Box::new(*executed) });
    }
    let compared = [
        ("wavefronts stored", executed.wavefronts_stored, bound.wavefronts_stored),
        ("wavefronts loaded", executed.wavefronts_loaded, bound.wavefronts_loaded),
        ("exchanges", executed.exchanges, bound.exchanges),
    ];
    match compared.into_iter().find(|(_, executed, bound)| executed < bound) {
        None => Ok(()),
        Some((what, executed, bound)) => Err(Disproof::Bound { what, executed, bound }),
    }
}
