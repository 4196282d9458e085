//! Task mappings: which tasks of a grid each worker does, and in which order (seed 003, section 2.3).
//!
//! `repeat(a, b)` is one worker that does all tasks of an a x b grid, `spatial(a, b)` are as many workers that do one each;
//! both count with the last axis fastest. In `outer * inner` each task of the outer grid is a whole inner grid, and each
//! outer worker as many workers as the inner mapping has. Workers are threads, tasks are values: a mapping is a thread-value
//! layout ([`TaskMapping::thread_value`]), and what thread-value layouts are mappings ([`TaskMapping::of_thread_value`]).
//!
//! ```
//! use tilewright_layout::cute::TaskMapping;
//! let load: TaskMapping = "repeat(4, 1) * spatial(16, 8)".parse()?;
//! assert_eq!((load.workers(), load.shape()), (128, vec![64, 8]));
//! assert_eq!(load.tasks(9), [[1, 1], [17, 1], [33, 1], [49, 1]]);
//! assert_eq!(load.thread_value()?.layout().to_string(), "((8,16),4):((64,1),16)");
//! # Ok::<(), tilewright_layout::cute::CuteError>(())
//! ```

mod digits;
mod loops;
mod mapping;

pub use loops::{IndexTerm, LoopIndex, LoopNest, Source};
pub use mapping::TaskMapping;
