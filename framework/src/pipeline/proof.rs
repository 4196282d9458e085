//! Showing that a plan does what it says: its kernel is run on the emulator, every register of every
//! lane is compared with what the destination layout says, and what was executed with what the plan
//! counted.

use thiserror::Error;

use crate::emulator::{Argument, Emulator, Fault, GlobalMemory, Limits, Meanings, MemoryError, Report};
use crate::kernel::{self, Counts, Module};
use crate::layout::{Dim, LinearLayout};
use crate::lower::{conversion_kernel, row_major};
use crate::movement::{Means, MovementError, Plan};

/// What a plan does wrong: a fault of this framework.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Disproof {
    /// The question is none.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The kernel breaks a rule of the kernel IR.
    #[error("the kernel is invalid: {0}")]
    Invalid(#[from] kernel::VerifyError),
    /// The kernel does something that it may not.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel left something unwritten.
    #[error("what the kernel wrote cannot be read: {0}")]
    Unwritten(#[from] MemoryError),
    /// A register holds the wrong element.
    #[error("{place} holds {found:#x}, expected element {element}, which is {expected:#x}")]
    WrongElement {
        /// Which register of which lane of which warp of which block.
        place: String,
        /// The bits that it holds.
        found: u64,
        /// Row-major index of the element that it should hold.
        element: u64,
        /// That element's bits.
        expected: u64,
    },
    /// The plan counted something else than what was executed.
    #[error("the plan counts {planned:?}, executed were {executed:?}")]
    Counts {
        /// What the plan counts.
        planned: Box<Counts>,
        /// What was executed.
        executed: Box<Counts>,
    },
    /// What was executed is below the bound that no plan can go below.
    #[error("{what}: {executed} were executed, below the bound of {bound}")]
    Bound {
        /// What was counted.
        what: &'static str,
        /// How many were executed.
        executed: u64,
        /// How many there must be at least.
        bound: u64,
    },
}

/// Runs the plan's kernel on the emulator and compares everything; the instructions of `means` mean
/// what their rows say.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_conversion<'a>(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    plan: &Plan,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let means = means.into();
    let kernel = conversion_kernel("convert", src, dst, element_bits, plan)?;
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module)?;
    let bytes = (element_bits / 8) as usize;
    let tensor: Vec<u8> = (0..1u64 << src.outs().bits())
        .flat_map(|index| element(index, element_bits).to_le_bytes().into_iter().take(bytes))
        .collect();
    let mut memory = GlobalMemory::new();
    let input = memory.allocate_with(&tensor);
    let output = memory.allocate(bytes << dst.ins().bits());
    let grid = [1 << src.in_bits(Dim::BLOCK), 1, 1];
    let arguments = [Argument::Buffer(input), Argument::Buffer(output)];
    let meanings = Meanings::of(means.instructions);
    let report = Emulator::new(&module.kernels[0], means.target)
        .and_then(|emulator| emulator.with_meanings(&meanings).run(grid, &arguments, &mut memory, &Limits::default()))
        .map_err(|fault| Disproof::Fault(Box::new(fault)))?;
    compare_elements(dst, element_bits, memory.read_all(output)?)?;
    if report.counts != plan.counts {
        return Err(Disproof::Counts { planned: Box::new(plan.counts), executed: Box::new(report.counts) });
    }
    compare_bound(plan, &report.counts)?;
    Ok(report)
}

/// Element `index` of the tensor: a pattern in which neighbours differ in all bytes.
fn element(index: u64, bits: u32) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = mixed ^ mixed >> 29;
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

fn compare_elements(dst: &LinearLayout, bits: u32, written: &[u8]) -> Result<(), Disproof> {
    let bytes = (bits / 8) as usize;
    let (lane_bits, warp_bits) = (dst.in_bits(Dim::LANE), dst.in_bits(Dim::WARP));
    for place in 0..1u64 << dst.ins().bits() {
        let at = |dim| dst.ins().coordinate(place, dim);
        let thread = at(Dim::LANE) | at(Dim::WARP) << lane_bits;
        let register = at(Dim::BLOCK) << dst.in_bits(Dim::REGISTER) | at(Dim::REGISTER);
        let start = ((register << (lane_bits + warp_bits) | thread) as usize) * bytes;
        let mut found = [0u8; 8];
        found[..bytes].copy_from_slice(&written[start..start + bytes]);
        let found = u64::from_le_bytes(found);
        let index = row_major(dst, dst.apply_packed(place));
        let expected = element(index, bits);
        if found != expected {
            let place = dst.ins().unpack(place).map(|(dim, value)| format!("{dim} {value}"));
            let place = place.collect::<Vec<_>>().join(", ");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    Ok(())
}

fn compare_bound(plan: &Plan, executed: &Counts) -> Result<(), Disproof> {
    let bound = plan.bound;
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
