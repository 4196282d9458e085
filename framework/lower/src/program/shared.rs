//! Tensors in shared memory.
//!
//! What one thread stores another may load: where accesses begin is said, and [`crate::shared_memory`] lets the block meet where
//! one must come after another.

use std::sync::Arc;
use tilewright_tile::op::name::{arith, ttg};

use smallvec::SmallVec;

use crate::shared_memory::{Access, Part};
use tilewright_kernel::{Binary, Type, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{access_shared, product};
use tilewright_target::Direction;
use tilewright_tile::marks::{APART, IN_PLACE};
use tilewright_tile::{self as tile, Attribute, Op};

use super::error::{Lowered, Reason};
use super::lowered::{LoweredValue, Registers, Slab};
use super::lowering::Lowering;
use super::memory::{from_memory, to_memory};
use super::places::{coordinates, idle_registers, mapped, thread_columns};
use super::types::{carrier, stored};

/// Alignment of an allocation whose layout asks for none, in bytes.
const ALIGNMENT: u32 = 16;

pub(super) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    match lowering.body.op(op).name() {
        ttg::LOCAL_ALLOC => allocated(lowering, op),
        ttg::LOCAL_LOAD => load(lowering, op),
        ttg::LOCAL_STORE => {
            let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
            let tensor = lowering.tensor(source)?;
            let apart = lowering.attribute(op, APART).is_some();
            store(lowering, &tensor, memory, if apart { Access::Apart } else { Access::Store })
        }
        ttg::LOCAL_DEALLOC => Ok(()),
        ttg::MEMDESC_INDEX => indexed(lowering, op),
        ttg::MEMDESC_SUBSLICE => part(lowering, op),
        _ => viewed(lowering, op),
    }
}

/// A tensor in memory of the block, and its layout.
pub(super) struct Placed {
    slab: Slab,
    memory: MemoryLayout,
    /// The shape that the layout is of.
    pub shape: Vec<u64>,
    /// How an element is stored, and its bytes.
    pub element: Type,
    bytes: u64,
}

impl Placed {
    /// Bytes of one tensor of the allocation.
    fn size(&self) -> u64 {
        self.memory.allocated_elements() * self.bytes
    }
}

/// What the type of a tensor in memory says of where it lies.
pub(super) struct Lies {
    pub memory: MemoryLayout,
    /// The shape that the layout is of.
    pub shape: Vec<u64>,
    /// How many such tensors there are.
    pub copies: u64,
    /// How an element is stored.
    pub element: Type,
}

