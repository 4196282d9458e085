//! Checks that two programs compute the same: they execute the same operations with side effects, in the same order, on
//! the same values, whatever the layouts.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use tilewright_tile::op_attrs::{
    CONTIGUOUS_ALONG_K, CONTIGUOUS_WARP_COLUMNS, DOT_COLUMNS_PER_LANE, FMA_DOT_LANES_ALONG_M, INSTRUCTION, K_WIDTH,
    SWAP_AB, WARP_COUNTS_M_N,
};
use tilewright_tile::{Attribute, FunctionBody, Op, Region, TileModule, Value};

/// Attributes that choose how a dot is lowered; they do not change the result, so the comparison ignores them.
const DOT_PLAN_ATTRS: [&str; 8] = [
    INSTRUCTION,
    CONTIGUOUS_ALONG_K,
    CONTIGUOUS_WARP_COLUMNS,
    K_WIDTH,
    DOT_COLUMNS_PER_LANE,
    WARP_COUNTS_M_N,
    SWAP_AB,
    FMA_DOT_LANES_ALONG_M,
];

/// Assigns numbers to the expressions of the two compared programs; equal expressions of both programs get the same
/// number.
#[derive(Default)]
struct Expressions {
    known: HashMap<String, usize>,
}

/// Checks that two programs have the same effects, apart from layout conversions and repeated computations.
pub fn same(before: &TileModule, after: &TileModule) -> Result<(), String> {
    let mut expressions = Expressions::default();
    for (one, other) in before.functions.iter().zip(&after.functions) {
        let (Some(one), Some(other)) = (&one.body, &other.body) else { continue };
        let (one, other) = (effects(one, &mut expressions), effects(other, &mut expressions));
        if let Some((one, other)) = one.iter().zip(&other).find(|(one, other)| one != other) {
            return Err(format!("{one} became {other}"));
        }
        if one.len() != other.len() {
            return Err(format!("{} operations with effects became {}", one.len(), other.len()));
        }
    }
    Ok(())
}

struct Walk<'a> {
    body: &'a FunctionBody,
    expressions: &'a mut Expressions,
    values: HashMap<Value, usize>,
    effects: Vec<String>,
}

fn effects(body: &FunctionBody, expressions: &mut Expressions) -> Vec<String> {
    let mut walk = Walk { body, expressions, values: HashMap::new(), effects: Vec::new() };
    walk.region(body.root(), "function");
    walk.effects
}

impl Walk<'_> {
    fn number(&mut self, key: String) -> usize {
        let next = self.expressions.known.len();
        *self.expressions.known.entry(key).or_insert(next)
    }

    fn region(&mut self, region: Region, around: &str) {
        for (index, block) in self.body.blocks(region).iter().enumerate() {
            for (number, argument) in self.body.arguments(*block).iter().enumerate() {
                let op_index = self.number(format!("argument {number} of {region:?}.{index} of {around}"));
                self.values.insert(*argument, op_index);
            }
        }
        for block in self.body.blocks(region) {
            for op in self.body.ops(*block) {
                self.op(*op);
            }
        }
    }

    fn op(&mut self, op: Op) {
        let operation = self.body.op(op);
        let operands: Vec<usize> = operation.operands.iter().map(|value| self.values[value]).collect();
        if operation.name() == ttg::CONVERT_LAYOUT {
            self.values.insert(operation.results[0], operands[0]);
            return;
        }
        let attributes = operation.attributes.iter().filter(|(name, _)| !DOT_PLAN_ATTRS.contains(name));
        let attributes: Vec<String> = attributes.map(|(name, value)| attribute_text(name, value)).collect();
        let types: Vec<String> =
            operation.results.iter().map(|value| self.body.value_type(*value).with_layout(None).to_string()).collect();
        let mut key = format!("{} {operands:?} {attributes:?} {types:?}", operation.name());
        let traits = operation.definition.traits;
        if !traits.pure || traits.terminator || !operation.regions.is_empty() {
            key = format!("{}: {key}", self.effects.len());
            self.effects.push(key.clone());
        }
        for (number, region) in operation.regions.iter().enumerate() {
            self.region(*region, &format!("{number} of {key}"));
        }
        for (number, result) in operation.results.iter().enumerate() {
            let op_index = self.number(format!("{number} of {key}"));
            self.values.insert(*result, op_index);
        }
    }
}

fn attribute_text(name: &str, value: &Attribute) -> String {
    match value {
        Attribute::Dense(dense) => format!("{name} = {:?} {}", dense.elements, dense.ty.with_layout(None)),
        other => format!("{name} = {other}"),
    }
}
