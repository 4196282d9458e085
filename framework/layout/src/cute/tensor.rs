//! Layouts of tensors, distributed or in memory, in CuTe's notation.

use crate::{Dim, Layout as TensorLayout, LayoutError, LinearLayout, MemoryLayout};

use super::{ComposedLayout, CuteError, CuteLayout, CuteLeaf, Tree, coalesce, from_linear, to_linear_modes};

/// Converts a tensor's layout to CuTe's notation.
///
/// A distributed layout becomes a map of `(thread, value)` to elements, counted with the first axis the fastest:
/// threads are the lanes of a block's warps, warp by warp, and block by block; values are registers. A memory layout
/// becomes a map of a coordinate, one mode an axis, to the offset; padding changes its strides. In tensor memory the
/// offset is the row, and above it the column.
///
/// ```
/// use tilewright_layout::cute::from_tensor_layout;
/// use tilewright_layout::{Families, families::NeutralFamilies, parse_family_spec};
/// let text = |attribute: &str, shape: [u64; 2]| -> Result<String, Box<dyn std::error::Error>> {
/// Ok(from_tensor_layout(&NeutralFamilies.resolve(&parse_family_spec(attribute)?, &shape, &NeutralFamilies)?)?.to_string())
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
/// [`CuteError::DependentBasis`] if the nonzero bases are not independent, so that two positions hold one element;
/// [`CuteError::Padded`] if a padded layout has swizzles or covers several blocks; [`CuteError::Linear`] for a memory
/// layout that does not hold every element.
pub fn from_tensor_layout(layout: &TensorLayout) -> Result<ComposedLayout, CuteError> {
    match layout {
        TensorLayout::Distributed(linear) => from_linear(&thread_value(linear)?),
        TensorLayout::Memory(memory) => in_memory(memory),
        TensorLayout::TensorMemory(linear) => from_linear(&linear.pseudoinvert()?),
    }
}

/// Merges the thread dims (lane, warp, block) of a layout into the dim `lane`, and lists it before the registers.
fn thread_value(linear: &LinearLayout) -> Result<LinearLayout, CuteError> {
    let there = |dim: &Dim| linear.ins().contains(*dim);
    let threads: Vec<_> = linear.ins().dims().filter(|&dim| dim != Dim::REGISTER).collect();
    let order: Vec<_> = threads.iter().copied().chain([Dim::REGISTER].into_iter().filter(there)).collect();
    let register = linear.in_bits(Dim::REGISTER);
    let sizes = [(Dim::LANE, linear.ins().total_bits() - register), (Dim::REGISTER, register)];
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
        return Err(CuteError::Padded { reason: "it is in the memories of several blocks" });
    }
    if !offsets.swizzles().is_empty() {
        return Err(CuteError::Padded { reason: "a swizzle acts on the offset before padding is added" });
    }
    // Intervals are powers of two, so padding is a sum over the bits of the offset.
    let bits = |mode: CuteLayout| {
        let strides = mode.leaf_modes().into_iter().flat_map(|CuteLeaf { shape, stride }| {
            (0..shape.ilog2()).map(move |bit| CuteLeaf { shape: 2, stride: memory.physical_offset(stride << bit) })
        });
        CuteLayout::from_tree(Tree::flat(strides))
    };
    let axes = if memory.linear.outs().len() == 1 { vec![offsets.layout().clone()] } else { offsets.layout().modes() };
    let mut padded = axes.into_iter().map(|axis| coalesce(&bits(axis)?)).collect::<Result<Vec<_>, _>>()?;
    let layout = if padded.len() == 1 { padded.remove(0) } else { CuteLayout::from_modes(padded)? };
    ComposedLayout::new(Vec::new(), 0, layout)
}

