//! Resolves the operands of one PTX instruction to registers, addresses and constants, while the instruction is
//! decoded.

use std::collections::HashMap;

use tilewright_target::find_similar_name;

use super::scope::{Entity, Labels, Scope};
use super::types::{Class, Type, mask};
use super::{Addresses, Special};
use crate::float::Rounding;
use crate::machine::{Address, Destination, PtxSpace};
use crate::text::{Instruction, Operand};

/// The registers of a kernel: their number, and the registers that have an initial value.
#[derive(Debug, Default)]
pub(super) struct RegisterFile {
    pub(super) registers: u32,
    pub(super) constants: HashMap<u64, u32>,
    pub(super) specials: HashMap<Special, u32>,
    /// Registers that may be read before they are written: LLVM marks them in the PTX text as undefined on purpose.
    pub(super) undefined: Vec<u32>,
    /// Register that holds the carry flag; `None` if no instruction uses the flag.
    carry: Option<u32>,
}

impl RegisterFile {
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

/// The operands of one instruction, with the names and labels that are visible there.
pub(crate) struct Operands<'a> {
    pub(super) instruction: &'a Instruction,
    pub(super) scope: &'a Scope,
    pub(super) labels: &'a Labels,
    /// Index of the scope `{...}` that contains the instruction.
    pub(super) block: usize,
    pub(super) addresses: &'a Addresses,
    pub(super) register_file: &'a mut RegisterFile,
}

