//! The verifier of tile programs.
//!
//! Rules that rows declare (groups, type constraints, type inference) are checked by one routine; rules of single
//! operations (shapes, regions, control flow) by the modules below, selected by the operation's name. A row's key
//! `verify` lists further conditions, among them the inference of encodings: together they are the rules of Triton's
//! verifier, for texts. A transformed module need not follow the latter, since layouts of operands and results then
//! are those of the chosen instructions. Verification stops at the first violation.
//!
//! The rules here are those of MLIR's and Triton's neutral dialects. Crates with vendors' dialects bring further ones
//! ([`crate::rules`]).

mod bases;
mod cache_policy;
mod casts;
mod check;
mod conditions;
mod context;
mod control;
mod descriptors;
mod distributed_layouts;
mod dominance;
mod dot_operands;
mod dots;
mod encodings;
mod explicit;
pub mod layout_parameters;
mod layout_rules;
mod layouts;
mod mbarriers;
mod memory;
mod memory_layouts;
mod module;
mod nesting;
mod operation;
mod rules;
mod shapes;
mod violation;

pub use bases::{AllocatedLayout, DistributedBases};
pub use cache_policy::{check_words, policy_parameters};
pub use check::{CheckResult, OpContext, ensure, listed};
pub use layout_rules::{Distribution, DotOperand, LayoutRules, SHARED_MEMORY, Storage};
pub use module::{verify, verify_transformed, verify_with};
pub use rules::{TextRule, VerifyRule, VerifyRuleSet, VerifyRules};
pub use violation::TileViolation;
