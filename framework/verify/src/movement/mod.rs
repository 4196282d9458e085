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

pub use block_load::{BlockLoadTile, build_block_2d_load_case};
pub use memory::{build_global_copy_case, build_shared_load_case, build_shared_store_case};
pub use prefetch::build_prefetch_case;
pub use registers::{build_conversion_case, build_gather_case, build_reduction_case, build_scan_case};
pub use repeated::RepeatedMovement;
pub use shared_copy::build_async_copy_case;
pub use strided::build_strided_copy_case;
pub use tensor_copy::build_tensor_copy_case;
