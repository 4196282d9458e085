//! The counts and addresses of an accessor's accesses by one tile (access instruction).

use smallvec::SmallVec;

use super::Share;
use tilewright_layout::f2::Columns;

/// The accesses of one accessor (a store or load of a tensor) by one access instruction, with their counts.
#[derive(Debug, Clone)]
pub(in super::super) struct TileStats {
    /// The name of the instruction that makes the accesses; `None` for plain accesses.
    pub(in super::super) instruction: Option<String>,
    /// For each thread bit, the offset that it adds to the address that the thread gives, in elements.
    pub(super) addresses: Columns,
    /// For each bit of the index of a slot (contiguous memory at one address), the offset that it adds, in elements.
    pub(super) segments: Columns,
    /// Log2 of the number of bytes of a slot, the contiguous memory at one address.
    pub(super) segment_bits: u32,
    /// Mask of the thread bits that select replicas: only one of the threads that differ in them makes each access.
    pub(in super::super) idle: u64,
    /// Log2 of the number of elements that a lane moves in one access.
    pub(in super::super) width: u32,
    /// Number of accesses of a warp over all rounds (fillings of the memory), to the memories of all blocks, before
    /// warps share them.
    pub(super) accesses: u64,
    /// Wavefronts that one access of a warp takes; with padding, where accesses differ, those of the first access.
    pub(in super::super) each: u64,
    /// Number of byte permutes by which a lane packs its registers into the words of the accesses, or unpacks them.
    pub(in super::super) permutes: u64,
    /// Warp-index bits along which data is replicated: bit `i` of the access index selects the replica that issues it.
    pub(super) shared_by: SmallVec<[u32; 4]>,
    /// The division of the elements among threads that hold replicas.
    pub(in super::super) shares: SmallVec<[Share; 2]>,
    /// The registers that each access moves; `None` for plain accesses, whose registers follow the order of memory.
    pub(super) access_columns: Option<Box<AccessColumns>>,
}

/// The registers of an accessor's accesses, given by the elements that they hold, in coordinates of the memory.
#[derive(Debug, Clone)]
pub(super) struct AccessColumns {
    /// For each bit of the index among the elements that a lane moves in one access, the element that it adds (over
    /// F2).
    pub(super) elements: Columns,
    /// For each bit of the index of a slot (contiguous memory at one address), the element that it adds (over F2); zero
    /// if a lane bit selects the slot.
    pub(super) segments: Columns,
    /// For each bit of the access index, the element that it adds (over F2).
    pub(super) steps: Columns,
}

impl TileStats {
    /// Returns the wavefronts of all accesses of one warp, if each access takes as many as the first.
    pub(in super::super) fn wavefronts(&self) -> u64 {
        (self.accesses * self.each) >> self.shared_by.len()
    }

    /// Returns the number of accesses that a warp issues. Accesses that are predicated off count; instructions that all
    /// lanes must execute do not count if the warp branches around them.
    pub(in super::super) fn issued(&self) -> u64 {
        if self.instruction.is_some() { self.accesses >> self.shared_by.len() } else { self.accesses }
    }

    /// Returns the number of selects by which threads with replicas choose the words that they store; elements have
    /// `element_bits` bits.
    pub(in super::super) fn selects(&self, element_bits: u32) -> u64 {
        let words = u64::from((element_bits << self.width).div_ceil(element_bits.max(32)));
        self.accesses * words * ((1 << self.shares.len()) - 1)
    }

    /// Returns the number of elements that one lane moves. If warps share the work, each element is moved by one of
    /// them.
    pub(in super::super) fn elements(&self) -> u64 {
        (self.accesses << self.width) >> self.shared_by.len()
    }
}
