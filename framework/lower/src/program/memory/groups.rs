//! Groups registers of a tensor of pointers for vector accesses.

use tilewright_kernel::{Element, Type};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::Value;
use tilewright_tile::axis_info::{AxisInfoMap, IndexBitPosition};

/// Groups of registers whose elements are contiguous in memory, so that one vector access moves each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct VectorGroups {
    /// The bits of the register index that number the elements of a group: bit `within[i]` moves by 2^`i` elements in
    /// memory.
    within: Vec<u32>,
    /// The number of registers of a lane.
    registers: usize,
    /// Alignment of each group in bytes; `None` if it is the group's size.
    alignment: Option<u64>,
}

/// Max alignment in bytes that accesses state: the widest access of a lane.
const MAX_ALIGNMENT: u64 = 16;

impl VectorGroups {
    /// Finds the widest groups that axis information, layout and target allow for the tensor of pointers `pointer`.
    /// `element` is the type of an element in memory, `access_bits` the widths of accesses that the target has, which
    /// need at most the alignment `sufficient_alignment`, in bytes. The values `masks` must be equal for all elements
    /// of a group.
    pub(in super::super) fn of(
        (axis_info, pointer, masks): (&AxisInfoMap, Value, &[Value]),
        layout: &LinearLayout,
        element: Type,
        access_bits: &[u32],
        sufficient_alignment: u64,
    ) -> Self {
        let registers = 1usize << layout.in_bits(Dim::REGISTER);
        let bits = element.bits();
        let widest = access_bits.iter().copied().max().unwrap_or(bits).max(bits);
        let Some(info) = axis_info.get(pointer) else { return Self::allowed(Vec::new(), registers, bits, &[]) };
        let masks: Vec<_> = masks.iter().map(|&mask| axis_info.get(mask)).collect();
        let is_shared =
            |at: &IndexBitPosition| masks.iter().all(|mask| mask.is_some_and(|mask| mask.is_constant_across_bit(*at)));
        let most = (widest / bits).max(1).ilog2() as usize;
        let run = axis_info.vector_bits(pointer, sufficient_alignment).into_iter().take_while(is_shared).take(most);
        let within = unit_steps(layout, run.map(|at| (at.axis, at.bit)));
        let groups = Self::allowed(within, registers, bits, access_bits);
        let is_aligned = groups.within.len() <= info.aligned_vector_bits().len();
        let size = u64::from(bits.div_ceil(8)) << groups.within.len();
        // Code generators merge accesses of adjacent elements by several operations if the first one is aligned for all.
        let alignment = match groups.within.len() {
            _ if !is_aligned => sufficient_alignment.min(size),
            0 => info.divisibility().min(MAX_ALIGNMENT).max(size),
            _ => size,
        };
        Self { alignment: Some(alignment), ..groups }
    }

    /// Finds the widest groups of at most `most` elements that are consecutive along one axis, which must be contiguous
    /// in memory.
    pub(in super::super) fn along(
        layout: &LinearLayout,
        axis: usize,
        most: u64,
        element: Type,
        access_bits: &[u32],
    ) -> Self {
        let within = unit_steps(layout, (0..most.max(1).ilog2()).map(|bit| (axis, bit)));
        Self::allowed(within, 1 << layout.in_bits(Dim::REGISTER), element.bits(), access_bits)
    }

    /// Halves groups until the target has an access of their width. `within` has the register bits that count the
    /// elements of a group, `bits` is the width of an element.
    fn allowed(mut within: Vec<u32>, registers: usize, bits: u32, access_bits: &[u32]) -> Self {
        while !within.is_empty() && !access_bits.contains(&(bits << within.len())) {
            within.pop();
        }
        Self { within, registers, alignment: None }
    }

    /// Returns the alignment in bytes of accesses of this type, one for each group.
    pub(in super::super) fn alignment(&self, ty: Type) -> u32 {
        let size = ty.bits().div_ceil(8);
        self.alignment.and_then(|alignment| u32::try_from(alignment).ok()).unwrap_or(size)
    }

    /// Iterates over the groups, each with its registers in the order of memory.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let mask: usize = self.within.iter().map(|bit| 1usize << bit).sum();
        let firsts = (0..self.registers).filter(move |register| register & mask == 0);
        firsts.map(|first| (0..1usize << self.within.len()).map(|index| first | self.spread(index)).collect())
    }

    /// Returns the index of the register that holds the element `index` of a group, relative to the group's first
    /// register.
    fn spread(&self, index: usize) -> usize {
        self.within.iter().enumerate().map(|(bit, group_bit)| (index >> bit & 1) << group_bit).sum()
    }

    /// Returns the type of a memory access for a group of `count` elements.
    pub(in super::super) fn vector(element: Type, count: usize) -> Type {
        Type::vector_or_scalar(element.element().unwrap_or(Element::I32), count as u32)
    }
}

/// Returns the register bits that move the given coordinate bits, in the same order. A coordinate bit is given as an
/// axis and a bit along it. The list ends before the first coordinate bit that no register bit moves alone, or that
/// other input bits of the layout move too.
fn unit_steps(layout: &LinearLayout, coordinates: impl Iterator<Item = (usize, u32)>) -> Vec<u32> {
    let outs = layout.outs();
    let registers = layout.columns_of(Dim::REGISTER);
    let mut steps = Vec::new();
    for (axis, bit) in coordinates {
        let shift = outs.shift_of(Dim::tensor(axis)).filter(|_| bit < outs.bits_of(Dim::tensor(axis)));
        let Some(required) = shift.map(|shift| 1u64 << (shift + bit)) else { break };
        let touching = layout.columns().iter().filter(|&&column| column & required != 0).count();
        match registers.iter().position(|&column| column == required) {
            Some(group_bit) if touching == 1 => steps.push(group_bit as u32),
            _ => break,
        }
    }
    steps
}