pub(super) fn layout_of(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Lies> {
    let ty = lowering.body.ty(value);
    let place = lowering.layouts.memory(ty)?;
    let memory = match place.layout {
        Layout::Memory(memory) => memory,
        // Products are done at once, with their sums in registers: between them the tensor lies in shared memory. Rows
        // of tensor memory belong to lanes, and so follow each other there.
        Layout::TensorMemory(_) => MemoryLayout::linear(rows_first(&place.shape)?),
        Layout::Distributed(_) => return Err(Reason::malformed(format!("`{ty}` is in no memory"))),
    };
    let element = stored(carrier(ty.element())?);
    Ok(Lies { memory, shape: place.shape, copies: place.copies.iter().product::<u64>().max(1), element })
}

/// Memory in which elements follow each other along the first axis.
fn rows_first(shape: &[u64]) -> Lowered<LinearLayout> {
    let bits: Vec<(usize, u64)> = shape.iter().copied().enumerate().collect();
    let mut layout = LinearLayout::empty();
    for (axis, size) in bits {
        layout = layout.direct_sum(&LinearLayout::identity(size, Dim::OFFSET, Dim::tensor(axis))?)?;
    }
    Ok(layout)
}

/// The address of a tensor that is all that its layout is of.
pub(super) fn placed_at(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Value> {
    Ok(placed(lowering, value)?.slab.pointer)
}

pub(super) fn placed(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Placed> {
    let LoweredValue::Memory(slab) = lowering.lowered(value)?.clone() else {
        return Err(Reason::malformed("a tensor in memory is expected"));
    };
    let Lies { memory, shape, element, .. } = layout_of(lowering, value)?;
    Ok(Placed { slab, memory, shape, element, bytes: u64::from(element.bits() / 8) })
}

fn allocated(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    let Lies { memory, copies, element, .. } = layout_of(lowering, result)?;
    let bytes = u64::from(element.bits() / 8);
    let all = memory.allocated_elements() * bytes * copies;
    let all = u32::try_from(all).map_err(|_| Reason::unsupported(format!("{all} bytes of shared memory")))?;
    let requested = lowering.number(op, "alignment").ok().and_then(|bytes| u32::try_from(bytes).ok());
    let alignment = requested.or(memory.alignment).unwrap_or(ALIGNMENT).max(ALIGNMENT);
    let pointer = lowering.builder.shared_buffer(all, alignment);
    lowering.annotations.allocations.push(pointer);
    let number = lowering.builder.buffers() - 1;
    lowering.buffers.insert(result, number);
    lowering.hold(result, LoweredValue::Memory(Slab { pointer, at: SmallVec::new(), part: None }));
    match lowering.optional(op, "src") {
        Some(source) => {
            let tensor = lowering.tensor(source)?;
            store(lowering, &tensor, result, Access::Store)
        }
        None => Ok(()),
    }
}

fn store(lowering: &mut Lowering<'_>, tensor: &Registers, memory: tile::Value, access: Access) -> Lowered<()> {
    stored_to(lowering, tensor, memory, access)?;
    lowering.shows_to_units();
    Ok(())
}

fn stored_to(lowering: &mut Lowering<'_>, tensor: &Registers, memory: tile::Value, access: Access) -> Lowered<()> {
    let placed = placed(lowering, memory)?;
    lowering.accesses_part(access, placed.slab.part);
    if placed.is_whole(&tensor.layout) {
        let access = access_shared(
            &tensor.layout,
            &placed.memory,
            placed.element.bits(),
            Direction::Store,
            lowering.machine.context,
        )?;
        let words: Vec<Value> = tensor.values.iter().map(|&value| lowering.as_word(value)).collect();
        access.emit_store(&mut lowering.builder, placed.slab.pointer, &words);
    } else {
        let pointers = placed.pointers(lowering, &tensor.layout, None)?;
        let active = lowering.active(&tensor.layout);
        let idle = idle_registers(&tensor.layout) as usize;
        for (register, pointer) in pointers.into_iter().enumerate().filter(|(register, _)| register & idle == 0) {
            let word = to_memory(&mut lowering.builder, tensor.values[register]);
            lowering.builder.store(pointer, 0, word, active);
        }
    }
    Ok(())
}

/// Where a tensor begins, and the layout of all of it.
pub(super) fn whole(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<(Whole, LinearLayout)> {
    let placed = placed(lowering, value)?;
    if placed.slab.at.iter().any(|&at| at != 0) || !placed.memory.padding.is_empty() {
        return Err(Reason::unsupported("a product that reads a part of a tensor where it lies"));
    }
    Ok((Whole { address: placed.slab.pointer, part: placed.slab.part }, placed.memory.linear))
}

/// A tensor that a unit reads where it lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    /// Where it begins.
    pub address: Value,
    /// Which tensor of an allocation it is.
    pub part: Option<Part>,
}

fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    if lowering.attribute(op, IN_PLACE).is_some() {
        // The product reads it from there.
        return Ok(());
    }
    let placed = placed(lowering, lowering.operand(op, 0)?)?;
    let layout = lowering.result_layout(op)?;
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    lowering.accesses_part(Access::Load, placed.slab.part);
    let values: Vec<Value> = if placed.is_whole(&layout) {
        let access =
            access_shared(&layout, &placed.memory, placed.element.bits(), Direction::Load, lowering.machine.context)?;
        let words = access.emit_load(&mut lowering.builder, placed.slab.pointer);
        words.into_iter().map(|word| lowering.typed_word(word, ty)).collect()
    } else {
        let pointers = placed.pointers(lowering, &layout, None)?;
        let element = placed.element;
        let of = |pointer| {
            let word = lowering.builder.load(element, pointer, 0, None);
            from_memory(&mut lowering.builder, word, ty)
        };
        pointers.into_iter().map(of).collect()
    };
    lowering.give_tensor(op, layout, values)
}

impl Placed {
    /// Whether the tensor is all that the layout is of.
    fn is_whole(&self, layout: &LinearLayout) -> bool {
        self.slab.at.iter().all(|&at| at == 0) && layout.outs().bits() == self.memory.linear.outs().bits()
    }

    /// Where each register's element is, for a part of what the layout is of: that part's first coordinates and the
    /// element's own have no bits in common, so that their offsets add over F2. Along an axis the elements may be at other indices
    /// than the layout's, one for each register.
    pub(super) fn pointers(
        &self,
        lowering: &mut Lowering<'_>,
        layout: &LinearLayout,
        indices: Option<(usize, &[Value])>,
    ) -> Lowered<Vec<Value>> {
        let indexed = indices.map(|(axis, _)| axis);
        let within = mapped(layout, &self.shape, |place| {
            place.iter().enumerate().map(|(axis, &at)| if indexed == Some(axis) { 0 } else { at }).collect()
        })?;
        let places = self.memory.linear.invert()?;
        let offset = |packed: u64| -> u64 {
            let of_memory = self.memory.linear.outs();
            let named: Vec<(Dim, u64)> = coordinates(&within, packed)
                .into_iter()
                .enumerate()
                .map(|(axis, at)| (Dim::tensor(axis), at))
                .collect();
            let packed = of_memory.pack(&named).unwrap_or(0);
            places.outs().coordinate(places.apply_packed(packed), Dim::OFFSET)
        };
        let first: Vec<(Dim, u64)> =
            self.slab.at.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
        let first = self.memory.linear.outs().pack(&first)?;
        let first = places.outs().coordinate(places.apply_packed(first), Dim::OFFSET);
        let columns = thread_columns(&within, offset);
        let thread = lowering.thread();
        let own = thread.product(&mut lowering.builder, &columns);
        let registers: Vec<u64> = within.columns_of(Dim::REGISTER).iter().map(|&column| offset(column)).collect();
        let along: Vec<u64> = match indexed {
            Some(axis) => (0..self.memory.linear.outs().bits_of(Dim::tensor(axis)))
                .map(|bit| self.memory.linear.outs().pack(&[(Dim::tensor(axis), 1 << bit)]))
                .map(|packed| Ok(places.outs().coordinate(places.apply_packed(packed?), Dim::OFFSET)))
                .collect::<Lowered<_>>()?,
            None => Vec::new(),
        };
        let mut pointers = Vec::new();
        for register in 0..1u64 << registers.len() {
            let part = f2::multiply(&registers, register) ^ first;
            let builder = &mut lowering.builder;
            let mut linear = builder.binary_const(Binary::Xor, own, part as u32);
            if let Some((_, indices)) = indices {
                let moved = product(builder, indices[register as usize], &along);
                linear = builder.binary(Binary::Xor, linear, moved);
            }
            let mut physical = linear;
            for padding in &self.memory.padding {
                let intervals = builder.binary_const(Binary::ShrU, linear, padding.interval.trailing_zeros());
                let left_out = builder.binary_const(Binary::Mul, intervals, padding.padding as u32);
                physical = builder.binary(Binary::Add, physical, left_out);
            }
            let bytes = builder.binary_const(Binary::Mul, physical, self.bytes as u32);
            pointers.push(builder.advance(self.slab.pointer, bytes));
        }
        Ok(pointers)
    }
}

/// One of the tensors of an allocation, by its number.
fn indexed(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let placed = placed(lowering, lowering.operand(op, 0)?)?;
    let number = lowering.scalar(lowering.operand(op, 1)?)?;
    let bytes = lowering.builder.binary_const(Binary::Mul, number, placed.size() as u32);
    let pointer = lowering.builder.advance(placed.slab.pointer, bytes);
    let part = Some(number_of(lowering, lowering.operand(op, 1)?));
    lowering.give(op, LoweredValue::Memory(Slab { pointer, at: SmallVec::new(), part }))
}

/// Which tensor of an allocation a value says: its number is another's but for the bits of a constant.
fn number_of(lowering: &Lowering<'_>, value: tile::Value) -> Part {
    let body = lowering.body;
    if let tile::ValueOrigin::Result(op, _) = body.origin(value)
        && body.op(op).name() == arith::XORI
        && let [number, bits] = body.op(op).operands[..]
        && let Some(bits) = body.constant_integer(bits)
    {
        return Part { number: number.index() as u32, flipped: bits as u64 };
    }
    Part { number: value.index() as u32, flipped: 0 }
}

/// A part of a tensor, from the coordinates on that an attribute says.
fn part(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let LoweredValue::Memory(slab) = lowering.lowered(source)?.clone() else {
        return Err(Reason::malformed("a tensor in memory is expected"));
    };
    let offsets: Vec<u64> = match lowering.attribute(op, "offsets") {
        Some(Attribute::Array(_, offsets)) => offsets.clone(),
        Some(Attribute::List(offsets)) => {
            offsets.iter().filter_map(Attribute::as_integer).map(|offset| offset as u64).collect()
        }
        _ => return Err(Reason::malformed("it has no offsets")),
    };
    let Lies { shape, copies, .. } = layout_of(lowering, source)?;
    let own = &offsets[offsets.len().saturating_sub(shape.len())..];
    if copies > 1 && offsets[..offsets.len() - own.len()].iter().any(|&offset| offset != 0) {
        return Err(Reason::unsupported("a part of several tensors of an allocation"));
    }
    let before = slab.at.iter().copied().chain(std::iter::repeat(0));
    let at = own.iter().zip(before).map(|(&offset, before)| offset + before).collect();
    lowering.give(op, LoweredValue::Memory(Slab { pointer: slab.pointer, at, part: slab.part }))
}

/// The same memory as a tensor of another shape: where its elements are, its type says.
fn viewed(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let LoweredValue::Memory(slab) = lowering.lowered(lowering.operand(op, 0)?)?.clone() else {
        return Err(Reason::malformed("a tensor in memory is expected"));
    };
    if slab.at.iter().any(|&at| at != 0) {
        return Err(Reason::unsupported("another view of a part of a tensor"));
    }
    lowering.give(op, LoweredValue::Memory(slab))
}

/// A copy from global memory by way of registers. What a mask leaves out is `other`, or zero.
pub(super) fn load_and_store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let memory = lowering.operand(op, 1)?;
    let layout: Arc<LinearLayout> = lowering.layout_of(source)?;
    let element = lowering.body.ty(memory).element().clone();
    let ty = carrier(&element)?;
    let tensor = super::memory::loaded(lowering, op, source, (layout, ty))?;
    store(lowering, &tensor, memory, Access::Store)
}
