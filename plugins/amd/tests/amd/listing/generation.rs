//! The wait counters of AMD's generations as a table: accesses that increment them, and waits that name them.
//!
//! Sources: AMD, ISA references of CDNA 3 and 4, RDNA 3 and 4 (chapters on memory dependencies); LLVM, AMDGPU usage and
//! assembler syntax of the wait instructions.

use super::parse::Instruction;

/// The kinds of accesses that counters distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// A vector load, or an atomic that returns the old value.
    Load,
    /// A vector store, or an atomic that returns nothing.
    Store,
    /// An access to shared memory, or a shuffle through its hardware.
    Shared,
    /// A scalar load. Scalar loads complete in any order.
    Scalar,
}

/// A generation of AMD's GPUs: the counter of each kind of access, by its name in wait instructions.
#[derive(Debug)]
pub struct Generation {
    /// Prefix of the architectures' names.
    prefix: &'static str,
    /// Counters of [`Access::Load`], [`Access::Store`], [`Access::Shared`] and [`Access::Scalar`].
    counters: [&'static str; 4],
    /// Whether stores to global memory must have completed at a fence of the block's scope: the block's warps may use
    /// different caches.
    pub block_fences_wait_for_stores: bool,
}

const GENERATIONS: [Generation; 3] = [
    Generation {
        prefix: "gfx9",
        counters: ["vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt"],
        block_fences_wait_for_stores: false,
    },
    Generation {
        prefix: "gfx11",
        counters: ["vmcnt", "vscnt", "lgkmcnt", "lgkmcnt"],
        block_fences_wait_for_stores: true,
    },
    Generation {
        prefix: "gfx12",
        counters: ["loadcnt", "storecnt", "dscnt", "kmcnt"],
        block_fences_wait_for_stores: true,
    },
];

/// Modifiers of memory instructions that return the old value; each such instruction has one of them.
const RETURNING: [&str; 3] = ["glc", "sc0", "th:TH_ATOMIC_RETURN"];

/// Instructions of caches and of scheduling, which access no memory of the program.
const WITHOUT_ACCESS: [&str; 12] = [
    "buffer_wbl2",
    "buffer_inv",
    "buffer_wbinvl1",
    "buffer_gl0_inv",
    "buffer_gl1_inv",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_dcache_",
    "s_icache_",
    "s_prefetch_",
    "ds_nop",
];

impl Generation {
    /// Returns the generation of an architecture.
    pub fn of(architecture: &str) -> &'static Self {
        let found = GENERATIONS.iter().find(|generation| architecture.starts_with(generation.prefix));
        found.unwrap_or_else(|| panic!("no wait counters of {architecture}"))
    }

    /// Returns the counter that a kind of access increments.
    pub fn counter(&self, access: Access) -> &'static str {
        self.counters[access as usize]
    }

    /// Returns the counters that a wait names, each with the number of accesses that may be outstanding; `None` for
    /// other instructions.
    pub fn wait(&self, instruction: &Instruction) -> Option<Vec<(&'static str, u32)>> {
        let (mnemonic, operands) = (instruction.mnemonic.as_str(), instruction.text.split_whitespace().skip(1));
        let named = |name: &str| self.counters.into_iter().find(|counter| *counter == name);
        if mnemonic == "s_waitcnt" {
            // Such as `vmcnt(0) lgkmcnt(3)`.
            let counts = operands.filter_map(|word| {
                let (name, count) = word.trim_end_matches(')').split_once('(')?;
                Some((named(name)?, count.parse().expect("a count")))
            });
            return Some(counts.collect());
        }
        let counters = mnemonic.strip_prefix("s_waitcnt_").or_else(|| mnemonic.strip_prefix("s_wait_"))?;
        let last = operands.last().and_then(|word| word.strip_prefix("0x").map(str::to_owned));
        let count = last.and_then(|digits| u32::from_str_radix(&digits, 16).ok());
        Some(match (counters.split_once('_'), count) {
            // The count of `dscnt` in the lower bits, of the other counter from bit 8 on.
            (Some((other, "dscnt")), Some(count)) => {
                vec![("dscnt", count & 0x3f), (named(other).expect("a counter"), count >> 8 & 0x3f)]
            }
            (_, Some(count)) => named(counters).into_iter().map(|counter| (counter, count)).collect(),
            _ => Vec::new(),
        })
    }
}

/// Returns the kind of access of an instruction; `None` if it accesses no memory and has no counter.
pub fn access(instruction: &Instruction) -> Option<Access> {
    let mnemonic = instruction.mnemonic.as_str();
    if WITHOUT_ACCESS.iter().any(|other| mnemonic.starts_with(other)) {
        return None;
    }
    let (unit, operation) = mnemonic.split_once('_')?;
    match unit {
        "global" | "buffer" | "scratch" => Some(match operation.split('_').next() {
            Some("load") => Access::Load,
            Some("store") => Access::Store,
            Some("atomic") if RETURNING.iter().any(|modifier| instruction.has(modifier)) => Access::Load,
            Some("atomic") => Access::Store,
            _ => panic!("`{}` is not in the table", instruction.text),
        }),
        "ds" => Some(Access::Shared),
        "s" if ["load_", "buffer_load_", "memtime", "memrealtime", "sendmsg_rtn"]
            .iter()
            .any(|scalar| operation.starts_with(scalar)) =>
        {
            Some(Access::Scalar)
        }
        "v" | "s" => None,
        _ => panic!("`{}` is not in the table", instruction.text),
    }
}

/// Whether the first operand of an access is a register that it writes.
pub fn writes_registers(instruction: &Instruction, access: Access) -> bool {
    let operation = instruction.mnemonic.split_once('_').map_or("", |(_, operation)| operation);
    match access {
        Access::Load => !is_copy_to_shared(instruction),
        Access::Store => false,
        Access::Scalar => true,
        Access::Shared => {
            let returns = ["read", "load", "bpermute", "permute", "swizzle", "consume", "append"];
            returns.iter().any(|word| operation.starts_with(word)) || operation.contains("_rtn")
        }
    }
}

/// Whether an instruction loads from global memory to shared memory.
pub fn is_copy_to_shared(instruction: &Instruction) -> bool {
    instruction.mnemonic.contains("_lds_") || instruction.has("lds")
}

/// Whether an instruction of the shared memory's hardware moves words between lanes and accesses no memory.
pub fn is_shuffle(instruction: &Instruction) -> bool {
    ["ds_bpermute", "ds_permute", "ds_swizzle"].iter().any(|shuffle| instruction.mnemonic.starts_with(shuffle))
}
