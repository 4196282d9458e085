//! Instructions that a whole warp executes together to close groups of what goes on, and to wait for them.

use crate::machine::{Operation, Running, each};
use crate::program::Operands;

/// An instruction without operands.
pub(super) fn together(operands: &Operands<'_>, act: fn(&mut Running<'_>)) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(each(move |warp| {
        warp.together(u32::MAX)?;
        act(warp);
        Ok(())
    }))
}

/// A wait for all groups but the latest so many, a constant.
pub(super) fn wait(operands: &Operands<'_>, land: fn(&mut Running<'_>, usize)) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let outstanding = operands.constant(0)? as usize;
    Ok(each(move |warp| {
        warp.together(u32::MAX)?;
        land(warp, outstanding);
        Ok(())
    }))
}
