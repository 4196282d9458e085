//! Operands of one instruction as places: what rows ask for.

use std::collections::HashMap;

use tilewright_target::nearest;

use super::scope::{Entity, Labels, Scope};
use super::types::{Class, Type, mask};
use super::{Addresses, Special};
use crate::machine::{Address, Place, PtxSpace};
use crate::number::Rounding;
use crate::text::{Instruction, Operand};

/// What a kernel's registers hold from the beginning on, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) registers: u32,
    pub(super) constants: HashMap<u64, u32>,
    pub(super) specials: HashMap<Special, u32>,
    /// Those that may hold anything.
    pub(super) undefined: Vec<u32>,
    /// What sums carry.
    carry: Option<u32>,
}

impl Held {
    pub(super) fn constant(&mut self, value: u64) -> u32 {
        *self.constants.entry(value).or_insert_with(|| {
            self.registers += 1;
            self.registers - 1
        })
    }

    fn special(&mut self, special: Special) -> u32 {
        *self.specials.entry(special).or_insert_with(|| {
            self.registers += 1;
            self.registers - 1
        })
    }
}

/// The operands of one instruction.
pub(crate) struct Operands<'a> {
    pub(super) instruction: &'a Instruction,
    pub(super) scope: &'a Scope,
    pub(super) labels: &'a Labels,
    /// The block that the instruction stands in.
    pub(super) block: usize,
    pub(super) addresses: &'a Addresses,
    pub(super) held: &'a mut Held,
}

