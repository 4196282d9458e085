//! Products of matrices by four warps, `wgmma.mma_async`: each warp has 16 of the 64 rows, and takes one factor or both from
//! shared memory by descriptors. Sums are there at once; what is read of shared memory is lent until the warp waits.
//!
//! Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": register fragments, matrix descriptor, canonical
//! layouts.

use tilewright_emulator::ElementSum;

use super::groups;
use crate::machine::{DeviceFaultKind, LANES, Next, Operation, Place, Running};
use crate::program::{Form, Meaning, Operands, Row, Type, mask};

const MODIFIERS: &str = "m64n* f16 bf16 tf32 f32 s32 s8 u8 e4m3 e5m2 b1 and popc satfinite";

pub(super) const ROWS: &[Row] = &[
    Row { name: "wgmma.mma_async.sync.aligned", modifiers: MODIFIERS, types: "", meaning: Meaning::Warp(product) },
    Row { name: "wgmma.fence.sync.aligned", modifiers: "", types: "", meaning: Meaning::Warp(fence) },
    Row { name: "wgmma.commit_group.sync.aligned", modifiers: "", types: "", meaning: Meaning::Warp(commit) },
    Row { name: "wgmma.wait_group.sync.aligned", modifiers: "", types: "", meaning: Meaning::Warp(wait) },
];

/// Rows of a warp.
const ROWS_OF_WARP: usize = 16;

/// Bytes of K of one product, whatever its elements.
const K_BYTES: usize = 32;

/// Bytes that lie together whatever the swizzle.
const CHUNK: usize = 16;

/// A factor in shared memory, as its descriptor and the instruction say it.
#[derive(Debug, Clone, Copy)]
struct Described {
    start: u64,
    leading: u64,
    stride: u64,
    /// Bytes of a swizzled row: 32, 64 or 128; 16 where nothing is swizzled.
    row: u64,
    /// Whether rows of M or N follow each other, rather than those of K.
    is_turned: bool,
}

impl Described {
    fn of(descriptor: u64, is_turned: bool) -> Result<Self, DeviceFaultKind> {
        let field = |at: u32| (descriptor >> at & 0x3fff) << 4;
        if descriptor >> 49 & 7 != 0 {
            return Err(DeviceFaultKind::Instruction(
                "a descriptor with a base offset, which is not known here".to_owned(),
            ));
        }
        let row = match descriptor >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        Ok(Self { start: field(0), leading: field(16), stride: field(32), row, is_turned })
    }

    /// The address of a byte of K, of a row of M or N; of turned ones elements have two bytes.
    fn address(self, row: usize, byte: usize) -> u64 {
        let (row, byte) = (row as u64, byte as u64);
        let chunks = self.row / CHUNK as u64;
        let linear = if self.is_turned {
            let (k, chunk) = (byte / 2, row / 8);
            let (across, along) = (chunk % chunks, chunk / chunks);
            let places = match self.row {
                16 => along * self.stride + k / 8 * self.leading,
                _ => along * self.leading + k / 8 * self.stride,
            };
            self.start + places + across * CHUNK as u64 + k % 8 * self.row + row % 8 * 2 + byte % 2
        } else {
            let chunk = byte / CHUNK as u64;
            let across = if self.row == 16 { chunk * self.leading } else { chunk * CHUNK as u64 };
            self.start + row % 8 * self.row + row / 8 * self.stride + across + byte % CHUNK as u64
        };
        linear ^ ((linear >> 7 & (chunks - 1)) << 4)
    }
}

/// Where a factor is.
enum Factor {
    Registers(Vec<u32>),
    Memory { descriptor: u32, is_turned: bool },
}

struct Product {
    to: Vec<Option<Place>>,
    accumulator: Vec<u32>,
    a: Factor,
    b: Factor,
    adds: (u32, bool),
    columns: usize,
    /// Bits of an element of the factors, and of the sums.
    bits: [u32; 2],
    sum: ElementSum,
}

