//! What lanes do together: exchanges and barriers.

use rspirv::dr::Operand;
use rspirv::spirv::{self, Capability, MemorySemantics, Op, Word};
use tilewright_kernel::{Element, Exchange, Issuers, Scope, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid, unsupported};

use super::emit::Emitter;
use super::emitted::EmittedValue;

impl Emitter {
    /// Gives every lane the value of the lane that it names.
    pub(super) fn exchange(
        &mut self,
        kind: Exchange,
        value: &EmittedValue,
        lane: &EmittedValue,
        _: Issuers,
    ) -> Result<EmittedValue, CompileError> {
        let Exchange::Index = kind;
        let lane = lane.expect(Type::Scalar(Element::I32))?.scalar()?;
        self.shuffle(Op::GroupNonUniformShuffle, value, lane)
    }

    /// Gives every lane the value of the lane whose index differs in the bits of `mask`.
    pub(super) fn exchange_xor(
        &mut self,
        value: &EmittedValue,
        mask: u32,
        _: Issuers,
    ) -> Result<EmittedValue, CompileError> {
        let mask = self.u32(mask);
        self.shuffle(Op::GroupNonUniformShuffleXor, value, mask)
    }

    /// A shuffle of the lanes of a sub-group; `by` is what the operation tells lanes by.
    fn shuffle(&mut self, op: Op, value: &EmittedValue, by: Word) -> Result<EmittedValue, CompileError> {
        if !matches!(value.ty, Type::Scalar(Element::I32 | Element::F32)) {
            return Err(invalid(format!("exchange of {}; 32-bit scalars are exchanged", value.ty)));
        }
        self.need(Capability::GroupNonUniform);
        self.need(Capability::GroupNonUniformShuffle);
        let scope = self.scope(spirv::Scope::Subgroup);
        let ty = self.part_type(value.ty);
        let operands = vec![Operand::IdScope(scope), Operand::IdRef(value.scalar()?), Operand::IdRef(by)];
        let word = self.with_operands(op, ty, operands)?;
        Ok(EmittedValue::new(value.ty, vec![word]))
    }

    /// Waits for all lanes of the scope, and makes what they wrote to shared memory seen.
    pub(super) fn barrier(&mut self, scope: Scope, _: Issuers) -> Result<(), CompileError> {
        let scope = self.scope(match scope {
            Scope::Warp => spirv::Scope::Subgroup,
            Scope::Block => spirv::Scope::Workgroup,
            Scope::Cluster => return Err(unsupported("barriers of clusters: work-groups form none")),
        });
        let semantics = self.u32((MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::ACQUIRE_RELEASE).bits());
        let scopes = [Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.effect(Op::ControlBarrier, scopes.to_vec())
    }

    fn scope(&mut self, scope: spirv::Scope) -> Word {
        self.u32(scope as u32)
    }
}
