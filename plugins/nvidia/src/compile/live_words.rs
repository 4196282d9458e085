//! Counts the registers that are live in a region, if its code keeps the order of the kernel IR.

use std::collections::{HashMap, HashSet};

use tilewright_kernel::{Op, Region, Type, Value};

/// Returns the most 32-bit words of a lane that are live at once in a region: values that the region uses later, of its
/// own or from outside. Constants are not counted, since code can use them as immediates; predicates are not, since they
/// have registers of their own.
pub(super) fn most_live_words(body: &Region) -> u32 {
    most_live_words_at(body, |_| true)
}

/// Returns the most 32-bit words of a lane that are live at once, as [`most_live_words`] counts them, before one of the
/// statements of a region, not of nested ones, that `is_counted` selects.
pub(super) fn most_live_words_at(body: &Region, is_counted: impl Fn(&Op) -> bool) -> u32 {
    let mut words: HashMap<Value, u32> = body.arguments.iter().map(|&(value, ty)| (value, words_of(ty))).collect();
    let mut constants = HashSet::new();
    for statement in &body.statements {
        match statement.op {
            Op::Constant { .. } => constants.extend(statement.results.iter().map(|&(value, _)| value)),
            _ => words.extend(statement.results.iter().map(|&(value, ty)| (value, words_of(ty)))),
        }
    }
    let words_of_value = |value: &Value| words.get(value).copied().unwrap_or(1);
    let (mut live, mut total, mut most) = (HashSet::new(), 0, 0);
    for statement in body.statements.iter().rev() {
        let counted = is_counted(&statement.op);
        if counted {
            let inner = statement.op.regions().into_iter().map(most_live_words).max().unwrap_or(0);
            most = most.max(total + inner);
        }
        for (result, _) in &statement.results {
            if live.remove(result) {
                total -= words_of_value(result);
            }
        }
        statement.op.visit_used_values(&mut |used| {
            if !constants.contains(&used) && live.insert(used) {
                total += words_of_value(&used);
            }
        });
        if counted {
            most = most.max(total);
        }
    }
    most
}

/// Returns the number of 32-bit words of a value of this type.
pub(super) fn words_of(ty: Type) -> u32 {
    match ty.after_wait() {
        Type::Pointer(_) => 2,
        ty if ty.bits() == 1 => 0,
        ty => ty.bits().div_ceil(32),
    }
}
