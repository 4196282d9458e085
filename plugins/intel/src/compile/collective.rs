//! Emits operations of scopes of lanes as SPIR-V: shuffles, barriers, and reads of clocks.

use rspirv::dr::Operand;
use rspirv::spirv::{self, Capability, MemorySemantics, Op, Word};
use tilewright_kernel::{ClockCounter, CollectiveScope, Element, Issuers, ShuffleMode, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use super::emit::Emitter;
use super::emitted::EmittedValue;

impl Emitter {
    /// Emits an indexed shuffle: each lane gets `value` of the lane with index `lane`.
    pub(super) fn shuffle(
        &mut self,
        kind: ShuffleMode,
        value: &EmittedValue,
        lane: &EmittedValue,
        _: Issuers,
    ) -> Result<EmittedValue, CompileError> {
        let ShuffleMode::Index = kind;
        let lane = lane.expect(Type::Scalar(Element::I32))?.scalar()?;
        self.group_shuffle(Op::GroupNonUniformShuffle, value, lane)
    }

    /// Emits an xor shuffle: lane i gets `value` of lane i xor `mask`.
    pub(super) fn shuffle_xor(
        &mut self,
        value: &EmittedValue,
        mask: u32,
        _: Issuers,
    ) -> Result<EmittedValue, CompileError> {
        let mask = self.u32(mask);
        self.group_shuffle(Op::GroupNonUniformShuffleXor, value, mask)
    }

    /// Reads a counter (`SPV_KHR_shader_clock`): of the device for the time, of the subgroup's unit for cycles.
    pub(super) fn clock(&mut self, counter: ClockCounter) -> Result<EmittedValue, CompileError> {
        self.need(Capability::ShaderClockKHR);
        let scope = self.scope(match counter {
            ClockCounter::Time => spirv::Scope::Device,
            ClockCounter::Cycles => spirv::Scope::Subgroup,
        });
        let ty = Type::Scalar(Element::I64);
        let id = self.id_type(ty);
        let word = self.with_operands(Op::ReadClockKHR, id, vec![Operand::IdScope(scope)])?;
        Ok(EmittedValue::new(ty, vec![word]))
    }

    /// Emits a shuffle among the lanes of a sub-group; `by` is the id of the source lane's index or of the xor mask.
    fn group_shuffle(&mut self, op: Op, value: &EmittedValue, by: Word) -> Result<EmittedValue, CompileError> {
        if !matches!(value.ty, Type::Scalar(Element::I32 | Element::F32)) {
            return Err(invalid_module_error(format!("shuffle of {}; only 32-bit scalars can be shuffled", value.ty)));
        }
        self.need(Capability::GroupNonUniform);
        self.need(Capability::GroupNonUniformShuffle);
        let scope = self.scope(spirv::Scope::Subgroup);
        let ty = self.id_type(value.ty);
        let operands = vec![Operand::IdScope(scope), Operand::IdRef(value.scalar()?), Operand::IdRef(by)];
        let word = self.with_operands(op, ty, operands)?;
        Ok(EmittedValue::new(value.ty, vec![word]))
    }

    /// Emits a barrier that waits for all lanes of the scope and makes their writes to shared memory visible.
    pub(super) fn barrier(&mut self, scope: CollectiveScope, _: Issuers) -> Result<(), CompileError> {
        let scope = self.scope(match scope {
            CollectiveScope::Warp => spirv::Scope::Subgroup,
            CollectiveScope::Block => spirv::Scope::Workgroup,
            CollectiveScope::Cluster => {
                return Err(unsupported_kernel_error("barriers of clusters: work-groups form none"));
            }
        });
        let semantics = self.u32((MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::ACQUIRE_RELEASE).bits());
        let scopes = [Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.effect(Op::ControlBarrier, scopes.to_vec())
    }

    fn scope(&mut self, scope: spirv::Scope) -> Word {
        self.u32(scope as u32)
    }
}
