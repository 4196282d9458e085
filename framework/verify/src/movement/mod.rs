//! Test cases of planned movements: layouts determine the expected registers and memory, the plan the expected counts.

mod block_load;
mod elements;
mod memory;
mod prefetch;
mod registers;
mod repeated;
mod shared_copy;
mod strided;
mod tensor_copy;

pub use block_load::{BlockTile, block_load_case};
pub use memory::{copy_case, load_case, store_case};
pub use prefetch::prefetch_case;
pub use registers::{conversion_case, gather_case, reduction_case, scan_case};
pub use repeated::Repeated;
pub use shared_copy::shared_copy_case;
pub use strided::strided_copy_case;
pub use tensor_copy::tensor_copy_case;
