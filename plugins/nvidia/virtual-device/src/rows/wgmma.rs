//! Warpgroup MMAs (`wgmma.mma_async`). Each warp computes 16 of the 64 rows, and reads B, or A and B, from shared
//! memory through matrix descriptors. Accumulators are written at the issue; the shared memory that an MMA reads may
//! not be written until the warp waits.
//!
//! Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": register fragments, matrix descriptor,
//! canonical layouts.

use tilewright_emulator::MmaElementEvaluator;

use super::groups;
use crate::machine::{Destination, DeviceFaultKind, LANES, Next, Operation, Running};
use crate::program::{Form, Operands, Row, Semantics, Type, mask};

const MODIFIERS: &str = "m64n* f16 bf16 tf32 f32 s32 s8 u8 e4m3 e5m2 b1 and popc satfinite";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "wgmma.mma_async.sync.aligned",
        modifiers: MODIFIERS,
        types: "",
        semantics: Semantics::Warp(decode_wgmma),
    },
    Row { name: "wgmma.fence.sync.aligned", modifiers: "", types: "", semantics: Semantics::Warp(fence) },
    Row { name: "wgmma.commit_group.sync.aligned", modifiers: "", types: "", semantics: Semantics::Warp(commit) },
    Row { name: "wgmma.wait_group.sync.aligned", modifiers: "", types: "", semantics: Semantics::Warp(wait) },
];

/// Number of rows of the result that one warp computes.
const ROWS_OF_WARP: usize = 16;

/// Bytes of one row of A along K in one MMA; equal for all element types.
const K_BYTES: usize = 32;

/// Number of consecutive bytes of shared memory that no swizzle separates.
const CHUNK: usize = 16;

/// A decoded matrix descriptor of an operand in shared memory, and whether the operand is MN-major.
#[derive(Debug, Clone, Copy)]
struct MatrixDescriptor {
    start: u64,
    leading: u64,
    stride: u64,
    /// Number of bytes of a row that the swizzle permutes: 32, 64 or 128; 16 without a swizzle.
    row: u64,
    /// Whether the operand is MN-major: contiguous along M or N instead of K.
    is_transposed: bool,
}

impl MatrixDescriptor {
    fn of(descriptor: u64, is_transposed: bool) -> Result<Self, DeviceFaultKind> {
        let field = |at: u32| (descriptor >> at & 0x3fff) << 4;
        if descriptor >> 49 & 7 != 0 {
            return Err(DeviceFaultKind::Instruction(
                "a descriptor with a base offset, which is not supported".to_owned(),
            ));
        }
        let row = match descriptor >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        Ok(Self { start: field(0), leading: field(16), stride: field(32), row, is_transposed })
    }

    /// Returns the address of byte `byte` along K in row `row` along M or N. An MN-major operand always has elements of
    /// two bytes.
    fn address(self, row: usize, byte: usize) -> u64 {
        let (row, byte) = (row as u64, byte as u64);
        let chunks = self.row / CHUNK as u64;
        let linear = if self.is_transposed {
            let (k, chunk) = (byte / 2, row / 8);
            let (across, along) = (chunk % chunks, chunk / chunks);
            let offset_in_tile = match self.row {
                16 => along * self.stride + k / 8 * self.leading,
                _ => along * self.leading + k / 8 * self.stride,
            };
            self.start + offset_in_tile + across * CHUNK as u64 + k % 8 * self.row + row % 8 * 2 + byte % 2
        } else {
            let chunk = byte / CHUNK as u64;
            let across = if self.row == 16 { chunk * self.leading } else { chunk * CHUNK as u64 };
            self.start + row % 8 * self.row + row / 8 * self.stride + across + byte % CHUNK as u64
        };
        linear ^ ((linear >> 7 & (chunks - 1)) << 4)
    }
}

/// An operand of an MMA: registers, or a matrix descriptor of shared memory, in a register.
enum MmaOperand {
    Registers(Vec<u32>),
    Memory { descriptor: u32, is_transposed: bool },
}

struct Wgmma {
    to: Vec<Option<Destination>>,
    accumulator: Vec<u32>,
    a: MmaOperand,
    b: MmaOperand,
    adds: (u32, bool),
    columns: usize,
    /// Bits of an element of A and B, and bits of an element of the accumulator.
    bits: [u32; 2],
    sum: MmaElementEvaluator,
}

