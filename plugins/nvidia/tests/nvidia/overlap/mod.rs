//! Asynchronous operations of programs: MMAs in flight, and warp specialization.

mod async_mma;
mod groups;
mod program;
mod tensor_memory;
