//! Code for NVIDIA targets: instructions and widths in the PTX, metadata, and the format of objects.

use crate::prelude::*;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{
    GLOBAL_POINTER, build_fake_target, count, extract_lines_between, module, own_address,
};

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(32, 4);

fn nvidia(architecture: &str) -> NvidiaTarget {
    NvidiaTarget::new(build_fake_target(architecture, &[32])).unwrap()
}

fn compiled(architecture: &str, kernels: Vec<Kernel>, emit: &[CodeFormat]) -> Artifact {
    let options = CompileOptions { emit: emit.to_vec(), optimisation: 2, ..CompileOptions::default() };
    nvidia(architecture).compile(&module(kernels), &options).unwrap()
}

/// Returns the PTX of one kernel for sm_90a.
fn ptx(kernel: Kernel) -> String {
    compiled("sm_90a", vec![kernel], &[CodeFormat::Assembly]).payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

fn body(ptx: &str) -> Vec<&str> {
    extract_lines_between(ptx, ".entry", "\n}")
}

#[test]
fn kernels_have_launch_metadata() {
    let artifact = compiled("sm_90a", vec![kernels::copy(LAUNCH)], &[CodeFormat::Assembly, CodeFormat::Intermediate]);
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert!(ptx.contains(".target sm_90a"), "{ptx}");
    assert!(ptx.contains(".visible .entry copy("), "{ptx}");
    assert!(ptx.contains(".reqntid 128, 1, 1"), "{ptx}");
    assert!(
        artifact.payload_text(CodeFormat::Intermediate).unwrap().contains("ptx_kernel void @copy(ptr addrspace(1)")
    );
    let payloads: Vec<_> = artifact.payloads.iter().map(|payload| (payload.form, payload.format.as_str())).collect();
    assert_eq!(payloads, [(CodeFormat::Intermediate, "ll"), (CodeFormat::Assembly, "ptx")]);
    let kernel = &artifact.kernels[0];
    assert_eq!((kernel.name.as_str(), kernel.lanes, kernel.warps, kernel.shared_bytes), ("copy", 32, 4, 0));
}

#[test]
fn wide_global_accesses_stay_wide() {
    let ptx = ptx(kernels::copy(LAUNCH));
    let lines = body(&ptx);
    assert_eq!(count(&lines, "ld.global.v4.b32"), 2, "{ptx}");
    assert_eq!(count(&lines, "st.global.v4.b32"), 2, "{ptx}");
    assert_eq!(count(&lines, "ld.global"), 2, "{ptx}");
}

#[test]
fn wide_shared_accesses_stay_wide_and_offsets_are_immediates() {
    let ptx = ptx(kernels::through_shared(LAUNCH, CollectiveScope::Block));
    let lines = body(&ptx);
    assert!(ptx.contains(".shared .align 16 .b8 through_shared_shared[4096]"), "{ptx}");
    assert_eq!((count(&lines, "st.shared.v4.b32"), count(&lines, "st.shared")), (2, 2), "{ptx}");
    assert_eq!((count(&lines, "ld.shared.v4.b32"), count(&lines, "ld.shared")), (2, 2), "{ptx}");
    assert_eq!(lines.iter().filter(|line| line.contains(".shared.v4") && line.contains("+2048]")).count(), 2, "{ptx}");
    assert_eq!(count(&lines, "bar.sync"), 1, "{ptx}");
}

#[test]
fn narrower_vectors_take_the_instruction_of_their_width() {
    for (ty, suffix) in [
        (Type::Vector(Element::F32, 4), "v4.b32"),
        (Type::Vector(Element::F32, 2), "v2.b32"),
        (Type::Vector(Element::F16, 8), "v4.b32"),
        (Type::Vector(Element::I8, 16), "v4.b32"),
        (Type::Vector(Element::F64, 2), "v2.b64"),
        (Type::Scalar(Element::Bf16), "b16"),
    ] {
        let mut k = Builder::new("move_shared", LAUNCH, &[("at", GLOBAL_POINTER)]);
        let shared = k.shared_buffer(128 * 16, 16);
        let address_of_thread = own_address(&mut k, shared, 16);
        let at = k.parameter(0);
        let at = own_address(&mut k, at, 16);
        let value = k.load(ty, at, 0, None);
        k.store(address_of_thread, 0, value, None);
        k.barrier(CollectiveScope::Warp);
        let value = k.load(ty, address_of_thread, 0, None);
        k.store(at, 0, value, None);
        let ptx = ptx(k.finish());
        let lines = body(&ptx);
        for access in ["st.shared", "ld.shared"] {
            let (wide, all) = (count(&lines, &format!("{access}.{suffix}")), count(&lines, access));
            assert_eq!((wide, all), (1, 1), "{ty} {access}: {ptx}");
        }
        assert_eq!(count(&lines, "bar.warp.sync"), 1, "{ptx}");
        assert_eq!(count(&lines, "bar.sync"), 0, "{ptx}");
    }
}

/// Returns a kernel whose loop loads from `%0` at these byte offsets and carries `words` 32-bit words.
fn loop_kernel(offsets: &[u32], words: u32) -> Kernel {
    let load = |(index, offset): (usize, &u32)| format!("    %{}: 4xi32 = load %0 + {offset} align 16\n", 20 + index);
    let stores = (0..offsets.len()).map(|index| format!("    store %1, %{} align 16\n", 20 + index));
    let body: String = offsets.iter().enumerate().map(load).chain(stores).collect();
    let text = format!(
        "kernel k(%0 p: ptr.global, %1 q: ptr.global, %2 n: i32) lanes 32 warps 4 {{
  %3: i32 = constant 0
  %4: i32 = constant 1
  %5: {words}xi32 = constant 0
  %6: {words}xi32 = for %3 to %2 step %4 carry %5 (%7: i32, %8: {words}xi32) {{
{body}    yield %8
  }}
}}"
    );
    tilewright_kernel::text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernels.remove(0)
}

