//! Global memory: buffers far apart, so that wrong addresses meet no other.

/// Buffers begin at multiples of this, as a power of two.
const SPACING_BITS: u32 = 36;

/// Keeps buffers from being aligned to more than 256 bytes, which no allocator promises.
const SKEW: u64 = 0x100;

/// All buffers, by number.
#[derive(Debug, Default)]
pub(crate) struct Global {
    buffers: Vec<Option<Vec<u8>>>,
}

impl Global {
    /// A buffer of zeros; its number.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(bytes).ok()?;
        buffer.resize(bytes, 0);
        // A number is not used again: a buffer that was freed is seen.
        self.buffers.push(Some(buffer));
        Some(self.buffers.len() as u64)
    }

    pub(crate) fn free(&mut self, number: u64) {
        if let Some(buffer) = self.slot(number) {
            *buffer = None;
        }
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<Vec<u8>>> {
        self.buffers.get_mut(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    pub(crate) fn buffer(&mut self, number: u64) -> Option<&mut Vec<u8>> {
        self.slot(number)?.as_mut()
    }

    /// The address of a buffer's first byte.
    pub(crate) fn address(number: u64) -> u64 {
        number << SPACING_BITS | SKEW
    }

    /// The bytes at an address; what is near where there are none.
    pub(super) fn bytes(&mut self, address: u64, count: u64) -> Result<&mut [u8], String> {
        let number = address >> SPACING_BITS;
        let offset = (address & ((1 << SPACING_BITS) - 1)).wrapping_sub(SKEW);
        let Some(slot) = self.slot(number) else { return Err("no buffer is near".to_owned()) };
        let Some(buffer) = slot else { return Err(format!("buffer {number} was freed")) };
        let size = buffer.len() as u64;
        match offset.checked_add(count).filter(|&end| end <= size) {
            Some(end) => Ok(&mut buffer[offset as usize..end as usize]),
            None => Err(format!("it is offset {} of buffer {number}, which has {size} bytes", offset.cast_signed())),
        }
    }
}
