//! Tests of the import of vendors' operations as neutral ones.

use std::collections::BTreeMap;

use tilewright_dialects::{DIALECT_FILES, all_dialects, read_import_tables};
use tilewright_tile::import::replace_vendor_operations;
use tilewright_tile::transform::make_copies_synchronous;
use tilewright_tile::{TileModule, text, verify_module, verify_transformed_module};

fn read(program: &str) -> TileModule {
    let module = text::parse_module(program, &all_dialects()).unwrap_or_else(|error| panic!("{error}\n{program}"));
    verify_module(&module).unwrap_or_else(|violation| panic!("{}\n{program}", violation.to_text_error(program)));
    module
}

/// Imports a program and returns the text of the neutral program, after a check that it verifies.
pub fn neutral(program: &str) -> String {
    let done = replace_vendor_operations(&read(program), &read_import_tables(), &all_dialects())
        .unwrap_or_else(|error| panic!("{}", error.to_text_error(program)));
    let printed = text::print_module(&done);
    verify_transformed_module(&done).unwrap_or_else(|violation| panic!("{violation}\n{printed}"));
    printed
}

fn body(printed: &str) -> Vec<String> {
    let lines = printed.lines().skip_while(|line| !line.contains("tt.func")).skip(1);
    lines.map(|line| line.trim().to_owned()).take_while(|line| !line.starts_with("tt.return")).collect()
}

/// Returns a program that calls a library function with operands of these types.
fn call(symbol: &str, operands: &[&str], result: &str) -> String {
    let arguments: Vec<_> = operands.iter().enumerate().map(|(index, ty)| format!("%a{index}: {ty}")).collect();
    let names: Vec<_> = (0..operands.len()).map(|index| format!("%a{index}")).collect();
    let (arguments, names, types) = (arguments.join(", "), names.join(", "), operands.join(", "));
    format!(
        "module {{
  tt.func public @f({arguments}) -> {result} {{
    %r = tt.extern_elementwise {names} {{libname = \"\", libpath = \"\", pure = true, symbol = \"{symbol}\"}} : ({types}) -> {result}
    tt.return %r : {result}
  }}
}}
"
    )
}

#[test]
fn library_functions_of_all_vendors_mean_the_same() {
    let tensor = "tensor<64xf32>";
    for symbol in
        ["__nv_tanhf", "__nv_fast_tanhf", "__ocml_tanh_f32", "__imf_tanhf", "_Z4tanhf", "__triton_hip_fast_tanhf"]
    {
        let expected = call("", &[tensor], tensor).replace(
            "tt.extern_elementwise %a0 {libname = \"\", libpath = \"\", pure = true, symbol = \"\"} : (tensor<64xf32>) -> tensor<64xf32>",
            "math.tanh %a0 : tensor<64xf32>",
        );
        assert_eq!(neutral(&call(symbol, &[tensor], tensor)), expected, "{symbol}");
    }
    for (symbol, operands, result, expected) in [
        ("__nv_powf", &["f32", "f32"][..], "f32", &["%r = math.powf %a0, %a1 : f32"][..]),
        ("__ocml_fmod_f64", &["f64", "f64"], "f64", &["%r = arith.remf %a0, %a1 : f64"]),
        ("__nv_rintf", &["f32"], "f32", &["%r = math.roundeven %a0 : f32"]),
        ("__nv_isnanf", &["f32"], "i32", &["%0 = math.isnan %a0 : f32", "%r = arith.extui %0 : i1 to i32"]),
        ("__nv_float2int_ru", &["f32"], "i32", &["%0 = math.ceil %a0 : f32", "%r = arith.fptosi %0 : f32 to i32"]),
        (
            "__nv_rcbrtf",
            &["f32"],
            "f32",
            &["%0 = math.cbrt %a0 : f32", "%1 = arith.constant 1.000000e+00 : f32", "%r = arith.divf %1, %0 : f32"],
        ),
        ("__nv_exp10", &["f64"], "f64", &["%r = tw.math.exp10 %a0 : f64"]),
        ("__nv_fadd_ru", &["f32", "f32"], "f32", &["%r = tw.math.add_ru %a0, %a1 : f32"]),
        ("__ocml_sqrt_rtn_f64", &["f64"], "f64", &["%r = tw.math.sqrt_rd %a0 : f64"]),
        (
            "__nv_ldexpf",
            &["f32", "i32"],
            "f32",
            &["%0 = arith.sitofp %a1 : i32 to f32", "%r = tw.math.scalbn %a0, %0 : f32"],
        ),
        ("__ocml_i0_f32", &["f32"], "f32", &["%r = tw.math.bessel_i0 %a0 : f32"]),
        ("__nv_cyl_bessel_i1", &["f64"], "f64", &["%r = tw.math.bessel_i1 %a0 : f64"]),
        ("__nv_erfcinvf", &["f32"], "f32", &["%r = tw.math.erfcinv %a0 : f32"]),
        (
            "__nv_jn",
            &["i32", "f64"],
            "f64",
            &["%0 = arith.sitofp %a0 : i32 to f64", "%r = tw.math.bessel_jn %0, %a1 : f64"],
        ),
        (
            "__imf_ynf",
            &["i32", "f32"],
            "f32",
            &["%0 = arith.sitofp %a0 : i32 to f32", "%r = tw.math.bessel_yn %0, %a1 : f32"],
        ),
        ("__nv_double2float_rd", &["f64"], "f32", &["%r = arith.truncf %a0 downward : f64 to f32"]),
    ] {
        let found = body(&neutral(&call(symbol, operands, result)));
        assert_eq!(found, expected, "{symbol}");
    }
}

