//! Global memory: buffers at distant addresses, with an initialised flag per byte.

use std::ops::Range;

use thiserror::Error;

use super::global_races::BufferRange;

/// Log2 of the distance between buffers: each starts at a multiple of it plus [`SKEW`], so that wrong addresses do not
/// hit another buffer.
const SPACING_BITS: u32 = 36;

/// Offset that keeps buffers from being aligned to more than 256 bytes, which no allocator guarantees.
const SKEW: u64 = 0x100;

/// Handle of a buffer in a [`GlobalMemory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferHandle(usize);

/// An invalid buffer access by the host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostAccessError {
    /// The buffer belongs to another memory.
    #[error("the buffer does not belong to this memory")]
    UnknownBuffer,
    /// An access beyond the end of the buffer.
    #[error("{bytes} bytes from offset {offset} of a buffer of {size}")]
    OutOfBounds {
        /// Offset of the access's first byte in the buffer, in bytes.
        offset: usize,
        /// Number of bytes of the access.
        bytes: usize,
        /// Size of the buffer in bytes.
        size: usize,
    },
    /// A read of a byte that has not been written.
    #[error("byte {offset} of the buffer has not been written")]
    Uninitialised {
        /// Offset of the first unwritten byte in the buffer, in bytes.
        offset: usize,
    },
}

#[derive(Debug, Clone, Default)]
struct Allocation {
    bytes: Vec<u8>,
    /// Whether each byte has been written; `None` if all have been.
    initialised: Option<Vec<bool>>,
    /// Whether a kernel has stored to the buffer.
    stored: bool,
    /// The address that the host chose for the first byte; `None` if the address follows from the buffer's index.
    placed_at: Option<u64>,
}

impl Allocation {
    /// Returns the offset, from the start of a range, of the first byte in the range that has not been written; `None`
    /// if all have been.
    fn first_uninitialised(&self, range: Range<usize>) -> Option<usize> {
        self.initialised.as_ref()?[range].iter().position(|&initialised| !initialised)
    }

    fn initialise(&mut self, range: Range<usize>) {
        if let Some(initialised) = &mut self.initialised {
            initialised[range].fill(true);
        }
    }
}

/// Global memory of all blocks. Buffers are uninitialised until the host or a kernel writes them.
#[derive(Debug, Clone, Default)]
pub struct GlobalMemory {
    buffers: Vec<Allocation>,
}

impl GlobalMemory {
    /// Creates memory without buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an uninitialised buffer, aligned to 256 bytes.
    pub fn allocate(&mut self, bytes: usize) -> BufferHandle {
        self.add(Allocation { bytes: vec![0; bytes], initialised: Some(vec![false; bytes]), ..Allocation::default() })
    }

    /// Adds a buffer that holds the given bytes.
    pub fn allocate_with(&mut self, bytes: &[u8]) -> BufferHandle {
        self.add(Allocation { bytes: bytes.to_vec(), ..Allocation::default() })
    }

    /// Adds a buffer that holds the given bytes at an address of the host's choice, for kernels that load addresses
    /// from memory. Such buffers must not overlap; the first one that holds an address serves it. An access beyond the
    /// end of one may reach another, as on hardware.
    ///
    /// # Examples
    /// ```
    /// let mut memory = tilewright_emulator::GlobalMemory::new();
    /// let buffer = memory.allocate_at(0x7f00_0000_1000, &[1, 2, 3, 4]);
    /// assert_eq!(memory.address(buffer), 0x7f00_0000_1000);
    /// assert_eq!(memory.read_all(buffer)?, [1, 2, 3, 4]);
    /// # Ok::<(), tilewright_emulator::HostAccessError>(())
    /// ```
    pub fn allocate_at(&mut self, address: u64, bytes: &[u8]) -> BufferHandle {
        self.add(Allocation { bytes: bytes.to_vec(), placed_at: Some(address), ..Allocation::default() })
    }

    fn add(&mut self, allocation: Allocation) -> BufferHandle {
        self.buffers.push(allocation);
        BufferHandle(self.buffers.len() - 1)
    }

    /// Frees a buffer: later accesses of it are out of bounds.
    pub fn free(&mut self, buffer: BufferHandle) {
        if let Some(allocation) = self.buffers.get_mut(buffer.0) {
            (allocation.bytes, allocation.initialised) = (Vec::new(), None);
        }
    }

