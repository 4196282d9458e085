//! What is called, where it is called.

use crate::op::name::tt;
use std::collections::HashMap;
use std::sync::Arc;

use super::copy::{Copier, Rewrite, rewritten};
use super::{Rewritten, violation};
use crate::op::Dialects;
use crate::{Attribute, Function, Op, TileModule, TileViolation};

/// A function may become at most so many operations.
const MOST_OPERATIONS: usize = 1 << 20;

/// The entries of a module with every function that they call in the place of its call, and no other function.
///
/// # Errors
/// A [`TileViolation`] at the call: of a function that calls itself, that is only declared, that has jumps ([`super::structure`]
/// comes before), or where too much would come of it.
pub fn inline_calls(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    let functions: HashMap<_, _> = module.functions.iter().map(|function| (&*function.name, function)).collect();
    let inlined = module.entries().map(|entry| {
        let mut inline = Inline { functions: &functions, open: vec![Arc::clone(&entry.name)] };
        rewritten(entry, dialects, &mut inline)
    });
    let functions = inlined.collect::<Result<_, _>>()?;
    Ok(TileModule { functions, attributes: module.attributes.clone(), location: module.location.clone() })
}

struct Inline<'m> {
    functions: &'m HashMap<&'m str, &'m Function>,
    /// The functions that are being written out, outermost first.
    open: Vec<Arc<str>>,
}

impl Rewrite for Inline<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let operation = copier.from.op(op);
        if operation.name() != tt::CALL {
            return Ok(false);
        }
        let wrong = |message: String| violation(copier, op, message);
        let name = operation.attributes.get("callee").and_then(Attribute::as_text).unwrap_or_default();
        let callee = self.functions.get(name).copied();
        let callee = callee.ok_or_else(|| wrong(format!("there is no function `@{name}`")))?;
        let body = callee.body.as_ref();
        let body = body.ok_or_else(|| wrong(format!("`@{name}` is only declared: what it does is not known")))?;
        if self.open.contains(&callee.name) {
            let chain: Vec<_> = self.open.iter().map(|name| format!("`@{name}`")).collect();
            return Err(wrong(format!("`@{name}` calls itself, by {}: use a loop", chain.join(", "))));
        }
        if copier.to.body().op_count() > MOST_OPERATIONS {
            return Err(wrong(format!("the calls become more than {MOST_OPERATIONS} operations")));
        }
        let [block] = body.blocks(body.root()) else {
            return Err(wrong(format!("`@{name}` still has jumps")));
        };
        let (operands, results) = (copier.all(&operation.operands), &operation.results);
        let mut inner = Copier::new(callee, body, copier.to);
        inner.bind_all(body.arguments(*block), &operands);
        let Some((last, ops)) = body.ops(*block).split_last() else { return Ok(true) };
        self.open.push(Arc::clone(&callee.name));
        ops.iter().try_for_each(|op| inner.op(*op, self))?;
        self.open.pop();
        let given = inner.all(&body.op(*last).operands);
        copier.bind_all(results, &given);
        Ok(true)
    }
}
