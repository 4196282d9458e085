//! Parsers of the text of tuples, layouts, swizzles and task mappings.

use std::str::FromStr;

use super::syntax;
use super::{
    ComposedLayout, CoordinateLayout, CoordinateMode, CuteError, CuteLayout, IntTuple, MAX_DEPTH, PartialCoordinate,
    SignedLayout, SignedLeaf, Swizzle, TaskMapping, Tree,
};
use crate::text::{Cursor, Parsed};

/// The names of a swizzle, as the versions of CuTe print them.
const SWIZZLES: [&str; 3] = ["Swizzle", "Sw", "S"];

/// The strides of a layout, as the text has them.
enum Strides<T> {
    Given(Tree<T>),
    /// The strides of the compact layout whose sizes have these ranks; rank 0 is the fastest.
    Ordered(IntTuple),
    Omitted,
}

impl<T> Strides<T> {
    fn given(self) -> Option<Tree<T>> {
        match self {
            Self::Given(strides) => Some(strides),
            Self::Ordered(_) | Self::Omitted => None,
        }
    }
}

/// Returns the rank of each size of a shape: by position, from the right if `is_right`.
fn ranks(shape: &IntTuple, is_right: bool) -> IntTuple {
    let sizes = shape.leaves().len() as u64;
    let mut left = 0..sizes;
    shape.map(|_| left.next().map_or(0, |rank| if is_right { sizes - 1 - rank } else { rank }))
}

struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Reader<'a> {
    fn parse_to_end<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Result<T, CuteError>) -> Result<T, CuteError> {
        let mut reader = Self { cursor: Cursor::new(text) };
        let value = read(&mut reader)?;
        reader.cursor.expect_end("the end of the text")?;
        Ok(value)
    }

    fn must(&mut self, token: &str, expected: &str) -> Parsed<()> {
        if self.cursor.skip_if_next(token) { Ok(()) } else { Err(self.cursor.expected_token_error(expected)) }
    }

    fn must_close(&mut self, end: &str) -> Parsed<()> {
        let is_end = syntax::close(&mut self.cursor, end);
        if is_end { Ok(()) } else { Err(self.cursor.expected_token_error(&format!("`{end}`"))) }
    }

    fn tree<T>(&mut self, depth: usize, leaf: fn(&mut Self) -> Parsed<T>) -> Result<Tree<T>, CuteError> {
        let Some(end) = syntax::open_tuple(&mut self.cursor) else {
            return Ok(Tree::leaf(leaf(self)?));
        };
        if depth == MAX_DEPTH {
            return Err(CuteError::TooDeep { depth: depth + 1 });
        }
        let mut modes = Vec::new();
        if syntax::close(&mut self.cursor, end) {
            return Tree::tuple(modes);
        }
        loop {
            modes.push(self.tree(depth + 1, leaf)?);
            // A tuple of one element may be written `(8,)`.
            let is_last = !self.cursor.skip_if_next(",");
            if (is_last || modes.len() == 1) && syntax::close(&mut self.cursor, end) {
                return Tree::tuple(modes);
            }
            if is_last {
                return Err(self.cursor.expected_token_error(&format!("`,` or `{end}`")).into());
            }
        }
    }

    /// Reads an integer, which may be static: `_8`, as CuTe prints it, or `Int<8>{}`.
    fn integer<T: FromStr>(&mut self, expected: &str) -> Parsed<T> {
        syntax::read_integer(&mut self.cursor, expected)
    }

    /// Reads `shape:stride`, `make_layout(shape, stride)`, `make_ordered_layout(shape, order)` or the type
    /// `Layout<Shape, Stride>`.
    fn shape_and_stride<T>(&mut self, stride: fn(&mut Self) -> Parsed<T>) -> Result<(IntTuple, Strides<T>), CuteError> {
        let brackets = syntax::open_layout(&mut self.cursor);
        let shape = self.tuple()?;
        let strides = match self.cursor.skip_if_next(if brackets.is_some() { "," } else { ":" }) {
            false => Strides::Omitted,
            true if brackets.as_ref().is_some_and(|brackets| brackets.is_ordered) => Strides::Ordered(self.tuple()?),
            true => match syntax::read_major(&mut self.cursor) {
                Some(is_right) => Strides::Ordered(ranks(&shape, is_right)),
                None => Strides::Given(self.tree(0, stride)?),
            },
        };
        brackets.map_or(Ok(()), |brackets| self.must_close(brackets.end))?;
        Ok((shape, strides))
    }

    fn tuple(&mut self) -> Result<IntTuple, CuteError> {
        self.tree(0, |reader| reader.integer("an integer or `(`"))
    }

    fn stride(&mut self) -> Parsed<u64> {
        self.cursor.skip_blanks();
        if self.cursor.is_next("-") || self.cursor.is_next("_-") {
            let message = "a negative stride, which no linear layout has: reverse the axis and add the offset of its last \
                           element to the address; `layout`, `draw layout` and `cute.*` operations show the map as it is";
            return Err(self.cursor.error_at(self.cursor.at, message));
        }
        self.integer("an integer or `(`")
    }

    fn signed_stride(&mut self) -> Parsed<i64> {
        let is_negative = self.cursor.skip_if_next("-") || self.cursor.skip_if_next("_-");
        let stride = self.integer::<i64>("an integer or `(`")?;
        Ok(if is_negative { -stride } else { stride })
    }

    fn signed_layout(&mut self) -> Result<SignedLayout, CuteError> {
        let (shape, stride) = self.shape_and_stride(Self::signed_stride)?;
        let stride = stride.given().ok_or_else(|| self.cursor.expected_token_error("`:` and strides"))?;
        let modes = shape.zip(&stride, &mut |&shape, &stride| SignedLeaf { shape, stride });
        SignedLayout::from_tree(modes.ok_or_else(|| CuteError::NotCongruent {
            left: shape.to_string(),
            right: stride.to_string(),
            remedy: "give every size a stride",
        })?)
    }

    fn selection(&mut self) -> Result<PartialCoordinate, CuteError> {
        self.tree(0, |reader| {
            if reader.cursor.skip_if_next("_") {
                Ok(None)
            } else {
                reader.cursor.read_decimal("an integer, `_` or `(`").map(Some)
            }
        })
    }

    fn open(&mut self) -> Result<Tree<Option<u64>>, CuteError> {
        self.tree(0, |reader| {
            if reader.cursor.skip_if_next("?") {
                Ok(None)
            } else {
                reader.cursor.read_decimal("a number, `?` or `(`").map(Some)
            }
        })
    }

    /// Reads `2@1`, `1@0+1@1`, `E<1>{}` or `0` as pairs of a step and its axis.
    fn steps(&mut self) -> Parsed<Vec<(u64, u32)>> {
        let mut steps = Vec::new();
        if let Some(axis) = syntax::read_basis(&mut self.cursor)? {
            return Ok(vec![(1, axis)]);
        }
        loop {
            let step = self.integer::<u64>("a stride such as `1@0`, or `(`")?;
            if step == 0 && steps.is_empty() && !self.cursor.skip_if_next("@") {
                return Ok(steps);
            }
            if step != 0 {
                self.must("@", "`@` and an axis")?;
            }
            steps.push((step, self.small()?));
            if !self.cursor.skip_if_next("+") {
                return Ok(steps);
            }
        }
    }

    fn coordinates(&mut self) -> Result<CoordinateLayout, CuteError> {
        syntax::skip_origin(&mut self.cursor)?;
        let (shape, steps) = self.shape_and_stride(Self::steps)?;
        let steps = steps.given().ok_or_else(|| self.cursor.expected_token_error("`:` and strides such as `1@0`"))?;
        let axes = steps.leaves().into_iter().flatten().map(|(_, axis)| *axis as usize + 1).max().unwrap_or(0);
        let modes = shape.zip(&steps, &mut |&shape, steps| {
            let mut stride = vec![0u64; axes];
            for &(step, axis) in steps {
                stride[axis as usize] = step;
            }
            CoordinateMode { shape, stride }
        });
        let modes = modes.ok_or_else(|| CuteError::NotCongruent {
            left: shape.to_string(),
            right: "its strides".to_owned(),
            remedy: "give every size a stride",
        })?;
        CoordinateLayout::new(axes, modes)
    }

    fn layout(&mut self) -> Result<CuteLayout, CuteError> {
        match self.shape_and_stride(Self::stride)? {
            (shape, Strides::Given(stride)) => CuteLayout::new(&shape, &stride),
            (shape, Strides::Ordered(order)) => CuteLayout::from_ordered_shape(&shape, &order),
            // A shape without strides denotes its compact layout.
            (shape, Strides::Omitted) => CuteLayout::from_compact_shape(&shape),
        }
    }

    fn swizzle(&mut self) -> Result<Swizzle, CuteError> {
        self.cursor.expect("<")?;
        let bits = self.small()?;
        self.cursor.expect(",")?;
        let base = self.small()?;
        self.cursor.expect(",")?;
        let below = self.cursor.skip_if_next("-");
        let shift = self.small()? as i32;
        self.must_close(">")?;
        Swizzle::new(bits, base, if below { -shift } else { shift })
    }

    fn small(&mut self) -> Parsed<u32> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let value = self.cursor.read_decimal("an integer below 64")?;
        if value < 64 { Ok(value) } else { Err(self.cursor.error_at(start, "expected an integer below 64")) }
    }

    /// Reads the `o` of a composition, with optional blanks around it; returns whether it was there.
    fn composes(&mut self) -> bool {
        let there = self.cursor.peek() == Some('o');
        self.cursor.at += usize::from(there);
        there
    }

    /// Reads `repeat(4, 1) * spatial(16, 8)`.
    fn task_mapping(&mut self) -> Result<TaskMapping, CuteError> {
        let mut so_far: Option<TaskMapping> = None;
        loop {
            let make = if self.cursor.skip_if_next("repeat") {
                TaskMapping::repeat
            } else {
                self.must("spatial", "`repeat(...)` or `spatial(...)`")?;
                TaskMapping::spatial
            };
            self.cursor.expect("(")?;
            let mut sizes = vec![self.cursor.read_decimal("a size for each axis")?];
            while self.cursor.skip_if_next(",") {
                sizes.push(self.cursor.read_decimal("a size for each axis")?);
            }
            self.cursor.expect(")")?;
            let basic = make(&sizes)?;
            let mapping = so_far.as_ref().map_or(Ok(basic.clone()), |outer| outer.then(&basic))?;
            if !self.cursor.skip_if_next("*") {
                return Ok(mapping);
            }
            so_far = Some(mapping);
        }
    }

    /// Skips the pointer of a printed tensor, such as `smem_ptr[16b](0x7f00) o`, which is no part of its layout.
    fn skip_pointer(&mut self) -> Result<(), CuteError> {
        self.cursor.skip_blanks();
        let rest = self.cursor.rest();
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        if name.ends_with("ptr") && rest[name.len()..].starts_with('[') {
            let end = rest.find(')').map_or(rest.len(), |end| end + 1);
            self.cursor.at += end;
            if !self.composes() {
                return Err(self.cursor.expected_token_error("`o`").into());
            }
        }
        Ok(())
    }

    /// Reads `Swizzle<B,M,S> o offset o layout`, each part but the layout optional, or `ComposedLayout<...>` with all parts.
    fn composed(&mut self) -> Result<ComposedLayout, CuteError> {
        let end = syntax::open_composition(&mut self.cursor);
        let joins = |reader: &mut Self| match end {
            Some(_) => reader.cursor.skip_if_next(","),
            None => reader.composes(),
        };
        let mut swizzles = Vec::new();
        self.skip_pointer()?;
        while SWIZZLES.iter().any(|name| self.cursor.skip_if_next(name)) {
            swizzles.push(self.swizzle()?);
            if !joins(self) {
                return Err(self.cursor.expected_token_error(if end.is_some() { "`,`" } else { "`o`" }).into());
            }
            self.skip_pointer()?;
        }
        let before = self.cursor.at;
        // `4 o ...` begins with an offset; `4:1` and `4` begin with a layout.
        let offset = self.integer::<u64>("an offset").ok().filter(|_| joins(self));
        if offset.is_none() {
            self.cursor.at = before;
        }
        let layout = self.layout()?;
        end.map_or(Ok(()), |end| self.must_close(end))?;
        ComposedLayout::new(swizzles, offset.unwrap_or(0), layout)
    }
}

