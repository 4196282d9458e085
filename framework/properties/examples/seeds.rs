//! Example program: writes seed inputs of the fuzz targets into folders of `corpus`, from the repository's data and the
//! committed corpus.
//!
//! Run it by `cargo run --release -p tilewright-properties --example seeds`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Families, Layout, LinearLayout, SampleLayoutRequest};
use tilewright_lower as lower;
use tilewright_plan::movement;
use tilewright_plugin::CompileOptions;
use tilewright_plugin::wire;
use tilewright_properties::{PROPERTIES, corpus};
use tilewright_target::TargetDescription;

/// The text of a kernel with operations that occur in no kernel of a layout conversion: tensor memory, queues and
/// mbarriers.
const TENSOR_MEMORY: &str = "kernel tile() lanes 32 warps 4 {
  shared 0: 8 bytes align 8
  %0: ptr.shared = shared_address 0
  %1: i32 = constant 0
  tensor_allocate %0, 32
  %2: pending.2xi32 = instruction \"load\" %1
  commit tensor_loads
  %3: 2xi32 = wait tensor_loads 0 %2
  mbarrier_commit products %0
  mbarrier_wait %0, %1
  tensor_free %1, 32
}";

type Done = Result<(), Box<dyn Error>>;

/// The corpus folder of a fuzz target, and the number of files written to it so far, which numbers the next file.
struct Corpus {
    folder: PathBuf,
    files: usize,
}

impl Corpus {
    fn of(target: &str) -> Result<Self, Box<dyn Error>> {
        let folder = corpus::corpus_folder(target);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, files: 0 })
    }

    fn add(&mut self, content: impl AsRef<[u8]>) -> Done {
        fs::write(self.folder.join(format!("seed-{:04}", self.files)), content)?;
        self.files += 1;
        Ok(())
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Parses every line of all files `tests/data/NAME` of the framework and of the plugins as JSON; returns the values.
fn rows(name: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut folders = vec![repository().join("framework")];
    for plugin in fs::read_dir(repository().join("plugins"))? {
        folders.push(plugin?.path());
    }
    let texts = folders.iter().filter_map(|folder| fs::read_to_string(folder.join("tests/data").join(name)).ok());
    texts.flat_map(|text| text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect::<Vec<_>>()).collect()
}

fn targets() -> Result<Vec<(String, TargetDescription)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for file in fs::read_dir(repository().join("targets"))? {
        let text = fs::read_to_string(file?.path()).unwrap_or_default();
        if let Ok(target) = TargetDescription::from_toml("seed.toml", &text) {
            found.push((text, target));
        }
    }
    Ok(found)
}

/// Returns modules with one kernel each: layout conversions for `target` between sample layouts of a 32 x 32 tensor of
/// 16-bit elements.
fn modules(target: &TargetDescription) -> Vec<Module> {
    let lanes = target.lanes.default;
    let samples = NeutralFamilies.samples(SampleLayoutRequest { lanes, warps: 2, element_bits: 16 });
    let layouts =
        samples.iter().filter_map(|sample| match NeutralFamilies.resolve(&sample.spec, &[32, 32], &NeutralFamilies) {
            Ok(Layout::Distributed(layout)) => Some(layout),
            _ => None,
        });
    let layouts: Vec<LinearLayout> = layouts.collect();
    let pairs = layouts.iter().zip(layouts.iter().skip(1));
    let kernels = pairs.filter_map(|(src, dst)| {
        let plan = movement::plan_conversion(src, dst, 16, target).ok()?;
        lower::build_conversion_kernel("convert", [src, dst], 16, &plan, target.into()).ok()
    });
    kernels.map(|kernel| Module { kernels: vec![kernel] }).collect()
}

fn layouts() -> Done {
    let (mut text, mut values) = (Corpus::of("layout_text")?, Corpus::of("layout_json")?);
    for row in rows("attribute_text.jsonl")? {
        text.add(row["text"].as_str().unwrap_or_default())?;
    }
    text.add("#rows = #ttg.blocked<{order = [1, 0]}>\n#ttg.slice<{dim = 1, parent = #rows}>")?;
    for row in rows("layouts.jsonl")? {
        values.add(row["params"].to_string())?;
        values.add(row["expected"].to_string())?;
    }
    Ok(())
}

