//! Plans: how a tensor gets from one layout to another, and what that takes.

use std::ffi::{CString, c_char};

use tilewright::PipelineError;
use tilewright_kernel::Kernel;
use tilewright_layout::Layout;
use tilewright_lower::conversion_kernel;
use tilewright_plan::movement::{Plan, PlanContext, PlanStats, slots};

use crate::blob::tw_blob;
use crate::boundary::{borrowed, fill, guarded, place, read_text};
use crate::error::{Failure, TW_ERROR_INPUT, tw_error};
use crate::handle::{destroy, handle, text};
use crate::layout::tw_layout;
use crate::session::tw_session;

/// A conversion's plan, for one target.
pub struct tw_plan {
    pub(crate) target: String,
    pub(crate) kernel: Kernel,
    plan: Plan,
    path: CString,
}

/// What a plan takes. Counts are of a warp, the most over the warps of a block.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_figures {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// Which way it goes: "none", "register", "shuffle", "shared", ... Lives as long as the plan.
    pub path: *const c_char,
    /// Exchanges between lanes.
    pub exchanges: u64,
    /// Wavefronts of shared memory that stores take.
    pub wavefronts_stored: u64,
    /// Those that loads take.
    pub wavefronts_loaded: u64,
    /// Barriers of the block.
    pub barriers: u64,
    /// Barriers of a warp.
    pub warp_barriers: u64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// The price in wavefront slots of a warp.
    pub slots: f64,
    /// Cycles of a block by the target's table.
    pub cycles: f64,
    /// Exchanges and wavefronts that no plan can go below.
    pub least_exchanges: u64,
    /// Wavefronts of stores that no plan of this way can go below.
    pub least_wavefronts_stored: u64,
    /// Wavefronts of loads that no plan of this way can go below.
    pub least_wavefronts_loaded: u64,
}

fn stats(plan: &tw_plan) -> tw_figures {
    let PlanStats { counts, bound, cost, shared_bytes, .. } = &plan.plan.stats;
    tw_figures {
        struct_size: size_of::<tw_figures>(),
        path: plan.path.as_ptr(),
        exchanges: counts.exchanges,
        wavefronts_stored: counts.wavefronts_stored,
        wavefronts_loaded: counts.wavefronts_loaded,
        barriers: counts.barriers,
        warp_barriers: counts.warp_barriers,
        shared_bytes: *shared_bytes,
        slots: slots(counts),
        cycles: *cost,
        least_exchanges: bound.exchanges,
        least_wavefronts_stored: bound.wavefronts_stored,
        least_wavefronts_loaded: bound.wavefronts_loaded,
    }
}

/// The cheapest plan on a target for a tensor whose elements are `element_bits` wide. Available since 1.0.
///
/// # Safety
/// `session`, `source` and `destination` are handles, `target` is a text; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_conversion(
    session: *const tw_session,
    target: *const c_char,
    source: *const tw_layout,
    destination: *const tw_layout,
    element_bits: u32,
    out: *mut *mut tw_plan,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (session, out) = unsafe { (borrowed("session", session)?, place(out)?) };
        // SAFETY: as the caller promises.
        let (source, destination) = unsafe { (borrowed("source", source)?, borrowed("destination", destination)?) };
        // SAFETY: as the caller promises.
        let target = unsafe { read_text("target", target) }?;
        let (Layout::Distributed(src), Layout::Distributed(dst)) = (&source.layout, &destination.layout) else {
            return Err(Failure::new(TW_ERROR_INPUT, "a conversion is between layouts of registers, not of memory"));
        };
        let plan = session.heard(|| session.session.convert(target, src, dst, element_bits))?;
        let context = PlanContext::of(session.session.catalogue().get(target).map_err(PipelineError::from)?);
        let kernel =
            conversion_kernel("convert", [src, dst], element_bits, &plan, context).map_err(PipelineError::from)?;
        let path = text(plan.path.to_string());
        *out = handle(tw_plan { target: target.to_owned(), kernel, plan, path });
        Ok(())
    })
}

/// What a plan takes. Available since 1.0.
///
/// # Safety
/// `plan` is a handle; `out` is a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_figures(plan: *const tw_plan, out: *mut tw_figures) -> *mut tw_error {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { fill("out", &stats(borrowed("plan", plan)?), out) })
}

/// The kernel IR of a plan: a kernel that reads each lane's elements from memory, converts them, and writes them. Available
/// since 1.0.
///
/// # Safety
/// `plan` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_write(plan: *const tw_plan, out: *mut *mut tw_blob) -> *mut tw_error {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (plan, out) = unsafe { (borrowed("plan", plan)?, place(out)?) };
        *out = handle(tw_blob::of(plan.kernel.to_string()));
        Ok(())
    })
}

/// Frees a plan. Available since 1.0.
///
/// # Safety
/// `plan` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_destroy(plan: *mut tw_plan) {
    // SAFETY: as the caller promises.
    unsafe { destroy(plan) }
}
