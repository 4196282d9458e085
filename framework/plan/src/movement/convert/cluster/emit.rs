//! Emits a conversion across the blocks of a cluster.

use tilewright_kernel::{Binary, Builder, CollectiveScope, SpecialRegister, Value};

use super::super::super::address::{ClusterBlockBits, ThreadIndices};
use super::super::super::tile::Loads;
use super::ClusterPlan;

impl ClusterPlan {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        builder.require_cluster_blocks(self.blocks());
        let buffer = self.scratch.buffer(builder);
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let block = builder.special(SpecialRegister::Block);
        let stores = self.scratch.stores(builder, thread, buffer);
        let mut loads = self.loads(builder, thread, block, buffer);
        let scope = if self.leaves { CollectiveScope::Cluster } else { CollectiveScope::Block };
        self.scratch.filled(builder, scope, registers, stores, &mut loads);
        if self.leaves {
            // Other blocks may still read this block's memory.
            builder.barrier(scope);
        }
        let groups: Vec<Vec<Value>> = loads.into_iter().map(Loads::finish).collect();
        let of = |register| {
            let (group, index) = self.groups.of(register);
            groups[group as usize][index as usize]
        };
        (0..1u64 << self.register_bits).map(of).collect()
    }

    /// Emits the address of the memory from which each group of registers loads, one block's memory for each group.
    /// Returns the emitters of the groups' loads.
    fn loads<'a>(
        &'a self,
        builder: &mut Builder,
        thread: ThreadIndices,
        block: Value,
        buffer: Value,
    ) -> Vec<Loads<'a>> {
        let (warp_bits, block_bits) = (self.warp_bits, self.block_bits);
        let of_group = |group| thread.in_cluster(ClusterBlockBits { warp_bits, block, block_bits, group });
        let moves = self.distances.iter().any(|&distance| distance != 0);
        let distance = moves.then(|| of_group(0).emit_f2_product(builder, &self.distances));
        let first = distance.map(|distance| builder.binary(Binary::Xor, block, distance));
        let mut loads = Vec::new();
        for group in 0..1u64 << self.groups.bits() {
            let away = self.groups.distance(group);
            let requested = match (first, away) {
                (requested, 0) => requested,
                (requested, away) => Some(builder.binary_const(Binary::Xor, requested.unwrap_or(block), away as u32)),
            };
            let memory = requested.map_or(buffer, |requested| builder.cluster_address(buffer, requested));
            loads.push(self.scratch.loads(builder, of_group(group), memory));
        }
        loads
    }
}