/// Checks that a loop with several loads, unless it carries many words or has more than 192 live at once, states the
/// number of resident blocks that leaves each lane 128 of the 65,536 registers, or as many as words are live: `ptxas`
/// may then keep the loads in flight. A loop that has more live words than a lane has registers states one resident
/// block.
#[test]
fn loops_with_several_loads_state_their_resident_blocks() {
    for (offsets, words, blocks) in [
        (&[0, 16][..], 4, Some(4)),
        (&[0], 4, None),
        (&[], 4, None),
        (&[0, 16, 32], 64, None),
        (&[0, 16, 32], 32, Some(4)),
        (&[0; 20], 32, Some(4)),
        (&[0; 30], 32, Some(3)),
        (&[0; 45], 32, None),
        (&[0; 70], 32, Some(1)),
    ] {
        let ptx = ptx(loop_kernel(offsets, words));
        let found = ptx.lines().find_map(|line| line.strip_prefix(".minnctapersm "));
        assert_eq!(found.map(|blocks| blocks.trim().parse().unwrap()), blocks, "{offsets:?}, {words}\n{ptx}");
    }
}

/// Checks that a kernel without a loop states one resident block only if more words are live at a store than a lane has
/// registers: `ptxas` cannot move loads over the store. If the store follows, loads can go to their uses.
#[test]
fn kernels_that_keep_more_words_than_registers_over_a_store_state_one_block() {
    let load = |index: u32| format!("  %{}: 4xi32 = load %0 + {} align 16\n", 20 + index, 16 * index);
    let add = |index: u32| format!("  %{}: 4xi32 = binary add %{}, %{}\n", 121 + index, 120 + index, 20 + index);
    let store = |value: u32| format!("  store %1 + {}, %{value} align 16\n", 16 * (value % 100));
    for (loads, adds_first, stated) in [(70, false, true), (40, false, false), (70, true, false)] {
        let body: String = if adds_first {
            let adds = (0..loads).map(add).chain([store(120 + loads)]);
            (0..loads).map(load).chain(["  %120: 4xi32 = constant 1\n".to_owned()]).chain(adds).collect()
        } else {
            (0..loads).map(load).chain((0..loads).map(|index| store(20 + index))).collect()
        };
        let text = format!("kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 4 {{\n{body}}}");
        let ptx = ptx_of_text(&text);
        assert_eq!(ptx.contains(".minnctapersm 1\n"), stated, "{loads} loads, sums first: {adds_first}\n{ptx}");
    }
}

