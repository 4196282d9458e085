//! Maps of tensors as a parameter's bytes, and boxes of the tensors: where each run of bytes is in global memory and in
//! the box. Source: PTX ISA, "Tensors"; CUDA driver API, `cuTensorMapEncodeTiled`. What hardware has in these bytes is
//! not published; ours begin with a word of their own.

use tilewright_kernel::{MAX_RANK, Outside};
use tilewright_plugin::EncodedMap;

/// Bytes of a map.
pub(crate) const MAP_BYTES: usize = 128;

/// With which our maps begin.
const MAGIC: u64 = 0x7469_6c65_6d61_7031;

/// A tensor in global memory, as a kernel has it by its map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) address: u64,
    pub(crate) sizes: [u64; MAX_RANK],
    /// Bytes between neighbours along each axis.
    pub(crate) strides: [u64; MAX_RANK],
    pub(crate) box_sizes: [u64; MAX_RANK],
    pub(crate) rank: usize,
    pub(crate) element_bytes: u64,
    /// `CUtensorMapSwizzle`.
    pub(crate) mode: u64,
    /// What each byte outside of the tensor is.
    pub(crate) outside: u8,
}

/// Bytes of a box that follow each other in the box, and in the tensor where they are of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where they begin in shared memory, before bits are mixed.
    pub(crate) at: u64,
    /// Their address in global memory; none where there is no tensor.
    pub(crate) address: Option<u64>,
}

impl Tensor {
    /// The tensor at an address, with its sizes and strides, as a kernel was compiled for it.
    pub(crate) fn new(
        of: &EncodedMap,
        address: u64,
        sizes: [u64; MAX_RANK],
        given_strides: [u64; MAX_RANK],
    ) -> Result<Self, String> {
        let (map, mut strides) = (&of.map, given_strides);
        map.check()?;
        let mode = of.mode.filter(|&mode| mode <= 3).ok_or("no way to lay out its boxes is known as its mode")?;
        let element_bytes = u64::from(map.element_bits / 8);
        strides[0] = element_bytes;
        let further = strides.iter().take(map.rank()).skip(1);
        if let Some(bytes) = further.chain([&address]).find(|bytes| !bytes.is_multiple_of(GRAIN)) {
            return Err(format!("its address or a stride is {bytes:#x}; expected a multiple of {GRAIN} bytes"));
        }
        let mut box_sizes = [1; MAX_RANK];
        box_sizes.iter_mut().zip(&map.box_sizes).for_each(|(own, &size)| *own = size.into());
        let outside = match map.outside {
            Outside::Zeros => 0,
            Outside::NotANumber => 0xff,
        };
        Ok(Self { address, sizes, strides, box_sizes, rank: map.rank(), element_bytes, mode: mode.into(), outside })
    }

    /// The words of the map.
    pub(crate) fn to_bytes(self) -> [u8; MAP_BYTES] {
        let packed = |numbers: &[u64], bits: u32| numbers.iter().rev().fold(0, |word, &number| word << bits | number);
        let small = [self.rank as u64, self.element_bytes, self.mode, self.outside.into()];
        // A box has 256 elements along an axis at most.
        let [first, others @ ..] = self.box_sizes;
        let head = [MAGIC, self.address, packed(&small, 8), first, packed(&others, 16)];
        let words = head.into_iter().chain(self.sizes).chain(self.strides);
        let mut bytes = [0; MAP_BYTES];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(own, word)| own.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// The tensor of such words; none where there are others.
    pub(crate) fn from_bytes(bytes: &[u8; MAP_BYTES]) -> Option<Self> {
        let mut words = [0; MAP_BYTES / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [MAGIC, address, small, first, others, rest @ ..] = words else { return None };
        let byte = |number: u32| small >> (8 * number) & 0xff;
        let (mut box_sizes, mut sizes, mut strides) = ([first; MAX_RANK], [1; MAX_RANK], [0; MAX_RANK]);
        box_sizes.iter_mut().skip(1).zip(0..).for_each(|(own, number)| *own = others >> (16 * number) & 0xffff);
        sizes.iter_mut().zip(&rest[..MAX_RANK]).for_each(|(own, &word)| *own = word);
        strides.iter_mut().zip(&rest[MAX_RANK..]).for_each(|(own, &word)| *own = word);
        let (rank, outside) = (byte(0) as usize, byte(3) as u8);
        Some(Self { address, sizes, strides, box_sizes, rank, element_bytes: byte(1), mode: byte(2), outside })
    }

    /// Bytes of a box.
    pub(crate) fn box_bytes(&self) -> u64 {
        self.box_sizes.iter().take(self.rank).fold(self.element_bytes, |bytes, &size| bytes.saturating_mul(size))
    }

    /// The elements of the box that begins at these coordinates and lies at an address of shared memory.
    pub(crate) fn pieces(&self, origin: &[i32], to: u64) -> impl Iterator<Item = Piece> + use<'_> {
        let mut begin = [0i64; MAX_RANK];
        begin.iter_mut().zip(origin).for_each(|(own, &at)| *own = at.into());
        (0..self.box_bytes() / self.element_bytes.max(1)).map(move |element| {
            let (mut rest, mut address) = (element, Some(self.address));
            let axes = self.box_sizes.iter().zip(&self.sizes).zip(&self.strides).zip(&begin).take(self.rank);
            for (((&box_size, &size), &stride), &begin) in axes {
                let at = begin + (rest % box_size) as i64;
                rest /= box_size;
                let inside = u64::try_from(at).ok().filter(|&at| at < size);
                address = address.zip(inside).map(|(all, at)| all.wrapping_add(at.wrapping_mul(stride)));
            }
            Piece { at: self.mixed(to + element * self.element_bytes), address }
        })
    }

    /// Where what would be at an address of shared memory lies: chunks of 16 bytes are swapped in a row of 32, 64 or 128,
    /// by the rows' number.
    fn mixed(&self, address: u64) -> u64 {
        let chunks = (1 << self.mode) - 1;
        address ^ ((address >> 7 & chunks) << 4)
    }
}

/// Addresses, strides and sizes are multiples of so many bytes.
pub(crate) const GRAIN: u64 = 16;
