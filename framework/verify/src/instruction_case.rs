//! Test cases of vendor instructions: one issue of an instruction on registers in the row's layouts; the expected
//! result, a matrix product or a copy, is computed element by element.
//!
//! Matrices have integers from -2 to 2. Their products are summed exactly in any order and under any truncation of the
//! row's numerics: a dot product over K is at most 4 K + 2, and no row has more than 128 along K or keeps less than 8
//! bits. Integer matrices have values over the whole range; for saturating rows, the accumulator is so near the limit
//! that the result saturates. Scales are one, two and four. So the result must be exact, without tolerance.

use super::CheckFailure;
use super::check::check_emulated;
use super::exact::{Exact, element_type_from_name, scrambled};
use super::issue_operands::{ExpectedField, IssueOperands, bytes_of, filled, for_each_register, put, register_bytes};
use super::test_case::TestCase;
use crate::kernels::{build_instruction_kernel_with_tensor_memory, find_tile_moves};
use tilewright_emulator::RunReport;
use tilewright_kernel::{Module, is_result_operand};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{
    ElementType, Instruction, InstructionKind, InstructionOperand, MemoryOperand, Semantics, TargetDescription,
};

/// Creates a test of one issue of an instruction. Tiles in tensor memory are transferred there and back by moves from
/// the instruction table of `context`.
///
/// # Errors
/// [`CheckFailure::Row`] if the row is incomplete or contradictory, or is a prefetch; [`CheckFailure::Invalid`] if the
/// kernel that issues the instruction violates a rule.
pub fn build_instruction_case<'a>(
    row: &Instruction,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let context = context.into();
    let kernel = build_instruction_kernel_with_tensor_memory("issue", row, context)?;
    // The kernel is verified first, then its instructions against their rows.
    tilewright_kernel::verify(&Module { kernels: vec![kernel.clone()] })?;
    tilewright_kernel::verify_vendor_instructions(&kernel, context.instructions)?;
    let problem = match row.semantics {
        Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent => {
            IssueOperands::for_mma(row, context)
        }
        Semantics::Move if row.kind == InstructionKind::TensorMove => {
            let copies = row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_)));
            if copies { IssueOperands::tensor_copy(row, context) } else { IssueOperands::tensor_move(row, context) }
        }
        Semantics::Move if row.kind == InstructionKind::AsyncCopy => IssueOperands::across(row),
        Semantics::Move => IssueOperands::copy(row),
        Semantics::Reduce(_) => Err("a bulk reduction needs a tensor map".to_owned()),
        Semantics::Prefetch => Err("a prefetch changes no value".to_owned()),
    };
    Ok(TestCase::of_buffers(kernel, 1, problem.map_err(CheckFailure::Row)?.buffers()))
}

/// Checks one issue of an instruction on the emulator, with no other rows in the table.
///
/// # Errors
/// [`CheckFailure`] if the row is incomplete or contradictory, the run has a fault, or a result differs.
pub fn check_instruction_emulated(row: &Instruction, target: &TargetDescription) -> Result<RunReport, CheckFailure> {
    let context = PlanContext::new(target).with_instructions(std::slice::from_ref(row));
    check_emulated(&build_instruction_case(row, context)?, context)
}

