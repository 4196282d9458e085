//! The checked input of the choice of a shared-memory layout, in the coordinates of the search.

use smallvec::SmallVec;

use tilewright_layout::f2::{Columns, Solver, Subspace, multiply_vector};
use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout, Padding, Space};
use tilewright_target::{BankTableEntry, Direction, TargetDescription};

use super::super::conversion::ConversionSide as Columned;
use super::super::tile::LocatedAccessor;
use super::super::{ConversionProblem, MovementError, PlanContext, SELECTS_PER_WAVEFRONT};
use super::accessor::{LayoutPrefixConstraint, SharedMemoryAccessor, WarpAddressedSharedCopy};
use super::side::Side;
use crate::layouts;

/// The checked input of the choice of a layout: target, element width and accessors. The elements of one block are
/// numbered by `bits` bits; these numbers are called the coordinates of the problem.
#[derive(Clone)]
pub(super) struct SharedLayoutProblem<'a> {
    pub(super) target: &'a TargetDescription,
    pub(super) element_bits: u32,
    pub(super) sides: Vec<Side<'a>>,
    pub(super) bits: u32,
    /// The accessor that is a copy from global memory, with its index among the accessors; `None` if no accessor is a
    /// copy.
    pub(super) copy: Option<(usize, &'a WarpAddressedSharedCopy)>,
    basis: Columns,
    solver: Solver,
    blocks: Columns,
    outs: Space,
}