impl Operands<'_> {
    pub(crate) fn count(&self) -> usize {
        self.instruction.operands.len()
    }

    /// Returns an error message unless the number of operands is in the range `counts`.
    pub(crate) fn expect(&self, counts: std::ops::RangeInclusive<usize>) -> Result<(), String> {
        if counts.contains(&self.count()) {
            return Ok(());
        }
        let (min, most) = (counts.start(), counts.end());
        let required = if min == most { min.to_string() } else { format!("{min} to {most}") };
        Err(format!("`{}` takes {required} operands, not {}", self.instruction.opcode, self.count()))
    }

    fn operand(&self, index: usize) -> Result<&Operand, String> {
        let missing = || format!("`{}` lacks operand {}", self.instruction.opcode, index + 1);
        self.instruction.operands.get(index).ok_or_else(missing)
    }

    fn wrong(&self, index: usize, expected: &str) -> String {
        format!("`{}`: operand {} is no {expected}", self.instruction.opcode, index + 1)
    }

    fn register(&self, name: &str) -> Result<(u32, u32), String> {
        match self.scope.find(name) {
            Some(Entity::Register { index, bits }) => Ok((index, bits)),
            Some(Entity::Memory { .. }) => Err(format!("`{name}` is a variable; expected a register")),
            None => {
                let near = find_similar_name(name, self.scope.names())
                    .map(|near| format!("; `{near}` is"))
                    .unwrap_or_default();
                Err(format!("the register `{name}` is not declared{near}"))
            }
        }
    }

    fn find_destination(&self, operand: &Operand) -> Option<Result<Option<Destination>, String>> {
        let Operand::Name(name) = operand else { return None };
        if name == "_" {
            return Some(Ok(None));
        }
        Some(self.register(name).map(|(register, bits)| Some(Destination { register, mask: mask(bits) })))
    }

    /// Returns the destination register of operand `index`; `None` for `_`, which discards the result.
    pub(crate) fn destination(&self, index: usize) -> Result<Option<Destination>, String> {
        self.find_destination(self.operand(index)?).unwrap_or_else(|| Err(self.wrong(index, "register")))
    }

    /// Returns the destinations of operand `index`, which is `a` or `a|b`. A missing second register and `_` are
    /// `None`.
    pub(crate) fn destination_pair(&self, index: usize) -> Result<[Option<Destination>; 2], String> {
        let Operand::Pair(first, second) = self.operand(index)? else { return Ok([self.destination(index)?, None]) };
        let destination =
            |operand| self.find_destination(operand).unwrap_or_else(|| Err(self.wrong(index, "pair of registers")));
        Ok([destination(first)?, destination(second)?])
    }

    /// Returns the destinations of operand `index`, a register group `{a, b}` or a single register. `_`, which discards
    /// the result, is `None`.
    pub(crate) fn destinations(&self, index: usize) -> Result<Vec<Option<Destination>>, String> {
        let Operand::Group(all) = self.operand(index)? else { return Ok(vec![self.destination(index)?]) };
        let destination =
            |operand| self.find_destination(operand).unwrap_or_else(|| Err(self.wrong(index, "group of registers")));
        all.iter().map(destination).collect()
    }

    /// Whether operand `index` is a register group `{a, b}`.
    pub(crate) fn is_group(&self, index: usize) -> bool {
        matches!(self.instruction.operands.get(index), Some(Operand::Group(_)))
    }

    /// Returns the register of source operand `index`. For a constant, it is a register that holds the constant,
    /// converted to type `ty`.
    pub(crate) fn source(&mut self, index: usize, ty: Type) -> Result<u32, String> {
        let operand = self.operand(index)?.clone();
        self.source_of(&operand, ty).unwrap_or_else(|| Err(self.wrong(index, "register or constant")))
    }

    /// Returns the registers of source operand `index`: a group `{a, b}` or a single operand; see [`Self::source`].
    pub(crate) fn sources(&mut self, index: usize, ty: Type) -> Result<Vec<u32>, String> {
        let Operand::Group(all) = self.operand(index)?.clone() else { return Ok(vec![self.source(index, ty)?]) };
        let source =
            |operand| self.source_of(operand, ty).unwrap_or_else(|| Err(self.wrong(index, "group of registers")));
        all.iter().map(source).collect::<Vec<_>>().into_iter().collect()
    }

    fn source_of(&mut self, operand: &Operand, ty: Type) -> Option<Result<u32, String>> {
        Some(match operand {
            Operand::Integer(value) => Ok(self.register_file.constant(of_type(*value, ty))),
            Operand::Float(bits, width) => Ok(self.register_file.constant(float_of_type(*bits, *width, ty))),
            Operand::Name(name) => self.named(name, 0),
            Operand::Offset(name, offset) => self.named(name, *offset),
            _ => return None,
        })
    }

    fn named(&mut self, name: &str, offset: u64) -> Result<u32, String> {
        if let Some((_, address)) = self.variable(name) {
            return Ok(self.register_file.constant(address.wrapping_add(offset)));
        }
        if offset != 0 {
            return Err(format!("`{name}` with an offset: expected a variable"));
        }
        match special(name) {
            Some(special) => Ok(self.register_file.special(special)),
            None => self.register(name).map(|(register, _)| register),
        }
    }

    /// Returns the memory space and the address of a variable; `None` if no variable has this name.
    fn variable(&self, name: &str) -> Option<(PtxSpace, u64)> {
        match self.scope.find(name) {
            Some(Entity::Memory { space, address }) => Some((space, address)),
            Some(Entity::Register { .. }) => None,
            None => self.addresses.get(name).map(|&address| (PtxSpace::Global, address)),
        }
    }

    /// Returns the address in operand `index`, `[base + offset]`.
    pub(crate) fn address(&mut self, index: usize) -> Result<Address, String> {
        match self.operand(index)?.clone() {
            Operand::Address { base, offset, more } if more.is_empty() => self.address_of(index, *base, offset),
            Operand::Address { .. } => {
                Err(format!("`{}`: an address with coordinates is not supported", self.instruction.opcode))
            }
            _ => Err(self.wrong(index, "address")),
        }
    }

    /// Returns the tensor in operand `index`, `[map, {coordinates}]`: the address of its tensor map, and the registers
    /// with its coordinates, which have type `ty`.
    pub(crate) fn tensor(&mut self, index: usize, ty: Type) -> Result<(Address, Vec<u32>), String> {
        let Operand::Address { base, offset, more } = self.operand(index)?.clone() else {
            return Err(self.wrong(index, "tensor with coordinates"));
        };
        let all = match more.as_slice() {
            [Operand::Group(all)] => all,
            _ => return Err(self.wrong(index, "tensor with one group of coordinates")),
        };
        let source = |one| self.source_of(one, ty).unwrap_or_else(|| Err(self.wrong(index, "group of coordinates")));
        let coordinates = all.iter().map(source).collect::<Result<_, _>>()?;
        Ok((self.address_of(index, *base, offset)?, coordinates))
    }

    fn address_of(&mut self, index: usize, base: Operand, offset: u64) -> Result<Address, String> {
        match base {
            Operand::Integer(value) => {
                let base = self.register_file.constant(value.wrapping_add(offset));
                Ok(Address { base, offset: 0, is_wide: true, space: None })
            }
            Operand::Name(name) => match self.variable(&name) {
                Some((space, address)) => {
                    let base = self.register_file.constant(address.wrapping_add(offset));
                    Ok(Address { base, offset: 0, is_wide: true, space: Some(space) })
                }
                None => {
                    let (base, bits) = self.register(&name)?;
                    Ok(Address { base, offset, is_wide: bits == 64, space: None })
                }
            },
            _ => Err(self.wrong(index, "address")),
        }
    }

    /// Returns the register that holds the carry flag; creates it at first use.
    pub(crate) fn carry(&mut self) -> u32 {
        let register_file = &mut *self.register_file;
        *register_file.carry.get_or_insert_with(|| {
            register_file.registers += 1;
            register_file.registers - 1
        })
    }

    /// Whether an operand is a predicate register, or the negation of one.
    pub(crate) fn is_predicate(&self, index: usize) -> bool {
        let (Some(Operand::Name(name)) | Some(Operand::Not(name))) = self.instruction.operands.get(index) else {
            return false;
        };
        self.register(name).is_ok_and(|(_, bits)| bits == 1)
    }

    /// Returns the register of a predicate operand, and whether the predicate is negated.
    pub(crate) fn predicate(&mut self, index: usize) -> Result<(u32, bool), String> {
        match self.operand(index)?.clone() {
            Operand::Not(name) => Ok((self.register(&name)?.0, true)),
            Operand::Integer(value) => Ok((self.register_file.constant(u64::from(value != 0)), false)),
            Operand::Name(name) => Ok((self.register(&name)?.0, false)),
            _ => Err(self.wrong(index, "predicate")),
        }
    }

    /// Returns the register of the guard predicate (`@name`) of an instruction.
    pub(super) fn guard(&self, name: &str) -> Result<u32, String> {
        self.register(name).map(|(register, _)| register)
    }

    /// Returns the value of operand `index`, which must be an integer constant.
    pub(crate) fn constant(&self, index: usize) -> Result<u64, String> {
        match self.operand(index)? {
            Operand::Integer(value) => Ok(*value),
            _ => Err(self.wrong(index, "constant")),
        }
    }

    /// Returns the step (index of an instruction) that the label in operand `index` refers to.
    pub(crate) fn label(&self, index: usize) -> Result<u32, String> {
        let Operand::Name(name) = self.operand(index)? else { return Err(self.wrong(index, "label")) };
        self.step_of(name)
    }

    fn step_of(&self, name: &str) -> Result<u32, String> {
        self.labels.step(self.block, name).ok_or_else(|| format!("there is no label `{name}`"))
    }

    /// Returns the steps (indices of instructions) of all labels in the branch table that operand `index` names.
    pub(crate) fn table(&self, index: usize) -> Result<Vec<u32>, String> {
        let Operand::Name(name) = self.operand(index)? else { return Err(self.wrong(index, "table of labels")) };
        let table = self.labels.table(self.block, name);
        let table = table.ok_or_else(|| format!("there is no table `{name}` of labels"))?;
        table.iter().map(|label| self.step_of(label)).collect()
    }

    /// Returns the name in operand `index`, such as that of a function.
    pub(crate) fn name(&self, index: usize) -> Result<&str, String> {
        match self.operand(index)? {
            Operand::Name(name) => Ok(name),
            _ => Err(self.wrong(index, "name")),
        }
    }

    /// Returns the name of the function that a call instruction calls, and the addresses of the variables that hold its
    /// parameters.
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
                let (space, address) = self.variable(name).ok_or_else(|| format!("`{name}` is not a parameter"))?;
                Ok(Address { base: 0, offset: address, is_wide: true, space: Some(space) })
            }
            _ => Err("a call takes parameters by name".to_owned()),
        };
        Ok((name, given.iter().map(address).collect::<Result<_, String>>()?))
    }
}

/// Converts an integer literal to a value of type `ty`: a predicate is 1 unless the literal is 0, any other type keeps
/// the bits.
fn of_type(value: u64, ty: Type) -> u64 {
    if ty.class == Class::Predicate { u64::from(value != 0) } else { value }
}

/// Converts a floating-point literal of `width` bits to the bits of type `ty`; a 64-bit literal is rounded for a 32-bit
/// type.
fn float_of_type(bits: u64, width: u32, ty: Type) -> u64 {
    match ty.float() {
        Some(float) if width == 64 && float.bits() == 32 => float.round(f64::from_bits(bits), Rounding::Even, false),
        _ => bits,
    }
}

/// Returns the special register with this name, such as `%tid.x`; `None` for other names.
fn special(name: &str) -> Option<Special> {
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    if let Some((base, dot)) = name.split_once('.') {
        let axis = axis(dot)?;
        return Some(match base {
            "%tid" => Special::Thread(axis),
            "%ntid" => Special::Threads(axis),
            "%ctaid" | "%clusterid" => Special::Block(axis),
            "%nctaid" | "%nclusterid" => Special::Blocks(axis),
            // The virtual device has clusters of one block only.
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
