//! A loop that reads tiles in another layout than it loads them in, for targets of every vendor.

use std::path::Path;

use crate::prelude::*;
use tilewright_assign::stages::{LoadLine, PipelinedLoopLine};
use tilewright_tile::op::name::ttg;
use tilewright_tile::text;
use tilewright_verify::case::ProgramCase;

/// Elements of a tile of 32 rows.
const TILE: usize = 32 * 32;
/// Tiles that there are.
const TILES: usize = 8;

/// How the loop says which tile it loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// By pointers that it carries.
    Carried,
    /// By the number of the turn.
    Counter,
    /// By a number that it loads.
    Loaded,
    /// By a quotient of what is not known before.
    Quotient,
}

/// The program, but for what differs: `y = 3 y + tile` for each turn, with `5 tile` of another tensor where there are two.
#[derive(Debug, Clone, Copy)]
pub struct Staged {
    /// The layout in which tiles are loaded.
    pub loaded: &'static str,
    /// The layout in which they are read.
    pub read: &'static str,
    pub lanes: u32,
    pub from: From,
    /// What rows that are not there are instead, where it says which there are.
    pub other: Option<u32>,
    pub two: bool,
    /// Whether a tile is read twice.
    pub twice: bool,
    /// Whether something is done with a tile before it is brought to the other layout.
    pub made: bool,
    /// The layout of a tile that is turned round before it is brought to the other layout, where it is.
    pub turned: Option<&'static str>,
    /// Whether the loop stores what it has so far.
    pub stores: bool,
    /// The stages that the loop itself asks for.
    pub said: Option<u32>,
    /// Turns, where the text says how many.
    pub iterations: Option<u32>,
    /// The number of its first turn.
    pub begin: i32,
    /// By how much its counter grows.
    pub step: i32,
    /// By how much it ends before the counter of the turn after its last one.
    pub short: i32,
}

/// A kernel, and what was told of its loop.
pub struct Compiled {
    pub kernel: Kernel,
    pub text: String,
    pub lines: Vec<PipelinedLoopLine>,
    /// Conversions that are left.
    pub conversions: usize,
}

impl Compiled {
    /// The line of its only loop.
    pub fn line(&self) -> &PipelinedLoopLine {
        assert_eq!(self.lines.len(), 1, "{}", self.text);
        &self.lines[0]
    }

    /// The loads that go ahead.
    pub fn ahead(&self) -> Vec<&LoadLine> {
        self.line().loads.iter().filter(|load| load.by.is_some()).collect()
    }

    /// Why loads stay.
    pub fn reasons(&self) -> String {
        self.line().loads.iter().filter_map(|load| load.reason.clone()).collect::<Vec<_>>().join("; ")
    }

    pub fn kernel_text(&self) -> String {
        Module { kernels: vec![self.kernel.clone()] }.to_string()
    }
}

