//! Debug information: source locations of the kernel IR become LLVM debug locations, from which LLVM writes line tables
//! (DWARF, or `.file` and `.loc` in PTX). A module without locations gets no debug information.

use std::collections::HashMap;

use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlagsConstants, DILocation, DIScope, DISubprogram, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder, debug_metadata_version,
};
use inkwell::module::{FlagBehavior, Module as LlvmModule};
use inkwell::values::FunctionValue;
use tilewright_kernel::{Kernel, Module, SourceLocation};

/// The debug information of a module: the files and lines of its instructions.
pub(crate) struct Lines<'ctx> {
    context: &'ctx Context,
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    /// For each file with inlined code, one function that stands for all inlined functions of the file, because
    /// locations do not contain function names.
    inlined: HashMap<String, DISubprogram<'ctx>>,
}

/// The file of a kernel's source, and the kernel's function in the debug information.
struct Scope<'a, 'ctx> {
    file: &'a str,
    function: DISubprogram<'ctx>,
}

impl<'ctx> Lines<'ctx> {
    /// Starts the debug information of a module; `None` if no statement of the module has a source location.
    pub(crate) fn new(context: &'ctx Context, module: &LlvmModule<'ctx>, source: &Module) -> Option<Self> {
        let first = source.kernels.iter().flat_map(|kernel| &kernel.locations).find_map(|text| own_line(text))?;
        let (directory, file) = split_path(&first.file);
        // Only line tables are requested, so that debug information does not affect the generated code.
        let kind = DWARFEmissionKind::LineTablesOnly;
        let (language, producer) = (DWARFSourceLanguage::C, "tilewright");
        let (builder, unit) = module.create_debug_info_builder(
            true, language, file, directory, producer, true, "", 0, "", kind, 0, true, false, "", "",
        );
        let version = context.i32_type().const_int(u64::from(debug_metadata_version()), false);
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        Some(Self { context, builder, unit, inlined: HashMap::new() })
    }

    /// Creates a kernel's function in the debug information. Returns the debug location for each of the kernel's source
    /// locations; `None` for a location that contains no line.
    pub(crate) fn locate(&mut self, kernel: &Kernel, function: FunctionValue<'ctx>) -> Vec<Option<DILocation<'ctx>>> {
        let parsed: Vec<_> = kernel.locations.iter().map(|text| SourceLocation::parse(text)).collect();
        let Some(own) = kernel.locations.iter().find_map(|text| own_line(text)) else {
            return vec![None; parsed.len()];
        };
        let scope = Scope { file: &own.file, function: self.function(&own, &kernel.name, &kernel.name) };
        function.set_subprogram(scope.function);
        parsed.iter().map(|one| one.as_ref().map(|one| self.location(one, &scope))).collect()
    }

    /// Completes the debug information; LLVM can verify the module only after that.
    pub(crate) fn finish(&self) {
        self.builder.finalize();
    }

    /// Returns the debug location of a source location. A source location with a caller is in a function that was
    /// inlined.
    fn location(&mut self, at: &SourceLocation, kernel: &Scope<'_, 'ctx>) -> DILocation<'ctx> {
        let caller = at.caller.as_deref().map(|caller| self.location(caller, kernel));
        let scope = match caller {
            Some(_) => self.inlined(at).as_debug_info_scope(),
            None => self.own_scope(at, kernel),
        };
        self.builder.create_debug_location(self.context, at.line, at.column, scope, caller)
    }

    /// Returns the debug scope of a source location without a caller: the kernel's function, or for a line of another
    /// file, a lexical block in it with that file.
    fn own_scope(&self, at: &SourceLocation, kernel: &Scope<'_, 'ctx>) -> DIScope<'ctx> {
        let function = kernel.function.as_debug_info_scope();
        if at.file == kernel.file {
            return function;
        }
        let block = self.builder.create_lexical_block(function, self.file(&at.file), at.line, at.column);
        block.as_debug_info_scope()
    }

    /// Returns the function that stands for all inlined functions of a file; it has the name of the file.
    fn inlined(&mut self, at: &SourceLocation) -> DISubprogram<'ctx> {
        if let Some(&known) = self.inlined.get(&at.file) {
            return known;
        }
        let (_, name) = split_path(&at.file);
        let function = self.function(&SourceLocation { line: 0, ..at.clone() }, name, name);
        self.inlined.insert(at.file.clone(), function);
        function
    }

    fn function(&self, at: &SourceLocation, name: &str, symbol: &str) -> DISubprogram<'ctx> {
        let file = self.file(&at.file);
        let flags = inkwell::debug_info::DIFlags::ZERO;
        let ty = self.builder.create_subroutine_type(file, None, &[], flags);
        let scope = self.unit.as_debug_info_scope();
        self.builder.create_function(scope, name, Some(symbol), file, at.line, ty, false, true, at.line, flags, true)
    }

    fn file(&self, path: &str) -> DIFile<'ctx> {
        let (directory, file) = split_path(path);
        self.builder.create_file(file, directory)
    }
}

/// Returns the line of the kernel itself for the source location `location`; for inlined code, the line of the
/// outermost call. `None` if `location` is not a source location.
fn own_line(location: &str) -> Option<SourceLocation> {
    let location = SourceLocation::parse(location)?;
    location.inlined_frames().last().cloned()
}

/// Splits a path into the directory and the file name; the directory is `.` if the path has none.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}
