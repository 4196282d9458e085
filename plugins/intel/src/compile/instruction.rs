//! Emits MMA instructions (`dpas`) as calls of the OpenCL builtin, imported by its mangled name.
//!
//! Source: the OpenCL extensions cl_intel_subgroup_matrix_multiply_accumulate and its variant for tf32; names are
//! mangled by the Itanium C++ ABI. The number of rows (repeat count) is the length of the vectors of A and of the
//! result; the vector of B always has eight 32-bit words.

use tilewright_kernel::{Element, Type};
use tilewright_layout::Dim;
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};
use tilewright_target::{Instruction, Semantics};

use super::emit::Emitter;
use super::emitted::EmittedValue;

/// An argument of an MMA builtin: its element type, the letters of that type in mangled names, and its number of
/// elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Passed {
    element: Element,
    letters: &'static str,
    count: u32,
}

impl Passed {
    fn ty(self) -> Type {
        Type::vector_or_scalar(self.element, self.count)
    }

    fn mangled(self) -> String {
        if self.count == 1 { self.letters.to_owned() } else { format!("Dv{}_{}", self.count, self.letters) }
    }
}

/// The OpenCL builtin of an MMA instruction: its name, and its arguments A, B and C.
#[derive(Debug, PartialEq, Eq)]
struct Builtin {
    name: String,
    operands: [Passed; 3],
}

impl Builtin {
    fn of(row: &Instruction) -> Option<Self> {
        let (d, _) = emitted(row, "d")?;
        let ((a, a_bits), (b, b_bits), (_, c_bits)) = (emitted(row, "a")?, emitted(row, "b")?, emitted(row, "c")?);
        let depth = match a {
            "tf32" => 8,
            "f16" | "bf16" => 16,
            "s4" | "u4" => 64,
            _ => 32,
        };
        let passed = |(element, letters): (Element, &'static str), bits: u32| {
            let count = bits / element.bits();
            (count * element.bits() == bits && count.is_power_of_two()).then_some(Passed { element, letters, count })
        };
        let summed = summed(d)?;
        let rows = c_bits / summed.0.bits();
        let operands = [passed(narrow(a, a_bits / rows), a_bits)?, passed(wide(b), b_bits)?, passed(summed, c_bits)?];
        let short = format!("intel_sub_group_{}_{}_matrix_mad_k{depth}", type_name(a), type_name(b));
        // A repeated type of several letters is mangled as a back reference to its first occurrence.
        let mut types = String::new();
        let mut before: Vec<String> = Vec::new();
        for operand in operands {
            let mangled = operand.mangled();
            let known = before.iter().position(|known| *known == mangled);
            match known.filter(|_| operand.count > 1) {
                Some(0) => types.push_str("S_"),
                Some(index) => types.push_str(&format!("S{}_", index - 1)),
                None => types.push_str(&mangled),
            }
            if operand.count > 1 && known.is_none() {
                before.push(mangled);
            }
        }
        Some(Self { name: format!("_Z{}{short}{types}", short.len()), operands })
    }
}

/// Returns the element type of the register operand with the role `required`, and the number of bits that each lane
/// holds of it; `None` if there is no such operand.
fn emitted<'a>(row: &'a Instruction, required: &str) -> Option<(&'a str, u32)> {
    row.find_register_operand(required).map(|(element, bits, layout)| (element, bits << layout.in_bits(Dim::REGISTER)))
}

/// Returns the name of an operand's element type in the builtin's name, such as `i8` for `s8`.
fn type_name(element: &str) -> &str {
    match element {
        "s8" => "i8",
        "s4" => "i4",
        other => other,
    }
}

/// Returns the builtin's element type for operand A, and its letters in mangled names. It is a 16-bit integer if each
/// lane holds 16 bits of a row of A, otherwise the same type as for operand B.
fn narrow(element: &str, bits: u32) -> (Element, &'static str) {
    match element {
        "u8" | "u4" if bits == 16 => (Element::I16, "t"),
        "f16" | "bf16" | "s8" | "s4" if bits == 16 => (Element::I16, "s"),
        _ => wide(element),
    }
}

