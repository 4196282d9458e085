//! Rewrites 2-D block loads for versions of `ocloc` that lack the builtins of cl_intel_subgroup_2d_block_io. Such a
//! version has older internal functions, which load a block of at most eight rows, or of an MMA's rows, and return a
//! vector.
//!
//! Each imported builtin gets a body that calls these functions if they can load all of its block; other builtins stay
//! imported. The rewritten module is only for the check by `ocloc`: drivers have the builtins.
//!
//! Source: function names in Intel's graphics compiler of Debian 12 (IGC 1.0.12504), each tried on it. These functions
//! take widths, heights and pitches minus one.

use rspirv::binary::Assemble;
use rspirv::dr::{Block, Function, Instruction, Module, Operand, load_words};
use rspirv::spirv::{Decoration, FunctionControl, LinkageType, MemoryAccess, Op, Word};
use tilewright_plugin::CompileError;

/// The order of a block's elements in the registers of a sub-group (see `instructions::block_read`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Transposed,
    Together,
}

/// The shape of a 2-D block load, parsed from its builtin's name: element order, bits of an element, rows, columns, and
/// number of adjacent blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    form: Form,
    bits: u32,
    rows: u32,
    columns: u32,
    count: u32,
}

/// Number of work items of the sub-group that loads a block.
const LANES: u32 = 16;

impl Shape {
    /// Parses the mangled name of a builtin: `intel_sub_group_2d_block_read_`, then `transform_`, `transpose_` or
    /// nothing, then sizes such as `16b_8r16x2c` (bits, rows, columns, number of blocks). `None` for other names.
    fn of(mangled: &str) -> Option<Self> {
        let (_, rest) = mangled.split_once("intel_sub_group_2d_block_read_")?;
        let (form, rest) = match (rest.strip_prefix("transform_"), rest.strip_prefix("transpose_")) {
            (Some(rest), _) => (Form::Together, rest),
            (_, Some(rest)) => (Form::Transposed, rest),
            _ => (Form::Plain, rest),
        };
        let (bits, rest) = rest.split_once("b_")?;
        let (rows, rest) = rest.split_once('r')?;
        let (columns, rest) = rest.split_once('x')?;
        let (count, _) = rest.split_once('c')?;
        let number = |word: &str| word.parse().ok();
        let (bits, rows, columns, count) = (number(bits)?, number(rows)?, number(columns)?, number(count)?);
        Some(Self { form, bits, rows, columns, count })
    }

    /// Returns the compiler's internal function that loads one slice of the block, and the number of rows of that
    /// slice; `None` if the compiler has no such function.
    fn supported_function(self) -> Option<(String, u32)> {
        const OWN: &str = "__builtin_IB_subgroup_block_read_flat";
        let Self { form, bits, columns, .. } = self;
        Some(match (form, bits, columns) {
            (Form::Plain, 8, 32) | (Form::Plain, 16 | 32, 16) => {
                let rows = self.rows.min(8);
                (format!("{OWN}_u{bits}_m{rows}k{columns}v1"), rows)
            }
            (Form::Together, 8, 16) => (format!("{OWN}_transform_u8_k32"), 32),
            (Form::Together, 16, 16) => (format!("{OWN}_transform_u16_k16"), 16),
            (Form::Transposed, 32, 8) if self.rows == 16 => (format!("{OWN}_transpose_u32_k8"), 16),
            _ => return None,
        })
    }

    /// Returns the width in bits of the integers that the builtin returns for a work item's elements.
    fn integer(self) -> u32 {
        if self.form == Form::Plain { self.bits.max(16) } else { 32 }
    }
}

/// Rewrites a module so that the compiler's internal functions implement the builtins for 2-D block loads. Returns
/// `None` if the module has no builtin for which such a function exists.
///
/// # Errors
/// [`CompileError::Backend`] if `words` are no SPIR-V module.
pub(super) fn with_own_reads(words: &[u32]) -> Result<Option<Vec<u32>>, CompileError> {
    let wrong = |error: String| CompileError::Backend(format!("SPIR-V cannot be read back: {error}"));
    let mut module = load_words(words).map_err(|error| wrong(error.to_string()))?;
    let imported: Vec<(Word, Shape)> = module.annotations.iter().filter_map(imported).collect();
    let mut changed = false;
    for (function, shape) in imported {
        let Some((name, rows)) = shape.supported_function() else { continue };
        changed |= Rewriter { module: &mut module }.define(function, shape, &name, rows).is_some();
    }
    if !changed {
        return Ok(None);
    }
    // SPIR-V requires functions without a body before the others.
    module.functions.sort_by_key(|function| !function.blocks.is_empty());
    Ok(Some(module.assemble()))
}

