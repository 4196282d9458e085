//! The combine region of a reduction or scan, which combines tuples of elements.

use std::collections::HashMap;

use tilewright_kernel::{Builder, Value};
use tilewright_target::Optimization;
use tilewright_tile::op::name::arith;
use tilewright_tile::{Block, FloatType, FunctionBody, Op, TileType, ValueOrigin};

use super::super::error::{LowerError, LowerErrorReason, Lowered};
use super::super::lowered::Registers;
use super::super::lowering::Lowering;
use super::sides;
use tilewright_layout::Dim;

/// The operands of a reduction or scan, and its combine region.
pub(super) struct Tuples {
    /// The operand tensors in registers, all in one layout.
    pub(super) tensors: Vec<Registers>,
    /// The axis along which elements are combined.
    pub(super) axis: Dim,
    /// For each tensor, the number of bits of an element while it is moved between threads: at least 8.
    pub(super) bits: Vec<u32>,
    /// The block of tile IR in the combine region, whose operations combine two tuples.
    block: Block,
    /// The operands of each element that is a product and that the combine region only adds: the sum is one fused
    /// multiply-add.
    product_operands: HashMap<Value, [Value; 2]>,
}

impl Tuples {
    pub(super) fn of(lowering: &mut Lowering<'_>, op: Op) -> Lowered<Self> {
        let operation = lowering.body.op(op);
        let first = lowering.operand(op, 0)?;
        let layout = lowering.layout_of(first)?;
        let mut tensors = Vec::new();
        for &operand in &operation.operands {
            let values = lowering.registers_in(operand, &layout)?;
            tensors.push(Registers::new(layout.clone(), values));
        }
        let axis = lowering.integer_attribute(op, "axis")? as usize;
        for tensor in &mut tensors {
            *tensor = lowering.replicate_in_blocks(tensor, |at| at == axis)?;
        }
        let axis = Dim::tensor(axis);
        let carriers = operation.operands.iter().map(|&operand| lowering.carrier(operand));
        let bits = carriers.map(|ty| Ok(ty?.bits().max(8))).collect::<Lowered<Vec<_>>>()?;
        let region =
            operation.regions.first().copied().ok_or_else(|| LowerErrorReason::malformed("it has no region"))?;
        let block = lowering.only_block(region)?;
        let product_operands = find_product_operands(lowering, op, block)?;
        Ok(Self { tensors, axis, bits, block, product_operands })
    }

    /// Whether the combine region may compute other bits if its two tuples of arguments are swapped.
    pub(super) fn depends_on_order(&self, body: &FunctionBody) -> bool {
        sides::depends_on_order(body, self.block)
    }

    /// Returns the operands of the elements that are products, by the words that hold these elements.
    fn product_operands_by_word(&self, words: &[Vec<Value>]) -> HashMap<Value, [Value; 2]> {
        let ([tensor], [words]) = (&self.tensors[..], words) else { return HashMap::new() };
        let known = |(value, &word): (&Value, &Value)| Some((word, *self.product_operands.get(value)?));
        tensor.values.iter().zip(words).filter_map(known).collect()
    }

    /// Calls `emit` with the elements of the operands as integers (a list for each tensor), and with a function that
    /// emits the combination of two tuples of such integers. Converts the integers that `emit` returns back to the
    /// element types of the operands, and returns them.
    pub(super) fn through(
        &self,
        lowering: &mut Lowering<'_>,
        emit: impl FnOnce(&mut Builder, &[Vec<Value>], &mut tilewright_plan::movement::EmitCombine<'_>) -> Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Value>>, LowerError> {
        let types: Vec<_> = self.tensors.iter().map(|tensor| lowering.builder.type_of(tensor.values[0])).collect();
        let words: Vec<Vec<Value>> = self
            .tensors
            .iter()
            .map(|tensor| tensor.values.iter().map(|&value| lowering.emit_integer_bits(value)).collect())
            .collect();
        let product_operands = self.product_operands_by_word(&words);
        let mut failed = None;
        let mut builder = Builder::new("", lowering.launch, &[]);
        std::mem::swap(&mut builder, &mut lowering.builder);
        let mut combine = |builder: &mut Builder, left: &[Value], right: &[Value]| {
            lowering.within(builder, |lowering| {
                let mut typed = |values: &[Value]| -> Vec<Value> {
                    values.iter().zip(&types).map(|(&value, &ty)| lowering.emit_from_integer_bits(value, ty)).collect()
                };
                if let Some(&[a, b]) = right.first().and_then(|word| product_operands.get(word)) {
                    let sum = typed(left)[0];
                    let sum = lowering.builder.fma(a, b, sum);
                    return vec![lowering.emit_integer_bits(sum)];
                }
                let both = [typed(left), typed(right)].concat();
                match lowering.scalars_through(self.block, &both) {
                    Ok(given) => given.into_iter().map(|value| lowering.emit_integer_bits(value)).collect(),
                    Err(error) => {
                        failed.get_or_insert(error);
                        left.to_vec()
                    }
                }
            })
        };
        let results = emit(&mut builder, &words, &mut combine);
        std::mem::swap(&mut builder, &mut lowering.builder);
        match failed {
            Some(error) => Err(error),
            None => Ok(results
                .into_iter()
                .zip(&types)
                .map(|(values, &ty)| {
                    values.into_iter().map(|value| lowering.emit_from_integer_bits(value, ty)).collect()
                })
                .collect()),
        }
    }
}

/// Returns both operands of each element of a reduced tensor that is a product in `f32` or `f64` without other uses. The
/// result is empty if the reduction is no sum of one tensor, or if products and sums may not be contracted.
fn find_product_operands(lowering: &mut Lowering<'_>, op: Op, block: Block) -> Lowered<HashMap<Value, [Value; 2]>> {
    let body = lowering.body;
    let &[operand] = &body.op(op).operands[..] else { return Ok(HashMap::new()) };
    let ValueOrigin::Result(product, _) = body.value_origin(operand) else { return Ok(HashMap::new()) };
    let is_fusible = body.op(product).name() == arith::MULF
        && matches!(body.value_type(operand).element(), TileType::Float(FloatType::F32 | FloatType::F64))
        && lowering.has_one_use(operand)
        && is_sum(body, block)
        && lowering.config.context.enables(Optimization::FusedMultiplyAdd);
    if !is_fusible {
        return Ok(HashMap::new());
    }
    let layout = lowering.layout_of(operand)?;
    let products = lowering.registers_in(operand, &layout)?;
    let mut product_operands = Vec::new();
    for number in 0..2 {
        let operand = lowering.operand(product, number)?;
        product_operands.push(lowering.registers_in(operand, &layout)?);
    }
    let both = product_operands[0].iter().zip(product_operands[1].iter()).map(|(&a, &b)| [a, b]);
    Ok(products.iter().copied().zip(both).collect())
}

/// Whether a block only adds its two arguments.
fn is_sum(body: &FunctionBody, block: Block) -> bool {
    let &[sum, end] = body.ops(block) else { return false };
    let (arguments, operation) = (body.arguments(block), body.op(sum));
    let adds = operation.operands[..] == *arguments || operation.operands.iter().rev().eq(arguments);
    operation.name() == arith::ADDF && adds && body.op(end).operands[..] == operation.results[..]
}
