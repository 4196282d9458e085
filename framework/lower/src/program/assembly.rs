//! Lowers inline assembly: of elements (`tt.elementwise_inline_asm`), and of all that a lane has of the operands
//! (`ttg.inline_asm`).

use smallvec::SmallVec;

use tilewright_kernel::{Cast, Element, Op as KernelOp, Type, Value};
use tilewright_layout::Dim;
use tilewright_tile::rules::SHARED_MEMORY;
use tilewright_tile::{self as tile, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers};
use super::lowering::Lowering;
use super::shared::{placed_at, slice};
use super::types::carrier;
use crate::shared_memory::Access;

/// Lowers inline assembly, `packed_element` elements at a time; narrow elements are packed in 32-bit words.
pub(super) fn assembly(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let text = lowering.keyword(op, "asm_string").unwrap_or_default().to_owned();
    let constraints = lowering.keyword(op, "constraints").unwrap_or_default().to_owned();
    let pack = lowering.integer_attribute(op, "packed_element")?.max(1) as usize;
    let shaped = operation
        .results
        .iter()
        .chain(&operation.operands)
        .find(|&&value| body.value_type(value).as_tensor().is_some());
    let layout = shaped.map(|&value| lowering.layout_of(value)).transpose()?;
    let registers = layout.as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
    let mut operands = Vec::new();
    for &value in &operation.operands {
        operands.push(match &layout {
            Some(layout) => lowering.registers_in(value, layout)?,
            None => vec![lowering.scalar(value)?].into(),
        });
    }
    let types = operation.results.iter().map(|&value| carrier(body.value_type(value).element()));
    let types: Vec<Type> = types.collect::<Lowered<_>>()?;
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); types.len()];
    for first in (0..registers).step_by(pack) {
        let mut words = Vec::new();
        for operand in &operands {
            // If a lane holds fewer elements than one execution of the assembly takes, its last element is repeated.
            let taken: Vec<Value> =
                (first..first + pack).map(|register| operand[register.min(registers - 1)]).collect();
            words.extend(packed(lowering, &taken));
        }
        let of_words: SmallVec<[Type; 4]> = types.iter().flat_map(|&ty| word_types(ty, pack)).collect();
        let given = lowering.builder.values(
            &of_words,
            KernelOp::Assembly { text: text.clone(), constraints: constraints.clone(), operands: words },
        );
        let mut given = given.into_iter();
        for (all, &ty) in results.iter_mut().zip(&types) {
            let own: Vec<Value> = given.by_ref().take(word_types(ty, pack).len()).collect();
            let elements = unpacked(lowering, &own, ty);
            all.extend(elements.into_iter().take(pack.min(registers - first)));
        }
    }
    for (&result, values) in operation.results.iter().zip(results) {
        match &layout {
            Some(layout) => lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout.clone(), values))),
            None => lowering.set_lowered(result, LoweredValue::Scalar(values[0])),
        }
    }
    Ok(())
}

/// Lowers inline assembly that each lane executes once. Its operands and results are all registers of each tensor in
/// the order of its layout, scalars, and the 32-bit addresses of tensors in shared memory.
pub(super) fn lane_assembly(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let text = lowering.keyword(op, "asm_string").unwrap_or_default().to_owned();
    let constraints = lowering.keyword(op, "constraints").unwrap_or_default().to_owned();
    let mut operands = Vec::new();
    for &value in &operation.operands {
        if body.value_type(value).as_memory().is_some() {
            operands.push(shared_address(lowering, value)?);
        } else if body.value_type(value).as_tensor().is_some() {
            let layout = lowering.layout_of(value)?;
            operands.extend(lowering.registers_in(value, &layout)?.iter());
        } else {
            operands.push(lowering.scalar(value)?);
        }
    }
    let (mut types, mut layouts) = (SmallVec::<[Type; 4]>::new(), Vec::new());
    for &result in &operation.results {
        let ty = carrier(body.value_type(result).element())?;
        let layout = body.value_type(result).as_tensor().map(|_| lowering.layout_of(result)).transpose()?;
        let registers = layout.as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
        types.extend(std::iter::repeat_n(ty, registers));
        layouts.push((result, layout, registers));
    }
    let given = lowering.builder.values(&types, KernelOp::Assembly { text, constraints, operands });
    let mut given = given.into_iter();
    for (result, layout, registers) in layouts {
        let values: Vec<Value> = given.by_ref().take(registers).collect();
        match layout {
            Some(layout) => lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout, values))),
            None => lowering.set_assumed_uniform(result, values[0]),
        }
    }
    Ok(())
}

/// Returns the address of a tensor in shared memory as a 32-bit number. The assembly may read and write the tensor.
fn shared_address(lowering: &mut Lowering<'_>, value: tile::Value) -> Lowered<Value> {
    let memory = lowering.body.value_type(value).as_memory();
    if memory.is_none_or(|memory| memory.space.spec().name != SHARED_MEMORY) {
        return Err(LowerErrorReason::unsupported("inline assembly of a tensor in memory other than shared memory"));
    }
    let pointer = placed_at(lowering, value)?;
    let slice = slice(lowering, value)?;
    for access in [Access::Load, Access::Store] {
        lowering.record_access(access, vec![slice.clone()]);
    }
    Ok(lowering.builder.cast(Cast::Bits, pointer, Type::Scalar(Element::I32)))
}

/// Returns the number of elements of a type that are packed in one 32-bit word, if one execution of the assembly takes
/// `pack` elements.
fn together(ty: Type, pack: usize) -> usize {
    match ty {
        Type::Scalar(Element::I1) | Type::Pointer(_) => 1,
        _ => (32 / ty.bits() as usize).clamp(1, pack),
    }
}

fn word_types(ty: Type, pack: usize) -> Vec<Type> {
    let together = together(ty, pack);
    let word = if together == 1 {
        ty
    } else {
        Type::Scalar(Element::integer_of_width(ty.bits() * together as u32).unwrap_or(Element::I32))
    };
    vec![word; pack.div_ceil(together)]
}

fn packed(lowering: &mut Lowering<'_>, values: &[Value]) -> Vec<Value> {
    let Some(&first) = values.first() else { return Vec::new() };
    let ty = lowering.builder.type_of(first);
    let together = together(ty, values.len());
    if together == 1 {
        return values.to_vec();
    }
    let word = word_types(ty, values.len())[0];
    values
        .chunks(together)
        .map(|group| {
            let vector = lowering.builder.pack(group);
            lowering.builder.cast(Cast::Bits, vector, word)
        })
        .collect()
}

fn unpacked(lowering: &mut Lowering<'_>, words: &[Value], ty: Type) -> Vec<Value> {
    let mut elements = Vec::new();
    for &word in words {
        let have = lowering.builder.type_of(word);
        let (count, Some(element)) = (have.bits() / ty.bits().max(1), ty.element()) else {
            elements.push(word);
            continue;
        };
        if count <= 1 {
            elements.push(word);
            continue;
        }
        let vector = lowering.builder.cast(Cast::Bits, word, Type::Vector(element, count));
        elements.extend((0..count).map(|index| lowering.builder.extract(vector, index)).collect::<Vec<_>>());
    }
    elements
}
