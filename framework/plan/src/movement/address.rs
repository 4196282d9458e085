//! Products of F2 matrices with the index of the running thread, as kernel IR.

use smallvec::{SmallVec, smallvec};

use tilewright_kernel::{Binary, Builder, Compare, Element, SpecialRegister, Type, Value};
use tilewright_layout::Padding;

/// The lane and the warp of the running thread.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    lane: Value,
    warp: Value,
    lane_bits: u32,
    cluster: Option<ClusterBits>,
}

/// What comes after the warp in the index of a thread of a cluster: its block, then what is the same for
/// all threads.
#[derive(Debug, Clone, Copy)]
pub struct ClusterBits {
    /// Bits of the warp.
    pub warp_bits: u32,
    /// Index of the block in its cluster.
    pub block: Value,
    /// Bits of the block.
    pub block_bits: u32,
    /// The bits above.
    pub group: u64,
}

/// Indices, each with the columns of its bits.
type Parts<'a> = SmallVec<[(Value, &'a [u64]); 3]>;

impl Thread {
    /// Reads the indices of the running thread; warps have 2^`lane_bits` lanes.
    pub fn new(builder: &mut Builder, lane_bits: u32) -> Self {
        let lane = builder.special(SpecialRegister::Lane);
        let warp = builder.special(SpecialRegister::Warp);
        Self { lane, warp, lane_bits, cluster: None }
    }

    /// The same thread as one of a cluster.
    #[must_use]
    pub fn in_cluster(self, cluster: ClusterBits) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// The columns of each index that a thread is known by, and the sum of those that all share.
    fn parts(self, columns: &[u64]) -> (Parts<'_>, u64) {
        let (lanes, warps) = columns.split_at(columns.len().min(self.lane_bits as usize));
        let Some(cluster) = self.cluster else {
            return (smallvec![(self.lane, lanes), (self.warp, warps)], 0);
        };
        let (warps, blocks) = warps.split_at(warps.len().min(cluster.warp_bits as usize));
        let (blocks, groups) = blocks.split_at(blocks.len().min(cluster.block_bits as usize));
        let parts = smallvec![(self.lane, lanes), (self.warp, warps), (cluster.block, blocks)];
        (parts, tilewright_layout::f2::multiply(groups, cluster.group))
    }

    /// The parity of the thread bits in `mask`, as `i1`.
    pub(super) fn parity(self, builder: &mut Builder, mask: u64) -> Value {
        let columns: Vec<u64> = (0..64 - mask.leading_zeros()).map(|bit| mask >> bit & 1).collect();
        let bit = self.product(builder, &columns);
        let zero = builder.i32(0);
        builder.compare(Compare::Ne, bit, zero)
    }

    /// The lane whose index has the bits of `ones` set, of the others those of `zeros` clear, and else
    /// is this one's.
    pub(super) fn lane_with(self, builder: &mut Builder, ones: u32, zeros: u32) -> Value {
        let mut lane = self.lane;
        if ones != 0 {
            lane = builder.binary_const(Binary::Or, lane, ones);
        }
        if zeros & !ones != 0 {
            lane = builder.binary_const(Binary::And, lane, !(zeros & !ones));
        }
        lane
    }

    /// The lane whose index differs in the bits of `mask`.
    pub(super) fn neighbour(self, builder: &mut Builder, mask: u32) -> Value {
        builder.binary_const(Binary::Xor, self.lane, mask)
    }

    /// Whether all thread bits in `mask` are zero, as `i1`; `None` where the mask is empty.
    pub fn all_zero(self, builder: &mut Builder, mask: u64) -> Option<Value> {
        self.has(builder, mask, 0)
    }

    /// Whether all thread bits in `mask` are one, as `i1`; `None` where the mask is empty.
    pub(super) fn all_ones(self, builder: &mut Builder, mask: u64) -> Option<Value> {
        self.has(builder, mask, mask)
    }

    /// Whether the thread bits in `mask` are those of `bits`, as `i1`; `None` where the mask is empty.
    pub(super) fn has(self, builder: &mut Builder, mask: u64, bits: u64) -> Option<Value> {
        let lane_mask = (1u64 << self.lane_bits) - 1;
        let parts = [
            (self.lane, mask & lane_mask, bits & lane_mask),
            (self.warp, mask >> self.lane_bits, bits >> self.lane_bits),
        ];
        let mut condition = None;
        for (index, mask, bits) in parts {
            if mask == 0 {
                continue;
            }
            let own = builder.binary_const(Binary::And, index, mask as u32);
            let required = builder.i32(bits as u32);
            let here = builder.compare(Compare::Eq, own, required);
            condition = Some(match condition {
                None => here,
                Some(before) => builder.binary(Binary::And, before, here),
            });
        }
        condition
    }

