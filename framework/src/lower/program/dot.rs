//! Products of matrices: the plan of [`crate::contract`] for the shapes and types, with conversions to its layouts.

use std::sync::Arc;

use crate::contract::{self, Contraction, Question, Scale};
use crate::kernel::{Cast, Scope, Type, Value};
use crate::layout::{Dim, LinearLayout};
use crate::target::{Number, Queue};
use crate::tile::{self, Attribute, Float, Op};

use super::error::{Lowered, Reason};
use super::held::Registers;
use super::lowering::Lowering;
use super::places::mapped;
use super::types::integer;

/// One factor as a product takes it.
struct Factor {
    /// Its elements.
    number: Number,
    tensor: Registers,
    /// Its scales: their elements and where they are.
    scales: Option<(Scale, Registers)>,
}

/// `d = a * b + c`, of matrices or of as many matrices as the first axis has.
pub(super) fn plain(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let precision = lowering.word(op, "inputPrecision").unwrap_or("ieee").to_owned();
    let factor = |lowering: &mut Lowering<'_>, operand: usize| -> Lowered<Factor> {
        let value = lowering.operand(op, operand)?;
        let number = number(lowering.body.ty(value).element(), &precision)?;
        Ok(Factor { number, tensor: lowering.tensor(value)?, scales: None })
    };
    let (a, b) = (factor(lowering, 0)?, factor(lowering, 1)?);
    product(lowering, op, [a, b])
}

/// The same of factors with scales.
pub(super) fn scaled(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let factor = |lowering: &mut Lowering<'_>, side: usize| -> Lowered<Factor> {
        let (operand, word, scale, pack) = match side {
            0 => ("a", "a_elem_type", "a_scale", "lhs_k_pack"),
            _ => ("b", "b_elem_type", "b_scale", "rhs_k_pack"),
        };
        let value = lowering.optional(op, operand).ok_or_else(|| Reason::malformed("a factor is missing"))?;
        let element = lowering.word(op, word).unwrap_or_default();
        let name = if element == "fp16" { "f16" } else { element };
        let number = Number::named(name).ok_or_else(|| Reason::malformed(format!("no factor is of `{element}`")))?;
        let along_k = lowering.attribute(op, pack).is_none_or(|pack| *pack != Attribute::Bool(false));
        if number.bits() < 8 && !along_k {
            return Err(Reason::unsupported("elements that share a byte across K, and not along it"));
        }
        let scales = match lowering.optional(op, scale) {
            Some(scales) => Some((scale_of(lowering, scales)?, lowering.tensor(scales)?)),
            None => None,
        };
        Ok(Factor { number, tensor: lowering.tensor(value)?, scales })
    };
    let (a, b) = (factor(lowering, 0)?, factor(lowering, 1)?);
    product(lowering, op, [a, b])
}

/// Bytes of scales are `e8m0`, whatever integer holds them.
fn scale_of(lowering: &Lowering<'_>, scales: tile::Value) -> Lowered<Scale> {
    let name = match lowering.body.ty(scales).element() {
        tile::Type::Float(Float::F8E4M3Fn) => "ue4m3",
        _ => "e8m0",
    };
    Scale::named(name).ok_or_else(|| Reason::malformed(format!("`{name}` is no type of scales")))
}

/// The type of a factor's elements, as products know it.
pub(super) fn number(ty: &tile::Type, precision: &str) -> Lowered<Number> {
    let name = match ty {
        tile::Type::Integer(bits, signedness) => {
            return Ok(Number::Integer { bits: *bits, signed: *signedness != tile::Signedness::Unsigned });
        }
        tile::Type::Float(Float::F32) if precision == "tf32" => "tf32",
        tile::Type::Float(float) => float.number_name(),
        other => return Err(Reason::malformed(format!("no product is of `{other}`"))),
    };
    Number::named(name).ok_or_else(|| Reason::unsupported(format!("no product is of `{ty}`")))
}