/// For each function of the import tables some call verifies after import, and no vendor operation is left of the call.
#[test]
fn every_function_of_the_tables_has_a_meaning_that_keeps_the_rules() {
    const TYPES: [&str; 5] = ["f32", "f64", "f16", "i32", "i64"];
    let (imports, dialects) = (read_import_tables(), all_dialects());
    let keeps_the_rules = |symbol: &str, operands: &[&str], result: &str| {
        let Ok(module) = text::parse_module(&call(symbol, operands, result), &dialects) else { return false };
        let Ok(done) = replace_vendor_operations(&module, &imports, &dialects) else { return false };
        verify_module(&done).is_ok() && !text::print_module(&done).contains("extern")
    };
    let counts = [1, 2, 3, 4];
    assert!(imports.function_names().len() > 400, "{}", imports.function_names().len());
    for symbol in imports.function_names() {
        let found = counts.iter().any(|count| {
            TYPES.iter().any(|first| {
                let others = if *count == 2 { &TYPES[..] } else { std::slice::from_ref(first) };
                others.iter().any(|second| {
                    let mut operands = vec![*second; *count];
                    operands[0] = first;
                    TYPES.iter().any(|result| keeps_the_rules(symbol, &operands, result))
                })
            })
        });
        assert!(found, "`{symbol}` has no call that keeps the rules");
    }
}

