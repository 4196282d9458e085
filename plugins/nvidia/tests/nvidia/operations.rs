//! Operations of whole programs as PTX: the code calls only functions that the driver provides, and `ptxas`, if
//! installed, accepts it.

use crate::prelude::*;
use crate::virtual_device::bench::{Given as DeviceGiven, Shape, device_of, run_on};
use tilewright_vendor_testkit::{exponentials, operations};

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(32, 4);

fn compiled(name: &str, kernels: Vec<Kernel>, emit: &[CodeFormat]) -> String {
    let options = CompileOptions { emit: emit.to_vec(), optimisation: 2, ..CompileOptions::default() };
    let artifact =
        target(name).compile(&Module { kernels }, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

/// Returns the PTX of the kernels, which `ptxas` must accept if it is installed.
fn assembled(name: &str, kernels: Vec<Kernel>) -> String {
    let emit = if object::find_assembler().is_ok() {
        vec![CodeFormat::Assembly, CodeFormat::Object]
    } else {
        vec![CodeFormat::Assembly]
    };
    compiled(name, kernels, &emit)
}

/// Returns the instructions of one kernel.
fn body<'a>(ptx: &'a str, kernel: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no {kernel} in {ptx}"));
    ptx[start..].split("\n}").next().unwrap()
}

#[test]
fn arithmetic_of_every_element_is_assembled() {
    for name in ["a100", "h100"] {
        let ptx = assembled(name, operations::arithmetic(LAUNCH));
        assert!(!ptx.contains("call"), "{name}: {}", ptx.lines().find(|line| line.contains("call")).unwrap());
    }
}

#[test]
fn exponentials_have_the_error_of_their_product() {
    exponentials::errors_are_those_of_the_product(&target("h100"));
}

#[test]
fn quotients_and_roots_are_rounded_to_nearest() {
    let ptx = compiled("h100", operations::arithmetic(LAUNCH), &[CodeFormat::Assembly]);
    for (kernel, instruction) in [
        ("k_f_div_f32", "div.rn.f32"),
        ("k_f_div_f64", "div.rn.f64"),
        ("k_f_sqrt_f32", "sqrt.rn.f32"),
        ("k_f_sqrt_f64", "sqrt.rn.f64"),
        ("k_f_sqrt_bf16", "sqrt.rn.f32"),
        ("k_f_div_f16", "div.rn.f32"),
        ("k_f_nearest_f32", "cvt.rni.f32.f32"),
        ("k_f_min_number_f32", "min.f32"),
        ("k_f_minimum_f32", "min.NaN.f32"),
        ("k_mul_high_u_i64", "mul.hi.u64"),
        ("k_mul_high_s_i32", "mul.hi.s32"),
        ("k_leading_zeros_i32", "clz.b32"),
        ("k_pop_count_i64", "popc.b64"),
        ("k_int_s_i32_f32", "cvt.rzi.s32.f32"),
    ] {
        assert!(body(&ptx, kernel).contains(instruction), "{kernel}: {}", body(&ptx, kernel));
    }
}

#[test]
fn atomics_of_every_element_are_assembled() {
    for name in ["a100", "h100"] {
        let ptx = assembled(name, operations::atomics(LAUNCH));
        assert!(!ptx.contains("call"), "{name}");
        assert!(
            body(&ptx, "atomic_f_add_f32").contains("atom.relaxed.gpu.global.add.f32"),
            "{}",
            body(&ptx, "atomic_f_add_f32")
        );
        assert!(body(&ptx, "atomic_max_u_i32").contains(".max.u32"), "{}", body(&ptx, "atomic_max_u_i32"));
    }
}

#[test]
fn vectors_are_added_by_one_instruction() {
    for (name, count) in [("a100", 1), ("h100", 8), ("rtx5090", 8)] {
        let kernels = operations::vector_additions(LAUNCH, target(name).description());
        assert_eq!(kernels.len(), 2 * count, "{name}");
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let ptx = assembled(name, kernels);
        for kernel in names {
            let one = body(&ptx, &kernel);
            let [old, new] = if kernel.ends_with("unused") { ["red.", "atom."] } else { ["atom.", "red."] };
            assert_eq!((one.matches(old).count(), one.matches(new).count()), (1, 0), "{name}: {one}");
        }
    }
    let ptx =
        compiled("h100", operations::vector_additions(LAUNCH, target("h100").description()), &[CodeFormat::Assembly]);
    for (kernel, instruction) in [
        ("sum_f32_64", "atom.relaxed.gpu.global.add.v2.f32 {%"),
        ("sum_f32_128_unused", "red.relaxed.gpu.global.add.v4.f32 [%"),
        ("sum_f16_32", "atom.relaxed.gpu.global.add.noftz.f16x2 %"),
        ("sum_bf16_128", "atom.relaxed.gpu.global.add.noftz.v4.bf16x2 {%"),
    ] {
        assert!(body(&ptx, kernel).contains(instruction), "{kernel}: {}", body(&ptx, kernel));
    }
}

#[test]
fn orders_and_scopes_are_those_of_the_operation() {
    let ptx = compiled("h100", operations::atomics(LAUNCH), &[CodeFormat::Assembly]);
    for (scope, word) in [("block", "cta"), ("device", "gpu"), ("system", "sys")] {
        let relaxed = body(&ptx, &format!("ordered_relaxed_{scope}"));
        assert!(relaxed.contains(&format!("fence.acq_rel.{word}")), "{relaxed}");
        assert!(relaxed.contains(&format!("atom.relaxed.{word}.global.add")), "{relaxed}");
        let ordered = body(&ptx, &format!("ordered_acquire_release_{scope}"));
        assert!(ordered.contains(&format!("atom.acq_rel.{word}.global.add")), "{ordered}");
    }
}

#[test]
fn programs_are_assembled_and_print_by_the_driver() {
    for name in ["a100", "h100", "rtx4090"] {
        let ptx = assembled(name, operations::programs(LAUNCH));
        assert!(body(&ptx, "said").contains("vprintf") && body(&ptx, "said").contains("trap"), "{ptx}");
        assert!(body(&ptx, "grid").contains("%nctaid.z"), "{ptx}");
        let waits = body(&ptx, "overlapped").contains("griddepcontrol.wait");
        assert_eq!(waits, name == "h100", "{name}: {ptx}");
    }
}

#[test]
fn functions_that_the_hardware_has_are_instructions_and_others_are_refused() {
    let ptx = assembled(
        "h100",
        vec![
            operations::math_function_kernel(LAUNCH, MathFunction::Exp2, Element::F32),
            operations::math_function_kernel(LAUNCH, MathFunction::Rsqrt, Element::F32),
        ],
    );
    assert!(ptx.contains("ex2.approx.ftz.f32") && ptx.contains("rsqrt.approx.ftz.f32"), "{ptx}");
    let module = Module { kernels: vec![operations::math_function_kernel(LAUNCH, MathFunction::Sin, Element::F32)] };
    let error = target("h100").compile(&module, &CompileOptions::default()).unwrap_err();
    assert!(matches!(&error, CompileError::Unsupported(message) if message.contains("`sin` of f32")), "{error}");
    let listed = target("h100");
    for native in &listed.description().functions {
        assembled("h100", vec![operations::native_function_kernel(LAUNCH, &native.function, &native.element)]);
    }
}

#[test]
fn assembly_stands_in_the_code_as_it_is() {
    let of = |constraints: &str| {
        let word = Type::Scalar(Element::I32);
        let mut k = Builder::new("k", LAUNCH, &[("at", Type::Pointer(MemorySpace::Global)), ("n", word)]);
        let (at, n) = (k.parameter(0), k.parameter(1));
        let sum = k.assembly("add.u32 $0, $1, $2;", constraints, &[n, n], &[word]);
        k.store(at, 0, sum[0], None);
        k.finish()
    };
    assert!(assembled("h100", vec![of("=r,r,r")]).contains("add.u32"));
    for wrong in ["=r,r", "=r,=r,r,r", "r,r,=r", "=r,r,r,$", ""] {
        let module = Module { kernels: vec![of(wrong)] };
        let error = target("h100").compile(&module, &CompileOptions::default()).unwrap_err();
        assert!(matches!(&error, CompileError::Invalid(message) if message.contains("constraint")), "{wrong}: {error}");
    }
}

fn words(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect()
}

/// A region of `tt.map_elementwise` may take more elements than a lane has.
#[test]
fn regions_may_take_more_elements_than_a_lane_has() {
    let text = "module {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %from = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %at = tt.addptr %from, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %a = tt.load %at : tensor<64x!tt.ptr<i32>>
    %m = \"tt.map_elementwise\"(%a, %range) <{pack = 4 : i32}> ({
    ^bb0(%a0: i32, %a1: i32, %a2: i32, %a3: i32, %b0: i32, %b1: i32, %b2: i32, %b3: i32):
      %r0 = arith.subi %a0, %b0 : i32
      %r1 = arith.subi %a1, %b1 : i32
      %r2 = arith.subi %a2, %b2 : i32
      %r3 = arith.subi %a3, %b3 : i32
      tt.map_elementwise.return %r0, %r1, %r2, %r3 : i32, i32, i32, i32
    }) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %into = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %to = tt.addptr %into, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %to, %m : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
