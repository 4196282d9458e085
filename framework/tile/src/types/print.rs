//! Prints types.

use std::fmt;

use super::{
    AddressSpace, FunctionType, LayoutAttribute, MemDescType, PointerType, Signedness, TensorDescriptorType,
    TensorType, TensorViewType, TileType,
};

/// A function that writes the name of a layout: in full, or as an alias.
pub(crate) type WriteLayout<'a> = dyn Fn(&LayoutAttribute, &mut dyn fmt::Write) -> fmt::Result + 'a;

impl fmt::Display for TileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &in_full)
    }
}

/// Writes layouts in full.
fn in_full(layout: &LayoutAttribute, f: &mut dyn fmt::Write) -> fmt::Result {
    f.write_str(layout.text())
}

impl TileType {
    pub(crate) fn write(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Integer(bits, sign) => {
                let sign = match sign {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                };
                write!(f, "{sign}{bits}")
            }
            Self::Float(float) => f.write_str(float.name()),
            Self::Token => f.write_str("!ttg.async.token"),
            Self::Foreign(text) => f.write_str(text),
            Self::Function(signature) => write_signature(f, signature, layouts),
            Self::Tensor(tensor) => {
                f.write_str("tensor")?;
                write_tensor(f, tensor, layouts)
            }
            Self::View(view) => write_view(f, view, layouts),
            Self::Pointer(_) => {
                f.write_str("!tt.ptr")?;
                self.write_short(f, layouts)
            }
            Self::Memory(_) => {
                f.write_str("!ttg.memdesc")?;
                self.write_short(f, layouts)
            }
            Self::Descriptor(_) => {
                f.write_str("!tt.tensordesc")?;
                self.write_short(f, layouts)
            }
        }
    }

    /// Writes the type without its constructor, `<f32>`, for formats that omit it.
    pub(crate) fn write_short(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        match self {
            Self::Pointer(pointer) => write_pointer(f, pointer, layouts),
            Self::Memory(memory) => write_memory(f, memory, layouts),
            Self::Descriptor(descriptor) => write_descriptor(f, descriptor, layouts),
            other => other.write(f, layouts),
        }
    }
}

fn write_shape(f: &mut dyn fmt::Write, shape: &[u64]) -> fmt::Result {
    shape.iter().try_for_each(|size| write!(f, "{size}x"))
}

fn write_pointer(f: &mut dyn fmt::Write, pointer: &PointerType, layouts: &WriteLayout<'_>) -> fmt::Result {
    f.write_str("<")?;
    pointer.pointee.write(f, layouts)?;
    if pointer.space != AddressSpace::default() {
        write!(f, ", \"{}\"", pointer.space.name())?;
    }
    f.write_str(">")
}

fn write_tensor(f: &mut dyn fmt::Write, tensor: &TensorType, layouts: &WriteLayout<'_>) -> fmt::Result {
    f.write_str("<")?;
    write_shape(f, &tensor.shape)?;
    tensor.element.write(f, layouts)?;
    write_layout(f, tensor.layout.as_ref(), layouts)?;
    f.write_str(">")
}

fn write_layout(f: &mut dyn fmt::Write, layout: Option<&LayoutAttribute>, layouts: &WriteLayout<'_>) -> fmt::Result {
    let Some(layout) = layout else { return Ok(()) };
    f.write_str(", ")?;
    layouts(layout, f)
}

fn write_memory(f: &mut dyn fmt::Write, memory: &MemDescType, layouts: &WriteLayout<'_>) -> fmt::Result {
    f.write_str("<")?;
    write_shape(f, &memory.shape)?;
    memory.element.write(f, layouts)?;
    write_layout(f, Some(&memory.layout), layouts)?;
    write_layout(f, Some(&memory.space), layouts)?;
    if memory.mutable {
        f.write_str(", mutable")?;
    }
    if let Some(allocation) = &memory.allocation {
        let sizes: Vec<_> = allocation.iter().map(u64::to_string).collect();
        write!(f, ", {}", sizes.join("x"))?;
    }
    f.write_str(">")
}

fn write_descriptor(
    f: &mut dyn fmt::Write,
    descriptor: &TensorDescriptorType,
    layouts: &WriteLayout<'_>,
) -> fmt::Result {
    f.write_str("<")?;
    write_shape(f, &descriptor.shape)?;
    descriptor.element.write(f, layouts)?;
    write_layout(f, descriptor.layout.as_ref(), layouts)?;
    f.write_str(">")
}

fn write_view(f: &mut dyn fmt::Write, view: &TensorViewType, layouts: &WriteLayout<'_>) -> fmt::Result {
    f.write_str("!tw.view<")?;
    view.shape.iter().try_for_each(|size| match size {
        Some(size) => write!(f, "{size}x"),
        None => f.write_str("?x"),
    })?;
    view.element.write(f, layouts)?;
    f.write_str(">")
}

fn write_signature(f: &mut dyn fmt::Write, signature: &FunctionType, layouts: &WriteLayout<'_>) -> fmt::Result {
    f.write_str("(")?;
    write_types(f, &signature.arguments, layouts)?;
    f.write_str(") -> ")?;
    match &signature.results[..] {
        [result] if !matches!(result, TileType::Function(_)) => result.write(f, layouts),
        results => {
            f.write_str("(")?;
            write_types(f, results, layouts)?;
            f.write_str(")")
        }
    }
}

/// Comma-separated types.
pub(crate) fn write_types(f: &mut dyn fmt::Write, types: &[TileType], layouts: &WriteLayout<'_>) -> fmt::Result {
    types.iter().enumerate().try_for_each(|(index, ty)| {
        if index > 0 {
            f.write_str(", ")?;
        }
        ty.write(f, layouts)
    })
}
