//! Optimizations of the compiler that a compilation can disable, to measure their gain or to find which one a faulty
//! kernel needs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_layout::find_similar_name;

use crate::named_enum;

/// Defines [`Optimization`] from a table of variants, names and summaries.
macro_rules! optimizations {
    ($($variant:ident $name:literal $summary:literal)*) => {
        named_enum! {
            /// An optimization that a compilation can disable. Programs compute the same results without it, up to the
            /// rounding of floating-point numbers.
            pub enum Optimization as array {
                $(#[doc = $summary] $variant = $name,)*
            }
        }

        impl Optimization {
            /// Returns a one-line description.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => $summary,)*
                }
            }
        }
    };
}

optimizations! {
    FusedMultiplyAdd "fused-multiply-add" "Contracts products and sums into multiply-adds that round once"
    NativeFunctions "native-functions" "Computes math functions, such as divisions, by approximate hardware instructions"
    NativeCasts "native-casts" "Casts narrow floats by hardware instructions, several numbers at a time"
    PredicatedAccesses "predicated-accesses" "Emits masked accesses as predicated instructions, not as branches around each"
    GuardedLoads "guarded-loads" "Omits loads of the last iterations by their masks, not by a branch"
    SharedMasks "shared-masks" "Computes elements once that axis information shows to be equal, such as masks"
    PointerBases "pointer-bases" "Carries one base and offsets through a loop, not all pointers of a tensor"
    ConstantOffsets "constant-offsets" "Accesses elements at constant distances through one pointer with immediate offsets"
    PointerInduction "pointer-induction" "Keeps pointers that a loop advances whole, so that they are not split into sums again"
    OperandOrders "operand-orders" "Stores dot operands to shared memory in the order that they have in global memory"
    SharedOperands "shared-operands" "Prefetches dot operands into the shared memory that MMA instructions read"
    HoistedOperands "hoisted-operands" "Stores loop-invariant dot operands to shared memory once, before the loop"
    AsyncCopies "async-copies" "Copies prefetched tiles from global to shared memory without registers"
    TensorCopies "tensor-copies" "Copies tiles of tensor descriptors by bulk tensor copies"
    Prefetch "prefetch" "Pipelines loops: loads tiles of later iterations while an iteration computes"
    OverlappedMma "overlapped-mma" "Leaves asynchronous MMAs in flight when the next iteration begins"
    ProducerWarps "producer-warps" "Gives loops an extra warp that issues their bulk tensor copies, where that is faster"
    RegisterReallocation "register-reallocation" "Lets producer warps hand registers over to the warps that multiply"
    PingPong "ping-pong" "Lets warp groups alternate: the MMAs of one run while the others do other work"
    LoopUnrolling "loop-unrolling" "Lets the code generator and the assembler unroll loops"
    ResidentBlocks "resident-blocks" "States the number of resident blocks, so that loads and chained dots get enough registers"
    DotAlternatives "dot-alternatives" "Takes another MMA instruction for a dot if the surrounding conversions become cheaper"
    FragmentCopies "fragment-copies" "Copies the registers of an MMA operand once that several vector loads fill"
    VectorAccesses "vector-accesses" "Loads and stores several adjacent elements by one instruction"
    OperandWords "operand-words" "Loads dot operands so that they are stored to shared memory in words, with few bank conflicts"
    StoreSwaps "store-swaps" "Swaps elements among lanes before stores that then write fewer sectors"
    ReplicaStores "replica-stores" "Divides the stores of replicated values among the lanes that hold them"
    BulkStores "bulk-stores" "Stores tiles of tensor descriptors by bulk tensor copies"
    WarpReductions "warp-reductions" "Reduces integers over a warp by one instruction"
    MergedBarriers "merged-barriers" "Merges the barriers of several data movements through shared memory"
    StoreForwarding "store-forwarding" "Forwards stored values to loads of the same address"
    MemorySynthesis "memory-synthesis" "Searches layouts of explicit shared tensors, which are row-major otherwise"
    TaskMapping "task-mapping" "Searches the lanes that copy explicit tensors, and bulk tensor copies of them"
}

/// A name that no [`Optimization`] has; the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct UnknownOptimizationError {
    name: String,
}

impl fmt::Display for UnknownOptimizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Optimization::ALL.map(Optimization::name);
        write!(f, "there is no optimization `{}`", self.name)?;
        match find_similar_name(&self.name, known) {
            Some(similar) => write!(f, "; did you mean `{similar}`?"),
            None => write!(f, "; expected one of {}", known.join(", ")),
        }
    }
}

impl FromStr for Optimization {
    type Err = UnknownOptimizationError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_name(name).ok_or_else(|| UnknownOptimizationError { name: name.to_owned() })
    }
}

/// A set of optimizations. In serialized bytes, a list of names; a reader skips names that it does not know.
///
/// # Examples
/// ```
/// use tilewright_target::{Optimization, OptimizationSet};
///
/// let disabled: OptimizationSet = ["prefetch".parse::<Optimization>()?].into_iter().collect();
/// assert!(disabled.contains(Optimization::Prefetch) && !disabled.contains(Optimization::VectorAccesses));
/// # Ok::<(), tilewright_target::UnknownOptimizationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<&'static str>")]
pub struct OptimizationSet(u64);

impl OptimizationSet {
    /// Whether the set has the optimization.
    #[must_use]
    pub fn contains(self, optimization: Optimization) -> bool {
        self.0 & bit(optimization) != 0
    }

    /// Returns the set with the optimization if `is_member`, without it otherwise.
    #[must_use]
    pub fn with(self, optimization: Optimization, is_member: bool) -> Self {
        match is_member {
            true => Self(self.0 | bit(optimization)),
            false => Self(self.0 & !bit(optimization)),
        }
    }

    /// Whether the set has no optimization.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Returns the optimizations of the set, in the order of [`Optimization::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Optimization> {
        Optimization::ALL.into_iter().filter(move |&optimization| self.contains(optimization))
    }
}

fn bit(optimization: Optimization) -> u64 {
    1 << optimization as u64
}

impl FromIterator<Optimization> for OptimizationSet {
    fn from_iter<I: IntoIterator<Item = Optimization>>(members: I) -> Self {
        members.into_iter().fold(Self::default(), |set, optimization| set.with(optimization, true))
    }
}

impl From<Vec<String>> for OptimizationSet {
    fn from(names: Vec<String>) -> Self {
        names.iter().filter_map(|name| Optimization::from_name(name)).collect()
    }
}

impl From<OptimizationSet> for Vec<&'static str> {
    fn from(set: OptimizationSet) -> Self {
        set.iter().map(Optimization::name).collect()
    }
}