impl Staged {
    /// A loop that reads, in another layout, what it loads by pointers that it carries.
    pub const fn new(loaded: &'static str, read: &'static str, lanes: u32) -> Self {
        Self {
            loaded,
            read,
            lanes,
            from: From::Carried,
            other: None,
            two: false,
            twice: false,
            made: false,
            turned: None,
            stores: false,
            said: None,
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
      %turn = arith.divsi %past, %stride : i32"
            .replace("BEGIN", &begin.to_string())
            .replace("STEP", &step.to_string());
        let number = match self.from {
            From::Carried => String::new(),
            From::Counter => format!("{iteration}\n      %number = arith.muli %turn, %size : i32"),
            From::Loaded => format!(
                "{iteration}\n      %entry = tt.addptr %numbers, %turn : !tt.ptr<i32>, i32
      %found = tt.load %entry : !tt.ptr<i32>\n      %number = arith.muli %found, %size : i32"
            ),
            From::Quotient => format!(
                "{iteration}\n      %less = arith.divsi %turn, %one : i32\n      %number = arith.muli %less, %size : i32"
            ),
        };
        let places = match self.from {
            From::Carried => "%place = tt.addptr %at, %none : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>",
            _ => {
                "%skips = tt.splat %number : i32 -> tensor<32x32xi32, #p>
      %place = tt.addptr %first, %skips : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #p>"
            }
        };
        let mask = if self.other.is_some() { ", %there, %other" } else { "" };
        let made = match (self.made, self.turned) {
            (true, _) => "%part = arith.muli %tile, %twos : tensor<32x32xi32, #p>",
            (_, Some(_)) => {
                "%part = tt.trans %tile {order = array<i32: 1, 0>} : tensor<32x32xi32, #p> -> tensor<32x32xi32, #t>"
            }
            (false, None) => "",
        };
        let part = if made.is_empty() { "%tile" } else { "%part" };
        let (turned, held) = (self.turned.unwrap_or(loaded), if self.turned.is_some() { "#t" } else { "#p" });
        let again = match self.twice {
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
        let store = if self.stores { "tt.store %to, %sum : tensor<32x32x!tt.ptr<i32>, #r>" } else { "" };
        let said = self.said.map_or_else(String::new, |stages| format!(" {{tt.num_stages = {stages} : i32}}"));
        let (bound, other) =
            (self.iterations.map(|iterations| begin + step * iterations as i32), self.other.unwrap_or(0));
        let end = match bound {
            Some(bound) => format!("%end = arith.constant {bound} : i32"),
            None => "%span = arith.muli %n, %by : i32
    %behind_last = arith.addi %begin, %span : i32
    %end = arith.subi %behind_last, %short : i32"
                .to_owned(),
        };
        let tile = |name, layout| Tile { name, rows: 32, columns: 32, pitch: 32, layout: Some(layout) };
        let (of_p, of_r) = (tile("_p", "#p"), tile("_r", "#r"));
        let tile_places = of_p.offsets() + &of_p.addresses("first", "x", "i32");
        let read_places = of_r.offsets() + &of_r.addresses("to", "y", "i32");
        format!(
            "#p = {loaded}
#r = {read}
#t = {turned}
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = {lanes} : i32}} {{
  tt.func public @sums(%x: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %numbers: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %rows: i32, %n: i32, %one: i32) {{
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
    {tile_places}
    %all = tt.splat %rows : i32 -> tensor<32x1xi32, #p>
    %below = arith.cmpi slt, %row_p, %all : tensor<32x1xi32, #p>
    %there = tt.broadcast %below : tensor<32x1xi1, #p> -> tensor<32x32xi1, #p>
    {read_places}
    %done:3 = scf.for %k = %begin to %end step %by iter_args(%at = %first, %acc = %nothing, %kept = %none) -> (tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #r>, tensor<32x32xi32, #p>) : i32 {{
      {number}
      {places}
      %tile = tt.load %place{mask} : tensor<32x32x!tt.ptr<i32>, #p>
      {made}
      %moved = ttg.convert_layout {part} : tensor<32x32xi32, {held}> -> tensor<32x32xi32, #r>
      %scaled = arith.muli %acc, %threes : tensor<32x32xi32, #r>
      %sum_a = arith.addi %scaled, %moved : tensor<32x32xi32, #r>
      {second}
      {again}
      {store}
      {next}
      scf.yield %next, %sum, %own : tensor<32x32x!tt.ptr<i32>, #p>, tensor<32x32xi32, #r>, tensor<32x32xi32, #p>
    }}{said}
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

    /// Its kernel on a target, in so many stages where that is said.
    pub fn compiled(&self, target: &dyn Target, stages: Option<u32>) -> Compiled {
        let (mut printed, mut lines, mut conversions) = (String::new(), Vec::new(), 0);
        let options = ProgramOptions { stages, ..ProgramOptions::default() };
        let kernel = compiler(target).kernel(&self.text(), &options, &mut |stage| {
            if let Stage::Layouts(assigned) = stage {
                printed = text::print(&assigned.module);
                tilewright_tile::verify(&assigned.module).unwrap_or_else(|error| panic!("{error}\n{printed}"));
                lines = assigned.report.functions[0].loops.clone();
                conversions = printed.matches(ttg::CONVERT_LAYOUT).count();
            }
        });
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        Compiled { kernel, text: printed, lines, conversions }
    }

    /// Runs a kernel for so many turns, with so many rows of each tile that are there: it must leave what plain arithmetic says.
    pub fn run(&self, target: &dyn Target, kernel: &Kernel, iterations: usize, rows: usize) -> Result<Counts, Fault> {
        let of = |place: usize| (place as u32).wrapping_mul(0x9e37_79b9) >> 8;
        let numbers: Vec<u32> = (0..2 * TILES * TILE).map(of).collect();
        // The tile that a turn loads, where it loads its number.
        let order: Vec<u32> = (0..TILES as u32).map(|iteration| (iteration * 3) % TILES as u32).collect();
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let buffers = [bytes(&numbers), vec![0; 8 * TILE], bytes(&order)].map(Given::Bytes);
        let (left, report) = run_block(target, kernel, &buffers, &[rows as u64, iterations as u64, 1])?;
        let found = &left[1];
        for place in 0..TILE {
            let (mut sum, mut kept) = (0u32, 0u32);
            for (iteration, &listed) in order.iter().enumerate().take(iterations) {
                let tile = if self.from == From::Loaded { listed as usize } else { iteration };
                let is_there = self.other.is_none() || place / 32 < rows;
                let of = |from: usize| if is_there { numbers[from] } else { self.other.unwrap_or(0) };
                let own = of(tile * TILE + place);
                let part = match self.turned {
                    Some(_) => of(tile * TILE + place % 32 * 32 + place / 32),
                    None if self.made => own.wrapping_mul(2),
                    None => own,
                };
                sum = sum.wrapping_mul(3).wrapping_add(part);
                if self.two {
                    sum = sum.wrapping_add(of((TILES + tile) * TILE + place).wrapping_mul(5));
                }
                kept = kept.wrapping_add(own);
            }
            let at = |place: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| found[4 * place + byte]));
            assert_eq!(at(place), sum, "element {place} after {iterations} turns");
            if self.twice {
                assert_eq!(at(TILE + place), kept, "element {place} after {iterations} turns");
            }
        }
        Ok(report.counts)
    }

    /// Runs it in one to four stages, for none to seven turns.
    pub fn is_right(&self, target: &dyn Target) {
        for stages in 1..=4 {
            let compiled = self.compiled(target, Some(stages));
            let iterations: Vec<usize> =
                self.iterations.map_or_else(|| vec![0, 1, 2, 3, 7], |iterations| vec![iterations as usize]);
            for iterations in iterations {
                for rows in if self.other.is_some() { vec![0, 17, 32] } else { vec![32] } {
                    let ran = self.run(target, &compiled.kernel, iterations, rows);
                    ran.unwrap_or_else(|fault| {
                        panic!("{stages} stages, {iterations} turns: {fault}\n{}", compiled.text)
                    });
                }
            }
        }
    }
}

/// What a block does for a product of the suite in so many stages, as the page has it.
pub fn product_in_stages(target: &dyn Target, stages: &[u32]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kernels/dot_masked.json");
    let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).unwrap_or_else(|error| panic!("{error}"));
    let mut table =
        "| stages | shared bytes | barriers | copies | wavefronts stored | loaded |\n|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for &stages in stages {
        let options = ProgramOptions { stages: Some(stages), ..ProgramOptions::default() };
        let (kernel, ended) = case
            .compile_and_run(&compiler(target), &text, &options, &RunLimits::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(ended.differences.is_empty(), "{stages} stages");
        let (counts, bytes) = (ended.report.counts, kernel.shared_bytes());
        let Counts { barriers, asynchronous_copies, wavefronts_stored, wavefronts_loaded, .. } = counts;
        table += &format!(
            "| {stages} | {bytes} | {barriers} | {asynchronous_copies} | {wavefronts_stored} | {wavefronts_loaded} |\n"
        );
    }
    let mark = format!("stages on {}", target.description().name);
    golden::check_section(&shared_data::workspace().join("docs/programs.md"), &mark, &table);
}
