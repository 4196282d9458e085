//! Matrix moves between registers and shared memory (`ldmatrix`, `stmatrix`). The target's instruction table gives, for
//! each segment (a 16-byte row in shared memory), the lane that addresses it and the lanes that hold its bytes.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, Instruction, InstructionKind, count_access_wavefronts};

use crate::machine::{Address, DeviceFaultKind, Next, Operation, PtxSpace, Running};
use crate::machine::{Destination, LANES};
use crate::program::{Form, Operands, Row, Semantics, mask};

const MODIFIERS: &str = "m8n8 m16n16 m16n8 x1 x2 x4 trans shared shared::cta";

pub(super) const ROWS: &[Row] = &[
    Row { name: "ldmatrix.sync.aligned", modifiers: MODIFIERS, types: "b8 b16", semantics: Semantics::Warp(load) },
    Row { name: "stmatrix.sync.aligned", modifiers: MODIFIERS, types: "b8 b16", semantics: Semantics::Warp(store) },
];

/// For each of a register's four bytes: the index of the segment (16-byte row in shared memory) that holds it, and its
/// offset there in bytes.
type Bytes = [(usize, usize); 4];

/// A decoded matrix move. Segments are 16-byte rows in shared memory.
struct Transfer {
    name: String,
    address: Address,
    space: PtxSpace,
    alignment: u32,
    segment_bytes: usize,
    /// For each segment, the index of the lane that gives its address.
    addressed_by: Vec<usize>,
    /// For each register and lane, the location in shared memory of the register's four bytes.
    bytes: Vec<Vec<Bytes>>,
}

/// Returns the instruction of the target's table that has this opcode; its modifiers may be in another order.
pub(super) fn row_of<'a>(form: &Form<'a>) -> Result<&'a Instruction, String> {
    let words = |name: &str| {
        let mut words: Vec<String> = name.replace("shared::cta", "shared").split('.').map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    let required = words(form.opcode);
    let found = form.instructions.iter().find(|row| row.name == form.opcode);
    let found = found.or_else(|| form.instructions.iter().find(|row| words(&row.name) == required));
    found.ok_or_else(|| {
        let names = form.instructions.iter().map(|row| row.name.as_str());
        let near = tilewright_target::find_similar_name(form.opcode, names);
        let near = near.map(|name| format!("; the nearest is `{name}`")).unwrap_or_default();
        format!("the target has no instruction `{}`{near}", form.opcode)
    })
}

impl Transfer {
    fn of(form: &Form<'_>, address: Address) -> Result<Self, String> {
        let row = row_of(form)?;
        let access = row.access_operand().filter(|_| row.kind == InstructionKind::SharedMove);
        let (data, by_lane, alignment) = access.ok_or("the instruction moves no matrix")?;
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let segments = 1usize << data.out_bits(segment);
        let lanes: Vec<usize> = (0..1u64 << by_lane.ins().total_bits())
            .map(|lane| by_lane.outs().coordinate(by_lane.apply_packed(lane), segment) as usize)
            .collect();
        let addressed_by = (0..segments)
            .map(|segment| {
                lanes.iter().position(|&lane_segment| lane_segment == segment).ok_or("no lane addresses some segment")
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: row.name.clone(),
            address,
            space: if form.find(PtxSpace::named).is_some() { PtxSpace::Shared } else { PtxSpace::Generic },
            alignment,
            segment_bytes: 1 << data.out_bits(byte),
            addressed_by,
            bytes: bytes(data)?,
        })
    }

    /// Returns the address of each segment (16-byte row) with the index of the lane that gives it. Checks alignment and
    /// space, and counts the access.
    fn segments(&self, warp: &mut Running<'_>, direction: Direction) -> Result<Vec<(u64, usize)>, DeviceFaultKind> {
        warp.check_convergent(u32::MAX)?;
        let mut segments = Vec::with_capacity(self.addressed_by.len());
        for &lane in &self.addressed_by {
            let (space, address) = warp.resolve(self.space, &self.address, lane)?;
            let fault_lane = lane as u32;
            if space != PtxSpace::Shared {
                let near = "matrices are in shared memory".to_owned();
                let bytes = self.segment_bytes as u64;
                return Err(DeviceFaultKind::OutOfBounds { direction, space, address, bytes, near, lane: fault_lane });
            }
            if !address.is_multiple_of(self.alignment.into()) {
                let alignment = self.alignment.into();
                return Err(DeviceFaultKind::Misaligned { direction, space, address, alignment, lane: fault_lane });
            }
            segments.push((address, lane));
        }
        let bits = self.segment_bytes as u32 * 8;
        let banks = warp.target.find_instruction_bank_row(&self.name, direction, bits);
        let banks =
            banks.ok_or_else(|| DeviceFaultKind::Instruction("the target has no bank row for it".to_owned()))?;
        let addresses: Vec<Option<u64>> = segments.iter().map(|&(address, _)| Some(address)).collect();
        let taken = count_access_wavefronts(banks, &addresses, self.segment_bytes as u32);
        match direction {
            Direction::Load => {
                warp.counts.matrix_loads += 1;
                warp.counts.wavefronts_loaded += taken;
            }
            Direction::Store => {
                warp.counts.matrix_stores += 1;
                warp.counts.wavefronts_stored += taken;
            }
        }
        Ok(segments)
    }
}

