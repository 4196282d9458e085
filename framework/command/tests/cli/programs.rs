//! Tests that compile tile programs stage by stage and run them on the emulator.

use crate::command;

use std::path::PathBuf;

use command::{json_lines, root, run, tilewright};

fn kernel(name: &str) -> PathBuf {
    root().join("conformance/kernels").join(name)
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn compiled(arguments: &[&str]) -> String {
    let printed = run(tilewright().arg("compile").arg(kernel("add_masked.ttir")).args(arguments));
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    printed.out
}

#[test]
fn every_form_of_a_program_can_be_had() {
    for (form, phrase) in [
        ("layouts", "tt.load %xp, %m, %zero : tensor<64x!tt.ptr<f32>, #"),
        ("kernel", "kernel add_masked(%0 x: ptr.global"),
        ("llvm", "define"),
        ("asm", ".entry add_masked("),
    ] {
        let out = compiled(&["--target", "h100", "--emit", form]);
        assert!(out.contains(phrase), "{form}: {out}");
        assert_eq!(compiled(&["--target", "h100", "--emit", form]), out, "the same again");
    }
    assert!(compiled(&["--target", "mi250"]).contains("amdhsa--gfx90a"));
    assert!(!compiled(&["--target", "h100", "--emit", "plan"]).is_empty());
}

#[test]
fn warps_are_as_requested() {
    let warps = |count: &str| compiled(&["--target", "h100", "--emit", "kernel", "--warps", count]);
    assert!(warps("2").contains("lanes 32 warps 2") && warps("8").contains("lanes 32 warps 8"));
}

#[test]
fn optimizations_are_listed_and_disabled() {
    let listed = run(tilewright().arg("optimizations")).out;
    assert!(listed.lines().any(|line| line.starts_with("predicated-accesses ")), "{listed}");
    assert_ne!(compiled(&["--target", "h100", "--disable", "predicated-accesses"]), compiled(&["--target", "h100"]));
    let wrong = run(tilewright().args(["compile", "--target", "h100", "--disable", "prefech"]).arg(kernel("dot.ttir")));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean `prefetch`?"), "{}", wrong.err);
}

#[test]
fn a_dump_has_every_stage() {
    let folder = folder("dump");
    compiled(&["--target", "h100", "--dump", &folder.display().to_string()]);
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the dump")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "0-read.ttir",
        "1-import.ttir",
        "2-shape.ttir",
        "3-layouts.ttgir",
        "3-plan.txt",
        "4-kernel.kernel",
        "5-math.kernel",
    ];
    assert_eq!(names, expected);
}

#[test]
fn program_errors_show_their_location() {
    let file = folder("wrong").join("wrong.ttir");
    std::fs::write(
        &file,
        "module {\n  tt.func @f(%x: f32) {\n    %y = arith.adf %x, %x : f32\n    tt.return\n  }\n}\n",
    )
    .expect("a program");
    let printed = run(tilewright().args(["compile", "--target", "h100"]).arg(&file));
    let message = printed.failed(2);
    for phrase in ["arith.adf", "did you mean `arith.addf`?", "wrong.ttir:3:10"] {
        assert!(message.contains(phrase), "no `{phrase}` in {message}");
    }
    let printed = run(tilewright().args(["compile", "--target", "h100", "--entry", "g"]).arg(kernel("dot.ttir")));
    assert!(printed.failed(2).contains("there is no entry function `g`; expected one of `dot`"));
}

#[test]
fn cases_are_run_and_reported_in_order() {
    let names = ["softmax", "add_masked", "atomics"];
    let files: Vec<_> = names.iter().map(|name| kernel(&format!("{name}.json"))).collect();
    let printed = run(tilewright().args(["run", "--json", "--target", "a100"]).args(&files));
    let answers = json_lines(printed.ok());
    let reported: Vec<_> = answers.iter().map(|answer| (answer["name"].as_str(), answer["status"].as_str())).collect();
    assert_eq!(reported, names.map(|name| (Some(name), Some("pass"))));
}

