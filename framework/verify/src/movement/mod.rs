//! Test cases of planned movements: what the layouts say that a plan's kernel must leave in registers and memory, and what
//! the plan says that it executes.

mod block_load;
mod boxes;
mod elements;
mod memory;
mod prefetch;
mod registers;
mod repeated;
mod shared_copy;
mod strided;

pub use block_load::{BlockTile, block_load_case};
pub use boxes::box_tiles_case;
pub use memory::{copy_case, load_case, store_case};
pub use prefetch::prefetch_case;
pub use registers::{conversion_case, gather_case, reduction_case, scan_case};
pub use repeated::Repeated;
pub use shared_copy::shared_copy_case;
pub use strided::strided_copy_case;
