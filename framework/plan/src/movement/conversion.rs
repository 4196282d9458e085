//! A layout conversion: two layouts of one tensor, checked, in the form that planners use.

use tilewright_kernel::Element;
use tilewright_layout::f2::{Columns, Solver};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::TargetDescription;

use super::MovementError;
use super::check::{check_block_fits_target, check_element, check_hardware, check_size};

/// One of the two layouts of a conversion, as the packed tensor coordinates that its input bits add.
#[derive(Debug, Clone)]
pub struct ConversionSide {
    /// For each register bit, the packed tensor coordinate that it adds (over F2).
    pub(super) registers: Columns,
    /// For each lane bit, then each warp bit, the packed tensor coordinate that it adds (over F2).
    pub(super) threads: Columns,
    /// For each block bit, the packed tensor coordinate that it adds (over F2).
    pub(super) blocks: Columns,
}

/// A conversion between two distributed layouts of one tensor.
#[derive(Debug, Clone)]
pub struct ConversionProblem {
    pub(super) src: ConversionSide,
    pub(super) dst: ConversionSide,
    pub(super) element: Element,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    /// The source position of the element at each bit of a destination position (registers, then threads); in thread
    /// bits that only number replicas in the source, it equals the destination position. `None` if elements cross
    /// blocks.
    pub(super) origin: Option<Origin>,
}

/// For each bit of a destination position, the source position of the same element, within one block.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// The source position for each register bit of the destination.
    pub(super) of_registers: Vec<Position>,
    /// The source position for each thread bit of the destination (lanes, then warps).
    pub(super) of_threads: Vec<Position>,
}

/// A position in a block: a register and a thread. The thread index has the lane in its low bits and the warp above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) register: u64,
    pub(super) thread: u64,
}

impl ConversionProblem {
    /// Checks the layouts and finds the source position of every destination bit.
    ///
    /// # Errors
    /// [`MovementError`] if the layouts differ in their tensors or in their numbers of lanes, warps or blocks, if they
    /// are not surjective or too large for planners, or if the target does not support the block or the element width.
    pub fn new(
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
        target: &TargetDescription,
    ) -> Result<Self, MovementError> {
        let conversion = Self::of_parts(src, dst, element_bits, target)?;
        match [src, dst].into_iter().find(|layout| !layout.is_surjective()) {
            Some(part) => Err(LayoutError::NotSurjective { rank: part.rank(), bits: part.outs().total_bits() }.into()),
            None => Ok(conversion),
        }
    }

    /// As [`Self::new`], but the layouts may hold parts of the tensor; then there may be no `origin`.
    pub(super) fn of_parts(
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
        target: &TargetDescription,
    ) -> Result<Self, MovementError> {
        let element = check_element(element_bits)?;
        check_hardware(src, dst)?;
        let order: Vec<Dim> = src.outs().dims().collect();
        let dst = dst.transpose_outs(&order)?;
        for (dim, left) in src.outs().iter() {
            let right = dst.out_bits(dim);
            if left != right {
                return Err(LayoutError::SizeMismatch { dim, left, right }.into());
            }
        }
        let (lane_bits, warp_bits) = (src.in_bits(Dim::LANE), src.in_bits(Dim::WARP));
        check_block_fits_target(1 << lane_bits, 1 << warp_bits, target)?;
        let (src, dst) = (side("source", src)?, side("destination", &dst)?);
        let origin = origin(&src, &dst);
        Ok(Self { src, dst, element, lane_bits, warp_bits, origin })
    }

    /// Returns the conversion from `src` to `dst` of the same tensor in the same block.
    pub(super) fn between(&self, src: &ConversionSide, dst: &ConversionSide) -> Self {
        Self { src: src.clone(), dst: dst.clone(), origin: origin(src, dst), ..*self }
    }

    /// Returns the number of warps of a block.
    #[must_use]
    pub fn warps(&self) -> u64 {
        1 << self.warp_bits
    }

    /// Returns the number of bytes of an element.
    pub(super) fn element_bytes(&self) -> u64 {
        u64::from(self.element.bits() / 8)
    }

