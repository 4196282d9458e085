//! The host in Rust generates code for GPUs of three vendors, and reports errors of a program.

use std::path::Path;
use std::process::{Command, Output};

use tilewright::Session;
use tilewright::plugin::{Artifact, CodeFormat, CodePayload, KernelMetadata, LaunchArgument, LaunchRequest};

fn host(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright-host"));
    command.args(arguments).output().expect("the host starts")
}

#[test]
fn it_prints_code_for_three_targets() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../saxpy.tile");
    let output = host(&[program.to_str().expect("UTF-8"), "h100", "mi250", "max1550"]);
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The expected rows are computed by hand, as for the host in C: an eighth of a warp's lanes are rows.
    for row in [9, 17, 5] {
        assert_eq!(printed.matches(&format!("holds element ({row}, 5)")).count(), 1, "{printed}");
    }
    for expected in [".visible .entry tile(", "global_load_dwordx4", "OpEntryPoint Kernel"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
}

#[test]
fn errors_name_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.tile");
    for (text, expected) in
        [("tile 64\nz = x +\n", "line 2"), ("z = x\n", "line 1"), ("tile 64\nz = (x\n", "expected `)`")]
    {
        std::fs::write(&file, text).expect("the program");
        let output = host(&[file.to_str().expect("UTF-8"), "h100"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && message.contains(expected), "{text}: {message}");
    }
}

/// Returns the code of the host's module with the program linked into it.
fn own_module(target: &str) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../saxpy.tile");
    let output = host(&["--own-module", program.to_str().expect("UTF-8"), target]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_program_is_compiled_into_the_hosts_kernel() {
    for (target, entry, access) in
        [("h100", ".visible .entry host(", "ld.global.v4"), ("mi250", "\nhost:", "global_load_dwordx4")]
    {
        let code = own_module(target);
        assert!(code.contains(entry) && code.contains(access), "{target}: {code}");
        assert!(!code.contains(" tile(") && !code.contains("\ntile:"), "{target}: nothing is left to call: {code}");
    }
}

#[test]
fn a_target_without_llvm_reports_no_functions() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../saxpy.tile");
    let output = host(&["--own-module", program.to_str().expect("UTF-8"), "max1550"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("max1550 has no functions"), "{message}");
}

/// Runs the host's kernel on the virtual A100, and checks the program's results against their definition and the values
/// that the host's code wrote.
#[test]
fn the_hosts_kernel_matches_the_program() {
    const COUNT: u32 = 3008;
    let code = own_module("a100");
    let ptx = &code[code.find("//").expect("PTX")..];
    let session = Session::builder(tilewright_targets::read_default_catalogue().expect("the targets"))
        .open()
        .expect("the plugins");
    let target = session.target("a100").expect("a target");
    let mut devices = target.devices().expect("devices");
    let device = devices.iter_mut().find(|device| device.name().contains("virtual")).expect("the virtual device");

    let payload = CodePayload {
        form: CodeFormat::Assembly,
        format: "ptx".to_owned(),
        bytes: ptx.as_bytes().to_vec(),
        may_differ: false,
    };
    let kernel = KernelMetadata {
        name: "host".to_owned(),
        lanes: 32,
        warps: 4,
        blocks: 1,
        shared_bytes: 0,
        registers: 0,
        maps: Vec::new(),
        parameters: None,
    };
    let artifact = Artifact { payloads: vec![payload], kernels: vec![kernel], accepted_by: None };
    let loaded = device.load(&artifact).expect("the code");
    let (x, y): (Vec<f32>, Vec<f32>) = (0..COUNT).map(|i| (i as f32 * 0.25, 7.0 - i as f32)).unzip();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut buffers = Vec::new();
    for contents in [bytes(&x), bytes(&y), vec![0; 4 * COUNT as usize], vec![0; 4 * COUNT as usize], vec![0; 16]] {
        let buffer = device.allocate(contents.len() as u64).expect("memory");
        device.write(buffer, 0, &contents).expect("written");
        buffers.push(buffer);
    }
    let mut arguments: Vec<LaunchArgument> = buffers.iter().map(|&buffer| LaunchArgument::Buffer(buffer)).collect();
    arguments.insert(4, LaunchArgument::Scalar { bits: u64::from(COUNT), width: 32 });
    let launch = LaunchRequest { code: loaded, kernel: "host".to_owned(), grid: [3, 1, 1], arguments };
    device.launch(&launch).expect("the launch");

    let mut words = |buffer: usize, count: u32| -> Vec<u32> {
        let read = device.read(buffers[buffer], 0, 4 * u64::from(count)).expect("read");
        read.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    for (i, (z, w)) in words(2, COUNT).into_iter().zip(words(3, COUNT)).enumerate() {
        let expected = 2.5f32 * x[i] + y[i];
        assert_eq!(f32::from_bits(z), expected, "z[{i}]");
        assert_eq!(f32::from_bits(w), (x[i] - expected) * (x[i] + expected), "w[{i}]");
    }
    assert_eq!(words(4, 4), [1, 1, 1, 0], "a mark of each block of three");
}

/// `docs/embedding.md` shows the program that is built and run here.
#[test]
fn the_smallest_host_is_that_of_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../../../docs/embedding.md")).expect("the page");
    let source = std::fs::read_to_string(root.join("examples/smallest.rs")).expect("the example");
    let (_, code) = source.split_once("\n\n").expect("what it is for, then code");
    assert!(page.contains(&format!("```rust\n{code}```")), "docs/embedding.md shows another program");
    let program = Path::new(env!("CARGO_BIN_EXE_tilewright-host")).with_file_name("examples/smallest");
    let output = Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains(" wavefronts stored") && printed.contains(".visible .entry convert("), "{printed}");
}
