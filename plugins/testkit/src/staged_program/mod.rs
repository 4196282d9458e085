//! A tile program for the targets of every vendor, with a loop that loads tiles in one layout and uses them in another.

use std::path::Path;

use crate::prelude::*;
use tilewright_assign::FunctionReport;
use tilewright_assign::stages::{LoadPrefetchReport, LoopPipelineReport};
use tilewright_assign::synthesis::{LaunchPredictionInput, LaunchValues, RejectedAlternative};
use tilewright_tile::op::name::ttg;
use tilewright_tile::text;
use tilewright_verify::case::ProgramCase;

/// Number of elements of a tile: 32 rows of 32.
const TILE: usize = 32 * 32;
/// Number of tiles in global memory that the loop may load.
const TILES: usize = 8;

/// How the program determines which tile an iteration loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileAddressSource {
    /// By pointers that the loop carries from iteration to iteration.
    Carried,
    /// By an index that is the loop's induction variable.
    Counter,
    /// By an index that the iteration loads from memory.
    Loaded,
    /// By an index that is a quotient, unknown at compile time.
    Quotient,
}

/// The parameters of the program. It computes `y = 3 y + tile` in each iteration, and also adds `5 tile` of another
/// tensor if `two`.
#[derive(Debug, Clone, Copy)]
pub struct PipelinedLoopProgram {
    /// Layout of the tiles that the loop loads.
    pub loaded: &'static str,
    /// Layout of the tiles in the computation after the loads.
    pub read: &'static str,
    pub lanes: u32,
    pub from: TileAddressSource,
    /// The value that elements of masked-off rows get; `None` if the loads have no mask.
    pub other: Option<u32>,
    pub two: bool,
    /// Whether the loop uses each tile twice.
    pub twice: bool,
    /// Whether a tile is used in an elementwise computation before its layout conversion.
    pub elementwise: bool,
    /// Layout of the transposed tile before its layout conversion; `None` if tiles are not transposed.
    pub turned: Option<&'static str>,
    /// The pointer parameter through which the loop stores its intermediate result, `x` or `y`; it loads through `x`.
    pub stores: Option<&'static str>,
    /// Number of stages in the loop's attribute; `None` if the loop has no attribute.
    pub num_stages: Option<u32>,
    /// Number of iterations, if the loop's bound is constant; `None` if it is a parameter.
    pub iterations: Option<u32>,
    /// The initial value of the induction variable.
    pub begin: i32,
    /// The step of the loop's induction variable.
    pub step: i32,
    /// By how much the loop's bound is below the value of the induction variable after the last iteration.
    pub short: i32,
}

/// A compiled kernel, with the compiler's report on its loop.
pub struct Compiled {
    pub kernel: Kernel,
    pub text: String,
    pub lines: Vec<LoopPipelineReport>,
    /// Number of layout conversions in the program after layout assignment.
    pub conversions: usize,
    /// The predicted cycles of a launch of sixteen blocks for each compute unit, with unknown arguments; `None` without a
    /// prediction.
    pub cycles: Option<f64>,
    /// The numbers of stages that were tried and not taken.
    pub alternatives: Vec<RejectedAlternative>,
}

impl Compiled {
    /// Returns the report of the kernel's only loop.
    pub fn line(&self) -> &LoopPipelineReport {
        assert_eq!(self.lines.len(), 1, "{}", self.text);
        &self.lines[0]
    }

    /// Returns the reports of the loads that are prefetched.
    pub fn prefetched_loads(&self) -> Vec<&LoadPrefetchReport> {
        self.line().loads.iter().filter(|load| load.by.is_some()).collect()
    }

    /// Returns the reasons why the other loads are not prefetched, as one text.
    pub fn reasons(&self) -> String {
        self.line().loads.iter().filter_map(|load| load.reason.clone()).collect::<Vec<_>>().join("; ")
    }

    pub fn kernel_text(&self) -> String {
        Module { kernels: vec![self.kernel.clone()] }.to_string()
    }
}