    /// Makes the contents of a buffer uninitialised again, so that a kernel that reads them without writing them first
    /// faults.
    pub fn mark_uninitialised(&mut self, buffer: BufferHandle) {
        if let Some(allocation) = self.buffers.get_mut(buffer.0) {
            allocation.initialised = Some(vec![false; allocation.bytes.len()]);
        }
    }

    /// Writes bytes of a buffer from the host.
    ///
    /// # Errors
    /// [`HostAccessError`] if the buffer belongs to another memory, or if the range exceeds it.
    pub fn write(&mut self, buffer: BufferHandle, offset: usize, bytes: &[u8]) -> Result<(), HostAccessError> {
        let allocation = self.buffers.get_mut(buffer.0).ok_or(HostAccessError::UnknownBuffer)?;
        let range = range(offset, bytes.len(), allocation.bytes.len())?;
        allocation.bytes[range.clone()].copy_from_slice(bytes);
        allocation.initialise(range);
        Ok(())
    }

    /// Reads bytes of a buffer to the host.
    ///
    /// # Errors
    /// [`HostAccessError`] if the buffer belongs to another memory, if the range exceeds it, or if a byte has not been
    /// written.
    pub fn read(&self, buffer: BufferHandle, offset: usize, bytes: usize) -> Result<&[u8], HostAccessError> {
        let allocation = self.buffers.get(buffer.0).ok_or(HostAccessError::UnknownBuffer)?;
        let range = range(offset, bytes, allocation.bytes.len())?;
        match allocation.first_uninitialised(range.clone()) {
            Some(at) => Err(HostAccessError::Uninitialised { offset: offset + at }),
            None => Ok(&allocation.bytes[range]),
        }
    }

    /// Reads a whole buffer to the host.
    ///
    /// # Errors
    /// [`HostAccessError`] if the buffer belongs to another memory, or if a byte of it has not been written.
    pub fn read_all(&self, buffer: BufferHandle) -> Result<&[u8], HostAccessError> {
        let allocation = self.buffers.get(buffer.0).ok_or(HostAccessError::UnknownBuffer)?;
        self.read(buffer, 0, allocation.bytes.len())
    }

    /// Takes the contents of a buffer if a kernel has stored to it; otherwise returns `None`. A buffer whose contents
    /// are taken is empty afterwards.
    ///
    /// # Errors
    /// [`HostAccessError`] if the buffer belongs to another memory, or if a byte of it has not been written.
    pub fn take_if_stored(&mut self, buffer: BufferHandle) -> Result<Option<Vec<u8>>, HostAccessError> {
        self.read_all(buffer)?;
        let allocation = self.buffers.get_mut(buffer.0).ok_or(HostAccessError::UnknownBuffer)?;
        Ok(allocation.stored.then(|| std::mem::take(&mut allocation.bytes)))
    }

    /// Returns the global-memory address of the buffer's first byte.
    #[must_use]
    pub fn address(&self, buffer: BufferHandle) -> u64 {
        let placed = self.buffers.get(buffer.0).and_then(|allocation| allocation.placed_at);
        placed.unwrap_or(((buffer.0 as u64 + 1) << SPACING_BITS) | SKEW)
    }

    pub(super) fn holds(&self, buffer: BufferHandle) -> bool {
        buffer.0 < self.buffers.len()
    }

    /// Finds the buffer that contains the `bytes` bytes from `address` on; returns its index and the byte offset in it.
    /// The error describes the nearest buffer.
    fn locate(&self, address: u64, bytes: usize) -> Result<(usize, usize), String> {
        let index = (address >> SPACING_BITS) as usize;
        let of_index = index.checked_sub(1).and_then(|index| self.buffers.get(index));
        let Some(allocation) = of_index.filter(|allocation| allocation.placed_at.is_none()) else {
            return self.locate_placed(address, bytes);
        };
        let within = address & ((1 << SPACING_BITS) - 1);
        let inside = within.checked_sub(SKEW).and_then(|offset| usize::try_from(offset).ok());
        match inside.filter(|&offset| offset.checked_add(bytes).is_some_and(|end| end <= allocation.bytes.len())) {
            Some(offset) => Ok((index - 1, offset)),
            None => {
                let offset = within as i64 - SKEW as i64;
                let size = allocation.bytes.len();
                Err(format!("it is offset {offset} of buffer {}, which has {size} bytes", index - 1))
            }
        }
    }