/// Each function of the `libdevice` modules of Triton 3.9 for NVIDIA and AMD has an import.
#[test]
fn the_functions_of_libdevice_modules_are_known() {
    let imports = read_import_tables();
    let known: std::collections::BTreeSet<&str> = imports.function_names().collect();
    let names = [include_str!("../names/libdevice.txt"), include_str!("../names/ocml.txt")];
    let all: Vec<&str> = names.iter().flat_map(|names| names.lines()).collect();
    assert!(all.len() > 400, "{}", all.len());
    let missing: Vec<&str> = all.into_iter().filter(|name| !known.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn an_unknown_function_is_rejected_at_its_location() {
    let program = call("__nv_tanff", &["f32"], "f32");
    let error = replace_vendor_operations(&read(&program), &read_import_tables(), &all_dialects())
        .expect_err("no such function")
        .to_text_error(&program)
        .to_string();
    assert_eq!(error, "3:10: `tt.extern_elementwise`: no import table has `__nv_tanff`; did you mean `__nv_tanf`?");
}

#[test]
fn buffers_are_global_memory() {
    let program = "module {
  tt.func public @f(%p: !tt.ptr<f16>, %o: tensor<64xi32>, %m: tensor<64xi1>, %x: tensor<64xf16>) {
    %v = amdg.buffer_load %p[%o], %m, %x {contiguity = 2 : i32} : !tt.ptr<f16> -> tensor<64xf16>
    amdg.buffer_store %v, %p[%o], %m {contiguity = 2 : i32} : !tt.ptr<f16> -> tensor<64xf16>
    %r = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %v, %p[%o], %m : !tt.ptr<f16> -> tensor<64xf16>
    rocdl.s.setprio 1
    rocdl.sched.barrier none
    tt.return
  }
}
";
    assert_eq!(
        body(&neutral(program)),
        [
            "%0 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>",
            "%1 = tt.addptr %0, %o : tensor<64x!tt.ptr<f16>>, tensor<64xi32>",
            "%v = tt.load %1, %m, %x : tensor<64x!tt.ptr<f16>>",
            "%2 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>",
            "%3 = tt.addptr %2, %o : tensor<64x!tt.ptr<f16>>, tensor<64xi32>",
            "tt.store %3, %v, %m : tensor<64x!tt.ptr<f16>>",
            "%4 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>",
            "%5 = tt.addptr %4, %o : tensor<64x!tt.ptr<f16>>, tensor<64xi32>",
            "%r = tt.atomic_rmw fadd, relaxed, gpu, %5, %v, %m : (tensor<64x!tt.ptr<f16>>, tensor<64xf16>, tensor<64xi1>) -> tensor<64xf16>",
        ]
    );
}

const TILES: &str = r#"#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<f16>, %rows: i32, %bytes: i64, %n: i32, %c: i1, %acc: tensor<64x64xf32, #mma>, %b: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>) {
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %s = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %s, %p, [%n, %n], [%n, %rows], [%bytes], [%one, %one] {elem_type = 6 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 2 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %s : !tt.ptr<i8>
    %d = ttng.reinterpret_tensor_descriptor %s : !tt.ptr<i8> to !tt.tensordesc<64x32xf16, #shared>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.barrier_expect %bar, 4096, %c : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%n, %one] %a, %bar, %c : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%n, %n] %a, %bar, %true : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %one : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %x = ttng.warp_group_dot %a, %b, %acc, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x32xf16, #shared, #smem, mutable> * !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %y:2 = ttng.warp_group_dot_wait %x, %a {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%n, %one] %y#1 : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
"#;

/// Asynchronous operations are imported as neutral ones; a tensor descriptor built on the device gets the values that
/// the host would encode.
#[test]
fn asynchronous_copies_and_mmas_have_neutral_ops() {
    let printed = neutral(TILES);
    for (line, expected) in [
        ("%two_bytes", "arith.divsi %bytes, %0 : i64"),
        (
            "%d",
            "tt.make_tensor_descriptor %p, [%rows, %n], [%1, %2] {padding = 2 : i32} : <f16>, <64x32xf16, #nvmma_shared>",
        ),
        ("%made", "tw.mbarrier_init %bar, 1 : "),
        ("%expected", "tw.mbarrier_expect %bar, 4096 if %c : "),
        (
            "%copied",
            "tw.bulk_tensor_load %d[%n, %one] to %a at %bar if %c : !tt.tensordesc<64x32xf16, #nvmma_shared> -> ",
        ),
        ("%awaited", "tw.mbarrier_wait %bar, %one : "),
        ("%choice", "arith.select %c, %acc, %"),
        ("%x", "tt.dot %"),
        (
            "%precision",
            ", inputPrecision = tf32 {tw.pending = true} : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32, #nvidia_mma>",
        ),
        ("%y", "tw.mma_wait %x, %a {outstanding = 0 : i32} : "),
        ("%store", "tw.bulk_tensor_store %d[%n, %one] from %y#1 : "),
        ("%stored", "tw.bulk_tensor_wait {outstanding = 0 : i32}"),
    ] {
        assert!(printed.contains(expected), "{line}: {expected}\n{printed}");
    }
    assert!(!printed.contains("ttng."), "{printed}");
}

/// Bulk tensor copies become loads and stores by lanes; if all warps execute the same code, no wait is needed.
#[test]
fn tensor_copies_become_synchronous_copies() {
    let module = replace_vendor_operations(&read(TILES), &read_import_tables(), &all_dialects())
        .unwrap_or_else(|error| panic!("{error}"));
    let module = make_copies_synchronous(&module, &all_dialects()).unwrap_or_else(|error| panic!("{error}"));
    verify_transformed_module(&module).unwrap_or_else(|error| panic!("{error}"));
    let printed = text::print_module(&module);
    for expected in [
        "tt.descriptor_load %d[%n, %one] : !tt.tensordesc<64x32xf16, #nvmma_shared> -> tensor<64x32xf16, #blocked>",
        "ttg.local_store %",
        "tt.descriptor_store %d[%n, %one], %",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    // One copy is predicated, the other is unconditional.
    assert_eq!(printed.matches("scf.if %c {").count(), 1, "{printed}");
    assert_eq!(printed.matches("tt.descriptor_load").count(), 2, "{printed}");
    assert!(!printed.contains("mbarrier") && !printed.contains("_box"), "{printed}");
}

const BROUGHT: &str = r#"#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%d: !tt.tensordesc<64x32xf16, #shared>, %a: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #flat, #smem, mutable>) {
    ttg.warp_specialize(%d, %a, %b, %bar)
    default {
      %zero = arith.constant 0 : i32
      ttng.wait_barrier %bar, %zero : !ttg.memdesc<1xi64, #flat, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%desc: !tt.tensordesc<64x32xf16, #shared>, %x: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, %full: !ttg.memdesc<1xi64, #flat, #smem, mutable>) num_warps(2) {
      %i = arith.constant 0 : i32
      %true = arith.constant true
      ttng.barrier_expect %full, 8192, %true : !ttg.memdesc<1xi64, #flat, #smem, mutable>
      ttng.async_tma_copy_global_to_local %desc[%i, %i] %x, %full, %true : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %desc[%i, %i] %y, %full, %true : !tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
      ttg.warp_return
    } : (!tt.tensordesc<64x32xf16, #shared>, !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, !ttg.memdesc<64x32xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>) -> ()
    tt.return
  }
}
"#;

/// With warp specialization, the arrival at an mbarrier follows the last copy of its phase, and a partition's loads are
/// divided among the partition's own warps.
#[test]
fn groups_arrive_behind_what_they_bring() {
    let once = |text: &str| {
        let module = replace_vendor_operations(&read(text), &read_import_tables(), &all_dialects())
            .unwrap_or_else(|error| panic!("{error}"));
        make_copies_synchronous(&module, &all_dialects()).map_err(|error| error.to_string())
    };
    let module = once(BROUGHT).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module).unwrap_or_else(|error| panic!("{error}"));
    let printed = text::print_module(&module);
    let mut rest = printed.as_str();
    let waits = "tw.mbarrier_wait %bar, %zero";
    for expected in
        [waits, "tt.descriptor_load", "local_store", "tt.descriptor_load", "local_store", "mbarrier_arrive %full, 1"]
    {
        let found = rest.split_once(expected);
        rest = found.unwrap_or_else(|| panic!("no `{expected}` where it is expected in\n{printed}")).1;
    }
    assert_eq!(printed.matches("mbarrier_arrive").count(), 1, "{printed}");
    assert!(printed.contains("warpsPerCTA = [2, 1]") && !printed.contains("warpsPerCTA = [4, 1]"), "{printed}");
    let message = once(&BROUGHT.replace("8192", "4000")).expect_err("other bytes");
    assert!(message.contains("do not transfer the bytes that it expects"), "{message}");
}

const TENSOR_MEMORY_MMA: &str = r#"#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#acc = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%a: !ttg.memdesc<128x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %bar: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %u: i1, %x: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %true = arith.constant true
    %d, %t = ttng.tmem_alloc : () -> (!ttg.memdesc<128x64xf32, #acc, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %s = ttng.tmem_store %x, %d[%t], %true : tensor<128x64xf32> -> !ttg.memdesc<128x64xf32, #acc, #ttng.tensor_memory, mutable>
    %m = ttng.tc_gen5_mma %a, %b, %d[%s], %u, %true, %bar[%true] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #acc, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %r, %l = ttng.tmem_load %d[%m] : !ttg.memdesc<128x64xf32, #acc, #ttng.tensor_memory, mutable> -> tensor<128x64xf32>
    tt.return %r : tensor<128x64xf32>
  }
}
"#;

