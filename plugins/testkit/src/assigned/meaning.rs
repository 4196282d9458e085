//! Two programs do the same: the same operations with effects one after the other, on the same values, whatever the layouts.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use tilewright_tile::marks::{EXCHANGED, INSTRUCTION, K_WIDTH, LANES_ALONG, N_WIDTH, WARPS_ALONG};
use tilewright_tile::{Attribute, Body, Op, Region, TileModule, Value};

/// By what, and shared out how, a product is carried out is no part of what it means.
const WAYS: [&str; 6] = [INSTRUCTION, K_WIDTH, N_WIDTH, WARPS_ALONG, EXCHANGED, LANES_ALONG];

/// What the operations with effects of a program do, in order; equal expressions have one number in both programs.
#[derive(Default)]
struct Expressions {
    known: HashMap<String, usize>,
}

/// Whether both do the same, conversions and repeated computations aside.
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
    body: &'a Body,
    expressions: &'a mut Expressions,
    values: HashMap<Value, usize>,
    effects: Vec<String>,
}

fn effects(body: &Body, expressions: &mut Expressions) -> Vec<String> {
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
        for (place, block) in self.body.blocks(region).iter().enumerate() {
            for (number, argument) in self.body.arguments(*block).iter().enumerate() {
                let own = self.number(format!("argument {number} of {region:?}.{place} of {around}"));
                self.values.insert(*argument, own);
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
        let attributes = operation.attributes.iter().filter(|(name, _)| !WAYS.contains(name));
        let attributes: Vec<String> = attributes.map(|(name, value)| said(name, value)).collect();
        let types: Vec<String> =
            operation.results.iter().map(|value| self.body.ty(*value).with_layout(None).to_string()).collect();
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
            let own = self.number(format!("{number} of {key}"));
            self.values.insert(*result, own);
        }
    }
}

fn said(name: &str, value: &Attribute) -> String {
    match value {
        Attribute::Dense(dense) => format!("{name} = {:?} {}", dense.elements, dense.ty.with_layout(None)),
        other => format!("{name} = {other}"),
    }
}
