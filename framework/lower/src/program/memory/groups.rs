//! Which registers of a tensor of pointers one access of a lane serves.

use tilewright_kernel::{Element, Type};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::Value;
use tilewright_tile::facts::AxisInfoMap;

/// Registers whose elements follow each other in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Groups {
    /// The bits of a register's number that count within a group, in the order of memory.
    within: Vec<u32>,
    /// How many registers there are.
    registers: usize,
}

impl Groups {
    /// The widest that facts, layout and target allow, for elements that memory has as `element`. `masks` are values that
    /// must be the same for all of a group, `access_bits` the widths that an access may have.
    pub(in super::super) fn of(
        (facts, pointer, masks): (&AxisInfoMap, Value, &[Value]),
        layout: &LinearLayout,
        element: Type,
        access_bits: &[u32],
    ) -> Self {
        let registers = 1usize << layout.in_bits(Dim::REGISTER);
        let bits = element.bits();
        let bytes = u64::from(bits / 8).max(1);
        let widest = access_bits.iter().copied().max().unwrap_or(bits).max(bits);
        let Some(fact) = facts.get(pointer) else { return Self { within: Vec::new(), registers } };
        let mut best: Vec<u32> = Vec::new();
        for (axis, along) in fact.axes.iter().enumerate().take(layout.outs().len()) {
            let same = masks
                .iter()
                .map(|&mask| facts.get(mask).and_then(|fact| fact.axes.get(axis)).map_or(1, |a| a.constancy));
            let most =
                same.chain([along.contiguity, along.divisibility / bytes, u64::from(widest / bits)]).min().unwrap_or(1);
            let within = unit_steps(layout, axis, most.max(1).ilog2());
            if within.len() > best.len() {
                best = within;
            }
        }
        // Of the vectors that fit, the target must have the access.
        while !best.is_empty() && !access_bits.contains(&(bits << best.len())) {
            best.pop();
        }
        Self { within: best, registers }
    }

    /// The widest of at most so many elements along one axis.
    pub(in super::super) fn along(
        layout: &LinearLayout,
        axis: usize,
        most: u64,
        element: Type,
        access_bits: &[u32],
    ) -> Self {
        let mut within = unit_steps(layout, axis, most.max(1).ilog2());
        while !within.is_empty() && !access_bits.contains(&(element.bits() << within.len())) {
            within.pop();
        }
        Self { within, registers: 1 << layout.in_bits(Dim::REGISTER) }
    }

    /// The groups, each with its registers in the order of memory.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let mask: usize = self.within.iter().map(|bit| 1usize << bit).sum();
        let firsts = (0..self.registers).filter(move |register| register & mask == 0);
        firsts.map(|first| (0..1usize << self.within.len()).map(|place| first | self.spread(place)).collect())
    }

    /// The register bits of a place in the group.
    fn spread(&self, place: usize) -> usize {
        self.within.iter().enumerate().map(|(bit, own)| (place >> bit & 1) << own).sum()
    }

    /// The type of an access for a group of so many elements.
    pub(in super::super) fn vector(element: Type, count: usize) -> Type {
        Type::of(element.element().unwrap_or(Element::I32), count as u32)
    }
}

/// The register bits that step by 1, 2, 4, ... along an axis, as far as no other position has these bits.
fn unit_steps(layout: &LinearLayout, axis: usize, most: u32) -> Vec<u32> {
    let outs = layout.outs();
    let Some(shift) = outs.shift_of(Dim::tensor(axis)) else { return Vec::new() };
    let registers = layout.columns_of(Dim::REGISTER);
    let mut steps = Vec::new();
    for bit in 0..most.min(outs.bits_of(Dim::tensor(axis))) {
        let required = 1u64 << (shift + bit);
        let touching = layout.columns().iter().filter(|&&column| column & required != 0).count();
        match registers.iter().position(|&column| column == required) {
            Some(own) if touching == 1 => steps.push(own as u32),
            _ => break,
        }
    }
    steps
}