/// A test case fails if one expected number is changed.
#[test]
fn a_case_that_leaves_something_else_fails() {
    let folder = folder("fails");
    for entry in std::fs::read_dir(kernel("")).expect("the kernels") {
        let file = entry.expect("a file").path();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("add_masked.") {
            std::fs::copy(&file, folder.join(&name)).expect("a copy");
        }
    }
    let expected = folder.join("add_masked.out.z.bin");
    let mut bytes = std::fs::read(&expected).expect("what is expected");
    bytes[4 * 70..4 * 71].copy_from_slice(&1000f32.to_le_bytes());
    std::fs::write(&expected, bytes).expect("changed");
    let printed = run(tilewright().args(["run", "--target", "a100"]).arg(&folder));
    assert_eq!(printed.code, Some(1), "{}{}", printed.out, printed.err);
    assert!(
        printed.out.contains("fail         add_masked: buffer `z`: 1 of 160 elements are wrong; the first at [70] is"),
        "{}",
        printed.out
    );
    assert!(printed.out.contains("a100: 0 pass, 1 fail, 0 unsupported"), "{}", printed.out);
}

#[test]
fn a_kernel_of_too_many_operations_is_refused_before_it_is_written() {
    let file = folder("large").join("large.ttir");
    let program = |elements: u64| {
        format!(
            "module {{
  tt.func public @large(%x: !tt.ptr<f32>) {{
    %i = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : tensor<{elements}xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<{elements}x!tt.ptr<f32>>
    %p = tt.addptr %xs, %i : tensor<{elements}x!tt.ptr<f32>>, tensor<{elements}xi32>
    %v = tt.load %p : tensor<{elements}x!tt.ptr<f32>>
    %y = math.sin %v : tensor<{elements}xf32>
    tt.store %p, %y : tensor<{elements}x!tt.ptr<f32>>
    tt.return
  }}
}}
"
        )
    };
    let compile = |elements: u64, warps: &str| {
        std::fs::write(&file, program(elements)).expect("a program");
        run(tilewright().args(["compile", "--target", "h100", "--emit", "kernel", "--warps", warps]).arg(&file))
    };
    // Each of 4096 registers of a lane is some hundred operations of the sine.
    let printed = compile(1 << 19, "4");
    let message = printed.failed(2);
    for phrase in [
        "`math.sin`: a thread has ",
        "large.ttir:7:10",
        "expected at most 262144: make the tensors smaller, use more warps",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in {message}");
    }
    // More warps are one remedy, as the message explains.
    assert_eq!(compile(1 << 19, "16").code, Some(0));
    // Tensors have a limit of their own.
    assert!(compile(1 << 21, "4").failed(2).contains("1048576"));
}

/// Checks the warning about a dot whose accumulators a lane cannot hold: 64 x 512 in f32 by 128 lanes.
#[test]
fn dots_that_spill_are_compiled_with_a_warning() {
    let file = folder("programs").join("wide.ttir");
    let (wide, pointers) = ("tensor<64x512xf32>", "tensor<64x512x!tt.ptr<f32>>");
    let operand = |shape: &str| format!("arith.constant dense<1.0> : tensor<{shape}xf16>");
    let program = format!(
        "module {{
  tt.func public @wide(%c: !tt.ptr<f32>) {{
    %a = {}
    %b = {}
    %zero = arith.constant dense<0.0> : {wide}
    %product = tt.dot %a, %b, %zero : tensor<64x16xf16> * tensor<16x512xf16> -> {wide}
    %p = tt.splat %c : !tt.ptr<f32> -> {pointers}
    tt.store %p, %product : {pointers}
    tt.return
  }}
}}
",
        operand("64x16"),
        operand("16x512")
    );
    std::fs::write(&file, program).expect("a program");
    let compile = |warps: &str| {
        run(tilewright().args(["compile", "--target", "a100", "--emit", "kernel", "--warps", warps]).arg(&file))
    };
    let printed = compile("4");
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    assert!(
        printed.err.starts_with("warning: ") && printed.err.contains("%product (tt.dot") && printed.err.contains("255"),
        "{}",
        printed.err
    );
    assert_eq!(compile("8").err, "");
}

/// Compiles a program with one atomic operation; returns the kernel IR.
fn atomic_kernel(name: &str, operation: &str) -> String {
    let file = folder("atomics").join(format!("{name}.ttir"));
    let program = format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<i32>, %x: i32, %c: i1, %q: !tt.ptr<i32>) {{
    %o = {operation}
    tt.store %q, %o : !tt.ptr<i32>
    tt.return
  }}
}}
"
    );
    std::fs::write(&file, program).expect("a program");
    let printed = run(tilewright().args(["compile", "--target", "h100", "--emit", "kernel"]).arg(&file));
    assert_eq!(printed.code, Some(0), "{name}: {}", printed.err);
    printed.out
}