impl IssueOperands {
    fn for_mma(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let extent = row.mma_shape().ok_or("an MMA has operands A and B")?;
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
            if matches!(operand, InstructionOperand::Constant { .. } | InstructionOperand::Accumulate) {
                contents.push(vec![0; 4]);
                continue;
            }
            if let InstructionOperand::Tensor(tile) = operand {
                let moves = find_tile_moves(row, tile, context)?;
                let kind = element_type_from_name(&tile.element)?;
                let mut bytes = vec![0; register_bytes(&moves.registers, tile.bits)];
                if tile.role != "d" {
                    let (_, matrix) =
                        given.iter().find(|(name, _)| *name == tile.role).ok_or("a tile is neither operand A nor B")?;
                    for_each_register(&moves.registers, tile.bits, |at, coordinate, _| {
                        put(&mut bytes, at, kind.bits(), kind.encode(matrix.at(coordinate))?);
                        Ok(())
                    })?;
                    contents.push(bytes);
                    continue;
                }
                contents.push(bytes.clone());
                for_each_register(&moves.registers, tile.bits, |at, coordinate, location| {
                    put(&mut bytes, at, kind.bits(), kind.encode(c.at(coordinate))?);
                    let element = coordinate[0] << 32 | coordinate[1];
                    let value = kind.encode(total([&a, &b, &c], scales.as_ref(), extent[2], coordinate))?;
                    expected.push(ExpectedField { location, at, bits: kind.bits(), element, value });
                    Ok(())
                })?;
                (answer, before) = (index, Some(bytes));
                continue;
            }
            if let InstructionOperand::Memory(memory) = operand {
                let operand_matrix = [("a", &a), ("b", &b)].into_iter().find(|(name, _)| *name == memory.role);
                let (_, operand_matrix) = operand_matrix.ok_or("a tile in memory is neither operand A nor B")?;
                contents.push(in_memory(memory, operand_matrix)?);
                continue;
            }
            let InstructionOperand::Register { role, element, bits, layout } = operand else {
                return Err("an MMA takes only operands in registers and tiles in memory".to_owned());
            };
            let mut bytes = vec![0; bytes_of(operand)?];
            let kind = element_type_from_name(element)?;
            let matrix = given.iter().find(|(name, _)| name == role);
            for_each_register(layout, *bits, |at, coordinate, location| {
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
                    expected.push(ExpectedField { location, at, bits: kind.bits().min(*bits), element, value });
                    return Ok(());
                };
                put(&mut bytes, at, kind.bits(), kind.encode(matrix.at(coordinate))?);
                Ok(())
            })?;
            if is_result_operand(operand) {
                answer = index;
            }
            contents.push(bytes);
        }
        contents.extend(before);
        Ok(Self { contents, answer, expected })
    }

    /// Creates the operands and the expected result of a copy from global to shared memory: each byte that a lane has
    /// in global memory moves to the same byte of that lane in shared memory.
    fn across(row: &Instruction) -> Result<Self, String> {
        let segments = |operand: &InstructionOperand| match operand {
            InstructionOperand::Global { data, .. } | InstructionOperand::Access { data, .. } => {
                1 << data.outs().total_bits()
            }
            _ => 0usize,
        };
        let mut contents: Vec<Vec<u8>> = row.operands.iter().map(|operand| vec![0; segments(operand)]).collect();
        let from = row.operands.iter().position(|operand| matches!(operand, InstructionOperand::Global { .. }));
        let to = row.operands.iter().position(|operand| matches!(operand, InstructionOperand::Access { .. }));
        let (Some(from), Some(to)) = (from, to) else {
            return Err("a copy must be from global to shared memory".to_owned());
        };
        let (InstructionOperand::Global { data: source, .. }, InstructionOperand::Access { data: target, .. }) =
            (&row.operands[from], &row.operands[to])
        else {
            return Err("a copy must be from global to shared memory".to_owned());
        };
        for (index, byte) in contents[from].iter_mut().enumerate() {
            *byte = scrambled(index as u64, 4) as u8;
        }
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let at = |data: &LinearLayout, packed: u64| {
            let image = data.apply_packed(packed);
            data.outs().coordinate(image, segment) << data.out_bits(byte) | data.outs().coordinate(image, byte)
        };
        let expected = (0..1u64 << source.ins().total_bits()).map(|packed| {
            let element = at(source, packed);
            let value = contents[from].get(element as usize).copied().ok_or("it reads beyond the source")?;
            let lane = source.ins().coordinate(packed, Dim::LANE);
            let located = (format!("lane {lane}, byte {}", source.ins().coordinate(packed, byte)), at(target, packed));
            Ok(ExpectedField { location: located.0, at: 8 * located.1, bits: 8, element, value: u64::from(value) })
        });
        let expected = expected.collect::<Result<Vec<_>, String>>()?;
        Ok(Self { contents, answer: to, expected })
    }

    fn copy(row: &Instruction) -> Result<Self, String> {
        let access = row.operands.iter().position(|operand| matches!(operand, InstructionOperand::Access { .. }));
        let register = row.operands.iter().position(|operand| matches!(operand, InstructionOperand::Register { .. }));
        let (Some(access), Some(register)) = (access, register) else {
            return Err("a move has registers and an access".to_owned());
        };
        let InstructionOperand::Access { data, .. } = &row.operands[access] else { return Err("no access".to_owned()) };
        let loads = row.operands.iter().any(is_result_operand);
        let mut contents = vec![Vec::new(); row.operands.len()];
        contents[register] = vec![0; bytes_of(&row.operands[register])?];
        contents[access] = vec![0; 1 << data.outs().total_bits()];
        let (from, answer) = if loads { (access, register) } else { (register, access) };
        for (index, byte) in contents[from].iter_mut().enumerate() {
            *byte = scrambled(index as u64, 4) as u8;
        }
        let lane_bytes = contents[register].len() as u64 >> data.in_bits(Dim::LANE);
        let mut expected = Vec::new();
        for packed in 0..1u64 << data.ins().total_bits() {
            let at = |dim| data.ins().coordinate(packed, dim);
            let byte = Dim::named("byte");
            let image = data.apply_packed(packed);
            let in_lane = at(Dim::REGISTER) << data.in_bits(byte) | at(byte);
            let in_register = at(Dim::LANE) * lane_bytes + in_lane;
            let in_segment = data.outs().coordinate(image, Dim::named("slot")) << data.out_bits(byte)
                | data.outs().coordinate(image, byte);
            let (source, target) = if loads { (in_segment, in_register) } else { (in_register, in_segment) };
            let value = contents[from]
                .get(source as usize)
                .copied()
                .ok_or("its access moves more bytes than its registers have")?;
            let location = format!("lane {}, byte {in_lane}", at(Dim::LANE));
            expected.push(ExpectedField {
                location,
                at: 8 * target,
                bits: 8,
                element: source,
                value: u64::from(value),
            });
        }
        Ok(Self { contents, answer, expected })
    }
}

