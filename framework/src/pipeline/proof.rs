//! Showing that plans do what they say: a plan's kernel is run on the emulator, every register of every
//! lane is compared with what the destination layout says, and what was executed with what the plan
//! counted.

use thiserror::Error;

use crate::emulator::{self, Argument, Fault, GlobalMemory, Limits, MemoryError, Report};
use crate::kernel::{self, Binary, Counts, Kernel, Module};
use crate::layout::{Dim, LinearLayout, MemoryLayout};
use crate::lower::{
    conversion_kernel, copy_kernel, gather_kernel, load_kernel, reduction_kernel, row_major, scan_kernel, store_kernel,
};
use crate::movement::{Bound, Gather, GlobalAccess, MovementError, Plan, Reduction, Scan, ScanDirection, SharedAccess};
use crate::target::TargetDescription;

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
    /// The plan counted other units of global memory than those that were touched.
    #[error("{what}: the plan counts {planned} units of global memory, {executed} were touched")]
    Transactions {
        /// Loads or stores.
        what: &'static str,
        /// What the plan counts.
        planned: u64,
        /// What was touched.
        executed: u64,
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

/// Runs the plan's kernel on the emulator and compares everything.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_conversion(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    plan: &Plan,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = conversion_kernel("convert", src, dst, element_bits, plan)?;
    let (report, written) = executed(kernel, src, dst, &[element_bits], target)?;
    compare_registers(dst, element_bits, &written[0], |index| element(index, element_bits))?;
    compare_counts(&plan.counts, &plan.bound, &report.counts)?;
    Ok(report)
}

/// Runs a reduction, by adding, on the emulator and compares every result and every count.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_reduction(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    reduction: &Reduction,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = reduction_kernel("reduce", src, element_bits, reduction)?;
    let (report, written) = executed(kernel, src, &reduction.result, element_bits, target)?;
    for (&bits, written) in element_bits.iter().zip(&written) {
        let sums = sums_along(src, axis, bits);
        compare_registers(&reduction.result, bits, written, |index| sums[index as usize])?;
    }
    compare_counts(&reduction.counts, &reduction.bound, &report.counts)?;
    Ok(report)
}

/// Runs a scan on the emulator and compares every result and every count. A single tensor is added
/// up; two of one width are the factors and summands of maps `x -> m x + b`, which are composed, and
/// whose order matters.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_scan(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    direction: ScanDirection,
    scan: &Scan,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = scan_kernel("scan", src, element_bits, scan, &mut |builder, earlier, later| match (earlier, later) {
        (&[m, b], &[n, c]) => {
            let factor = builder.binary(Binary::Mul, m, n);
            let moved = builder.binary(Binary::Mul, b, n);
            vec![factor, builder.binary(Binary::Add, moved, c)]
        }
        _ => earlier.iter().zip(later).map(|(&a, &b)| builder.binary(Binary::Add, a, b)).collect(),
    })?;
    let (report, written) = executed(kernel, src, src, element_bits, target)?;
    let expected = scanned(src, axis, element_bits, direction);
    for ((&bits, written), expected) in element_bits.iter().zip(&written).zip(&expected) {
        compare_registers(src, bits, written, |index| expected[index as usize])?;
    }
    compare_counts(&scan.counts, &scan.bound, &report.counts)?;
    Ok(report)
}

/// The scan of the row-major test tensors, one element after the other.
fn scanned(src: &LinearLayout, axis: Dim, element_bits: &[u32], direction: ScanDirection) -> Vec<Vec<u64>> {
    let lines = Lines::new(src, axis);
    let (length, elements) = (1u64 << lines.along, 1u64 << src.outs().bits());
    let mut results: Vec<Vec<u64>> =
        element_bits.iter().map(|&bits| (0..elements).map(|index| element(index, bits)).collect()).collect();
    for line in 0..elements / length {
        let at = |place: u64| lines.element(line, place) as usize;
        for turn in 1..length {
            let (before, own) = match direction {
                ScanDirection::Up => (at(turn - 1), at(turn)),
                ScanDirection::Down => (at(length - turn), at(length - 1 - turn)),
            };
            if let [factors, summands] = results.as_mut_slice() {
                let factor = factors[own];
                factors[own] = low(factors[before].wrapping_mul(factor), element_bits[0]);
                summands[own] = low(summands[before].wrapping_mul(factor).wrapping_add(summands[own]), element_bits[1]);
                continue;
            }
            for (values, &bits) in results.iter_mut().zip(element_bits) {
                values[own] = low(values[before].wrapping_add(values[own]), bits);
            }
        }
    }
    results
}

