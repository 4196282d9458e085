//! Copies by boxes as kernel IR.

use super::{Role, TensorCopy};
use tilewright_kernel::{Binary, Builder, Op, Value};

/// The tensor of which boxes are copied.
#[derive(Debug, Clone, Copy)]
pub struct TensorCopySource<'a> {
    /// Its map, a parameter of the kernel for which [`TensorCopy::map`] was encoded.
    pub map: Value,
    /// Where the copy begins in it along each of [`TensorCopy::axes`]: an `i32` with sign, the same in all lanes.
    pub origin: &'a [Value],
}

impl TensorCopy {
    /// Writes the boxes, for the one warp that stands here: between the shared memory at `buffer` and the tensor. What goes
    /// to shared memory completes on the mbarrier, at which the warp arrives for all its bytes; what comes from there is
    /// committed, after the caller has fenced and all who stored there have come to a barrier.
    pub fn emit(&self, builder: &mut Builder, buffer: Value, source: TensorCopySource<'_>, mbarrier: Value) {
        if self.queue().is_none() {
            builder.mbarrier_arrive(mbarrier, self.bytes() as u32);
        }
        self.emit_tensor_copies(builder, buffer, source, mbarrier);
        if let Some(queue) = self.queue() {
            builder.commit(queue);
        }
    }

    /// The boxes alone: someone else arrives for their bytes, or commits them.
    pub fn emit_tensor_copies(
        &self,
        builder: &mut Builder,
        buffer: Value,
        source: TensorCopySource<'_>,
        mbarrier: Value,
    ) {
        for (place, begins) in &self.boxes {
            let place = match place {
                0 => buffer,
                place => {
                    let bytes = builder.i32(*place as u32);
                    builder.advance(buffer, bytes)
                }
            };
            let at = source.origin.iter().zip(begins).map(|(&origin, &begin)| match begin {
                0 => origin,
                begin => builder.binary_const(Binary::Add, origin, begin as u32),
            });
            let at: Vec<Value> = at.collect();
            let mut coordinates = at.into_iter();
            let operand = |role: &Role| match role {
                Role::Box => Some(place),
                Role::Tensor => Some(source.map),
                Role::Coordinate => coordinates.next(),
                Role::Mbarrier => Some(mbarrier),
            };
            let operands = self.roles.iter().filter_map(operand).collect();
            builder.effect(Op::Instruction { name: self.instruction().to_owned(), operands });
        }
    }
}