/// Returns the bytes of a tile of `operand_matrix` in shared memory, as the test kernel takes them: in the canonical
/// layout that takes the least memory, with padding of all ones.
fn in_memory(memory: &MemoryOperand, operand_matrix: &Matrix) -> Result<Vec<u8>, String> {
    let kind = operand_matrix.kind;
    filled(memory, kind.bits(), |element| kind.encode(operand_matrix.at([element[0], element[1], 0])))
}

/// The elements of one operand of the instruction: pseudo-random numbers, each determined by its coordinates and the
/// seed.
struct Matrix {
    kind: ElementType,
    seed: u64,
    /// Number of elements along dim1.
    second: u64,
    is_scale: bool,
    /// Whether the elements are within 255 of the least or the greatest integer of their type.
    is_extreme: bool,
}

impl Matrix {
    fn of(row: &Instruction, required: &str, seed: u64) -> Result<Self, String> {
        // An accumulator in tensor memory is updated in place, so the operand `d` is also `c`.
        let in_place =
            || row.find_matrix_operand("d").filter(|d| required == "c" && d.tensor_memory_operand().is_some());
        let (element, second) = match row.find_matrix_operand(required).or_else(in_place) {
            Some(InstructionOperand::Register { element, layout, .. }) => {
                (element, 1 << layout.out_bits(Dim::tensor(1)))
            }
            Some(InstructionOperand::Memory(memory)) => (&memory.element, memory.shape[1]),
            Some(InstructionOperand::Tensor(tile)) => (&tile.element, 1 << tile.layout.out_bits(Dim::tensor(1))),
            _ => return Err(format!("there is no operand `{required}`")),
        };
        let is_extreme = required == "c" && row.semantics == Semantics::ContractSaturating;
        Ok(Self {
            kind: element_type_from_name(element)?,
            seed,
            second,
            is_scale: required.starts_with("scale"),
            is_extreme,
        })
    }

    fn at(&self, [row, column, block]: [u64; 3]) -> i64 {
        let noise = scrambled((block << 16 | row) << 16 | column, self.seed);
        match self.kind {
            kind if self.is_extreme => {
                let [min, max] = [i64::MIN, i64::MAX].map(|end| kind.saturated(end));
                let near = (noise >> 1 & 0xff) as i64;
                if noise & 1 == 0 { max - near } else { min + near }
            }
            ElementType::Integer { bits, signed: true } => ((noise << (64 - bits)) as i64) >> (64 - bits),
            ElementType::Integer { bits, signed: false } => (noise & ((1 << bits) - 1)) as i64,
            ElementType::Float(_) if self.is_scale => 1 << (noise % 3),
            ElementType::Float(_) => (noise % 5) as i64 - 2,
        }
    }
}

/// Computes one element of `a * b + c` over `k` products, each times the scales of its row, its column and its block of
/// K (`None`: without scales). The coordinates are the row, the column and the index of the independent block.
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

/// Computes one element of a bit-matrix product: the number of differing bits of a row of `a` and a column of `b` over
/// `k` bits, plus the element of `c`.
fn different([a, b, c]: [&Matrix; 3], k: u64, [row, column, block]: [u64; 3]) -> i64 {
    let differ = |k: &u64| a.at([row, *k, block]) != b.at([*k, column, block]);
    (0..k).filter(differ).count() as i64 + c.at([row, column, block])
}
