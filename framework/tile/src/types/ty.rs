//! Types of tile programs.

use super::float::Float;
use std::sync::Arc;
use tilewright_layout::FamilySpec;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TileType {
    /// A whole number that counts; as wide as an address.
    Index,
    /// An integer of so many bits. Without a sign, but where the text says so.
    Integer(u32, Signedness),
    /// A floating-point number.
    Float(Float),
    /// An address in a memory.
    Pointer(Arc<Pointer>),
    /// A tensor that the lanes of a block hold together.
    Tensor(Arc<TensorType>),
    /// A tensor in shared memory, or in another memory of the block.
    Memory(Arc<MemDescType>),
    /// What describes a tensor in global memory of which blocks are copied.
    Descriptor(Arc<TensorDescriptorType>),
    /// A tensor in global memory, as an explicit-memory program sees it.
    View(Arc<TensorViewType>),
    /// What stands for an asynchronous operation until it is waited for.
    Token,
    /// From the types of arguments to those of results.
    Function(Arc<FunctionType>),
    /// A type of which nothing is known but how it is written: `!dialect.name<...>`.
    Foreign(Arc<str>),
}

/// Whether an integer type says how its highest bit is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signedness {
    /// Each operation says it: `i32`.
    Signless,
    /// It is a sign: `si32`.
    Signed,
    /// It is not: `ui32`.
    Unsigned,
}

/// An address of something of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// What it points to.
    pub pointee: TileType,
    /// The number of the memory: 1 is global memory, 3 shared memory.
    pub space: u32,
    /// Whether nobody writes there as long as the program runs.
    pub constant: bool,
}

/// The number of global memory.
pub const GLOBAL: u32 = 1;

/// What stands in the place of the number where nobody writes.
pub(crate) const CONSTANT: &str = "\"constant\"";

/// A tensor in registers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Its size along each axis.
    pub shape: Vec<u64>,
    /// What its elements are: a number or a pointer.
    pub element: TileType,
    /// How it is distributed over the block; none before layouts are assigned.
    pub layout: Option<LayoutName>,
}

/// A tensor in memory of the block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemDescType {
    /// Its size along each axis.
    pub shape: Vec<u64>,
    /// What its elements are.
    pub element: TileType,
    /// Where its elements lie.
    pub layout: LayoutName,
    /// Which memory: `#ttg.shared_memory`, ...
    pub space: LayoutName,
    /// Whether it may be written again.
    pub mutable: bool,
    /// The shape of the allocation that this is a part of, where it is another.
    pub allocation: Option<Vec<u64>>,
}

/// A tensor in global memory, of which blocks of a shape are copied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorDescriptorType {
    /// The shape of a block.
    pub shape: Vec<u64>,
    /// What its elements are.
    pub element: TileType,
    /// The layout in shared memory that copies are made for.
    pub layout: Option<LayoutName>,
}

/// A tensor in global memory that is seen through a layout: tiles of it are copied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorViewType {
    /// Its size along each axis; none where the launch alone knows it.
    pub shape: Vec<Option<u64>>,
    /// What its elements are.
    pub element: TileType,
}

/// The types of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// Of the arguments.
    pub arguments: Vec<TileType>,
    /// Of the results.
    pub results: Vec<TileType>,
}

impl TensorViewType {
    /// The sizes, where all are known.
    #[must_use]
    pub fn tile(&self) -> Option<Vec<u64>> {
        self.shape.iter().copied().collect()
    }
}

/// A layout, or a memory, by its name and parameters, and as it is written. Two are equal that say the same.
#[derive(Debug, Clone)]
pub struct LayoutName(Arc<(FamilySpec, String)>);

impl LayoutName {
    /// A name as it was read, or is to be written.
    #[must_use]
    pub fn new(spec: FamilySpec, text: impl Into<String>) -> Self {
        Self(Arc::new((spec, text.into())))
    }

