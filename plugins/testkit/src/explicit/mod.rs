//! Checks of the conformance suite's explicit-memory programs, which state the memory space of each tile: synthesis
//! finds layouts, the kernels are emulated, and the results are listed in a table.

mod bulk_stores;
mod case_data;
mod chained_dots;
pub mod claims;
mod fused_mlp;
mod mamba;
mod paper_kernels;
mod part_operands;
mod parts;
pub mod pinned;
mod program_rings;
pub mod ranked;
mod shared_by_loops;
mod shared_bytes;
mod table;
mod tile_chain;
pub mod tiles;
mod two_kinds;
mod two_loops;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::prelude::*;
use tilewright_assign::stages::LoopPipelineReport;
use tilewright_assign::synthesis::{Derivation, SynthesisOptions};
use tilewright_emulator::RunReport;
use tilewright_testkit::sample::{ALL_CASES, is_all};
use tilewright_verify::case::ProgramCase;

pub use bulk_stores::{bulk_store_program, column_tiles_program, persistent_tiles_program, ragged_tiles_program};
pub use chained_dots::chained_dots_program;
pub use fused_mlp::check_fused_mlp;
pub use mamba::check_mamba;
pub use paper_kernels::{check_paper_kernels, sized_attention};
pub use part_operands::DividedDot;
pub use parts::check_tile_slice_programs;
pub use program_rings::RingDot;
pub use shared_by_loops::check_loops_filling_one_tensor;
pub use shared_bytes::check_shared_bytes;
pub use table::table;
pub use tile_chain::tile_chain_program;
pub use two_kinds::check_two_kinds;
pub use two_loops::two_loops_program;

/// Names of the explicit-memory programs in the conformance suite.
pub const EXPLICIT_MEMORY_PROGRAMS: [&str; 17] = [
    "explicit_attention",
    "explicit_attention_dkv",
    "explicit_attention_dq",
    "explicit_decode",
    "explicit_decode_join",
    "explicit_fp8",
    "explicit_gemm",
    "explicit_gemm_edges",
    "explicit_gemv",
    "explicit_int1",
    "explicit_int4",
    "explicit_interleaved",
    "explicit_moe",
    "explicit_narrow",
    "explicit_packed",
    "explicit_rmsnorm",
    "explicit_rmsnorm_blocks",
];

/// Programs whose weights are stored with fewer bits than the MMA's elements.
pub const MIXED: [&str; 3] = ["explicit_int1", "explicit_int4", "explicit_moe"];

/// Programs whose weights are stored in the order of the lanes of NVIDIA's MMA instructions.
pub const PRESHUFFLED: [&str; 2] = ["explicit_interleaved", "explicit_packed"];

/// A program for which synthesis has found layouts, and which has been emulated.
pub struct EmulatedDerivation {
    pub derivation: Derivation,
    /// The loops of Triton's loads, which are pipelined after synthesis.
    pub loops: Vec<LoopPipelineReport>,
    /// Operation counts of one warp; each count is the maximum over all warps.
    pub counts: Counts,
    /// The emulator's report of the program's run.
    pub report: RunReport,
    /// The kernel IR of the kernel as text.
    pub kernel: String,
}

/// Reads a program of the conformance suite: its test case and its text.
pub fn case(name: &str) -> (ProgramCase, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kernels").join(format!("{name}.json"));
    let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).expect("the program of a case");
    (case, text)
}

/// Returns the suite's dot program with tiles of [M, N, K] elements and a total K of `depth`, and a test case whose
/// grid fits.
pub fn tiled(case: &ProgramCase, text: &str, [m, n, k]: [u64; 3], depth: u64) -> (ProgramCase, String) {
    let text = text.replace("64x32", &format!("{m}x{k}")).replace("32x64", &format!("{k}x{n}"));
    let text = text.replace("64x64", &format!("{m}x{n}"));
    let text = text.replace("(64,32,?):(?,1,32)", &format!("({m},{k},?):(?,1,{k})"));
    let text = text.replace("(32,64,?):(1,?,32)", &format!("({k},{n},?):(1,?,{k})"));
    let text = text.replace("(64,64):(?,1)", &format!("({m},{n}):(?,1)"));
    let text = text.replace("muli %row, %c64", &format!("muli %row, %c{m}"));
    let iterations = format!("%turns = arith.constant {} : i32", depth / k);
    let text = text.replace("%turns = arith.divsi %k, %c32 : i32", &iterations);
    let text = text.replace("muli %column, %c64", &format!("muli %column, %c{n}"));
    let sizes = [16, 32, 64, 128].map(|size| format!("    %c{size} = arith.constant {size} : i32\n")).concat();
    let text = text.replace("    %c32 = arith.constant 32 : i32\n    %c64 = arith.constant 64 : i32\n", &sizes);
    let grid = [(128 / m) as u32, (64 / n) as u32, 1];
    (ProgramCase { grid, ..case.clone() }, text)
}

