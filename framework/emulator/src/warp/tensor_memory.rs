//! Steps that allocate and free tensor memory.

use super::{BlockContext, Done, Warp};

/// Size and alignment, in bytes, of the word of shared memory that receives the tensor-memory address of an allocation.
const BYTES: u64 = 4;

impl Warp {
    pub(super) fn tensor_allocate(
        &mut self,
        pointer: usize,
        columns: u32,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        let to = self.same_in_all(pointer)?;
        let (accessor, memories) = self.next_access(around, at);
        let address = memories.tensor.allocate(columns, &accessor)?;
        let shared = memories.shared.get_mut(usize::from(accessor.block));
        shared.map_or(Ok(()), |shared| Ok(shared.store_word(to, BYTES, &address.to_le_bytes(), &accessor)?))
    }

    pub(super) fn tensor_free(
        &mut self,
        address: usize,
        columns: u32,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(address)?;
        let (accessor, memories) = self.next_access(around, at);
        Ok(memories.tensor.free(address as u32, columns, &accessor)?)
    }
}