/// Accumulators in tensor memory are read before an MMA, if the MMA accumulates, and written after it.
#[test]
fn tensor_memory_mmas_read_and_write_their_accumulators() {
    let printed = neutral(TENSOR_MEMORY_MMA);
    let arrives = "tw.mbarrier_arrive %bar, 1 if %true";
    let product = ["scf.if %u", "local_load %d", "tt.dot", "local_store", arrives];
    let names = ["local_alloc", "local_store"].into_iter().chain(product).chain(["local_load %d"]);
    let mut rest = printed.as_str();
    for name in names {
        let (_, after) =
            rest.split_once(name).unwrap_or_else(|| panic!("no `{name}` where it is expected in\n{printed}"));
        rest = after;
    }
    assert!(!printed.contains(" ttng."), "{printed}");
}

/// Products of numbers and scales are rounded once, whether the scales are numbers or exponent codes.
#[test]
fn scales_are_numbers_or_codes_of_powers() {
    let upcast = |scale: &str| {
        format!(
            "module {{
  tt.func public @f(%x: tensor<4x64xf8E4M3FN>, %s: tensor<4x64x{scale}>) -> tensor<4x64xf16> {{
    %r = amdg.scaled_upcast_fp8 %x scale %s : tensor<4x64xf8E4M3FN>, tensor<4x64x{scale}> -> tensor<4x64xf16>
    tt.return %r : tensor<4x64xf16>
  }}
}}
"
        )
    };
    let codes = body(&neutral(&upcast("i8")));
    assert_eq!(codes[0], "%0 = tt.fp_to_fp %x : tensor<4x64xf8E4M3FN> -> tensor<4x64xf32>");
    assert_eq!(codes[1], "%1 = tt.bitcast %s : tensor<4x64xi8> -> tensor<4x64xf8E8M0FNU>");
    assert_eq!(codes[2], "%2 = tt.fp_to_fp %1 : tensor<4x64xf8E8M0FNU> -> tensor<4x64xf32>");
    assert_eq!(codes[3], "%3 = arith.mulf %0, %2 : tensor<4x64xf32>");
    assert_eq!(codes[4], "%r = tt.fp_to_fp %3, rounding = rtne : tensor<4x64xf32> -> tensor<4x64xf16>");
    let numbers = body(&neutral(&upcast("bf16")));
    assert_eq!(numbers[1], "%1 = tt.fp_to_fp %s : tensor<4x64xbf16> -> tensor<4x64xf32>");
    assert_eq!(numbers[2], "%2 = arith.mulf %0, %1 : tensor<4x64xf32>");
}

