//! What an operation is made of: its name, its operands, its regions.

use super::Op;
use crate::{Region, Value};

impl Op {
    /// The name used in text and on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Special(_) => "special",
            Self::SharedAddress { .. } => "shared_address",
            Self::ClusterAddress { .. } => "cluster_address",
            Self::Unary { .. } => "unary",
            Self::Binary { .. } => "binary",
            Self::FMulAdd { .. } => "f_mul_add",
            Self::Compare { .. } => "compare",
            Self::Select { .. } => "select",
            Self::Same { .. } => "same",
            Self::Cast { .. } => "cast",
            Self::Pack { .. } => "pack",
            Self::Extract { .. } => "extract",
            Self::PermuteBytes { .. } => "permute_bytes",
            Self::Advance { .. } => "advance",
            Self::Load { .. } => "load",
            Self::Store { .. } => "store",
            Self::AtomicRmw { .. } => "atomic_rmw",
            Self::AtomicCompareExchange { .. } => "atomic_compare_exchange",
            Self::Fence { .. } => "fence",
            Self::Math { .. } => "math",
            Self::Assert { .. } => "assert",
            Self::Print { .. } => "print",
            Self::Assembly { .. } => "assembly",
            Self::GridDependency { .. } => "grid_dependency",
            Self::Exchange { .. } => "exchange",
            Self::ExchangeXor { .. } => "exchange_xor",
            Self::Swap { .. } => "swap",
            Self::Barrier { .. } => "barrier",
            Self::GroupBarrier { .. } => "group_barrier",
            Self::Pend { .. } => "pend",
            Self::Commit { .. } => "commit",
            Self::Wait { .. } => "wait",
            Self::MbarrierInit { .. } => "mbarrier_init",
            Self::MbarrierArrive { .. } => "mbarrier_arrive",
            Self::MbarrierWait { .. } => "mbarrier_wait",
            Self::MbarrierCommit { .. } => "mbarrier_commit",
            Self::TensorAllocate { .. } => "tensor_allocate",
            Self::TensorFree { .. } => "tensor_free",
            Self::ProxyFence {} => "proxy_fence",
            Self::Instruction { .. } => "instruction",
            Self::If { .. } => "if",
            Self::For { .. } => "for",
            Self::While { .. } => "while",
            Self::Yield { .. } => "yield",
        }
    }

    /// The names of all operations that this version knows, as on the wire.
    pub const NAMES: [&'static str; 45] = [
        "constant",
        "special",
        "shared_address",
        "cluster_address",
        "unary",
        "binary",
        "f_mul_add",
        "compare",
        "select",
        "same",
        "cast",
        "pack",
        "extract",
        "permute_bytes",
        "advance",
        "load",
        "store",
        "atomic_rmw",
        "atomic_compare_exchange",
        "fence",
        "math",
        "assert",
        "print",
        "assembly",
        "grid_dependency",
        "exchange",
        "exchange_xor",
        "swap",
        "barrier",
        "group_barrier",
        "pend",
        "commit",
        "wait",
        "mbarrier_init",
        "mbarrier_arrive",
        "mbarrier_wait",
        "mbarrier_commit",
        "tensor_allocate",
        "tensor_free",
        "proxy_fence",
        "instruction",
        "if",
        "for",
        "while",
        "yield",
    ];

    /// The operands, in the order of the fields; regions not entered.
    #[must_use]
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Self::Constant { .. } | Self::Special(_) | Self::SharedAddress { .. } => vec![],
            Self::ClusterAddress { pointer, block } => vec![*pointer, *block],
            Self::Unary { a, .. }
            | Self::Cast { a, .. }
            | Self::Same { value: a, .. }
            | Self::Pend { value: a, .. }
            | Self::ExchangeXor { value: a, .. } => vec![*a],
            Self::Binary { a, b, .. } | Self::Compare { a, b, .. } | Self::Swap { a, b, .. } => vec![*a, *b],
            Self::PermuteBytes { a, b, alternative, .. } => {
                [Some(*a), Some(*b), alternative.map(|(condition, _)| condition)].into_iter().flatten().collect()
            }
            Self::Select { condition: a, a: b, b: c } | Self::FMulAdd { a, b, c } => vec![*a, *b, *c],
            Self::Pack { elements } => elements.clone(),
            Self::Extract { vector, .. } => vec![*vector],
            Self::Advance { pointer, bytes } => vec![*pointer, *bytes],
            Self::Load { pointer, predicate, .. } => [Some(*pointer), *predicate].into_iter().flatten().collect(),
            Self::Store { pointer, value, predicate, .. } => {
                [Some(*pointer), Some(*value), *predicate].into_iter().flatten().collect()
            }
            Self::AtomicRmw { pointer, value, predicate, .. } => {
                [Some(*pointer), Some(*value), *predicate].into_iter().flatten().collect()
            }
            Self::AtomicCompareExchange { pointer, expected, value, predicate, .. } => {
                [Some(*pointer), Some(*expected), Some(*value), *predicate].into_iter().flatten().collect()
            }
            Self::Assert { condition, predicate, .. } => [Some(*condition), *predicate].into_iter().flatten().collect(),
            Self::Math { operands: values, .. }
            | Self::Print { values, .. }
            | Self::Assembly { operands: values, .. }
            | Self::While { carried: values, .. } => values.clone(),
            Self::Exchange { value, lane, .. } => vec![*value, *lane],
            Self::Barrier { .. }
            | Self::GroupBarrier { .. }
            | Self::Commit { .. }
            | Self::ProxyFence {}
            | Self::Fence { .. }
            | Self::GridDependency { .. } => vec![],
            Self::Wait { values, .. } => values.clone(),
            Self::MbarrierInit { pointer, .. }
            | Self::MbarrierArrive { pointer, .. }
            | Self::MbarrierCommit { pointer, .. }
            | Self::TensorAllocate { pointer, .. } => vec![*pointer],
            Self::TensorFree { address, .. } => vec![*address],
            Self::MbarrierWait { pointer, phase } => vec![*pointer, *phase],
            Self::Instruction { operands, .. } => operands.clone(),
            Self::If { condition, .. } => vec![*condition],
            Self::For { from, to, step, carried, .. } => {
                [*from, *to, *step].into_iter().chain(carried.iter().copied()).collect()
            }
            Self::Yield { values } => values.clone(),
        }
    }

    /// The regions, in the order of the fields.
    #[must_use]
    pub fn regions(&self) -> Vec<&Region> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::For { body, .. } | Self::While { body, .. } => vec![body],
            _ => vec![],
        }
    }

    /// The regions, to be changed, in the order of the fields.
    #[must_use]
    pub fn regions_mut(&mut self) -> Vec<&mut Region> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::For { body, .. } | Self::While { body, .. } => vec![body],
            _ => vec![],
        }
    }

    /// Whether the operation always defines exactly one value, whose type
    /// `Statement::results` gives.
    #[must_use]
    pub fn has_single_result(&self) -> bool {
        !matches!(
            self,
            Self::Store { .. }
                | Self::Swap { .. }
                | Self::Barrier { .. }
                | Self::GroupBarrier { .. }
                | Self::Commit { .. }
                | Self::Wait { .. }
                | Self::MbarrierInit { .. }
                | Self::MbarrierArrive { .. }
                | Self::MbarrierWait { .. }
                | Self::MbarrierCommit { .. }
                | Self::TensorAllocate { .. }
                | Self::TensorFree { .. }
                | Self::ProxyFence {}
                | Self::Yield { .. }
                | Self::If { .. }
                | Self::For { .. }
                | Self::While { .. }
                | Self::Fence { .. }
                | Self::Assert { .. }
                | Self::Print { .. }
                | Self::Assembly { .. }
                | Self::GridDependency { .. }
                | Self::Instruction { .. }
        )
    }
}