/// Returns the suite's attention program with 64 keys in a tile, as many as elements in a head, so that both dots have
/// one shape.
pub fn with_square_keys(text: &str) -> String {
    let sizes = [("64x32x", "64x64x"), ("32x64x", "64x64x"), ("128x32x", "128x64x"), ("2048", "4096")];
    let tiles = [("(64,32,", "(64,64,"), ("(32,64,", "(64,64,"), ("constant 32 :", "constant 64 :")];
    sizes.into_iter().chain(tiles).fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Finds layouts for a program text by synthesis; returns the solution, or the reason why there is none.
pub fn synthesize_layouts(
    target: &dyn Target,
    text: &str,
    warps: u32,
    synthesis: SynthesisOptions,
) -> Result<Derivation, String> {
    solution(target, text, warps, synthesis).map(|(_, derivation, _)| derivation)
}

type Solution = Result<(Kernel, Derivation, Vec<LoopPipelineReport>), String>;

/// Compiles a program with these options of synthesis. Results are cached for all tests of the process.
fn solution(target: &dyn Target, text: &str, warps: u32, synthesis: SynthesisOptions) -> Solution {
    static KNOWN: Cache<Solution> = Mutex::new(BTreeMap::new());
    let key = format!("{} {warps} {synthesis:?} {text}", target.description().name);
    cached(&KNOWN, key, || solve(target, text, warps, synthesis))
}

fn solve(target: &dyn Target, text: &str, warps: u32, synthesis: SynthesisOptions) -> Solution {
    let options = ProgramOptions::default().with_warps(warps).with_synthesis(synthesis);
    let (mut derivation, mut loops) = (None, Vec::new());
    let kernel = compiler(target).compile_kernel(text, &options, &mut |stage| match stage {
        CompilationStageOutput::Synthesis(found) => derivation = Some(found.clone()),
        CompilationStageOutput::Layouts(assigned) => loops = assigned.report.pipelined_loops().cloned().collect(),
        _ => {}
    });
    let kernel = kernel.map_err(|error| error.to_string())?;
    Ok((kernel, derivation.ok_or_else(|| "nothing was solved".to_owned())?, loops))
}

/// Finds layouts for a program of the suite, emulates it, and checks its buffers against plain arithmetic.
pub fn synthesize_and_emulate_case(
    target: &dyn Target,
    name: &str,
    synthesis: SynthesisOptions,
) -> Arc<EmulatedDerivation> {
    let (case, text) = case(name);
    synthesize_and_emulate(target, &case, &text, synthesis)
}

/// Finds layouts for a program text and emulates it with a test case. Results are cached for all tests of the process.
pub fn synthesize_and_emulate(
    target: &dyn Target,
    case: &ProgramCase,
    text: &str,
    synthesis: SynthesisOptions,
) -> Arc<EmulatedDerivation> {
    static KNOWN: Cache<Arc<EmulatedDerivation>> = Mutex::new(BTreeMap::new());
    let key = format!("{} {} {:?} {synthesis:?} {text}", target.description().name, case.name, case.grid);
    cached(&KNOWN, key, || Arc::new(execute(target, case, text, synthesis)))
}

type Cache<T> = Mutex<BTreeMap<String, Arc<OnceLock<T>>>>;

/// Returns the value of a key. Tests in other threads that ask for the same key wait until it is computed.
fn cached<T: Clone>(cache: &Cache<T>, key: String, compute: impl FnOnce() -> T) -> T {
    let entry = Arc::clone(cache.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    entry.get_or_init(compute).clone()
}

fn execute(target: &dyn Target, case: &ProgramCase, text: &str, synthesis: SynthesisOptions) -> EmulatedDerivation {
    let name = &case.name;
    let (kernel, derivation, loops) =
        solution(target, text, case.warps, synthesis).unwrap_or_else(|error| panic!("{name}: {error}"));
    let ran = case.run_emulated(&kernel, build_plan_context(target), &RunLimits::default());
    let outcome = ran.unwrap_or_else(|error| panic!("{name}: {error}"));
    let differences: Vec<String> = outcome.differences.iter().map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{name}: {differences:?}");
    let kernel = Module { kernels: vec![kernel] }.to_string();
    EmulatedDerivation { derivation, loops, counts: outcome.report.counts, report: outcome.report, kernel }
}

/// Compares the bytes of shared memory that synthesis predicts with those of the lowered kernel, for all programs of the
/// suite. Returns a line for each program whose kernel takes more.
pub fn find_underestimated_shared_bytes(target: &dyn Target) -> Vec<String> {
    let compare = |name: &str| {
        let (case, text) = case(name);
        let solved = solution(target, &text, case.warps, SynthesisOptions::default());
        let (kernel, derivation, _) = solved.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (taken, predicted) = (kernel.shared_bytes(), derivation.shared_bytes);
        (taken > predicted).then(|| format!("{name}: {taken} bytes of shared memory, {predicted} predicted"))
    };
    EXPLICIT_MEMORY_PROGRAMS.into_iter().filter_map(compare).collect()
}

/// Checks that synthesis with pruned search finds the same solution as with exhaustive search. Programs whose
/// exhaustive search has more than 32 leaves are skipped, with [`tilewright_testkit::sample::ALL_CASES`] more than 256.
/// Returns the number of programs that were compared.
pub fn pruning_changes_nothing(gpu_model: &str, target: &dyn Target) -> usize {
    let most = if is_all() { 256 } else { 64 };
    let mut compared = 0;
    for name in EXPLICIT_MEMORY_PROGRAMS {
        let (case, text) = case(name);
        let of = |pruned: bool| {
            let options = SynthesisOptions::default().with_pruning(pruned).with_max_leaves(most);
            synthesize_layouts(target, &text, case.warps, options)
                .unwrap_or_else(|error| panic!("{name} on {gpu_model}: {error}"))
        };
        let exhaustive = of(false);
        if exhaustive.search.cut > 0 {
            println!("{name} on {gpu_model}: more than {most} leaves, not compared");
            continue;
        }
        let pruned = of(true);
        assert!(pruned.search.leaves <= exhaustive.search.leaves, "{name} on {gpu_model}");
        let (search, alternatives) = (exhaustive.search, exhaustive.alternatives.clone());
        let found = Derivation { search, alternatives, ..pruned };
        assert_eq!(found, exhaustive, "{name} on {gpu_model}");
        compared += 1;
    }
    compared
}

/// Whether a line of the report is a layout conversion of a matrix within the program. Conversions for the final store
/// to global memory do not count, nor those of a column that is broadcast, whose layout has no bases along the second
/// axis.
pub fn is_inner_conversion_line(line: &str) -> bool {
    let to = line.split(" to #").nth(1).unwrap_or_default();
    let bases = to.split('[').filter_map(|basis| basis.split(']').next()?.split_once(", "));
    let moves = bases.into_iter().any(|(_, second)| second.parse::<u64>().is_ok_and(|at| at != 0));
    moves && !line.ends_with("for tt.store") && !line.ends_with("for tt.broadcast")
}

/// Checks that `table` equals the section of `docs/synthesis.md` between the marks of name `mark`.
pub fn check_synthesis_page_table(mark: &str, table: &str) {
    golden::check_section(&shared_data::workspace().join("docs/synthesis.md"), mark, table);
}

/// Checks that the section `mark` of `docs/synthesis.md` has these rows of a table; if all cases are tested, these rows
/// only, and `TILEWRIGHT_BLESS` writes them.
fn check_synthesis_page_rows(mark: &str, header: &str, rows: &[String]) {
    if is_all() {
        return check_synthesis_page_table(mark, &format!("{header}{}", rows.concat()));
    }
    let page = std::fs::read_to_string(shared_data::workspace().join("docs/synthesis.md")).expect("the page");
    let section = page.split(&format!("<!-- {mark} -->")).nth(1).unwrap_or_default();
    let section = section.split(&format!("<!-- end of {mark} -->")).next().unwrap_or_default();
    for row in rows {
        let lacks = format!("the table {mark} lacks this row; TILEWRIGHT_BLESS=1 {ALL_CASES}=1 writes it");
        assert!(section.contains(row), "{lacks}\n{row}");
    }
}