    /// As `locate`, but searches the buffers at addresses of the host's choice.
    fn locate_placed(&self, address: u64, bytes: usize) -> Result<(usize, usize), String> {
        let mut nearest: Option<(usize, usize, usize)> = None;
        for (index, allocation) in self.buffers.iter().enumerate() {
            let offset = allocation.placed_at.and_then(|start| address.checked_sub(start));
            let Some(offset) = offset.and_then(|offset| usize::try_from(offset).ok()) else { continue };
            if offset.checked_add(bytes).is_some_and(|end| end <= allocation.bytes.len()) {
                return Ok((index, offset));
            }
            if nearest.is_none_or(|(least, ..)| offset < least) {
                nearest = Some((offset, index, allocation.bytes.len()));
            }
        }
        Err(match nearest {
            Some((offset, index, size)) => format!("it is offset {offset} of buffer {index}, which has {size} bytes"),
            None => "no buffer is near".to_owned(),
        })
    }

    /// Loads bytes for a kernel. `Err(Ok(offset))` has the offset, from `address`, of the first uninitialised byte;
    /// `Err(Err(_))` describes the nearest buffer if the bytes are out of bounds.
    pub(super) fn load(&self, address: u64, into: &mut [u8]) -> Result<(), Result<u64, String>> {
        let (buffer, offset) = self.locate(address, into.len()).map_err(Err)?;
        let allocation = &self.buffers[buffer];
        let range = offset..offset + into.len();
        if let Some(at) = allocation.first_uninitialised(range.clone()) {
            return Err(Ok(at as u64));
        }
        into.copy_from_slice(&allocation.bytes[range]);
        Ok(())
    }

    /// Returns the range of an access in its buffer; `None` if the access is out of bounds.
    pub(super) fn range(&self, address: u64, bytes: usize) -> Option<BufferRange> {
        let (buffer, offset) = self.locate(address, bytes).ok()?;
        Some(BufferRange { buffer, offset, bytes, size: self.buffers[buffer].bytes.len(), address })
    }

    /// Whether a range of a buffer already holds the bytes `bytes`, all written by the host or a kernel.
    pub(super) fn holds_bytes(&self, range: BufferRange, bytes: &[u8]) -> bool {
        let BufferRange { buffer, offset, .. } = range;
        let allocation = &self.buffers[buffer];
        let range = offset..offset + bytes.len();
        allocation.bytes[range.clone()] == *bytes && allocation.first_uninitialised(range).is_none()
    }

    /// Whether the host or a kernel has written all bytes of a range.
    pub(super) fn is_initialised(&self, range: BufferRange) -> bool {
        let BufferRange { buffer, offset, bytes, .. } = range;
        self.buffers[buffer].first_uninitialised(offset..offset + bytes).is_none()
    }

    /// Returns the bytes of a range.
    pub(super) fn contents(&self, range: BufferRange) -> &[u8] {
        &self.buffers[range.buffer].bytes[range.offset..range.offset + range.bytes]
    }

    /// Stores bytes for a kernel to a range of as many bytes.
    pub(super) fn store_in(&mut self, range: BufferRange, from: &[u8]) {
        let allocation = &mut self.buffers[range.buffer];
        let range = range.offset..range.offset + range.bytes;
        allocation.bytes[range.clone()].copy_from_slice(from);
        allocation.initialise(range);
        allocation.stored = true;
    }

    /// Returns the number of bytes from an address on that lie in a buffer, at most `bytes`.
    pub(super) fn present_bytes(&self, address: u64, bytes: usize) -> usize {
        (1..=bytes).rev().find(|&bytes| self.locate(address, bytes).is_ok()).unwrap_or(0)
    }

    /// Checks that a kernel may write a range; the error describes the nearest buffer.
    pub(super) fn check_writable(&self, address: u64, bytes: usize) -> Result<(), String> {
        self.locate(address, bytes).map(|_| ())
    }

    /// Stores bytes for a kernel; the error describes the nearest buffer.
    pub(super) fn store(&mut self, address: u64, from: &[u8]) -> Result<(), String> {
        let (buffer, offset) = self.locate(address, from.len())?;
        self.store_in(BufferRange { buffer, offset, bytes: from.len(), size: 0, address }, from);
        Ok(())
    }
}

fn range(offset: usize, bytes: usize, size: usize) -> Result<Range<usize>, HostAccessError> {
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(offset..end),
        _ => Err(HostAccessError::OutOfBounds { offset, bytes, size }),
    }
}
