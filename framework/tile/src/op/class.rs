//! Type constraints of operands and results.

use std::fmt;

use crate::types::{Signedness, TileType};

/// A set of types, named by a keyword of dialect files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandTypeConstraint {
    container: Container,
    element: Element,
}

/// The kinds of types in a set, apart from the type of their elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Any type.
    Any,
    /// A scalar or a tensor.
    ScalarOrTensor,
    /// A tensor.
    Tensor,
    /// A scalar.
    Scalar,
    /// A tensor in shared memory or in tensor memory (`ttg.memdesc`).
    Memory,
    /// A tensor in registers, or in shared or tensor memory.
    TensorOrMemory,
    /// A tensor descriptor.
    Descriptor,
    /// A view of a tensor in global memory, with a layout.
    View,
    /// A tensor in registers, in shared or tensor memory, or in global memory.
    AnyTensor,
    /// An async token.
    Token,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Any,
    Number,
    Integer,
    IntegerOrIndex,
    Float,
    FloatOrByte,
    Bits(u32),
    Pointer,
}

impl OperandTypeConstraint {
    /// All types.
    pub const ANY: Self = Self { container: Container::Any, element: Element::Any };

    /// Returns the set of types that a keyword of dialect files names; `None` for other words.
    ///
    /// `int`, `float`, `number`, `integer_or_index`, `float_or_byte`, `i1` to `i64`, `pointer` and `value` are a scalar
    /// or a tensor; the prefix `scalar.` or `tensor.` restricts them. Others are `tensor`, `memory`, `view`, `operand`
    /// (a tensor in registers or memory), `place` (an `operand` or a view), `descriptor`, `token` and `any`.
    #[must_use]
    pub fn from_keyword(word: &str) -> Option<Self> {
        let any_element = |container| Some(Self { container, element: Element::Any });
        match word {
            "any" => return Some(Self::ANY),
            "tensor" => return any_element(Container::Tensor),
            "memory" => return any_element(Container::Memory),
            "operand" => return any_element(Container::TensorOrMemory),
            "descriptor" => return any_element(Container::Descriptor),
            "token" => return any_element(Container::Token),
            "view" => return any_element(Container::View),
            "place" => return any_element(Container::AnyTensor),
            _ => {}
        }
        let (container, element) = match word.split_once('.') {
            Some(("scalar", element)) => (Container::Scalar, element),
            Some(("tensor", element)) => (Container::Tensor, element),
            Some(_) => return None,
            None => (Container::ScalarOrTensor, word),
        };
        let element = match element {
            "value" => Element::Any,
            "number" => Element::Number,
            "int" => Element::Integer,
            "integer_or_index" => Element::IntegerOrIndex,
            "float" => Element::Float,
            "float_or_byte" => Element::FloatOrByte,
            "pointer" => Element::Pointer,
            bits => Element::Bits(bits.strip_prefix('i')?.parse().ok()?),
        };
        Some(Self { container, element })
    }

    /// Whether a type belongs to the set.
    #[must_use]
    pub fn contains(self, ty: &TileType) -> bool {
        let is_tensor = matches!(ty, TileType::Tensor(_));
        let is_scalar =
            matches!(ty, TileType::Integer(..) | TileType::Float(_) | TileType::Index | TileType::Pointer(_));
        let is_in_container = match self.container {
            Container::Any => true,
            Container::ScalarOrTensor => is_tensor || is_scalar,
            Container::Tensor => is_tensor,
            Container::Scalar => is_scalar,
            Container::Memory => matches!(ty, TileType::Memory(_)),
            Container::TensorOrMemory => is_tensor || matches!(ty, TileType::Memory(_)),
            // Vendors' descriptors are foreign types.
            Container::Descriptor => matches!(ty, TileType::Descriptor(_) | TileType::Foreign(_)),
            Container::View => matches!(ty, TileType::View(_)),
            Container::AnyTensor => is_tensor || matches!(ty, TileType::Memory(_) | TileType::View(_)),
            Container::Token => matches!(ty, TileType::Token),
        };
        is_in_container && self.element.holds(ty.element())
    }

    /// Whether all types of the set are scalars or tensors.
    #[must_use]
    pub(crate) fn is_of_values(self) -> bool {
        matches!(self.container, Container::ScalarOrTensor | Container::Tensor | Container::Scalar)
    }

    /// Returns the type constructor (the word before `<`) that all types of the set have, so that a text format may
    /// omit it.
    ///
    /// `None` if they have none in common.
    #[must_use]
    pub fn constructor(self) -> Option<&'static str> {
        match self.container {
            Container::Memory => Some("!ttg.memdesc"),
            Container::Descriptor => Some("!tt.tensordesc"),
            Container::Scalar if self.element == Element::Pointer => Some("!tt.ptr"),
            _ => None,
        }
    }
}

impl Element {
    fn holds(self, ty: &TileType) -> bool {
        match self {
            Self::Any => true,
            Self::Number => matches!(ty, TileType::Integer(..) | TileType::Float(_)),
            Self::Integer => matches!(ty, TileType::Integer(..)),
            Self::IntegerOrIndex => matches!(ty, TileType::Integer(_, Signedness::Signless) | TileType::Index),
            Self::Float => matches!(ty, TileType::Float(_)),
            Self::FloatOrByte => matches!(ty, TileType::Float(_) | TileType::Integer(8, _)),
            Self::Bits(bits) => matches!(ty, TileType::Integer(width, _) if *width == bits),
            Self::Pointer => matches!(ty, TileType::Pointer(_)),
        }
    }
}

impl fmt::Display for OperandTypeConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = match self.element {
            Element::Any => "values".to_owned(),
            Element::Number => "numbers".to_owned(),
            Element::Integer => "integers".to_owned(),
            Element::IntegerOrIndex => "signless integers or `index`".to_owned(),
            Element::Float => "floating-point numbers".to_owned(),
            Element::FloatOrByte => "floating-point numbers or `i8`".to_owned(),
            Element::Bits(bits) => format!("`i{bits}`"),
            Element::Pointer => "pointers".to_owned(),
        };
        match self.container {
            Container::Any => f.write_str("any type"),
            Container::ScalarOrTensor => write!(f, "a scalar or tensor of {element}"),
            Container::Tensor => write!(f, "a tensor of {element}"),
            Container::Scalar => write!(f, "a scalar of {element}"),
            Container::Memory => f.write_str("a tensor in memory"),
            Container::TensorOrMemory => f.write_str("a tensor, in registers or in memory"),
            Container::Descriptor => f.write_str("a tensor descriptor"),
            Container::View => f.write_str("a view of global memory"),
            Container::AnyTensor => f.write_str("a tensor in registers or memory, or a view of global memory"),
            Container::Token => f.write_str("a token"),
        }
    }
}
