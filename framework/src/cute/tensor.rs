//! Layouts of tensors, distributed or in memory, in CuTe's notation.

use crate::layout::{Dim, Layout as TensorLayout, LinearLayout, MemoryLayout};

use super::{ComposedLayout, CuteError, Layout, Mode, Tree, coalesce, from_linear};

/// A tensor's layout as CuTe writes it.
///
/// A distributed layout is a map of `(thread, value)` to elements, counted with the first axis the
/// fastest: threads are the lanes of a block's warps, warp by warp, and block by block; values are
/// registers. A memory layout is a map of a coordinate, one mode an axis, to the offset; padding
/// changes its strides. In tensor memory the offset is the row, and above it the column.
///
/// ```
/// use tilewright::cute::of_tensor;
/// use tilewright::layout::{Families, families::Neutral, parse_spec};
/// let text = |attribute: &str, shape: [u64; 2]| -> Result<String, Box<dyn std::error::Error>> {
///     Ok(of_tensor(&Neutral.resolve(&parse_spec(attribute)?, &shape, &Neutral)?)?.to_string())
/// };
/// let rows = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
/// assert_eq!(text(rows, [8, 8])?, "((4,8),2):((16,1),8)");
/// let swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
/// assert_eq!(text(swizzled, [32, 64])?, "Swizzle<3,3,3> o 0 o (32,64):(64,1)");
/// let padded = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>";
/// assert_eq!(text(padded, [32, 64])?, "(32,64):(72,1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CuteError::DependentBasis`] where two places hold one element but for bases that are zero;
/// [`CuteError::Padded`]; [`CuteError::Linear`] for a memory that does not hold every element.
pub fn of_tensor(layout: &TensorLayout) -> Result<ComposedLayout, CuteError> {
    match layout {
        TensorLayout::Distributed(linear) => from_linear(&thread_value(linear)?),
        TensorLayout::Memory(memory) => in_memory(memory),
        TensorLayout::TensorMemory(linear) => from_linear(&linear.pseudoinvert()?),
    }
}

/// The layout with all threads in one dim, `lane`, before the registers.
fn thread_value(linear: &LinearLayout) -> Result<LinearLayout, CuteError> {
    let there = |dim: &Dim| linear.ins().contains(*dim);
    let threads: Vec<_> = linear.ins().dims().filter(|&dim| dim != Dim::REGISTER).collect();
    let order: Vec<_> = threads.iter().copied().chain([Dim::REGISTER].into_iter().filter(there)).collect();
    let register = linear.in_bits(Dim::REGISTER);
    let sizes = [(Dim::LANE, linear.ins().bits() - register), (Dim::REGISTER, register)];
    let overflow = CuteError::Overflow { what: "the number of threads or of values" };
    let sizes: Option<Vec<_>> = sizes.iter().map(|&(dim, bits)| Some((dim, 1u64.checked_shl(bits)?))).collect();
    Ok(linear.transpose_ins(&order)?.reshape_ins(&sizes.ok_or(overflow)?)?)
}

fn in_memory(memory: &MemoryLayout) -> Result<ComposedLayout, CuteError> {
    let offsets = from_linear(&memory.linear.pseudoinvert()?)?;
    if memory.padding.is_empty() {
        return Ok(offsets);
    }
    if memory.linear.in_bits(Dim::BLOCK) > 0 {
        return Err(CuteError::Padded { reason: "it lies in the memories of several blocks" });
    }
    if !offsets.swizzles().is_empty() {
        return Err(CuteError::Padded { reason: "a swizzle acts on the offset before padding is added" });
    }
    // Intervals are powers of two, so padding is a sum over the bits of the offset.
    let bits = |mode: Layout| {
        let strides = mode.flat().into_iter().flat_map(|Mode { shape, stride }| {
            (0..shape.ilog2()).map(move |bit| Mode { shape: 2, stride: memory.physical_offset(stride << bit) })
        });
        Layout::from_tree(Tree::flat(strides))
    };
    let axes = if memory.linear.outs().len() == 1 { vec![offsets.layout().clone()] } else { offsets.layout().modes() };
    let mut padded = axes.into_iter().map(|axis| coalesce(&bits(axis)?)).collect::<Result<Vec<_>, _>>()?;
    let layout = if padded.len() == 1 { padded.remove(0) } else { Layout::from_modes(padded)? };
    ComposedLayout::new(Vec::new(), 0, layout)
}
