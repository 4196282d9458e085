//! An invented GPU, and cases with every effect that a case can have on its worker process.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use conformance::{Case, CaseGroup, Context, EvidenceLevel, OpenError, PluginIsolation, TestableTargets, Verdict};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::parse_family_spec;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Instruction, TargetDescription};

/// The invented targets: `toy` and `twin`, which work; `absent`, whose plugin is missing; and `mortal`, which opens in
/// the runner's process and ends every worker process.
pub struct Inventions(Vec<TargetDescription>);

impl Inventions {
    pub fn open(plugins: &[PathBuf], _: PluginIsolation) -> Result<Box<dyn TestableTargets>, OpenError> {
        if let Some(file) = plugins.iter().find(|file| !file.exists()) {
            return Err(OpenError::Unknown(format!("no plugin {}", file.display())));
        }
        Ok(Box::new(Self(["absent", "mortal", "toy", "twin"].map(describe).into())))
    }
}

impl TestableTargets for Inventions {
    fn list(&self) -> Vec<&TargetDescription> {
        self.0.iter().collect()
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Target>, OpenError> {
        match self.0.iter().find(|target| target.name == name) {
            None => Err(OpenError::Unknown(format!("no target {name}"))),
            Some(target) if target.name == "absent" => {
                Err(OpenError::Broken { target: name.into(), message: "its plugin is missing".into() })
            }
            Some(target) if target.name == "mortal" && in_worker() => {
                eprintln!("goodbye from {}", target.name);
                std::process::abort()
            }
            Some(target) => Ok(Arc::new(Toy(target.clone()))),
        }
    }
}

fn in_worker() -> bool {
    std::env::args().any(|argument| argument == "run-batch")
}

struct Toy(TargetDescription);

impl Target for Toy {
    fn description(&self) -> &TargetDescription {
        &self.0
    }

    fn families(&self) -> &dyn Families {
        &NeutralFamilies
    }

    fn instructions(&self) -> &[Instruction] {
        &[]
    }

    fn compile(&self, _module: &Module, _options: &CompileOptions) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported("toys run no code".into()))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Ok(Vec::new())
    }
}

/// The layout that the case `deeds/fail` is about.
const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";

/// A group of cases whose names describe their effect, such as `hang`.
pub struct Deeds;

impl CaseGroup for Deeds {
    fn name(&self) -> &str {
        "deeds"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = vec![
            case("pass/layout", || Verdict::pass(EvidenceLevel::Layout)),
            case("pass/emulated", || Verdict::pass(EvidenceLevel::Emulated)),
            Case::new("deeds/fail", |context| {
                let rows = parse_family_spec(ROWS).expect("it is well written");
                context.build_layout(&rows, &[8, 16]).expect("a layout");
                Verdict::fail(EvidenceLevel::Layout, "element (1, 2) is lost")
            }),
            case("quality", || Verdict::quality(EvidenceLevel::Codegen, "9 wavefronts, bound 8")),
            case("unsupported", || Verdict::unsupported("no 64-bit shuffles")),
            case("skip", || Verdict::skip("no assembler on this machine")),
            case("panic", || panic!("index 7 of 4")),
            case("abort", || std::process::abort()),
            case("exit", || std::process::exit(0)),
            case("hang", || {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }),
            case("overflow", || Verdict::pass(if deep(1) > 0 { EvidenceLevel::Layout } else { EvidenceLevel::Device })),
            case("noise", || {
                print!("no record: {{\"record\":\"end\"}}\n\u{1e}{{\"record\":\"done\"");
                eprintln!("noise");
                Verdict::pass(EvidenceLevel::Layout)
            }),
            case("orphan", || {
                // A child process of a case inherits its pipes and outlives it unless it is ended.
                let child = Command::new("sleep").arg("600").spawn().expect("sleep starts");
                eprintln!("started {}", child.id());
                std::process::abort()
            }),
            case("flaky", || match std::env::var_os(FLAKY_VARIABLE).map(PathBuf::from) {
                Some(file) if !file.exists() => {
                    std::fs::write(file, "once").expect("the test's folder takes files");
                    Verdict::fail(EvidenceLevel::Layout, "the first time is hard")
                }
                _ => Verdict::pass(EvidenceLevel::Layout),
            }),
            case("company/1-spoils", || {
                SPOILT.store(true, Ordering::Relaxed);
                Verdict::pass(EvidenceLevel::Layout)
            }),
            case("company/2-between", || Verdict::pass(EvidenceLevel::Layout)),
            case("company/3-suffers", || {
                if SPOILT.load(Ordering::Relaxed) {
                    std::process::abort()
                }
                Verdict::pass(EvidenceLevel::Layout)
            }),
        ];
        cases.extend((0..20).map(|index| case(&format!("many/{index:02}"), || Verdict::pass(EvidenceLevel::Layout))));
        // One subject with four candidate tensors; the last tensor fails, and only a thorough run includes it.
        let tensors = context.select_variants(0, 1, vec![true, true, true, false], |_| true);
        cases.extend((0..).zip(tensors).map(|(index, right): (u32, bool)| {
            case(&format!("tensors/{index}"), move || {
                if right {
                    Verdict::pass(EvidenceLevel::Layout)
                } else {
                    Verdict::fail(EvidenceLevel::Layout, "it is wrong")
                }
            })
        }));
        cases
    }
}

/// Environment variable that names a file; if the file does not exist, the case `deeds/flaky` creates it and fails.
pub const FLAKY_VARIABLE: &str = "CONFORMANCE_TEST_FLAKY";

static SPOILT: AtomicBool = AtomicBool::new(false);

fn case(name: &str, deed: impl Fn() -> Verdict + Send + Sync + 'static) -> Case {
    Case::new(format!("deeds/{name}"), move |_| deed())
}

#[expect(unconditional_recursion, reason = "to end the stack is the point")]
fn deep(depth: u64) -> u64 {
    let room = [depth; 512];
    deep(std::hint::black_box(&room)[5] + 1) + room[7]
}

fn describe(name: &str) -> TargetDescription {
    let text = include_str!("../invented.toml").replace("NAME", name);
    TargetDescription::from_toml("invented.toml", &text).expect("the invented file is right")
}
