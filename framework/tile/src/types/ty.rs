//! Types of tile programs.

use super::float::FloatType;
use std::sync::{Arc, LazyLock};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{AttributeSyntaxes, FamilyParameterValue, FamilySpec};
use tilewright_target::named_enum;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TileType {
    /// The MLIR type `index`; 64 bits.
    Index,
    /// An integer of this width, signless by default.
    Integer(u32, Signedness),
    /// A floating-point type.
    Float(FloatType),
    /// A pointer.
    Pointer(Arc<PointerType>),
    /// A tensor in registers, distributed over the lanes of a block.
    Tensor(Arc<TensorType>),
    /// A tensor in shared or tensor memory (`ttg.memdesc`).
    Memory(Arc<MemDescType>),
    /// A descriptor of a tensor in global memory, for copies of blocks (`tt.tensordesc`).
    Descriptor(Arc<TensorDescriptorType>),
    /// A view of a tensor in global memory, in an explicit-memory program.
    View(Arc<TensorViewType>),
    /// The async token of an operation in flight.
    Token,
    /// A function type.
    Function(Arc<FunctionType>),
    /// A type of an unknown dialect, as text: `!dialect.name<...>`.
    Foreign(Arc<str>),
}

/// The signedness of an integer type, as in MLIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signedness {
    /// No signedness, as `i32`: each operation determines how it reads the integer.
    Signless,
    /// Signed: `si32`.
    Signed,
    /// Unsigned: `ui32`.
    Unsigned,
}

/// A pointer type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PointerType {
    /// The pointee type.
    pub pointee: TileType,
    /// The memory that it points to.
    pub space: AddressSpace,
}

named_enum! {
    /// The memory that a pointer points to.
    #[derive(Default)]
    pub enum AddressSpace {
        /// Global memory.
        #[default]
        Global = "global",
        /// Global memory that is read-only while the program runs.
        Constant = "constant",
        /// A descriptor that the host encodes (CUDA `CUtensorMap`).
        Descriptor = "descriptor",
    }
}

/// A tensor in registers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Number of elements along each axis.
    pub shape: Vec<u64>,
    /// The element type: a number or a pointer.
    pub element: TileType,
    /// The distributed layout; `None` before layout assignment.
    pub layout: Option<LayoutAttribute>,
}

/// A tensor in shared or tensor memory (`ttg.memdesc`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemDescType {
    /// Number of elements along each axis.
    pub shape: Vec<u64>,
    /// The element type.
    pub element: TileType,
    /// The layout of the tensor in the memory.
    pub layout: LayoutAttribute,
    /// The memory space: `#ttg.shared_memory`, ...
    pub space: LayoutAttribute,
    /// Whether the memory may be written after its initialization.
    pub mutable: bool,
    /// The shape of the allocation that this tensor is a part of; `None` if the tensor is all of it.
    pub allocation: Option<Vec<u64>>,
}

/// A tensor in global memory, copied in blocks of a fixed shape (`tt.tensordesc`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorDescriptorType {
    /// Number of elements of a block along each axis.
    pub shape: Vec<u64>,
    /// The element type.
    pub element: TileType,
    /// The memory layout of the blocks in shared memory; `None` if it is not chosen yet.
    pub layout: Option<LayoutAttribute>,
}

/// A tensor in global memory with a layout, from which explicit-memory programs copy tiles.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorViewType {
    /// Number of elements along each axis; `None` if it is only known at launch.
    pub shape: Vec<Option<u64>>,
    /// The element type.
    pub element: TileType,
}

/// A function type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// Types of the arguments.
    pub arguments: Vec<TileType>,
    /// Types of the results.
    pub results: Vec<TileType>,
}

impl TensorViewType {
    /// The shape of the view; `None` if a size is only known at launch.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<u64>> {
        self.shape.iter().copied().collect()
    }
}

/// The name of a layout or memory space: a family with parameters, and its text. Two names are equal if their canonical
/// specs are: the text, parameters with default values, and parameters that other parameters imply are not compared.
#[derive(Debug, Clone)]
pub struct LayoutAttribute(Arc<NamedLayout>);

#[derive(Debug)]
struct NamedLayout {
    spec: FamilySpec,
    canonical: FamilySpec,
    text: String,
}

/// The canonical form of a spec, so that equal layouts compare equal.
///
/// It is the canonical form of the neutral families, without parameters that are false or empty lists, which are the
/// defaults of every family.
fn canonical(spec: &FamilySpec) -> FamilySpec {
    static NEUTRAL: LazyLock<AttributeSyntaxes> = LazyLock::new(|| AttributeSyntaxes::from_families(&NeutralFamilies));
    let mut spec = NEUTRAL.to_canonical_spec(spec);
    without_defaults(&mut spec);
    spec
}

