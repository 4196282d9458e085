//! Compiled artifacts for AMD targets: instructions and widths in the assembly, metadata, and the linked code object.
#![allow(clippy::unwrap_used)]

use crate::targets::target as target_of;
use object::{Object, ObjectSymbol};
use tilewright_amd::AmdTarget;
use tilewright_amd_tables::ARCHITECTURES;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{build_fake_target, count, extract_lines_between, module};
use tilewright_vendor_testkit::prelude::*;

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(64, 4);

/// Returns the numbers of lanes per warp that kernels of an architecture can have.
fn lanes(architecture: &str) -> &'static [u32] {
    match architecture {
        "gfx1250" => &[32],
        name if name.starts_with("gfx9") => &[64],
        _ => &[32, 64],
    }
}

fn amd(architecture: &str) -> AmdTarget {
    AmdTarget::new(build_fake_target(architecture, lanes(architecture))).unwrap()
}

fn compiled(architecture: &str, kernels: Vec<Kernel>, emit: &[CodeFormat]) -> Artifact {
    let options = CompileOptions { emit: emit.to_vec(), optimisation: 2, ..CompileOptions::default() };
    amd(architecture).compile(&module(kernels), &options).unwrap()
}

fn assembly(architecture: &str, kernel: Kernel) -> String {
    compiled(architecture, vec![kernel], &[CodeFormat::Assembly]).payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

fn body<'a>(assembly: &'a str, name: &str) -> Vec<&'a str> {
    extract_lines_between(assembly, &format!("\n{name}:"), ".section")
}

#[test]
fn kernels_have_launch_metadata() {
    let kernel = kernels::through_shared(LAUNCH, CollectiveScope::Block);
    let artifact =
        compiled("gfx942", vec![kernel], &[CodeFormat::Intermediate, CodeFormat::Assembly, CodeFormat::Object]);
    let text = artifact.payload_text(CodeFormat::Assembly).unwrap();
    for line in [
        ".amdhsa_kernel through_shared",
        ".amdhsa_group_segment_fixed_size 8192",
        ".group_segment_fixed_size: 8192",
        ".max_flat_workgroup_size: 256",
        ".wavefront_size: 64",
        ".protected\tthrough_shared",
    ] {
        assert!(text.contains(line), "no `{line}` in:\n{text}");
    }
    assert!(
        artifact
            .payload_text(CodeFormat::Intermediate)
            .unwrap()
            .contains("amdgpu_kernel void @through_shared(ptr addrspace(1)")
    );
    let formats: Vec<_> = artifact.payloads.iter().map(|payload| payload.format.as_str()).collect();
    assert_eq!(formats, ["ll", "s", "hsaco"]);
    let kernel = &artifact.kernels[0];
    assert_eq!((kernel.lanes, kernel.warps, kernel.shared_bytes), (64, 4, 8192));
}

#[test]
fn wide_accesses_stay_wide_and_offsets_are_immediates() {
    for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950"] {
        let text = assembly(architecture, kernels::through_shared(LAUNCH, CollectiveScope::Block));
        let lines = body(&text, "through_shared");
        assert_eq!((count(&lines, "ds_write_b128"), count(&lines, "ds_write")), (2, 2), "{text}");
        assert_eq!((count(&lines, "ds_read_b128"), count(&lines, "ds_read")), (2, 2), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("ds_") && line.ends_with("offset:4096")).count(), 2);
        assert_eq!((count(&lines, "global_load_dwordx4"), count(&lines, "global_store_dwordx4")), (2, 2), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("global_") && line.ends_with("offset:16")).count(), 2);
    }
}

#[test]
fn wide_accesses_of_rdna_stay_wide() {
    for (architecture, lanes) in [("gfx1100", 32), ("gfx1100", 64), ("gfx1201", 32), ("gfx1201", 64)] {
        let text =
            assembly(architecture, kernels::through_shared(StaticLaunchConfig::new(lanes, 4), CollectiveScope::Block));
        let lines = body(&text, "through_shared");
        assert_eq!((count(&lines, "ds_store_b128"), count(&lines, "ds_store")), (2, 2), "{text}");
        assert_eq!((count(&lines, "ds_load_b128"), count(&lines, "ds_load")), (2, 2), "{text}");
        assert_eq!((count(&lines, "global_load_b128"), count(&lines, "global_store_b128")), (2, 2), "{text}");
    }
}

