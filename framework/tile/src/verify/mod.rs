//! The verifier of tile programs.
//!
//! An operation's row in its dialect file declares operand and result groups, type constraints and type inference; one
//! routine checks these for all operations. The modules below check the rules of single operations (shapes, regions,
//! control flow), selected by the operation's name. The key `verify` of a row lists further conditions, such as the
//! layouts (Triton's encodings) that follow from those of the operands: together they are the rules of Triton's
//! verifier. Only a program as written must satisfy these conditions: in a transformed module, the layouts of operands
//! and results are those of the chosen instructions. Verification stops at the first violation.
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

pub use bases::{AllocationLayout, DistributedBases};
pub use cache_policy::{check_cache_policy_words, parse_cache_policy_parameters};
pub use check::{CheckResult, OpContext, ensure, format_type_list};
pub use layout_rules::{DotOperandParameters, LayoutFamilyRules, LayoutStorage, LayoutThreadCounts, SHARED_MEMORY};
pub use module::{verify_module, verify_module_with_families, verify_transformed_module};
pub use rules::{DialectVerifyRules, OpaqueTextVerifyRule, VerifyRule, VerifyRules};
pub use violation::TileViolation;
