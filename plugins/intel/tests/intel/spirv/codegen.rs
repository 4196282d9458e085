//! Instructions, capabilities and modes of emitted kernels.

use crate::spirv::kernels;
use rspirv::binary::Disassemble;
use rspirv::dr::load_words;
use tilewright_plugin::KernelMetadata;
use tilewright_vendor_testkit::prelude::*;

/// The lines of an artifact's assembly text, with words separated by single spaces.
struct Listing(Vec<String>);

impl Listing {
    fn of(module: &Module) -> Self {
        Self::on("pvc", module)
    }

    fn on(architecture: &str, module: &Module) -> Self {
        let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
        let artifact = kernels::target(architecture).compile(module, &options).expect("it compiles");
        let text = artifact.payload_text(CodeFormat::Assembly).expect("assembly is text");
        Self(text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
    }

    /// Returns the lines with an opcode.
    fn all(&self, opcode: &str) -> Vec<&str> {
        let has = |line: &&String| line.split(' ').any(|word| word == opcode);
        self.0.iter().filter(has).map(String::as_str).collect()
    }

    fn count(&self, opcode: &str) -> usize {
        self.all(opcode).len()
    }

    fn capabilities(&self) -> Vec<&str> {
        self.all("OpCapability").iter().filter_map(|line| line.split(' ').nth(1)).collect()
    }
}

#[test]
fn a_kernel_requires_its_lanes_and_its_block() {
    for (architecture, lanes) in
        [("pvc", 16), ("pvc", 32), ("dg2", 8), ("dg2", 16), ("dg2", 32), ("xe2", 16), ("xe2", 32)]
    {
        let listing = Listing::on(architecture, &kernels::copy(lanes));
        let modes: Vec<_> =
            listing.all("OpExecutionMode").iter().map(|line| line.split_once(" %").expect("id").1).collect();
        let modes: Vec<_> = modes.iter().map(|mode| mode.split_once(' ').expect("mode").1.to_owned()).collect();
        assert_eq!(
            modes,
            [format!("LocalSize {} 1 1", 2 * lanes), format!("SubgroupSize {lanes}"), "ContractionOff".into()]
        );
        let [entry] = listing.all("OpEntryPoint")[..] else { panic!("one entry point") };
        assert!(entry.starts_with("OpEntryPoint Kernel") && entry.contains("\"copy\""), "{entry}");
        assert_eq!(listing.all("OpMemoryModel"), ["OpMemoryModel Physical64 OpenCL"]);
    }
}

#[test]
fn four_words_are_copied_by_one_load_and_one_store() {
    let listing = Listing::of(&kernels::copy(16));
    let aligned = |opcode| listing.all(opcode).into_iter().filter(|line| line.ends_with("Aligned 16")).count();
    assert_eq!((aligned("OpLoad"), aligned("OpStore")), (1, 1));
    assert_eq!(listing.capabilities(), ["Addresses", "Kernel", "Int8", "SubgroupDispatch"]);
}

/// Checks a value of 32 words, which is two of SPIR-V's widest vectors; the second one lies 64 bytes further and has
/// the same alignment.
#[test]
fn wide_values_are_split() {
    let listing = Listing::of(&kernels::reversal(16, Element::I32, 32, 128));
    let aligned = |bytes: u32| {
        let ending = format!("Aligned {bytes}");
        listing.0.iter().filter(|line| line.ends_with(&ending)).count()
    };
    assert_eq!((aligned(128), aligned(64)), (2, 2));
    assert!(listing.capabilities().contains(&"Vector16"));
}

#[test]
fn what_is_aligned_less_than_its_elements_moves_as_narrower_integers() {
    let listing = Listing::of(&kernels::reversal(16, Element::F64, 4, 2));
    let loads: Vec<_> = listing.all("OpLoad").into_iter().filter(|line| line.contains("Aligned")).collect();
    assert_eq!(loads.len(), 1, "{loads:?}");
    assert!(loads[0].ends_with("Aligned 2"), "{loads:?}");
    let load_type = loads[0].split(' ').nth(3).expect("a type");
    let vector_type = listing.all("OpTypeVector").into_iter().find(|line| line.starts_with(&format!("{load_type} =")));
    assert!(vector_type.is_some_and(|line| line.ends_with(" 16")), "{vector_type:?}");
}

#[test]
fn shuffles_are_group_non_uniform_shuffles() {
    for lanes in [16, 32] {
        let listing = Listing::of(&kernels::shuffle(lanes));
        assert_eq!(listing.count("OpGroupNonUniformShuffle"), 2);
        assert!(listing.capabilities().contains(&"GroupNonUniformShuffle"));
        let listing = Listing::of(&kernels::shuffle_xor(lanes));
        assert_eq!(listing.count("OpGroupNonUniformShuffleXor"), 2);
        assert!(listing.capabilities().contains(&"GroupNonUniformShuffle"));
    }
}

#[test]
fn shared_memory_is_one_variable_and_barriers_order_it() {
    let listing = Listing::of(&kernels::shared(16));
    // A buffer of 64 bytes, then one of 2 * 16 words, with an alignment of 64.
    let length = listing.all("OpTypeArray")[0].split(' ').next_back().expect("a length");
    let constant = listing.0.iter().find(|line| line.starts_with(&format!("{length} = OpConstant")));
    assert!(constant.is_some_and(|line| line.ends_with(" 192")), "{constant:?}");
    assert_eq!(listing.all("OpVariable").iter().filter(|line| line.ends_with("Workgroup")).count(), 1);
    assert!(listing.all("OpDecorate").iter().any(|line| line.ends_with("Alignment 64")));
    assert_eq!(listing.count("OpControlBarrier"), 2);
    let mut scopes = Vec::new();
    for barrier in listing.all("OpControlBarrier") {
        let values: Vec<u32> = barrier.split(' ').skip(1).map(|id| constant_value(&listing, id)).collect();
        // Workgroup memory is 0x100, acquire and release 0x8.
        assert_eq!((values[0], values[2]), (values[1], 0x108));
        scopes.push(values[0]);
    }
    assert_eq!(scopes, [2, 3], "first the work-group, then the sub-group");
}

fn constant_value(listing: &Listing, id: &str) -> u32 {
    let line = listing.0.iter().find(|line| line.starts_with(&format!("{id} = OpConstant ")));
    line.and_then(|line| line.split(' ').next_back()).and_then(|value| value.parse().ok()).expect("a constant")
}

#[test]
fn predicates_branch_around_accesses() {
    let listing = Listing::of(&kernels::predicated(16));
    assert_eq!((listing.count("OpSelectionMerge"), listing.count("OpBranchConditional")), (2, 2));
    assert_eq!(
        (listing.count("OpPhi"), listing.count("OpConstantNull")),
        (1, 1),
        "the load gives zero where it is left out"
    );
}

#[test]
fn an_unspecified_value_is_undefined() {
    let listing = Listing::of(&kernels::unspecified(16, Element::F32, 4));
    assert_eq!((listing.count("OpUndef"), listing.count("OpConstantNull")), (1, 0));
}

#[test]
fn control_flow_is_structured() {
    let listing = Listing::of(&kernels::loops(16));
    assert_eq!((listing.count("OpLoopMerge"), listing.count("OpSelectionMerge")), (1, 1));
    // In the loop, the index, the condition, the sum and the vector have phis; after the conditional, its result has
    // one.
    assert_eq!(listing.count("OpPhi"), 5);
    // Known bounds need only the index and the carried values.
    assert_eq!(Listing::of(&kernels::nested(16)).count("OpPhi"), 3);
}

#[test]
fn each_operation_is_its_instruction() {
    let integer = [
        (Binary::Add, "OpIAdd"),
        (Binary::Sub, "OpISub"),
        (Binary::Mul, "OpIMul"),
        (Binary::And, "OpBitwiseAnd"),
        (Binary::Or, "OpBitwiseOr"),
        (Binary::Xor, "OpBitwiseXor"),
        (Binary::Shl, "OpShiftLeftLogical"),
        (Binary::ShrU, "OpShiftRightLogical"),
        (Binary::ShrS, "OpShiftRightArithmetic"),
        (Binary::DivU, "OpUDiv"),
        (Binary::RemU, "OpUMod"),
    ];
    let float = [(Binary::FAdd, "OpFAdd"), (Binary::FSub, "OpFSub"), (Binary::FMul, "OpFMul")];
    let uses = |op, element, opcode: &str| Listing::of(&kernels::binary(16, op, element, 8)).count(opcode) > 0;
    for (op, opcode) in integer {
        for element in [Element::I8, Element::I16, Element::I32, Element::I64] {
            assert!(uses(op, element, opcode), "{op:?} {}", element.name());
        }
    }
    for (op, opcode) in float {
        for element in [Element::F16, Element::Bf16, Element::F32, Element::F64] {
            assert!(uses(op, element, opcode), "{op:?} {}", element.name());
        }
    }
}

#[test]
fn casts_are_conversions_of_numbers_or_of_bits() {
    let scalar = Type::Scalar;
    let cases = [
        (Cast::Truncate, scalar(Element::I64), scalar(Element::I16), "OpUConvert"),
        (Cast::ExtendU, scalar(Element::I8), scalar(Element::I64), "OpUConvert"),
        (Cast::ExtendS, scalar(Element::I8), scalar(Element::I64), "OpSConvert"),
        (Cast::ExtendS, scalar(Element::I1), scalar(Element::I32), "OpSelect"),
        (Cast::FloatS, scalar(Element::I8), scalar(Element::F16), "OpConvertSToF"),
        (Cast::FloatU, scalar(Element::I32), scalar(Element::F64), "OpConvertUToF"),
        (Cast::ExtendF, scalar(Element::F16), scalar(Element::F64), "OpFConvert"),
        (Cast::RoundF, scalar(Element::F32), scalar(Element::F16), "OpFConvert"),
        // A bf16 has the upper half of the bits of a binary32: casts shift the bits up or down.
        (Cast::ExtendF, scalar(Element::Bf16), scalar(Element::F32), "OpShiftLeftLogical"),
        (Cast::RoundF, scalar(Element::F32), scalar(Element::Bf16), "OpShiftRightLogical"),
        (Cast::Bits, scalar(Element::I32), scalar(Element::F32), "OpBitcast"),
        (Cast::Bits, Type::Vector(Element::F16, 4), scalar(Element::I64), "OpBitcast"),
    ];
    for (op, from, to, opcode) in cases {
        assert!(Listing::of(&kernels::cast(16, op, from, to)).count(opcode) > 0, "{op:?} {from} {to}");
    }
}

/// Checks casts to `bf16` that would be rounded twice. The first rounding, to binary32, truncates toward zero and keeps
/// a sticky lowest bit, so the second rounding gives what rounding the exact number gives.
#[test]
fn what_would_be_rounded_twice_is_cut_first() {
    for (op, from, opcode, back) in [
        (Cast::RoundF, Element::F64, "OpFConvert", "OpFConvert"),
        (Cast::FloatS, Element::I32, "OpConvertSToF", "OpConvertFToS"),
        (Cast::FloatU, Element::I64, "OpConvertUToF", "OpConvertFToU"),
    ] {
        let listing = Listing::of(&kernels::cast(16, op, Type::Scalar(from), Type::Scalar(Element::Bf16)));
        assert!(listing.count(opcode) > 0 && listing.count(back) > 0, "{op:?} {from:?}");
        let modes = listing.all("OpDecorate").iter().filter(|line| line.ends_with("FPRoundingMode RTZ")).count();
        assert_eq!(modes, 1, "{op:?} {from:?}");
    }
}

#[test]
fn bf16_is_moved_as_an_integer_and_computed_in_f32() {
    let moved = Listing::of(&kernels::reversal(16, Element::Bf16, 8, 16));
    assert!(moved.all("OpTypeFloat").is_empty());
    let computed = Listing::of(&kernels::binary(16, Binary::FAdd, Element::Bf16, 8));
    let types = computed.all("OpTypeFloat");
    assert!(matches!(types[..], [only] if only.ends_with(" 32")), "{types:?}");
}

#[test]
fn f64_is_only_moved_where_lanes_do_not_compute_it() {
    let moved = Listing::on("dg2", &kernels::reversal(16, Element::F64, 4, 16));
    assert!(!moved.capabilities().contains(&"Float64"));
    let sum = kernels::binary(16, Binary::FAdd, Element::F64, 1);
    assert!(Listing::of(&sum).capabilities().contains(&"Float64"));
    let refused = kernels::target("dg2").compile(&sum, &CompileOptions::default());
    assert!(matches!(refused, Err(CompileError::Unsupported(_))), "{refused:?}");
}

/// Checks that the code of two architectures differs only in native binary64.
#[test]
fn architectures_differ_in_binary64_alone() {
    for lanes in [16, 32] {
        let module = kernels::together(&kernels::all(lanes));
        let of = |architecture: &str| kernels::target(architecture).compile(&module, &CompileOptions::default());
        let (pvc, xe2) = (of("pvc").expect("it compiles"), of("xe2").expect("it compiles"));
        // Tools for one architecture may not know the other.
        assert!(pvc.payloads == xe2.payloads && pvc.kernels == xe2.kernels, "the code is the same");
        let message = of("dg2").expect_err("some kernels compute binary64").to_string();
        assert!(message.contains("f64"), "{message}");
    }
}

#[test]
fn every_kernel_compiles_to_the_same_bytes_each_time() {
    for lanes in [16, 32] {
        let module = kernels::together(&kernels::all(lanes));
        let first = kernels::compile(&module).expect("it compiles");
        assert_eq!(first, kernels::compile(&module).expect("it compiles"));
        assert_eq!(first.kernels.len(), module.kernels.len());
    }
}

#[test]
fn the_assembly_is_the_object_as_text() {
    let artifact = kernels::compile(&kernels::loops(32)).expect("it compiles");
    let read = load_words(kernels::words(&artifact)).expect("the object is SPIR-V");
    assert_eq!(artifact.payload_text(CodeFormat::Assembly), Some(read.disassemble().as_str()));
}

#[test]
fn only_requested_forms_are_emitted() {
    let target = kernels::target("pvc");
    let forms = |emit: &[CodeFormat]| {
        let options = CompileOptions { emit: emit.to_vec(), optimisation: 0, ..CompileOptions::default() };
        let artifact = target.compile(&kernels::copy(16), &options).expect("it compiles");
        artifact.payloads.iter().map(|payload| payload.format.clone()).collect::<Vec<_>>()
    };
    assert_eq!(forms(&[CodeFormat::Intermediate]), Vec::<String>::new());
    assert_eq!(forms(&[CodeFormat::Object]), ["spv"]);
    assert_eq!(forms(&[CodeFormat::Assembly, CodeFormat::Object, CodeFormat::Assembly]), ["spvasm", "spv"]);
}

#[test]
fn metadata_has_the_launch_parameters() {
    let artifact = kernels::compile(&kernels::shared(32)).expect("it compiles");
    let expected = KernelMetadata {
        maps: Vec::new(),
        name: "shared".to_owned(),
        lanes: 32,
        warps: 2,
        blocks: 1,
        shared_bytes: 64 + 2 * 32 * 4,
        registers: 0,
        parameters: Some(vec![64, 64]),
    };
    assert_eq!(artifact.kernels, [expected]);
}

#[test]
fn a_module_without_kernels_is_an_empty_library() {
    let listing = Listing::of(&Module::default());
    assert!(listing.capabilities().contains(&"Linkage"));
    assert_eq!(listing.count("OpEntryPoint"), 0);
}

#[test]
fn multiply_adds_are_the_extended_instruction_of_opencl() {
    for element in [Element::F16, Element::F32, Element::F64] {
        for count in [1, 4] {
            let listing = Listing::of(&kernels::multiply_add(16, element, count));
            let (imports, fused) = (listing.count("OpExtInstImport"), listing.count("OpExtInst"));
            assert_eq!((imports, fused, listing.count("OpFMul")), (1, 1, 0), "{} {count}", element.name());
        }
    }
    assert_eq!(Listing::of(&kernels::negation(16, Element::F32, 1)).count("OpExtInstImport"), 0);
}

#[test]
fn clocks_are_read_by_the_extension() {
    let kernel = tilewright_vendor_testkit::kernels::read_clocks(StaticLaunchConfig::new(16, 1));
    let listing = Listing::of(&Module { kernels: vec![kernel] });
    assert_eq!(listing.count("OpReadClockKHR"), 3);
    assert!(listing.capabilities().contains(&"ShaderClockKHR"), "{:?}", listing.capabilities());
    assert_eq!(listing.all("OpExtension"), ["OpExtension \"SPV_KHR_shader_clock\""]);
}