";
    let target = target("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}"));
    let given = (0..64i32).flat_map(|at| (at * at).to_le_bytes()).collect();
    let (left, _) =
        run_block(&target, &kernel, &[InitialBuffer::Bytes(given), InitialBuffer::Empty(256)], &[]).unwrap();
    assert_eq!(words(&left[1]), (0..64).map(|at| at * at - at).collect::<Vec<_>>());
}

/// Each `ttg.warp_specialize` of a program has its own partitions: other numbers of them, and of their warps.
#[test]
fn programs_may_have_several_sets_of_partitions() {
    let text = "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {
  tt.func public @k(%y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    ttg.warp_specialize(%y)
    default {
      ttg.warp_yield
    }
    partition0(%p: !tt.ptr<i32>) num_warps(4) {
      %one = arith.constant 1 : i32
      tt.store %p, %one : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    ttg.warp_specialize(%y)
    default {
      ttg.warp_yield
    }
    partition0(%p: !tt.ptr<i32>) num_warps(1) {
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %at = tt.addptr %p, %one : !tt.ptr<i32>, i32
      tt.store %at, %two : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%q: !tt.ptr<i32>) num_warps(4) {
      %two = arith.constant 2 : i32
      %first = tt.load %q : !tt.ptr<i32>
      %sum = arith.addi %first, %two : i32
      %at = tt.addptr %q, %two : !tt.ptr<i32>, i32
      tt.store %at, %sum : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}
";
    let (target, mut device) = device_of("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernel.launch.warps, 9);
    let (left, _) = run_block(&target, &kernel, &[InitialBuffer::Empty(12)], &[]).unwrap();
    assert_eq!(words(&left[0]), [1, 2, 3]);
    let shape = Shape { warps: 9, grid: [1; 3], shared_bytes: kernel.shared_bytes() };
    let ptx = assembled("h100", vec![kernel]);
    let (left, _) = run_on(&mut device, &ptx, "k", shape, &[DeviceGiven::Buffer(vec![0; 12])]).unwrap();
    assert_eq!(words(&left[0]), [1, 2, 3]);
}

/// `ttg.inline_asm` takes all registers of a lane, and addresses of shared memory, which it may read.
#[test]
fn assembly_of_lanes_takes_all_their_registers() {
    let text = "#l = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #l>
    %from = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #l>
    %at = tt.addptr %from, %range : tensor<256x!tt.ptr<i32>, #l>, tensor<256xi32, #l>
    %a = tt.load %at : tensor<256x!tt.ptr<i32>, #l>
    %s = ttg.inline_asm \"sub.s32 $0, $2, $4; sub.s32 $1, $3, $4;\" {constraints = \"=&r,=&r,r,r,r\", pure = true} %a, %n : (tensor<256xi32, #l>, i32) -> tensor<256xi32, #l>
    %m = ttg.local_alloc %s : (tensor<256xi32, #l>) -> !ttg.memdesc<256xi32, #flat, #smem, mutable>
    %first = ttg.inline_asm \"ld.shared.b32 $0, [$1];\" {constraints = \"=r,r,~{memory}\", pure = false} %m : (!ttg.memdesc<256xi32, #flat, #smem, mutable>) -> i32
    %all = tt.splat %first : i32 -> tensor<256xi32, #l>
    %sum = arith.addi %s, %all : tensor<256xi32, #l>
    %into = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #l>
    %to = tt.addptr %into, %range : tensor<256x!tt.ptr<i32>, #l>, tensor<256xi32, #l>
    tt.store %to, %sum : tensor<256x!tt.ptr<i32>, #l>
    tt.return
  }
}
";
    let (target, mut device) = device_of("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}"));
    let shape = Shape { warps: 4, grid: [1; 3], shared_bytes: kernel.shared_bytes() };
    let ptx = assembled("h100", vec![kernel]);
    let given: Vec<u8> = (0..256i32).flat_map(|at| (at * 3 + 7).to_le_bytes()).collect();
    let arguments = [DeviceGiven::Buffer(given), DeviceGiven::Buffer(vec![0; 1024]), DeviceGiven::Word(5)];
    let (left, _) = run_on(&mut device, &ptx, "k", shape, &arguments).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    assert_eq!(words(&left[1]), (0..256).map(|at| at * 3 + 2 + 2).collect::<Vec<_>>());
}

/// A constant of 64 bits whose division takes 32 bits stays a constant: shifts and products replace the division.
#[test]
fn divisions_by_constants_take_no_division() {
    let text = "tt.func public @k(%y: !tt.ptr<i32>) {
    %six = arith.constant 6 : i64
    %ten = arith.constant 10 : i64
    %p = tt.get_program_id x : i32
    %w = arith.extsi %p : i32 to i64
    %q = arith.divsi %w, %six : i64
    %r = arith.remsi %w, %six : i64
    %t = arith.muli %q, %ten : i64
    %s = arith.addi %t, %r : i64
    %n = arith.trunci %s : i64 to i32
    %at = tt.addptr %y, %p : !tt.ptr<i32>, i32
    tt.store %at, %n : !tt.ptr<i32>
    tt.return
}";
    let (target, mut device) = device_of("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}"));
    let shape = Shape { warps: 4, grid: [20, 1, 1], shared_bytes: kernel.shared_bytes() };
    let ptx = assembled("h100", vec![kernel]);
    assert!(!ptx.contains("div.") && !ptx.contains("rem."), "{ptx}");
    let arguments = [DeviceGiven::Buffer(vec![0; 80])];
    let (left, _) = run_on(&mut device, &ptx, "k", shape, &arguments).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    assert_eq!(words(&left[0]), (0..20).map(|at| at / 6 * 10 + at % 6).collect::<Vec<_>>());
}

#[test]
fn tensors_of_rank_0_are_scalars() {
    let text = "tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %s = tt.load %x : !tt.ptr<f32>
    %a = tt.splat %s : f32 -> tensor<f32>
    %b = arith.addf %a, %a : tensor<f32>
    %c = tt.reshape %b : tensor<f32> -> tensor<1xf32>
    %d = tt.reshape %c : tensor<1xf32> -> tensor<f32>
    %e = tt.splat %d : tensor<f32> -> tensor<64xf32>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %p = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %e : tensor<64x!tt.ptr<f32>>
    tt.return
}";
    let target = target("h100");
    let kernel = program_kernel(&target, text).unwrap_or_else(|error| panic!("{error}"));
    let given = [InitialBuffer::Bytes(1.5f32.to_le_bytes().to_vec()), InitialBuffer::Empty(256)];
    let (left, _) = run_block(&target, &kernel, &given, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(left[1], [3.0f32.to_le_bytes(); 64].concat());
}
