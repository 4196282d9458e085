//! Products of matrices: `d = a * b + c`, for each block of the row's tiles; or of single bits, how many differ.
//!
//! Floating point: as the row's numerics say ([`summation`](super::summation)). Where they are assumed, a result that must
//! not depend on the order (small integers) is the same on hardware; others differ within the error of a sum of so
//! many terms. Integers: sums wrap.
//!
//! Where a row takes scales, each factor is first multiplied by that of its block of K, exactly: then a product is
//! added as it is, rounded once.
//!
//! Elements narrower than what they lie in are in its low bits. What a result has above them is
//! unspecified, and made up here from a pattern.

use super::super::arithmetic::{mask, sign_extend};
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::super::rounding::Sum;
use super::held::Held;
use super::summation::Summed;
use crate::kernel::is_result;
use crate::layout::{Dim, LinearLayout};
use crate::target::{Instruction, Number, Operand, Semantics, Summation};

/// Above an element in a wider place.
const UNSPECIFIED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// One operand: its elements, and where lanes hold them.
struct Tile {
    /// Number among the operands of the instruction.
    operand: usize,
    number: Number,
    /// Bits of a place.
    bits: u32,
    /// Rows, columns and blocks as powers of two.
    shape: [u32; 3],
    /// By element (row, then column, then block fastest last): lane and register of all that hold it.
    places: Vec<Vec<(u32, u32)>>,
}

/// One such instruction.
pub(super) struct Product {
    a: Tile,
    b: Tile,
    c: Tile,
    d: Tile,
    /// The scales of `a` and of `b`, by rows and by columns, where the row takes them.
    scales: Option<[Tile; 2]>,
    /// How floating-point sums come about.
    sum: Option<Summed>,
    /// Whether bits that differ are counted instead.
    counts_different: bool,
}

impl Product {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let tile = |role| Tile::of(row, role);
        let (a, b, c, d) = (tile("a")?, tile("b")?, tile("c")?, tile("d")?);
        let [m, k, blocks] = a.shape;
        let n = b.shape[1];
        if b.shape != [k, n, blocks] || d.shape != [m, n, blocks] || c.shape != d.shape {
            return Err("the tiles of its operands do not fit each other".to_owned());
        }
        let integers = [&a, &b, &c, &d].map(|tile| matches!(tile.number, Number::Integer { .. }));
        let sum = match integers {
            [true, true, true, true] => None,
            [false, false, false, false] => Some(summed(row, [&a, &b, &c])?),
            _ => return Err("it multiplies integers with floating-point numbers".to_owned()),
        };
        let takes_scales = row.operands.iter().any(|operand| operand.role() == Some("scale_a"));
        let scales = if takes_scales { Some([tile("scale_a")?, tile("scale_b")?]) } else { None };
        if let Some([of_a, of_b]) = &scales {
            let fits = of_a.shape[0] == m && of_b.shape[0] == n && of_a.shape[1] == of_b.shape[1];
            if !fits || of_a.shape[1] > k || blocks > 0 {
                return Err("the tiles of its scales do not fit those of its factors".to_owned());
            }
            if sum.as_ref().is_none_or(|sum| sum.numerics.summation != Summation::Chain) {
                return Err("its products have scales, and so are added one after the other".to_owned());
            }
        }
        let counts_different = row.semantics == Semantics::CountDifferent;
        if counts_different && (a.number.bits() != 1 || b.number.bits() != 1 || sum.is_some()) {
            return Err("it counts where elements of one bit differ, but its own are others".to_owned());
        }
        Ok(Self { a, b, c, d, scales, sum, counts_different })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let (a, b, c) = (self.a.elements(call)?, self.b.elements(call)?, self.c.elements(call)?);
        let scales = match &self.scales {
            Some([of_a, of_b]) => Some([of_a.values(call)?, of_b.values(call)?]),
            None => None,
        };
        let ty = call.result_types().next().ok_or_else(|| call.wrong("it has no result"))?;
        let mut held = Held::zeros(call.lanes(), ty);
        let [m, n, blocks] = self.d.shape.map(|bits| 1usize << bits);
        let k = 1usize << self.a.shape[1];
        for block in 0..blocks {
            for row in 0..m {
                for column in 0..n {
                    let at = (block * m + row) * n + column;
                    let factors =
                        (0..k).map(|k_at| (a[(block * m + row) * k + k_at], b[(block * k + k_at) * n + column]));
                    let bits = match &scales {
                        Some(scales) => self.scaled(c[at], factors, [row, column], scales),
                        None => self.summed(c[at], factors),
                    };
                    self.d.put(&mut held, at, bits);
                }
            }
        }
        held.into_result(call, ty)
    }

    /// The bits of one element of the result, of a row and a column with their scales.
    fn scaled(
        &self,
        c: u64,
        factors: impl Iterator<Item = (u64, u64)>,
        [row, column]: [usize; 2],
        [of_a, of_b]: &[Vec<f64>; 2],
    ) -> u64 {
        let Some((sum, tiles)) = self.sum.as_ref().zip(self.scales.as_ref()) else { return self.summed(c, factors) };
        let blocks = tiles[0].shape[1];
        let block = |k: usize| k >> (self.a.shape[1] - blocks);
        let scaled = factors.enumerate().map(|(k, (a, b))| {
            let a = float(self.a.number, a) * of_a[row << blocks | block(k)];
            a * (float(self.b.number, b) * of_b[column << blocks | block(k)])
        });
        sum.total_of_products(c, scaled)
    }

    /// The bits of one element of the result.
    fn summed(&self, c: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
        if let Some(summed) = &self.sum {
            return summed.total(c, factors);
        }
        let term = |a: u64, b: u64| match self.counts_different {
            true => (a ^ b) as i64,
            false => integer(self.a.number, a) * integer(self.b.number, b),
        };
        let add = |sum: i64, (a, b)| sum.wrapping_add(term(a, b));
        factors.fold(integer(self.c.number, c), add) as u64 & mask(self.d.number.bits())
    }
}

