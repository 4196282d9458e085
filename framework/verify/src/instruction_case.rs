//! Test cases of vendor instructions: one is issued between registers whose contents follow from the row's layouts, and
//! its result must be the product of matrices, or the copy of bytes, that is computed here element by element.
//!
//! Matrices have integers from -2 to 2, of which every sum is exact, whatever its order and wherever the row's numerics
//! cut: a sum of K products is at most 4 K + 2, and no row has more than 128 along K or keeps less than 8 bits. Those of
//! integers have all values; where sums saturate, the summand is so near the end of its type that they do. Scales are one, two and four. So the result must be exact, and nothing is tolerated.

use super::CheckFailure;
use super::check::check_emulated;
use super::exact::{Exact, number_named, scrambled};
use super::issue_operands::{ExpectedField, IssueOperands, bytes_of, each_place, filled, held_bytes, put};
use super::test_case::TestCase;
use crate::kernels::{issue_kernel, tile_in_tensor_memory};
use tilewright_emulator::RunReport;
use tilewright_kernel::{Module, is_result};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{
    ElementType, Instruction, InstructionKind, MemoryOperand, Operand, Semantics, TargetDescription,
};

/// One issue of an instruction; the moves of `context` bring tiles to tensor memory and back.
///
/// # Errors
/// [`CheckFailure::Row`]: the row says too little or contradicts itself.
pub fn instruction_case<'a>(row: &Instruction, context: impl Into<PlanContext<'a>>) -> Result<TestCase, CheckFailure> {
    let context = context.into();
    let kernel = issue_kernel("issue", row, context).map_err(CheckFailure::Row)?;
    // What a row says is looked at after what it breaks.
    tilewright_kernel::verify(&Module { kernels: vec![kernel.clone()] })?;
    tilewright_kernel::verify_instructions(&kernel, context.instructions)?;
    let problem = match row.semantics {
        Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent => {
            IssueOperands::product(row, context)
        }
        Semantics::Move if row.kind == InstructionKind::TensorMove => {
            let copies = row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_)));
            if copies { IssueOperands::tensor_copy(row, context) } else { IssueOperands::tensor_move(row, context) }
        }
        Semantics::Move if row.kind == InstructionKind::AsyncCopy => IssueOperands::across(row),
        Semantics::Move => IssueOperands::copy(row),
        Semantics::Prefetch => Err("a prefetch changes no value".to_owned()),
    };
    Ok(TestCase::of_buffers(kernel, 1, problem.map_err(CheckFailure::Row)?.buffers()))
}

/// Checks one issue of an instruction on the emulator, with no other rows beside its own.
///
/// # Errors
/// [`CheckFailure`]: the first thing that is wrong, with the row or with the emulator.
pub fn check_row(row: &Instruction, target: &TargetDescription) -> Result<RunReport, CheckFailure> {
    let context = PlanContext::of(target).with_instructions(std::slice::from_ref(row));
    check_emulated(&instruction_case(row, context)?, context)
}

