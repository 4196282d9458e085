//! Plans gathers along one axis.

use super::exchanges;
use super::exchanges::Exchanges;
use super::shared;
use super::shared::Shared;
use crate::movement::conversion::Position;
use crate::movement::{MovementError, Path, Rejected, SharedBits, check_size, slots};
use tilewright_kernel::{Builder, Counts, Element, Value};
use tilewright_layout::f2::Solver;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::TargetDescription;

/// How elements are gathered.
#[derive(Debug, Clone)]
pub struct Gather {
    /// By what way: [`Path::Shuffle`] or [`Path::Shared`].
    pub path: Path,
    /// What a warp executes; where warps differ, the most. Wavefronts loaded are those of loads without
    /// conflicts: how many there are more depends on the indices.
    pub counts: Counts,
    /// Wavefronts of all loads of a warp, the mean over indices drawn evenly.
    pub expected_wavefronts: f64,
    /// Shared memory of the block in bytes.
    pub shared_bytes: u64,
    /// Cycles of the block by the target's table.
    pub cost: f64,
    pub(super) steps: Steps,
}

#[derive(Debug, Clone)]
pub(super) enum Steps {
    Exchanges(Exchanges),
    Shared(Box<Shared>),
}

/// Where elements come from: the source position of each bit of a result's place and of the index.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) registers: Vec<Position>,
    pub(super) threads: Vec<Position>,
    pub(super) index: Vec<Position>,
}