#[test]
fn a_block_barrier_waits_for_shared_memory_and_flushes_no_cache() {
    for (architecture, barrier) in [
        ("gfx908", "s_barrier"),
        ("gfx90a", "s_barrier"),
        ("gfx942", "s_barrier"),
        ("gfx950", "s_barrier"),
        ("gfx1100", "s_barrier"),
        ("gfx1200", "s_barrier_wait"),
        ("gfx1201", "s_barrier_wait"),
    ] {
        let launch = StaticLaunchConfig::new(lanes(architecture)[0], 4);
        let text = assembly(architecture, kernels::through_shared(launch, CollectiveScope::Block));
        let lines = body(&text, "through_shared");
        assert_eq!(count(&lines, barrier), 1, "{text}");
        let arrival = lines.iter().position(|line| line.starts_with("s_barrier")).unwrap();
        let stored =
            lines.iter().rposition(|line| line.starts_with("ds_write") || line.starts_with("ds_store")).unwrap();
        assert!(lines[stored..arrival].iter().any(|line| line.starts_with("s_wait")), "{text}");
        for cache in ["buffer_wbl2", "buffer_inv", "buffer_gl0_inv", "buffer_wbinvl1", "global_inv", "global_wb"] {
            assert_eq!(count(&lines, cache), 0, "{architecture} {cache}: {text}");
        }
    }
}

/// A load of one address by all lanes goes to scalar registers, also after a barrier.
#[test]
fn loads_of_constant_memory_after_a_barrier_are_scalar() {
    let text = "kernel copied(%0 x: ptr.global, %1 y: ptr.global) lanes 64 warps 4 {
  barrier block all
  %2: i32 = load %0 align 4
  %3: i32 = special lane
  %4: i64 = cast extend_s %3
  %5: i64 = constant 4
  %6: i64 = binary mul %4, %5
  %7: ptr.global = ptr_add %1, %6
  store %7, %2 align 4
}
";
    for architecture in ["gfx90a", "gfx942", "gfx1201"] {
        let text = text.replace("lanes 64", &format!("lanes {}", lanes(architecture)[0]));
        let kernels = tilewright_kernel::text::parse_module(&text).unwrap().kernels;
        let compiled = compiled(architecture, kernels, &[CodeFormat::Assembly]);
        let text = compiled.payload_text(CodeFormat::Assembly).unwrap();
        assert_eq!(count(&body(text, "copied"), "global_load"), 0, "{text}");
    }
}

#[test]
fn a_warp_barrier_is_no_block_barrier_and_keeps_stores_before_loads() {
    for architecture in ["gfx908", "gfx942", "gfx950", "gfx1100", "gfx1201"] {
        let launch = StaticLaunchConfig::new(lanes(architecture)[0], 4);
        let text = assembly(architecture, kernels::through_shared(launch, CollectiveScope::Warp));
        let lines = body(&text, "through_shared");
        assert_eq!(count(&lines, "s_barrier"), 0, "{text}");
        let is = |line: &str, cdna, rdna| line.starts_with(cdna) || line.starts_with(rdna);
        let stored = lines.iter().rposition(|line| is(line, "ds_write", "ds_store")).unwrap();
        let loaded = lines.iter().position(|line| is(line, "ds_read", "ds_load")).unwrap();
        assert!(stored < loaded, "{text}");
    }
}

#[test]
fn shuffles_are_indexed_permutes_by_four_times_the_lane() {
    let text = assembly("gfx942", kernels::shuffle(LAUNCH, 1));
    let lines = body(&text, "exchange");
    assert_eq!(count(&lines, "ds_bpermute_b32"), 2, "{text}");
    // The neighbour's lane index differs in bit 0, its address in bit 2.
    assert!(lines.iter().any(|line| line.starts_with("v_xor_b32") && line.contains(" 4,")), "{text}");
}

#[test]
fn shuffles_of_wave64_cross_half_waves_on_processors_of_32_lanes() {
    // A read within the half is one permute; a read across halves swaps them first.
    for architecture in ["gfx1100", "gfx1201"] {
        for (lanes, mask, swaps) in [(64, 1, 0), (64, 33, 2), (32, 1, 0)] {
            let text = assembly(architecture, kernels::shuffle(StaticLaunchConfig::new(lanes, 1), mask));
            let lines = body(&text, "exchange");
            assert_eq!(count(&lines, "ds_bpermute_b32"), 2, "{text}");
            assert_eq!(count(&lines, "v_permlane64_b32"), swaps, "{text}");
        }
    }
}

/// Xor masks of shuffles, each with the text that the shuffle's assembly must contain.
type Shown = &'static [(u32, &'static str)];

