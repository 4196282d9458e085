//! Reductions along an axis of a distributed layout (Triton `tt.reduce`).
//!
//! Elements are combined within registers, then between lanes, then between warps; the layout gives the register, lane
//! and warp bits that hold the axis (Linear Layouts paper, section 5.1). The algebra distinguishes replicas from data,
//! so nothing is combined or stored twice. A layout conversion moves the partial results of warps; its destination
//! layout gives every lane all partial results that it combines. The conversion has the swizzles, vectors and
//! predicates of any other conversion. If there are many warps, each result is combined once, and a second conversion
//! broadcasts it.

mod candidate;
mod lanes;
mod problem;
mod reduction;

pub use reduction::{ReductionPlan, plan_reduction, plan_reduction_to, reduction_candidates};
