//! Lowers asynchronous MMAs (PTX `wgmma`, `tcgen05.mma`): dots with the attribute
//! [`PENDING`](tilewright_tile::op_attrs::IS_PENDING), if an instruction of the target reads both operands in place
//! from shared memory and completes later.
//!
//! Asynchronous MMAs are found for the whole program before any operation is lowered, because a pending accumulator may
//! only reach another asynchronous MMA, a loop's iteration arguments, or `tw.mma_wait`. If it reaches another
//! operation, all MMAs of that accumulator are synchronous, with the same result. A wait that leaves up to `n` MMAs in
//! flight completes an accumulator if at least `n` MMAs were issued after the accumulator's last MMA.
//!
//! Other operations cannot use an accumulator in tensor memory before it is loaded into registers, even if its MMA is
//! complete. If a loop carries the accumulator only from one dot to the next, it stays in tensor memory (`resident`).
//! Such dots are found together with asynchronous MMAs, even if the program waits for each immediately.

mod flow;
mod found;
mod in_flight;
mod positions;
mod resident;
mod state;

pub(super) use found::planned;
pub(super) use in_flight::{awaited, lower_async_mma};
pub(super) use positions::OpPositions;
pub(super) use state::{InFlightMma, Pending};