fn product(lowering: &mut Lowering<'_>, op: Op, factors: [Factor; 2]) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    let ty = lowering.body.ty(result).clone();
    let shape = ty.shape().unwrap_or_default().to_vec();
    let accumulator = number(ty.element(), "ieee")?;
    let (batches, [m, n]) = match shape[..] {
        [m, n] => (1, [m, n]),
        [batches, m, n] => (batches, [m, n]),
        _ => return Err(Reason::unsupported(format!("a product of tensors of {} axes", shape.len()))),
    };
    let k = depth(&factors[0], batches > 1 || shape.len() == 3)?;
    let [a, b] = [0, 1].map(|side| factors[side].number);
    let (lanes, warps) = (lowering.launch.lanes, lowering.launch.warps);
    let question = Question::new([m, n, k], [a, b, accumulator], lanes, warps)
        .with_scales([0, 1].map(|side| factors[side].scales.as_ref().map(|(scale, _)| *scale)));
    let plan = contract::plan(&question, lowering.means)?;
    let product = Product { plan: &plan, rank: shape.len(), batches };
    let sides = [product.factor(lowering, 0, &factors[0])?, product.factor(lowering, 1, &factors[1])?];
    let scales = [product.scales(lowering, 0, &factors[0])?, product.scales(lowering, 1, &factors[1])?];
    let sums = product.over_batches(&plan.c)?;
    let initial = lowering.operand(op, 2)?;
    let initial = lowering.tensor(initial)?;
    let element = lowering.builder.type_of(initial.values[0]);
    let initial = lowering.convert(&initial, &sums)?;
    let initial: Vec<Value> = initial.iter().map(|&value| lowering.to_word(value)).collect();
    let values = product.emit(lowering, sides, scales, &initial);
    let values: Vec<Value> = values.into_iter().map(|value| lowering.from_word(value, element)).collect();
    let wanted = lowering.result_layout(op)?;
    let values = lowering.convert(&Registers::new(sums, values), &wanted)?;
    lowering.give(op, super::held::Held::Tensor(Registers::new(wanted, values)))
}

/// How many elements of K the first factor has.
fn depth(factor: &Factor, batched: bool) -> Lowered<u64> {
    let axis = Dim::tensor(usize::from(batched) + 1);
    let held = 1u64 << factor.tensor.layout.out_bits(axis);
    let in_byte = if factor.number.bits() <= 4 { 8 / factor.number.bits() } else { 1 };
    Ok(held * u64::from(in_byte))
}

/// A plan for each of the matrices along the first axis of three.
struct Product<'a> {
    plan: &'a Contraction,
    rank: usize,
    batches: u64,
}

/// A factor where the plan takes it from, for all matrices one after the other.
enum Side {
    Registers(Vec<Value>),
    /// Words that are stored first, and how.
    Stored(Vec<Value>, Box<contract::FactorStore>),
}