fn product(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let shape = form.find(|word| {
        let (n, k) = word.strip_prefix("m64n")?.split_once('k')?;
        Some((n.parse::<usize>().ok()?, k.parse::<usize>().ok()?))
    });
    let (columns, depth) = shape.filter(|&(n, k)| n > 0 && n <= 256 && n % 8 == 0 && k > 0).ok_or(form.unknown())?;
    let row = form.instructions.iter().find(|row| belongs(&row.name, form.opcode));
    let row = row.ok_or_else(|| format!("the target has no instruction `{}`", form.opcode))?;
    // Signs follow where elements are floating-point numbers, and how the factors lie where they have 16 bits.
    let is_float = !form.has("s32");
    let count = 4 + if is_float { 2 } else { 0 };
    let in_registers = operands.is_group(1);
    let iterations = if depth == 16 { 2 - usize::from(in_registers) } else { 0 };
    operands.expect(count + iterations..=count + iterations)?;
    if is_float && (operands.constant(4)?, operands.constant(5)?) != (1, 1) {
        return Err(format!("`{}` with a factor that is negated is not known here", form.opcode));
    }
    let is_turned = |number: usize, operands: &Operands<'_>| -> Result<bool, String> {
        if iterations == 0 { Ok(false) } else { operands.constant(number).map(|turned| turned == 1) }
    };
    let (wide, word) = (Type::named("b64").unwrap_or(form.ty()), Type::named("b32").unwrap_or(form.ty()));
    let a = match in_registers {
        true => Factor::Registers(operands.sources(1, word)?),
        false => Factor::Memory { descriptor: operands.source(1, wide)?, is_turned: is_turned(6, operands)? },
    };
    let b_turned = is_turned(6 + usize::from(!in_registers), operands)?;
    let b = Factor::Memory { descriptor: operands.source(2, wide)?, is_turned: b_turned };
    let first_type = form.words.iter().find(|word| !word.starts_with("m64"));
    let bits = [(K_BYTES * 8 / depth) as u32, if first_type == Some(&"f16") { 16 } else { 32 }];
    let (to, accumulator) = (operands.places(0)?, operands.sources(0, word)?);
    let registers = columns * ROWS_OF_WARP * bits[1] as usize / 32 / LANES;
    if to.len() != registers || matches!(&a, Factor::Registers(all) if all.len() != 4) {
        return Err(format!("`{}` takes {registers} registers of sums, and 4 of a factor", form.opcode));
    }
    let adds = operands.predicate(3)?;
    Ok(Box::new(Product { to, accumulator, a, b, adds, columns, bits, sum: ElementSum::of(row)? }))
}

/// Whether a row of the target is an opcode's; behind it the row says where the factors are.
fn belongs(row: &str, opcode: &str) -> bool {
    row.strip_prefix(opcode).is_some_and(|rest| rest.starts_with('.'))
}

impl Factor {
    /// So many rows of K, byte by byte; `first` is the first row of those in shared memory.
    fn bytes(&self, warp: &mut Running<'_>, first: usize, rows: usize) -> Result<Vec<[u8; K_BYTES]>, DeviceFaultKind> {
        let mut all = vec![[0; K_BYTES]; rows];
        match self {
            Self::Registers(registers) => {
                for lane in warp.lanes() {
                    for (number, &register) in registers.iter().enumerate() {
                        let word = warp.known(register, lane, "a factor of the product")? as u32;
                        let (row, at) = (lane / 4 + number % 2 * 8, lane % 4 * 4 + number / 2 * CHUNK);
                        all[row][at..at + 4].copy_from_slice(&word.to_le_bytes());
                    }
                }
            }
            Self::Memory { descriptor, is_turned } => {
                let described = Described::of(warp.same(*descriptor, "the descriptor of a factor")?, *is_turned)?;
                // What follows each other in memory: bytes of an element, or a chunk.
                let piece = if *is_turned { 2 } else { CHUNK };
                for (row, own) in all.iter_mut().enumerate() {
                    for at in (0..K_BYTES).step_by(piece) {
                        let address = described.address(first + row, at);
                        warp.group_take(address, &mut own[at..at + piece])?;
                    }
                }
            }
        }
        Ok(all)
    }
}

/// An element of a row of K.
fn element(row: &[u8; K_BYTES], number: usize, bits: u32) -> u64 {
    let at = number * bits as usize;
    let bytes = (bits as usize / 8).max(1);
    let word = row[at / 8..at / 8 + bytes].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    word >> (at % 8) & mask(bits)
}

impl Operation for Product {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        warp.together(u32::MAX)?;
        let of_group = warp.warp as usize % 4 * ROWS_OF_WARP;
        let a = self.a.bytes(warp, of_group, ROWS_OF_WARP)?;
        let b = self.b.bytes(warp, 0, self.columns)?;
        let (register, negated) = self.adds;
        let adds = (warp.same(register, "whether sums are added to")? & 1 == 1) != negated;
        let [bits, sum_bits] = self.bits;
        let depth = K_BYTES * 8 / bits as usize;
        let each = (32 / sum_bits) as usize;
        for (number, &to) in self.to.iter().enumerate() {
            for lane in warp.lanes() {
                let held =
                    if adds { warp.known(self.accumulator[number], lane, "the sums of the product")? } else { 0 };
                let mut word = 0;
                for part in 0..each {
                    // Two neighbours of a row, then those eight rows below, then those eight columns on.
                    let place = number * each + part;
                    let row = lane / 4 + place / 2 % 2 * 8;
                    let column = place / 4 * 8 + lane % 4 * 2 + place % 2;
                    let factors = (0..depth).map(|k| (element(&a[row], k, bits), element(&b[column], k, bits)));
                    let shift = part as u32 * sum_bits;
                    let total = self.sum.total(held >> shift & mask(sum_bits), factors);
                    word |= (total & mask(sum_bits)) << shift;
                }
                warp.set(to, lane, word);
            }
        }
        Ok(Next::Follow)
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