    /// The family and its parameters.
    #[must_use]
    pub fn spec(&self) -> &FamilySpec {
        &self.0.0
    }

    /// How it is written: `#dialect.family<...>`, with no other names in it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.1
    }
}

impl PartialEq for LayoutName {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.spec() == other.spec()
    }
}

impl Eq for LayoutName {}

impl std::hash::Hash for LayoutName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.spec().hash(state);
    }
}

impl TileType {
    /// One bit: what comparisons give.
    pub const BOOLEAN: Self = Self::Integer(1, Signedness::Signless);

    /// An integer of so many bits, without a sign.
    #[must_use]
    pub const fn integer(bits: u32) -> Self {
        Self::Integer(bits, Signedness::Signless)
    }

    /// A pointer to global memory.
    #[must_use]
    pub fn pointer(pointee: Self) -> Self {
        Self::Pointer(Arc::new(Pointer { pointee, space: GLOBAL, constant: false }))
    }

    /// A tensor; without a layout, where none is given.
    #[must_use]
    pub fn tensor(shape: impl Into<Vec<u64>>, element: Self, layout: Option<LayoutName>) -> Self {
        Self::Tensor(Arc::new(TensorType { shape: shape.into(), element, layout }))
    }

    /// The tensor that this is.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The memory that this is a tensor in.
    #[must_use]
    pub fn as_memory(&self) -> Option<&MemDescType> {
        match self {
            Self::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// The sizes of a tensor, in registers, in memory or described; none of what has no shape.
    #[must_use]
    pub fn shape(&self) -> Option<&[u64]> {
        match self {
            Self::Tensor(tensor) => Some(&tensor.shape),
            Self::Memory(memory) => Some(&memory.shape),
            Self::Descriptor(descriptor) => Some(&descriptor.shape),
            _ => None,
        }
    }

    /// The layout that a tensor of registers or memory has.
    #[must_use]
    pub fn layout(&self) -> Option<&LayoutName> {
        match self {
            Self::Tensor(tensor) => tensor.layout.as_ref(),
            Self::Memory(memory) => Some(&memory.layout),
            Self::Descriptor(descriptor) => descriptor.layout.as_ref(),
            _ => None,
        }
    }

    /// The type of the elements; a scalar is its own.
    #[must_use]
    pub fn element(&self) -> &Self {
        match self {
            Self::Tensor(tensor) => &tensor.element,
            Self::Memory(memory) => &memory.element,
            Self::Descriptor(descriptor) => &descriptor.element,
            Self::View(view) => &view.element,
            _ => self,
        }
    }

    /// What is pointed to: of a tensor of pointers, the tensor of what they point to.
    #[must_use]
    pub fn pointee(&self) -> Option<Self> {
        match self.element() {
            Self::Pointer(pointer) => Some(self.with_element(pointer.pointee.clone())),
            _ => None,
        }
    }

    /// The same tensor, or scalar, of another element.
    #[must_use]
    pub fn with_element(&self, element: Self) -> Self {
        match self {
            Self::Tensor(tensor) => Self::Tensor(Arc::new(TensorType {
                shape: tensor.shape.clone(),
                element,
                layout: tensor.layout.clone(),
            })),
            _ => element,
        }
    }

    /// The same tensor in another layout; what is no tensor stays.
    #[must_use]
    pub fn with_layout(&self, layout: Option<LayoutName>) -> Self {
        match self {
            Self::Tensor(tensor) => Self::tensor(tensor.shape.clone(), tensor.element.clone(), layout),
            _ => self.clone(),
        }
    }

    /// Bits of an element, as far as they are known.
    #[must_use]
    pub fn element_bits(&self) -> Option<u32> {
        match self.element() {
            Self::Integer(bits, _) => Some(*bits),
            Self::Float(float) => Some(float.bits()),
            Self::Pointer(pointer) => Some(if pointer.space == GLOBAL { 64 } else { 32 }),
            Self::Index => Some(64),
            _ => None,
        }
    }
}
