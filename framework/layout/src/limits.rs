//! Limits on layouts.

/// Log2 of the maximum number of elements of a tensor in a program or plan, as in Triton. Layouts of larger tensors are
/// valid too: their cost depends on bits only.
pub const MAX_TENSOR_BITS: u32 = 20;

/// Maximum nesting depth of tuples in CuTe layouts, so that no input exhausts the stack; deeper nesting is an error.
pub const MAX_DEPTH: usize = 32;
