//! Per-lane operations: each lane's result depends only on this lane's operands.

use super::registers::LANES;
use super::{Compute, Destination, DeviceFaultKind, Next, Operation, Running};

/// An operation whose result each lane computes from at most four of its registers. The result is undefined if one of
/// them is.
pub(crate) struct Lanes {
    to: Option<Destination>,
    from: [u32; 4],
    count: usize,
    compute: Compute,
}

impl Lanes {
    pub(crate) fn new(to: Option<Destination>, from: &[u32], compute: Compute) -> Self {
        let mut all = [0; 4];
        let count = from.len().min(all.len());
        all[..count].copy_from_slice(&from[..count]);
        Self { to, from: all, count, compute }
    }
}

impl Operation for Lanes {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let Some(to) = self.to else { return Ok(Next::Continue) };
        let mut values = [0; LANES];
        let mut defined = u32::MAX;
        {
            let none = [0; LANES];
            let mut rows = [&none; 4];
            for (row, &register) in rows.iter_mut().zip(&self.from[..self.count]) {
                *row = warp.registers.row(register);
                defined &= warp.registers.defined(register);
            }
            // Inactive lanes are skipped only for speed: `compute` cannot fail for any operand values.
            for (lane, value) in values.iter_mut().enumerate() {
                if warp.active >> lane & 1 == 1 {
                    *value = (self.compute)([rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]]) & to.mask;
                }
            }
        }
        warp.registers.write(to.register, warp.active, defined, &values);
        Ok(Next::Continue)
    }
}

/// An operation whose result has bytes that depend on only some bytes of its first `moved` registers; further registers
/// select. Each byte of the result is defined if all its bits are.
pub(crate) struct PartialLanes {
    lanes: Lanes,
    moved: usize,
    /// Computes the mask of the result's defined bits from those of the operands; `None` if the operation moves bits, so
    /// that its function finds the mask too.
    defines: Option<Compute>,
}

impl PartialLanes {
    /// Creates an operation that moves bits, as a byte permute does.
    pub(crate) fn moves(to: Option<Destination>, from: &[u32], moved: usize, compute: Compute) -> Self {
        Self { lanes: Lanes::new(to, from, compute), moved, defines: None }
    }

    /// Creates an operation on packed elements; `defines` computes the mask of the result's defined bits from those of
    /// the operands.
    pub(crate) fn packed(to: Option<Destination>, from: &[u32], compute: Compute, defines: Compute) -> Self {
        Self { lanes: Lanes::new(to, from, compute), moved: from.len(), defines: Some(defines) }
    }
}

impl Operation for PartialLanes {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let Lanes { to: Some(to), from, count, compute } = &self.lanes else { return Ok(Next::Continue) };
        let defines = self.defines.as_ref().unwrap_or(compute);
        let (moved, selecting) = from[..*count].split_at(self.moved);
        if moved.iter().all(|&register| warp.active & !warp.registers.defined(register) == 0) {
            return self.lanes.execute(warp);
        }
        for lane in warp.lanes() {
            let (mut values, mut bits) = ([0; 4], [0; 4]);
            for (index, &register) in from[..*count].iter().enumerate() {
                values[index] = warp.registers.get(register, lane);
                bits[index] =
                    if index < self.moved { warp.registers.defined_bits(register, lane) } else { values[index] };
            }
            let is_selected = selecting.iter().all(|&register| warp.registers.is_defined(register, lane));
            let defined = if is_selected { defines(bits) } else { 0 };
            warp.registers.set_bits(to.register, lane, compute(values) & to.mask, (defined, to.mask));
        }
        Ok(Next::Continue)
    }
}

/// An operation that calls a function; the warp then continues with the next instruction.
struct Each<F>(F);

impl<F> Operation for Each<F>
where
    F: Fn(&mut Running<'_>) -> Result<(), DeviceFaultKind> + Send + Sync,
{
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        (self.0)(warp).map(|()| Next::Continue)
    }
}

/// Returns an operation that calls `work` once for each warp that executes it; `work` must handle all active lanes. The
/// warp then continues with the next instruction.
pub(crate) fn each(
    work: impl Fn(&mut Running<'_>) -> Result<(), DeviceFaultKind> + Send + Sync + 'static,
) -> Box<dyn Operation> {
    Box::new(Each(work))
}
