//! Dispatches each operation of the tile program to its lowering.

use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::{Op, Operation};

use super::error::{LowerError, LowerErrorReason, Lowered};
use super::lowered::LoweredValue;
use super::lowering::Lowering;
use super::{
    along, assembly, asynchronous, control, descriptor, descriptor_reduction, dot, fp4, groups, indexed, launch,
    mbarrier, memory, moved, pending, report, scalar, shape, shared, stages, tensor_copies,
};

impl Lowering<'_> {
    /// Lowers an operation of the tile program by the function for its name. Appended operations get its source
    /// location.
    pub(super) fn dispatch(&mut self, op: Op) -> Result<(), LowerError> {
        let written = self.body.op(op).location.written.as_deref();
        let written =
            written.map(|text| text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text));
        let before = self.builder.set_location(written);
        let lowered = self.dispatch_by_name(op);
        self.builder.restore_location(before);
        lowered
    }

    fn dispatch_by_name(&mut self, op: Op) -> Result<(), LowerError> {
        let body = self.body;
        let operation = body.op(op);
        if self.pending.reads(op) {
            // The MMA reads the operand in place.
            return Ok(());
        }
        if self.ordered_accesses.contains(&op) {
            self.emit_global_barrier(self.program_scope());
        }
        // The functions for operations with regions attach the location to their errors themselves.
        match operation.name() {
            scf::FOR => control::counted(self, op),
            scf::WHILE => control::repeated(self, op),
            scf::IF => control::chosen(self, op),
            scf::INDEX_SWITCH => control::switched(self, op),
            scf::EXECUTE_REGION => control::inlined(self, op),
            tt::REDUCE => along::reduced(self, op),
            tt::SCAN => along::scanned(self, op),
            tt::MAP_ELEMENTWISE => scalar::mapped(self, op),
            ttg::WARP_SPECIALIZE => groups::operation(self, op),
            ttg::MASK => stages::masked(self, op),
            _ => self.plain(op, operation).map_err(|reason| reason.at(body, op)),
        }
    }

    /// Lowers an operation without regions by the function for its name.
    fn plain(&mut self, op: Op, operation: &Operation) -> Lowered<()> {
        let name = operation.name();
        if scalar::is_known(name) {
            return scalar::elementwise(self, op);
        }
        match name.split_once('.').map_or(("", name), |(dialect, dialect_op)| (dialect, dialect_op)) {
            ("arith", "constant") | ("ub", "poison") => scalar::constant(self, op),
            ("arith", "flush_denormals") => Err(LowerErrorReason::unsupported("no target can flush denormals")),
            ("llvm", "intr.assume") => Ok(()),
            ("tt" | "ttg", dialect_op) => match dialect_op {
                "splat" => shape::splat(self, op),
                "unsplat" => shape::unsplat(self, op),
                "make_range" => shape::range(self, op),
                "expand_dims" => shape::expanded(self, op),
                "broadcast" => shape::broadcast(self, op),
                "reshape" => shape::reshaped(self, op),
                "trans" => shape::transposed(self, op),
                "join" => shape::joined(self, op),
                "cat" => shape::concatenated(self, op),
                "split" => shape::split(self, op),
                "convert_layout" => shape::converted(self, op),
                "gather" => along::gathered(self, op),
                "histogram" => along::histogram(self, op),
                "load" => memory::load(self, op),
                "store" => memory::store(self, op),
                "atomic_rmw" => memory::read_modify_write(self, op),
                "atomic_cas" => memory::compare_exchange(self, op),
                "atomic_load" => memory::atomic_load(self, op),
                "atomic_store" => memory::atomic_store(self, op),
                "atomic_poll" => memory::poll(self, op),
                "make_tensor_descriptor" => descriptor::lower_make_descriptor(self, op),
                "descriptor_load" => descriptor::load(self, op),
                "descriptor_store" => descriptor::store(self, op),
                "descriptor_reduce" => descriptor_reduction::reduce(self, op),
                "descriptor_gather" => descriptor::gather(self, op),
                "descriptor_scatter" => descriptor::scatter(self, op),
                "dot" | "dot_scaled" => {
                    self.begin_exclusive(op);
                    dot::lower_dot(self, op)?;
                    self.end_exclusive(op);
                    Ok(())
                }
                "get_program_id" | "get_num_programs" => launch::program(self, op),
                "assert" => report::assert(self, op),
                "print" => report::print(self, op),
                "barrier" => launch::barrier(self, op),
                "warp_id" => launch::warp(self, op),
                "global_scratch_alloc" => launch::scratch(self, op),
                "fp4_to_fp" => fp4::widened(self, op),
                "grid_dependency_wait" => launch::grid_dependency(self, true),
                "grid_dependency_launch_dependents" => launch::grid_dependency(self, false),
                "elementwise_inline_asm" => assembly::assembly(self, op),
                "inline_asm" => assembly::lane_assembly(self, op),
                "local_gather" => indexed::gathered(self, op),
                "local_scatter" => indexed::scattered(self, op),
                "local_atomic_scatter_rmw" => indexed::combined(self, op),
                "predicate_stage" => stages::predicate(self, op),
                "local_alloc"
                | "local_load"
                | "local_store"
                | "local_dealloc"
                | "memdesc_index"
                | "memdesc_subslice"
                | "memdesc_trans"
                | "memdesc_reshape"
                | "memdesc_reinterpret" => shared::operation(self, op),
                "async_copy_global_to_local" | "async_commit_group" | "async_wait" => asynchronous::operation(self, op),
                _ => Err(unknown()),
            },
            ("tw", "update_tensor_descriptor") => moved::moved(self, op),
            ("tw", "mma_wait") => pending::awaited(self, op),
            ("tw", "bulk_tensor_load") => tensor_copies::load(self, op),
            ("tw", "bulk_tensor_store") => tensor_copies::store(self, op),
            // Waits are inserted where shared memory is written again, and where a warp signals that it may be.
            ("tw", "bulk_tensor_wait") => Ok(()),
            // The tensor map is a parameter of the kernel, so no code is emitted for it.
            ("tw", "derived_tensor_map") => self.set_result(op, LoweredValue::Token),
            ("tw", dialect_op) if dialect_op.starts_with("mbarrier_") => mbarrier::operation(self, op),
            ("tw", "clock") => launch::clock(self, op),
            ("tw", "cluster_barrier") => launch::cluster_barrier(self),
            ("tw", "descriptor_pred") => moved::active(self, op),
            ("cf", "assert") => report::assert(self, op),
            _ => Err(unknown()),
        }
    }
}

fn unknown() -> LowerErrorReason {
    LowerErrorReason::unsupported("this operation has no lowering")
}
