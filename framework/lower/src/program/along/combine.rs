//! The region by which tuples of elements are combined.

use tilewright_kernel::{Builder, Value};
use tilewright_tile::{Block, Body, Op};

use super::super::error::{LowerError, Lowered, Reason};
use super::super::lowered::Registers;
use super::super::lowering::Lowering;
use super::sides;
use tilewright_layout::Dim;

/// What a reduction or scan works on.
pub(super) struct Tuples {
    /// The operands, all in one layout.
    pub(super) tensors: Vec<Registers>,
    /// The axis.
    pub(super) axis: Dim,
    /// Bits of each tensor's elements as they move: a byte at the least.
    pub(super) bits: Vec<u32>,
    /// What combines them.
    block: Block,
}

impl Tuples {
    pub(super) fn of(lowering: &mut Lowering<'_>, op: Op) -> Lowered<Self> {
        let operation = lowering.body.op(op);
        let first = lowering.operand(op, 0)?;
        let layout = lowering.layout_of(first)?;
        let mut tensors = Vec::new();
        for &operand in &operation.operands {
            let values = lowering.spread(operand, &layout)?;
            tensors.push(Registers::new(layout.clone(), values));
        }
        let axis = Dim::tensor(lowering.number(op, "axis")? as usize);
        let carriers = operation.operands.iter().map(|&operand| lowering.carrier(operand));
        let bits = carriers.map(|ty| Ok(ty?.bits().max(8))).collect::<Lowered<Vec<_>>>()?;
        let region = operation.regions.first().copied().ok_or_else(|| Reason::malformed("it has no region"))?;
        let block = lowering.only_block(region)?;
        Ok(Self { tensors, axis, bits, block })
    }

    /// Whether what is combined may differ when its sides are the other way round.
    pub(super) fn depends_on_order(&self, body: &Body) -> bool {
        sides::depends_on_order(body, self.block)
    }

    /// Runs `emit` with the operands' words, one list a tensor, and with what combines two tuples of words; gives back
    /// the results, which have the operands' types again.
    pub(super) fn through(
        &self,
        lowering: &mut Lowering<'_>,
        emit: impl FnOnce(&mut Builder, &[Vec<Value>], &mut tilewright_plan::movement::Combine<'_>) -> Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Value>>, LowerError> {
        let types: Vec<_> = self.tensors.iter().map(|tensor| lowering.builder.type_of(tensor.values[0])).collect();
        let words: Vec<Vec<Value>> = self
            .tensors
            .iter()
            .map(|tensor| tensor.values.iter().map(|&value| lowering.as_word(value)).collect())
            .collect();
        let mut failed = None;
        let mut builder = Builder::new("", lowering.launch, &[]);
        std::mem::swap(&mut builder, &mut lowering.builder);
        let mut combine = |builder: &mut Builder, left: &[Value], right: &[Value]| {
            lowering.within(builder, |lowering| {
                let mut typed = |values: &[Value]| -> Vec<Value> {
                    values.iter().zip(&types).map(|(&value, &ty)| lowering.typed_word(value, ty)).collect()
                };
                let both = [typed(left), typed(right)].concat();
                match lowering.scalars_through(self.block, &both) {
                    Ok(given) => given.into_iter().map(|value| lowering.as_word(value)).collect(),
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
                .map(|(values, &ty)| values.into_iter().map(|value| lowering.typed_word(value, ty)).collect())
                .collect()),
        }
    }
}
