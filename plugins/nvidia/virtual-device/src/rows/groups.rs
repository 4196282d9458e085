//! Instructions that a whole warp executes together to commit groups of asynchronous operations and to wait for them.

use crate::machine::{Operation, Running, each};
use crate::program::Operands;

/// Returns an operation without operands that calls `act` on the warp. It faults unless all lanes of the warp execute
/// it together.
pub(super) fn together(operands: &Operands<'_>, act: fn(&mut Running<'_>)) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(each(move |warp| {
        warp.check_convergent(u32::MAX)?;
        act(warp);
        Ok(())
    }))
}

/// Returns a wait for asynchronous groups. The instruction's operand is the number of groups that may stay in flight;
/// `land` gets it and completes the others. It faults unless all lanes of the warp execute the wait together.
pub(super) fn wait(operands: &Operands<'_>, land: fn(&mut Running<'_>, usize)) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let outstanding = operands.constant(0)? as usize;
    Ok(each(move |warp| {
        warp.check_convergent(u32::MAX)?;
        land(warp, outstanding);
        Ok(())
    }))
}
