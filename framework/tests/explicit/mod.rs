//! The suite's programs that say where tiles lie: solved, executed, and told as a table.

use std::fmt::Write;
use std::path::Path;

use tilewright::emulator::{Limits, Report};
use tilewright::engine::synthesis::{Derivation, Options};
use tilewright::kernel::Counts;
use tilewright::pipeline::case::Case;
use tilewright::pipeline::program::{ProgramCompiler, ProgramOptions, Stage};
use tilewright::vendor::Target;

/// The programs.
pub const PROGRAMS: [&str; 7] = [
    "explicit_attention",
    "explicit_fp8",
    "explicit_gemm",
    "explicit_gemm_edges",
    "explicit_gemv",
    "explicit_int4",
    "explicit_rmsnorm",
];

/// A program, solved for a target and executed.
pub struct Solved {
    pub derivation: Derivation,
    /// What the busiest warp executed.
    pub counts: Counts,
    /// All that was executed.
    pub report: Report,
    /// The kernel's text.
    pub kernel: String,
}

/// A case of the suite, and its text.
pub fn case(name: &str) -> (Case, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kernels").join(format!("{name}.json"));
    let case = Case::read(&file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).expect("the program of a case");
    (case, text)
}

/// What is found for a text, or why nothing is.
pub fn derived(target: &dyn Target, text: &str, warps: u32, synthesis: Options) -> Result<Derivation, String> {
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let options = ProgramOptions { warps: Some(warps), synthesis, ..ProgramOptions::default() };
    let mut derivation = None;
    let kernel = compiler.kernel(text, &options, &mut |stage| {
        if let Stage::Synthesis(found) = stage {
            derivation = Some(found.clone());
        }
    });
    kernel.map_err(|error| error.to_string())?;
    derivation.ok_or_else(|| "nothing was solved".to_owned())
}

/// Solves a program and executes it: its buffers must hold what plain arithmetic says.
pub fn solved(target: &dyn Target, name: &str, synthesis: Options) -> Solved {
    let (case, text) = case(name);
    executed(target, &case, &text, synthesis)
}

/// Solves a text for a case, and executes it.
pub fn executed(target: &dyn Target, case: &Case, text: &str, synthesis: Options) -> Solved {
    let name = &case.name;
    let derivation = derived(target, text, case.warps, synthesis).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let options = ProgramOptions { warps: Some(case.warps), synthesis, ..ProgramOptions::default() };
    let (kernel, ended) = match compiler.run(case, text, &options, &Limits::default()) {
        Ok(ran) => ran,
        Err(error) => panic!("{name}: {error}"),
    };
    assert!(
        ended.differences.is_empty(),
        "{name}: {:?}",
        ended.differences.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
    let counts = ended.report.counts;
    let kernel = tilewright::kernel::Module { kernels: vec![kernel] }.to_string();
    Solved { derivation, counts, report: ended.report, kernel }
}

/// The table of programs on targets, for the page on synthesis.
pub fn table(targets: &[(&str, &dyn Target)]) -> String {
    let mut text = String::from(
        "| program | target | instruction | copies past registers | matrix loads | wavefronts stored | loaded | above the least, in loops | barriers | exchanges | conversions |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for name in PROGRAMS {
        for (product, target) in targets {
            let Solved { derivation, counts, .. } = solved(*target, name, Options::default());
            let instruction = derivation.products.first().map_or("none", |product| &product.instruction);
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "| {name} | {product} | `{instruction}` | {} | {} | {} | {} | {} | {} | {} | {} |",
                counts.asynchronous_copies,
                counts.matrix_loads,
                counts.wavefronts_stored,
                counts.wavefronts_loaded,
                derivation.conflicts_in_loops(),
                counts.barriers,
                counts.exchanges + counts.exchanges_xor,
                derivation.conversions.len()
            );
        }
    }
    text
}

/// Compares a table with the one that the page has between these marks, or writes it there where `TILEWRIGHT_BLESS` is set.
pub fn kept(mark: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/synthesis.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let (before, rest) = page.split_once(&open).expect("a mark");
    let (_, after) = rest.split_once(&close).expect("a mark");
    let expected = format!("{before}{open}{table}{close}{after}");
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(path, expected).expect("the page is written");
    } else {
        assert_eq!(page, expected, "TILEWRIGHT_BLESS=1 writes it");
    }
}
