//! Matrix moves between registers and shared memory, as the target's own rows have them: which lane addresses which slot,
//! and which lane holds which byte.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, Instruction, InstructionKind, Operand, wavefronts};

use crate::machine::{Address, DeviceFaultKind, Next, Operation, PtxSpace, Running};
use crate::machine::{LANES, Place};
use crate::program::{Form, Meaning, Operands, Row, mask};

const MODIFIERS: &str = "m8n8 m16n16 m16n8 x1 x2 x4 trans shared shared::cta";

pub(super) const ROWS: &[Row] = &[
    Row { name: "ldmatrix.sync.aligned", modifiers: MODIFIERS, types: "b8 b16", meaning: Meaning::Warp(load) },
    Row { name: "stmatrix.sync.aligned", modifiers: MODIFIERS, types: "b8 b16", meaning: Meaning::Warp(store) },
];

/// The slot, and the byte of it, of each byte of a register.
type Bytes = [(usize, usize); 4];

/// Where the bytes of a matrix move lie.
struct Transfer {
    name: String,
    address: Address,
    space: PtxSpace,
    alignment: u32,
    slot_bytes: usize,
    /// The lane that gives the address of each slot.
    addressed_by: Vec<usize>,
    /// For each register and lane, where its four bytes are: slot and byte.
    bytes: Vec<Vec<Bytes>>,
}

/// The target's row of an opcode, whose words may stand in another order.
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
        let near = tilewright_target::nearest(form.opcode, names);
        let near = near.map(|name| format!("; the nearest is `{name}`")).unwrap_or_default();
        format!("the target has no instruction `{}`{near}", form.opcode)
    })
}

impl Transfer {
    fn of(form: &Form<'_>, address: Address) -> Result<Self, String> {
        let row = row_of(form)?;
        let access = row.operands.iter().find_map(|operand| match operand {
            Operand::Access { data, address, alignment } => Some((data, address, *alignment)),
            _ => None,
        });
        let (data, by_lane, alignment) =
            access.filter(|_| row.kind == InstructionKind::SharedMove).ok_or("the row moves no matrix")?;
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let slots = 1usize << data.out_bits(slot);
        let lanes: Vec<usize> = (0..1u64 << by_lane.ins().bits())
            .map(|lane| by_lane.outs().coordinate(by_lane.apply_packed(lane), slot) as usize)
            .collect();
        let addressed_by = (0..slots)
            .map(|slot| lanes.iter().position(|&own| own == slot).ok_or("no lane addresses some slot"))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: row.name.clone(),
            address,
            space: if form.find(PtxSpace::named).is_some() { PtxSpace::Shared } else { PtxSpace::Generic },
            alignment,
            slot_bytes: 1 << data.out_bits(byte),
            addressed_by,
            bytes: bytes(data)?,
        })
    }

    /// The addresses of the slots, checked and counted.
    fn slots(&self, warp: &mut Running<'_>, direction: Direction) -> Result<Vec<(u64, usize)>, DeviceFaultKind> {
        warp.together(u32::MAX)?;
        let mut slots = Vec::with_capacity(self.addressed_by.len());
        for &lane in &self.addressed_by {
            let (space, address) = warp.resolve(self.space, &self.address, lane)?;
            let fault_lane = lane as u32;
            if space != PtxSpace::Shared {
                let near = "matrices are in shared memory".to_owned();
                let bytes = self.slot_bytes as u64;
                return Err(DeviceFaultKind::OutOfBounds { direction, space, address, bytes, near, lane: fault_lane });
            }
            if !address.is_multiple_of(self.alignment.into()) {
                let alignment = self.alignment.into();
                return Err(DeviceFaultKind::Misaligned { direction, space, address, alignment, lane: fault_lane });
            }
            slots.push((address, lane));
        }
        let bits = self.slot_bytes as u32 * 8;
        let banks = warp.target.instruction_bank_row(&self.name, direction, bits);
        let banks =
            banks.ok_or_else(|| DeviceFaultKind::Instruction("the target has no row of banks for it".to_owned()))?;
        let addresses: Vec<Option<u64>> = slots.iter().map(|&(address, _)| Some(address)).collect();
        let taken = wavefronts(banks, &addresses, self.slot_bytes as u32);
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
        Ok(slots)
    }
}

/// For each register and lane the slot and the byte of each of its four bytes.
fn bytes(data: &LinearLayout) -> Result<Vec<Vec<Bytes>>, String> {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    if data.in_bits(byte) != 2 || data.in_bits(Dim::LANE) != 5 {
        return Err("the row has other registers than those of 32 bits of 32 lanes".to_owned());
    }
    let mut all = vec![vec![[(0, 0); 4]; LANES]; 1 << data.in_bits(Dim::REGISTER)];
    for place in 0..1u64 << data.ins().bits() {
        let image = data.apply_packed(place);
        let [register, lane, at] =
            [Dim::REGISTER, Dim::LANE, byte].map(|dim| data.ins().coordinate(place, dim) as usize);
        all[register][lane][at] =
            (data.outs().coordinate(image, slot) as usize, data.outs().coordinate(image, byte) as usize);
    }
    Ok(all)
}

struct Load {
    transfer: Transfer,
    to: Vec<Option<Place>>,
}

fn load(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let (to, transfer) = (operands.places(0)?, Transfer::of(form, operands.address(1)?)?);
    if to.len() != transfer.bytes.len() {
        return Err(format!("`{}` gives {} registers", form.opcode, transfer.bytes.len()));
    }
    Ok(Box::new(Load { transfer, to }))
}

impl Operation for Load {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let transfer = &self.transfer;
        let slots = transfer.slots(warp, Direction::Load)?;
        let mut data = vec![0; transfer.slot_bytes * slots.len()];
        for (&(address, lane), own) in slots.iter().zip(data.chunks_exact_mut(transfer.slot_bytes)) {
            let who = warp.accessor(lane);
            warp.shared.load(address, own, &who)?;
        }
        for (to, lanes) in self.to.iter().zip(&transfer.bytes) {
            for lane in warp.lanes() {
                let byte = |(slot, byte): (usize, usize)| u64::from(data[slot * transfer.slot_bytes + byte]);
                let word = lanes[lane].iter().rev().fold(0, |word, &place| word << 8 | byte(place));
                warp.set(*to, lane, word);
            }
        }
        Ok(Next::Follow)
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
        let slots = transfer.slots(warp, Direction::Store)?;
        let mut data = vec![0; transfer.slot_bytes * slots.len()];
        for (&from, lanes) in self.from.iter().zip(&transfer.bytes) {
            for lane in warp.lanes() {
                let word = warp.known(from, lane, "what is stored")?;
                for (at, &(slot, byte)) in lanes[lane].iter().enumerate() {
                    data[slot * transfer.slot_bytes + byte] = (word >> (8 * at) & mask(8)) as u8;
                }
            }
        }
        for (&(address, lane), own) in slots.iter().zip(data.chunks_exact(transfer.slot_bytes)) {
            let who = warp.accessor(lane);
            warp.shared.store(address, own, true, &who)?;
        }
        Ok(Next::Follow)
    }
}
