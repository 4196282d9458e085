//! Loops of programs with layouts as kernel IR: the pointers that a loop carries, and loads that some iterations omit.

use crate::prelude::*;
use tilewright_kernel::Region;

/// The layout of the programs' tensors: a lane has eight consecutive elements.
const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

/// Returns the kernel of a program whose text has `#b` for the layout.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        "#b = {BLOCKED}
         module attributes {{\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32, ttg.target = \"cuda:90\",
                             \"ttg.threads-per-warp\" = 32 : i32}} {{
         tt.func public @f(%p: !tt.ptr<f16>, %out: !tt.ptr<f16>, %n: i32, %k: i32) {{
           %range = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #b>
           %bound = tt.splat %n : i32 -> tensor<1024xi32, #b>
           %mask = arith.cmpi slt, %range, %bound : tensor<1024xi32, #b>
           %base = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
           %zero = arith.constant dense<0.000000e+00> : tensor<1024xf16, #b>
           %one = arith.constant dense<1.000000e+00> : tensor<1024xf16, #b>
           {body}
           %to = tt.splat %out : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #b>
           %at = tt.addptr %to, %range : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
           tt.store %at, %result : tensor<1024x!tt.ptr<f16>, #b>
           tt.return
         }} }}"
    );
    let (target, dialects, imports) =
        (target("h100"), tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    compiler
        .compile_kernel(&text, &ProgramOptions::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns all operations of a kernel.
fn operations(kernel: &Kernel) -> Vec<&Op> {
    fn append<'k>(region: &'k Region, all: &mut Vec<&'k Op>) {
        for statement in &region.statements {
            all.push(&statement.op);
            statement.op.regions().into_iter().for_each(|inner| append(inner, all));
        }
    }
    let mut all = Vec::new();
    append(&kernel.body, &mut all);
    all
}

/// Returns the number of pointers that the kernel's only loop carries.
fn carried_pointers(kernel: &Kernel) -> usize {
    let loops: Vec<_> = operations(kernel)
        .into_iter()
        .filter_map(|op| if let Op::For { body, .. } = op { Some(body) } else { None })
        .collect();
    let &[body] = loops.as_slice() else { panic!("{} loops", loops.len()) };
    body.arguments.iter().filter(|(_, ty)| matches!(ty, Type::Pointer(_))).count()
}

/// Returns a loop that sums elements from pointers, which it moves by `step`.
fn sum(offsets: &str, step: &str) -> String {
    format!(
        "{offsets}
         %start = tt.addptr %base, %offsets : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
         %c0 = arith.constant 0 : i32
         %c1 = arith.constant 1 : i32
         {step}
         %result, %last = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero, %from = %start)
             -> (tensor<1024xf16, #b>, tensor<1024x!tt.ptr<f16>, #b>) : i32 {{
           %v = tt.load %from : tensor<1024x!tt.ptr<f16>, #b>
           %s = arith.addf %acc, %v : tensor<1024xf16, #b>
           %next = tt.addptr %from, %step : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
           scf.yield %s, %next : tensor<1024xf16, #b>, tensor<1024x!tt.ptr<f16>, #b>
         }}"
    )
}

#[test]
fn a_loop_carries_one_pointer_of_those_at_constant_distances() {
    const BY_1024: &str = "%step = arith.constant dense<1024> : tensor<1024xi32, #b>";
    const BY_ARGUMENT: &str = "%step = tt.splat %n : i32 -> tensor<1024xi32, #b>";
    const BY_RANGE: &str = "%step = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>";
    const OWN: &str = "%offsets = arith.addi %range, %bound : tensor<1024xi32, #b>";
    const SCALED: &str = "%offsets = arith.muli %range, %bound : tensor<1024xi32, #b>";
    // The distances between iterations' tiles: constant, constant, constant in an iteration but growing, and unknown.
    for (offsets, step, pointers) in
        [(OWN, BY_1024, 1), (OWN, BY_ARGUMENT, 1), (OWN, BY_RANGE, 8), (SCALED, BY_1024, 8)]
    {
        assert_eq!(carried_pointers(&kernel(&sum(offsets, step))), pointers, "{offsets}, {step}");
    }
}