/// Targets, the lanes of a warp, and the expected assembly of xor shuffles.
const ACROSS: &[(&str, u32, Shown)] = &[
    (
        "mi300x",
        64,
        &[
            (1, "quad_perm:[1,0,3,2]"),
            (2, "quad_perm:[2,3,0,1]"),
            (3, "quad_perm:[3,2,1,0]"),
            (7, "row_half_mirror"),
            (8, "row_ror:8"),
            (15, "row_mirror"),
            (4, "ds_bpermute_b32"),
            (16, "ds_bpermute_b32"),
        ],
    ),
    (
        "mi355x",
        64,
        &[(8, "row_ror:8"), (16, "v_permlane16_swap_b32"), (32, "v_permlane32_swap_b32"), (48, "ds_bpermute_b32")],
    ),
    (
        "rx7900xtx",
        64,
        &[
            (3, "quad_perm:[3,2,1,0]"),
            (4, "row_xmask:4"),
            (15, "row_xmask:15"),
            (16, "v_permlanex16_b32"),
            (32, "v_permlane64_b32"),
            (17, "ds_bpermute_b32"),
        ],
    ),
    (
        "rx9070xt",
        32,
        &[(2, "quad_perm:[2,3,0,1]"), (12, "row_xmask:12"), (16, "v_permlanex16_b32"), (24, "ds_bpermute_b32")],
    ),
];

#[test]
fn shuffles_by_a_constant_are_dpp_moves_where_rows_allow() {
    for &(name, lanes, shown) in ACROSS {
        let target = target_of(name);
        for &(mask, shows) in shown {
            let options =
                CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
            let launch = StaticLaunchConfig::new(lanes, 1);
            let code = target.compile(&module(vec![kernels::shuffle_xor(launch, mask)]), &options).unwrap();
            let text = code.payload_text(CodeFormat::Assembly).unwrap();
            let lines = body(text, "exchange_xor");
            assert_eq!(lines.iter().filter(|line| line.contains(shows)).count(), 2, "{mask}: {text}");
            let indexed = count(&lines, "ds_bpermute_b32");
            assert_eq!(indexed, if shows.starts_with("ds_") { 2 } else { 0 }, "{mask}: {text}");
        }
    }
}

#[test]
fn kernels_of_one_module_choose_their_lanes() {
    for (architecture, choice) in [("gfx1100", 32), ("gfx1100", 64), ("gfx1201", 32), ("gfx1201", 64)] {
        let text = assembly(architecture, kernels::copy(StaticLaunchConfig::new(choice, 2)));
        assert!(text.contains(&format!(".wavefront_size: {choice}")), "{text}");
        assert!(text.contains(&format!(".amdhsa_wavefront_size32 {}", u32::from(choice == 32))), "{text}");
        assert!(text.contains(&format!(".max_flat_workgroup_size: {}", 2 * choice)), "{text}");
    }
}

#[test]
fn a_byte_permute_is_one_instruction() {
    let text = assembly("gfx942", kernels::permute(LAUNCH));
    let lines = body(&text, "permute");
    assert_eq!(count(&lines, "v_perm_b32"), 1, "{text}");
    // The kernel's selector 0x7421 with one byte for each nibble.
    assert!(lines.iter().any(|line| line.contains("0x7040201")), "{text}");
    // One load reads both words: the first word is in the lower register, which supplies bytes 0 to 3 and so is the
    // second operand.
    let perm = lines.iter().find(|line| line.starts_with("v_perm_b32")).unwrap();
    let operands: Vec<&str> =
        perm.split([' ', '\t', ',']).filter(|field| field.starts_with('v') && field.len() < 5).collect();
    let load = lines.iter().find(|line| line.starts_with("global_load_dwordx2")).unwrap();
    let range = load.split(['[', ']']).nth(1).unwrap();
    let (low, high) = range.split_once(':').unwrap();
    assert_eq!(&operands[1..3], [format!("v{high}"), format!("v{low}")], "{text}");
}

#[test]
fn linking_is_deterministic_on_every_architecture() {
    for architecture in ARCHITECTURES {
        for &lanes in lanes(architecture) {
            let options = CompileOptions {
                emit: vec![CodeFormat::Assembly, CodeFormat::Object],
                optimisation: 2,
                ..CompileOptions::default()
            };
            let everything = kernels::all(StaticLaunchConfig::new(lanes, 4));
            let once = amd(architecture).compile(&everything, &options);
            let once = once.unwrap_or_else(|error| panic!("{architecture}: {error}"));
            assert!(once == amd(architecture).compile(&everything, &options).unwrap(), "{architecture}");
            assert!(
                once.payload_text(CodeFormat::Assembly).unwrap().contains(&format!("amdhsa--{architecture}\"")),
                "{architecture}"
            );
            links(&once, &everything.kernels);
        }
    }
}

