//! Memory layouts in the program text, in CuTe's notation: `(128,32,?):(?,1,32)`, with `?` for values known only at
//! launch.
//!
//! An axis is one number or a tuple of modes (pairs of size and stride), the first mode fastest. An axis with a size
//! `?` must be sliced before it is copied; each stride `?` is an operand of the operation, in order.

use thiserror::Error;

use tilewright_layout::cute::{CuteError, Tree, TupleView, parse_tuple_with_unknowns};

/// The stride of a mode, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeStride {
    /// A constant number of elements.
    Elements(u64),
    /// The value of the operation's operand with this index.
    Operand(usize),
}

/// One mode of an axis: a size and a stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewMode {
    /// Number of elements; `None` if it is only known at launch.
    pub size: Option<u64>,
    /// Distance between neighbouring elements of the mode.
    pub stride: ModeStride,
}

/// A memory layout: the modes of each axis, fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicCuteLayout {
    /// For each axis, its modes, fastest first.
    pub axes: Vec<Vec<ViewMode>>,
    /// The number of strides that are operands of the operation.
    pub operands: usize,
}

/// An error in the text of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a layout, such as `(128,32,?):(?,1,32)`: {message}")]
pub struct ViewLayoutParseError {
    /// The faulty text of the layout.
    pub text: String,
    /// The error in the text.
    pub message: String,
}

/// A shape or a list of strides as parsed: a number, `?` (`None`), or a tuple of these.
type Term = Tree<Option<u64>>;

impl DynamicCuteLayout {
    /// Parses the text of a layout.
    ///
    /// # Errors
    /// [`ViewLayoutParseError`]: a syntax error, a shape that is not congruent to the strides, or more than one `?` along an
    /// axis.
    pub fn parse(text: &str) -> Result<Self, ViewLayoutParseError> {
        let wrong = |message: String| ViewLayoutParseError { text: text.to_owned(), message };
        let (shape, strides) =
            text.split_once(':').ok_or_else(|| wrong("expected `:` before the strides".to_owned()))?;
        let (shape, strides) = (term(shape).map_err(wrong)?, term(strides).map_err(wrong)?);
        let (shape, strides) = match (shape.view(), strides.view()) {
            (TupleView::Tuple(shape), TupleView::Tuple(strides)) => (shape, strides),
            _ => (std::slice::from_ref(&shape), std::slice::from_ref(&strides)),
        };
        if shape.len() != strides.len() {
            return Err(wrong(format!("{} axes have {} strides", shape.len(), strides.len())));
        }
        let mut operands = 0;
        let mut axes = Vec::new();
        for (shape, stride) in shape.iter().zip(strides) {
            let mut modes = Vec::new();
            paired(shape, stride, &mut operands, &mut modes).map_err(wrong)?;
            let unknown = modes.iter().rev().skip(1).any(|mode| mode.size.is_none());
            if unknown {
                return Err(wrong("only the last mode of an axis may be `?`".to_owned()));
            }
            axes.push(modes);
        }
        Ok(Self { axes, operands })
    }

    /// The size of each axis; `None` if one of its modes is `?`.
    #[must_use]
    pub fn shape(&self) -> Vec<Option<u64>> {
        let size = |modes: &Vec<ViewMode>| modes.iter().try_fold(1u64, |size, mode| size.checked_mul(mode.size?));
        self.axes.iter().map(size).collect()
    }
}

/// Reads the modes of one axis from its shape and strides; counts the strides that are operands in `operands`.
fn paired(shape: &Term, stride: &Term, operands: &mut usize, modes: &mut Vec<ViewMode>) -> Result<(), String> {
    match (shape.view(), stride.view()) {
        (TupleView::Leaf(size), TupleView::Leaf(stride)) => {
            let stride = stride.map_or_else(
                || {
                    *operands += 1;
                    ModeStride::Operand(*operands - 1)
                },
                ModeStride::Elements,
            );
            if *size == Some(0) {
                return Err("a size is zero".to_owned());
            }
            modes.push(ViewMode { size: *size, stride });
            Ok(())
        }
        (TupleView::Tuple(shapes), TupleView::Tuple(strides)) if shapes.len() == strides.len() => {
            shapes.iter().zip(strides).try_for_each(|(shape, stride)| paired(shape, stride, operands, modes))
        }
        _ => Err("the strides are not of the shape's form".to_owned()),
    }
}

/// Parses a tuple; the message quotes the text from the position of the error.
fn term(text: &str) -> Result<Term, String> {
    parse_tuple_with_unknowns(text).map_err(|error| match error {
        CuteError::Text(error) => format!("{} at `{}`", error.message, &text[error.at..]),
        error => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(size: u64, stride: u64) -> ViewMode {
        ViewMode { size: Some(size), stride: ModeStride::Elements(stride) }
    }

    #[test]
    fn axes_have_modes_and_runtime_strides_are_numbered() {
        let layout = DynamicCuteLayout::parse("(128, (4,8), ?) : (?, (1, 64), ?)").expect("a layout");
        assert_eq!(layout.shape(), [Some(128), Some(32), None]);
        assert_eq!(layout.operands, 2);
        assert_eq!(layout.axes[0], [ViewMode { size: Some(128), stride: ModeStride::Operand(0) }]);
        assert_eq!(layout.axes[1], [known(4, 1), known(8, 64)]);
        assert_eq!(layout.axes[2], [ViewMode { size: None, stride: ModeStride::Operand(1) }]);
        assert_eq!(DynamicCuteLayout::parse("64:1").expect("a layout").axes, [[known(64, 1)]]);
    }

    #[test]
    fn invalid_layouts_are_rejected_with_a_position() {
        for (text, message) in [
            ("(4,8)", "`:`"),
            ("(4,8):(1)", "2 axes have 1 strides"),
            ("(4,(2,4)):(1,4)", "form"),
            ("((?,2),4):((1,2),4)", "last mode"),
            ("(4,x):(1,4)", "`x)`"),
            ("(4,0):(1,4)", "zero"),
        ] {
            let error = DynamicCuteLayout::parse(text).expect_err(text).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
