//! One form of products that no row stands for.

use tilewright_target::UnusedInstruction;

const SOURCE: &str =
    "PTX ISA, warp-level and asynchronous warpgroup-level matrix instructions; integer arithmetic, dp4a and dp2a";

pub(super) const SPARSE: &str = "of every four elements of A along K two are there (of tf32 one of two), metadata says which: tensors here are dense";

pub(super) fn form(name: String, shapes: Vec<[u64; 3]>, types: [&str; 3], reason: &str) -> UnusedInstruction {
    let types = ["d", "a", "b"].into_iter().zip(types).map(|(role, element)| (role.to_owned(), element.to_owned()));
    let types = types.collect();
    UnusedInstruction { name, shapes, types, reason: reason.to_owned(), source: SOURCE.to_owned() }
}