/// Parses the text of a kernel, and returns its PTX for `h100` at LLVM's highest level.
pub(crate) fn ptx_of_text(text: &str) -> String {
    let module = tilewright_kernel::text::parse_module(text).unwrap_or_else(|error| panic!("{error}"));
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 3, ..CompileOptions::default() };
    target("h100").compile(&module, &options).unwrap().payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

/// Checks that predicates of vectorized comparisons are not packed into a mask, and select floats.
#[test]
fn compared_elements_select_floats_by_predicates() {
    // For each index, the number of elements of two vectors that differ from zero.
    let lines = |index: u32| {
        let [a, b] = [10, 20].map(|first| first + index);
        let [is_a, is_b, one_a, one_b, sum] = [30, 40, 50, 60, 70].map(|first| first + index);
        format!(
            "  %{a}: f16 = extract %3, {index}
  %{b}: f16 = extract %5, {index}
  %{is_a}: i1 = compare f_eq %{a}, %6
  %{is_b}: i1 = compare f_eq %{b}, %6
  %{one_a}: f32 = select %{is_a}, %7, %8
  %{one_b}: f32 = select %{is_b}, %7, %8
  %{sum}: f32 = binary f_add %{one_a}, %{one_b}
  store %1 + {}, %{sum} align 4
",
            4 * index
        )
    };
    let ptx = ptx_of_text(&format!(
        "kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 4 {{
  %2: 4xi32 = load %0 align 16
  %3: 8xf16 = cast bits %2
  %4: 4xi32 = load %0 + 16 align 16
  %5: 8xf16 = cast bits %4
  %6: f16 = constant 0x0
  %7: f32 = constant 0x0
  %8: f32 = constant 0x3f800000
{}}}",
        (0..8).map(lines).collect::<String>()
    ));
    let lines = body(&ptx);
    assert_eq!((count(&lines, "selp.f32"), count(&lines, "selp."), count(&lines, "cvt.")), (16, 16, 0), "{ptx}");
}

/// Checks that whether any or all of several comparisons hold is found by predicates, and not by a mask of bits.
#[test]
fn any_and_all_of_compared_elements_combine_predicates() {
    for combined in ["or", "and"] {
        let elements = (0..8).map(|index| {
            let (a, b, holds) = (40 + index, 10 + index, 20 + index);
            format!(
                "  %{a}: f16 = extract %3, {index}\n  %{b}: f16 = extract %7, {index}\n  %{holds}: i1 = compare f_lt %{a}, %{b}\n"
            )
        });
        let combinations = (1..8).map(|index| {
            let before = if index == 1 { 20 } else { 29 + index };
            format!("  %{}: i1 = binary {combined} %{before}, %{}\n", 30 + index, 20 + index)
        });
        let ptx = ptx_of_text(&format!(
            "kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 4 {{
  %2: 4xi32 = load %0 align 16
  %3: 8xf16 = cast bits %2
  %6: 4xi32 = load %0 + 16 align 16
  %7: 8xf16 = cast bits %6
{}{}  %5: i32 = cast extend_u %37
  store %1, %5 align 4
}}",
            elements.collect::<String>(),
            combinations.collect::<String>()
        ));
        let lines = body(&ptx);
        assert_eq!((count(&lines, "setp."), count(&lines, "selp."), count(&lines, "shl.")), (8, 1, 0), "{ptx}");
    }
}

#[test]
fn an_atomic_or_with_zero_is_a_load() {
    let ptx = ptx_of_text(
        "kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 4 {
  %2: i32 = constant 0
  %3: i32 = atomic_rmw or relaxed system %0, %2
  store %1, %3 align 4
}",
    );
    let lines = body(&ptx);
    assert_eq!((count(&lines, "ld.relaxed.sys.global.b32"), count(&lines, "atom")), (1, 0), "{ptx}");
}

