//! Which room lowers which operation.

use tilewright_tile::op::name::{scf, tt, ttg};
use tilewright_tile::{Op, Operation};

use super::error::{LowerError, Lowered, Reason};
use super::lowered::LoweredValue;
use super::lowering::Lowering;
use super::{
    along, assembly, asynchronous, boxes, control, descriptor, descriptor_reduction, dot, groups, halves, indexed,
    launch, mbarrier, memory, moved, pending, report, scalar, shape, shared, stages,
};

impl Lowering<'_> {
    /// Lowers an operation.
    pub(super) fn dispatch(&mut self, op: Op) -> Result<(), LowerError> {
        let body = self.body;
        let operation = body.op(op);
        if self.pending.reads(op) {
            // The product reads the factor where it lies.
            return Ok(());
        }
        // What has regions places errors itself.
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

    /// An operation without regions.
    fn plain(&mut self, op: Op, operation: &Operation) -> Lowered<()> {
        let name = operation.name();
        if scalar::is_known(name) {
            return scalar::elementwise(self, op);
        }
        match name.split_once('.').map_or(("", name), |(dialect, own)| (dialect, own)) {
            ("arith", "constant") | ("ub", "poison") => scalar::constant(self, op),
            ("arith", "flush_denormals") => Err(Reason::unsupported("no target here flushes numbers by an operation")),
            ("llvm", "intr.assume") => Ok(()),
            ("tt" | "ttg", own) => match own {
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
                "make_tensor_descriptor" => descriptor::made(self, op),
                "descriptor_load" => descriptor::load(self, op),
                "descriptor_store" => descriptor::store(self, op),
                "descriptor_reduce" => descriptor_reduction::reduce(self, op),
                "descriptor_gather" => descriptor::gather(self, op),
                "descriptor_scatter" => descriptor::scatter(self, op),
                "dot" | "dot_scaled" => dot::product(self, op),
                "get_program_id" | "get_num_programs" => launch::program(self, op),
                "assert" => report::assert(self, op),
                "print" => report::print(self, op),
                "barrier" => launch::barrier(self, op),
                "warp_id" => launch::warp(self, op),
                "global_scratch_alloc" => launch::scratch(self, op),
                "fp4_to_fp" => halves::widened(self, op),
                "grid_dependency_wait" => launch::grid_dependency(self, true),
                "grid_dependency_launch_dependents" => launch::grid_dependency(self, false),
                "elementwise_inline_asm" => assembly::assembly(self, op),
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
            ("tw", "moved_descriptor") => moved::moved(self, op),
            ("tw", "await_products") => pending::awaited(self, op),
            ("tw", "load_box") => boxes::load(self, op),
            // The kernel has the map as a parameter.
            ("tw", "mapped") => self.give(op, LoweredValue::Token),
            ("tw", own) if own.starts_with("mbarrier_") => mbarrier::operation(self, op),
            ("tw", "descriptor_acts") => moved::active(self, op),
            ("cf", "assert") => report::assert(self, op),
            _ => Err(unknown()),
        }
    }
}

fn unknown() -> Reason {
    Reason::unsupported("there is no lowering of this operation")
}
