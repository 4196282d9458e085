//! Lets a crate supply rules of the verifier with its dialect files.
//!
//! A row of a dialect file names its rules in the key `verify`: `verify = "block(result); tensor_copy(result)"`. A
//! crate with such files supplies the rules as functions, in a [`DialectVerifyRules`], and
//! [`Dialects::register_rules`](crate::op::Dialects::register_rules) adds them, before the files, to the registry of
//! dialects. The set also has the rules about the crate's layout families ([`LayoutFamilyRules`], found by the family's
//! name), and about types and attributes that are kept as text ([`OpaqueTextVerifyRule`]).
//!
//! ```
//! use tilewright_tile::op::Dialects;
//! use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, DialectVerifyRules, ensure};
//! use tilewright_tile::{text, verify_module};
//!
//! /// `even(count)`: an attribute is even.
//! fn even(check: &OpContext<'_>, names: &[String]) -> CheckResult {
//!     names.iter().try_for_each(|name| {
//!         let value = check.integer_attribute(name).unwrap_or(0);
//!         ensure(value % 2 == 0, || format!("`{name} = {value}`: expected an even number"))
//!     })
//! }
//!
//! const RULES: DialectVerifyRules =
//!     DialectVerifyRules { rules: &[VerifyRule::new("even", even)], layouts: &[], texts: &[], complete: &[] };
//! let file = r#"
//! dialect = "mine"
//! [operations]
//! pause = { attributes = "count:i32", format = "$count {}", verify = "even(count)" }
//! "#;
//!
//! let mut dialects = Dialects::neutral();
//! dialects.register_rules(&RULES)?;
//! dialects.add_dialect("mine.toml", file)?;
//! let program = |count: u32| format!("tt.func @f() {{\n  mine.pause {count}\n  tt.return\n}}");
//! assert!(verify_module(&text::parse_module(&program(2), &dialects)?).is_ok());
//! let violation = verify_module(&text::parse_module(&program(3), &dialects)?).unwrap_err();
//! assert_eq!(violation.message, "`count = 3`: expected an even number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::verify::layout_parameters::{
    bases_parameter_of_either_name, element_count_of_bases, find_layout_bases, find_layout_integer,
    find_layout_integer_by_names, find_layout_integer_list, is_power_of_two, read_layout_bool_parameter,
    read_layout_padding_parameter, saturating_product,
};
pub use crate::verify::{
    AllocationLayout, CheckResult, DialectVerifyRules, DistributedBases, DotOperandParameters, LayoutFamilyRules,
    LayoutStorage, LayoutThreadCounts, OpContext, OpaqueTextVerifyRule, SHARED_MEMORY, VerifyRule, VerifyRules,
    check_cache_policy_words, ensure, format_type_list, parse_cache_policy_parameters,
};