/// Runs a gather on the emulator, with indices in no order, and compares every element and, but for the
/// wavefronts of its loads, which depend on the indices, every count.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_gather(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    gather: &Gather,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = gather_kernel("gather", src, indices, element_bits, gather)?;
    let bytes = (element_bits / 8) as usize;
    let index = |place: u64| element(place, 64) >> 40 & ((1 << src.out_bits(axis)) - 1);
    let tensor = little_endian((0..1u64 << src.outs().bits()).map(|at| element(at, element_bits)), bytes);
    let places = little_endian((0..1u64 << indices.outs().bits()).map(index), 4);
    let blocks = 1 << src.in_bits(Dim::BLOCK);
    let (report, written) = run(kernel, &[tensor, places], &[bytes << indices.ins().bits()], blocks, target)?;
    let (line, wanted) = (Lines::new(src, axis), Lines::new(indices, axis));
    compare_registers(indices, element_bits, &written[0], |place| {
        element(line.element(wanted.line(place), index(place)), element_bits)
    })?;
    let at_least = report.counts.wavefronts_loaded >= gather.counts.wavefronts_loaded;
    let loaded = if at_least { gather.counts.wavefronts_loaded } else { report.counts.wavefronts_loaded };
    let executed = Counts { wavefronts_loaded: loaded, ..report.counts };
    compare_counts(&gather.counts, &Bound::default(), &executed)?;
    Ok(report)
}

/// The lines of a row-major tensor along an axis.
struct Lines {
    /// Log2 of the elements between neighbours of a line.
    inner: u32,
    /// Log2 of the elements of a line.
    along: u32,
}

impl Lines {
    fn new(layout: &LinearLayout, axis: Dim) -> Self {
        let mut dims: Vec<(Dim, u32)> = layout.outs().iter().collect();
        dims.sort_by_key(|&(dim, _)| dim);
        let inner = dims.iter().skip_while(|(dim, _)| *dim != axis).skip(1).map(|(_, bits)| bits).sum();
        Self { inner, along: layout.out_bits(axis) }
    }

    /// The number of the line that an element is in: its row-major index without the axis.
    fn line(&self, element: u64) -> u64 {
        element >> (self.inner + self.along) << self.inner | element & ((1 << self.inner) - 1)
    }

    /// The element at a place of a line.
    fn element(&self, line: u64, place: u64) -> u64 {
        (line >> self.inner << self.along | place) << self.inner | line & ((1 << self.inner) - 1)
    }
}

/// Runs stores to shared memory on the emulator and compares what memory holds, and every count.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_store(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = store_kernel("store", registers, memory, element_bits, access)?;
    let tensor = (0..1u64 << registers.outs().bits()).map(|index| element(index, element_bits));
    let offsets = 1u64 << memory.linear.in_bits(Dim::OFFSET);
    let bytes = (element_bits / 8) as usize;
    let buffers = [little_endian(tensor, bytes), places(memory, bytes)];
    let (report, written) = run(kernel, &buffers, &[bytes * offsets as usize], 1, target)?;
    for (offset, found) in (0..offsets).zip(written[0].chunks(bytes)) {
        let index = row_major(&memory.linear, memory.linear.apply_packed(offset));
        let (found, expected) = (word(found), element(index, element_bits));
        if found != expected {
            let place = format!("offset {offset}");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    let executed = Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..report.counts };
    compare_counts(&access.counts, &access.bound, &executed)?;
    Ok(report)
}

/// Runs loads from shared memory on the emulator and compares every register, and every count.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_load(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = load_kernel("load", registers, memory, element_bits, access)?;
    let bytes = (element_bits / 8) as usize;
    let by_offset = (0..1u64 << memory.linear.in_bits(Dim::OFFSET))
        .map(|offset| element(row_major(&memory.linear, memory.linear.apply_packed(offset)), element_bits));
    let buffers = [little_endian(by_offset, bytes), places(memory, bytes)];
    let (report, written) = run(kernel, &buffers, &[bytes << registers.ins().bits()], 1, target)?;
    compare_registers(registers, element_bits, &written[0], |index| element(index, element_bits))?;
    let executed = Counts { shared_stores: 0, wavefronts_stored: 0, barriers: 0, ..report.counts };
    compare_counts(&access.counts, &access.bound, &executed)?;
    Ok(report)
}

