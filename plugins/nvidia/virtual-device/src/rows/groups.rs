//! Instructions that a whole warp executes together to commit groups of asynchronous operations and to wait for them.

use crate::machine::{Operation, Running, each};
use crate::program::Operands;

/// Returns an operation without operands that runs `act`; all lanes of the warp must execute the operation together.
pub(super) fn together(operands: &Operands<'_>, act: fn(&mut Running<'_>)) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(each(move |warp| {
        warp.check_convergent(u32::MAX)?;
        act(warp);
        Ok(())
    }))
}

/// Returns a wait for all committed groups except the latest ones. The instruction's operand is the number of these
/// latest groups, which `land` gets. All lanes of the warp must execute the wait together.
pub(super) fn wait(operands: &Operands<'_>, land: fn(&mut Running<'_>, usize)) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let outstanding = operands.constant(0)? as usize;
    Ok(each(move |warp| {
        warp.check_convergent(u32::MAX)?;
        land(warp, outstanding);
        Ok(())
    }))
}