#[test]
fn math_that_a_loop_repeats_is_computed_before_it_though_a_barrier_precedes_it() {
    let text = "kernel k(%0 p: ptr.global, %1 n: i32, %2 a: f32, %3 b: f32) lanes 32 warps 4 {
  %4: i32 = constant 0
  %5: i32 = constant 1
  for %4 to %1 step %5 (%6: i32) {
    %7: f32 = load %0 align 4
    barrier block all
    %8: f32 = math div %2, %3
    %9: f32 = binary f_mul %7, %8
    store %0, %9 align 4
    yield
  }
}";
    let ptx = ptx_of_text(text);
    let at = |what: &str| ptx.find(what).unwrap_or_else(|| panic!("no `{what}`: {ptx}"));
    assert!(at("div.full.f32") < at("bar.sync"), "{ptx}");
    assert_eq!(ptx.matches("div.full.f32").count(), 1, "{ptx}");
}

#[test]
fn shuffles_are_shfl_idx_of_the_full_warp() {
    let ptx = ptx(kernels::shuffle(LAUNCH, 1));
    let shuffles: Vec<_> = body(&ptx).into_iter().filter(|line| line.starts_with("shfl")).collect();
    assert_eq!(shuffles.len(), 2, "{ptx}");
    for shuffle in shuffles {
        assert!(shuffle.starts_with("shfl.sync.idx.b32") && shuffle.ends_with(", 31, -1;"), "{shuffle}");
    }
}

#[test]
fn shuffles_within_segments_take_constants() {
    // (bits that are cleared and then set in the lane's index, operands of the shuffle): the source lane, and the bits
    // of the segment above the last lane. An index that is not made of the lane's bits is computed, and needs no mask.
    for (clear, set, operands) in
        [(3, 3, ", 3, 7199, -1;"), (7, 2, ", 2, 6175, -1;"), (31, 5, ", 5, 31, -1;"), (0, 32, ", 0, 7967, -1;")]
    {
        let ptx = ptx(shuffle_from(|k, lane| {
            let kept = k.binary_const(Binary::And, lane, !clear);
            k.binary_const(Binary::Or, kept, set)
        }));
        let shuffle = body(&ptx).into_iter().find(|line| line.starts_with("shfl")).unwrap();
        assert!(shuffle.starts_with("shfl.sync.idx.b32") && shuffle.ends_with(operands), "{clear} {set}: {shuffle}");
    }
    let ptx = ptx(shuffle_from(|k, lane| {
        let before = k.binary_const(Binary::Sub, lane, 1);
        k.binary_const(Binary::And, before, 31)
    }));
    assert!(ptx.contains(", 31, -1;") && count(&body(&ptx), "and") == 1, "only the lane's index is masked: {ptx}");
}

/// Returns a kernel whose lanes each get the index of the lane that `source` computes from their own index.
fn shuffle_from(source: impl Fn(&mut Builder, Value) -> Value) -> Kernel {
    let mut k = Builder::new("exchange", LAUNCH, &[("at", GLOBAL_POINTER)]);
    let at = k.parameter(0);
    let at = own_address(&mut k, at, 4);
    let lane = k.special(SpecialRegister::Lane);
    let from = source(&mut k, lane);
    let received = k.shuffle(lane, from);
    k.store(at, 0, received, None);
    k.finish()
}

#[test]
fn shuffles_by_a_constant_are_butterflies() {
    let ptx = ptx(kernels::shuffle_xor(LAUNCH, 5));
    let shuffles: Vec<_> = body(&ptx).into_iter().filter(|line| line.starts_with("shfl")).collect();
    assert_eq!(shuffles.len(), 2, "{ptx}");
    for shuffle in shuffles {
        assert!(shuffle.starts_with("shfl.sync.bfly.b32") && shuffle.ends_with(", 5, 31, -1;"), "{shuffle}");
    }
}