/// If a decoration imports a 2-D block load, returns the id of the imported function and the shape of its block; `None`
/// for other decorations.
fn imported(decoration: &Instruction) -> Option<(Word, Shape)> {
    match decoration.operands.as_slice() {
        [Operand::IdRef(id), Operand::Decoration(Decoration::LinkageAttributes), Operand::LiteralString(name), ..] => {
            Some((*id, Shape::of(name)?))
        }
        _ => None,
    }
}

struct Rewriter<'a> {
    module: &'a mut Module,
}

impl Rewriter<'_> {
    /// Gives the imported function `id` a body that loads its block in slices of `rows` rows by the compiler's internal
    /// function `name`. Returns `None` if the module has no function `id` with the parameters of a 2-D block load.
    fn define(&mut self, id: Word, shape: Shape, name: &str, rows: u32) -> Option<()> {
        let is_it = |function: &Function| function.def.as_ref().and_then(|def| def.result_id) == Some(id);
        let at = self.module.functions.iter().position(is_it)?;
        let types: Vec<Word> = self.module.functions[at]
            .parameters
            .iter()
            .map(|parameter| parameter.result_type)
            .collect::<Option<_>>()?;
        let parameters: Vec<Word> =
            self.module.functions[at].parameters.iter().map(|parameter| parameter.result_id).collect::<Option<_>>()?;
        let (&[base, width, height, pitch, begin, to], &[_, int, _, _, pair, pointer]) = (&parameters[..], &types[..])
        else {
            return None;
        };
        let long = self.ty(Op::TypeInt, &[Operand::LiteralBit32(64), Operand::LiteralBit32(0)]);
        let element = self.ty(Op::TypeInt, &[Operand::LiteralBit32(shape.integer()), Operand::LiteralBit32(0)]);
        let count = rows * shape.columns * shape.bits / LANES / shape.integer();
        let vector = match count {
            1 => element,
            _ => self.ty(Op::TypeVector, &[Operand::IdRef(element), Operand::LiteralBit32(count)]),
        };
        let callee = self.import(name, vector, &[long, int, int, int, pair]);
        let mut body = Body { rewriter: self, instructions: Vec::new() };
        let base = body.value(Op::ConvertPtrToU, long, &[base]);
        let less = [width, height, pitch].map(|figure| {
            let one = body.rewriter.constant(int, 1);
            body.value(Op::ISub, int, &[figure, one])
        });
        let [column, row] = [0, 1].map(|index| body.extract(int, begin, index));
        for block in 0..shape.count {
            for row_block in 0..shape.rows / rows {
                let moved = [(column, block * shape.columns), (row, row_block * rows)].map(|(at, by)| {
                    let by = body.rewriter.constant(int, by);
                    body.value(Op::IAdd, int, &[at, by])
                });
                let begin = body.value(Op::CompositeConstruct, pair, &moved);
                let loaded = body.value(Op::FunctionCall, vector, &[callee, base, less[0], less[1], less[2], begin]);
                let first = (block * (shape.rows / rows) + row_block) * count;
                for index in 0..count {
                    let value = if count == 1 { loaded } else { body.extract(element, loaded, index) };
                    let index = body.rewriter.constant(int, first + index);
                    let element_pointer = body.value(Op::InBoundsPtrAccessChain, pointer, &[to, index]);
                    let how =
                        [Operand::MemoryAccess(MemoryAccess::ALIGNED), Operand::LiteralBit32(shape.integer() / 8)];
                    let operands =
                        [Operand::IdRef(element_pointer), Operand::IdRef(value)].into_iter().chain(how).collect();
                    body.instructions.push(Instruction::new(Op::Store, None, None, operands));
                }
            }
        }
        body.instructions.push(Instruction::new(Op::Return, None, None, vec![]));
        let instructions = body.instructions;
        let label = Instruction::new(Op::Label, None, Some(self.id()), vec![]);
        self.module.functions[at].blocks = vec![Block { label: Some(label), instructions }];
        // The function has a body now, so its import decoration is removed.
        self.module.annotations.retain(|decoration| imported(decoration).is_none_or(|(known, _)| known != id));
        Some(())
    }

    fn id(&mut self) -> Word {
        let header = self.module.header.get_or_insert_with(|| rspirv::dr::ModuleHeader::new(1));
        header.bound += 1;
        header.bound - 1
    }

    /// Returns the id of a type; declares the type if the module does not have it.
    fn ty(&mut self, op: Op, operands: &[Operand]) -> Word {
        self.global(op, None, operands)
    }

    fn constant(&mut self, ty: Word, value: u32) -> Word {
        self.global(Op::Constant, Some(ty), &[Operand::LiteralBit32(value)])
    }

    fn global(&mut self, op: Op, ty: Option<Word>, operands: &[Operand]) -> Word {
        let is_it = |found_instruction: &&Instruction| {
            found_instruction.class.opcode == op
                && found_instruction.result_type == ty
                && found_instruction.operands == operands
        };
        if let Some(id) =
            self.module.types_global_values.iter().find(is_it).and_then(|found_instruction| found_instruction.result_id)
        {
            return id;
        }
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, ty, Some(id), operands.to_vec()));
        id
    }

    /// Declares the compiler's internal function `name`, with result type `result` and parameter types `parameters`,
    /// and returns its id.
    fn import(&mut self, name: &str, result: Word, parameters: &[Word]) -> Word {
        let types = std::iter::once(&result).chain(parameters).map(|&ty| Operand::IdRef(ty)).collect::<Vec<_>>();
        let ty = self.ty(Op::TypeFunction, &types);
        let linkage = [
            Operand::Decoration(Decoration::LinkageAttributes),
            Operand::LiteralString(name.to_owned()),
            Operand::LinkageType(LinkageType::Import),
        ];
        let is_it = |found_instruction: &&Instruction| found_instruction.operands.get(1..) == Some(&linkage[..]);
        if let Some(Operand::IdRef(known)) =
            self.module.annotations.iter().find(is_it).and_then(|found_instruction| found_instruction.operands.first())
        {
            return *known;
        }
        let id = self.id();
        let operands = std::iter::once(Operand::IdRef(id)).chain(linkage).collect();
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
        let control = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        let mut parameter = |&ty: &Word| Instruction::new(Op::FunctionParameter, Some(ty), Some(self.id()), vec![]);
        let parameters = parameters.iter().map(&mut parameter).collect();
        self.module.functions.push(Function {
            def: Some(Instruction::new(Op::Function, Some(result), Some(id), control)),
            end: Some(Instruction::new(Op::FunctionEnd, None, None, vec![])),
            parameters,
            blocks: vec![],
        });
        id
    }
}

