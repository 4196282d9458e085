//! Which types an operand or a result may have.

use std::fmt;

use crate::types::TileType;

/// A set of types, by a word of a dialect file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    container: Container,
    element: Element,
}

/// What holds the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Anything.
    Any,
    /// A scalar or a tensor.
    ScalarOrTensor,
    /// A tensor.
    Tensor,
    /// A scalar.
    Scalar,
    /// A tensor in memory.
    Memory,
    /// A tensor or one in memory.
    TensorOrMemory,
    /// A tensor descriptor.
    Descriptor,
    /// A tensor in global memory, seen through a layout.
    View,
    /// A tensor in registers, in memory of the block, or in global memory.
    Place,
    /// A token.
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

impl Class {
    /// All types.
    pub const ANY: Self = Self { container: Container::Any, element: Element::Any };

    /// The class of a word: `int`, `float`, `number`, `integer_or_index`, `float_or_byte`, `i1` to `i64`, `pointer`, `value`, each a
    /// scalar or a tensor, alone with `scalar.` or `tensor.` before it; `tensor`, `memory`, `operand` (a tensor or one
    /// in memory), `descriptor`, `token`, `any`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let whole = |container| Some(Self { container, element: Element::Any });
        match word {
            "any" => return Some(Self::ANY),
            "tensor" => return whole(Container::Tensor),
            "memory" => return whole(Container::Memory),
            "operand" => return whole(Container::TensorOrMemory),
            "descriptor" => return whole(Container::Descriptor),
            "token" => return whole(Container::Token),
            "view" => return whole(Container::View),
            "place" => return whole(Container::Place),
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

    /// Whether a type is in it.
    #[must_use]
    pub fn holds(self, ty: &TileType) -> bool {
        let is_tensor = matches!(ty, TileType::Tensor(_));
        let is_scalar =
            matches!(ty, TileType::Integer(..) | TileType::Float(_) | TileType::Index | TileType::Pointer(_));
        let held = match self.container {
            Container::Any => true,
            Container::ScalarOrTensor => is_tensor || is_scalar,
            Container::Tensor => is_tensor,
            Container::Scalar => is_scalar,
            Container::Memory => matches!(ty, TileType::Memory(_)),
            Container::TensorOrMemory => is_tensor || matches!(ty, TileType::Memory(_)),
            // Vendors' descriptors are types of their own.
            Container::Descriptor => matches!(ty, TileType::Descriptor(_) | TileType::Foreign(_)),
            Container::View => matches!(ty, TileType::View(_)),
            Container::Place => is_tensor || matches!(ty, TileType::Memory(_) | TileType::View(_)),
            Container::Token => matches!(ty, TileType::Token),
        };
        held && self.element.holds(ty.element())
    }

    /// The word before `<` that a type of this class may be written without.
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
            Self::IntegerOrIndex => matches!(ty, TileType::Integer(..) | TileType::Index),
            Self::Float => matches!(ty, TileType::Float(_)),
            Self::FloatOrByte => matches!(ty, TileType::Float(_) | TileType::Integer(8, _)),
            Self::Bits(bits) => matches!(ty, TileType::Integer(width, _) if *width == bits),
            Self::Pointer => matches!(ty, TileType::Pointer(_)),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = match self.element {
            Element::Any => "values".to_owned(),
            Element::Number => "numbers".to_owned(),
            Element::Integer => "integers".to_owned(),
            Element::IntegerOrIndex => "integers or `index`".to_owned(),
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
            Container::Place => f.write_str("a tensor in registers or memory, or a view of global memory"),
            Container::Token => f.write_str("a token"),
        }
    }
}
