//! Task mappings: the tasks of a grid that each worker does, in order (Hexcute paper, section 2.3).
//!
//! `repeat(a, b)` is one worker for all tasks of an a x b grid; `spatial(a, b)` is one worker for each task. Both count
//! with the last axis fastest. In `outer * inner` each task of the outer grid is a whole inner grid, and each outer
//! worker is as many workers as the inner mapping has. Workers are threads and tasks are values, so a mapping is a
//! thread-value layout ([`TaskMapping::thread_value`]); [`TaskMapping::from_thread_value`] is the inverse.
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

pub use loops::{IndexTerm, LoopOrThreadIndex, TaskCoordinateExpr, TaskLoopNest};
pub use mapping::TaskMapping;
