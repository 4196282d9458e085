//! Emits bulk tensor copies.

use super::{Role, TensorCopy};
use tilewright_kernel::{Binary, Builder, Op, Value};

/// The global-memory side of a bulk tensor copy.
#[derive(Debug, Clone, Copy)]
pub struct TensorCopyGlobalTile<'a> {
    /// The tensor map, a kernel parameter that the host encodes for [`TensorCopy::map`].
    pub map: Value,
    /// Coordinates of the first element of the copied tile, along each axis of [`TensorCopy::axes`]: signed `i32`,
    /// uniform over the lanes.
    pub origin: &'a [Value],
}

impl TensorCopy {
    /// Emits the copies of all boxes between the shared memory at `buffer` and the tensor; exactly one warp must
    /// execute this code. Copies to shared memory complete on `mbarrier`, at which the warp arrives with the bytes of
    /// all boxes. Copies from shared memory are committed as a group; the caller must first emit a proxy fence and a
    /// barrier for all threads that stored the data.
    pub fn emit(&self, builder: &mut Builder, buffer: Value, source: TensorCopyGlobalTile<'_>, mbarrier: Value) {
        if self.completion_queue().is_none() {
            builder.mbarrier_arrive(mbarrier, self.total_box_bytes() as u32);
        }
        self.emit_without_completion(builder, buffer, source, mbarrier);
        if let Some(queue) = self.completion_queue() {
            builder.commit(queue);
        }
    }

    /// Emits only the copies of all boxes, as [`TensorCopy::emit`]; the caller emits the arrival at the mbarrier, or
    /// the commit.
    pub fn emit_without_completion(
        &self,
        builder: &mut Builder,
        buffer: Value,
        source: TensorCopyGlobalTile<'_>,
        mbarrier: Value,
    ) {
        for (distance, begins) in &self.box_starts {
            let distance = match distance {
                0 => buffer,
                distance => {
                    let bytes = builder.i32(*distance as u32);
                    builder.ptr_add(buffer, bytes)
                }
            };
            let at = source.origin.iter().zip(begins).map(|(&origin, &begin)| match begin {
                0 => origin,
                begin => builder.binary_const(Binary::Add, origin, begin as u32),
            });
            let at: Vec<Value> = at.collect();
            let mut coordinates = at.into_iter();
            let operand = |role: &Role| match role {
                Role::Box => Some(distance),
                Role::Tensor => Some(source.map),
                Role::Coordinate => coordinates.next(),
                Role::Mbarrier => Some(mbarrier),
            };
            let operands = self.roles.iter().filter_map(operand).collect();
            builder.effect(Op::Instruction { name: self.instruction().to_owned(), operands });
        }
    }
}
