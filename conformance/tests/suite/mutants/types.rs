//! Random changes of sizes and element types: everywhere, so that the program often stays valid, or of one value.

use std::sync::Arc;

use tilewright_tile::{
    Attribute, Attributes, DenseElements, FloatType, Function, FunctionBody, MemDescType, NumberAttribute,
    TensorDescriptorType, TileModule,
};
use tilewright_tile::{FunctionType, PointerType, TensorType, TileType, Value};

use super::random::Random;

const SIZES: [u64; 15] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 0, 3, 1 << 20];

/// Replaces a size everywhere, also in integer attributes that repeat it.
pub fn size_everywhere(module: &mut TileModule, random: &mut Random) {
    let mut sizes: Vec<u64> = Vec::new();
    values(module).for_each(|ty| sizes.extend(ty.shape().unwrap_or_default()));
    sizes.sort_unstable();
    sizes.dedup();
    let (Some(&old), Some(&new)) = (random.of(&sizes), random.of(&SIZES)) else { return };
    let size = move |size: u64| if size == old { new } else { size };
    let change = Change { size: &size, element: &|element| element.clone() };
    change.module(module);
    every_attribute(module, &mut |name, attribute| {
        if matches!(name, "end" | "start" | "tt.divisibility" | "allocation.offset") {
            let Attribute::Number(NumberAttribute { bits, .. }) = attribute else { return };
            *bits = size(*bits);
        }
    });
}

/// Replaces an element type everywhere.
pub fn element_everywhere(module: &mut TileModule, random: &mut Random) {
    let mut elements: Vec<TileType> = Vec::new();
    for ty in values(module) {
        let element = ty.pointee_type().map_or_else(|| ty.element().clone(), |pointee| pointee.element().clone());
        if matches!(element, TileType::Integer(..) | TileType::Float(_) | TileType::Index)
            && !elements.contains(&element)
        {
            elements.push(element);
        }
    }
    let (Some(old), new) = (random.of(&elements).cloned(), element(random)) else { return };
    let element = move |element: &TileType| if *element == old { new.clone() } else { element.clone() };
    Change { size: &|size| size, element: &element }.module(module);
}

/// Changes the type of one value.
pub fn one_type(body: &mut FunctionBody, value: Value, random: &mut Random) {
    let ty = body.value_type(value).clone();
    let new = match (random.below(3), ty.shape()) {
        (0, _) => {
            let new = element(random);
            let element = |element: &TileType| match element {
                TileType::Pointer(_) => element.clone(),
                _ => new.clone(),
            };
            Change { size: &|size| size, element: &element }.ty(&ty)
        }
        (_, Some(shape)) => {
            let (axis, mut shape) = (random.below(shape.len()), shape.to_vec());
            let size = SIZES[random.below(SIZES.len())];
            match random.below(4) {
                0 => shape.insert(axis, size),
                1 if !shape.is_empty() => drop(shape.remove(axis)),
                _ => shape.iter_mut().skip(axis).take(1).for_each(|old| *old = size),
            }
            with_shape(&ty, shape)
        }
        _ => TileType::tensor([SIZES[random.below(8)]], ty, None),
    };
    body.set_type(value, new);
}

fn element(random: &mut Random) -> TileType {
    const FLOATS: [FloatType; 13] = [
        FloatType::F16,
        FloatType::Bf16,
        FloatType::Tf32,
        FloatType::F32,
        FloatType::F64,
        FloatType::F8E4M3Fn,
        FloatType::F8E5M2,
        FloatType::F8E4M3Fnuz,
        FloatType::F8E5M2Fnuz,
        FloatType::F8E8M0Fnu,
        FloatType::F6E2M3Fn,
        FloatType::F6E3M2Fn,
        FloatType::F4E2M1Fn,
    ];
    const WIDTHS: [u32; 9] = [1, 8, 16, 32, 64, 4, 2, 128, 0];
    match random.below(6) {
        0 => TileType::Float(FLOATS[random.below(FLOATS.len())]),
        1 | 2 => TileType::Float(FLOATS[random.below(7)]),
        3 => TileType::integer(WIDTHS[random.below(WIDTHS.len())]),
        _ => TileType::integer(WIDTHS[random.below(5)]),
    }
}

fn with_shape(ty: &TileType, shape: Vec<u64>) -> TileType {
    match ty {
        TileType::Tensor(tensor) => TileType::Tensor(Arc::new(TensorType { shape, ..(**tensor).clone() })),
        TileType::Memory(memory) => TileType::Memory(Arc::new(MemDescType { shape, ..(**memory).clone() })),
        TileType::Descriptor(descriptor) => {
            TileType::Descriptor(Arc::new(TensorDescriptorType { shape, ..(**descriptor).clone() }))
        }
        other => other.clone(),
    }
}