/// Copies a row-major tensor through registers on the emulator and compares every element, and how
/// many units of memory each access takes.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_copy(
    registers: &LinearLayout,
    element_bits: u32,
    load: &GlobalAccess,
    store: &GlobalAccess,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = copy_kernel("copy", registers, element_bits, load, store)?;
    let bytes = (element_bits / 8) as usize;
    let elements = || (0..1u64 << registers.outs().bits()).map(|index| element(index, element_bits));
    let (report, written) =
        run(kernel, &[little_endian(elements(), bytes)], &[bytes << registers.outs().bits()], 1, target)?;
    for (index, (found, expected)) in (0..).zip(written[0].chunks(bytes).zip(elements())) {
        if word(found) != expected {
            let place = format!("element {index} of the copy");
            return Err(Disproof::WrongElement { place, found: word(found), element: index, expected });
        }
    }
    let transactions = [(load, report.transactions_loaded, "loads"), (store, report.transactions_stored, "stores")];
    for (access, executed, what) in transactions {
        if executed != access.transactions {
            return Err(Disproof::Transactions { what, planned: access.transactions, executed });
        }
    }
    Ok(report)
}

/// For each linear offset the physical one in bytes, as `i32`.
fn places(memory: &MemoryLayout, bytes: usize) -> Vec<u8> {
    let offsets = 0..1u64 << memory.linear.in_bits(Dim::OFFSET);
    little_endian(offsets.map(|offset| memory.physical_offset(offset) * bytes as u64), 4)
}

fn little_endian(values: impl Iterator<Item = u64>, bytes: usize) -> Vec<u8> {
    values.flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect()
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The sums along an axis of the row-major test tensor, row-major, one addition an element.
fn sums_along(src: &LinearLayout, axis: Dim, bits: u32) -> Vec<u64> {
    let lines = Lines::new(src, axis);
    let mut sums = vec![0u64; 1 << (src.outs().bits() - lines.along)];
    for index in 0..1u64 << src.outs().bits() {
        let sum = &mut sums[lines.line(index) as usize];
        *sum = low(sum.wrapping_add(element(index, bits)), bits);
    }
    sums
}

/// The low bits of a number.
fn low(value: u64, bits: u32) -> u64 {
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

/// Runs a kernel of as many tensors in and out as there are widths: what it did, and what it wrote.
fn executed(
    kernel: Kernel,
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: &[u32],
    target: &TargetDescription,
) -> Result<(Report, Vec<Vec<u8>>), Disproof> {
    let tensor = |&bits: &u32| {
        little_endian((0..1u64 << src.outs().bits()).map(|index| element(index, bits)), (bits / 8) as usize)
    };
    let inputs: Vec<_> = element_bits.iter().map(tensor).collect();
    let outputs: Vec<_> = element_bits.iter().map(|bits| ((bits / 8) as usize) << dst.ins().bits()).collect();
    run(kernel, &inputs, &outputs, 1 << src.in_bits(Dim::BLOCK), target)
}

/// Runs a kernel whose parameters are buffers, first read, then written: what it did and wrote.
fn run(
    kernel: Kernel,
    inputs: &[Vec<u8>],
    outputs: &[usize],
    blocks: u32,
    target: &TargetDescription,
) -> Result<(Report, Vec<Vec<u8>>), Disproof> {
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module)?;
    let mut memory = GlobalMemory::new();
    let inputs: Vec<_> = inputs.iter().map(|bytes| memory.allocate_with(bytes)).collect();
    let outputs: Vec<_> = outputs.iter().map(|&bytes| memory.allocate(bytes)).collect();
    let arguments: Vec<_> = inputs.iter().chain(&outputs).map(|&buffer| Argument::Buffer(buffer)).collect();
    let limits = Limits::default();
    let report = emulator::run(&module.kernels[0], target, [blocks, 1, 1], &arguments, &mut memory, &limits);
    let report = report.map_err(|fault| Disproof::Fault(Box::new(fault)))?;
    let written =
        outputs.iter().map(|&output| Ok(memory.read_all(output)?.to_vec())).collect::<Result<_, Disproof>>()?;
    Ok((report, written))
}

/// Element `index` of the tensor: a pattern in which neighbours differ in all bytes.
fn element(index: u64, bits: u32) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = mixed ^ mixed >> 29;
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Compares every register of every lane with the element that its layout says.
fn compare_registers(
    dst: &LinearLayout,
    bits: u32,
    written: &[u8],
    expected: impl Fn(u64) -> u64,
) -> Result<(), Disproof> {
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
        let expected = expected(index);
        if found != expected {
            let place = dst.ins().unpack(place).map(|(dim, value)| format!("{dim} {value}"));
            let place = place.collect::<Vec<_>>().join(", ");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    Ok(())
}

fn compare_counts(planned: &Counts, bound: &Bound, executed: &Counts) -> Result<(), Disproof> {
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
