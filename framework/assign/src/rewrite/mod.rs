//! Writes the chosen layouts into a function: types, conversions and rematerialized values.

mod needed;
mod op_order;
mod remat;
mod rewriter;

use rewriter::Rewriter;
pub(super) use rewriter::{RemainingConversion, rewrite};
