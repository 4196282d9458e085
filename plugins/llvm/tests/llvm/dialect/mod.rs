//! A minimal dialect for tests of the code that all targets share.
#![allow(dead_code, reason = "each test program uses some of this")]

use tilewright_llvm::values::IntValue;
use tilewright_llvm::{
    AsynchronousDialect, Emitter, GeneratedCode, KernelDeclaration, LlvmOutputKind, LlvmTarget,
    SharedMemoryDeclaration, TargetDialect, compile_module,
};
use tilewright_vendor_testkit::prelude::*;

/// The minimal dialect: the names of one of LLVM's targets, and few operations.
pub struct Plain;

impl AsynchronousDialect for Plain {}

impl TargetDialect for Plain {
    fn llvm_target(&self) -> LlvmTarget {
        let (triple, cpu) = ("amdgcn-amd-amdhsa".to_owned(), "gfx90a".to_owned());
        LlvmTarget { triple, cpu, features: String::new(), global: 1, shared: 3, cluster: None }
    }

    fn kernel(&self, _kernel: &Kernel) -> Result<KernelDeclaration, CompileError> {
        let (attributes, metadata) = (Vec::new(), Vec::new());
        Ok(KernelDeclaration {
            calling_convention: 91,
            attributes,
            metadata,
            protected: false,
            shared: SharedMemoryDeclaration::Static,
            map: None,
        })
    }

    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32_intrinsic("llvm.amdgcn.workitem.id.x", &[])
    }

    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32_intrinsic("llvm.amdgcn.workitem.id.y", &[])
    }

    fn block_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        match axis {
            0 => emit.call_i32_intrinsic("llvm.amdgcn.workgroup.id.x", &[]),
            1 => emit.call_i32_intrinsic("llvm.amdgcn.workgroup.id.y", &[]),
            _ => emit.call_i32_intrinsic("llvm.amdgcn.workgroup.id.z", &[]),
        }
    }

    fn shuffle<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32_intrinsic("llvm.amdgcn.ds.bpermute", &[lane, value])
    }

    fn barrier(&self, emit: &Emitter<'_, '_>, _scope: CollectiveScope) -> Result<(), CompileError> {
        emit.call_intrinsic("llvm.amdgcn.s.barrier", &[], &[]).map(|_| ())
    }

    fn byte_selector(&self, bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(bytes)
    }

    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32_intrinsic("llvm.amdgcn.perm", &[b, a, selector])
    }
}

/// Returns the code of a module in the given forms.
pub fn code(module: &Module, optimisation: u8, forms: &[LlvmOutputKind]) -> Result<GeneratedCode, CompileError> {
    compile_module(&Plain, module, optimisation, forms)
}