/// Copies by an updated tensor descriptor are predicated by the update's predicate and start at the update's offset.
#[test]
fn descriptors_that_move_begin_elsewhere() {
    let program = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%d: !tt.tensordesc<8x16xf32, #shared>, %b: !ttg.memdesc<8x16xf32, #shared, #smem, mutable>, %i: i32, %r: tensor<8xi32>) {
    %m = amdg.update_tensor_descriptor %d add_offsets = [%i, %i] pred = %i {clamp_bounds} : !tt.tensordesc<8x16xf32, #shared>
    %t = amdg.async_tdm_copy_global_to_local %m into %b : !tt.tensordesc<8x16xf32, #shared> -> !ttg.memdesc<8x16xf32, #shared, #smem, mutable>
    %w = amdg.async_tdm_wait %t {num = 0 : i32}
    %s = amdg.async_tdm_scatter %d[%r] from %b : tensor<8xi32>, !ttg.memdesc<8x16xf32, #shared, #smem, mutable> -> !tt.tensordesc<8x16xf32, #shared>
    tt.return
  }
}
";
    let printed = neutral(program);
    for expected in [
        "%m = tw.update_tensor_descriptor %d by [%i, %i] if %i {clamp_bounds} : !tt.tensordesc<8x16xf32, #swizzled_shared>",
        "tw.descriptor_pred %m",
        "tt.descriptor_load %m[%",
        "ttg.local_store %",
        "tt.descriptor_scatter %d[%r, %",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    assert!(!printed.contains("amdg."), "{printed}");
}

