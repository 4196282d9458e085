//! Merges proxy fences (PTX `fence.proxy.async`); each waits for the warp's earlier stores.
//!
//! Each store of a tensor to shared memory ends with a fence. If the tensors of a dot are stored one after the other,
//! the last fence covers all: no barrier lies between, so that no asynchronous read is ordered after an earlier fence.

use tilewright_kernel::{Kernel, Op, Region};

use super::merge_barriers::computes;

/// Removes each proxy fence that another one follows after nothing but computations, loads and stores.
pub(super) fn merge_fences(kernel: &mut Kernel) {
    merge_in_region(&mut kernel.body);
}

fn merge_in_region(region: &mut Region) {
    let mut redundant = Vec::new();
    let mut last = None;
    for (position, statement) in region.statements.iter_mut().enumerate() {
        match &statement.op {
            Op::ProxyFence {} => redundant.extend(last.replace(position)),
            Op::Load { .. } | Op::Store { .. } => {}
            op if computes(op) => {}
            _ => last = None,
        }
        statement.op.regions_mut().into_iter().for_each(merge_in_region);
    }
    let mut position = 0;
    region.statements.retain(|_| {
        position += 1;
        redundant.binary_search(&(position - 1)).is_err()
    });
}