/// Returns, for each register and lane, the segment (16-byte row in shared memory) and the offset of each of the
/// register's four bytes. `data` maps (register, lane, byte) to (segment, byte of the segment).
fn bytes(data: &LinearLayout) -> Result<Vec<Vec<Bytes>>, String> {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    if data.in_bits(byte) != 2 || data.in_bits(Dim::LANE) != 5 {
        return Err("the instruction does not have 32-bit registers of 32 lanes".to_owned());
    }
    let mut all = vec![vec![[(0, 0); 4]; LANES]; 1 << data.in_bits(Dim::REGISTER)];
    for packed in 0..1u64 << data.ins().total_bits() {
        let image = data.apply_packed(packed);
        let [register, lane, at] =
            [Dim::REGISTER, Dim::LANE, byte].map(|dim| data.ins().coordinate(packed, dim) as usize);
        all[register][lane][at] =
            (data.outs().coordinate(image, segment) as usize, data.outs().coordinate(image, byte) as usize);
    }
    Ok(all)
}

struct Load {
    transfer: Transfer,
    to: Vec<Option<Destination>>,
}

fn load(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let (to, transfer) = (operands.destinations(0)?, Transfer::of(form, operands.address(1)?)?);
    if to.len() != transfer.bytes.len() {
        return Err(format!("`{}` has {} result registers", form.opcode, transfer.bytes.len()));
    }
    Ok(Box::new(Load { transfer, to }))
}

impl Operation for Load {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let transfer = &self.transfer;
        let segments = transfer.segments(warp, Direction::Load)?;
        let mut data = vec![0; transfer.segment_bytes * segments.len()];
        for (&(address, lane), lane_segment) in segments.iter().zip(data.chunks_exact_mut(transfer.segment_bytes)) {
            let who = warp.accessor(lane);
            warp.shared.load(address, lane_segment, &who)?;
        }
        for (to, lanes) in self.to.iter().zip(&transfer.bytes) {
            for lane in warp.lanes() {
                let byte = |(segment, byte): (usize, usize)| u64::from(data[segment * transfer.segment_bytes + byte]);
                let word = lanes[lane].iter().rev().fold(0, |word, &source| word << 8 | byte(source));
                warp.set(*to, lane, word);
            }
        }
        Ok(Next::Continue)
    }
}

struct Store {
    transfer: Transfer,
    from: Vec<u32>,
}

fn store(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let transfer = Transfer::of(form, operands.address(0)?)?;
    let from = operands.sources(1, form.ty())?;
    if from.len() != transfer.bytes.len() {
        return Err(format!("`{}` takes {} registers", form.opcode, transfer.bytes.len()));
    }
    Ok(Box::new(Store { transfer, from }))
}

impl Operation for Store {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let transfer = &self.transfer;
        let segments = transfer.segments(warp, Direction::Store)?;
        let mut data = vec![(0, false); transfer.segment_bytes * segments.len()];
        for (&from, lanes) in self.from.iter().zip(&transfer.bytes) {
            for lane in warp.lanes() {
                let (word, defined) = (warp.registers.get(from, lane), warp.registers.defined_bits(from, lane));
                for (at, &(segment, byte)) in lanes[lane].iter().enumerate() {
                    let [byte_value, is_defined] = [word, defined].map(|word| word >> (8 * at) & mask(8));
                    data[segment * transfer.segment_bytes + byte] = (byte_value as u8, is_defined != 0);
                }
            }
        }
        for (&(start, lane), lane_segment) in segments.iter().zip(data.chunks_exact(transfer.segment_bytes)) {
            let (who, mut address) = (warp.accessor(lane), start);
            for run in lane_segment.chunk_by(|(_, a), (_, b)| a == b) {
                let bytes: Vec<u8> = run.iter().map(|(byte, _)| *byte).collect();
                warp.shared.store(address, &bytes, run[0].1, &who)?;
                address += bytes.len() as u64;
            }
        }
        Ok(Next::Continue)
    }
}