#[test]
fn a_barrier_of_mlir_orders_all_memory() {
    let program = "module {\n  tt.func public @f() {\n    gpu.barrier\n    tt.return\n  }\n}\n";
    assert_eq!(body(&neutral(program)), ["ttg.barrier all"]);
}

#[test]
fn what_has_no_neutral_meaning_is_refused_with_the_reason() {
    let program = "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {
  tt.func public @f(%d: !tt.tensordesc<64x64xf16>, %i: i32, %p: i1) {
    %o = amdg.tdm_prefetch %d[%i, %i], %p, speculative = true {returnOffsets} : !tt.tensordesc<64x64xf16> -> tensor<64x64xi64>
    tt.return
  }
}
";
    let error = replace_vendor_operations(&read(program), &read_import_tables(), &all_dialects())
        .expect_err("refused")
        .to_text_error(program)
        .to_string();
    let rule = "with `returnOffsets` it has no neutral meaning: where it begins";
    assert_eq!(error, format!("3:10: `amdg.tdm_prefetch`: {rule}"));
}

/// An image has as many axes as each of its copies has coordinates.
#[test]
fn copies_from_an_image_have_as_many_coordinates() {
    let program = |second: &str| {
        format!(
            "#smem = #ttg.shared_memory
#flat = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#nv = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
module attributes {{\"ttg.num-warps\" = 4 : i32}} {{
  tt.func public @f(%d: !ttng.tensordesc_im2col<64x64xf16, #nv>, %m: !ttg.memdesc<64x64xf16, #nv, #smem, mutable>, %b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %i: i32, %o: i16, %p: i1) {{
    ttng.async_tma_copy_global_to_local %d[%i, %i, %i, %i] offsets = [%o, %o] %m, %b, %p : !ttng.tensordesc_im2col<64x64xf16, #nv>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d{second} %m, %b, %p : !ttng.tensordesc_im2col<64x64xf16, #nv>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    tt.return
  }}
}}
"
        )
    };
    let same = program("[%i, %i, %i, %i] offsets = [%o, %o]");
    let module = replace_vendor_operations(&read(&same), &read_import_tables(), &all_dialects())
        .unwrap_or_else(|error| panic!("{}", error.to_text_error(&same)));
    let added: Vec<String> = module.functions[0].signature.arguments.iter().skip(6).map(ToString::to_string).collect();
    // Sizes, strides, and begin, end and step of the spatial axes.
    assert_eq!(added, [vec!["i32"; 4], vec!["i64"; 4], vec!["i32"; 6]].concat());
    let other = program("[%i, %i, %i] offsets = [%o]");
    let error = replace_vendor_operations(&read(&other), &read_import_tables(), &all_dialects())
        .expect_err("other coordinates")
        .to_text_error(&other)
        .to_string();
    let rule = "3 coordinates, and another copy of the image has 4";
    assert_eq!(error, format!("7:5: `ttng.async_tma_copy_global_to_local`: {rule}"));
}