    /// Returns the mask of the lane bits in a thread index.
    pub(super) fn lane_mask(&self) -> u64 {
        (1 << self.lane_bits) - 1
    }
}

fn side(name: &'static str, layout: &LinearLayout) -> Result<ConversionSide, MovementError> {
    let known = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    if let Some(dim) = layout.ins().dims().find(|dim| !known.contains(dim)) {
        return Err(MovementError::NotDistributed { side: name, dim });
    }
    check_size(name, layout)?;
    let columns = |dim| Columns::from_slice(layout.columns_of(dim));
    let threads = layout.columns_of(Dim::LANE).iter().chain(layout.columns_of(Dim::WARP)).copied().collect();
    Ok(ConversionSide { registers: columns(Dim::REGISTER), threads, blocks: columns(Dim::BLOCK) })
}

/// Returns for each bit of a destination position the source position of its element; `None` if elements cross blocks,
/// or if the elements that a block needs depend on the block's index.
fn origin(src: &ConversionSide, dst: &ConversionSide) -> Option<Origin> {
    if src.blocks != dst.blocks {
        return None;
    }
    let holders = Holders::new(&src.registers, &src.threads);
    let of_registers = dst.registers.iter().map(|&column| holders.find(column)).collect::<Option<_>>()?;
    let of_threads = dst.threads.iter().enumerate().map(|(bit, &column)| holders.nearest(bit, column));
    Some(Origin { of_registers, of_threads: of_threads.collect::<Option<_>>()? })
}

/// Finds the positions of a block (register and thread) that hold given elements.
pub(super) struct Holders<'a> {
    solver: Solver,
    register_bits: u32,
    threads: &'a [u64],
}

impl<'a> Holders<'a> {
    pub(super) fn new(registers: &[u64], threads: &'a [u64]) -> Self {
        // Registers come first, so an element that is in registers and in other threads is found in registers.
        let columns: Columns = registers.iter().chain(threads).copied().collect();
        Self { solver: Solver::new(&columns), register_bits: registers.len() as u32, threads }
    }

    /// Returns a position that holds an element; `None` if the block does not hold it.
    pub(super) fn find(&self, element: u64) -> Option<Position> {
        let solution = self.solver.solve(element)?;
        let register = solution & ((1 << self.register_bits) - 1);
        Some(Position { register, thread: solution >> self.register_bits })
    }

    /// Returns the source position of `element`, the element that bit `bit` of the destination's thread index adds. If
    /// the bit only numbers replicas in the source, the position has the bit too, so that elements stay in their
    /// thread. `None` if the block does not hold the element.
    pub(super) fn nearest(&self, bit: usize, element: u64) -> Option<Position> {
        let own = 1u64 << bit;
        // Both sides have the same element at this thread bit: it does not move.
        let mut found =
            if self.threads[bit] == element { Position { register: 0, thread: own } } else { self.find(element)? };
        // The source is replicated along this thread bit, so the nearest replica is in the destination's own thread.
        if self.threads[bit] == 0 {
            found.thread |= own;
        }
        Some(found)
    }
}

impl Origin {
    /// Whether some warp needs elements that only other warps hold. `lane_mask` is the mask of the lane bits in a
    /// thread index.
    pub(super) fn crosses_warps(&self, lane_mask: u64) -> bool {
        let crosses = |p: &Position, own: u64| (p.thread ^ own) & !lane_mask != 0;
        self.of_threads.iter().enumerate().any(|(bit, p)| crosses(p, 1 << bit))
            || self.of_registers.iter().any(|p| crosses(p, 0))
    }

    /// Returns the source position of the element that the register `register` of the thread `thread` has in the
    /// destination.
    pub(super) fn of(&self, register: u64, thread: u64) -> Position {
        let mut sum = Position::default();
        for (bits, images) in [(register, &self.of_registers), (thread, &self.of_threads)] {
            for (bit, image) in images.iter().enumerate() {
                if bits >> bit & 1 == 1 {
                    sum.register ^= image.register;
                    sum.thread ^= image.thread;
                }
            }
        }
        sum
    }
}