#[test]
fn a_byte_permute_is_one_instruction() {
    let ptx = ptx(kernels::permute(LAUNCH));
    let lines = body(&ptx);
    let prmt: Vec<_> = lines.iter().filter(|line| line.starts_with("prmt.b32")).collect();
    assert_eq!(prmt.len(), 1, "{ptx}");
    // `a` is loaded first; the selector equals the kernel IR's.
    let register = |offset: &str| {
        let load = lines.iter().find(|line| line.starts_with("ld.global.b32") && line.contains(offset)).unwrap();
        load.split_whitespace().nth(1).unwrap().trim_end_matches(',').to_owned()
    };
    assert!(prmt[0].ends_with(&format!("{}, {}, 0x7421U;", register("]"), register("+4]"))), "{ptx}");
}

#[test]
fn lanes_that_a_predicate_leaves_out_touch_no_memory() {
    let ptx = ptx(kernels::predicated(LAUNCH));
    let lines = body(&ptx);
    for instruction in ["ld.global", "st.global"] {
        let accesses: Vec<_> = lines.iter().filter(|line| line.contains(instruction)).collect();
        assert!(matches!(accesses[..], [access] if access.starts_with("@%p1 ")), "{ptx}");
    }
}

#[test]
fn multiplication_and_addition_are_rounded_one_by_one() {
    let float = Type::Scalar(Element::F32);
    let mut k = Builder::new("axpy", LAUNCH, &[("at", GLOBAL_POINTER)]);
    let at = k.parameter(0);
    let loaded: Vec<Value> = [0, 4, 8].map(|offset| k.load(float, at, offset, None)).to_vec();
    let product = k.binary(tilewright_kernel::Binary::FMul, loaded[0], loaded[1]);
    let sum = k.binary(tilewright_kernel::Binary::FAdd, product, loaded[2]);
    k.store(at, 0, sum, None);
    let ptx = ptx(k.finish());
    // The assembler may fuse a multiplication and an addition only if both lack `.rn`.
    let lines = body(&ptx);
    assert_eq!((count(&lines, "mul.rn.f32"), count(&lines, "add.f32"), count(&lines, "fma")), (1, 1, 0), "{ptx}");
}

#[test]
fn shared_memory_beyond_the_static_limit_is_left_to_the_launch() {
    let with = |bytes: u32| {
        let mut k = Builder::new("large", LAUNCH, &[("at", GLOBAL_POINTER)]);
        let shared = k.shared_buffer(bytes, 16);
        let address_of_thread = own_address(&mut k, shared, 4);
        let at = k.parameter(0);
        let value = k.load(kernels::WORD, at, 0, None);
        k.store(address_of_thread, 0, value, None);
        k.barrier(CollectiveScope::Block);
        let value = k.load(kernels::WORD, shared, 0, None);
        k.store(at, 0, value, None);
        k.finish()
    };
    let at_limit = ptx(with(49152));
    assert!(at_limit.contains(".b8 large_shared[49152]"), "{at_limit}");
    let artifact = compiled("sm_90a", vec![with(49156)], &[CodeFormat::Assembly]);
    let beyond = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert!(beyond.contains(".extern .shared .align 16 .b8 large_shared[]"), "{beyond}");
    assert_eq!(artifact.kernels[0].shared_bytes, 49156);
}

#[test]
fn compilation_is_deterministic_on_every_architecture() {
    for architecture in ARCHITECTURES {
        let target = nvidia(architecture);
        let options = CompileOptions {
            emit: vec![CodeFormat::Assembly, CodeFormat::Intermediate],
            optimisation: 2,
            ..CompileOptions::default()
        };
        let once = target.compile(&kernels::all(LAUNCH), &options).unwrap_or_else(|e| panic!("{architecture}: {e}"));
        let twice = target.compile(&kernels::all(LAUNCH), &options).unwrap();
        assert!(once == twice, "{architecture}");
        assert!(
            once.payload_text(CodeFormat::Assembly).unwrap().contains(&format!(".target {architecture}\n")),
            "{architecture}"
        );
    }
}

