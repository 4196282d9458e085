//! Test cases of movements between registers: conversions, reductions, scans and gathers.

use crate::kernels::{build_gather_kernel, build_reduction_kernel, build_scan_kernel, emit_tuple_add};
use tilewright_kernel::Kernel;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::build_conversion_kernel;
use tilewright_plan::movement::{
    ConversionPlan, CountLowerBounds, GatherPlan, PlanContext, ReductionPlan, ScanDirection, ScanPlan,
};
use tilewright_tile::op::name::arith;
use tilewright_tile::{BuildError, FunctionBuilder, Value};

use super::elements::{element, little_endian, low, registers};
use crate::CheckFailure;
use crate::expected_counts::ExpectedCounts;
use crate::test_case::{TestCase, input};

/// Creates a test of a conversion: every register must hold the element of its layout.
///
/// # Errors
/// [`CheckFailure::Lower`] if the plan is not for these layouts, or if no element has this width.
pub fn build_conversion_case<'a>(
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    plan: &ConversionPlan,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_conversion_kernel("convert", [src, dst], element_bits, plan, context.into())?;
    let elements = (0..1u64 << dst.outs().total_bits()).map(|index| element(index, element_bits)).collect();
    Ok(moved(kernel, [src, dst], &[element_bits], &[elements]).with_plan(&plan.stats))
}

/// Creates a test of a reduction by addition: every register must hold the sum of the elements along the axis, computed
/// here sequentially.
///
/// # Errors
/// [`CheckFailure::Lower`] if the plan is not for these tensors, or if no element has one of these widths.
pub fn build_reduction_case<'a>(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    plan: &ReductionPlan,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_reduction_kernel((src, axis), element_bits, plan, emit_tuple_add, context.into())?;
    let accumulator: Vec<_> = element_bits.iter().map(|&bits| reduce_along(src, axis, bits)).collect();
    Ok(moved(kernel, [src, &plan.result], element_bits, &accumulator).with_plan(&plan.stats))
}

/// Creates a test of a scan. A single tensor is summed. Two tensors of one width are the coefficients of maps `x -> m x
/// + b`, which are composed, so that the order matters.
///
/// # Errors
/// [`CheckFailure::Lower`] if the plan is not for these tensors, or if no element has one of these widths.
pub fn build_scan_case<'a>(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (plan, direction): (&ScanPlan, ScanDirection),
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let by = if element_bits.len() == 2 { compose } else { emit_tuple_add };
    let kernel = build_scan_kernel((src, axis), element_bits, (plan, direction), by, context.into())?;
    Ok(moved(kernel, [src, src], element_bits, &scanned(src, axis, element_bits, direction)).with_plan(&plan.stats))
}

/// Creates a test of a gather by pseudo-random indices. Its loads may take more wavefronts than planned, since
/// conflicts depend on the indices.
///
/// # Errors
/// [`CheckFailure::Lower`] if the plan is not for these tensors, or if no element has this width.
pub fn build_gather_case<'a>(
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    plan: &GatherPlan,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_gather_kernel(([src, indices], axis), element_bits, plan, context.into())?;
    let bytes = (element_bits / 8) as usize;
    let tensor = little_endian((0..1u64 << src.outs().total_bits()).map(|at| element(at, element_bits)), bytes);
    let index_bytes =
        little_endian((0..1u64 << indices.outs().total_bits()).map(|position| index_at(src, axis, position)), 4);
    let elements = gathered(src, indices, axis, |index| element(index, element_bits));
    let buffers = vec![input(0, tensor), input(1, index_bytes), registers(0, indices, element_bits, &elements)];
    let counts =
        ExpectedCounts { may_conflict: true, ..ExpectedCounts::all(plan.stats.counts, CountLowerBounds::default()) };
    let case = TestCase::of_buffers(kernel, 1 << src.in_bits(Dim::BLOCK), buffers);
    Ok(case.with_plan(&plan.stats).with_counts(counts))
}

/// Emits the composition of two maps: `x -> n (m x + b) + c` from the earlier `x -> m x + b` and the later `x -> n x +
/// c`.
fn compose(builder: &mut FunctionBuilder<'_>, earlier: &[Value], later: &[Value]) -> Result<Vec<Value>, BuildError> {
    let (&[m, b], &[n, c]) = (earlier, later) else { return emit_tuple_add(builder, earlier, later) };
    let mut binary = |name, left, right| builder.build_op(name).operand(left).operand(right).value();
    let moved = binary(arith::MULI, b, n)?;
    Ok(vec![binary(arith::MULI, m, n)?, binary(arith::ADDI, moved, c)?])
}