impl Operands<'_> {
    pub(crate) fn count(&self) -> usize {
        self.instruction.operands.len()
    }

    /// Whether there are so many operands.
    pub(crate) fn expect(&self, counts: std::ops::RangeInclusive<usize>) -> Result<(), String> {
        if counts.contains(&self.count()) {
            return Ok(());
        }
        let (least, most) = (counts.start(), counts.end());
        let required = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Err(format!("`{}` takes {required} operands, {} are given", self.instruction.opcode, self.count()))
    }

    fn operand(&self, number: usize) -> Result<&Operand, String> {
        let missing = || format!("`{}` lacks operand {}", self.instruction.opcode, number + 1);
        self.instruction.operands.get(number).ok_or_else(missing)
    }

    fn wrong(&self, number: usize, expected: &str) -> String {
        format!("`{}`: operand {} is no {expected}", self.instruction.opcode, number + 1)
    }

    fn register(&self, name: &str) -> Result<(u32, u32), String> {
        match self.scope.find(name) {
            Some(Entity::Register { number, bits }) => Ok((number, bits)),
            Some(Entity::Memory { .. }) => Err(format!("`{name}` is a variable; expected a register")),
            None => {
                let near = nearest(name, self.scope.names()).map(|near| format!("; `{near}` is")).unwrap_or_default();
                Err(format!("the register `{name}` is not declared{near}"))
            }
        }
    }

    fn place_of(&self, operand: &Operand) -> Option<Result<Option<Place>, String>> {
        let Operand::Name(name) = operand else { return None };
        if name == "_" {
            return Some(Ok(None));
        }
        Some(self.register(name).map(|(register, bits)| Some(Place { register, mask: mask(bits) })))
    }

    /// The register that is written; none for `_`.
    pub(crate) fn place(&self, number: usize) -> Result<Option<Place>, String> {
        self.place_of(self.operand(number)?).unwrap_or_else(|| Err(self.wrong(number, "register")))
    }

    /// One or two results: `a|b`.
    pub(crate) fn places_of_pair(&self, number: usize) -> Result<[Option<Place>; 2], String> {
        let Operand::Pair(first, second) = self.operand(number)? else { return Ok([self.place(number)?, None]) };
        let place = |operand| self.place_of(operand).unwrap_or_else(|| Err(self.wrong(number, "pair of registers")));
        Ok([place(first)?, place(second)?])
    }

    /// The registers of a group that are written, or of one operand.
    pub(crate) fn places(&self, number: usize) -> Result<Vec<Option<Place>>, String> {
        let Operand::Group(all) = self.operand(number)? else { return Ok(vec![self.place(number)?]) };
        let place = |operand| self.place_of(operand).unwrap_or_else(|| Err(self.wrong(number, "group of registers")));
        all.iter().map(place).collect()
    }

    /// Whether an operand is a group.
    pub(crate) fn is_group(&self, number: usize) -> bool {
        matches!(self.instruction.operands.get(number), Some(Operand::Group(_)))
    }

    /// The register that holds an operand, which may be a constant.
    pub(crate) fn source(&mut self, number: usize, ty: Type) -> Result<u32, String> {
        let operand = self.operand(number)?.clone();
        self.source_of(&operand, ty).unwrap_or_else(|| Err(self.wrong(number, "register or constant")))
    }

    /// The registers that hold the operands of a group, or one operand.
    pub(crate) fn sources(&mut self, number: usize, ty: Type) -> Result<Vec<u32>, String> {
        let Operand::Group(all) = self.operand(number)?.clone() else { return Ok(vec![self.source(number, ty)?]) };
        let source =
            |operand| self.source_of(operand, ty).unwrap_or_else(|| Err(self.wrong(number, "group of registers")));
        all.iter().map(source).collect::<Vec<_>>().into_iter().collect()
    }

    fn source_of(&mut self, operand: &Operand, ty: Type) -> Option<Result<u32, String>> {
        Some(match operand {
            Operand::Integer(value) => Ok(self.held.constant(of_type(*value, ty))),
            Operand::Float(bits, width) => Ok(self.held.constant(float_of_type(*bits, *width, ty))),
            Operand::Name(name) => self.named(name, 0),
            Operand::Offset(name, offset) => self.named(name, *offset),
            _ => return None,
        })
    }

    fn named(&mut self, name: &str, offset: u64) -> Result<u32, String> {
        if let Some((_, address)) = self.variable(name) {
            return Ok(self.held.constant(address.wrapping_add(offset)));
        }
        if offset != 0 {
            return Err(format!("`{name}` with an offset: expected a variable"));
        }
        match special(name) {
            Some(special) => Ok(self.held.special(special)),
            None => self.register(name).map(|(register, _)| register),
        }
    }

    /// The space and the address of a variable.
    fn variable(&self, name: &str) -> Option<(PtxSpace, u64)> {
        match self.scope.find(name) {
            Some(Entity::Memory { space, address }) => Some((space, address)),
            Some(Entity::Register { .. }) => None,
            None => self.addresses.get(name).map(|&address| (PtxSpace::Global, address)),
        }
    }

    /// `[base + offset]`.
    pub(crate) fn address(&mut self, number: usize) -> Result<Address, String> {
        match self.operand(number)?.clone() {
            Operand::Address { base, offset, more } if more.is_empty() => self.address_of(number, *base, offset),
            Operand::Address { .. } => {
                Err(format!("`{}`: an address with coordinates is not known here", self.instruction.opcode))
            }
            _ => Err(self.wrong(number, "address")),
        }
    }

    /// `[map, {coordinates}]`: the address of a tensor's map, and the registers of the coordinates.
    pub(crate) fn tensor(&mut self, number: usize, ty: Type) -> Result<(Address, Vec<u32>), String> {
        let Operand::Address { base, offset, more } = self.operand(number)?.clone() else {
            return Err(self.wrong(number, "tensor with coordinates"));
        };
        let all = match more.as_slice() {
            [Operand::Group(all)] => all,
            _ => return Err(self.wrong(number, "tensor with one group of coordinates")),
        };
        let source = |one| self.source_of(one, ty).unwrap_or_else(|| Err(self.wrong(number, "group of coordinates")));
        let coordinates = all.iter().map(source).collect::<Result<_, _>>()?;
        Ok((self.address_of(number, *base, offset)?, coordinates))
    }

    fn address_of(&mut self, number: usize, base: Operand, offset: u64) -> Result<Address, String> {
        match base {
            Operand::Integer(value) => {
                let base = self.held.constant(value.wrapping_add(offset));
                Ok(Address { base, offset: 0, is_wide: true, space: None })
            }
            Operand::Name(name) => match self.variable(&name) {
                Some((space, address)) => {
                    let base = self.held.constant(address.wrapping_add(offset));
                    Ok(Address { base, offset: 0, is_wide: true, space: Some(space) })
                }
                None => {
                    let (base, bits) = self.register(&name)?;
                    Ok(Address { base, offset, is_wide: bits == 64, space: None })
                }
            },
            _ => Err(self.wrong(number, "address")),
        }
    }

    /// The register of what sums carry.
    pub(crate) fn carry(&mut self) -> u32 {
        let held = &mut *self.held;
        *held.carry.get_or_insert_with(|| {
            held.registers += 1;
            held.registers - 1
        })
    }

    /// A predicate as a source, and whether it is negated.
    pub(crate) fn predicate(&mut self, number: usize) -> Result<(u32, bool), String> {
        match self.operand(number)?.clone() {
            Operand::Not(name) => Ok((self.register(&name)?.0, true)),
            Operand::Integer(value) => Ok((self.held.constant(u64::from(value != 0)), false)),
            Operand::Name(name) => Ok((self.register(&name)?.0, false)),
            _ => Err(self.wrong(number, "predicate")),
        }
    }

    /// The predicate of this name under which the instruction is executed.
    pub(super) fn guard(&self, name: &str) -> Result<u32, String> {
        self.register(name).map(|(register, _)| register)
    }

    /// A constant.
    pub(crate) fn constant(&self, number: usize) -> Result<u64, String> {
        match self.operand(number)? {
            Operand::Integer(value) => Ok(*value),
            _ => Err(self.wrong(number, "constant")),
        }
    }

    /// The step of a label.
    pub(crate) fn label(&self, number: usize) -> Result<u32, String> {
        let Operand::Name(name) = self.operand(number)? else { return Err(self.wrong(number, "label")) };
        self.step_of(name)
    }

    fn step_of(&self, name: &str) -> Result<u32, String> {
        self.labels.step(self.block, name).ok_or_else(|| format!("there is no label `{name}`"))
    }

    /// The steps of the labels of a table.
    pub(crate) fn table(&self, number: usize) -> Result<Vec<u32>, String> {
        let Operand::Name(name) = self.operand(number)? else { return Err(self.wrong(number, "table of labels")) };
        let table = self.labels.table(self.block, name);
        let table = table.ok_or_else(|| format!("there is no table `{name}` of labels"))?;
        table.iter().map(|label| self.step_of(label)).collect()
    }

    /// A name that is neither a register nor a label: a function.
    pub(crate) fn name(&self, number: usize) -> Result<&str, String> {
        match self.operand(number)? {
            Operand::Name(name) => Ok(name),
            _ => Err(self.wrong(number, "name")),
        }
    }

    /// Number of the first operand that is a plain name, and the names of the list after it.
    pub(crate) fn call(&self) -> Result<(&str, Vec<Address>), String> {
        let position = self.instruction.operands.iter().position(|operand| matches!(operand, Operand::Name(_)));
        let position = position.ok_or("a call names no function")?;
        let name = self.name(position)?;
        let given = match self.instruction.operands.get(position + 1) {
            Some(Operand::List(given)) => given.as_slice(),
            _ => &[],
        };
        let address = |operand: &Operand| match operand {
            Operand::Name(name) => {
                let (space, address) = self.variable(name).ok_or_else(|| format!("`{name}` is no parameter"))?;
                Ok(Address { base: 0, offset: address, is_wide: true, space: Some(space) })
            }
            _ => Err("a call takes parameters by name".to_owned()),
        };
        Ok((name, given.iter().map(address).collect::<Result<_, String>>()?))
    }
}

