//! Movements from registers to registers: conversions, reductions, scans and gathers.

use crate::emulator::Report;
use crate::kernel::{Binary, Counts, Kernel};
use crate::layout::{Dim, LinearLayout};
use crate::lower::{conversion_kernel, gather_kernel, reduction_kernel, scan_kernel};
use crate::movement::{Bound, Gather, Means, Plan, Reduction, Scan, ScanDirection};
use crate::target::TargetDescription;

use super::Disproof;
use super::execute::{compare_counts, compare_registers, element, little_endian, low, run};

/// Runs a kernel of so many blocks on its inputs; gives what it wrote to outputs of so many bytes.
type Execute<'a> = &'a mut dyn FnMut(Kernel, &[Vec<u8>], &[usize], u32) -> Result<Vec<Vec<u8>>, Disproof>;

/// Shows something by kernels that the emulator runs; gives what was executed.
fn on_emulator(means: Means<'_>, show: impl FnOnce(Execute<'_>) -> Result<(), Disproof>) -> Result<Report, Disproof> {
    let mut executed = None;
    show(&mut |kernel, inputs, outputs, blocks| {
        let (report, written) = run(kernel, inputs, outputs, blocks, means)?;
        executed = Some(report);
        Ok(written)
    })?;
    executed.ok_or_else(|| Disproof::Row("nothing was executed".to_owned()))
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
    let report = on_emulator(means.into(), |execute| show_conversion(src, dst, element_bits, plan, execute))?;
    compare_counts(&plan.counts, &plan.bound, &report.counts)?;
    Ok(report)
}

/// What a conversion leaves in registers, wherever it runs.
pub(super) fn show_conversion(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    plan: &Plan,
    execute: Execute<'_>,
) -> Result<(), Disproof> {
    let kernel = conversion_kernel("convert", src, dst, element_bits, plan)?;
    let written = executed(kernel, src, dst, &[element_bits], execute)?;
    compare_registers(dst, element_bits, &written[0], |index| element(index, element_bits))
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
    let report = on_emulator(target.into(), |execute| show_reduction(src, axis, element_bits, reduction, execute))?;
    compare_counts(&reduction.counts, &reduction.bound, &report.counts)?;
    Ok(report)
}

/// What a reduction gives, wherever it runs.
pub(super) fn show_reduction(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    reduction: &Reduction,
    execute: Execute<'_>,
) -> Result<(), Disproof> {
    let kernel = reduction_kernel("reduce", src, element_bits, reduction)?;
    let written = executed(kernel, src, &reduction.result, element_bits, execute)?;
    element_bits.iter().zip(&written).try_for_each(|(&bits, written)| {
        let sums = sums_along(src, axis, bits);
        compare_registers(&reduction.result, bits, written, |index| sums[index as usize])
    })
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
    let report = on_emulator(target.into(), |execute| show_scan(src, axis, element_bits, direction, scan, execute))?;
    compare_counts(&scan.counts, &scan.bound, &report.counts)?;
    Ok(report)
}

/// What a scan gives, wherever it runs.
pub(super) fn show_scan(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    direction: ScanDirection,
    scan: &Scan,
    execute: Execute<'_>,
) -> Result<(), Disproof> {
    let kernel = scan_kernel("scan", src, element_bits, scan, &mut |builder, earlier, later| match (earlier, later) {
        (&[m, b], &[n, c]) => {
            let factor = builder.binary(Binary::Mul, m, n);
            let moved = builder.binary(Binary::Mul, b, n);
            vec![factor, builder.binary(Binary::Add, moved, c)]
        }
        _ => earlier.iter().zip(later).map(|(&a, &b)| builder.binary(Binary::Add, a, b)).collect(),
    })?;
    let written = executed(kernel, src, src, element_bits, execute)?;
    let expected = scanned(src, axis, element_bits, direction);
    element_bits.iter().zip(&written).zip(&expected).try_for_each(|((&bits, written), expected)| {
        compare_registers(src, bits, written, |index| expected[index as usize])
    })
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
    let report = on_emulator(target.into(), |execute| show_gather(src, indices, axis, element_bits, gather, execute))?;
    let at_least = report.counts.wavefronts_loaded >= gather.counts.wavefronts_loaded;
    let loaded = if at_least { gather.counts.wavefronts_loaded } else { report.counts.wavefronts_loaded };
    let executed = Counts { wavefronts_loaded: loaded, ..report.counts };
    compare_counts(&gather.counts, &Bound::default(), &executed)?;
    Ok(report)
}

/// What a gather by indices in no order gives, wherever it runs.
pub(super) fn show_gather(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    gather: &Gather,
    execute: Execute<'_>,
) -> Result<(), Disproof> {
    let kernel = gather_kernel("gather", src, indices, element_bits, gather)?;
    let bytes = (element_bits / 8) as usize;
    let index = |place: u64| element(place, 64) >> 40 & ((1 << src.out_bits(axis)) - 1);
    let tensor = little_endian((0..1u64 << src.outs().bits()).map(|at| element(at, element_bits)), bytes);
    let places = little_endian((0..1u64 << indices.outs().bits()).map(index), 4);
    let blocks = 1 << src.in_bits(Dim::BLOCK);
    let written = execute(kernel, &[tensor, places], &[bytes << indices.ins().bits()], blocks)?;
    let (line, wanted) = (Lines::new(src, axis), Lines::new(indices, axis));
    compare_registers(indices, element_bits, &written[0], |place| {
        element(line.element(wanted.line(place), index(place)), element_bits)
    })
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

/// Runs a kernel of as many tensors in and out as there are widths: what it wrote.
fn executed(
    kernel: Kernel,
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: &[u32],
    execute: Execute<'_>,
) -> Result<Vec<Vec<u8>>, Disproof> {
    let tensor = |&bits: &u32| {
        little_endian((0..1u64 << src.outs().bits()).map(|index| element(index, bits)), (bits / 8) as usize)
    };
    let inputs: Vec<_> = element_bits.iter().map(tensor).collect();
    let outputs: Vec<_> = element_bits.iter().map(|bits| ((bits / 8) as usize) << dst.ins().bits()).collect();
    execute(kernel, &inputs, &outputs, 1 << src.in_bits(Dim::BLOCK))
}
