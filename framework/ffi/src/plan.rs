//! Plans of layout conversions, with their counts and costs.

use std::ffi::{CString, c_char};

use tilewright::SessionError;
use tilewright_kernel::Kernel;
use tilewright_layout::Layout;
use tilewright_lower::build_conversion_kernel;
use tilewright_plan::movement::{ConversionPlan, PlanContext, PlanStats, price_counts_in_wavefronts};

use crate::blob::tw_blob;
use crate::boundary::{borrowed, fill, guarded, out_pointer, read_text};
use crate::error::{Failure, TW_ERROR_INPUT, tw_error};
use crate::handle::{destroy, handle, text};
use crate::layout::tw_layout;
use crate::session::tw_session;

/// The plan of a layout conversion for one target.
pub struct tw_plan {
    pub(crate) target: String,
    pub(crate) kernel: Kernel,
    plan: ConversionPlan,
    path: CString,
}

/// The operation counts and the costs of a plan. Counts are of one warp, the maximum over the warps of a block.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_plan_stats {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// The kind of conversion: "none", "register", "shuffle", "shared", ... Lives as long as the plan.
    pub path: *const c_char,
    /// Number of shuffles between lanes.
    pub shuffles: u64,
    /// Number of shared-memory wavefronts of stores.
    pub wavefronts_stored: u64,
    /// Number of shared-memory wavefronts of loads.
    pub wavefronts_loaded: u64,
    /// Number of block barriers.
    pub barriers: u64,
    /// Number of warp barriers.
    pub warp_barriers: u64,
    /// Shared memory that the plan takes in a block, in bytes.
    pub shared_bytes: u64,
    /// Price of the plan in shared-memory wavefronts of a warp, for comparisons with other compilers. Plans are ordered
    /// by `cycles`, not by this price.
    pub price: f64,
    /// Cycles of a block by the target's table of costs.
    pub cycles: f64,
    /// Lower bound of the shuffles, over all plans of this kind.
    pub least_shuffles: u64,
    /// Lower bound of the store wavefronts, over all plans of this kind.
    pub least_wavefronts_stored: u64,
    /// Lower bound of the load wavefronts, over all plans of this kind.
    pub least_wavefronts_loaded: u64,
}

/// The counts of [`tw_plan_stats`] under the names of interface 1.0, field by field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_figures {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// The kind of conversion, as in `tw_plan_stats`.
    pub path: *const c_char,
    /// Number of shuffles between lanes: `shuffles` of `tw_plan_stats`.
    pub exchanges: u64,
    /// Number of shared-memory wavefronts of stores, as in `tw_plan_stats`.
    pub wavefronts_stored: u64,
    /// Number of shared-memory wavefronts of loads, as in `tw_plan_stats`.
    pub wavefronts_loaded: u64,
    /// Number of block barriers, as in `tw_plan_stats`.
    pub barriers: u64,
    /// Number of warp barriers, as in `tw_plan_stats`.
    pub warp_barriers: u64,
    /// Shared memory that the plan takes in a block, in bytes, as in `tw_plan_stats`.
    pub shared_bytes: u64,
    /// The price in shared-memory wavefronts of a warp: `price` of `tw_plan_stats`.
    pub slots: f64,
    /// Cycles of a block, as in `tw_plan_stats`.
    pub cycles: f64,
    /// Lower bound of the shuffles: `least_shuffles` of `tw_plan_stats`.
    pub least_exchanges: u64,
    /// Lower bound of the store wavefronts, as in `tw_plan_stats`.
    pub least_wavefronts_stored: u64,
    /// Lower bound of the load wavefronts, as in `tw_plan_stats`.
    pub least_wavefronts_loaded: u64,
}

impl From<tw_plan_stats> for tw_figures {
    fn from(stats: tw_plan_stats) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            path: stats.path,
            exchanges: stats.shuffles,
            wavefronts_stored: stats.wavefronts_stored,
            wavefronts_loaded: stats.wavefronts_loaded,
            barriers: stats.barriers,
            warp_barriers: stats.warp_barriers,
            shared_bytes: stats.shared_bytes,
            slots: stats.price,
            cycles: stats.cycles,
            least_exchanges: stats.least_shuffles,
            least_wavefronts_stored: stats.least_wavefronts_stored,
            least_wavefronts_loaded: stats.least_wavefronts_loaded,
        }
    }
}

fn stats(plan: &tw_plan) -> tw_plan_stats {
    let PlanStats { counts, bound, cost, shared_bytes, .. } = &plan.plan.stats;
    tw_plan_stats {
        struct_size: size_of::<tw_plan_stats>(),
        path: plan.path.as_ptr(),
        shuffles: counts.shuffles,
        wavefronts_stored: counts.wavefronts_stored,
        wavefronts_loaded: counts.wavefronts_loaded,
        barriers: counts.barriers,
        warp_barriers: counts.warp_barriers,
        shared_bytes: *shared_bytes,
        price: price_counts_in_wavefronts(counts),
        cycles: *cost,
        least_shuffles: bound.shuffles,
        least_wavefronts_stored: bound.wavefronts_stored,
        least_wavefronts_loaded: bound.wavefronts_loaded,
    }
}

/// Plans the conversion of least cost on a target for a tensor of elements of `element_bits` bits. Available since 1.0.
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
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `source` and `destination` are handles.
        let (source, destination) = unsafe { (borrowed("source", source)?, borrowed("destination", destination)?) };
        // SAFETY: the caller promises that `target` is a C string.
        let target = unsafe { read_text("target", target) }?;
        let (Layout::Distributed(src), Layout::Distributed(dst)) = (&source.layout, &destination.layout) else {
            return Err(Failure::new(TW_ERROR_INPUT, "a conversion is between layouts of registers, not of memory"));
        };
        let plan = session.heard(|| session.session.plan_conversion(target, src, dst, element_bits))?;
        let context = PlanContext::new(session.session.catalogue().get(target).map_err(SessionError::from)?);
        let kernel =
            build_conversion_kernel("convert", [src, dst], element_bits, &plan, context).map_err(SessionError::from)?;
        let path = text(plan.path.to_string());
        *out = handle(tw_plan { target: target.to_owned(), kernel, plan, path });
        Ok(())
    })
}

/// Returns the operation counts and costs of a plan. Available since 1.1.
///
/// # Safety
/// `plan` is a handle; `out` points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_read_stats(plan: *const tw_plan, out: *mut tw_plan_stats) -> *mut tw_error {
    // SAFETY: the caller promises that `plan` is a handle and that `out` points to a struct that begins with its size.
    guarded(|| unsafe { fill("out", &stats(borrowed("plan", plan)?), out) })
}

/// Returns the values of `tw_plan_read_stats` under the field names of interface 1.0. Available since 1.0.
///
/// # Safety
/// `plan` is a handle; `out` points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_figures(plan: *const tw_plan, out: *mut tw_figures) -> *mut tw_error {
    // SAFETY: the caller promises that `plan` is a handle and that `out` points to a struct that begins with its size.
    guarded(|| unsafe { fill("out", &tw_figures::from(stats(borrowed("plan", plan)?)), out) })
}

/// Prints a plan as kernel IR: a kernel that reads each lane's elements from memory, converts them, and writes them to
/// memory. Available since 1.0.
///
/// # Safety
/// `plan` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_plan_write(plan: *const tw_plan, out: *mut *mut tw_blob) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `plan` is a handle and that `out` may be written.
        let (plan, out) = unsafe { (borrowed("plan", plan)?, out_pointer(out)?) };
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
    // SAFETY: the caller promises that `plan` is null or a handle that nothing else uses.
    unsafe { destroy(plan) }
}
