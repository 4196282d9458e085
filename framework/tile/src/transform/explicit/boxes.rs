//! Copies of a loop by boxes of mapped memory: one for each tensor and turn, whose bytes arrive at an mbarrier of the buffer.
//!
//! A buffer's mbarrier has a phase for each turn that fills it, which expects all bytes of that turn; so the loop carries, beside
//! the number of the buffer, whether the phase is an even or an odd one.

use crate::op::name::{arith, ttg, tw};
use std::collections::HashMap;
use std::sync::Arc;

use super::loops::Loop;
use super::{Distance, EVERY_WARP, Expander, Maker, Term};
use crate::{Attribute, Descriptor, LayoutName, Memory, Op, Type, Value, Violation};
use tilewright_layout::FamilySpec;

use super::super::Copier;

/// What boxes fill, of one loop.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    /// The mbarriers, one for each buffer, and the type of one.
    mbarriers: Value,
    one: Type,
    /// The map that each copy reads.
    maps: HashMap<Op, Value>,
    /// Bytes of a turn.
    bytes: u64,
    /// The mbarriers at which warps say that a buffer is free, where others issue the boxes.
    free: Option<Value>,
}

impl Expander<'_> {
    /// Whether a copy goes by boxes.
    pub(super) fn is_box(&self, copy: Op) -> bool {
        self.choices.boxes.contains_key(&copy)
    }

    /// Whether some copies of a loop are closed and waited for as groups.
    pub(super) fn has_groups(&self, of: &Loop) -> bool {
        self.parted(of).0.copies.iter().any(|copy| !self.is_box(*copy))
    }

    /// Makes the mbarriers and the maps of a loop, before it; nothing where no box fills its tensors.
    pub(super) fn prepare(&mut self, of: &Loop, copier: &mut Copier<'_, '_, '_>, stages: u32) -> Result<(), Violation> {
        let copies: Vec<Op> = of.copies.iter().copied().filter(|copy| self.is_box(*copy)).collect();
        if copies.is_empty() {
            return Ok(());
        }
        let filled = copies.first().map(|copy| copier.from.ty(copier.from.op(*copy).operands[1]));
        let Some(space) = filled.and_then(Type::as_memory).map(|memory| memory.space.clone()) else { return Ok(()) };
        let one = mbarriers(&[1], &space);
        let all = self.mbarriers(of, copier, &space, (stages, 1))?;
        let consumers = self.choices.producers.get(&of.op);
        let free = consumers.map(|&consumers| self.mbarriers(of, copier, &space, (stages, consumers))).transpose()?;
        let (mut maps, mut bytes) = (HashMap::new(), 0);
        for copy in copies {
            bytes += self.bytes_of(copy, copier);
            maps.insert(copy, self.map(of.op, copy, copier)?);
        }
        self.filled.insert(of.op, Filled { mbarriers: all, one, maps, bytes, free });
        Ok(())
    }

    /// An mbarrier for each buffer, of so many arrivals.
    fn mbarriers(
        &self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        space: &LayoutName,
        (stages, arrivals): (u32, u32),
    ) -> Result<Value, Violation> {
        let one = mbarriers(&[1], space);
        let made = copier.to.op(ttg::LOCAL_ALLOC).result(mbarriers(&[u64::from(stages), 1], space)).value();
        let all = Maker { copier, at: of.op }.checked(made)?;
        for number in 0..stages {
            let number = Maker { copier, at: of.op }.integer(number.into(), &Type::integer(32))?;
            let mbarrier = indexed(of.op, copier, all, number, &one)?;
            let count = i32::try_from(arrivals).unwrap_or(i32::MAX);
            let made = copier.to.op(tw::MBARRIER_INIT).operand(mbarrier).attribute("count", count).done();
            Maker { copier, at: of.op }.checked(made)?;
        }
        Ok(all)
    }

    /// Waits until all who read a buffer have said that it is free; so is one at first, in the phase before the first.
    pub(super) fn freed(
        &self,
        of: &Loop,
        (slot, phase): (Value, Value),
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(), Violation> {
        let Some((filled, free)) = self.filled.get(&of.op).and_then(|filled| Some((filled, filled.free?))) else {
            return Ok(());
        };
        let mbarrier = indexed(of.op, copier, free, slot, &filled.one)?;
        let mut maker = Maker { copier, at: of.op };
        let one = maker.integer(1, &Type::integer(32))?;
        let before = maker.binary(arith::XORI, phase, one)?;
        let made = copier.to.op(tw::MBARRIER_WAIT).operands("mbarrier", &[mbarrier]);
        let made = made.operands("phase", &[before]).done();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }

    /// Says, for each warp by itself, that it has read a buffer, where `acts` holds.
    pub(super) fn free(
        &self,
        of: &Loop,
        copier: &mut Copier<'_, '_, '_>,
        (slot, acts): (Value, Option<Value>),
    ) -> Result<(), Violation> {
        let Some((filled, free)) = self.filled.get(&of.op).and_then(|filled| Some((filled, filled.free?))) else {
            return Ok(());
        };
        let mbarrier = indexed(of.op, copier, free, slot, &filled.one)?;
        let acts: Vec<Value> = acts.into_iter().collect();
        let made = copier.to.op(tw::MBARRIER_ARRIVE).operands("mbarrier", &[mbarrier]).operands("acts", &acts);
        let made = made.attribute("count", 1).attribute(EVERY_WARP, Attribute::Unit).done();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }

    fn bytes_of(&self, copy: Op, copier: &Copier<'_, '_, '_>) -> u64 {
        let target = copier.from.ty(copier.from.op(copy).operands[1]);
        let elements: u64 = target.shape().unwrap_or_default().iter().product();
        elements * u64::from(target.element().element_bits().unwrap_or(8)) / 8
    }

    /// The descriptor of the memory that a copy reads.
    fn map(&self, at: Op, copy: Op, copier: &mut Copier<'_, '_, '_>) -> Result<Value, Violation> {
        let Some(mapped) = self.choices.boxes.get(&copy) else {
            return Err(super::violation(copier, copy, "nothing says which memory it copies boxes of"));
        };
        let target = copier.from.ty(copier.from.op(copy).operands[1]);
        let (shape, element) = (target.shape().unwrap_or_default().to_vec(), target.element().clone());
        let strides = mapped.strides.iter().map(|stride| match *stride {
            Distance::Number(number) => {
                Maker { copier, at }.integer(i64::try_from(number).unwrap_or(i64::MAX), &Type::integer(32))
            }
            Distance::Value(value) => Ok(copier.value(value)),
        });
        let strides: Vec<Value> = strides.collect::<Result<_, _>>()?;
        let base = copier.value(mapped.base);
        let ty = Type::Descriptor(Arc::new(Descriptor { shape, element, layout: None }));
        let made = copier.to.op(tw::MAPPED).operands("base", &[base]).operands("strides", &strides).result(ty).value();
        Maker { copier, at }.checked(made)
    }

    /// Says how many bytes a turn's boxes bring to a buffer.
    pub(super) fn expect(&self, of: &Loop, slot: Value, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let Some(filled) = self.filled.get(&of.op) else { return Ok(()) };
        let mbarrier = indexed(of.op, copier, filled.mbarriers, slot, &filled.one)?;
        let bytes = i32::try_from(filled.bytes).unwrap_or(i32::MAX);
        let made = copier.to.op(tw::MBARRIER_EXPECT).operands("mbarrier", &[mbarrier]);
        let made = made.attribute("bytes", bytes).done();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }

    /// Waits for the bytes of a turn's boxes.
    pub(super) fn arrived(
        &self,
        of: &Loop,
        (slot, phase): (Value, Value),
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(), Violation> {
        let Some(filled) = self.filled.get(&of.op) else { return Ok(()) };
        let mbarrier = indexed(of.op, copier, filled.mbarriers, slot, &filled.one)?;
        let made = copier.to.op(tw::MBARRIER_WAIT).operands("mbarrier", &[mbarrier]);
        let made = made.operands("phase", &[phase]).done();
        Maker { copier, at: of.op }.checked(made).map(drop)
    }

    /// Issues the box of a copy into the buffer that is meant.
    pub(super) fn fill_box(
        &mut self,
        of: &Loop,
        op: Op,
        slot: Value,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Result<(), Violation> {
        let (Some(filled), Some(mapped)) = (self.filled.get(&of.op), self.choices.boxes.get(&op)) else {
            return Err(super::violation(copier, op, "boxes are copied in loops with stages alone"));
        };
        let (mbarriers, one, map) = (filled.mbarriers, filled.one.clone(), filled.maps.get(&op).copied());
        let map = map.ok_or_else(|| super::violation(copier, op, "it has no map"))?;
        let mut indices = Vec::with_capacity(mapped.begins.len());
        for terms in &mapped.begins {
            indices.push(sum(op, copier, terms)?);
        }
        let mbarrier = indexed(op, copier, mbarriers, slot, &one)?;
        let buffer = self.buffer(copier.from.op(op).operands[1], op, copier)?;
        let made = copier.to.op(tw::LOAD_BOX).operands("desc", &[map]).operands("indices", &indices);
        let made = made.operands("dst", &[buffer]).operands("mbarrier", &[mbarrier]).done();
        let made = Maker { copier, at: op }.checked(made)?;
        self.made.copies.push((op, made));
        Ok(())
    }
}

/// So many mbarriers in shared memory.
fn mbarriers(shape: &[u64], space: &LayoutName) -> Type {
    let spec = FamilySpec::new("swizzled_shared").with("vec", 1).with("per_phase", 1).with("max_phase", 1);
    let spec = spec.with("order", [0i64]);
    let layout = LayoutName::new(spec, "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>");
    let space = space.clone();
    Type::Memory(Arc::new(Memory {
        shape: shape.to_vec(),
        element: Type::integer(64),
        layout,
        space,
        mutable: true,
        allocation: None,
    }))
}

fn indexed(at: Op, copier: &mut Copier<'_, '_, '_>, all: Value, number: Value, one: &Type) -> Result<Value, Violation> {
    let made = copier.to.op(ttg::MEMDESC_INDEX).operand(all).operand(number).result(one.clone()).value();
    Maker { copier, at }.checked(made)
}

/// Where a tile begins along an axis.
fn sum(at: Op, copier: &mut Copier<'_, '_, '_>, terms: &[Term]) -> Result<Value, Violation> {
    let ty = Type::integer(32);
    let mut all = None;
    for term in terms {
        let mut value = copier.value(term.value);
        let mut maker = Maker { copier, at };
        for (name, by) in [(arith::MULI, term.times), (arith::DIVSI, term.over)] {
            if by > 1 {
                let by = maker.integer(i64::try_from(by).unwrap_or(i64::MAX), &ty)?;
                value = maker.binary(name, value, by)?;
            }
        }
        all = Some(match all {
            Some(others) => maker.binary(arith::ADDI, others, value)?,
            None => value,
        });
    }
    match all {
        Some(all) => Ok(all),
        None => {
            let zero = copier.to.constant(Attribute::integer(0, ty));
            Maker { copier, at }.checked(zero)
        }
    }
}
