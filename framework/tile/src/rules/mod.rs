//! Lets a crate supply rules of the verifier with its dialect files.
//!
//! A row of a dialect file names its rules in the key `verify`: `verify = "block(result); tensor_copy(result)"`. A
//! crate with such files supplies the rules as functions, in a [`VerifyRuleSet`], and
//! [`Dialects::register`](crate::op::Dialects::register) adds them, before the files, to the registry of dialects. The
//! set also has the rules about the crate's layout families ([`LayoutRules`], found by the family's name), and about
//! types and attributes that are kept as text ([`TextRule`]).
//!
//! ```
//! use tilewright_tile::op::Dialects;
//! use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, VerifyRuleSet, ensure};
//! use tilewright_tile::{text, verify};
//!
//! /// `even(count)`: an attribute is even.
//! fn even(check: &OpContext<'_>, names: &[String]) -> CheckResult {
//!     names.iter().try_for_each(|name| {
//!         let value = check.integer(name).unwrap_or(0);
//!         ensure(value % 2 == 0, || format!("`{name} = {value}`: expected an even number"))
//!     })
//! }
//!
//! const RULES: VerifyRuleSet =
//!     VerifyRuleSet { rules: &[VerifyRule::new("even", even)], layouts: &[], texts: &[], complete: &[] };
//! let file = r#"
//! dialect = "mine"
//! [operations]
//! pause = { attributes = "count:i32", format = "$count {}", verify = "even(count)" }
//! "#;
//!
//! let mut dialects = Dialects::neutral();
//! dialects.register(&RULES)?;
//! dialects.add("mine.toml", file)?;
//! let program = |count: u32| format!("tt.func @f() {{\n  mine.pause {count}\n  tt.return\n}}");
//! assert!(verify(&text::parse(&program(2), &dialects)?).is_ok());
//! let violation = verify(&text::parse(&program(3), &dialects)?).unwrap_err();
//! assert_eq!(violation.message, "`count = 3`: expected an even number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::verify::layout_parameters::{
    bases, flag, is_power, named_bases, named_number, number, numbers, paddings, power, product,
};
pub use crate::verify::{
    AllocatedLayout, CheckResult, DistributedBases, Distribution, DotOperand, LayoutRules, OpContext, SHARED_MEMORY,
    Storage, TextRule, VerifyRule, VerifyRuleSet, VerifyRules, check_words, ensure, listed, policy_parameters,
};