#[test]
fn atomic_operations_have_the_order_and_the_scope_of_the_program() {
    for (order, word, scope, reach) in [
        ("relaxed", "relaxed", "cta", "block"),
        ("acquire", "acquire", "sys", "system"),
        ("release", "release", "gpu", "device"),
        ("acq_rel", "acquire_release", "cta", "block"),
    ] {
        let sum = format!("tt.atomic_rmw add, {order}, {scope}, %p, %x, %c : (!tt.ptr<i32>, i32, i1) -> i32");
        let change = format!("tt.atomic_cas {order}, {scope}, %p, %x, %x : (!tt.ptr<i32>, i32, i32) -> i32");
        for (name, operation) in [("atomic_rmw", sum), ("atomic_compare_exchange", change)] {
            let kernel = atomic_kernel(&format!("{name}-{order}"), &operation);
            let line = kernel.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {kernel}"));
            assert!(line.contains(&format!(" {word} {reach}")), "{name} {order} {scope}: {line}");
        }
    }
}

#[test]
fn ordered_scalar_atomics_come_after_a_barrier() {
    let barriers_before = |order: &str| {
        let sum = format!("tt.atomic_rmw add, {order}, gpu, %p, %x, %c : (!tt.ptr<i32>, i32, i1) -> i32");
        let kernel = atomic_kernel(&format!("meets-{order}"), &sum);
        let (before, after) = kernel.split_once("atomic_rmw").expect("an atomic operation");
        assert!(after.contains("barrier"), "its old value reaches all: {kernel}");
        before.matches("barrier").count()
    };
    assert_eq!(["relaxed", "acquire", "release", "acq_rel"].map(barriers_before), [0, 1, 1, 1]);
}

#[test]
fn eight_bit_accumulators_are_rejected() {
    let program = |accumulator: &str| {
        format!(
            "module {{
  tt.func public @f(%p: !tt.ptr<{accumulator}>) {{
    %i = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
    %c = tt.expand_dims %i {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
    %n = tt.broadcast %c : tensor<1x32xi32> -> tensor<32x32xi32>
    %x = arith.sitofp %n : tensor<32x32xi32> to tensor<32x32xf16>
    %z = arith.constant dense<0.000000e+00> : tensor<32x32x{accumulator}>
    %d = tt.dot %x, %x, %z, inputPrecision = tf32 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32x{accumulator}>
    %s = tt.splat %p : !tt.ptr<{accumulator}> -> tensor<32x32x!tt.ptr<{accumulator}>>
    %q = tt.addptr %s, %n : tensor<32x32x!tt.ptr<{accumulator}>>, tensor<32x32xi32>
    tt.store %q, %d : tensor<32x32x!tt.ptr<{accumulator}>>
    tt.return
  }}
}}
"
        )
    };
    let file = folder("sums").join("sums.ttir");
    for target in ["h100", "mi300x", "max1550"] {
        let compile = |accumulator: &str| {
            std::fs::write(&file, program(accumulator)).expect("a program");
            run(tilewright().args(["compile", "--target", target, "--emit", "kernel"]).arg(&file))
        };
        for accumulator in ["f8E4M3FN", "f8E5M2"] {
            let printed = compile(accumulator);
            assert_ne!(printed.code, Some(0), "{target} {accumulator}");
            assert!(printed.err.contains("no MMA accumulates in this type"), "{target} {accumulator}: {}", printed.err);
        }
        assert_eq!(compile("f32").code, Some(0), "{target}");
    }
}

