//! Conversions between distributed layouts: the candidates, and the best of them.

mod cluster;
mod exchange;
mod local;
mod mixed;
mod plan;
mod renaming;
mod rounds;
mod shared;
mod spread;
mod weigh;
mod weighed;

pub use plan::{Path, Plan};
pub use rounds::Rounds;
pub(super) use weigh::least_to_convert;
pub use weigh::{candidates, convert};
