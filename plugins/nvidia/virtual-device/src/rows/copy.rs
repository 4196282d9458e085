//! Asynchronous copies from global to shared memory (`cp.async`).

use crate::machine::{CachePath, DeviceFaultKind, LANES, Operation, PtxSpace, each};
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

/// The operand of a copy that states how many bytes of a lane are read.
#[derive(Clone, Copy)]
enum ReadBytes {
    /// All of them.
    All,
    /// The number of bytes in this register (`src-size`).
    Count(u32),
    /// No bytes if the predicate in this register, negated if the flag is true, is true (`ignore-src`); else all bytes.
    Unless(u32, bool),
}

/// Decodes the operands `[to], [from], size{, bytes to read}{, whether to read none}` of `cp.async`; the bytes that are
/// not read are written as zeros.
fn copy(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    // A cache policy is the last operand if the opcode has a cache hint.
    let hinted = usize::from(form.has("L2::cache_hint"));
    operands.expect(3 + hinted..=4 + hinted)?;
    let (to, from, size) = (operands.address(0)?, operands.address(1)?, operands.constant(2)?);
    if ![4, 8, 16].contains(&size) || form.has("cg") && size != 16 {
        return Err(format!("`{}` of {size} bytes", form.opcode));
    }
    let read = if operands.count() - hinted < 4 {
        ReadBytes::All
    } else if operands.is_predicate(3) {
        let (by, negated) = operands.predicate(3)?;
        ReadBytes::Unless(by, negated)
    } else {
        ReadBytes::Count(operands.source(3, Type::named("u32").unwrap_or(form.ty()))?)
    };
    let path = if form.has("cg") { CachePath::Bypassed } else { CachePath::Cached };
    Ok(each(move |warp| {
        let mut units = [None; LANES];
        for lane in warp.lanes() {
            let (_, target) = warp.resolve(PtxSpace::Shared, &to, lane)?;
            let bytes = match read {
                ReadBytes::All => size,
                ReadBytes::Count(count) => warp.read_defined(count, lane, "the number of bytes to read")?,
                ReadBytes::Unless(by, negated) => {
                    let is_ignored = (warp.read_defined(by, lane, "whether to ignore the source")? & 1 == 1) != negated;
                    if is_ignored { 0 } else { size }
                }
            };
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
        warp.count((Direction::Load, path), &units, size as u32)
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
