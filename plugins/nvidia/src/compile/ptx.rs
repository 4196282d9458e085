//! What LLVM's translation of the kernel IR asks of PTX: the form of kernels, threads, exchanges, barriers, what
//! is asynchronous, and instructions.

use tilewright_kernel::{Element, Kernel, MathFunction, MemoryScope, Queue, Scope, Type};
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_llvm::{
    AtomicUpdate, Dialect, Emitter, KernelForm, LlvmTarget, MapForm, SharedForm, no_clusters, no_function,
    no_mbarriers, no_queue, no_tensor_memory, queue_of,
};
use tilewright_plugin::codegen::shared_bytes;
use tilewright_plugin::{CompileError, issued_row};
use tilewright_target::{Instruction, TargetDescription};

use super::capability::capability;
use super::{bulk, group, instruction, mbarrier, tensor};

/// LLVM's number of the calling convention `ptx_kernel`.
const PTX_KERNEL: u32 = 71;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Every lane of a warp takes part.
const ALL_LANES: u32 = u32::MAX;

/// A `CUtensorMap`: 128 opaque bytes at a multiple of 64, which stay where the launch has put them.
fn map_form() -> MapForm {
    MapForm { bytes: 128, alignment: 64, attributes: vec![("nvvm.grid_constant".to_owned(), String::new())] }
}

/// PTX, as LLVM writes it.
pub(super) struct Ptx<'a> {
    pub(super) target: &'a TargetDescription,
    pub(super) rows: &'a [Instruction],
    /// The version, times ten, that instructions ask for.
    pub(super) version: Option<u32>,
    /// Whether its kernels have tensor memory, which synchronisations must order.
    pub(super) tensor: bool,
}

impl Ptx<'_> {
    /// Clusters came with compute capability 9.0.
    fn has_clusters(&self) -> Result<(), CompileError> {
        if self.target.limits.blocks_per_cluster > 1 { Ok(()) } else { Err(no_clusters()) }
    }

    /// So did mbarriers that count bytes, with the proxy by which asynchronous copies write.
    fn has_mbarriers(&self) -> Result<(), CompileError> {
        if self.target.shared.asynchronous_proxy { Ok(()) } else { Err(no_mbarriers()) }
    }

    fn has_tensor_memory(&self) -> Result<(), CompileError> {
        if self.target.tensor.is_some() { Ok(()) } else { Err(no_tensor_memory()) }
    }

    /// What threads synchronise with, which orders what they do in tensor memory, too.
    fn synchronised(
        &self,
        emit: &Emitter<'_, '_>,
        [before, after]: [bool; 2],
        synchronise: impl FnOnce() -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        if self.tensor && before {
            tensor::before(emit)?;
        }
        synchronise()?;
        if self.tensor && after { tensor::after(emit) } else { Ok(()) }
    }
}