/// A multicast of four blocks arrives at each block's mbarrier once for each block that reaches it. Gluon's
/// `tcgen05_mma_barrier_count` gives the numbers of MMAs.
#[test]
fn multicasts_arrive_once_for_each_block() {
    let program = "#smem = #ttg.shared_memory
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [2]]}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0], [0, 0]]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0], [0, 1]]}>
#d = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CGALayout = [[1, 0], [0, 1]]>
module attributes {\"ttg.num-ctas\" = 4 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {
  tt.func public @f(%m: !ttg.memdesc<4xi64, #bar, #smem, mutable>, %a: !ttg.memdesc<256x64xf16, #a, #smem>, %b: !ttg.memdesc<64x128xf16, #b, #smem>, %d: !ttg.memdesc<256x128xf32, #d, #ttng.tensor_memory, mutable>, %t: i1) {
OP
    tt.return
  }
}
";
    let barrier = "!ttg.memdesc<4xi64, #bar, #smem, mutable>";
    let (a, b) = ("!ttg.memdesc<256x64xf16, #a, #smem>", "!ttg.memdesc<64x128xf16, #b, #smem>");
    let arrive = |mask: u32| format!("    ttng.arrive_barrier %m, 3 {{multicastCTA = {mask} : i32}} : {barrier}");
    let mma = |flags: &str| {
        format!(
            "    ttng.tc_gen5_mma %a, %b, %d, %t, %t, %m[%t] {{is_async{flags}}} : {a}, {b}, \
             !ttg.memdesc<256x128xf32, #d, #ttng.tensor_memory, mutable>, {barrier}"
        )
    };
    let check = |program: &str, count: u32| {
        let printed = text::print_module(
            &replace_vendor_operations(&read(program), &read_import_tables(), &all_dialects())
                .expect("the program is imported"),
        );
        assert!(printed.contains(&format!("tw.mbarrier_arrive %m, {count} ")), "{count} in\n{printed}");
    };
    for (op, count) in [
        (arrive(1), 6),
        (arrive(3), 12),
        (mma(""), 1),
        (mma(", multicast"), 3),
        (format!("    ttng.tc_gen5_commit %m : {barrier}"), 1),
        (format!("    ttng.tc_gen5_commit %m descs %a : {barrier}, {a}"), 2),
        (format!("    ttng.tc_gen5_commit %m descs %a, %b : {barrier}, {a}, {b}"), 3),
    ] {
        check(&program.replace("OP", &op), count);
    }
    // Of two blocks that share an MMA, one commits.
    let op = format!("    ttng.tc_gen5_commit %m descs %a, %b : {barrier}, {a}, {b}");
    let in_pairs = program.replace("attributes {", "attributes {\"ttg.two-ctas\" = true, ").replace("OP", &op);
    check(&in_pairs, 2);
}

/// Cluster launch control: no program is cancelled, and the request's mbarrier completes in warp partitions.
#[test]
fn launch_control_leaves_every_program_to_its_own_blocks() {
    let program = BROUGHT
        .replace(
            "      ttng.async_tma_copy_global_to_local %desc[%i, %i] %y,",
            "      ttng.clc_try_cancel %answer, %full : !ttg.memdesc<2xi64, #flat, #smem, mutable>, !ttg.memdesc<1xi64, #flat, #smem, mutable>
      %r = ttng.clc_load_result %answer : !ttg.memdesc<2xi64, #flat, #smem, mutable> -> i128
      %c = ttng.clc_is_canceled %r : i128 -> i1
      %p = ttng.clc_get_program_id %r, x : i128 -> i32
      ttng.async_tma_copy_global_to_local %desc[%p, %i] %y,",
        )
        .replace("      %true = arith.constant true\n", "      %true = arith.constant true\n      %answer = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #flat, #smem, mutable>\n")
        .replace("8192", "8208");
    let module = replace_vendor_operations(&read(&program), &read_import_tables(), &all_dialects())
        .unwrap_or_else(|error| panic!("{error}"));
    let module = make_copies_synchronous(&module, &all_dialects()).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module).unwrap_or_else(|error| panic!("{error}"));
    let printed = text::print_module(&module);
    let mut rest = printed.as_str();
    let steps = ["descriptor_load", "arith.constant dense<0>", "local_store", "arith.constant 0 : i32", "arith.trunci"];
    for expected in steps.into_iter().chain(["descriptor_load", "local_store", "mbarrier_arrive %full, 1"]) {
        let found = rest.split_once(expected);
        rest = found.unwrap_or_else(|| panic!("no `{expected}` where it is expected in\n{printed}")).1;
    }
    assert!(!printed.contains("ttng.") && !printed.contains("i128"), "{printed}");
}

