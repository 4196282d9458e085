//! Movements from registers to registers: conversions, reductions, scans and gathers.

use crate::kernels::{add, gather_kernel, reduction_kernel, scan_kernel};
use tilewright_kernel::Kernel;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::conversion_kernel;
use tilewright_plan::movement::{Bound, Gather, Plan, PlanContext, Reduction, Scan, ScanDirection};
use tilewright_tile::op::name::arith;
use tilewright_tile::{BuildError, FunctionBuilder, Value};

use super::elements::{element, little_endian, low, registers};
use crate::CheckFailure;
use crate::expected_counts::ExpectedCounts;
use crate::test_case::{TestCase, input};

/// A conversion of a tensor of known elements: every register must hold the element that its layout says.
///
/// # Errors
/// [`CheckFailure::Movement`]: the plan is not for these layouts.
pub fn conversion_case<'a>(
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    plan: &Plan,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = conversion_kernel("convert", [src, dst], element_bits, plan, context.into())?;
    let elements = (0..1u64 << dst.outs().bits()).map(|index| element(index, element_bits)).collect();
    Ok(moved(kernel, [src, dst], &[element_bits], &[elements]).with_plan(&plan.stats))
}

/// A reduction by adding: every register must hold its line's sum, each added up here one element after the other.
///
/// # Errors
/// As [`conversion_case`].
pub fn reduction_case<'a>(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    plan: &Reduction,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = reduction_kernel((src, axis), element_bits, plan, context.into())?;
    let accumulator: Vec<_> = element_bits.iter().map(|&bits| sums_along(src, axis, bits)).collect();
    Ok(moved(kernel, [src, &plan.result], element_bits, &accumulator).with_plan(&plan.stats))
}

/// A scan. A single tensor is added up; two of one width are the factors and summands of maps `x -> m x + b`, which are
/// composed, and whose order matters.
///
/// # Errors
/// As [`conversion_case`].
pub fn scan_case<'a>(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (plan, direction): (&Scan, ScanDirection),
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let by = if element_bits.len() == 2 { compose } else { add };
    let kernel = scan_kernel((src, axis), element_bits, (plan, direction), by, context.into())?;
    Ok(moved(kernel, [src, src], element_bits, &scanned(src, axis, element_bits, direction)).with_plan(&plan.stats))
}

/// A gather by indices in no order. Its loads may take more wavefronts than planned, since conflicts depend on indices.
///
/// # Errors
/// As [`conversion_case`].
pub fn gather_case<'a>(
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    plan: &Gather,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = gather_kernel(([src, indices], axis), element_bits, plan, context.into())?;
    let bytes = (element_bits / 8) as usize;
    let tensor = little_endian((0..1u64 << src.outs().bits()).map(|at| element(at, element_bits)), bytes);
    let places = little_endian((0..1u64 << indices.outs().bits()).map(|place| index_at(src, axis, place)), 4);
    let elements = gathered(src, indices, axis, |index| element(index, element_bits));
    let buffers = vec![input(0, tensor), input(1, places), registers(0, indices, element_bits, &elements)];
    let counts = ExpectedCounts { may_conflict: true, ..ExpectedCounts::all(plan.stats.counts, Bound::default()) };
    let case = TestCase::of_buffers(kernel, 1 << src.in_bits(Dim::BLOCK), buffers);
    Ok(case.with_plan(&plan.stats).with_counts(counts))
}

/// The map `x -> n (m x + b) + c` of two maps, the earlier one `x -> m x + b`.
fn compose(builder: &mut FunctionBuilder<'_>, earlier: &[Value], later: &[Value]) -> Result<Vec<Value>, BuildError> {
    let (&[m, b], &[n, c]) = (earlier, later) else { return add(builder, earlier, later) };
    let mut binary = |name, left, right| builder.op(name).operand(left).operand(right).value();
    let moved = binary(arith::MULI, b, n)?;
    Ok(vec![binary(arith::MULI, m, n)?, binary(arith::ADDI, moved, c)?])
}

/// The scan of the row-major test tensors, one element after the other.
fn scanned(src: &LinearLayout, axis: Dim, element_bits: &[u32], direction: ScanDirection) -> Vec<Vec<u64>> {
    let lines = Lines::new(src, axis);
    let (length, elements) = (1u64 << lines.along, 1u64 << src.outs().bits());
    let mut results: Vec<Vec<u64>> =
        element_bits.iter().map(|&bits| (0..elements).map(|index| element(index, bits)).collect()).collect();
    for line in 0..elements / length {
        let at = |place: u64| lines.element(line, place) as usize;
        for iteration in 1..length {
            let (before, own) = match direction {
                ScanDirection::Up => (at(iteration - 1), at(iteration)),
                ScanDirection::Down => (at(length - iteration), at(length - 1 - iteration)),
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

/// The index along an axis of `src` that is asked for at a place: in no order.
pub(super) fn index_at(src: &LinearLayout, axis: Dim, place: u64) -> u64 {
    element(place, 64) >> 40 & ((1 << src.out_bits(axis)) - 1)
}

/// What a gather by those indices gives, row-major; `tensor` says what the elements of `src` are.
pub(super) fn gathered(src: &LinearLayout, indices: &LinearLayout, axis: Dim, tensor: impl Fn(u64) -> u64) -> Vec<u64> {
    let (line, expected) = (Lines::new(src, axis), Lines::new(indices, axis));
    let named = |place| tensor(line.element(expected.line(place), index_at(src, axis, place)));
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
    let mut accumulator = vec![0u64; 1 << (src.outs().bits() - lines.along)];
    for index in 0..1u64 << src.outs().bits() {
        let sum = &mut accumulator[lines.line(index) as usize];
        *sum = low(sum.wrapping_add(element(index, bits)), bits);
    }
    accumulator
}

/// A kernel of as many tensors in and out as there are widths; `elements` are what it must leave of each, row-major.
fn moved(kernel: Kernel, [src, dst]: [&LinearLayout; 2], element_bits: &[u32], elements: &[Vec<u64>]) -> TestCase {
    let tensor = |(number, &bits): (usize, &u32)| {
        let elements = (0..1u64 << src.outs().bits()).map(|index| element(index, bits));
        input(number, little_endian(elements, (bits / 8) as usize))
    };
    let left = element_bits.iter().zip(elements).enumerate();
    let outputs = left.map(|(number, (&bits, elements))| registers(number, dst, bits, elements));
    let buffers = element_bits.iter().enumerate().map(tensor).chain(outputs).collect();
    TestCase::of_buffers(kernel, 1 << src.in_bits(Dim::BLOCK), buffers)
}