/// Sizes that a program leaves open are chosen and printed, and an option can fix one.
#[test]
fn sizes_that_a_text_leaves_open_are_chosen() {
    let program = root().join("docs/examples/sized_gemm.ttir");
    let explain = |more: &[&str]| run(tilewright().arg("explain").arg(&program).args(["--target", "a100"]).args(more));
    let found = explain(&[]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    let first = found.out.lines().next().unwrap_or_default();
    assert!(first.starts_with("sizes: m = 128, n = 64, k = "), "{first}");
    assert!(first.ends_with("best of 8 tried (0 left out)"), "{first}");
    assert_eq!(found.out.matches(" cycles\n  m = ").count() + 1, 8, "each is told: {}", found.out);
    let printed = explain(&["--size", "m=64", "--size", "n=32", "--size", "k=16"]);
    assert!(
        printed.out.starts_with("sizes: m = 64, n = 32, k = 16, depth = 4096, as given\n"),
        "{}{}",
        printed.out,
        printed.err
    );
    assert!(explain(&["--size", "z=1"]).failed(2).contains("there is no size `z`, there are m, n, k, depth"));
    assert!(explain(&["--size", "m"]).failed(2).contains("NAME=NUMBER"));
    let other =
        run(tilewright().arg("explain").arg(kernel("add_masked.ttir")).args(["--target", "a100", "--size", "m=1"]));
    assert!(other.failed(2).contains("no `tw.size m"));
}

/// Each program adds rows up to its own number: program `i` has `i + 1` iterations of its loop, if `%n` is 64.
const TRIANGLE: &str = "tt.func public @triangle(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<1024xf32>
  %step = arith.constant dense<1024> : tensor<1024xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %row = tt.get_program_id x : i32
  %next = arith.addi %row, %c1 : i32
  %end = arith.muli %next, %n : i32
  %at = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %first = tt.addptr %base, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %rows:2 = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero, %p = %first) -> (tensor<1024xf32>, tensor<1024x!tt.ptr<f32>>) : i32 {
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>>
    %more = arith.addf %sum, %v : tensor<1024xf32>
    %following = tt.addptr %p, %step : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    scf.yield %more, %following : tensor<1024xf32>, tensor<1024x!tt.ptr<f32>>
  }
  %sum = \"tt.reduce\"(%rows#0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  %to = tt.addptr %y, %row : !tt.ptr<f32>, i32
  tt.store %to, %sum : !tt.ptr<f32>
  tt.return
}";

/// A loop over two buffers as Triton writes it, without barriers: its analysis inserts one before the load of the buffer
/// that other warps have stored, and one before the store, since the index may select the buffer that was loaded.
const BUFFERS: &str = "\
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func public @buffers(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %none = arith.constant dense<0.0> : tensor<512xf32, #b>
  %step = arith.constant dense<512> : tensor<512xi32, #b>
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #b>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %from = tt.addptr %base, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %all = ttg.local_alloc : () -> !ttg.memdesc<2x512xf32, #s, #ttg.shared_memory, mutable>
  %first = tt.load %from : tensor<512x!tt.ptr<f32>, #b>
  %at = ttg.memdesc_index %all[%zero] : !ttg.memdesc<2x512xf32, #s, #ttg.shared_memory, mutable> -> !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>
  ttg.local_store %first, %at : tensor<512xf32, #b> -> !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>
  %ends:3 = scf.for %k = %zero to %n step %one iter_args(%sum = %none, %p = %from, %full = %at) -> (tensor<512xf32, #b>, tensor<512x!tt.ptr<f32>, #b>, !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>) : i32 {
    %next = tt.addptr %p, %step : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %loaded = tt.load %next : tensor<512x!tt.ptr<f32>, #b>
    BEFORE_LOAD
    %read = ttg.local_load %full : !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable> -> tensor<512xf32, #b>
    %more = arith.addf %sum, %read : tensor<512xf32, #b>
    %which = arith.remsi %k, %two : i32
    %empty = ttg.memdesc_index %all[%which] : !ttg.memdesc<2x512xf32, #s, #ttg.shared_memory, mutable> -> !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>
    BEFORE_STORE
    ttg.local_store %loaded, %empty : tensor<512xf32, #b> -> !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>
    scf.yield %more, %next, %empty : tensor<512xf32, #b>, tensor<512x!tt.ptr<f32>, #b>, !ttg.memdesc<512xf32, #s, #ttg.shared_memory, mutable>
  }
  %to = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %out = tt.addptr %to, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  tt.store %out, %ends#0 : tensor<512x!tt.ptr<f32>, #b>
  tt.return
}";

