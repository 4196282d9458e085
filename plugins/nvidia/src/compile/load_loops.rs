//! Finds loops that wait for several global loads. `ptxas` orders code for few registers, so that many warps are
//! resident; in such a loop, each load then waits for the previous one. If the kernel states the minimum number of
//! resident blocks, `ptxas` takes the registers that the loads need to be in flight together.

use std::collections::BTreeSet;

use tilewright_kernel::{Kernel, MemorySpace, Op, Region, Statement, Type, Value};

/// The minimum number of resident blocks of a kernel that has such a loop.
pub(super) const RESIDENT_BLOCKS: u32 = 1;

/// Whether the kernel has a loop with several global loads. A loop with vendor instructions does not count: it
/// multiplies or copies while loads are in flight, and the registers of its accumulators limit the resident warps.
pub(super) fn has_load_loop(kernel: &Kernel) -> bool {
    let statements = kernel.statements();
    let parameters = (0..).map(Value).zip(kernel.parameters.iter().map(|parameter| parameter.ty));
    let arguments = statements.iter().flat_map(|statement| statement.op.regions()).flat_map(|region| &region.arguments);
    let results = statements.iter().flat_map(|statement| &statement.results);
    let values = parameters.chain(arguments.copied()).chain(results.copied());
    let is_pointer = |&(_, ty): &(Value, Type)| ty == Type::Pointer(MemorySpace::Global);
    let pointers: BTreeSet<Value> = values.filter(is_pointer).map(|(value, _)| value).collect();
    statements.iter().any(|statement| match &statement.op {
        Op::For { body, .. } | Op::While { body, .. } => loads_several(body, &pointers),
        _ => false,
    })
}

fn loads_several(body: &Region, pointers: &BTreeSet<Value>) -> bool {
    let mut loads = 0;
    let mut open: Vec<&Statement> = body.statements.iter().collect();
    while let Some(statement) = open.pop() {
        match &statement.op {
            Op::Instruction { .. } => return false,
            Op::Load { pointer, .. } if pointers.contains(pointer) => loads += 1,
            op => open.extend(op.regions().into_iter().flat_map(|region| &region.statements)),
        }
    }
    loads > 1
}
