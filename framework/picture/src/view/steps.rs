//! The steps of a composition and of a division, each factor as its matrix.

use tilewright_layout::{LinearLayout, Space};

use super::matrix::{bits, coordinates, is_one, matrix_grid};
use crate::text::join;
use crate::{Fill, Grid, Panel, Picture, PictureError, Table, Tone};

/// `outer(inner(x))`: the matrices of the product, as they are multiplied, and the way of every input
/// bit through them.
///
/// # Errors
/// Where the two do not compose.
pub fn composition(
    title: &str,
    inner: (&str, &LinearLayout),
    outer: (&str, &LinearLayout),
) -> Result<Picture, PictureError> {
    let product = inner.1.compose(outer.1)?;
    let mut picture = Picture::new(title);
    picture.caption.push(format!("first {}, then {}: matrices are applied from right to left", inner.0, outer.0));
    picture.add(Panel::grid(outer.0, matrix_grid(outer.1)));
    picture.add(Panel::operator("×"));
    picture.add(Panel::grid(inner.0, matrix_grid(inner.1)));
    picture.add(Panel::operator("="));
    picture.add(Panel::grid(format!("{} of {}", outer.0, inner.0), matrix_grid(&product)));
    picture.start_row();
    let row = |(column, name): (usize, String)| {
        let between = nonzero(inner.1.outs(), inner.1.columns()[column]);
        vec![name, between, nonzero(product.outs(), product.columns()[column])]
    };
    let rows = named_bits(inner.1.ins()).into_iter().enumerate().map(row).collect();
    picture.add(Panel::table("every input bit, step by step", Table::new(["input", inner.0, outer.0], rows)));
    Ok(picture)
}

/// `whole = divisor * rest`: which part of the matrix must be the divisor, which zero, and what is
/// left; where the division fails, the bits that are in its way.
///
/// # Errors
/// A divisor with dims, or bits of a dim, that the whole lacks.
pub fn division(
    title: &str,
    whole: (&str, &LinearLayout),
    divisor: (&str, &LinearLayout),
) -> Result<Picture, PictureError> {
    fits(whole.1.ins(), divisor.1.ins(), whole.0, divisor.0)?;
    fits(whole.1.outs(), divisor.1.outs(), whole.0, divisor.0)?;
    let parts = Parts::of(whole.1, divisor.1);
    let rest = whole.1.divide_left(divisor.1);
    let mut picture = Picture::new(title);
    picture.legend = vec![
        (Fill::hue(DIVISOR, HUES), format!("must be {}", divisor.0)),
        (Fill::hue(REST, HUES), "what is left".to_owned()),
    ];
    picture.add(Panel::grid(whole.0, parts.grid()));
    picture.add(Panel::operator(if rest.is_some() { "=" } else { "÷" }));
    picture.add(Panel::grid(divisor.0, matrix_grid(divisor.1)));
    let (name, by) = (whole.0, divisor.0);
    match rest {
        Some(rest) => {
            picture.caption.push(format!("{name} is a direct sum, with {by} in the low bits of each dim"));
            picture.add(Panel::operator("⊕"));
            picture.add(Panel::grid("what is left", matrix_grid(&rest)));
        }
        None => {
            let caption = format!("{name} is no direct sum of {by} and something else: the marked bits are in the way");
            picture.caption.push(caption);
            picture.legend.push((Fill::tone(Tone::Bad), "in the way".to_owned()));
            picture.add(Panel::note("no quotient", parts.obstacles()));
        }
    }
    Ok(picture)
}

const DIVISOR: u64 = 0;
const REST: u64 = 1;
const HUES: u64 = 8;

fn fits(whole: &Space, divisor: &Space, name: &str, by: &str) -> Result<(), PictureError> {
    let larger = divisor.iter().find(|&(dim, bits)| bits > whole.bits_of(dim));
    let Some((dim, bits)) = larger else { return Ok(()) };
    Err(PictureError::not_drawable(
        format!("{name} divided by {by}"),
        format!("{by} has {bits} bits of {dim} and {name} has {}", whole.bits_of(dim)),
        "divide by a smaller layout",
    ))
}

/// The whole, and what each place of its matrix must be.
struct Parts<'a> {
    whole: &'a LinearLayout,
    divisor: &'a LinearLayout,
    /// For each column of the whole, the divisor's column that it must be; none for the rest's.
    columns: Vec<Option<usize>>,
    /// For each row likewise.
    rows: Vec<Option<usize>>,
}

impl<'a> Parts<'a> {
    fn of(whole: &'a LinearLayout, divisor: &'a LinearLayout) -> Self {
        let low = |whole: &Space, divisor: &Space| -> Vec<Option<usize>> {
            let of_bit = |(dim, bit)| {
                let start = divisor.shift_of(dim).unwrap_or(0);
                (bit < divisor.bits_of(dim)).then_some((start + bit) as usize)
            };
            bits(whole).into_iter().map(of_bit).collect()
        };
        let columns = low(whole.ins(), divisor.ins());
        Self { whole, divisor, columns, rows: low(whole.outs(), divisor.outs()) }
    }

    /// What a place must be; none where it is left.
    fn required(&self, row: usize, column: usize) -> Option<bool> {
        match (self.rows[row], self.columns[column]) {
            (None, None) => None,
            (Some(row), Some(column)) => Some(is_one(self.divisor, row, column)),
            _ => Some(false),
        }
    }

    fn wrong(&self, row: usize, column: usize) -> bool {
        self.required(row, column).is_some_and(|required| required != is_one(self.whole, row, column))
    }

    fn grid(&self) -> Grid {
        let mut grid = matrix_grid(self.whole);
        grid.frames.clear();
        for (row, column, cell) in grid.cells_mut() {
            let shade = u64::from(!is_one(self.whole, row, column));
            cell.fill = match (self.rows[row], self.columns[column]) {
                _ if self.wrong(row, column) => Fill::tone(Tone::Bad),
                (Some(_), Some(_)) => Fill::shaded(DIVISOR, HUES, shade, 2),
                (None, None) => Fill::shaded(REST, HUES, shade, 2),
                _ => Fill::tone(Tone::Quiet),
            };
            cell.mark = self.wrong(row, column).then_some(Tone::Bad);
        }
        grid
    }

    /// What is in the way, a line for each input bit.
    fn obstacles(&self) -> Vec<String> {
        let (ins, outs) = (named_bits(self.whole.ins()), named_bits(self.whole.outs()));
        let of_column = |column: usize| {
            let wrong: Vec<_> = (0..outs.len()).filter(|&row| self.wrong(row, column)).collect();
            let description = |&row: &usize| match is_one(self.whole, row, column) {
                true => format!("reaches {}", outs[row]),
                false => format!("does not reach {}", outs[row]),
            };
            (!wrong.is_empty()).then(|| format!("{} {}", ins[column], join(wrong.iter().map(description), ", ")))
        };
        (0..ins.len()).filter_map(of_column).collect()
    }
}

/// Every bit of a space by its dim and weight: `lane 4`.
fn named_bits(space: &Space) -> Vec<String> {
    bits(space).into_iter().map(|(dim, bit)| format!("{dim} {}", 1u64 << bit)).collect()
}

/// The coordinates that are not zero: `dim0 2, dim1 8`; `0` if all are.
fn nonzero(space: &Space, packed: u64) -> String {
    let text = coordinates(space.unpack(packed).filter(|&(_, at)| at != 0));
    if text.is_empty() { "0".to_owned() } else { text }
}
