//! Limits of what layouts are made of.

/// Log2 of the elements that a tensor of a program or of a plan has at most, as Triton has it. Layouts of larger tensors
/// are layouts all the same: they cost their bits alone.
pub const MOST_TENSOR_BITS: u32 = 20;

/// Tuples of CuTe layouts nest at most this deep, so that no input exhausts the stack.
pub const MAX_DEPTH: usize = 32;