impl PipelinedLoopProgram {
    /// Creates a program whose loop loads tiles in layout `loaded` through loop-carried pointers and converts them to
    /// layout `read`. `lanes` is the number of lanes of a warp.
    pub const fn new(loaded: &'static str, read: &'static str, lanes: u32) -> Self {
        Self {
            loaded,
            read,
            lanes,
            from: TileAddressSource::Carried,
            other: None,
            two: false,
            twice: false,
            elementwise: false,
            turned: None,
            stores: None,
            num_stages: None,
            iterations: None,
            begin: 0,
            step: 1,
            short: 0,
        }
    }

    pub fn text(&self) -> String {
        let Self { loaded, read, lanes, begin, step, short, .. } = self;
        let next = "%next = tt.addptr %at, %sizes : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>";
        let iteration = "%from0 = arith.constant BEGIN : i32
      %past = arith.subi %k, %from0 : i32
      %stride = arith.constant STEP : i32
      %passed = arith.divsi %past, %stride : i32"
            .replace("BEGIN", &begin.to_string())
            .replace("STEP", &step.to_string());
        let number = match self.from {
            TileAddressSource::Carried => String::new(),
            TileAddressSource::Counter => format!("{iteration}\n      %number = arith.muli %passed, %size : i32"),
            TileAddressSource::Loaded => format!(
                "{iteration}\n      %entry = tt.addptr %numbers, %passed : !tt.ptr<i32>, i32
      %found = tt.load %entry : !tt.ptr<i32>\n      %number = arith.muli %found, %size : i32"
            ),
            TileAddressSource::Quotient => format!(
                "{iteration}\n      %less = arith.divsi %passed, %one : i32\n      %number = arith.muli %less, %size : i32"
            ),
        };
        let address_ops = match self.from {
            TileAddressSource::Carried => {
                "%place = tt.addptr %at, %none : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>"
            }
            _ => {
                "%skips = tt.splat %number : i32 -> tensor<32x32xi32, #p>
      %place = tt.addptr %first, %skips : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>"
            }
        };
        let mask = if self.other.is_some() { ", %there, %other" } else { "" };
        let tile_op = match (self.elementwise, self.turned) {
            (true, _) => "%part = arith.muli %tile, %twos : tensor<32x32xi32, #p>",
            (_, Some(_)) => {
                "%part = tt.trans %tile {order = array<i32: 1, 0>} : tensor<32x32xi32, #p> -> tensor<32x32xi32, #t>"
            }
            (false, None) => "",
        };
        let moved_from = if tile_op.is_empty() { "%tile" } else { "%part" };
        let (turned, layout_name) = (self.turned.unwrap_or(loaded), if self.turned.is_some() { "#t" } else { "#p" });
        let second_use = match self.twice {
            true => "%own = arith.addi %kept, %tile : tensor<32x32xi32, #p>",
            false => "%own = arith.addi %kept, %none : tensor<32x32xi32, #p>",
        };
        let second = match self.two {
            true => {
                "%other_place = tt.addptr %place, %behind : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>
      %tile_b = tt.load %other_placeMASK : tensor<32x32x!tt.ptr<i32>, #p>
      %moved_b = ttg.convert_layout %tile_b : tensor<32x32xi32, #p> -> tensor<32x32xi32, #r>
      %part_b = arith.muli %moved_b, %fives : tensor<32x32xi32, #r>
      %sum = arith.addi %sum_a, %part_b : tensor<32x32xi32, #r>"
            }
            false => "%sum = arith.addi %sum_a, %nothing : tensor<32x32xi32, #r>",
        };
        let second = second.replace("MASK", mask);
        let store = if self.stores.is_some() { "tt.store %stored, %sum : tensor<32x32x!tt.ptr<i32>, #r>" } else { "" };
        let num_stages =
            self.num_stages.map_or_else(String::new, |stages| format!(" {{tt.num_stages = {stages} : i32}}"));
        let (bound, other) =
            (self.iterations.map(|iterations| begin + step * iterations as i32), self.other.unwrap_or(0));
        let end = match bound {
            Some(bound) => format!("%end = arith.constant {bound} : i32"),
            None => "%span = arith.muli %n, %by : i32
    %behind_last = arith.addi %begin, %span : i32
    %end = arith.subi %behind_last, %short : i32"
                .to_owned(),
        };
        let tile = |name, layout| TileAddressText { name, rows: 32, columns: 32, pitch: 32, layout: Some(layout) };
        let (of_p, of_r) = (tile("_p", "#p"), tile("_r", "#r"));
        let tile_addresses = of_p.offsets() + &of_p.addresses("first", "x", "i32");
        let stored_addresses = self.stores.map_or_else(String::new, |from| of_r.addresses("stored", from, "i32"));
        let read_addresses = of_r.offsets() + &of_r.addresses("to", "y", "i32") + &stored_addresses;
        format!(
            "#p = {loaded}
#r = {read}
#t = {turned}
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = {lanes} : i32}} {{
  tt.func public @accumulate(%x: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %numbers: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %rows: i32, %n: i32, %one: i32) {{
    %begin = arith.constant {begin} : i32
    %by = arith.constant {step} : i32
    %short = arith.constant {short} : i32
    {end}
    %size = arith.constant {TILE} : i32
    %twos = arith.constant dense<2> : tensor<32x32xi32, #p>
    %none = arith.constant dense<0> : tensor<32x32xi32, #p>
    %nothing = arith.constant dense<0> : tensor<32x32xi32, #r>
    %threes = arith.constant dense<3> : tensor<32x32xi32, #r>
    %fives = arith.constant dense<5> : tensor<32x32xi32, #r>
    %sizes = arith.constant dense<{TILE}> : tensor<32x32xi32, #p>
    %behind = arith.constant dense<{all}> : tensor<32x32xi32, #p>
    %other = arith.constant dense<{other}> : tensor<32x32xi32, #p>
    {tile_addresses}
    %all = tt.splat %rows : i32 -> tensor<32x1xi32, #p>
    %below = arith.cmpi slt, %row_p, %all : tensor<32x1xi32, #p>
    %there = tt.broadcast %below : tensor<32x1xi1, #p> -> tensor<32x32xi1, #p>
    {read_addresses}
    %done:3 = scf.for %k = %begin to %end step %by iter_args(%at = %first, %acc = %nothing, %kept = %none) -> (tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #r>, tensor<32x32xi32, #p>) : i32 {{
      {number}
      {address_ops}
      %tile = tt.load %place{mask} : tensor<32x32x!tt.ptr<i32>, #p>
      {tile_op}
      %moved = ttg.convert_layout {moved_from} : tensor<32x32xi32, {layout_name}> -> tensor<32x32xi32, #r>
      %scaled = arith.muli %acc, %threes : tensor<32x32xi32, #r>
      %sum_a = arith.addi %scaled, %moved : tensor<32x32xi32, #r>
      {second}
      {second_use}
      {store}
      {next}
      scf.yield %next, %sum, %own : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #r>, tensor<32x32xi32, #p>
    }}{num_stages}
    tt.store %to, %done#1 : tensor<32x32x!tt.ptr<i32>, #r>
    {last}
    tt.return
  }}
}}
",
            all = TILES * TILE,
            last = match self.twice {
                true => "%behind_y = tt.splat %y : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>, #p>
    %own_from = tt.addptr %behind_y, %offsets_p : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>
    %own_to = tt.addptr %own_from, %sizes : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>
    tt.store %own_to, %done#2 : tensor<32x32x!tt.ptr<i32>, #p>",
                false => "",
            },
        )
    }

    /// Compiles the program for a target; `stages` overrides the number of pipeline stages if given.
    pub fn compiled(&self, target: &dyn Target, stages: Option<u32>) -> Compiled {
        let (mut found, options) = (None, ProgramOptions::default().with_stages(stages));
        let kernel = compiler(target).compile_kernel(&self.text(), &options, &mut |stage| {
            if let CompilationStageOutput::Layouts(assigned) = stage {
                found = Some(assigned.clone());
            }
        });
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        let assigned = found.expect("the program has layouts");
        let text = text::print_module(&assigned.module);
        tilewright_tile::verify_transformed_module(&assigned.module).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let units = target.description().throughput.as_ref().map_or(1, |throughput| throughput.compute_units);
        let values = LaunchValues { grid: [16 * u64::from(units), 1, 1], arguments: Vec::new() };
        let launch = LaunchPredictionInput { values, buffer_bytes: None };
        let predicted = compiler(target).predict_launch(&assigned, &kernel, &options, &launch);
        let cycles = predicted.ok().map(|predicted| predicted.cycles);
        let FunctionReport { loops: lines, alternatives, .. } = assigned.report.functions[0].clone();
        Compiled { kernel, conversions: text.matches(ttg::CONVERT_LAYOUT).count(), text, lines, cycles, alternatives }
    }

    /// Emulates a kernel for `iterations` iterations, with a mask that covers `rows` rows of each tile. Checks the
    /// result against plain arithmetic and returns the operation counts.
    pub fn run(&self, target: &dyn Target, kernel: &Kernel, iterations: usize, rows: usize) -> Result<Counts, Fault> {
        let of = |index: usize| (index as u32).wrapping_mul(0x9e37_79b9) >> 8;
        let numbers: Vec<u32> = (0..2 * TILES * TILE).map(of).collect();
        // The index of the tile for each iteration, if the iteration loads the index from memory.
        let order: Vec<u32> = (0..TILES as u32).map(|iteration| (iteration * 3) % TILES as u32).collect();
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let buffers = [bytes(&numbers), vec![0; 8 * TILE], bytes(&order)].map(InitialBuffer::Bytes);
        let (left, report) = run_block(target, kernel, &buffers, &[rows as u64, iterations as u64, 1])?;
        let found = &left[1];
        for index in 0..TILE {
            let (mut sum, mut kept) = (0u32, 0u32);
            for (iteration, &listed) in order.iter().enumerate().take(iterations) {
                let tile = if self.from == TileAddressSource::Loaded { listed as usize } else { iteration };
                let is_there = self.other.is_none() || index / 32 < rows;
                let of = |from: usize| if is_there { numbers[from] } else { self.other.unwrap_or(0) };
                let own = of(tile * TILE + index);
                let moved_from = match self.turned {
                    Some(_) => of(tile * TILE + index % 32 * 32 + index / 32),
                    None if self.elementwise => own.wrapping_mul(2),
                    None => own,
                };
                sum = sum.wrapping_mul(3).wrapping_add(moved_from);
                if self.two {
                    sum = sum.wrapping_add(of((TILES + tile) * TILE + index).wrapping_mul(5));
                }
                kept = kept.wrapping_add(own);
            }
            let at = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| found[4 * index + byte]));
            assert_eq!(at(index), sum, "element {index} after {iterations} iterations");
            if self.twice {
                assert_eq!(at(TILE + index), kept, "element {index} after {iterations} iterations");
            }
        }
        Ok(report.counts)
    }

    /// Compiles the program with one to four stages, emulates each for up to seven iterations, and panics unless the
    /// results are right.
    pub fn check(&self, target: &dyn Target) {
        for stages in 1..=4 {
            let compiled = self.compiled(target, Some(stages));
            let iterations: Vec<usize> =
                self.iterations.map_or_else(|| vec![0, 1, 2, 3, 7], |iterations| vec![iterations as usize]);
            for iterations in iterations {
                for rows in if self.other.is_some() { vec![0, 17, 32] } else { vec![32] } {
                    let ran = self.run(target, &compiled.kernel, iterations, rows);
                    ran.unwrap_or_else(|fault| {
                        panic!("{stages} stages, {iterations} iterations: {fault}\n{}", compiled.text)
                    });
                }
            }
        }
    }
}

/// Compares a table in the documentation with the operation counts of a block: those of a dot program of the suite, for
/// each number of pipeline stages.
pub fn check_stages_table(target: &dyn Target, stages: &[u32]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kernels/dot_masked.json");
    let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).unwrap_or_else(|error| panic!("{error}"));
    let mut table =
        "| stages | shared bytes | barriers | copies | wavefronts stored | loaded |\n|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for &stages in stages {
        let options = ProgramOptions::default().with_stages(stages);
        let (kernel, outcome) = case
            .compile_and_run_variant(&compiler(target), &text, &options, &RunLimits::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(outcome.differences.is_empty(), "{stages} stages");
        let (counts, bytes) = (outcome.report.counts, kernel.shared_bytes());
        let Counts { barriers, asynchronous_copies, wavefronts_stored, wavefronts_loaded, .. } = counts;
        table += &format!(
            "| {stages} | {bytes} | {barriers} | {asynchronous_copies} | {wavefronts_stored} | {wavefronts_loaded} |\n"
        );
    }
    let mark = format!("stages on {}", target.description().name);
    golden::check_section(&shared_data::workspace().join("docs/programs.md"), &mark, &table);
}