/// The body of a function while it is being built, and the rewriter of its module.
struct Body<'a, 'b> {
    rewriter: &'a mut Rewriter<'b>,
    instructions: Vec<Instruction>,
}

impl Body<'_, '_> {
    fn value(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        let operands = operands.iter().map(|&id| Operand::IdRef(id)).collect();
        self.push(op, ty, operands)
    }

    fn extract(&mut self, ty: Word, composite: Word, index: u32) -> Word {
        self.push(Op::CompositeExtract, ty, vec![Operand::IdRef(composite), Operand::LiteralBit32(index)])
    }

    fn push(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.rewriter.id();
        self.instructions.push(Instruction::new(op, Some(ty), Some(id), operands));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_reads_use_supported_functions() {
        let supported_function = |name: &str| Shape::of(name).and_then(Shape::supported_function);
        let plain = "_Z41intel_sub_group_2d_block_read_16b_32r16x2cPU3AS1viiiDv2_iPt";
        assert_eq!(
            supported_function(plain),
            Some(("__builtin_IB_subgroup_block_read_flat_u16_m8k16v1".to_owned(), 8))
        );
        let transformed = "_Z52intel_sub_group_2d_block_read_transform_8b_32r16x4cPU3AS1viiiDv2_iPj";
        assert_eq!(
            supported_function(transformed),
            Some(("__builtin_IB_subgroup_block_read_flat_transform_u8_k32".to_owned(), 32))
        );
        let transposed = "_Z52intel_sub_group_2d_block_read_transpose_32b_16r8x1cPU3AS1viiiDv2_iPj";
        assert_eq!(
            supported_function(transposed),
            Some(("__builtin_IB_subgroup_block_read_flat_transpose_u32_k8".to_owned(), 16))
        );
        // The compiler has no internal function for plain blocks with rows of eight 32-bit elements.
        assert_eq!(supported_function("_Z38intel_sub_group_2d_block_read_32b_8r8x2cPU3AS1viiiDv2_iPj"), None);
        assert_eq!(supported_function("_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"), None);
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(matches!(with_own_reads(&[1, 2, 3]), Err(CompileError::Backend(_))));
    }
}
