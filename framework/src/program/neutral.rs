//! Reads a program and transforms it to one function of neutral operations (those that no vendor's dialect defines).

use std::borrow::Cow;

use super::compiler::{ProgramCompiler, ProgramOptions};
use super::error::ProgramError;
use super::stage::CompilationStageOutput;
use tilewright_kernel::{Binary, MathFunction};
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;
use tilewright_target::{Instruction, InstructionOperand, Optimization};
use tilewright_tile::import::replace_vendor_operations;
use tilewright_tile::transform::{
    FloatCosts, decompose_scaled_dots, forward_stores, fuse_multiply_adds, inline_calls, load_uniform_addresses_once,
    make_copies_synchronous, remove_unused_operations, replace_descriptor_accesses, replace_volatile_loads,
    simplify_floats, simplify_types, split_dots, structurize, widen_accumulators,
};
use tilewright_tile::{self as tile, FloatType, TileModule};

impl ProgramCompiler<'_> {
    /// Parses and verifies a program, for any target: a verified program may use what this target does not support.
    ///
    /// # Errors
    /// [`ProgramError::Text`] if the text does not parse, or violates a rule of the tile IR.
    pub fn parse_program(&self, text: &str) -> Result<TileModule, ProgramError> {
        let module = tile::text::parse_module(text, self.dialects)?;
        let families = FamilyProviders::new(vec![&NeutralFamilies, self.target.families()]);
        tile::verify_module_with_families(&module, &families)
            .map_err(|violation| ProgramError::Text(violation.to_text_error(text)))?;
        Ok(module)
    }

    /// Reads a program and transforms it to one function of neutral operations. `seen` is called after every stage.
    pub(super) fn neutral(
        &self,
        text: &str,
        options: &ProgramOptions,
        seen: &mut dyn FnMut(CompilationStageOutput<'_>),
    ) -> Result<TileModule, ProgramError> {
        let in_text = |violation: tile::TileViolation| ProgramError::Text(violation.to_text_error(text));
        let mut module = self.parse_program(text)?;
        seen(CompilationStageOutput::Read(&module));
        simplify_types(&mut module, self.dialects);
        let imports = match &self.target.description().assembly {
            Some(language) if options.keep_assembly => Cow::Owned(self.imports.without_assembly_of(language)),
            _ => Cow::Borrowed(self.imports),
        };
        let module = replace_vendor_operations(&module, &imports, self.dialects).map_err(in_text)?;
        seen(CompilationStageOutput::Import(&module));
        let module = make_copies_synchronous(&module, self.dialects).map_err(in_text)?;
        let module = replace_volatile_loads(&module, self.dialects).map_err(in_text)?;
        let module = decompose_scaled_dots(&module, self.dialects).map_err(in_text)?;
        let has_mma = |operand, accumulator| self.has_mma(operand, accumulator);
        let module = widen_accumulators(&module, self.dialects, &has_mma).map_err(in_text)?;
        let is_faster = |operand, dots| self.is_faster_than_single(operand, dots);
        let module = split_dots(&module, self.dialects, &is_faster).map_err(in_text)?;
        let module = structurize(&module, self.dialects).map_err(in_text)?;
        let mut module = inline_calls(&module, self.dialects).map_err(in_text)?;
        keep(&mut module, options.entry.as_deref())?;
        if !options.disabled.contains(Optimization::StoreForwarding) {
            module = forward_stores(&module, self.dialects).map_err(in_text)?;
        }
        if !self.has_tensor_copies() {
            module = replace_descriptor_accesses(&module, self.dialects).map_err(in_text)?;
        }
        module = load_uniform_addresses_once(&module, self.dialects).map_err(in_text)?;
        module = simplify_floats(&module, self.dialects, self.float_costs()).map_err(in_text)?;
        if !options.disabled.contains(Optimization::FusedMultiplyAdd) {
            module = fuse_multiply_adds(&module, self.dialects).map_err(in_text)?;
        }
        remove_unused_operations(&mut module);
        tile::verify_transformed_module(&module).map_err(in_text)?;
        seen(CompilationStageOutput::Shape(&module));
        Ok(module)
    }

    /// Returns the costs of floating-point operations. Instructions for minima also compute maxima.
    fn float_costs(&self) -> FloatCosts {
        let target = self.target.description();
        let find = |name: &str, element: FloatType| target.find_native_function(name, element.name());
        let has_minimum = |element: FloatType| find(Binary::FMinimum.name(), element).is_some();
        FloatCosts {
            has_narrow_extrema: has_minimum(FloatType::F16) && has_minimum(FloatType::Bf16),
            has_inexact_quotients: find(MathFunction::Div.name(), FloatType::F32)
                .is_some_and(|quotient| quotient.ulps >= 2.0),
        }
    }

    /// Whether the target has bulk tensor copies.
    fn has_tensor_copies(&self) -> bool {
        self.target.instructions().iter().any(|row| row.tensor_copy_operand().is_some())
    }

    /// Whether the target has an MMA instruction whose operand A and accumulator have these element types.
    fn has_mma(&self, operand: FloatType, accumulator: FloatType) -> bool {
        self.mmas(operand, accumulator).next().is_some()
    }

    /// Returns the MMA instructions of the target whose operand A and accumulator have these element types.
    fn mmas(&self, operand: FloatType, accumulator: FloatType) -> impl Iterator<Item = &Instruction> {
        let is_of = |row: &Instruction, role: &str, ty: FloatType| {
            row.find_matrix_operand(role).and_then(InstructionOperand::element) == Some(ty.name())
        };
        let mmas = self.target.instructions().iter().filter(|row| row.mma_shape().is_some());
        mmas.filter(move |row| is_of(row, "a", operand) && is_of(row, "d", accumulator))
    }

    /// Whether this number of dots with operands of type `narrow`, accumulated in `f32`, takes less time than one dot
    /// with operands of `f32`, by MMA instructions or fused multiply-adds.
    fn is_faster_than_single(&self, narrow: FloatType, dots: usize) -> bool {
        let target = self.target.description();
        let best = |operand: FloatType| {
            let rates = self.mmas(operand, FloatType::F32).filter_map(|row| target.mma_multiply_adds_per_cycle(row));
            rates.fold(0.0, f64::max)
        };
        best(narrow) > dots as f64 * best(FloatType::F32).max(target.lane_multiply_adds_per_cycle())
    }
}

/// Removes all functions except the entry.
fn keep(module: &mut TileModule, entry: Option<&str>) -> Result<(), ProgramError> {
    let names: Vec<_> = module.entry_functions().map(|function| function.name.to_string()).collect();
    let listed = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let name = match (entry, &names[..]) {
        (Some(name), _) if names.iter().any(|known| known == name) => name.to_owned(),
        (Some(name), _) => {
            return Err(ProgramError::Entry(format!(
                "there is no entry function `{name}`; expected one of {}",
                listed()
            )));
        }
        (None, [name]) => name.clone(),
        (None, []) => return Err(ProgramError::Entry("the program has no entry function".to_owned())),
        (None, _) => return Err(ProgramError::Entry(format!("name the entry function, one of {}", listed()))),
    };
    module.functions.retain(|function| *function.name == *name);
    Ok(())
}
