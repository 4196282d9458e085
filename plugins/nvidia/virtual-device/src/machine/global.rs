//! Global memory: buffers are far apart in the address space, so that an address just outside of a buffer is in no
//! other buffer.

/// Log2 of the distance in bytes between the addresses of consecutive buffers.
const SPACING_BITS: u32 = 36;

/// Offset in bytes of each buffer's address from a multiple of the distance between buffers. It limits the alignment of
/// every buffer to 256 bytes, the minimum that CUDA allocators guarantee, so that code cannot rely on more.
const SKEW: u64 = 0x100;

/// All buffers of global memory; a buffer's index is its position plus one.
#[derive(Debug, Default)]
pub(crate) struct Global {
    buffers: Vec<Option<Vec<u8>>>,
}

impl Global {
    /// Allocates a zeroed buffer of `bytes` bytes and returns its index; `None` if the memory is exhausted.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(bytes).ok()?;
        buffer.resize(bytes, 0);
        // An index is not reused, so that an access to a freed buffer is detected as a fault.
        self.buffers.push(Some(buffer));
        Some(self.buffers.len() as u64)
    }

    pub(crate) fn free(&mut self, number: u64) {
        if let Some(buffer) = self.buffer_entry(number) {
            *buffer = None;
        }
    }

    fn buffer_entry(&mut self, number: u64) -> Option<&mut Option<Vec<u8>>> {
        self.buffers.get_mut(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    pub(crate) fn buffer(&mut self, number: u64) -> Option<&mut Vec<u8>> {
        self.buffer_entry(number)?.as_mut()
    }

    /// Returns the address of the first byte of the buffer with index `number`.
    pub(crate) fn address(number: u64) -> u64 {
        number << SPACING_BITS | SKEW
    }

    /// Returns `count` bytes from an address on. If they are not inside one buffer, returns a description of the
    /// nearest buffer for the fault's message.
    pub(super) fn bytes(&mut self, address: u64, count: u64) -> Result<&mut [u8], String> {
        let number = address >> SPACING_BITS;
        let offset = (address & ((1 << SPACING_BITS) - 1)).wrapping_sub(SKEW);
        let Some(buffer_entry) = self.buffer_entry(number) else { return Err("no buffer is near".to_owned()) };
        let Some(buffer) = buffer_entry else { return Err(format!("buffer {number} was freed")) };
        let size = buffer.len() as u64;
        match offset.checked_add(count).filter(|&end| end <= size) {
            Some(end) => Ok(&mut buffer[offset as usize..end as usize]),
            None => Err(format!("it is offset {} of buffer {number}, which has {size} bytes", offset.cast_signed())),
        }
    }
}
