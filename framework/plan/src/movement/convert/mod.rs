//! Conversions between distributed layouts: the candidates, and the choice of the cheapest one.

mod cluster;
mod local;
mod mixed;
mod plan;
mod renaming;
mod replicas;
mod rounds;
mod shared;
mod shuffle;
mod weigh;
mod weighed;

pub use plan::{ConversionKind, ConversionPlan};
pub use rounds::ShuffleRounds;
pub(super) use weigh::conversion_lower_bound;
pub use weigh::{conversion_candidates, plan_conversion};
