//! What is chosen about the words that say where tensors are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{LayoutName, Op, Value};

/// What is chosen about the words that are replaced, by the operation; what is missing is as usual.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Copies.
    pub copies: HashMap<Op, CopyChoice>,
    /// Products.
    pub products: HashMap<Op, ProductChoice>,
    /// Buffers of the tensors that a loop fills; one alone where it is not said.
    pub stages: HashMap<Op, u32>,
    /// Loops whose sums ([`super::Loop::accumulator`]) are waited for in the next iteration: MMAs run while that iteration begins. They have three
    /// stages at least.
    pub pending: HashSet<Op>,
    /// Copies, of loops with stages that stand in no other, that go by boxes of memory that a launch maps.
    pub boxes: HashMap<Op, Mapped>,
    /// Loops, all of whose copies go by boxes, that a warp of its own issues, behind those that do the rest; each with how many
    /// these are.
    pub producers: HashMap<Op, u32>,
}

/// A tile of global memory as a box of the memory behind an argument of the function, seen as rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The argument.
    pub base: Value,
    /// How many elements lie between neighbours along each axis of the tile.
    pub strides: Vec<Distance>,
    /// Where the tile begins along each axis: the sum of these.
    pub begins: Vec<Vec<ValueTerm>>,
}

/// A number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// This one.
    Number(u64),
    /// That of a value of the program.
    Value(Value),
}

/// A multiple or a part of a value of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueTerm {
    /// The value, an `i32`.
    pub value: Value,
    /// How often it is taken.
    pub times: u64,
    /// What it is divided by.
    pub over: u64,
}

/// How a copy goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CopyChoice {
    /// Which lane has which elements, where the copy goes from global to shared memory.
    pub layout: Option<LayoutName>,
    /// Bytes that follow each other in the registers of a lane and in global memory, where it is known.
    pub bytes: Option<u64>,
    /// Whether it goes through registers, where it could go past them.
    pub through_registers: bool,
}

/// How a product is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProductChoice {
    /// The row of the instruction table.
    pub instruction: Option<Arc<str>>,
    /// Elements of K that a lane holds side by side.
    pub k_width: Option<u64>,
    /// Columns that a lane holds side by side.
    pub n_width: Option<u64>,
    /// Whether each warp keeps whole rows of the result.
    pub whole_rows: bool,
    /// Factors that the unit reads from shared memory, where they lie: nothing loads them.
    pub in_place: [bool; 2],
}