fn cute() -> Done {
    let file = repository().join("framework/layout/tests/data/cute_algebra_cases.json");
    let mut corpus = Corpus::of("cute_text")?;
    let text = fs::read_to_string(file)?;
    for layout in text.split('"').filter(|quoted| quoted.contains(':') && quoted.starts_with(['(', '1', '2', '4', '8']))
    {
        corpus.add(layout)?;
    }
    corpus.add("Swizzle<3,4,3> o 0 o (8,64):(64,1)")?;
    corpus.add("Swizzle<2,0,-2> o 4 o ((4,8),(2,2)):((32,1),(16,8))")
}

/// Returns kernel modules whose kernels have tensor-map parameters.
fn mapped() -> Result<Vec<Module>, Box<dyn Error>> {
    let texts = [
        "kernel k(%0 t: map 16 bits box 64 x 8 mix 3 0x70 outside zeros) lanes 32 warps 1 {\n}",
        "kernel k(%0 t: map 32 bits box 4 x 1 x 2 outside not_a_number, %1 at: i32) lanes 32 warps 1 {
           shared 0: 1024 bytes align 128
           %2: ptr.shared = shared_address 0
           mbarrier_init %2, 1
           mbarrier_arrive %2, 32
           instruction \"fetch\" %2, %0, %1, %1, %1, %2
           mbarrier_wait %2, %1
         }",
    ];
    texts.into_iter().map(|text| Ok(kernel::text::parse_module(text)?)).collect()
}

fn kernels_and_targets() -> Done {
    let (mut text, mut bytes) = (Corpus::of("kernel_text")?, Corpus::of("kernel_bytes")?);
    let (mut files, mut messages) = (Corpus::of("target_toml")?, Corpus::of("plugin_messages")?);
    for (toml, target) in targets()? {
        files.add(toml)?;
        messages.add(wire::serialize_message(&target)?)?;
        for module in modules(&target) {
            text.add(module.to_string())?;
            bytes.add(kernel::encode_module(&module))?;
        }
    }
    for module in mapped()? {
        text.add(module.to_string())?;
        bytes.add(kernel::encode_module(&module))?;
    }
    let module = kernel::text::parse_module(TENSOR_MEMORY)?;
    text.add(module.to_string())?;
    bytes.add(kernel::encode_module(&module))?;
    messages.add(wire::serialize_message(&CompileOptions::default())?)?;
    for row in rows("layouts.jsonl")?.into_iter().step_by(8) {
        messages.add(wire::serialize_message(&json!({ "spec": row["params"], "shape": row["shape"] }))?)?;
        messages.add(wire::serialize_message(&json!({ "layout": { "distributed": row["expected"] } }))?)?;
    }
    let info =
        json!({ "families": ["blocked"], "instructions": [], "spellings": NeutralFamilies.attribute_syntaxes() });
    messages.add(wire::serialize_message(&info)?)
}

fn tile_programs() -> Done {
    let mut corpus = Corpus::of("tile_text")?;
    for program in fs::read_dir(repository().join("framework/tile/tests/programs"))? {
        let text = fs::read_to_string(program?.path())?;
        corpus.add(&text)?;
        // Adds each function as an input of its own too, because libFuzzer tries short inputs more often.
        for function in text.split("\n  }\n").filter(|function| function.contains("tt.func")) {
            let start = function.find("tt.func").unwrap_or(0);
            corpus.add(format!("{}\n}}", &function[start..]))?;
        }
    }
    Ok(())
}

fn manifests() -> Done {
    let manifest = "name = \"acme\"\nversion = \"0.1.0\"\nlibrary = \"lib.so\"\nabi_major = 1\nabi_minor = 0\n\
                    architectures = [\"acme1\", \"acme2\"]\n";
    Corpus::of("plugin_manifest")?.add(manifest)
}

/// Writes each input of the committed corpora as a file of its fuzz target's corpus folder.
fn kept() -> Done {
    for property in PROPERTIES {
        let mut folder = Corpus { files: 1_000_000, ..Corpus::of(property.name)? };
        for input in corpus::read_corpus(property.name).unwrap_or_default() {
            folder.add(input)?;
        }
    }
    Ok(())
}

fn main() -> Done {
    kept()?;
    layouts()?;
    cute()?;
    kernels_and_targets()?;
    tile_programs()?;
    manifests()
}