/// Reads a tuple whose integers may be open: `?` in the text, `None` in the result.
///
/// # Errors
/// [`CuteError::Text`] if the text is malformed, [`CuteError::TooDeep`] if the tuple is nested deeper than
/// [`MAX_DEPTH`].
pub fn parse_tuple_with_unknowns(text: &str) -> Result<Tree<Option<u64>>, CuteError> {
    Reader::parse_to_end(text, Reader::open)
}

impl FromStr for IntTuple {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, |reader| reader.tuple())
    }
}

impl FromStr for PartialCoordinate {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::selection)
    }
}

impl FromStr for CoordinateLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::coordinates)
    }
}

impl FromStr for CuteLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::layout)
    }
}

impl FromStr for SignedLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::signed_layout)
    }
}

impl FromStr for Swizzle {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, |reader| {
            if !SWIZZLES.iter().any(|name| reader.cursor.skip_if_next(name)) {
                return Err(reader.cursor.expected_token_error("`Swizzle<B,M,S>`").into());
            }
            reader.swizzle()
        })
    }
}

impl FromStr for ComposedLayout {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::composed)
    }
}

impl FromStr for TaskMapping {
    type Err = CuteError;

    fn from_str(text: &str) -> Result<Self, CuteError> {
        Reader::parse_to_end(text, Reader::task_mapping)
    }
}
