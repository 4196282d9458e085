//! The syntax of tuples, integers and layouts in CuTe's C++: types such as `Shape<_4, _8>`, and expressions such as
//! `make_shape(Int<4>{}, 8)`. The brackets of `{}` after a type are optional.

use crate::text::{Cursor, Parsed};

/// The names of types and functions that have the modes of a tuple in brackets.
const TUPLE_TYPES: [&str; 7] = ["Shape", "Stride", "Step", "Coord", "Tile", "ArithTuple", "tuple"];
const TUPLE_FUNCTIONS: [&str; 7] =
    ["make_shape", "make_stride", "make_step", "make_coord", "make_tile", "make_tuple", "make_arithmetic_tuple"];
/// The names of the orders of modes, and whether the last mode is the fastest.
const MAJORS: [(&str, bool); 4] =
    [("LayoutLeft", false), ("LayoutRight", true), ("GenColMajor", false), ("GenRowMajor", true)];
/// The names of types of static integers. `C` and `Int` take the value alone, the others after its type.
const INTEGERS: [&str; 4] = ["Int", "C", "integral_constant", "constant"];

/// Reads one of `names`, with or without its namespace, and the bracket `open` after it; returns whether they were there.
fn skip_name(cursor: &mut Cursor<'_>, names: &[&str], open: &str) -> bool {
    let before = cursor.at;
    skip_namespace(cursor);
    if names.iter().any(|name| cursor.skip_if_next(name)) && cursor.skip_if_next(open) {
        return true;
    }
    cursor.at = before;
    false
}

fn skip_namespace(cursor: &mut Cursor<'_>) {
    while ["cute::", "std::"].iter().any(|name| {
        cursor.skip_blanks();
        let there = cursor.rest().starts_with(name);
        cursor.at += if there { name.len() } else { 0 };
        there
    }) {}
}

/// Reads the beginning of a tuple; returns its closing bracket, `None` if no tuple begins.
pub(super) fn open_tuple(cursor: &mut Cursor<'_>) -> Option<&'static str> {
    let is_expression = skip_name(cursor, &TUPLE_FUNCTIONS, "(") || cursor.skip_if_next("(");
    match is_expression {
        true => Some(")"),
        false => skip_name(cursor, &TUPLE_TYPES, "<").then_some(">"),
    }
}

/// The beginning of a layout whose shape and strides are in brackets.
pub(super) struct LayoutBrackets {
    /// The closing bracket.
    pub end: &'static str,
    /// Whether the shape is followed by the rank of each size instead of its stride.
    pub is_ordered: bool,
}

/// Reads the beginning of a layout with its shape and stride in brackets; `None` if no such layout begins.
pub(super) fn open_layout(cursor: &mut Cursor<'_>) -> Option<LayoutBrackets> {
    let names =
        [("make_layout", "(", ")", false), ("make_ordered_layout", "(", ")", true), ("Layout", "<", ">", false)];
    let (.., end, is_ordered) = names.into_iter().find(|(name, open, ..)| skip_name(cursor, &[name], open))?;
    Some(LayoutBrackets { end, is_ordered })
}

/// Reads the name of an order of modes that stands for the strides of a compact layout; returns whether the last mode is
/// the fastest, `None` if no name comes next.
pub(super) fn read_major(cursor: &mut Cursor<'_>) -> Option<bool> {
    let before = cursor.at;
    skip_namespace(cursor);
    let found = MAJORS.iter().find(|(name, _)| cursor.skip_if_next(name));
    match found {
        Some(_) => skip_braces(cursor),
        None => cursor.at = before,
    }
    found.map(|(_, is_right)| *is_right)
}

/// Reads the beginning of a swizzle, an offset and a layout in brackets; returns the closing bracket, `None` if there is
/// none.
pub(super) fn open_composition(cursor: &mut Cursor<'_>) -> Option<&'static str> {
    match skip_name(cursor, &["composition"], "(") {
        true => Some(")"),
        false => skip_name(cursor, &["ComposedLayout"], "<").then_some(">"),
    }
}

/// Reads a closing bracket, and `{}` or `()` after a type; returns whether the bracket was there.
pub(super) fn close(cursor: &mut Cursor<'_>, end: &str) -> bool {
    let there = cursor.skip_if_next(end);
    if there && end == ">" {
        skip_braces(cursor);
    }
    there
}

fn skip_braces(cursor: &mut Cursor<'_>) {
    for (open, end) in [("{", "}"), ("(", ")")] {
        let before = cursor.at;
        if cursor.skip_if_next(open) && !cursor.skip_if_next(end) {
            cursor.at = before;
        }
    }
}

/// Reads an integer, which may be static: `8`, `_8`, `_8{}`, `Int<8>{}` or `C<8>`.
pub(super) fn read_integer<T: std::str::FromStr>(cursor: &mut Cursor<'_>, expected: &str) -> Parsed<T> {
    if skip_name(cursor, &INTEGERS, "<") {
        if cursor.skip_if_next("int") {
            cursor.expect(",")?;
        }
        let value = cursor.read_decimal(expected)?;
        cursor.expect(">")?;
        skip_braces(cursor);
        return Ok(value);
    }
    skip_namespace(cursor);
    let digits = cursor.rest().strip_prefix('_').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    cursor.at += usize::from(digits.is_some());
    let value = cursor.read_decimal(expected)?;
    if digits.is_some() {
        skip_braces(cursor);
    }
    Ok(value)
}

/// Reads a basis stride, `E<1>{}`; returns its axis, `None` if none comes next.
pub(super) fn read_basis(cursor: &mut Cursor<'_>) -> Parsed<Option<u32>> {
    if !skip_name(cursor, &["E"], "<") {
        return Ok(None);
    }
    let start = cursor.at;
    let axis: u32 = cursor.read_decimal("an axis")?;
    if axis >= 64 {
        return Err(cursor.error_at(start, "expected an axis below 64"));
    }
    cursor.expect(">")?;
    skip_braces(cursor);
    Ok(Some(axis))
}

/// Skips the origin of a printed tensor of coordinates, `ArithTuple(0,0) o` or `(0,0) o`.
pub(super) fn skip_origin(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let before = cursor.at;
    for name in ["ArithTupleIterator", "ArithTupleIter", "ArithTuple"] {
        cursor.skip_if_next(name);
    }
    if cursor.skip_if_next("(") {
        let start = cursor.at;
        let coordinates = cursor.rest().split(')').next().unwrap_or_default();
        cursor.at += coordinates.len();
        if cursor.skip_if_next(")") && cursor.peek() == Some('o') {
            cursor.at += 1;
            let is_zero = coordinates.split(',').all(|one| matches!(one.trim(), "0" | "_0"));
            let message =
                "an origin other than zero, which layouts of coordinates lack: subtract it from the coordinates";
            return if is_zero { Ok(()) } else { Err(cursor.error_at(start, message)) };
        }
    }
    cursor.at = before;
    Ok(())
}