fn without_defaults(spec: &mut FamilySpec) {
    spec.attributes.retain(|_, value| match value {
        FamilyParameterValue::Bool(value) => *value,
        FamilyParameterValue::List(items) => !items.is_empty(),
        _ => true,
    });
    spec.parent.iter_mut().for_each(|parent| without_defaults(parent));
    for value in spec.attributes.values_mut() {
        if let FamilyParameterValue::Spec(inner) = value {
            without_defaults(inner);
        }
    }
}

impl LayoutAttribute {
    /// A name with the text that it was parsed from.
    #[must_use]
    pub fn new(spec: FamilySpec, text: impl Into<String>) -> Self {
        Self(Arc::new(NamedLayout { canonical: canonical(&spec), spec, text: text.into() }))
    }

    /// The family (such as `blocked`) and its parameters.
    #[must_use]
    pub fn spec(&self) -> &FamilySpec {
        &self.0.spec
    }

    /// The text of the name, `#dialect.family<...>`, without aliases.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl PartialEq for LayoutAttribute {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.canonical == other.0.canonical
    }
}

impl Eq for LayoutAttribute {}

impl std::hash::Hash for LayoutAttribute {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.canonical.hash(state);
    }
}

impl TileType {
    /// The bool type: `i1`.
    pub const BOOLEAN: Self = Self::Integer(1, Signedness::Signless);

    /// A signless integer type of this width.
    #[must_use]
    pub const fn integer(bits: u32) -> Self {
        Self::Integer(bits, Signedness::Signless)
    }

    /// A pointer type of global memory.
    #[must_use]
    pub fn pointer(pointee: Self) -> Self {
        Self::Pointer(Arc::new(PointerType { pointee, space: AddressSpace::default() }))
    }

    /// A tensor type, with or without a layout.
    #[must_use]
    pub fn tensor(shape: impl Into<Vec<u64>>, element: Self, layout: Option<LayoutAttribute>) -> Self {
        Self::Tensor(Arc::new(TensorType { shape: shape.into(), element, layout }))
    }

    /// Returns the type as a tensor type; `None` for other types.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the type as a memory type (`ttg.memdesc`); `None` for other types.
    #[must_use]
    pub fn as_memory(&self) -> Option<&MemDescType> {
        match self {
            Self::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// The shape of a tensor in registers or memory, or of a descriptor's blocks; `None` for other types.
    #[must_use]
    pub fn shape(&self) -> Option<&[u64]> {
        match self {
            Self::Tensor(tensor) => Some(&tensor.shape),
            Self::Memory(memory) => Some(&memory.shape),
            Self::Descriptor(descriptor) => Some(&descriptor.shape),
            _ => None,
        }
    }

    /// Returns the layout of a tensor in registers or memory, or of a descriptor's blocks; `None` if there is none.
    #[must_use]
    pub fn layout(&self) -> Option<&LayoutAttribute> {
        match self {
            Self::Tensor(tensor) => tensor.layout.as_ref(),
            Self::Memory(memory) => Some(&memory.layout),
            Self::Descriptor(descriptor) => descriptor.layout.as_ref(),
            _ => None,
        }
    }

    /// Returns the element type; for a scalar type, the type itself.
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

    /// Returns the pointee type of a pointer; for a tensor of pointers, the tensor of the pointee type. `None` for
    /// other types.
    #[must_use]
    pub fn pointee_type(&self) -> Option<Self> {
        match self.element() {
            Self::Pointer(pointer) => Some(self.with_element(pointer.pointee.clone())),
            _ => None,
        }
    }

    /// The same tensor or scalar with another element type.
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

    /// The same tensor in another layout; other types are unchanged.
    #[must_use]
    pub fn with_layout(&self, layout: Option<LayoutAttribute>) -> Self {
        match self {
            Self::Tensor(tensor) => Self::tensor(tensor.shape.clone(), tensor.element.clone(), layout),
            _ => self.clone(),
        }
    }

    /// Returns the width of an element in bits; `None` if the type of the elements has none, such as a token.
    #[must_use]
    pub fn element_bits(&self) -> Option<u32> {
        match self.element() {
            Self::Integer(bits, _) => Some(*bits),
            Self::Float(float) => Some(float.bits()),
            Self::Pointer(_) => Some(64),
            Self::Index => Some(64),
            _ => None,
        }
    }
}
