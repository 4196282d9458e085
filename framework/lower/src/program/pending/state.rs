//! Matrix multiplications in flight, while a function is lowered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilewright_kernel::Value;
use tilewright_plan::contract::Contraction;
use tilewright_tile::op::name::tw;
use tilewright_tile::{self as tile, Op};

/// The wait for products.
pub(super) const AWAIT: &str = tw::AWAIT_PRODUCTS;

/// The products that go on while the program does.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Each with its plan, which reads both factors where they lie.
    pub(super) products: HashMap<Op, Arc<Contraction>>,
    /// Values that are pending, with the plan of the products that gave them.
    pub(super) values: HashMap<tile::Value, Arc<Contraction>>,
    /// Loads of factors, and conversions of what they give, that nobody makes.
    pub(super) loads: HashSet<Op>,
    /// By wait, for each operand whether it is there after it.
    pub(super) there: HashMap<Op, Vec<bool>>,
}

/// Sums of products that are under way.
#[derive(Debug, Clone)]
pub(crate) struct UnderWay {
    /// The plan of the products.
    pub(super) plan: Arc<Contraction>,
    /// The kernel's values, which are pending.
    pub values: Arc<[Value]>,
}

impl Pending {
    /// Whether there are any.
    pub(crate) fn are_some(&self) -> bool {
        !self.products.is_empty()
    }

    /// Whether a load is of a factor that a product reads where it lies.
    pub(crate) fn reads(&self, load: Op) -> bool {
        self.loads.contains(&load)
    }

    /// Whether a value is pending.
    pub(crate) fn has(&self, value: tile::Value) -> bool {
        self.values.contains_key(&value)
    }
}