/// An integer as a constant of a type; of a floating-point type its bits.
fn of_type(value: u64, ty: Type) -> u64 {
    if ty.class == Class::Predicate { u64::from(value != 0) } else { value }
}

/// A floating-point literal, which may be wider than the type.
fn float_of_type(bits: u64, width: u32, ty: Type) -> u64 {
    match ty.float() {
        Some(float) if width == 64 && float.bits() == 32 => float.round(f64::from_bits(bits), Rounding::Even, false),
        _ => bits,
    }
}

/// Special registers by name.
fn special(name: &str) -> Option<Special> {
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    if let Some((base, dot)) = name.split_once('.') {
        let axis = axis(dot)?;
        return Some(match base {
            "%tid" => Special::Thread(axis),
            "%ntid" => Special::Threads(axis),
            "%ctaid" | "%clusterid" => Special::Block(axis),
            "%nctaid" | "%nclusterid" => Special::Blocks(axis),
            // A cluster has one block here.
            "%cluster_ctaid" => Special::Number(0),
            "%cluster_nctaid" => Special::Number(1),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%lanemask_lt" => Special::LanesBelow,
        "%lanemask_le" => Special::LanesUpTo,
        "%lanemask_ge" => Special::LanesFrom,
        "%lanemask_gt" => Special::LanesAbove,
        "%lanemask_eq" => Special::LaneAlone,
        "%dynamic_smem_size" => Special::DynamicBytes,
        "%total_smem_size" => Special::SharedBytes,
        "%smid" | "%gridid" | "%cluster_ctarank" => Special::Number(0),
        "%nsmid" | "%cluster_nctarank" => Special::Number(1),
        "WARP_SZ" => Special::Number(32),
        _ => return None,
    })
}