impl IssueOperands {
    fn product(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let extent = row.extent().ok_or("a product has two factors")?;
        let matrix = |role, seed| Matrix::of(row, role, seed);
        let (a, b, c) = (matrix("a", 1)?, matrix("b", 2)?, matrix("c", 3)?);
        let scales = if row.takes_scales() { Some([matrix("scale_a", 5)?, matrix("scale_b", 6)?]) } else { None };
        let of_scales = scales.iter().flatten().zip(["scale_a", "scale_b"]);
        let given: Vec<(&str, &Matrix)> = [("a", &a), ("b", &b), ("c", &c)]
            .into_iter()
            .chain(of_scales.map(|(matrix, role)| (role, matrix)))
            .collect();
        let mut contents = Vec::new();
        let (mut answer, mut expected) = (0, Vec::new());
        let mut before = None;
        for (index, operand) in row.operands.iter().enumerate() {
            if matches!(operand, Operand::Constant { .. } | Operand::Accumulate) {
                contents.push(vec![0; 4]);
                continue;
            }
            if let Operand::Tensor(tile) = operand {
                let moves = tile_in_tensor_memory(row, tile, context)?;
                let kind = number_named(&tile.element)?;
                let mut bytes = vec![0; held_bytes(&moves.registers, tile.bits)];
                if tile.role != "d" {
                    let (_, matrix) = given.iter().find(|(name, _)| *name == tile.role).ok_or("a tile is no factor")?;
                    each_place(&moves.registers, tile.bits, |at, coordinate, _| {
                        put(&mut bytes, at, kind.bits(), kind.encode(matrix.at(coordinate))?);
                        Ok(())
                    })?;
                    contents.push(bytes);
                    continue;
                }
                contents.push(bytes.clone());
                each_place(&moves.registers, tile.bits, |at, coordinate, place| {
                    put(&mut bytes, at, kind.bits(), kind.encode(c.at(coordinate))?);
                    let element = coordinate[0] << 32 | coordinate[1];
                    let value = kind.encode(total([&a, &b, &c], scales.as_ref(), extent[2], coordinate))?;
                    expected.push(ExpectedField { place, at, bits: kind.bits(), element, value });
                    Ok(())
                })?;
                (answer, before) = (index, Some(bytes));
                continue;
            }
            if let Operand::Memory(memory) = operand {
                let factor = [("a", &a), ("b", &b)].into_iter().find(|(name, _)| *name == memory.role);
                let (_, factor) = factor.ok_or("a tile in memory is no factor")?;
                contents.push(in_memory(memory, factor)?);
                continue;
            }
            let Operand::Register { role, element, bits, layout } = operand else {
                return Err("a product takes operands in registers and tiles in memory only".to_owned());
            };
            let mut bytes = vec![0; bytes_of(operand)?];
            let kind = number_named(element)?;
            let matrix = given.iter().find(|(name, _)| name == role);
            each_place(layout, *bits, |at, coordinate, place| {
                let Some((_, matrix)) = matrix else {
                    if coordinate[0] >= extent[0] || coordinate[1] >= extent[1] {
                        return Ok(());
                    }
                    let total = match row.semantics {
                        Semantics::CountDifferent => different([&a, &b, &c], extent[2], coordinate),
                        _ => total([&a, &b, &c], scales.as_ref(), extent[2], coordinate),
                    };
                    let element = coordinate[0] << 32 | coordinate[1];
                    let saturates = row.semantics == Semantics::ContractSaturating;
                    let value = kind.encode(if saturates { kind.saturated(total) } else { total })?;
                    expected.push(ExpectedField { place, at, bits: kind.bits().min(*bits), element, value });
                    return Ok(());
                };
                put(&mut bytes, at, kind.bits(), kind.encode(matrix.at(coordinate))?);
                Ok(())
            })?;
            if is_result(operand) {
                answer = index;
            }
            contents.push(bytes);
        }
        contents.extend(before);
        Ok(Self { contents, answer, expected })
    }

    /// From global to shared memory: each byte of a lane to the place of the same byte.
    fn across(row: &Instruction) -> Result<Self, String> {
        let slots = |operand: &Operand| match operand {
            Operand::Global { data, .. } | Operand::Access { data, .. } => 1 << data.outs().bits(),
            _ => 0usize,
        };
        let mut contents: Vec<Vec<u8>> = row.operands.iter().map(|operand| vec![0; slots(operand)]).collect();
        let from = row.operands.iter().position(|operand| matches!(operand, Operand::Global { .. }));
        let to = row.operands.iter().position(|operand| matches!(operand, Operand::Access { .. }));
        let (Some(from), Some(to)) = (from, to) else {
            return Err("a copy goes from global to shared memory".to_owned());
        };
        let (Operand::Global { data: source, .. }, Operand::Access { data: target, .. }) =
            (&row.operands[from], &row.operands[to])
        else {
            return Err("a copy goes from global to shared memory".to_owned());
        };
        for (index, byte) in contents[from].iter_mut().enumerate() {
            *byte = scrambled(index as u64, 4) as u8;
        }
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let at = |data: &LinearLayout, place: u64| {
            let image = data.apply_packed(place);
            data.outs().coordinate(image, slot) << data.out_bits(byte) | data.outs().coordinate(image, byte)
        };
        let expected = (0..1u64 << source.ins().bits()).map(|place| {
            let element = at(source, place);
            let value = contents[from].get(element as usize).copied().ok_or("it reads more than there is")?;
            let lane = source.ins().coordinate(place, Dim::LANE);
            let place = (format!("lane {lane}, byte {}", source.ins().coordinate(place, byte)), at(target, place));
            Ok(ExpectedField { place: place.0, at: 8 * place.1, bits: 8, element, value: u64::from(value) })
        });
        let expected = expected.collect::<Result<Vec<_>, String>>()?;
        Ok(Self { contents, answer: to, expected })
    }