impl Product<'_> {
    /// A layout of one matrix as one of all, the matrix being the highest part of a register's number.
    fn over_batches(&self, layout: &LinearLayout) -> Lowered<Arc<LinearLayout>> {
        if self.rank == 2 {
            return Ok(Arc::new(layout.clone()));
        }
        let [rows, columns] = [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis)));
        let within = mapped(layout, &[self.batches, rows, columns], |place| vec![0, place[0], place[1]])?;
        let outs: Vec<(Dim, u64)> = within.outs().iter().map(|(dim, bits)| (dim, 1u64 << bits)).collect();
        let mut bases: Vec<_> = within.ins().dims().map(|dim| (dim, within.bases_of(dim))).collect();
        if let Some((_, registers)) = bases.iter_mut().find(|(dim, _)| *dim == Dim::REGISTER) {
            let step =
                |bit: u32| outs.iter().map(|(dim, _)| u64::from(*dim == Dim::tensor(0)) << bit).collect::<Vec<_>>();
            registers.extend((0..self.batches.trailing_zeros()).map(step));
        }
        Ok(Arc::new(LinearLayout::from_bases(&bases, &outs)?))
    }

    /// The words of a factor, in the layout in which the plan takes them.
    fn factor(&self, lowering: &mut Lowering<'_>, side: usize, factor: &Factor) -> Lowered<Side> {
        let Some(layout) = self.plan.whole_factor(side)? else {
            return self.stored(lowering, side, factor);
        };
        let wanted = self.over_batches(&layout)?;
        let values = lowering.convert(&factor.tensor, &wanted)?;
        Ok(Side::Registers(values.iter().map(|&value| word(lowering, value, factor.number)).collect()))
    }

    /// The words of a factor that is read from shared memory: of several matrices in a layout whose highest register bits
    /// tell them apart.
    fn stored(&self, lowering: &mut Lowering<'_>, side: usize, factor: &Factor) -> Lowered<Side> {
        let mut tensor = factor.tensor.clone();
        let mut of_one = (*tensor.layout).clone();
        if self.rank == 3 {
            let [rows, columns] = [1, 2].map(|axis| 1u64 << tensor.layout.out_bits(Dim::tensor(axis)));
            of_one = mapped(&tensor.layout, &[rows, columns], |place| place[1..].to_vec())?;
            of_one = of_one.remove_zero_bases(Dim::REGISTER);
            let wanted = self.over_batches(&of_one)?;
            let values = lowering.convert(&tensor, &wanted)?;
            tensor = Registers::new(wanted, values);
        }
        let store = self.plan.factor_store(side, &of_one, lowering.means)?;
        let store = store.ok_or_else(|| Reason::malformed("the unit does not read this factor from memory"))?;
        let words = tensor.values.iter().map(|&value| word(lowering, value, factor.number)).collect();
        Ok(Side::Stored(words, Box::new(store)))
    }

    fn scales(&self, lowering: &mut Lowering<'_>, side: usize, factor: &Factor) -> Lowered<Vec<Value>> {
        let Some(((_, scales), layout)) = factor.scales.as_ref().zip(self.plan.whole_scales(side)?) else {
            return Ok(Vec::new());
        };
        let wanted = self.over_batches(&layout)?;
        let values = lowering.convert(scales, &wanted)?;
        Ok(values.iter().map(|&value| lowering.to_word(value)).collect())
    }

    /// The sums of all matrices, one after the other.
    fn emit(
        &self,
        lowering: &mut Lowering<'_>,
        sides: [Side; 2],
        scales: [Vec<Value>; 2],
        initial: &[Value],
    ) -> Vec<Value> {
        let batches = self.batches as usize;
        let of = |values: &[Value], batch: usize| -> Vec<Value> {
            let count = values.len() / batches;
            values[batch * count..(batch + 1) * count].to_vec()
        };
        let mut results = Vec::with_capacity(initial.len());
        for batch in 0..batches {
            let mut stores = false;
            let builder = &mut lowering.builder;
            let factors = [0, 1].map(|side| match &sides[side] {
                Side::Registers(values) => of(values, batch),
                Side::Stored(values, store) => {
                    stores = true;
                    self.plan.emit_factor_store(builder, store, &of(values, batch))
                }
            });
            if stores {
                if self.plan.queue().is_some_and(Queue::reads_by_proxy) {
                    builder.proxy_fence();
                }
                builder.barrier(Scope::Block);
            }
            let sums = self.plan.begin(builder, Some(&of(initial, batch)));
            let own = [of(&scales[0], batch), of(&scales[1], batch)];
            let sums = self.plan.emit_whole(builder, [&factors[0], &factors[1]], [&own[0], &own[1]], sums);
            results.extend(self.plan.end(builder, sums));
        }
        results
    }
}

/// An element as an integer of its stored width.
fn word(lowering: &mut Lowering<'_>, value: Value, number: Number) -> Value {
    let word = lowering.to_word(value);
    let wanted: Type = integer(number.stored_bits().max(8));
    let have = lowering.builder.type_of(word);
    if have.bits() == wanted.bits() {
        return word;
    }
    lowering.builder.cast(if have.bits() < wanted.bits() { Cast::ExtendU } else { Cast::Truncate }, word, wanted)
}
