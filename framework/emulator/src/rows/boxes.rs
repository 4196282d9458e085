//! Copies of a box of a tensor between global and shared memory, issued once by a warp: to shared memory, where bytes
//! that are outside of the tensor are as the map says, completing on an mbarrier by all bytes of the box; or from there
//! on a queue, which drops what is outside.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use tilewright_kernel::Outside;
use tilewright_target::{Completion, Instruction, Operand, TensorCopyLayout, TensorCopyOperand};

/// One such instruction; numbers of its operands.
pub(super) struct BoxCopy {
    tensor: usize,
    coordinates: Vec<usize>,
    memory: usize,
    /// Of one that goes to shared memory.
    mbarrier: Option<usize>,
    operand: TensorCopyOperand,
}

impl BoxCopy {
    /// The copy that the row makes; nothing where it is of no box.
    pub(super) fn of(row: &Instruction) -> Option<Result<Self, String>> {
        let (memory, operand) = row.operands.iter().enumerate().find_map(|(number, operand)| match operand {
            Operand::Box(operand) => Some((number, operand)),
            _ => None,
        })?;
        Some(Self::with(row, memory, operand))
    }

    fn with(row: &Instruction, memory: usize, operand: &TensorCopyOperand) -> Result<Self, String> {
        let at = |required: &Operand| row.operands.iter().position(|operand| operand == required);
        let tensor = at(&Operand::TensorMap).ok_or("its row has no tensor")?;
        let numbers = row.operands.iter().enumerate();
        let coordinates: Vec<_> =
            numbers.filter(|(_, operand)| **operand == Operand::Coordinate).map(|(number, _)| number).collect();
        if coordinates.len() != operand.rank as usize {
            return Err(format!("its row has {} coordinates of {} axes", coordinates.len(), operand.rank));
        }
        let mbarrier = at(&Operand::Mbarrier);
        match (row.completion, mbarrier, memory < tensor) {
            (Completion::Mbarrier, Some(_), true) | (Completion::Queue(_), None, false) => {}
            _ => return Err("its row says neither how it completes on an mbarrier nor on a queue".to_owned()),
        }
        Ok(Self { tensor, coordinates, memory, mbarrier, operand: operand.clone() })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let fits = tensor.map.check_for(&self.operand);
        let aligned = || tensor.check_alignment(self.operand.global_alignment.into());
        fits.and_then(|()| aligned()).map_err(|message| call.wrong(&message))?;
        let missing = || call.wrong("no box of it lies like this");
        let arrangement = self.operand.arrangement_of(tensor.map.mix).ok_or_else(missing)?;
        let mut origin = Vec::with_capacity(self.coordinates.len());
        for &coordinate in &self.coordinates {
            origin.push(i64::from(call.same_operand(coordinate)? as u32 as i32));
        }
        let start = call.same_operand(self.memory)?;
        match self.mbarrier {
            Some(mbarrier) => self.bring(call, (start, arrangement), &origin, mbarrier),
            None => self.put_back(call, (start, arrangement), &origin),
        }
    }

    fn bring(
        &self,
        call: &mut Call<'_>,
        (start, arrangement): (u64, &TensorCopyLayout),
        origin: &[i64],
        mbarrier: usize,
    ) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let outside = match tensor.map.outside {
            Outside::Zeros => 0,
            Outside::NotANumber => 0xff,
        };
        let mut content = vec![outside; tensor.map.box_bytes() as usize];
        call.load_runs(&tensor.runs(origin), tensor.map.element_bits / 8, &mut content)?;
        let mut placed = vec![0; content.len()];
        for (at, byte) in (0..).zip(content) {
            *place(&mut placed, (start, arrangement), at).ok_or_else(|| call.wrong(PARTED))? = byte;
        }
        let mbarrier = call.same_operand(mbarrier)?;
        call.completes_on_mbarrier(mbarrier);
        call.send_write(0, start, &placed, arrangement.alignment)?;
        call.count_bulk_copy(placed.len());
        Ok(())
    }

    fn put_back(
        &self,
        call: &mut Call<'_>,
        (start, arrangement): (u64, &TensorCopyLayout),
        origin: &[i64],
    ) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let bytes = tensor.map.box_bytes();
        let mut placed = call.send_read(start, bytes as u32, arrangement.alignment)?;
        let mut content = Vec::with_capacity(placed.len());
        for at in 0..bytes {
            content.push(*place(&mut placed, (start, arrangement), at).ok_or_else(|| call.wrong(PARTED))?);
        }
        call.send_runs(&tensor.runs(origin), tensor.map.element_bits / 8, &content)?;
        call.count_bulk_copy(content.len());
        Ok(())
    }
}

/// Where a byte of the box lies, counted from the start: mixing keeps what is together between multiples of the
/// alignment.
fn place<'a>(placed: &'a mut [u8], (start, arrangement): (u64, &TensorCopyLayout), at: u64) -> Option<&'a mut u8> {
    let place = arrangement.mix.apply(start.wrapping_add(at)).checked_sub(start)?;
    placed.get_mut(usize::try_from(place).ok()?)
}

const PARTED: &str = "the box is mixed with what is beside it; it begins at a multiple of the alignment";