/// The cheapest gather: the result, in the layout `indices`, holds at each place the element of the
/// source's line that the index at that place names. The index counts along `axis`; all other axes
/// are the same in both tensors.
///
/// # Errors
/// [`MovementError`]: no such axis, tensors of other shapes or blocks, elements of no known width; no
/// way that is open.
pub fn gather(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<Gather, MovementError> {
    let (ways, closed) = gathers(src, indices, axis, element_bits, target)?;
    ways.into_iter().next().ok_or_else(|| MovementError::Impossible {
        reasons: closed.iter().map(|way| way.reason.as_str()).collect::<Vec<_>>().join("; "),
    })
}

/// The ways that [`gather`] weighs, the best first, and those that are closed with the reasons.
///
/// # Errors
/// [`MovementError`]: no such axis, tensors of other shapes or blocks, elements of no known width.
pub fn gathers(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<(Vec<Gather>, Vec<Rejected>), MovementError> {
    let element = Element::integer(element_bits).filter(|element| element.bits() >= 8);
    let element = element.ok_or(MovementError::ElementBits(element_bits))?;
    let question = Question::new(src, indices, axis, element)?;
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    let ways = [(Path::Shuffle, exchanges::plan(&question, target)), (Path::Shared, shared::plan(&question, target))];
    for (path, way) in ways {
        match way {
            Ok(gather) => open.push(gather),
            Err(reason) => closed.push(Rejected { path, reason }),
        }
    }
    open.sort_by(|a: &Gather, b| a.expected_slots().total_cmp(&b.expected_slots()).then(a.cost.total_cmp(&b.cost)));
    Ok((open, closed))
}

pub(super) struct Question {
    pub(super) src: LinearLayout,
    axis: Dim,
    pub(super) element: Element,
    /// Columns of results without the axis, in the source's coordinates.
    pub(super) registers: Vec<u64>,
    pub(super) threads: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
}

impl Question {
    fn new(src: &LinearLayout, indices: &LinearLayout, axis: Dim, element: Element) -> Result<Self, MovementError> {
        for layout in [src, indices] {
            if !layout.outs().contains(axis) {
                return Err(LayoutError::NoSuchDim { dim: axis }.into());
            }
            check_size("tensor", layout)?;
        }
        for (dim, left) in src.outs().iter().filter(|&(dim, _)| dim != axis) {
            let right = indices.out_bits(dim);
            if left != right || !indices.outs().contains(dim) {
                return Err(LayoutError::SizeMismatch { dim, left, right }.into());
            }
        }
        for dim in [Dim::LANE, Dim::WARP, Dim::BLOCK] {
            let (src, dst) = (src.in_bits(dim), indices.in_bits(dim));
            if src != dst {
                return Err(MovementError::Hardware { dim, src, dst });
            }
        }
        if src.in_bits(Dim::BLOCK) > 0 && src.columns_of(Dim::BLOCK) != indices.columns_of(Dim::BLOCK) {
            return Err(MovementError::Impossible { reasons: "lines cross blocks".to_owned() });
        }
        let src = src.clone().require_surjective()?;
        let line = |&column: &u64| -> Result<u64, LayoutError> {
            let at: Vec<_> = indices.outs().unpack(column).filter(|&(dim, _)| dim != axis).collect();
            src.outs().pack(&at)
        };
        let columns = |dim| indices.columns_of(dim).iter().map(line).collect::<Result<Vec<_>, _>>();
        let threads = [columns(Dim::LANE)?, columns(Dim::WARP)?].concat();
        let (lane_bits, warp_bits) = (src.in_bits(Dim::LANE), src.in_bits(Dim::WARP));
        Ok(Self { registers: columns(Dim::REGISTER)?, threads, src, axis, element, lane_bits, warp_bits })
    }

    /// The packed coordinates of the axis bits.
    pub(super) fn axis_units(&self) -> Vec<u64> {
        let shift = self.src.outs().shift_of(self.axis).unwrap_or(0);
        (0..self.src.out_bits(self.axis)).map(|bit| 1u64 << (shift + bit)).collect()
    }

    /// Where each bit leads in the source; copies in the same thread are the nearest.
    pub(super) fn origin(&self) -> Option<Origin> {
        let own = [self.src.columns_of(Dim::LANE), self.src.columns_of(Dim::WARP)].concat();
        let registers = self.src.columns_of(Dim::REGISTER);
        let columns: Vec<u64> = registers.iter().chain(&own).copied().collect();
        let solver = Solver::new(&columns);
        let bits = registers.len() as u32;
        let position = |solution: u64| Position { register: solution & ((1 << bits) - 1), thread: solution >> bits };
        let source = |column: u64| solver.solve(column).map(position);
        let of_thread = |(bit, &column): (usize, &u64)| {
            let here = 1u64 << bit;
            match own[bit] {
                same if same == column => Some(Position { register: 0, thread: here }),
                0 => source(column).map(|found| Position { thread: found.thread | here, ..found }),
                _ => source(column),
            }
        };
        Some(Origin {
            registers: self.registers.iter().map(|&column| source(column)).collect::<Option<_>>()?,
            threads: self.threads.iter().enumerate().map(of_thread).collect::<Option<_>>()?,
            index: self.axis_units().into_iter().map(source).collect::<Option<_>>()?,
        })
    }
}

impl Gather {
    /// The [`slots`] of the counts, with the wavefronts of loads as they are to be expected.
    #[must_use]
    pub fn expected_slots(&self) -> f64 {
        slots(&self.counts) - self.counts.wavefronts_loaded as f64 + self.expected_wavefronts
    }

    /// What a lane stores to shared memory and loads from it.
    #[must_use]
    pub fn shared_bits(&self) -> SharedBits {
        match &self.steps {
            Steps::Exchanges(_) => SharedBits::default(),
            Steps::Shared(shared) => shared.shared_bits(),
        }
    }

    /// Writes the gather's kernel IR. `src` holds one scalar integer of the element's width for each
    /// source register, `indices` an `i32` below the axis's size for each register of the indices; the
    /// result holds the elements likewise.
    ///
    /// # Panics
    /// Where there are not as many values as the layouts have registers.
    pub fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        match &self.steps {
            Steps::Exchanges(exchanges) => exchanges.emit(builder, src, indices),
            Steps::Shared(shared) => shared.emit(builder, src, indices),
        }
    }
}