/// Returns the expected results of a scan of row-major test tensors, one list of elements for each width, computed
/// sequentially along the axis.
fn scanned(src: &LinearLayout, axis: Dim, element_bits: &[u32], direction: ScanDirection) -> Vec<Vec<u64>> {
    let lines = Lines::new(src, axis);
    let (length, elements) = (1u64 << lines.along, 1u64 << src.outs().total_bits());
    let mut results: Vec<Vec<u64>> =
        element_bits.iter().map(|&bits| (0..elements).map(|index| element(index, bits)).collect()).collect();
    for line in 0..elements / length {
        let at = |position: u64| lines.element(line, position) as usize;
        for iteration in 1..length {
            let (before, own) = match direction {
                ScanDirection::Forward => (at(iteration - 1), at(iteration)),
                ScanDirection::Reverse => (at(length - iteration), at(length - 1 - iteration)),
            };
            if let [multipliers, addends] = results.as_mut_slice() {
                let multiplier = multipliers[own];
                multipliers[own] = low(multipliers[before].wrapping_mul(multiplier), element_bits[0]);
                addends[own] =
                    low(addends[before].wrapping_mul(multiplier).wrapping_add(addends[own]), element_bits[1]);
                continue;
            }
            for (values, &bits) in results.iter_mut().zip(element_bits) {
                values[own] = low(values[before].wrapping_add(values[own]), bits);
            }
        }
    }
    results
}

/// Returns a pseudo-random index along an axis of `src`, for the element of the result with row-major index `position`.
pub(super) fn index_at(src: &LinearLayout, axis: Dim, position: u64) -> u64 {
    element(position, 64) >> 40 & ((1 << src.out_bits(axis)) - 1)
}

/// Returns the expected result, row-major, of a gather by the indices of [`index_at`]. `tensor` maps a row-major index
/// to the element of the source.
pub(super) fn gathered(src: &LinearLayout, indices: &LinearLayout, axis: Dim, tensor: impl Fn(u64) -> u64) -> Vec<u64> {
    let (line, expected) = (Lines::new(src, axis), Lines::new(indices, axis));
    let named = |position| tensor(line.element(expected.line(position), index_at(src, axis, position)));
    (0..1u64 << indices.outs().total_bits()).map(named).collect()
}

/// The lines of a row-major tensor; a line is the elements that differ only along one axis.
struct Lines {
    /// Log2 of the distance in row-major order between neighbours of a line.
    inner: u32,
    /// Log2 of the number of elements of a line.
    along: u32,
}

impl Lines {
    fn new(layout: &LinearLayout, axis: Dim) -> Self {
        let mut dims: Vec<(Dim, u32)> = layout.outs().iter().collect();
        dims.sort_by_key(|&(dim, _)| dim);
        let inner = dims.iter().skip_while(|(dim, _)| *dim != axis).skip(1).map(|(_, bits)| bits).sum();
        Self { inner, along: layout.out_bits(axis) }
    }

    /// Returns the number of the line (elements that differ only along the axis) that contains the element with
    /// row-major index `element`: its row-major index in the tensor without the axis.
    fn line(&self, element: u64) -> u64 {
        element >> (self.inner + self.along) << self.inner | element & ((1 << self.inner) - 1)
    }

    /// Returns the row-major index of the element at `position` in the line (elements that differ only along the axis)
    /// with the number `line`.
    fn element(&self, line: u64, position: u64) -> u64 {
        (line >> self.inner << self.along | position) << self.inner | line & ((1 << self.inner) - 1)
    }
}

/// Adds up the row-major test tensor along an axis, modulo 2^`bits`, sequentially; the result is row-major.
fn reduce_along(src: &LinearLayout, axis: Dim, bits: u32) -> Vec<u64> {
    let lines = Lines::new(src, axis);
    let mut accumulator = vec![0u64; 1 << (src.outs().total_bits() - lines.along)];
    for index in 0..1u64 << src.outs().total_bits() {
        let sum = &mut accumulator[lines.line(index) as usize];
        *sum = low(sum.wrapping_add(element(index, bits)), bits);
    }
    accumulator
}

/// Creates a test of a kernel with one input and one output tensor for each element width; `elements` are the expected
/// results, row-major.
fn moved(kernel: Kernel, [src, dst]: [&LinearLayout; 2], element_bits: &[u32], elements: &[Vec<u64>]) -> TestCase {
    let tensor = |(buffer_index, &bits): (usize, &u32)| {
        let elements = (0..1u64 << src.outs().total_bits()).map(|index| element(index, bits));
        input(buffer_index, little_endian(elements, (bits / 8) as usize))
    };
    let left = element_bits.iter().zip(elements).enumerate();
    let outputs = left.map(|(buffer_index, (&bits, elements))| registers(buffer_index, dst, bits, elements));
    let buffers = element_bits.iter().enumerate().map(tensor).chain(outputs).collect();
    TestCase::of_buffers(kernel, 1 << src.in_bits(Dim::BLOCK), buffers)
}