impl<'a> SharedLayoutProblem<'a> {
    /// Checks the accessors and converts them to coordinates of the problem; `context` has the plan context of each
    /// accessor.
    pub(super) fn new(
        accessors: &'a [SharedMemoryAccessor],
        element_bits: u32,
        target: &'a TargetDescription,
        context: &[PlanContext<'a>],
    ) -> Result<Self, MovementError> {
        let refused = |reason: &str| MovementError::memory(reason);
        let first = accessors.first().ok_or_else(|| refused("there is no accessor: name at least one"))?;
        let outs = first.layout.outs().clone();
        let conversions =
            accessors.iter().map(|a| ConversionProblem::of_parts(&first.layout, &a.layout, element_bits, target));
        let conversions = conversions.collect::<Result<Vec<_>, _>>()?;
        let of_block = |side: &Columned| Subspace::span(side.registers.iter().chain(&side.threads).copied());
        let blocks = &conversions[0].dst.blocks;
        if conversions.iter().any(|c| c.dst.blocks != *blocks) {
            return Err(refused("the accessors have different elements in a block"));
        }
        let mut all = conversions.iter().map(|c| of_block(&c.dst)).fold(Subspace::zero(), |all, own| all.sum(&own));
        // The block also has the elements that neither an accessor nor another block has.
        let others = all.sum(&Subspace::span(blocks.iter().copied())).extend_basis(outs.total_bits(), &[]);
        for element in others {
            all.insert(element);
        }
        let copies: Vec<_> = accessors.iter().enumerate().filter_map(|(at, a)| Some((at, a.copy.as_ref()?))).collect();
        if copies.len() > 1 || copies.iter().any(|&(at, _)| accessors[at].direction == Direction::Load) {
            return Err(refused("one accessor at most can be a copy from global memory, and it stores"));
        }
        let basis: Columns = all.basis().iter().copied().collect();
        let solver = Solver::new(&basis);
        let order: Vec<Dim> = outs.dims().collect();
        let sides = accessors.iter().zip(&conversions).zip(context).map(|((accessor, conversion), context)| {
            let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| solver.solve(c).unwrap_or(0)).collect() };
            let kind = (conversion.element, accessor.direction, conversion.lane_bits);
            let (registers, threads) = (of(&conversion.dst.registers), of(&conversion.dst.threads));
            let located = LocatedAccessor::new(kind, registers, threads, (basis.len() as u32, 0));
            Ok(Side::new(accessor, accessor.layout.transpose_outs(&order)?, located, context))
        });
        Ok(Self {
            target,
            element_bits,
            sides: sides.collect::<Result<_, LayoutError>>()?,
            bits: basis.len() as u32,
            copy: copies.first().copied(),
            blocks: conversions[0].dst.blocks.clone(),
            basis,
            solver,
            outs,
        })
    }

    /// Returns variants of the problem in which threads of one store that hold replicas divide its elements among them,
    /// along one or more thread bits. For each number of thread bits there are up to two variants: the threads divide
    /// the register bits that other accessors need in different threads, or the highest register bits.
    pub(super) fn with_divided_replicas(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for (at, side) in self.sides.iter().enumerate() {
            let bits = side.sharing();
            let mut space = Subspace::zero();
            let mut given: Vec<u64> = side.located.kept.iter().copied().filter(|&c| space.insert(c)).collect();
            given.reverse();
            let highest = given.clone();
            let others = || self.sides.iter().enumerate().filter(|(other, _)| *other != at);
            given.sort_by_key(|column| others().filter(|(_, other)| other.span().contains(*column)).count());
            let mut orders = vec![given, highest];
            orders.dedup();
            for count in (1..=bits.len().min(orders[0].len())).rev() {
                for order in &orders {
                    let mut shared = self.clone();
                    shared.sides[at] = side.shared_along(&bits[..count], &order[..count]);
                    all.push(shared);
                }
            }
        }
        all
    }

    /// Returns the price, in quarters of a wavefront, of `wavefronts` weighted wavefronts and of the selects by which
    /// threads share work.
    pub(super) fn price(&self, wavefronts: u64) -> u64 {
        let selects = self.sides.iter().map(|side| side.selects().saturating_mul(side.weight));
        selects.fold(wavefronts.saturating_mul(SELECTS_PER_WAVEFRONT), u64::saturating_add)
    }

    /// Whether some accessor is a copy from global memory that writes consecutively.
    pub(super) fn is_copied(&self) -> bool {
        self.copy.is_some()
    }

    pub(super) fn element_bytes(&self) -> u64 {
        u64::from(self.element_bits / 8)
    }

    /// Log2 of the max number of elements of one plain access.
    pub(super) fn widest(&self) -> u32 {
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0);
        (widest / self.element_bits).max(1).ilog2()
    }

    /// Returns the bank model of an accessor's accesses of `2^width` elements; `None` if the target has no such
    /// accesses.
    pub(super) fn row(&self, side: &Side<'a>, width: u32) -> Option<&'a BankTableEntry> {
        let (bits, target) = (self.element_bits << width, side.context.target);
        target.find_bank_row(side.direction(), bits).filter(|_| target.shared.access_bits.contains(&bits))
    }

    /// Returns log2 of the number of elements that all banks deliver at once, for each entry of the target's bank
    /// table; ascending, each number once.
    pub(super) fn lines(&self) -> SmallVec<[u32; 4]> {
        let elements = |row: &BankTableEntry| (row.wavefront_bytes() / self.element_bytes()).max(1).ilog2();
        let mut lines: SmallVec<[u32; 4]> = self.target.shared.banks.iter().map(elements).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns log2 of the number of elements in a word of a bank, for the widest banks of the target.
    pub(super) fn word(&self) -> u32 {
        let widest = self.target.shared.banks.iter().map(|row| u64::from(row.bank_bytes)).max().unwrap_or(1);
        (widest / self.element_bytes()).max(1).ilog2()
    }

    /// Returns row-major layouts as the element of each offset bit, one for each order of the axes; the first has the
    /// last axis fastest.
    pub(super) fn bases(&self) -> Vec<Columns> {
        let mut axes: Vec<Dim> = self.outs.iter().filter(|(_, bits)| *bits > 0).map(|(dim, _)| dim).collect();
        axes.sort_unstable_by(|a, b| b.cmp(a));
        // Four or more axes have too many orders, so only rotations are tried: the choice of the fastest axis matters
        // most.
        let orders = if axes.len() <= 3 { permutations(&axes) } else { rotations(&axes) };
        orders.iter().map(|axes| self.ordered(axes)).collect()
    }

    /// Converts the first elements that `begin` requires to coordinates of the problem.
    pub(super) fn prefix_columns(&self, begin: &LayoutPrefixConstraint) -> Result<Columns, MovementError> {
        let refused = |reason: &str| MovementError::memory(reason);
        let mut space = Subspace::zero();
        let known = begin
            .order
            .iter()
            .map(|&element| self.solver.solve(element).filter(|&basis_columns| space.insert(basis_columns)));
        let known: Option<Columns> = known.collect();
        let columns =
            known.ok_or_else(|| refused("the first elements are not in the tensor, or are linearly dependent"))?;
        if begin.kept.max(begin.together) > columns.len() {
            return Err(refused("more offset bits are kept than first elements exist"));
        }
        Ok(columns)
    }

    /// Returns layouts, as the element of each offset bit, that begin with `low`; the other elements follow in each
    /// order of the axes.
    pub(super) fn bases_from(&self, low: &[u64]) -> Vec<Columns> {
        let taken = Subspace::span(low.iter().copied());
        let mut all: Vec<Columns> = Vec::new();
        for order in self.bases() {
            let rest = taken.extend_basis(self.bits, &order);
            let columns: Columns = low.iter().chain(&rest).copied().collect();
            if !all.contains(&columns) {
                all.push(columns);
            }
        }
        all
    }

    /// Returns the element of each offset bit for the order `axes`, the first axis fastest.
    fn ordered(&self, axes: &[Dim]) -> Columns {
        let units = axes.iter().flat_map(|&dim| layouts::units(&self.outs, dim));
        let basis_columns = units.filter_map(|unit| self.solver.solve(unit));
        let mut space = Subspace::zero();
        let mut columns: Columns = basis_columns.filter(|&unit| space.insert(unit)).collect();
        columns.extend(space.extend_basis(self.bits, &[]));
        columns
    }

    /// Converts an element from coordinates of the problem to packed coordinates of the tensor.
    pub(super) fn tensor_column(&self, column: u64) -> u64 {
        multiply_vector(&self.basis, column)
    }

    pub(super) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// Builds the memory layout whose offset bits have the elements `columns`, with these paddings.
    pub(super) fn memory(&self, columns: &[u64], padding: &[Padding]) -> Result<MemoryLayout, LayoutError> {
        let mut ins = Space::default();
        ins.push(Dim::OFFSET, self.bits)?;
        ins.push(Dim::BLOCK, self.blocks.len() as u32)?;
        let columns: Columns =
            columns.iter().map(|&c| self.tensor_column(c)).chain(self.blocks.iter().copied()).collect();
        let linear = LinearLayout::from_columns(ins, self.outs.clone(), &columns)?;
        Ok(MemoryLayout { linear, padding: padding.to_vec(), alignment: None })
    }
}

fn permutations(axes: &[Dim]) -> Vec<Vec<Dim>> {
    if axes.len() < 2 {
        return vec![axes.to_vec()];
    }
    let led_by = |at: usize| {
        let rest: Vec<Dim> = axes[..at].iter().chain(&axes[at + 1..]).copied().collect();
        permutations(&rest).into_iter().map(move |rest| [vec![axes[at]], rest].concat())
    };
    (0..axes.len()).flat_map(led_by).collect()
}

fn rotations(axes: &[Dim]) -> Vec<Vec<Dim>> {
    (0..axes.len()).map(|at| [&axes[at..], &axes[..at]].concat()).collect()
}
