//! Instructions without effect on contents in the virtual device: fences (one warp runs at a time and sees all memory),
//! cache hints, and delays.

use crate::machine::{Lanes, Operation, each};
use crate::program::{Form, Operands, Row, Semantics};

const FENCES: &str = "sc acq_rel acquire release cta cluster gpu sys proxy alias async global shared::cta shared::cluster \
                      generic mbarrier_init tensormap::generic";
const CACHES: &str = "global local L1 L2 L1:: L2:: generic level:: v2 const param tensormap";

pub(super) const ROWS: &[Row] = &[
    Row { name: "fence", modifiers: FENCES, types: "", semantics: Semantics::Warp(fence) },
    Row { name: "membar", modifiers: "cta gl gpu sys proxy alias async", types: "", semantics: Semantics::Warp(fence) },
    Row { name: "nanosleep", modifiers: "", types: "u32", semantics: Semantics::Warp(nothing) },
    Row { name: "pmevent", modifiers: "mask", types: "", semantics: Semantics::Warp(nothing) },
    Row { name: "griddepcontrol", modifiers: "wait launch_dependents", types: "", semantics: Semantics::Warp(nothing) },
    Row { name: "prefetch", modifiers: CACHES, types: "", semantics: Semantics::Warp(nothing) },
    Row { name: "prefetchu", modifiers: CACHES, types: "", semantics: Semantics::Warp(nothing) },
    Row { name: "discard", modifiers: CACHES, types: "", semantics: Semantics::Warp(nothing) },
    Row { name: "applypriority", modifiers: CACHES, types: "", semantics: Semantics::Warp(nothing) },
    Row {
        name: "createpolicy",
        modifiers: "fractional range cvt L2 L2:: global",
        types: "b64",
        semantics: Semantics::Warp(policy),
    },
];

/// Decodes a fence, after which loads see what other multiprocessors have written: the first-level cache is invalid.
fn fence(form: &Form<'_>, _: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let acquires = form.acquires_beyond_block();
    Ok(each(move |warp| {
        if acquires {
            warp.traffic.invalidate();
        }
        Ok(())
    }))
}

fn nothing(_: &Form<'_>, _: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    Ok(each(|_| Ok(())))
}

/// Decodes `createpolicy`, which writes a cache policy. Policies have no effect here, so the result is zero.
fn policy(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    Ok(Box::new(Lanes::new(operands.destination(0)?, &[], Box::new(|_| 0))))
}