impl Dialect for Ptx<'_> {
    fn machine(&self) -> LlvmTarget {
        LlvmTarget {
            triple: "nvptx64-nvidia-cuda".to_owned(),
            cpu: self.target.architecture.clone(),
            // Without a feature `+ptxNN` LLVM takes the lowest PTX version that has the processor.
            features: self.version.map(|version| format!("+ptx{version}")).unwrap_or_default(),
            global: 1,
            shared: 3,
            cluster: Some(7),
        }
    }

    fn kernel(&self, kernel: &Kernel) -> Result<KernelForm, CompileError> {
        if kernel.launch.lanes != WARP {
            let message = format!("kernel `{}`: warps of {} lanes; there are {WARP}", kernel.name, kernel.launch.lanes);
            return Err(CompileError::Unsupported(message));
        }
        let lanes = WARP * kernel.launch.warps;
        let mut attributes = vec![("nvvm.reqntid".to_owned(), format!("{lanes},1,1"))];
        if kernel.launch.blocks > 1 {
            attributes.push(("nvvm.cluster_dim".to_owned(), format!("{},1,1", kernel.launch.blocks)));
        }
        // What a kernel may ask for by itself is less than what a launch may give it.
        let fixed = shared_bytes(kernel)? <= u64::from(self.target.shared.static_bytes);
        Ok(KernelForm {
            calling_convention: PTX_KERNEL,
            attributes,
            metadata: Vec::new(),
            protected: false,
            map: Some(map_form()),
            shared: if fixed { SharedForm::Static } else { SharedForm::Dynamic },
        })
    }

    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let lane = emit.call_i32("llvm.nvvm.read.ptx.sreg.tid.x", &[])?;
        emit.and(lane, WARP - 1)
    }

    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let lane = emit.call_i32("llvm.nvvm.read.ptx.sreg.tid.x", &[])?;
        emit.shift_right(lane, WARP.trailing_zeros())
    }

    fn program<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let axis = ["x", "y", "z"][usize::from(axis) % 3];
        emit.call_i32(&format!("llvm.nvvm.read.ptx.sreg.ctaid.{axis}"), &[])
    }

    fn programs<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let axis = ["x", "y", "z"][usize::from(axis) % 3];
        emit.call_i32(&format!("llvm.nvvm.read.ptx.sreg.nctaid.{axis}"), &[])
    }

    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        match scope {
            MemoryScope::Block => "block",
            MemoryScope::Device => "device",
            MemoryScope::System => "",
        }
    }

    fn atomic<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        atomic: &AtomicUpdate<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        super::atomic::emit(emit, &self.target.architecture, atomic)
    }

    fn math<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        function: MathFunction,
        element: Element,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let listed = self.target.function(function.name(), element.name()).is_some();
        match (function, element, operands) {
            (MathFunction::Exp2, Element::F32, &[a]) if listed => emit.call_same("llvm.nvvm.ex2.approx", a),
            (MathFunction::Rsqrt, Element::F32, &[a]) if listed => emit.call_single("llvm.nvvm.rsqrt.approx.f", a),
            _ => Err(no_function(function, element)),
        }
    }

    fn print<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        format: &str,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CompileError> {
        emit.print_values("vprintf", format, values)
    }

    /// Any text: LLVM does not read PTX, its assembler does.
    fn check_assembly(&self, _text: &str) -> Result<(), CompileError> {
        Ok(())
    }

    /// Kernels overlap from compute capability 9.0 on.
    fn grid_dependency(&self, emit: &Emitter<'_, '_>, wait: bool) -> Result<(), CompileError> {
        if capability(&self.target.architecture) < 90 {
            return Ok(());
        }
        let name = if wait { "llvm.nvvm.griddepcontrol.wait" } else { "llvm.nvvm.griddepcontrol.launch.dependents" };
        emit.call(name, &[], &[]).map(|_| ())
    }

    fn exchange<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        // The last operand bounds the lanes read from: one segment of the whole warp.
        let last = emit.i32(WARP - 1);
        emit.call_i32("llvm.nvvm.shfl.sync.idx.i32", &[emit.i32(ALL_LANES), value, lane, last])
    }

    fn exchange_xor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        mask: u32,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let last = emit.i32(WARP - 1);
        emit.call_i32("llvm.nvvm.shfl.sync.bfly.i32", &[emit.i32(ALL_LANES), value, emit.i32(mask), last])
    }

    fn barrier(&self, emit: &Emitter<'_, '_>, scope: Scope) -> Result<(), CompileError> {
        // All order memory operations among their lanes by themselves: arriving at a cluster's releases,
        // waiting acquires.
        let calls = match scope {
            Scope::Warp => vec![("llvm.nvvm.bar.warp.sync", Some(emit.i32(ALL_LANES)))],
            Scope::Block => vec![("llvm.nvvm.barrier.cta.sync.aligned.all", Some(emit.i32(0)))],
            Scope::Cluster => {
                self.has_clusters()?;
                vec![
                    ("llvm.nvvm.barrier.cluster.arrive.aligned", None),
                    ("llvm.nvvm.barrier.cluster.wait.aligned", None),
                ]
            }
        };
        // What a warp does in tensor memory is its own anyway.
        self.synchronised(emit, [scope != Scope::Warp; 2], || {
            calls.into_iter().try_for_each(|(intrinsic, operand)| {
                emit.call(intrinsic, &[], operand.map(Into::into).as_slice()).map(|_| ())
            })
        })
    }

    fn group_barrier(&self, emit: &Emitter<'_, '_>, number: u32, lanes: u32) -> Result<(), CompileError> {
        self.synchronised(emit, [true; 2], || {
            let operands = [emit.i32(number).into(), emit.i32(lanes).into()];
            emit.call("llvm.nvvm.barrier.cta.sync.aligned.count", &[], &operands).map(|_| ())
        })
    }

    fn pend<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        (ty, value): (Type, BasicValueEnum<'ctx>),
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        match queue {
            Queue::Products => group::pend(emit, (ty, value)),
            other => Err(no_queue(other)),
        }
    }

    fn queue_of(&self, name: &str) -> Option<Queue> {
        queue_of(self.rows, name)
    }

    fn commit(&self, emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
        match queue {
            Queue::Copies => emit.call("llvm.nvvm.cp.async.commit.group", &[], &[]).map(|_| ()),
            Queue::Products => group::commit(emit),
            Queue::Bulk => self.has_mbarriers().map_err(|_| no_queue(queue)).and_then(|()| bulk::commit(emit)),
            // A wait is for all of them.
            Queue::TensorLoads | Queue::TensorStores => self.has_tensor_memory(),
        }
    }

    fn wait(&self, emit: &Emitter<'_, '_>, queue: Queue, outstanding: u32, _least: u32) -> Result<(), CompileError> {
        match queue {
            Queue::Copies => {
                emit.call("llvm.nvvm.cp.async.wait.group", &[], &[emit.i32(outstanding).into()]).map(|_| ())
            }
            Queue::Products => group::wait(emit, outstanding),
            Queue::Bulk => {
                self.has_mbarriers().map_err(|_| no_queue(queue)).and_then(|()| bulk::wait(emit, outstanding))
            }
            Queue::TensorLoads | Queue::TensorStores => {
                self.has_tensor_memory()?;
                tensor::wait(emit, queue)
            }
        }
    }

    fn awaited<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        _queue: Queue,
        values: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        group::awaited(emit, values)
    }

    fn mbarrier_init<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        arrivals: u32,
    ) -> Result<(), CompileError> {
        self.has_mbarriers()?;
        mbarrier::init(emit, pointer, arrivals)
    }

    fn mbarrier_arrive<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u32,
    ) -> Result<(), CompileError> {
        self.has_mbarriers()?;
        self.synchronised(emit, [true, false], || mbarrier::arrive(emit, pointer, bytes))
    }

    fn mbarrier_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        phase: IntValue<'ctx>,
    ) -> Result<(), CompileError> {
        self.has_mbarriers()?;
        self.synchronised(emit, [false, true], || mbarrier::wait(emit, pointer, phase))
    }

    fn mbarrier_commit<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        self.has_mbarriers()?;
        match queue {
            Queue::Products if self.target.tensor.is_some() => tensor::commit(emit, pointer),
            other => Err(no_queue(other)),
        }
    }

    fn tensor_allocate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        columns: u32,
        kernel: &Kernel,
    ) -> Result<(), CompileError> {
        self.has_tensor_memory()?;
        tensor::allocate(emit, pointer, columns, tensor::allots_once(kernel))
    }

    fn tensor_free<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        address: IntValue<'ctx>,
        columns: u32,
    ) -> Result<(), CompileError> {
        self.has_tensor_memory()?;
        tensor::free(emit, address, columns)
    }

    fn proxy_fence(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        match self.target.shared.asynchronous_proxy {
            true => emit.call("llvm.nvvm.fence.proxy.async.shared_cta", &[], &[]).map(|_| ()),
            false => Ok(()),
        }
    }

    fn block<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.has_clusters()?;
        emit.call_i32("llvm.nvvm.read.ptx.sreg.cluster.ctarank", &[])
    }

    fn cluster_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        block: IntValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.has_clusters()?;
        let intrinsic = "llvm.nvvm.mapa.shared.cluster";
        let address = emit.call(intrinsic, &[], &[pointer.into(), block.into()])?;
        address.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` gives nothing")))
    }

    fn byte_selector(&self, bytes: [u8; 4]) -> u32 {
        bytes.iter().rev().fold(0, |selector, &byte| selector << 4 | u32::from(byte))
    }

    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32("llvm.nvvm.prmt", &[a, b, selector])
    }

    fn instruction<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        name: &str,
        operands: &[(Type, BasicValueEnum<'ctx>)],
        results: &[Type],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let types: Vec<Type> = operands.iter().map(|&(ty, _)| ty).collect();
        let row = issued_row(self.rows, name, emit.launch(), &types, results)?;
        instruction::emit(emit, row, operands, results)
    }
}