/// Every operation of the vendors' dialects has a row in an import table: its neutral counterpart, or the reason for
/// its rejection.
#[test]
fn every_operation_of_the_vendors_has_a_row() {
    let imports = read_import_tables();
    let rows: BTreeMap<_, _> = imports.operation_names().collect();
    let known = all_dialects();
    let vendors: Vec<_> = DIALECT_FILES.iter().map(|(file, _)| file.trim_end_matches(".toml")).collect();
    for definition in known.iter().filter(|definition| vendors.contains(&definition.dialect())) {
        assert!(rows.contains_key(&*definition.name), "`{}` has no row", definition.name);
    }
    for name in rows.keys() {
        assert!(known.find_definition(name).is_some(), "there is no operation `{name}`");
    }
}

/// Inline assembly that rounds to tf32 is imported as operations with the same rounding: to nearest, ties away from
/// zero, for numbers and NaN.
#[test]
fn assembly_that_a_table_has_becomes_operations() {
    let assembly = |text: &str| {
        format!(
            "module {{
  tt.func public @f(%x: tensor<64xf32>) -> tensor<64xf32> {{
    %r = tt.elementwise_inline_asm \"{text}\" {{constraints = \"=r,r\", packed_element = 1 : i32, pure = true}} %x : tensor<64xf32> -> tensor<64xf32>
    tt.return %r : tensor<64xf32>
  }}
}}
"
        )
    };
    let rounded = neutral(&assembly("cvt.rna.tf32.f32 $0, $1;"));
    assert!(
        !rounded.contains("inline_asm") && rounded.contains("arith.andi") && rounded.contains("math.isnan"),
        "{rounded}"
    );
    for text in ["ex2.approx.f32 $0, $1;", "{ ex2.approx.ftz.f32  $0, $1; }", "v_exp_f32 $0, $1"] {
        let function = neutral(&assembly(text));
        assert!(!function.contains("inline_asm") && function.contains("math.exp2 "), "{function}");
    }
    // Several statements, with registers of their own and numbers.
    let several =
        neutral(&assembly("{ .reg .f32 t; ex2.approx.f32 t, $1; fma.rn.f32 $0, t, 0f40000000, 0x3F800000; }"));
    for part in ["math.exp2 ", "dense<1073741824>", "dense<1065353216>", "math.fma "] {
        assert!(several.contains(part), "no `{part}` in {several}");
    }
    // Other assembly stays: only the vendor's compiler knows it. So do registers of several elements.
    let packed = assembly("mov.b32 $0, $1;").replace("f32", "i8").replace("packed_element = 1", "packed_element = 4");
    let others = [
        "mov.u32 $0, %laneid;",
        "ld.global.f32 $0, [$1];",
        "@p mov.b32 $0, $1;",
        "mov.b32 t, $1;",
        "mov.b32 $0, t;",
        "mov.b32 $0, $2;",
        "mov.b32 $1, $1; mov.b32 $0, $1;",
        "ex2.approx.f32 $0, $1; unknown.f32 $0, $0;",
        "v_exp_f32 $0, $1; ex2.approx.f32 $0, $0;",
    ];
    for other in others.map(assembly).into_iter().chain([packed]) {
        assert_eq!(neutral(&other), other);
    }
}
