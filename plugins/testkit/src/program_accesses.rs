//! Checks the widths of global-memory accesses in the machine code of tile programs.

use crate::prelude::*;

/// The global-memory accesses in a program's assembly: for each instruction, the bits that one lane accesses, the
/// widest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GlobalAccesses {
    pub loads: Vec<u32>,
    pub stores: Vec<u32>,
}

/// Parses a line of assembly to the direction of a global-memory access and the bits of one lane; `None` for other
/// lines.
pub type ReadAccess = fn(&str) -> Option<(Direction, u32)>;

impl GlobalAccesses {
    /// Compiles a program for four warps, and reads the accesses in its assembly.
    pub fn of_program(target: &dyn Target, text: &str, read: ReadAccess) -> Self {
        let options = ProgramOptions::default().with_warps(4);
        let kernel =
            compiler(target).compile_kernel(text, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        let assembly = assembly(target, vec![kernel]);
        let mut accesses = Self::default();
        for (direction, bits) in assembly.lines().filter_map(read) {
            match direction {
                Direction::Load => accesses.loads.push(bits),
                Direction::Store => accesses.stores.push(bits),
            }
        }
        accesses.loads.sort_unstable_by(|a, b| b.cmp(a));
        accesses.stores.sort_unstable_by(|a, b| b.cmp(a));
        accesses
    }
}

/// How a program computes the pointers of a row-major tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// The program computes the pointers of the transposed tile, and transposes them.
    Transposed,
    /// The program computes offsets as a range along one axis, and reshapes them to the tile.
    Reshaped,
    /// The program computes offsets from quotients (rows) and remainders (columns) of a range, and reshapes them to the
    /// tile.
    Divided,
}

/// Returns a program that copies a row-major tile of 512 rows and `columns` columns, whose pointers are computed in
/// this form.
fn copy(columns: u64, element: &str, form: Form) -> String {
    let shape = format!("512x{columns}");
    let pointers = format!("tensor<{shape}x!tt.ptr<{element}>>");
    let count = 512 * columns;
    let (flat, turned) = (format!("tensor<{count}xi32>"), format!("tensor<{columns}x512xi32>"));
    let tile = TileAddressText { name: "", rows: 512, columns, pitch: columns, layout: None };
    let range = format!("    %flat = tt.make_range {{end = {count} : i32, start = 0 : i32}} : {flat}\n");
    let offsets = match form {
        Form::Plain => tile.offsets(),
        Form::Transposed => format!(
            "    %i = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32>
    %j = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
    %row = tt.expand_dims %j {{axis = 1 : i32}} : tensor<{columns}xi32> -> tensor<{columns}x1xi32>
    %col = tt.expand_dims %i {{axis = 0 : i32}} : tensor<512xi32> -> tensor<1x512xi32>
    %pitch = arith.constant dense<{columns}> : tensor<1x512xi32>
    %begin = arith.muli %col, %pitch : tensor<1x512xi32>
    %begins = tt.broadcast %begin : tensor<1x512xi32> -> {turned}
    %rows = tt.broadcast %row : tensor<{columns}x1xi32> -> {turned}
    %indices = arith.addi %begins, %rows : {turned}
    %offsets = tt.trans %indices {{order = array<i32: 1, 0>}} : {turned} -> tensor<{shape}xi32>\n"
        ),
        Form::Reshaped => format!("{range}    %offsets = tt.reshape %flat : {flat} -> tensor<{shape}xi32>\n"),
        Form::Divided => format!(
            "{range}    %columns = arith.constant dense<{columns}> : {flat}
    %rows = arith.divsi %flat, %columns : {flat}
    %within = arith.remsi %flat, %columns : {flat}
    %starts = arith.muli %rows, %columns : {flat}
    %indices = arith.addi %starts, %within : {flat}
    %offsets = tt.reshape %indices : {flat} -> tensor<{shape}xi32>\n"
        ),
    };
    let addresses = tile.addresses("from", "x", element) + &tile.addresses("to", "y", element);
    let argument = |name: &str| format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}");
    format!(
        "tt.func public @copy({}, {}) {{\n{offsets}{addresses}    %v = tt.load %from : {pointers}\n    \
         tt.store %to, %v : {pointers}\n    tt.return\n}}",
        argument("x"),
        argument("y")
    )
}

/// Checks access widths in machine code against Table 3 of the Linear Layouts paper: tiles of 512 rows and 1 to 16
/// columns, four warps. Each access has 128 bits in each lane, or fewer if the lane's share of the tile is smaller.
pub fn check_table_3(target: &dyn Target, read: ReadAccess) {
    let lanes = u64::from(target.description().lanes.default) * 4;
    for (element, bits) in [("f8E5M2", 8), ("f16", 16)] {
        for columns in [1, 2, 4, 8, 16] {
            let share = 512 * columns * bits / lanes;
            let width = share.min(128);
            let all = vec![width as u32; (share / width) as usize];
            let expected = GlobalAccesses { loads: all.clone(), stores: all };
            for form in [Form::Plain, Form::Transposed, Form::Reshaped, Form::Divided] {
                let found = GlobalAccesses::of_program(target, &copy(columns, element, form), read);
                assert_eq!(found, expected, "{}, [512, {columns}] x {element}, {form:?}", target.description().name);
            }
        }
    }
}

/// A program of the conformance suite with tensors of booleans in memory: bits per lane of its loads and stores in
/// machine code, the widest first, and of those in Triton 3.9.0's code.
pub struct BoolProgram {
    pub name: &'static str,
    pub loads: &'static [u32],
    pub stores: &'static [u32],
    pub triton_loads: &'static [u32],
    pub triton_stores: &'static [u32],
    /// The reason why the program has more accesses than Triton's code; empty if it has no more.
    pub reason: &'static str,
}

/// Checks the widths of accesses in the programs' machine code, and that exactly the programs with more accesses than
/// Triton's code have a reason.
pub fn check_bool_programs(target: &dyn Target, read: ReadAccess, programs: &[BoolProgram]) {
    let folder = shared_data::workspace().join("conformance/kernels");
    for program in programs {
        let text = std::fs::read_to_string(folder.join(format!("{}.ttir", program.name))).unwrap();
        let found = GlobalAccesses::of_program(target, &text, read);
        let context = format!("{}, {}", target.description().name, program.name);
        assert_eq!((&found.loads[..], &found.stores[..]), (program.loads, program.stores), "{context}");
        let count = found.loads.len() + found.stores.len();
        let is_dearer = count > program.triton_loads.len() + program.triton_stores.len();
        assert_eq!(is_dearer, !program.reason.is_empty(), "{context}: {count} accesses");
    }
}
