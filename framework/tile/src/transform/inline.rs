//! Inlines calls.

use crate::op::name::tt;
use std::collections::HashMap;
use std::sync::Arc;

use super::ir_cloner::{IrCloner, Rewrite, rewrite_each, rewrite_function};
use super::{Rewritten, violation};
use crate::op::Dialects;
use crate::{Attribute, Function, Op, TileModule, TileViolation};

/// Maximum number of operations of a function after inlining; more are an error at the call.
const MOST_OPERATIONS: usize = 1 << 20;

/// Inlines all calls of a module's entry functions; the result has only these functions.
///
/// # Errors
/// A [`TileViolation`] at the call: recursion, a callee without a body or with branches (run [`super::structurize`]
/// first), or too many operations.
pub fn inline_calls(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    let functions: HashMap<_, _> = module.functions.iter().map(|function| (&*function.name, function)).collect();
    rewrite_each(module, module.entry_functions(), |entry| {
        let mut inline = Inline { functions: &functions, open: vec![Arc::clone(&entry.name)] };
        rewrite_function(entry, dialects, &mut inline)
    })
}

struct Inline<'m> {
    functions: &'m HashMap<&'m str, &'m Function>,
    /// The functions being inlined, outermost first.
    open: Vec<Arc<str>>,
}

impl Rewrite for Inline<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        if operation.name() != tt::CALL {
            return Ok(false);
        }
        let wrong = |message: String| violation(cloner, op, message);
        let name = operation.attributes.get("callee").and_then(Attribute::as_text).unwrap_or_default();
        let callee = self.functions.get(name).copied();
        let callee = callee.ok_or_else(|| wrong(format!("there is no function `@{name}`")))?;
        let body = callee.body.as_ref();
        let body = body.ok_or_else(|| wrong(format!("`@{name}` is a declaration without a body")))?;
        if self.open.contains(&callee.name) {
            let chain: Vec<_> = self.open.iter().map(|name| format!("`@{name}`")).collect();
            return Err(wrong(format!("`@{name}` calls itself, by {}: use a loop", chain.join(", "))));
        }
        if cloner.to.body().op_count() > MOST_OPERATIONS {
            return Err(wrong(format!("the calls become more than {MOST_OPERATIONS} operations")));
        }
        let [block] = body.blocks(body.root()) else {
            return Err(wrong(format!("`@{name}` still has branches")));
        };
        let (operands, results) = (cloner.all(&operation.operands), &operation.results);
        let call = cloner.to.location.clone();
        let mut inner = IrCloner::new(callee, body, cloner.to);
        inner.call = call;
        inner.bind_all(body.arguments(*block), &operands);
        let Some((last, ops)) = body.ops(*block).split_last() else { return Ok(true) };
        self.open.push(Arc::clone(&callee.name));
        ops.iter().try_for_each(|op| inner.rewrite_or_clone_op(*op, self))?;
        self.open.pop();
        let given = inner.all(&body.op(*last).operands);
        cloner.bind_all(results, &given);
        Ok(true)
    }
}
