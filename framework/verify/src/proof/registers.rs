//! Movements from registers to registers: conversions, reductions, scans and gathers.

use tilewright_emulator::Report;
use tilewright_kernel::{Binary, Counts, Kernel};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::{conversion_kernel, gather_kernel, reduction_kernel, scan_kernel};
use tilewright_plan::movement::{Bound, Gather, Means, Plan, Reduction, Scan, ScanDirection};
use tilewright_target::TargetDescription;

use super::Disproof;
use super::asked::{Asked, Execute, Left};
use super::execute::{compare_counts, element, little_endian, low, run};

/// Shows something by kernels that the emulator runs; gives what was executed.
pub(super) fn on_emulator(
    means: Means<'_>,
    show: impl FnOnce(Execute<'_>) -> Result<(), Disproof>,
) -> Result<Report, Disproof> {
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
    let report = on_emulator(means.into(), |execute| ask_conversion(src, dst, element_bits, plan)?.show(execute))?;
    compare_counts(&plan.counts, &plan.bound, &report.counts)?;
    Ok(report)
}

/// What a conversion leaves in registers, wherever it runs.
pub(super) fn ask_conversion<'a>(
    src: &LinearLayout,
    dst: &'a LinearLayout,
    element_bits: u32,
    plan: &Plan,
) -> Result<Asked<'a>, Disproof> {
    let kernel = conversion_kernel("convert", src, dst, element_bits, plan)?;
    let elements = (0..1u64 << dst.outs().bits()).map(|index| element(index, element_bits)).collect();
    Ok(asked(kernel, src, dst, &[element_bits], vec![elements]))
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
    let report =
        on_emulator(target.into(), |execute| ask_reduction(src, axis, element_bits, reduction)?.show(execute))?;
    compare_counts(&reduction.counts, &reduction.bound, &report.counts)?;
    Ok(report)
}

/// What a reduction gives, wherever it runs.
pub(super) fn ask_reduction<'a>(
    src: &LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    reduction: &'a Reduction,
) -> Result<Asked<'a>, Disproof> {
    let kernel = reduction_kernel("reduce", src, element_bits, reduction)?;
    let sums = element_bits.iter().map(|&bits| sums_along(src, axis, bits)).collect();
    Ok(asked(kernel, src, &reduction.result, element_bits, sums))
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
    let report =
        on_emulator(target.into(), |execute| ask_scan(src, axis, element_bits, direction, scan)?.show(execute))?;
    compare_counts(&scan.counts, &scan.bound, &report.counts)?;
    Ok(report)
}

/// What a scan gives, wherever it runs.
pub(super) fn ask_scan<'a>(
    src: &'a LinearLayout,
    axis: Dim,
    element_bits: &[u32],
    direction: ScanDirection,
    scan: &Scan,
) -> Result<Asked<'a>, Disproof> {
    let kernel = scan_kernel("scan", src, element_bits, scan, &mut |builder, earlier, later| match (earlier, later) {
        (&[m, b], &[n, c]) => {
            let factor = builder.binary(Binary::Mul, m, n);
            let moved = builder.binary(Binary::Mul, b, n);
            vec![factor, builder.binary(Binary::Add, moved, c)]
        }
        _ => earlier.iter().zip(later).map(|(&a, &b)| builder.binary(Binary::Add, a, b)).collect(),
    })?;
    Ok(asked(kernel, src, src, element_bits, scanned(src, axis, element_bits, direction)))
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
    let report =
        on_emulator(target.into(), |execute| ask_gather(src, indices, axis, element_bits, gather)?.show(execute))?;
    let at_least = report.counts.wavefronts_loaded >= gather.counts.wavefronts_loaded;
    let loaded = if at_least { gather.counts.wavefronts_loaded } else { report.counts.wavefronts_loaded };
    let executed = Counts { wavefronts_loaded: loaded, ..report.counts };
    compare_counts(&gather.counts, &Bound::default(), &executed)?;
    Ok(report)
}

/// What a gather by indices in no order gives, wherever it runs.
pub(super) fn ask_gather<'a>(
    src: &LinearLayout,
    indices: &'a LinearLayout,
    axis: Dim,
    element_bits: u32,
    gather: &Gather,
) -> Result<Asked<'a>, Disproof> {
    let kernel = gather_kernel("gather", src, indices, element_bits, gather)?;
    let bytes = (element_bits / 8) as usize;
    let tensor = little_endian((0..1u64 << src.outs().bits()).map(|at| element(at, element_bits)), bytes);
    let places = (0..1u64 << indices.outs().bits()).map(|place| index_at(src, axis, place));
    let places = little_endian(places, 4);
    let elements = gathered(src, indices, axis, |index| element(index, element_bits));
    let outputs = vec![Left { layout: indices, bits: element_bits, elements }];
    Ok(Asked { kernel, inputs: vec![tensor, places], outputs, blocks: 1 << src.in_bits(Dim::BLOCK) })
}

/// The index along an axis of `src` that is asked for at a place: in no order.
pub(super) fn index_at(src: &LinearLayout, axis: Dim, place: u64) -> u64 {
    element(place, 64) >> 40 & ((1 << src.out_bits(axis)) - 1)
}

/// What a gather by those indices gives, row-major; `tensor` says what the elements of `src` are.
pub(super) fn gathered(src: &LinearLayout, indices: &LinearLayout, axis: Dim, tensor: impl Fn(u64) -> u64) -> Vec<u64> {
    let (line, wanted) = (Lines::new(src, axis), Lines::new(indices, axis));
    let named = |place| tensor(line.element(wanted.line(place), index_at(src, axis, place)));
    (0..1u64 << indices.outs().bits()).map(named).collect()
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

/// A kernel of as many tensors in and out as there are widths; `elements` are what it must leave of each, row-major.
fn asked<'a>(
    kernel: Kernel,
    src: &LinearLayout,
    dst: &'a LinearLayout,
    element_bits: &[u32],
    elements: Vec<Vec<u64>>,
) -> Asked<'a> {
    let tensor = |&bits: &u32| {
        little_endian((0..1u64 << src.outs().bits()).map(|index| element(index, bits)), (bits / 8) as usize)
    };
    let inputs = element_bits.iter().map(tensor).collect();
    let left = |(&bits, elements)| Left { layout: dst, bits, elements };
    let outputs = element_bits.iter().zip(elements).map(left).collect();
    Asked { kernel, inputs, outputs, blocks: 1 << src.in_bits(Dim::BLOCK) }
}
