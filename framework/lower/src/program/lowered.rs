//! What the kernel holds for a value of the tile program.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::shared_memory::Part;
use tilewright_kernel::Value;
use tilewright_layout::LinearLayout;

use super::pending::UnderWay;

/// What stands for a value of a tile program.
#[derive(Debug, Clone)]
pub(super) enum LoweredValue {
    /// A number or a pointer, the same in all lanes of the block.
    Scalar(Value),
    /// A tensor in registers.
    Tensor(Registers),
    /// A tensor in shared memory.
    Memory(Slab),
    /// A tensor in global memory of which blocks are copied.
    Descriptor(Described),
    /// Sums of products that are under way.
    Pending(UnderWay),
    /// Nothing: what it stands for is done when it is there.
    Token,
}

/// A tensor in registers: one scalar for each register of its layout.
#[derive(Debug, Clone)]
pub(super) struct Registers {
    /// Where each register of each lane is in the tensor.
    pub layout: Arc<LinearLayout>,
    /// The registers' values.
    pub values: Arc<[Value]>,
}

/// A tensor in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Slab {
    /// The address of what its layout is of.
    pub pointer: Value,
    /// Where in that it begins, along each axis; nothing where it is the whole.
    pub at: SmallVec<[u64; 4]>,
    /// Which of several tensors of an allocation it is, where it is one of them.
    pub part: Option<Part>,
}

/// A tensor in global memory, as a descriptor names it.
#[derive(Debug, Clone)]
pub(super) struct Described {
    /// The address of its first element.
    pub pointer: Value,
    /// Its size along each axis, `i32`s.
    pub sizes: SmallVec<[Value; 4]>,
    /// How many elements lie between neighbours along each axis, `i64`s.
    pub strides: SmallVec<[Value; 4]>,
    /// Whether copies by it are made, an `i1`.
    pub active: Value,
    /// What its beginning and its size along the last axis are known to be multiples of.
    pub last_multiple: u64,
    /// Whether places beyond its sizes read as NaN, and not as zero.
    pub pads_with_nan: bool,
}

impl Registers {
    pub(super) fn new(layout: Arc<LinearLayout>, values: impl Into<Arc<[Value]>>) -> Self {
        Self { layout, values: values.into() }
    }
}
