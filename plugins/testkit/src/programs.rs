//! Helpers for tests with tile programs as text: compilation, and statements that many programs have.

use std::sync::LazyLock;

use crate::prelude::*;
use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::Dialects;

/// Returns a compiler of tile programs for a target; it accepts the operations of all vendors.
pub fn compiler(target: &dyn Target) -> ProgramCompiler<'_> {
    static DIALECTS: LazyLock<Dialects> = LazyLock::new(tilewright_dialects::all_dialects);
    static IMPORTS: LazyLock<ForeignOpReplacements> = LazyLock::new(tilewright_dialects::read_import_tables);
    ProgramCompiler { dialects: &DIALECTS, imports: &IMPORTS, target }
}

/// Compiles a program with default options, and returns its kernel.
pub fn program_kernel(target: &dyn Target, text: &str) -> Result<Kernel, ProgramError> {
    compiler(target).compile_kernel(text, &ProgramOptions::default(), &mut |_| {})
}

/// A tile at the start of a row-major matrix in global memory, for which program statements are generated.
#[derive(Debug, Clone, Copy)]
pub struct TileAddressText<'a> {
    /// Suffix of the SSA names that are defined for the tile.
    pub name: &'a str,
    pub rows: u64,
    pub columns: u64,
    /// Pitch of the matrix: number of elements from one row to the next.
    pub pitch: u64,
    /// Layout of the tile's tensors; `None` if layout assignment shall choose it.
    pub layout: Option<&'a str>,
}

impl TileAddressText<'_> {
    /// Returns statements that define `%row{name}`, the row indices as a column, and `%offsets{name}`, the offsets of
    /// the tile's elements, in elements.
    pub fn offsets(&self) -> String {
        let Self { name, rows, columns, pitch, layout } = *self;
        let with = |layout: Option<String>| layout.map_or_else(String::new, |layout| format!(", {layout}"));
        let own = with(layout.map(str::to_owned));
        let [of_rows, of_columns] =
            [1, 0].map(|axis| with(layout.map(|parent| format!("#ttg.slice<{{dim = {axis}, parent = {parent}}}>"))));
        let (down, across) = (format!("tensor<{rows}xi32{of_rows}>"), format!("tensor<{columns}xi32{of_columns}>"));
        let (column, row) = (format!("tensor<{rows}x1xi32{own}>"), format!("tensor<1x{columns}xi32{own}>"));
        let all = format!("tensor<{rows}x{columns}xi32{own}>");
        format!(
            "%i{name} = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : {down}
    %j{name} = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : {across}
    %row{name} = tt.expand_dims %i{name} {{axis = 1 : i32}} : {down} -> {column}
    %col{name} = tt.expand_dims %j{name} {{axis = 0 : i32}} : {across} -> {row}
    %pitch{name} = arith.constant dense<{pitch}> : {column}
    %begin{name} = arith.muli %row{name}, %pitch{name} : {column}
    %begins{name} = tt.broadcast %begin{name} : {column} -> {all}
    %cols{name} = tt.broadcast %col{name} : {row} -> {all}
    %offsets{name} = arith.addi %begins{name}, %cols{name} : {all}
"
        )
    }

    /// Returns statements that define `%to`, the addresses of the tile's elements. `from` is the name of the matrix's
    /// pointer, `element` the element type.
    pub fn addresses(&self, to: &str, from: &str, element: &str) -> String {
        let Self { name, rows, columns, layout, .. } = *self;
        let own = layout.map_or_else(String::new, |layout| format!(", {layout}"));
        let (pointers, offsets) =
            (format!("tensor<{rows}x{columns}x!tt.ptr<{element}>{own}>"), format!("tensor<{rows}x{columns}xi32{own}>"));
        format!(
            "    %{to}_base = tt.splat %{from} : !tt.ptr<{element}> -> {pointers}
    %{to} = tt.addptr %{to}_base, %offsets{name} : {pointers}, {offsets}
"
        )
    }

    /// Returns a module whose function `@f` has a pointer to each of the `matrices`, given by name and element type, and
    /// executes the statements `body`. `%NAME_at` are the addresses of the tile's elements in a matrix.
    pub fn function(&self, matrices: &[(&str, &str)], body: &str) -> String {
        let pointer =
            |&(name, element): &(&str, &str)| format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}");
        let pointers = matrices.iter().map(pointer).collect::<Vec<_>>().join(", ");
        let addresses = matrices
            .iter()
            .map(|(name, element)| self.addresses(&format!("{name}_at"), name, element))
            .collect::<String>();
        let offsets = self.offsets();
        format!("module {{\n  tt.func public @f({pointers}) {{\n{offsets}{addresses}{body}\n    tt.return\n  }}\n}}")
    }
}