/// Converts a CuTe map of `(thread, value)` to the elements of `shape` to a distributed layout of one block with
/// `lanes` threads in a warp: the inverse of [`from_tensor_layout`].
///
/// ```
/// use tilewright_layout::cute::{from_tensor_layout, to_distributed};
/// use tilewright_layout::{Dim, Layout};
/// let rows = to_distributed(&"((4,8),2):((16,1),8)".parse()?, &[8, 8], 32)?;
/// assert_eq!(rows.bases_of(Dim::REGISTER), [[0, 1]]);
/// assert_eq!(from_tensor_layout(&Layout::Distributed(rows))?.to_string(), "((4,8),2):((16,1),8)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
///
/// # Errors
/// As [`to_linear_modes`]; [`CuteError::Linear`] if sizes are no powers of two.
pub fn to_distributed(layout: &ComposedLayout, shape: &[u64], lanes: u64) -> Result<LinearLayout, CuteError> {
    let linear = to_linear_modes(layout, &[Dim::LANE, Dim::REGISTER], &axes(shape)?)?;
    let (threads, values) = (1 << linear.in_bits(Dim::LANE), 1 << linear.in_bits(Dim::REGISTER));
    let lanes = lanes.clamp(1, threads);
    let sizes = [(Dim::LANE, lanes), (Dim::WARP, threads / lanes), (Dim::BLOCK, 1), (Dim::REGISTER, values)];
    Ok(linear.reshape_ins(&sizes)?.transpose_ins(&[Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK])?)
}

/// Converts a CuTe map of a coordinate of `shape`, one mode for each axis, to offsets into a memory layout of one
/// block: the inverse of [`from_tensor_layout`] for layouts without padding.
///
/// ```
/// use tilewright_layout::cute::{from_tensor_layout, to_memory};
/// use tilewright_layout::Layout;
/// let text = "Swizzle<3,3,3> o 0 o (32,64):(64,1)";
/// let memory = to_memory(&text.parse()?, &[32, 64])?;
/// assert_eq!(from_tensor_layout(&Layout::Memory(memory))?.to_string(), text);
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
///
/// # Errors
/// As [`to_linear_modes`]; [`CuteError::Linear`] if the modes are not `shape`, or an offset is used twice or not at
/// all.
pub fn to_memory(layout: &ComposedLayout, shape: &[u64]) -> Result<MemoryLayout, CuteError> {
    let axes = axes(shape)?;
    let dims: Vec<Dim> = axes.iter().map(|&(dim, _)| dim).collect();
    let size = shape.iter().try_fold(1u64, |size, axis| size.checked_mul(*axis));
    let size = size.ok_or(CuteError::Overflow { what: "the number of elements" })?;
    let per_axis = match layout.layout().rank() == dims.len() {
        true => layout.clone(),
        // A single axis is a mode without parentheses.
        false => ComposedLayout::new(
            layout.swizzles().to_vec(),
            layout.offset(),
            CuteLayout::from_modes(vec![layout.layout().clone()])?,
        )?,
    };
    let offsets = to_linear_modes(&per_axis, &dims, &[(Dim::OFFSET, size), (Dim::BLOCK, 1)])?;
    let memory = offsets.invert()?;
    for (dim, size) in axes {
        let have = memory.out_bits(dim);
        if size != 1 << have {
            let (left, right) = (size.ilog2(), have);
            return Err(CuteError::Linear(LayoutError::SizeMismatch { dim, left, right }));
        }
    }
    Ok(MemoryLayout::from_linear(memory))
}

/// The axes of a shape with their sizes.
fn axes(shape: &[u64]) -> Result<Vec<(Dim, u64)>, CuteError> {
    let named = |(axis, &size): (usize, &u64)| match size.is_power_of_two() && axis < MOST_AXES {
        true => Ok((Dim::tensor(axis), size)),
        false => Err(CuteError::Linear(LayoutError::NotPowerOfTwo { dim: Dim::tensor(axis.min(MOST_AXES - 1)), size })),
    };
    shape.iter().enumerate().map(named).collect()
}

/// Maximum number of axes of a tensor: [`Dim::tensor`] has no further names.
const MOST_AXES: usize = 48;
