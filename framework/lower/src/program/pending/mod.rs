//! Lowers asynchronous MMAs (PTX `wgmma`, `tcgen05.mma`): dots with the attribute
//! [`PENDING`](tilewright_tile::op_attrs::PENDING), if an instruction of the target reads both operands in place from
//! shared memory and completes later.
//!
//! Asynchronous MMAs are found for the whole program before any operation is lowered, because a pending accumulator may
//! only reach another asynchronous MMA, a loop's iteration arguments, or `tw.mma_wait`. If it reaches another
//! operation, all MMAs of that accumulator are synchronous, with the same result. A wait that leaves some MMAs in
//! flight completes each operand after whose MMA at least as many MMAs were issued.
//!
//! The accumulator of an MMA that accumulates in tensor memory is incomplete in a second sense: not in registers. So
//! the dots of a loop that only carries their accumulator are found together with asynchronous MMAs, even if each is
//! waited for at once (`resident`).

mod found;
mod in_flight;
mod resident;
mod state;

pub(super) use found::{OpPositions, planned};
pub(super) use in_flight::{awaited, lower_async_mma};
pub(super) use state::{InFlightMma, Pending};