/// Returns the builtin's element type for operand B, and its letters in mangled names: `float` for tf32, otherwise a
/// 32-bit integer.
fn wide(element: &str) -> (Element, &'static str) {
    match element {
        "tf32" => (Element::F32, "f"),
        "u8" | "u4" => (Element::I32, "j"),
        _ => (Element::I32, "i"),
    }
}

fn summed(element: &str) -> Option<(Element, &'static str)> {
    match element {
        "f32" => Some((Element::F32, "f")),
        "s32" => Some((Element::I32, "i")),
        "f16" => Some((Element::F16, "Dh")),
        "bf16" => Some((Element::I16, "s")),
        _ => None,
    }
}

impl Emitter {
    /// Emits one MMA instruction. The caller has checked the operands and the result type.
    pub(super) fn instruction(
        &mut self,
        row: &Instruction,
        operands: &[EmittedValue],
        result: Type,
    ) -> Result<EmittedValue, CompileError> {
        let builtin = Builtin::of(row).filter(|_| row.semantics == Semantics::Contract);
        let builtin =
            builtin.ok_or_else(|| unsupported_kernel_error(format!("instruction `{}` has no code", row.name)))?;
        let mut given = Vec::with_capacity(operands.len());
        let mut types = Vec::with_capacity(operands.len());
        for (operand, passed) in operands.iter().zip(&builtin.operands) {
            let operand = self.bits(operand, passed.ty())?;
            let &[id] = operand.ids.as_slice() else {
                return Err(invalid_module_error(format!(
                    "instruction `{}`: an operand is in several parts",
                    row.name
                )));
            };
            given.push(id);
            types.push(self.id_type(passed.ty()));
        }
        let [_, _, summed] = builtin.operands;
        let ty = self.id_type(summed.ty());
        let function = self.import(&builtin.name, ty, &types);
        let value = self.call(ty, function, &given)?;
        self.bits(&EmittedValue::new(summed.ty(), vec![value]), result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_intel_tables::instructions::instructions_of;

    #[test]
    fn builtins_have_the_names_of_the_extension() {
        // Names as C++ compilers mangle the declarations of the extension; `half` is `Dh`.
        for (architecture, row, name) in [
            ("dg2", "dpas.8x8.f32.f16.f16.f32", "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f"),
            ("dg2", "dpas.8x1.s32.u8.s8.s32", "_Z36intel_sub_group_u8_i8_matrix_mad_k32jDv8_ii"),
            ("pvc", "dpas.8x8.f32.f16.f16.f32", "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
            ("pvc", "dpas.8x1.f32.f16.f16.f32", "_Z38intel_sub_group_f16_f16_matrix_mad_k16sDv8_if"),
            ("pvc", "dpas.8x4.f16.f16.f16.f16", "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv4_sDv8_iDv4_Dh"),
            ("pvc", "dpas.8x8.bf16.bf16.bf16.bf16", "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iS_"),
            ("pvc", "dpas.8x8.s32.s8.u8.s32", "_Z36intel_sub_group_i8_u8_matrix_mad_k32Dv8_sDv8_jDv8_i"),
            ("pvc", "dpas.8x8.s32.s8.s8.s32", "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
            ("pvc", "dpas.8x2.s32.u8.s8.s32", "_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv2_tDv8_iDv2_i"),
            ("pvc", "dpas.8x8.s32.s4.u4.s32", "_Z36intel_sub_group_i4_u4_matrix_mad_k64Dv8_sDv8_jDv8_i"),
            ("dg2", "dpas.8x1.s32.u4.u4.s32", "_Z36intel_sub_group_u4_u4_matrix_mad_k64jDv8_ji"),
            ("pvc", "dpas.8x8.f32.tf32.tf32.f32", "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8Dv4_fDv8_fS0_"),
            ("pvc", "dpas.8x1.f32.tf32.tf32.f32", "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8fDv8_ff"),
        ] {
            let rows = instructions_of(architecture);
            let found = rows.iter().find(|known| known.name == row).and_then(Builtin::of);
            assert_eq!(found.map(|builtin| builtin.name).as_deref(), Some(name), "{row}");
        }
    }
}
