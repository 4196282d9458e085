//! Draws layout composition and division step by step, with the matrix of each operand.

use tilewright_layout::{LinearLayout, Space};

use super::matrix::{bits, coordinates, draw_f2_matrix_grid, is_one};
use crate::text::join;
use crate::{CellColour, EmphasisColour, Grid, Panel, Picture, PictureError, TextTable};

/// Draws `outer(inner(x))`: the matrices in multiplication order, and the images of every input bit under `inner` and
/// then `outer`.
///
/// # Errors
/// [`PictureError`] if the inner layout's outputs do not fit the outer layout's inputs.
pub fn draw_composition(
    title: &str,
    inner: (&str, &LinearLayout),
    outer: (&str, &LinearLayout),
) -> Result<Picture, PictureError> {
    let product = inner.1.compose(outer.1)?;
    let mut picture = Picture::new(title);
    picture.caption.push(format!("first {}, then {}: matrices are applied from right to left", inner.0, outer.0));
    picture.add_panel(Panel::grid(outer.0, draw_f2_matrix_grid(outer.1)));
    picture.add_panel(Panel::operator_sign("×"));
    picture.add_panel(Panel::grid(inner.0, draw_f2_matrix_grid(inner.1)));
    picture.add_panel(Panel::operator_sign("="));
    picture.add_panel(Panel::grid(format!("{} of {}", outer.0, inner.0), draw_f2_matrix_grid(&product)));
    picture.start_row();
    let row = |(column, name): (usize, String)| {
        let between = nonzero(inner.1.outs(), inner.1.columns()[column]);
        vec![name, between, nonzero(product.outs(), product.columns()[column])]
    };
    let rows = named_bits(inner.1.ins()).into_iter().enumerate().map(row).collect();
    picture.add_panel(Panel::table("every input bit, step by step", TextTable::new(["input", inner.0, outer.0], rows)));
    Ok(picture)
}

/// Draws the division `dividend = divisor * rest`: the submatrix of the dividend that must equal the divisor, the
/// entries that must be zero, and the quotient; if the division fails, the bits that prevent it.
///
/// # Errors
/// [`PictureError`] if the divisor has dimensions, or bits of a dimension, that the dividend lacks.
pub fn draw_left_division(
    title: &str,
    dividend: (&str, &LinearLayout),
    divisor: (&str, &LinearLayout),
) -> Result<Picture, PictureError> {
    fits(dividend.1.ins(), divisor.1.ins(), dividend.0, divisor.0)?;
    fits(dividend.1.outs(), divisor.1.outs(), dividend.0, divisor.0)?;
    let entries = DivisionEntries::of(dividend.1, divisor.1);
    let rest = dividend.1.divide_left(divisor.1);
    let mut picture = Picture::new(title);
    picture.legend = vec![
        (CellColour::from_index(DIVISOR, HUES), format!("must be {}", divisor.0)),
        (CellColour::from_index(REST, HUES), "quotient".to_owned()),
    ];
    picture.add_panel(Panel::grid(dividend.0, entries.grid()));
    picture.add_panel(Panel::operator_sign(if rest.is_some() { "=" } else { "÷" }));
    picture.add_panel(Panel::grid(divisor.0, draw_f2_matrix_grid(divisor.1)));
    let (name, by) = (dividend.0, divisor.0);
    match rest {
        Some(rest) => {
            picture.caption.push(format!("{name} is a direct sum, with {by} in the low bits of each dim"));
            picture.add_panel(Panel::operator_sign("⊕"));
            picture.add_panel(Panel::grid("quotient", draw_f2_matrix_grid(&rest)));
        }
        None => {
            let caption = format!("{name} is not a direct sum of {by} and another layout: marked bits mismatch");
            picture.caption.push(caption);
            picture.legend.push((CellColour::from_tone(EmphasisColour::Bad), "mismatch".to_owned()));
            picture.add_panel(Panel::note("no quotient", entries.obstacles()));
        }
    }
    Ok(picture)
}

const DIVISOR: u64 = 0;
const REST: u64 = 1;
const HUES: u64 = 8;