    /// The matrix with one column a thread bit (lanes, then warps, in a cluster then blocks), times the
    /// thread's index, as `i32`.
    ///
    /// Equal distances between input bit and output bit share one shift and mask, so a matrix that
    /// only moves bits in groups costs one operation a group.
    pub fn product(self, builder: &mut Builder, columns: &[u64]) -> Value {
        let mut sum = None;
        let (parts, constant) = self.parts(columns);
        for (index, columns) in parts {
            add_product(builder, &mut sum, index, columns);
        }
        match sum {
            Some(sum) if constant == 0 => sum,
            Some(sum) => builder.binary_const(Binary::Xor, sum, constant as u32),
            None => builder.i32(constant as u32),
        }
    }
}

/// The matrix of the given columns times the bits of an `i32`.
pub fn product(builder: &mut Builder, value: Value, columns: &[u64]) -> Value {
    let mut sum = None;
    add_product(builder, &mut sum, value, columns);
    sum.unwrap_or_else(|| builder.i32(0))
}

fn add_product(builder: &mut Builder, sum: &mut Option<Value>, index: Value, columns: &[u64]) {
    for (mask, shift) in diagonals(columns) {
        let term = shifted(builder, index, mask, shift);
        *sum = Some(match *sum {
            None => term,
            Some(before) => builder.binary(Binary::Xor, before, term),
        });
    }
}

/// Addresses that are F2-linear in the thread and a constant, then padded: a part that depends on the
/// thread, computed once for each constant that shares bits with it, and immediates.
#[derive(Debug)]
pub struct LinearAddress {
    base: Value,
    thread_part: Value,
    thread_bits: u64,
    element_bytes: u64,
    /// In bytes.
    padding: Vec<Padding>,
    pointers: Vec<(u64, Value)>,
}

impl LinearAddress {
    /// Addresses from `base`; `columns` are what each thread bit adds, in bytes.
    pub fn new(builder: &mut Builder, thread: Thread, base: Value, columns: &[u64], element_bytes: u64) -> Self {
        let thread_bits = columns.iter().fold(0, |all, column| all | column);
        let thread_part = thread.product(builder, columns);
        Self { base, thread_part, thread_bits, element_bytes, padding: Vec::new(), pointers: Vec::new() }
    }

    /// The same with padding between the elements; intervals are powers of two.
    pub(super) fn padded(mut self, padding: &[Padding]) -> Self {
        let bytes = |p: &Padding| Padding {
            interval: p.interval * self.element_bytes,
            padding: p.padding * self.element_bytes,
        };
        self.padding = padding.iter().map(bytes).collect();
        self
    }

    /// Pointer and immediate, in bytes, of a constant number of elements, added over F2.
    ///
    /// Bits that the thread does not set are added without a carry, so that the padding of the sum
    /// is the sum of the paddings.
    pub fn at(&mut self, builder: &mut Builder, elements: u64) -> (Value, i32) {
        let bytes = elements * self.element_bytes;
        let (shared, apart) = (bytes & self.thread_bits, bytes & !self.thread_bits);
        let immediate = apart + self.padding.iter().map(|p| apart / p.interval * p.padding).sum::<u64>();
        let known = self.pointers.iter().find(|(part, _)| *part == shared).map(|&(_, pointer)| pointer);
        let pointer = known.unwrap_or_else(|| {
            let moved = match shared {
                0 => self.thread_part,
                _ => builder.binary_const(Binary::Xor, self.thread_part, shared as u32),
            };
            let moved = self.spaced(builder, moved);
            let pointer = builder.advance(self.base, moved);
            self.pointers.push((shared, pointer));
            pointer
        });
        (pointer, immediate as i32)
    }

    /// The offset with what padding lies before it.
    fn spaced(&self, builder: &mut Builder, offset: Value) -> Value {
        let mut sum = offset;
        for p in &self.padding {
            let intervals = builder.binary_const(Binary::ShrU, offset, p.interval.trailing_zeros());
            let left_out = builder.binary_const(Binary::Mul, intervals, p.padding as u32);
            sum = builder.binary(Binary::Add, sum, left_out);
        }
        sum
    }
}

/// The matrix as a sum of diagonals: for each distance that out bits lie above input bits, the mask
/// of the input bits that move by it.
fn diagonals(columns: &[u64]) -> Vec<(u64, i32)> {
    let mut diagonals: Vec<(u64, i32)> = Vec::new();
    for (bit, &column) in columns.iter().enumerate() {
        let mut rest = column;
        while rest != 0 {
            let distance = rest.trailing_zeros() as i32 - bit as i32;
            rest &= rest - 1;
            match diagonals.iter_mut().find(|(_, d)| *d == distance) {
                Some((mask, _)) => *mask |= 1 << bit,
                None => diagonals.push((1 << bit, distance)),
            }
        }
    }
    diagonals
}

fn shifted(builder: &mut Builder, index: Value, mask: u64, distance: i32) -> Value {
    let bits = builder.binary_const(Binary::And, index, mask as u32);
    match distance {
        0 => bits,
        1.. => builder.binary_const(Binary::Shl, bits, distance as u32),
        _ => builder.binary_const(Binary::ShrU, bits, distance.unsigned_abs()),
    }
}

/// The integer type of the given width.
pub(super) fn integer(bits: u32) -> Type {
    Type::Scalar(Element::integer(bits).unwrap_or(Element::I32))
}
