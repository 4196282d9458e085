//! Registers the verifier's rules by name: the neutral rules, and the sets that crates supply with their dialect files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{CheckResult, LayoutFamilyRules, OpContext, conditions, distributed_layouts, memory_layouts};

/// A rule that rows of dialect files name in their key `verify`.
#[derive(Clone, Copy)]
pub struct VerifyRule {
    /// Name of the rule in the key `verify` of a row, such as `same_shape`.
    pub name: &'static str,
    /// Checks an operation. The arguments are those of the row: names of groups or attributes, and numbers.
    pub check: fn(&OpContext<'_>, &[String]) -> CheckResult,
}

impl VerifyRule {
    /// A rule of this name.
    #[must_use]
    pub const fn new(name: &'static str, check: fn(&OpContext<'_>, &[String]) -> CheckResult) -> Self {
        Self { name, check }
    }
}

impl fmt::Debug for VerifyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Names are unique within a registry, so rules with equal names are equal.
impl PartialEq for VerifyRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for VerifyRule {}

/// A rule about types or attributes that the parser keeps as text: `!dialect.name<...>`, `#dialect.name<...>`.
#[derive(Debug, Clone, Copy)]
pub struct OpaqueTextVerifyRule {
    /// Name of the type or attribute, with its prefix: `!dialect.name` or `#dialect.name`.
    pub name: &'static str,
    /// Checks the text in the angle brackets.
    pub check: fn(&str) -> CheckResult,
}

/// The rules that a crate supplies with its dialect files.
#[derive(Debug, Clone, Copy, Default)]
pub struct DialectVerifyRules {
    /// The rules that rows of dialect files name in their key `verify`.
    pub rules: &'static [VerifyRule],
    /// The rules about the layouts of families, one entry for each family.
    pub layouts: &'static [&'static dyn LayoutFamilyRules],
    /// The rules about types and attributes that are kept as text.
    pub texts: &'static [OpaqueTextVerifyRule],
    /// The dialects whose layout attributes all have rules, in this set or in earlier ones; any other name in them is
    /// an error.
    pub complete: &'static [&'static str],
}

/// The rules by which a program is verified: those of no particular vendor, and the registered sets.
///
/// Copies are cheap; a module keeps the rules of the dialects with which its text was parsed.
#[derive(Debug, Clone)]
pub struct VerifyRules(Arc<Tables>);

#[derive(Debug, Clone, Default)]
struct Tables {
    rules: BTreeMap<&'static str, VerifyRule>,
    layouts: BTreeMap<&'static str, &'static dyn LayoutFamilyRules>,
    texts: BTreeMap<&'static str, OpaqueTextVerifyRule>,
    complete: BTreeSet<&'static str>,
}

impl Tables {
    fn add(&mut self, set: &DialectVerifyRules) {
        self.rules.extend(set.rules.iter().map(|rule| (rule.name, *rule)));
        self.layouts.extend(set.layouts.iter().map(|layout| (layout.family(), *layout)));
        self.texts.extend(set.texts.iter().map(|rule| (rule.name, *rule)));
        self.complete.extend(set.complete);
    }
}

/// The rules of no particular vendor.
impl Default for VerifyRules {
    fn default() -> Self {
        static NEUTRAL: OnceLock<VerifyRules> = OnceLock::new();
        let neutral = || {
            let mut tables = Tables::default();
            tables.add(&DialectVerifyRules { rules: conditions::RULES, ..DialectVerifyRules::default() });
            for layouts in [distributed_layouts::LAYOUTS, memory_layouts::LAYOUTS] {
                tables.add(&DialectVerifyRules { layouts, ..DialectVerifyRules::default() });
            }
            VerifyRules(Arc::new(tables))
        };
        NEUTRAL.get_or_init(neutral).clone()
    }
}

impl VerifyRules {
    /// Adds a set of rules.
    ///
    /// # Errors
    /// A message with the first name that an earlier rule has: a row could mean either rule.
    pub fn add_rule_set(&mut self, set: &DialectVerifyRules) -> CheckResult {
        let rule = set.rules.iter().map(|rule| rule.name).find(|name| self.0.rules.contains_key(name));
        let layout = set.layouts.iter().map(|layout| layout.family()).find(|name| self.0.layouts.contains_key(name));
        let text = set.texts.iter().map(|rule| rule.name).find(|name| self.0.texts.contains_key(name));
        if let Some(name) = rule.or(layout).or(text) {
            return Err(format!("there is a rule `{name}` already: expected another name"));
        }
        Arc::make_mut(&mut self.0).add(set);
        Ok(())
    }

    /// The rule of this name; `None` if there is none.
    #[must_use]
    pub fn find_rule(&self, name: &str) -> Option<VerifyRule> {
        self.0.rules.get(name).copied()
    }

    /// The rules of a layout family; `None` if no set has them.
    #[must_use]
    pub fn find_layout_rules(&self, family: &str) -> Option<&'static dyn LayoutFamilyRules> {
        self.0.layouts.get(family).copied()
    }

    /// All rules of layout families, in the order of their names.
    pub fn all_layout_rules(&self) -> impl Iterator<Item = &'static dyn LayoutFamilyRules> {
        self.0.layouts.values().copied()
    }

    /// Whether every layout family of a dialect has rules, so that an unknown name in the dialect is an error.
    pub(super) fn is_complete(&self, dialect: &str) -> bool {
        self.0.complete.contains(dialect)
    }

    /// Checks the text of a type or attribute; `None` if there is no rule for its name.
    pub(super) fn check_text(&self, text: &str) -> Option<CheckResult> {
        let (name, rest) = text.split_once('<')?;
        let rule = self.0.texts.get(name)?;
        Some((rule.check)(rest.strip_suffix('>').unwrap_or(rest)))
    }
}