/// Barriers that a loop over buffers implies take as long as stated ones.
#[test]
fn implied_barriers_of_buffers_are_predicted() {
    let folder = folder("buffers");
    let (program, case) = (folder.join("buffers.ttgir"), folder.join("buffers.json"));
    std::fs::write(&case, r#"{"grid": [132], "args": [{}, {}, {"value": 1000}]}"#).expect("a file");
    let issue = |before_load: &str, before_store: &str| {
        let text = BUFFERS.replace("BEFORE_LOAD", before_load).replace("BEFORE_STORE", before_store);
        std::fs::write(&program, text).expect("a file");
        let arguments = [program.as_os_str(), "--launch".as_ref(), case.as_os_str()];
        let out = run(tilewright().arg("explain").args(arguments).args(["--target", "h100", "--json"])).out;
        let number = json_lines(&out.replace('\n', ""))[0].pointer("/pipes/issue").and_then(serde_json::Value::as_f64);
        number.expect("a number")
    };
    const BARRIER: &str = "ttg.barrier local";
    let [implied, both, one] = [("", ""), (BARRIER, BARRIER), ("", BARRIER)].map(|(a, b)| issue(a, b));
    assert!(implied == both && both > one, "{implied} {both} {one}");
}

/// The predicted time of a launch follows from its grid, arguments and buffers: loops have the mean trip count of the
/// programs, and the last-level cache serves bytes that are accessed again.
#[test]
fn the_time_of_a_launch_is_predicted() {
    let folder = folder("launch");
    let (program, case) = (folder.join("triangle.ttir"), folder.join("triangle.json"));
    std::fs::write(&program, TRIANGLE).expect("a file");
    let explain = |launch: &str, more: &[&str]| {
        std::fs::write(&case, launch).expect("a file");
        let arguments = [program.as_os_str(), "--launch".as_ref(), case.as_os_str()];
        run(tilewright().arg("explain").args(arguments).args(["--target", "h100"]).args(more))
    };
    let predict = |programs: u64, n: u64, buffers: &str| {
        let launch =
            format!(r#"{{"grid": [{programs}], "args": [{{}}, {{}}, {{"value": {n}}}], "buffers": {{{buffers}}}}}"#);
        let lines = json_lines(&explain(&launch, &["--json"]).out.replace('\n', ""));
        let number = |name: &str| lines[0].pointer(name).and_then(serde_json::Value::as_f64).expect("a number");
        ["/cycles", "/pipes/global", "/blocks_of_a_unit", "/microseconds"].map(number)
    };
    let [cycles, global, blocks, microseconds] = predict(1320, 64, "");
    // h100 has 132 multiprocessors of 1830 MHz, and 3352 GB/s; programs reach 0.9 of them. Programs 0 to 1319 have 660.5
    // iterations in the mean, and each iteration loads 4096 bytes.
    assert_eq!(blocks, 10.0);
    assert!((microseconds - cycles / 1830.0).abs() < 1e-6, "{microseconds} microseconds");
    let share = 0.9 * 3352e3 / 1830.0 / 132.0;
    assert!((global * share / 4096.0 - 660.5).abs() < 2.0, "{global} cycles for {share} bytes a cycle");
    assert!(predict(1320, 128, "")[0] > 1.9 * cycles, "twice the iterations");
    let [_, cached, ..] = predict(1320, 64, r#""x": {"bytes": 1048576}, "y": {"bytes": 5280}"#);
    assert!((cached * 3.0 / 0.9 / global - 1.0).abs() < 0.01, "{cached} cycles from the cache, {global} from memory");
    let text = explain(r#"{"grid": [132, 1, 1], "args": [{}, {}, {"value": 64}]}"#, &[]).out;
    assert!(text.contains("\npredicted: ") && text.contains(" cycles for 1 blocks per compute unit"), "{text}");
    for (launch, reason) in [
        ("{", "EOF"),
        (r#"{"args": []}"#, "`grid`: expected an array"),
        (r#"{"grid": [0], "args": []}"#, "`grid`: expected positive numbers of programs"),
        (r#"{"grid": [1, 1, 1, 1], "args": []}"#, "`grid`: expected at most three"),
        (r#"{"grid": [1]}"#, "`args`: expected an array"),
    ] {
        assert!(explain(launch, &[]).failed(2).contains(reason), "{launch}");
    }
}