#[test]
fn the_object_is_a_cubin_if_there_is_an_assembler_and_ptx_if_not() {
    for architecture in ARCHITECTURES {
        let options = CompileOptions { emit: vec![CodeFormat::Object], optimisation: 2, ..CompileOptions::default() };
        let artifact = nvidia(architecture).compile(&kernels::all(LAUNCH), &options);
        let artifact = artifact.unwrap_or_else(|error| panic!("{architecture}: {error}"));
        let object = artifact.payload(CodeFormat::Object).unwrap();
        if object::find_assembler().is_ok() {
            assert_eq!(object.format, "cubin");
            assert!(object.bytes.starts_with(b"\x7fELF"));
        } else {
            assert_eq!(object.format, "ptx");
            assert!(artifact.payload_text(CodeFormat::Object).unwrap().contains(".visible .entry copy("));
        }
    }
}

#[test]
fn every_optimisation_level_compiles() {
    for optimisation in 0..=3 {
        let options = CompileOptions { emit: vec![CodeFormat::Object], optimisation, ..CompileOptions::default() };
        let artifact = nvidia("sm_80").compile(&kernels::all(LAUNCH), &options);
        assert!(artifact.is_ok(), "{optimisation}: {artifact:?}");
    }
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 4, ..CompileOptions::default() };
    let error = nvidia("sm_80").compile(&kernels::all(LAUNCH), &options).unwrap_err();
    assert!(matches!(&error, CompileError::Option { option, .. } if option == "optimisation"), "{error}");
}

#[test]
fn launches_beyond_the_target_are_refused() {
    let refused = |launch: StaticLaunchConfig| {
        let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
        let error = nvidia("sm_80").compile(&module(vec![kernels::copy(launch)]), &options).unwrap_err();
        assert!(matches!(error, CompileError::Invalid(_)), "{error}");
        error.to_string()
    };
    assert!(refused(StaticLaunchConfig::new(64, 1)).contains("64 lanes a warp"));
    assert!(refused(StaticLaunchConfig::new(32, 33)).contains("1024"));
    assert!(refused(StaticLaunchConfig::new(32, 0)).contains("0 warps"));
}

/// Rows and columns of a tile are adjacent bits of the lane's index: one mask and one addition give the address.
#[test]
fn offsets_of_adjacent_bits_of_the_thread_are_added_together() {
    let mut k = Builder::new("tile", LAUNCH, &[("to", GLOBAL_POINTER)]);
    let (to, lane) = (k.parameter(0), k.special(SpecialRegister::Lane));
    let mut address = to;
    for mask in [0b11100, 0b00011] {
        let bits = k.binary_const(Binary::And, lane, mask);
        let wide = k.cast(Cast::ExtendS, bits, Type::Scalar(Element::I64));
        let size = k.constant(Type::Scalar(Element::I64), 16);
        let offset = k.binary(Binary::Mul, wide, size);
        address = k.ptr_add(address, offset);
    }
    k.store(address, 0, lane, None);
    let ptx = ptx(k.finish());
    let counts = ["add.s64", "and.b32"].map(|instruction| count(&body(&ptx), instruction));
    assert_eq!(counts[0], 1, "{ptx}");
    assert!(counts[1] <= 2, "{ptx}");
}

#[test]
fn an_instruction_that_no_code_is_generated_for_is_unsupported() {
    let mut k = Builder::new("unknown", LAUNCH, &[]);
    k.effect(Op::Instruction { name: "no_such_row".to_owned(), operands: Vec::new() });
    let options = CompileOptions::default();
    let error = nvidia("sm_80").compile(&module(vec![k.finish()]), &options).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("no_such_row")), "{error}");
}

#[test]
fn only_architectures_of_the_list_are_served() {
    let error = NvidiaTarget::new(build_fake_target("gfx942", &[64])).unwrap_err();
    assert!(error.to_string().contains("gfx942") && error.to_string().contains("sm_90a"), "{error}");
}

#[test]
fn the_virtual_device_is_named_as_no_hardware() {
    let devices = nvidia("sm_80").devices().unwrap();
    let names: Vec<String> = devices.iter().map(|device| device.name()).collect();
    assert!(
        matches!(names.as_slice(), [name] if name.contains("virtual") && name.contains("no hardware")),
        "{names:?}"
    );
}