/// The changes of types: sizes and element types, with their replacements.
struct Change<'a> {
    size: &'a dyn Fn(u64) -> u64,
    element: &'a dyn Fn(&TileType) -> TileType,
}

impl Change<'_> {
    fn module(&self, module: &mut TileModule) {
        for function in &mut module.functions {
            function.signature = self.signature(&function.signature);
            if let Some(body) = &mut function.body {
                all_values(body).into_iter().for_each(|value| body.set_type(value, self.ty(body.value_type(value))));
            }
        }
        every_attribute(module, &mut |_, attribute| match attribute {
            Attribute::Type(ty) => *ty = self.ty(ty),
            Attribute::Dense(dense) => *dense = self.dense(dense),
            Attribute::Number(number) if !number.ty.eq(&TileType::integer(32)) => {
                let kept = NumberAttribute { ty: self.ty(&number.ty), bits: number.bits };
                *attribute = cut(&kept);
            }
            _ => {}
        });
    }

    fn dense(&self, dense: &DenseElements) -> DenseElements {
        let ty = self.ty(&dense.ty);
        let elements = dense.elements.iter().map(|bits| cut_bits(*bits, ty.element())).collect();
        DenseElements { ty, elements }
    }

    fn signature(&self, signature: &FunctionType) -> FunctionType {
        let all = |types: &[TileType]| types.iter().map(|ty| self.ty(ty)).collect();
        FunctionType { arguments: all(&signature.arguments), results: all(&signature.results) }
    }

    fn ty(&self, ty: &TileType) -> TileType {
        let shape = |shape: &[u64]| shape.iter().map(|size| (self.size)(*size)).collect();
        match ty {
            TileType::Pointer(pointer) => {
                TileType::Pointer(Arc::new(PointerType { pointee: self.ty(&pointer.pointee), ..**pointer }))
            }
            TileType::Tensor(tensor) => TileType::Tensor(Arc::new(TensorType {
                shape: shape(&tensor.shape),
                element: self.ty(&tensor.element),
                layout: tensor.layout.clone(),
            })),
            TileType::Memory(memory) => TileType::Memory(Arc::new(MemDescType {
                shape: shape(&memory.shape),
                element: self.ty(&memory.element),
                allocation: memory.allocation.as_deref().map(shape),
                ..(**memory).clone()
            })),
            TileType::Descriptor(descriptor) => TileType::Descriptor(Arc::new(TensorDescriptorType {
                shape: shape(&descriptor.shape),
                element: self.ty(&descriptor.element),
                ..(**descriptor).clone()
            })),
            TileType::Function(signature) => TileType::Function(Arc::new(self.signature(signature))),
            other => (self.element)(other),
        }
    }
}

fn cut(number: &NumberAttribute) -> Attribute {
    Attribute::Number(NumberAttribute { bits: cut_bits(number.bits, &number.ty), ty: number.ty.clone() })
}

/// Removes the bits beyond the width of a type.
pub fn cut_bits(bits: u64, ty: &TileType) -> u64 {
    let width = match ty {
        TileType::Integer(width, _) => *width,
        TileType::Float(float) => float.bits(),
        _ => 64,
    };
    if width < 64 { bits & ((1 << width) - 1) } else { bits }
}

/// Every value of a body, including block arguments.
pub fn all_values(body: &FunctionBody) -> Vec<Value> {
    let mut found = Vec::new();
    let mut regions = vec![body.root()];
    while let Some(region) = regions.pop() {
        for block in body.blocks(region) {
            found.extend(body.arguments(*block));
            for op in body.ops(*block) {
                found.extend(&body.op(*op).results);
                regions.extend(&body.op(*op).regions);
            }
        }
    }
    found
}

fn values(module: &TileModule) -> impl Iterator<Item = &TileType> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.flat_map(|body| all_values(body).into_iter().map(|value| body.value_type(value)))
}

/// Visits every attribute with its name, including nested ones.
pub fn every_attribute(module: &mut TileModule, seen: &mut dyn FnMut(&str, &mut Attribute)) {
    every(&mut module.attributes, seen);
    for Function { attributes, arguments, results, body, .. } in &mut module.functions {
        every(attributes, seen);
        arguments.iter_mut().chain(results).for_each(|attributes| every(attributes, seen));
        let Some(body) = body else { continue };
        for op in body.walk_region(body.root()) {
            every(&mut body.op_mut(op).attributes, seen);
        }
    }
}

fn every(attributes: &mut Attributes, seen: &mut dyn FnMut(&str, &mut Attribute)) {
    let named: Vec<(String, Attribute)> =
        attributes.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    for (name, mut value) in named {
        match &mut value {
            Attribute::Dictionary(inner) => every(inner, seen),
            Attribute::List(list) => list.iter_mut().for_each(|value| seen(&name, value)),
            _ => {}
        }
        seen(&name, &mut value);
        attributes.set(&name, value);
    }
}