fn fits(dividend: &Space, divisor: &Space, name: &str, by: &str) -> Result<(), PictureError> {
    let larger = divisor.iter().find(|&(dim, bits)| bits > dividend.bits_of(dim));
    let Some((dim, bits)) = larger else { return Ok(()) };
    Err(PictureError::not_drawable(
        format!("{name} divided by {by}"),
        format!("{by} has {bits} bits of {dim} and {name} has {}", dividend.bits_of(dim)),
        "divide by a smaller layout",
    ))
}

/// The dividend, and the value that the division requires of each entry of its matrix.
struct DivisionEntries<'a> {
    dividend: &'a LinearLayout,
    divisor: &'a LinearLayout,
    /// For each column of the dividend, the divisor's column that it must equal; `None` for a column of the quotient.
    columns: Vec<Option<usize>>,
    /// For each row of the dividend, the divisor's row that it must equal; `None` for a row of the quotient.
    rows: Vec<Option<usize>>,
}

impl<'a> DivisionEntries<'a> {
    fn of(dividend: &'a LinearLayout, divisor: &'a LinearLayout) -> Self {
        let low = |dividend: &Space, divisor: &Space| -> Vec<Option<usize>> {
            let of_bit = |(dim, bit)| {
                let start = divisor.shift_of(dim).unwrap_or(0);
                (bit < divisor.bits_of(dim)).then_some((start + bit) as usize)
            };
            bits(dividend).into_iter().map(of_bit).collect()
        };
        let columns = low(dividend.ins(), divisor.ins());
        Self { dividend, divisor, columns, rows: low(dividend.outs(), divisor.outs()) }
    }

    /// Returns the required value of an entry; `None` for an entry of the quotient, which may have any value.
    fn required(&self, row: usize, column: usize) -> Option<bool> {
        match (self.rows[row], self.columns[column]) {
            (None, None) => None,
            (Some(row), Some(column)) => Some(is_one(self.divisor, row, column)),
            _ => Some(false),
        }
    }

    fn wrong(&self, row: usize, column: usize) -> bool {
        self.required(row, column).is_some_and(|required| required != is_one(self.dividend, row, column))
    }

    fn grid(&self) -> Grid {
        let mut grid = draw_f2_matrix_grid(self.dividend);
        grid.outlines.clear();
        for (row, column, cell) in grid.cells_mut() {
            let shade = u64::from(!is_one(self.dividend, row, column));
            cell.fill = match (self.rows[row], self.columns[column]) {
                _ if self.wrong(row, column) => CellColour::from_tone(EmphasisColour::Bad),
                (Some(_), Some(_)) => CellColour::from_index_and_shade(DIVISOR, HUES, shade, 2),
                (None, None) => CellColour::from_index_and_shade(REST, HUES, shade, 2),
                _ => CellColour::from_tone(EmphasisColour::Quiet),
            };
            cell.mark = self.wrong(row, column).then_some(EmphasisColour::Bad);
        }
        grid
    }

    /// Returns the bits that prevent the division, one line of text per input bit.
    fn obstacles(&self) -> Vec<String> {
        let (ins, outs) = (named_bits(self.dividend.ins()), named_bits(self.dividend.outs()));
        let of_column = |column: usize| {
            let wrong: Vec<_> = (0..outs.len()).filter(|&row| self.wrong(row, column)).collect();
            let description = |&row: &usize| match is_one(self.dividend, row, column) {
                true => format!("reaches {}", outs[row]),
                false => format!("does not reach {}", outs[row]),
            };
            (!wrong.is_empty()).then(|| format!("{} {}", ins[column], join(wrong.iter().map(description), ", ")))
        };
        (0..ins.len()).filter_map(of_column).collect()
    }
}

/// Returns the name of every bit of a space, by dimension and weight: `lane 4`.
fn named_bits(space: &Space) -> Vec<String> {
    bits(space).into_iter().map(|(dim, bit)| format!("{dim} {}", 1u64 << bit)).collect()
}

/// Formats the nonzero coordinates: `dim0 2, dim1 8`; `0` if there are none.
fn nonzero(space: &Space, packed: u64) -> String {
    let text = coordinates(space.unpack(packed).filter(|&(_, at)| at != 0));
    if text.is_empty() { "0".to_owned() } else { text }
}
