//! Sizes beyond which nobody lists the elements of a tensor one by one.

/// Log2 of the elements that a tensor of a program or of a plan has at most, as Triton has it. Layouts of larger tensors
/// are layouts all the same: they cost their bits alone.
pub const MOST_TENSOR_BITS: u32 = 20;