/// Checks that the code object is a shared object for these GPUs with every kernel and its descriptor.
fn links(artifact: &Artifact, kernels: &[Kernel]) {
    let bytes = &artifact.payload(CodeFormat::Object).unwrap().bytes;
    let file = object::File::parse(bytes.as_slice()).unwrap();
    assert_eq!(file.kind(), object::ObjectKind::Dynamic);
    assert_eq!(u16::from_le_bytes([bytes[18], bytes[19]]), 224, "EM_AMDGPU");
    let symbols: Vec<&str> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
    for kernel in kernels {
        for name in [kernel.name.clone(), format!("{}.kd", kernel.name)] {
            assert!(symbols.contains(&name.as_str()), "{name} is not among {symbols:?}");
        }
    }
}

#[test]
fn every_optimisation_level_compiles() {
    for architecture in ["gfx90a", "gfx942", "gfx1100", "gfx1250"] {
        let everything = kernels::all(StaticLaunchConfig::new(lanes(architecture)[0], 4));
        for optimisation in 0..=3 {
            let options = CompileOptions { emit: vec![CodeFormat::Object], optimisation, ..CompileOptions::default() };
            let artifact = amd(architecture).compile(&everything, &options);
            assert!(artifact.is_ok(), "{architecture} at {optimisation}: {artifact:?}");
        }
    }
}

#[test]
fn launches_beyond_the_target_are_refused() {
    let options = CompileOptions::default();
    for launch in [StaticLaunchConfig::new(32, 1), StaticLaunchConfig::new(64, 17)] {
        let error = amd("gfx942").compile(&module(vec![kernels::copy(launch)]), &options).unwrap_err();
        assert!(matches!(error, CompileError::Invalid(_)), "{error}");
    }
    let large = kernels::through_shared(StaticLaunchConfig::new(64, 16), CollectiveScope::Block);
    assert!(amd("gfx942").compile(&module(vec![large.clone()]), &options).is_ok());
    let mut larger = large;
    larger.shared.push(tilewright_kernel::SharedBuffer::new(65536, 16));
    let error = amd("gfx942").compile(&module(vec![larger]), &options).unwrap_err();
    assert!(error.to_string().contains("65536"), "{error}");
}

#[test]
fn a_block_of_cdna_4_has_160_kib() {
    let target = target_of("mi355x");
    let with = |bytes| {
        let mut kernel = kernels::through_shared(LAUNCH, CollectiveScope::Block);
        kernel.shared[0].bytes = bytes;
        target.compile(
            &module(vec![kernel]),
            &CompileOptions {
                emit: vec![CodeFormat::Assembly, CodeFormat::Object],
                optimisation: 2,
                ..CompileOptions::default()
            },
        )
    };
    let artifact = with(163_840).unwrap();
    assert!(artifact.payload_text(CodeFormat::Assembly).unwrap().contains(".amdhsa_group_segment_fixed_size 163840"));
    let error = with(163_856).unwrap_err();
    assert!(matches!(&error, CompileError::Invalid(message) if message.contains("163840")), "{error}");
}

#[test]
fn only_architectures_of_the_list_are_served() {
    let error = AmdTarget::new(build_fake_target("sm_90a", &[32])).unwrap_err();
    assert!(error.to_string().contains("sm_90a") && error.to_string().contains("gfx942"), "{error}");
}

#[test]
fn errors_that_llvm_reports_become_errors_of_the_code_generator() {
    // A description with more shared memory than the processor has.
    let mut description = build_fake_target("gfx942", &[64]);
    description.shared.bytes = 1 << 20;
    let target = AmdTarget::new(description).unwrap();
    let mut kernel = kernels::through_shared(LAUNCH, CollectiveScope::Block);
    kernel.shared[0].bytes = 1 << 17;
    let error = target.compile(&module(vec![kernel]), &CompileOptions::default()).unwrap_err();
    assert!(matches!(&error, CompileError::Backend(message) if message.contains("131072")), "{error}");
}

#[test]
fn a_description_cannot_give_a_processor_warps_that_it_has_not() {
    for (architecture, lanes) in [("gfx942", 32), ("gfx1250", 64), ("gfx1100", 16)] {
        let target = AmdTarget::new(build_fake_target(architecture, &[lanes])).unwrap();
        let error =
            target.compile(&module(vec![kernels::copy(StaticLaunchConfig::new(lanes, 1))]), &CompileOptions::default());
        let error = error.unwrap_err();
        assert!(matches!(&error, CompileError::Unsupported(message) if message.contains(architecture)), "{error}");
    }
}

/// Checks that each read of a clock is one instruction, on every architecture an own read.
#[test]
fn clocks_are_read_where_they_are() {
    for &architecture in ARCHITECTURES {
        let launch = StaticLaunchConfig::new(lanes(architecture)[0], 1);
        let text = assembly(architecture, kernels::read_clocks(launch));
        let lines = body(&text, "clocks");
        if architecture.starts_with("gfx9") {
            assert_eq!((count(&lines, "s_memtime"), count(&lines, "s_memrealtime")), (2, 1), "{text}");
        }
    }
}