    fn copy(row: &Instruction) -> Result<Self, String> {
        let access = row.operands.iter().position(|operand| matches!(operand, Operand::Access { .. }));
        let register = row.operands.iter().position(|operand| matches!(operand, Operand::Register { .. }));
        let (Some(access), Some(register)) = (access, register) else {
            return Err("a move has registers and an access".to_owned());
        };
        let Operand::Access { data, .. } = &row.operands[access] else { return Err("no access".to_owned()) };
        let loads = row.operands.iter().any(is_result);
        let mut contents = vec![Vec::new(); row.operands.len()];
        contents[register] = vec![0; bytes_of(&row.operands[register])?];
        contents[access] = vec![0; 1 << data.outs().bits()];
        let (from, answer) = if loads { (access, register) } else { (register, access) };
        for (index, byte) in contents[from].iter_mut().enumerate() {
            *byte = scrambled(index as u64, 4) as u8;
        }
        let lane_bytes = contents[register].len() as u64 >> data.in_bits(Dim::LANE);
        let mut expected = Vec::new();
        for place in 0..1u64 << data.ins().bits() {
            let at = |dim| data.ins().coordinate(place, dim);
            let byte = Dim::named("byte");
            let image = data.apply_packed(place);
            let in_lane = at(Dim::REGISTER) << data.in_bits(byte) | at(byte);
            let in_register = at(Dim::LANE) * lane_bytes + in_lane;
            let in_slot = data.outs().coordinate(image, Dim::named("slot")) << data.out_bits(byte)
                | data.outs().coordinate(image, byte);
            let (source, target) = if loads { (in_slot, in_register) } else { (in_register, in_slot) };
            let value = contents[from].get(source as usize).copied().ok_or("its access moves more than it holds")?;
            let place = format!("lane {}, byte {in_lane}", at(Dim::LANE));
            expected.push(ExpectedField { place, at: 8 * target, bits: 8, element: source, value: u64::from(value) });
        }
        Ok(Self { contents, answer, expected })
    }
}

/// The bytes of a tile in shared memory, as the kernel takes them; those of no element are all ones.
fn in_memory(memory: &MemoryOperand, factor: &Matrix) -> Result<Vec<u8>, String> {
    let kind = factor.kind;
    filled(memory, kind.bits(), |element| kind.encode(factor.at([element[0], element[1], 0])))
}

/// A factor or summand: any integers that its elements can be.
struct Matrix {
    kind: ElementType,
    seed: u64,
    /// Size along dim1.
    second: u64,
    is_scale: bool,
    /// Whether integers are near the greatest and the least of their type.
    is_extreme: bool,
}

impl Matrix {
    fn of(row: &Instruction, required: &str, seed: u64) -> Result<Self, String> {
        let found = row.operands.iter().find_map(|operand| match operand {
            Operand::Register { role, element, layout, .. } if role == required => {
                Some((element, 1 << layout.out_bits(Dim::tensor(1))))
            }
            Operand::Memory(memory) if memory.role == required => Some((&memory.element, memory.shape[1])),
            Operand::Tensor(tile) if tile.role == required => {
                Some((&tile.element, 1 << tile.layout.out_bits(Dim::tensor(1))))
            }
            // Sums in tensor memory are changed in place.
            Operand::Tensor(tile) if tile.role == "d" && required == "c" => {
                Some((&tile.element, 1 << tile.layout.out_bits(Dim::tensor(1))))
            }
            _ => None,
        });
        let (element, second) = found.ok_or_else(|| format!("there is no operand `{required}`"))?;
        let is_extreme = required == "c" && row.semantics == Semantics::ContractSaturating;
        Ok(Self { kind: number_named(element)?, seed, second, is_scale: required.starts_with("scale"), is_extreme })
    }

    fn at(&self, [row, column, block]: [u64; 3]) -> i64 {
        let noise = scrambled((block << 16 | row) << 16 | column, self.seed);
        match self.kind {
            kind if self.is_extreme => {
                let [least, greatest] = [i64::MIN, i64::MAX].map(|end| kind.saturated(end));
                let near = (noise >> 1 & 0xff) as i64;
                if noise & 1 == 0 { greatest - near } else { least + near }
            }
            ElementType::Integer { bits, signed: true } => ((noise << (64 - bits)) as i64) >> (64 - bits),
            ElementType::Integer { bits, signed: false } => (noise & ((1 << bits) - 1)) as i64,
            ElementType::Float(_) if self.is_scale => 1 << (noise % 3),
            ElementType::Float(_) => (noise % 5) as i64 - 2,
        }
    }
}

/// One element of the result.
fn total([a, b, c]: [&Matrix; 3], scales: Option<&[Matrix; 2]>, k: u64, [row, column, block]: [u64; 3]) -> i64 {
    let depth = k;
    let scale = |k: u64| match scales {
        Some([of_a, of_b]) => {
            let at = k / (depth / of_a.second);
            of_a.at([row, at, 0]) * of_b.at([column, at, 0])
        }
        None => 1,
    };
    let products = (0..depth).map(|k| a.at([row, k, block]) * b.at([k, column, block]) * scale(k));
    products.sum::<i64>() + c.at([row, column, block])
}

/// How many bits differ, and what that is added to.
fn different([a, b, c]: [&Matrix; 3], k: u64, [row, column, block]: [u64; 3]) -> i64 {
    let differ = |k: &u64| a.at([row, *k, block]) != b.at([*k, column, block]);
    (0..k).filter(differ).count() as i64 + c.at([row, column, block])
}