/// Checks the bitcode of kernels as functions, which begins with the letters BC and the bytes c0 de (LLVM bitcode file
/// format).
#[test]
fn kernels_become_functions_for_a_hosts_own_module() {
    let kernel = kernels::through_shared(LAUNCH, CollectiveScope::Block);
    let artifact = compiled("sm_90a", vec![kernel.clone()], &[CodeFormat::Functions, CodeFormat::Assembly]);
    let formats: Vec<_> = artifact.payloads.iter().map(|payload| payload.format.as_str()).collect();
    assert_eq!(formats, ["ptx", "bc"]);
    let bitcode = &artifact.payload(CodeFormat::Functions).unwrap().bytes;
    assert_eq!(bitcode[..4], [b'B', b'C', 0xc0, 0xde]);
    assert_eq!(
        &compiled("sm_90a", vec![kernel], &[CodeFormat::Functions]).payload(CodeFormat::Functions).unwrap().bytes,
        bitcode
    );
}

/// Checks the limit on a device function's shared memory: a static array, since a device function cannot have launch
/// attributes.
#[test]
fn a_function_has_no_more_shared_memory_than_a_module_may_have() {
    let target = nvidia("sm_90a");
    let most = target.description().shared.static_bytes;
    let kernel = |bytes: u32| {
        let mut k = Builder::new("large", LAUNCH, &[("at", GLOBAL_POINTER)]);
        let shared = k.shared_buffer(bytes, 16);
        let address_of_thread = own_address(&mut k, shared, 16);
        let seven = k.i32(7);
        k.store(address_of_thread, 0, seven, None);
        module(vec![k.finish()])
    };
    let functions = CompileOptions { emit: vec![CodeFormat::Functions], optimisation: 2, ..CompileOptions::default() };
    assert!(target.compile(&kernel(most), &functions).is_ok());
    assert!(
        target
            .compile(
                &kernel(most + 16),
                &CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() }
            )
            .is_ok()
    );
    let error = target.compile(&kernel(most + 16), &functions).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("as a function")), "{error}");
}

/// Checks that nibbles become floats by one subtraction and one conversion each: LLVM's vectorizer would subtract in
/// vectors of bytes, whose elements code generation extends once more.
#[test]
fn nibbles_are_converted_one_by_one() {
    let of_byte = |index: u32| {
        let [byte, low, high, from_low, from_high, a, b, pair, scaled, word] =
            [100, 110, 120, 130, 140, 150, 160, 170, 180, 190].map(|first| first + index);
        format!(
            "  %{byte}: i8 = extract %2, {index}
  %{low}: i8 = binary and %{byte}, %4
  %{high}: i8 = binary shr_u %{byte}, %5
  %{from_low}: i8 = binary sub %{low}, %6
  %{from_high}: i8 = binary sub %{high}, %6
  %{a}: f16 = cast float_s %{from_low}
  %{b}: f16 = cast float_s %{from_high}
  %{pair}: 2xf16 = pack %{a}, %{b}
  %{scaled}: 2xf16 = binary f_mul %{pair}, %7
  %{word}: i32 = cast bits %{scaled}
"
        )
    };
    let bytes: String = (0..4).map(of_byte).collect();
    let ptx = ptx_of_text(&format!(
        "kernel k(%0 p: ptr.global, %1 q: ptr.global) lanes 32 warps 1 {{
  %2: 4xi8 = load %0 align 4
  %3: f16 = load %1 align 2
  %4: i8 = constant 15
  %5: i8 = constant 4
  %6: i8 = constant 8
  %7: 2xf16 = pack %3, %3
{bytes}  %200: 4xi32 = pack %190, %191, %192, %193
  store %0, %200 align 16
}}"
    ));
    let counts = ["cvt.rn.f16.s16", "cvt.s16.s8", "cvt.s32.s8", "add.s16x2"].map(|name| ptx.matches(name).count());
    assert_eq!(counts, [8, 0, 0, 0], "{ptx}");
}
