//! An evaluator of SPIR-V words: runs the single block of a kernel without control flow for one lane.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Operand, load_words};
use rspirv::spirv::{Op, StorageClass};

/// Returns the values that lane 0 stores, in order, if its loads return the given bits in order.
pub fn evaluate(words: &[u32], loads: &[u64]) -> Vec<u64> {
    let module = load_words(words).expect("the words are a module");
    let mut lane = Lane { types: HashMap::new(), values: HashMap::new(), loads: loads.iter().copied() };
    for instruction in &module.types_global_values {
        lane.global(instruction);
    }
    let [block] = module.functions[0].blocks.as_slice() else { panic!("the kernel has control flow") };
    for parameter in &module.functions[0].parameters {
        lane.values.insert(parameter.result_id.expect("it has a result"), 0);
    }
    block.instructions.iter().filter_map(|instruction| lane.step(instruction)).collect()
}

/// A scalar type of the evaluator; pointers, and vectors of inputs, are 64-bit integers here.
#[derive(Clone, Copy)]
struct Scalar {
    bits: u32,
    input: bool,
}

struct Lane<L> {
    types: HashMap<u32, Scalar>,
    values: HashMap<u32, u64>,
    loads: L,
}

impl<L: Iterator<Item = u64>> Lane<L> {
    fn global(&mut self, instruction: &Instruction) {
        let id = instruction.result_id.expect("globals have results");
        let scalar = |bits| Scalar { bits, input: false };
        match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::TypeBool, _) => drop(self.types.insert(id, scalar(1))),
            (Op::TypeInt | Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => {
                self.types.insert(id, scalar(*bits));
            }
            (Op::TypePointer, [Operand::StorageClass(class), ..]) => {
                self.types.insert(id, Scalar { bits: 64, input: *class == StorageClass::Input });
            }
            (Op::Constant, [Operand::LiteralBit32(value)]) => drop(self.values.insert(id, u64::from(*value))),
            (Op::Constant, [Operand::LiteralBit64(value)]) => drop(self.values.insert(id, *value)),
            (Op::ConstantTrue, _) => drop(self.values.insert(id, 1)),
            (Op::ConstantFalse | Op::ConstantNull | Op::Undef, _) => drop(self.values.insert(id, 0)),
            (Op::Variable, _) => {
                let input = self.types[&instruction.result_type.expect("variables have types")].input;
                // Inputs get an address with all bits set, so that loads recognise them.
                self.values.insert(id, if input { u64::MAX } else { 0 });
            }
            _ => {}
        }
    }

    fn operand(&self, instruction: &Instruction, index: usize) -> u64 {
        self.values[&instruction.operands[index].id_ref_any().expect("it is an id")]
    }

    /// Evaluates one instruction; returns the value that it stores, if it is a store.
    fn step(&mut self, instruction: &Instruction) -> Option<u64> {
        match instruction.class.opcode {
            Op::Return => return None,
            Op::Store => return Some(self.operand(instruction, 1)),
            _ => {}
        }
        let bits = self.types[&instruction.result_type.expect("it has a result")].bits;
        let value = self.compute(instruction, bits) & (u64::MAX >> (64 - bits));
        self.values.insert(instruction.result_id.expect("it has a result"), value);
        None
    }

    fn compute(&mut self, instruction: &Instruction, bits: u32) -> u64 {
        let a = self.operand(instruction, 0);
        let b = || self.operand(instruction, 1);
        let signed = |value: u64| (value << (64 - bits)).cast_signed() >> (64 - bits);
        match instruction.class.opcode {
            Op::Load if a == u64::MAX => 0,
            Op::Load => self.loads.next().expect("as many loads as were foreseen"),
            Op::PtrAccessChain | Op::AccessChain => 0,
            Op::Bitcast | Op::UConvert => a,
            Op::IAdd => a.wrapping_add(b()),
            Op::ISub => a.wrapping_sub(b()),
            Op::IMul => a.wrapping_mul(b()),
            Op::BitwiseAnd => a & b(),
            Op::BitwiseOr => a | b(),
            Op::BitwiseXor => a ^ b(),
            Op::LogicalAnd => a & b(),
            Op::LogicalOr => a | b(),
            Op::ShiftLeftLogical => a << checked(b(), bits),
            Op::ShiftRightLogical => a >> checked(b(), bits),
            Op::ShiftRightArithmetic => (signed(a) >> checked(b(), bits)).cast_unsigned(),
            Op::UDiv => a.checked_div(b()).expect("no division by zero is emitted"),
            Op::UMod => a.checked_rem(b()).expect("no division by zero is emitted"),
            Op::IEqual => u64::from(a == b()),
            Op::INotEqual => u64::from(a != b()),
            Op::UGreaterThan => u64::from(a > b()),
            Op::ULessThan => u64::from(a < b()),
            Op::ULessThanEqual => u64::from(a <= b()),
            Op::Select => self.operand(instruction, if a == 1 { 1 } else { 2 }),
            Op::FAdd => float(a, b(), |a, b| a + b),
            Op::FSub => float(a, b(), |a, b| a - b),
            Op::FMul => float(a, b(), |a, b| a * b),
            other => panic!("{other:?} is not evaluated here"),
        }
    }
}

/// Returns a shift distance; fails if the distance is the width or more, for which SPIR-V defines no result.
fn checked(distance: u64, bits: u32) -> u64 {
    assert!(distance < u64::from(bits), "{bits} bits shifted by {distance}");
    distance
}

fn float(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    u64::from(f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
}