fn integer(number: Number, bits: u64) -> i64 {
    match number {
        Number::Integer { bits: width, signed: true } => sign_extend(bits, width),
        _ => bits as i64,
    }
}

fn float(number: Number, bits: u64) -> f64 {
    match number {
        Number::Float(format) => format.decode(bits),
        Number::Integer { .. } => integer(number, bits) as f64,
    }
}

/// How sums of floating-point numbers come about.
fn summed(row: &Instruction, tiles: [&Tile; 3]) -> Result<Summed, String> {
    let sum = element(row, "d").and_then(Sum::named).ok_or("its sums have no type")?;
    let [Number::Float(a), Number::Float(b), Number::Float(c)] = tiles.map(|tile| tile.number) else {
        return Err("its elements are integers".to_owned());
    };
    let numerics = row.numerics.clone().unwrap_or_default();
    let in_binary32 = matches!(numerics.summation, Summation::Exact { .. } | Summation::Tree { .. });
    if in_binary32 && sum != Sum::F32 || numerics.summation != Summation::Chain && sum == Sum::F64 {
        return Err(format!("{:?} is not for sums of type {}", numerics.summation, tiles[2].number));
    }
    if numerics.summation != Summation::Chain && a.widths()[1].max(b.widths()[1]) > 10 {
        return Err(format!("{:?} is for factors of at most 11 bits of mantissa", numerics.summation));
    }
    Ok(Summed { sum, a, b, c, numerics, k: 1 << tiles[0].shape[1] })
}

/// The name of the element type of an operand.
fn element<'a>(row: &'a Instruction, wanted: &str) -> Option<&'a str> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, .. } if role == wanted => Some(element.as_str()),
        _ => None,
    })
}

impl Tile {
    fn of(row: &Instruction, wanted: &str) -> Result<Self, String> {
        let missing = || format!("its row has no register operand `{wanted}`");
        let is_wanted = |operand: &Operand| matches!(operand, Operand::Register { role, .. } if role == wanted);
        let found = row.operands.iter().find(|operand| is_wanted(operand)).ok_or_else(missing)?;
        let Operand::Register { element, bits, layout, .. } = found else { return Err(missing()) };
        let number =
            Number::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))?;
        if number.bits() > *bits {
            return Err(format!("elements of type `{element}` do not fit into {bits} bits"));
        }
        let others = row.operands.iter().filter(|operand| !is_result(operand));
        let operand = others.take_while(|operand| !is_wanted(operand)).count();
        let shape = [0, 1, 2].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if shape.iter().sum::<u32>() != layout.outs().bits() {
            return Err(format!("operand `{wanted}` has other axes than dim0, dim1 and dim2"));
        }
        Ok(Self { operand, number, bits: *bits, shape, places: places(layout, shape) })
    }

    /// The bits of all elements.
    fn elements(&self, call: &Call<'_>) -> Result<Vec<u64>, LaneFault> {
        let ty = call.operand_types().nth(self.operand).ok_or_else(|| call.wrong("an operand is missing"))?;
        let held = Held::operand(call, self.operand, ty)?;
        let at = |&(lane, register): &(u32, u32)| held.get(lane, register * self.bits, self.number.bits());
        let mut elements = Vec::with_capacity(self.places.len());
        for places in &self.places {
            let mut all = places.iter().map(|place| (place, at(place)));
            let Some((&(first, _), bits)) = all.next() else {
                return Err(call.wrong("no lane holds some element of an operand"));
            };
            if let Some((&(other, _), _)) = all.find(|&(_, other)| other != bits) {
                let message = format!("lanes {first} and {other} hold different values of one element");
                return Err(call.wrong(&format!("operand {}: {message}", self.operand)));
            }
            elements.push(bits);
        }
        Ok(elements)
    }

    /// The values of all elements, by row and then column.
    fn values(&self, call: &Call<'_>) -> Result<Vec<f64>, LaneFault> {
        Ok(self.elements(call)?.into_iter().map(|bits| float(self.number, bits)).collect())
    }

    /// Gives one element of the result to all lanes that hold it.
    fn put(&self, held: &mut Held, at: usize, bits: u64) {
        let bits = if self.number.bits() < self.bits { bits | UNSPECIFIED << self.number.bits() } else { bits };
        for &(lane, register) in self.places.get(at).into_iter().flatten() {
            held.set(lane, register * self.bits, self.bits, bits);
        }
    }
}

/// All places of each element; elements by block, then row, then column.
fn places(layout: &LinearLayout, [rows, columns, blocks]: [u32; 3]) -> Vec<Vec<(u32, u32)>> {
    let mut places = vec![Vec::new(); 1 << (rows + columns + blocks)];
    let (ins, outs) = (layout.ins(), layout.outs());
    for place in 0..1u64 << ins.bits() {
        let image = layout.apply_packed(place);
        let [row, column, block] = [0, 1, 2].map(|axis| outs.coordinate(image, Dim::tensor(axis)));
        let element = (block << rows | row) << columns | column;
        let at = (ins.coordinate(place, Dim::LANE) as u32, ins.coordinate(place, Dim::REGISTER) as u32);
        places[element as usize].push(at);
    }
    places
}