/// A loop that sums tiles of 128 rows and 32 columns; a lane has 4 rows and 8 columns of a tile.
struct Tiles {
    /// Operations that define the pointers `%start` of the first tile, from the offsets `%by_row` and `%by_column`.
    start: &'static str,
    /// The distance from one tile to the next.
    step: &'static str,
}

impl Tiles {
    fn kernel(&self) -> Kernel {
        let Self { start, step } = self;
        // Short names of types in the program.
        let short = [
            ("PTR", "tensor<128x32x!tt.ptr<i32>, #b>"),
            ("INT", "tensor<128x32xi32, #b>"),
            ("LONG", "tensor<128x32xi64, #b>"),
        ];
        let text = format!(
            "#b = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
                                order = [1, 0]}}>
             #r = #ttg.slice<{{dim = 1, parent = #b}}>
             #c = #ttg.slice<{{dim = 0, parent = #b}}>
             module attributes {{\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = 1 : i32, ttg.target = \"cuda:90\",
                                 \"ttg.threads-per-warp\" = 32 : i32}} {{
             tt.func public @f(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>, %s: i32, %t: i32, %k: i32) {{
               %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #r>
               %r1 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<128xi32, #r> -> tensor<128x1xi32, #b>
               %c = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32, #c>
               %c1 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<32xi32, #c> -> tensor<1x32xi32, #b>
               %rows = tt.broadcast %r1 : tensor<128x1xi32, #b> -> INT
               %columns = tt.broadcast %c1 : tensor<1x32xi32, #b> -> INT
               %ss = tt.splat %s : i32 -> INT
               %ts = tt.splat %t : i32 -> INT
               %by_row = arith.muli %rows, %ss : INT
               %by_column = arith.muli %ts, %columns : INT
               %base = tt.splat %p : !tt.ptr<i32> -> PTR
               %zero = arith.constant dense<0> : INT
               %i0 = arith.constant 0 : i32
               %i1 = arith.constant 1 : i32
               %seven = arith.constant dense<7> : INT
               {start}
               %result, %last = scf.for %i = %i0 to %k step %i1 iter_args(%sum = %zero, %from = %start)
                   -> (INT, PTR) : i32 {{
                 %v = tt.load %from : PTR
                 %next_sum = arith.addi %sum, %v : INT
                 %next = tt.addptr %from, {step} : PTR, INT
                 scf.yield %next_sum, %next : INT, PTR
               }}
               %behind = tt.load %last : PTR
               %all = arith.addi %result, %behind : INT
               %width = arith.constant dense<32> : INT
               %line = arith.muli %rows, %width : INT
               %place = arith.addi %line, %columns : INT
               %to = tt.splat %out : !tt.ptr<i32> -> PTR
               %at = tt.addptr %to, %place : PTR, INT
               tt.store %at, %all : PTR
               tt.return
             }} }}"
        );
        let text = short.iter().fold(text, |text, (name, ty)| text.replace(name, ty));
        let (target, dialects, imports) =
            (target("h100"), tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
        compiler
            .compile_kernel(&text, &ProgramOptions::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// For tiles whose rows and columns have unknown strides, a loop carries one base pointer and loads the elements that
/// the program addresses.
#[test]
fn a_loop_carries_one_base_of_strided_tiles() {
    const POINTERS: &str = "%row = tt.addptr %base, %by_row : PTR, INT
                            %start = tt.addptr %row, %by_column : PTR, INT";
    const OFFSETS: &str = "%offsets = arith.addi %by_row, %by_column : INT
                           %start = tt.addptr %base, %offsets : PTR, INT";
    // No sum of rows and columns, so that each lane has 32 different products, of half as many bits as pointers.
    const PRODUCTS: &str = "%mixed = arith.muli %by_row, %columns : INT
                            %start = tt.addptr %base, %mixed : PTR, INT";
    // As many different products of as many bits as pointers.
    const LONG_PRODUCTS: &str = "%long_rows = arith.extsi %by_row : INT to LONG
                                 %long_columns = arith.extsi %columns : INT to LONG
                                 %mixed = arith.muli %long_rows, %long_columns : LONG
                                 %start = tt.addptr %base, %mixed : PTR, LONG";
    // Rows without a constant distance, as if from a table, and columns with one stride.
    const TABLE: &str = "%odd = arith.remsi %by_row, %seven : INT
                         %row = tt.addptr %base, %odd : PTR, INT
                         %start = tt.addptr %row, %by_column : PTR, INT";
    let (s, t, iterations) = (37i64, 5i64, 3i64);
    type Place = fn(i64, i64) -> i64;
    type Distance = fn(i64) -> i64;
    let places: [(&str, Place, usize); 5] = [
        (POINTERS, |row, column| row * 37 + column * 5, 1),
        (OFFSETS, |row, column| row * 37 + column * 5, 1),
        (PRODUCTS, |row, column| row * 37 * column, 1),
        (LONG_PRODUCTS, |row, column| row * 37 * column, 32),
        (TABLE, |row, column| row * 37 % 7 + column * 5, 1),
    ];
    // The step of the pointers, for all elements or for each row.
    let steps: [(&str, Distance, bool); 2] = [("%seven", |_| 7, true), ("%rows", |row| row, false)];
    let memory: Vec<u8> = (0..160_000u32).flat_map(|at| (at.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect();
    let word = |at: i64| u32::from_le_bytes(memory[at as usize * 4..][..4].try_into().expect("four bytes"));
    for (start, place, pointers) in places {
        for (step, distance, is_equal) in steps {
            let kernel = Tiles { start, step }.kernel();
            assert_eq!(carried_pointers(&kernel), if is_equal { pointers } else { 32 }, "{start}, {step}");
            let given = [InitialBuffer::Bytes(memory.clone()), InitialBuffer::Empty(128 * 32 * 4)];
            let (left, _) = run_block(&target("h100"), &kernel, &given, &[s as u64, t as u64, iterations as u64])
                .unwrap_or_else(|fault| panic!("{start}, {step}: {fault}"));
            for (index, found) in left[1].chunks(4).enumerate() {
                let (row, column) = (index as i64 / 32, index as i64 % 32);
                let tiles = (0..=iterations).map(|tile| word(place(row, column) + tile * distance(row)));
                let expected = tiles.fold(0u32, u32::wrapping_add);
                assert_eq!(found, expected.to_le_bytes(), "{start}, {step}: row {row}, column {column}");
            }
        }
    }
}

/// Returns a conditional load, with a value for masked elements and one for the other branch.
fn conditional(load: &str, otherwise: &str) -> String {
    format!(
        "%c0 = arith.constant 0 : i32
         %taken = arith.cmpi sgt, %k, %c0 : i32
         %from = tt.addptr %base, %range : tensor<1024x!tt.ptr<f16>, #b>, tensor<1024xi32, #b>
         %result = scf.if %taken -> (tensor<1024xf16, #b>) {{
           %v = {load} : tensor<1024x!tt.ptr<f16>, #b>
           scf.yield %v : tensor<1024xf16, #b>
         }} else {{
           scf.yield {otherwise} : tensor<1024xf16, #b>
         }}"
    )
}

#[test]
fn masked_loads_under_a_condition_need_no_branch() {
    for (load, otherwise, branches) in [
        ("tt.load %from, %mask, %zero", "%zero", 0),
        ("tt.load %from, %mask, %one", "%one", 0),
        ("tt.load %from, %mask", "%zero", 0),
        // Masked elements and the other branch differ.
        ("tt.load %from, %mask, %zero", "%one", 1),
        ("tt.load %from, %mask", "%one", 1),
        ("tt.load %from", "%zero", 1),
    ] {
        let kernel = kernel(&conditional(load, otherwise));
        let found = operations(&kernel).into_iter().filter(|op| matches!(op, Op::If { .. })).count();
        assert_eq!(found, branches, "{load}, {otherwise}");
    }
}
