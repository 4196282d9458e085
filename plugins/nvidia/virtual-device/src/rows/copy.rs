//! Asynchronous copies from global to shared memory (`cp.async`).

use crate::machine::{DeviceFaultKind, LANES, Operation, PtxSpace, each};
use crate::program::{Form, Operands, Row, Semantics, Type};
use tilewright_target::Direction;

use super::groups;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "cp.async",
        modifiers: "ca cg shared shared::cta global L2::",
        types: "",
        semantics: Semantics::Warp(copy),
    },
    Row { name: "cp.async.commit_group", modifiers: "", types: "", semantics: Semantics::Warp(commit) },
    Row { name: "cp.async.wait_group", modifiers: "", types: "", semantics: Semantics::Warp(wait) },
    Row { name: "cp.async.wait_all", modifiers: "", types: "", semantics: Semantics::Warp(wait_all) },
];

/// Decodes `cp.async` with operands `[to], [from], size{, bytes to read}`. Bytes beyond `bytes to read` are filled with
/// zeros.
fn copy(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    // A cache policy is the last operand if the opcode has a cache hint.
    let hinted = usize::from(form.has("L2::cache_hint"));
    operands.expect(3 + hinted..=4 + hinted)?;
    let (to, from, size) = (operands.address(0)?, operands.address(1)?, operands.constant(2)?);
    if ![4, 8, 16].contains(&size) || form.has("cg") && size != 16 {
        return Err(format!("`{}` of {size} bytes", form.opcode));
    }
    let read = match operands.count() - hinted {
        4 => Some(operands.source(3, Type::named("u32").unwrap_or(form.ty()))?),
        _ => None,
    };
    Ok(each(move |warp| {
        let mut units = [None; LANES];
        for lane in warp.lanes() {
            let (_, target) = warp.resolve(PtxSpace::Shared, &to, lane)?;
            let bytes = read.map_or(Ok(size), |read| warp.read_defined(read, lane, "the number of bytes to read"))?;
            if bytes > size {
                return Err(DeviceFaultKind::Instruction(format!("lane {lane}: {bytes} bytes of {size} are read")));
            }
            let misaligned = |space, direction, address| DeviceFaultKind::Misaligned {
                direction,
                space,
                address,
                alignment: size,
                lane: lane as u32,
            };
            if !target.is_multiple_of(size) {
                return Err(misaligned(PtxSpace::Shared, Direction::Store, target));
            }
            let mut data = vec![0; size as usize];
            if bytes > 0 {
                let resolved = warp.resolve(PtxSpace::Global, &from, lane)?;
                if !resolved.1.is_multiple_of(size) {
                    return Err(misaligned(PtxSpace::Global, Direction::Load, resolved.1));
                }
                warp.load(resolved, &mut data[..bytes as usize], lane)?;
                units[lane] = Some(resolved);
            }
            warp.send(lane, target, data)?;
        }
        warp.counts.asynchronous_copies += 1;
        warp.count(Direction::Load, &units, size as u32)
    }))
}

fn commit(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::together(operands, |warp| warp.commit())
}

fn wait(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::wait(operands, |warp, outstanding| warp.land(outstanding, false))
}

fn wait_all(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    groups::together(operands, |warp| warp.land(0, true))
}