fn decode_wgmma(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let shape = form.find(|word| {
        let (n, k) = word.strip_prefix("m64n")?.split_once('k')?;
        Some((n.parse::<usize>().ok()?, k.parse::<usize>().ok()?))
    });
    let (columns, depth) = shape.filter(|&(n, k)| n > 0 && n <= 256 && n % 8 == 0 && k > 0).ok_or(form.unknown())?;
    let row = form.instructions.iter().find(|row| belongs(&row.name, form.opcode));
    let row = row.ok_or_else(|| format!("the target has no instruction `{}`", form.opcode))?;
    // Floating-point MMAs have two operands for negation; 16-bit ones also have one for the majorness of each operand
    // in shared memory.
    let is_float = !form.has("s32");
    let count = 4 + if is_float { 2 } else { 0 };
    let in_registers = operands.is_group(1);
    let transpose_operands = if depth == 16 { 2 - usize::from(in_registers) } else { 0 };
    operands.expect(count + transpose_operands..=count + transpose_operands)?;
    if is_float && (operands.constant(4)?, operands.constant(5)?) != (1, 1) {
        return Err(format!("`{}` with a negated operand is not supported", form.opcode));
    }
    let is_transposed = |index: usize, operands: &Operands<'_>| -> Result<bool, String> {
        if transpose_operands == 0 { Ok(false) } else { operands.constant(index).map(|flag| flag == 1) }
    };
    let (wide, word) = (Type::named("b64").unwrap_or(form.ty()), Type::named("b32").unwrap_or(form.ty()));
    let a = match in_registers {
        true => MmaOperand::Registers(operands.sources(1, word)?),
        false => {
            MmaOperand::Memory { descriptor: operands.source(1, wide)?, is_transposed: is_transposed(6, operands)? }
        }
    };
    let b_is_transposed = is_transposed(6 + usize::from(!in_registers), operands)?;
    let b = MmaOperand::Memory { descriptor: operands.source(2, wide)?, is_transposed: b_is_transposed };
    let first_type = form.words.iter().find(|word| !word.starts_with("m64"));
    let bits = [(K_BYTES * 8 / depth) as u32, if first_type == Some(&"f16") { 16 } else { 32 }];
    let (to, accumulator) = (operands.destinations(0)?, operands.sources(0, word)?);
    let registers = columns * ROWS_OF_WARP * bits[1] as usize / 32 / LANES;
    if to.len() != registers || matches!(&a, MmaOperand::Registers(all) if all.len() != 4) {
        return Err(format!("`{}` takes {registers} accumulator registers, and 4 of operand A", form.opcode));
    }
    let adds = operands.predicate(3)?;
    Ok(Box::new(Wgmma { to, accumulator, a, b, adds, columns, bits, sum: MmaElementEvaluator::from_instruction(row)? }))
}

/// Whether `row`, the name of an instruction of the target, is for this opcode. Names have further suffixes for the
/// locations of A and B.
fn belongs(row: &str, opcode: &str) -> bool {
    row.strip_prefix(opcode).is_some_and(|rest| rest.starts_with('.'))
}

impl MmaOperand {
    /// Returns the bytes along K of `rows` rows of the operand. In shared memory, the first of them is row `first`; in
    /// registers, they are the warp's rows.
    fn bytes(&self, warp: &mut Running<'_>, first: usize, rows: usize) -> Result<Vec<[u8; K_BYTES]>, DeviceFaultKind> {
        let mut all = vec![[0; K_BYTES]; rows];
        match self {
            Self::Registers(registers) => {
                for lane in warp.lanes() {
                    for (index, &register) in registers.iter().enumerate() {
                        let word = warp.read_defined(register, lane, "operand A of the MMA")? as u32;
                        let (row, at) = (lane / 4 + index % 2 * 8, lane % 4 * 4 + index / 2 * CHUNK);
                        all[row][at..at + 4].copy_from_slice(&word.to_le_bytes());
                    }
                }
            }
            Self::Memory { descriptor, is_transposed } => {
                let matrix_descriptor = MatrixDescriptor::of(
                    warp.read_uniform(*descriptor, "the descriptor of an operand")?,
                    *is_transposed,
                )?;
                // Number of bytes that are adjacent in shared memory: one element if MN-major, otherwise a chunk of 16
                // bytes.
                let piece = if *is_transposed { 2 } else { CHUNK };
                for (row, own) in all.iter_mut().enumerate() {
                    for at in (0..K_BYTES).step_by(piece) {
                        let address = matrix_descriptor.address(first + row, at);
                        warp.group_take(address, &mut own[at..at + piece])?;
                    }
                }
            }
        }
        Ok(all)
    }
}

/// Returns the bits of element `index` along K, from the bytes of one row.
fn element(row: &[u8; K_BYTES], index: usize, bits: u32) -> u64 {
    let at = index * bits as usize;
    let bytes = (bits as usize / 8).max(1);
    let word = row[at / 8..at / 8 + bytes].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    word >> (at % 8) & mask(bits)
}

impl Operation for Wgmma {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        warp.check_convergent(u32::MAX)?;
        let of_group = warp.warp as usize % 4 * ROWS_OF_WARP;
        let a = self.a.bytes(warp, of_group, ROWS_OF_WARP)?;
        let b = self.b.bytes(warp, 0, self.columns)?;
        let (register, negated) = self.adds;
        let adds = (warp.read_uniform(register, "the scale-d predicate")? & 1 == 1) != negated;
        let [bits, sum_bits] = self.bits;
        let depth = K_BYTES * 8 / bits as usize;
        let each = (32 / sum_bits) as usize;
        for (index, &to) in self.to.iter().enumerate() {
            for lane in warp.lanes() {
                let accumulated = if adds {
                    warp.read_defined(self.accumulator[index], lane, "the accumulator of the MMA")?
                } else {
                    0
                };
                let mut word = 0;
                for word_of_element in 0..each {
                    // A lane's accumulator elements in order: two adjacent elements of a row, two of the row eight
                    // below, and so on, eight columns further each time.
                    let result_element = index * each + word_of_element;
                    let row = lane / 4 + result_element / 2 % 2 * 8;
                    let column = result_element / 4 * 8 + lane % 4 * 2 + result_element % 2;
                    let operands = (0..depth).map(|k| (element(&a[row], k, bits), element(&b[column], k, bits)));
                    let shift = word_of_element as u32 * sum_bits;
                    let total = self.sum.compute_element(accumulated >> shift & mask(sum_bits), operands);
                    word |= (total & mask(sum_bits)) << shift;
                }
                warp.set(to, lane, word);
            }
        }
        Ok(Next::Continue)
    }
}

fn fence(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::together(operands, |_| ())
}

fn commit(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::together(operands, |warp| warp.group_commit())
}

fn wait(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::wait(operands, |warp, outstanding| warp.group_wait(outstanding))
}
