//! Programs whose warps have replicas of an element: one stores it, and each is printed once.

use tilewright::run::KernelArgument;
use tilewright_kernel::{Op, Statement};
use tilewright_plugin::Target;

use crate::programs::{compile, run};
use crate::served::targets;

const TARGETS: [&str; 5] = ["h100", "b200", "mi300x", "rx7900xtx", "max1550"];

/// All threads load a count and one stores it in place, before a loop of as many iterations. Then two threads of each
/// element of a tensor load it, and one stores it in place, before all values are added up.
const IN_PLACE: &str = "tt.func @in_place(%count: !tt.ptr<i32>, %x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = tt.load %count : !tt.ptr<i32>
  %more = arith.addi %n, %one : i32
  tt.store %count, %more : !tt.ptr<i32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %from = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %before = tt.load %from : tensor<64x!tt.ptr<i32>>
  %doubled = arith.addi %before, %before : tensor<64xi32>
  tt.store %from, %doubled : tensor<64x!tt.ptr<i32>>
  %sum = \"tt.reduce\"(%before) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<64xi32>) -> i32
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %to = tt.addptr %outs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %start = tt.splat %sum : i32 -> tensor<64xi32>
  %end = scf.for %k = %zero to %n step %one iter_args(%total = %start) -> (tensor<64xi32>) : i32 {
    %next = arith.addi %total, %i : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  tt.store %to, %end : tensor<64x!tt.ptr<i32>>
  tt.return
}";

/// Two threads of each element load it, and one stores the double in place; nothing else uses the loaded values.
const ONLY_STORED: &str = "tt.func @only_stored(%x: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %from = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %before = tt.load %from : tensor<64x!tt.ptr<i32>>
  %doubled = arith.addi %before, %before : tensor<64xi32>
  tt.store %from, %doubled : tensor<64x!tt.ptr<i32>>
  tt.return
}";

/// One branch loads the number that the other stores.
const BRANCHES: &str = "tt.func @branches(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %c: i1) {
  %one = arith.constant 1 : i32
  scf.if %c {
    %loaded = tt.load %x : !tt.ptr<i32>
    tt.store %out, %loaded : !tt.ptr<i32>
  } else {
    tt.store %x, %one : !tt.ptr<i32>
  }
  tt.return
}";

/// Reduces rows to the first of their elements in the order of the reduction, whatever that is, and stores it in each
/// element of the row.
const FIRST_OF_ROWS: &str = "tt.func @first_of_rows(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %rows = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %columns = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %c1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<32> : tensor<8x1xi32>
  %starts = arith.muli %r1, %stride : tensor<8x1xi32>
  %r = tt.broadcast %starts : tensor<8x1xi32> -> tensor<8x32xi32>
  %c = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<8x32xi32>
  %at = arith.addi %r, %c : tensor<8x32xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x32x!tt.ptr<i32>>
  %from = tt.addptr %xs, %at : tensor<8x32x!tt.ptr<i32>>, tensor<8x32xi32>
  %all = tt.load %from : tensor<8x32x!tt.ptr<i32>>
  %first = \"tt.reduce\"(%all) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.reduce.return %a : i32
  }) : (tensor<8x32xi32>) -> tensor<8xi32>
  %f1 = tt.expand_dims %first {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %f = tt.broadcast %f1 : tensor<8x1xi32> -> tensor<8x32xi32>
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<8x32x!tt.ptr<i32>>
  %to = tt.addptr %outs, %at : tensor<8x32x!tt.ptr<i32>>, tensor<8x32xi32>
  tt.store %to, %f : tensor<8x32x!tt.ptr<i32>>
  tt.return
}";

const PRINTS: &str = "tt.func @prints(%x: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %bytes = arith.trunci %i : tensor<4xi32> to tensor<4xi8>
  %high = arith.constant dense<-2> : tensor<4xi8>
  %unsigned = arith.addi %bytes, %high : tensor<4xi8>
  %row = tt.expand_dims %i {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %all = tt.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>
  tt.print \" all: \" {hex = false, isSigned = array<i32: 1>} : %all : tensor<2x4xi32>
  tt.print \" two: \" {hex = false, isSigned = array<i32: 1, 0>} : %n, %unsigned : i32, tensor<4xi8>
  tt.print \" done\" {hex = false, isSigned = array<i32>}
  tt.return
}";

#[test]
fn all_replicas_are_loaded_before_one_is_stored() {
    let given = [("count", 0), ("x", 1), ("out", 2)].map(|(name, at)| (name, KernelArgument::Buffer(at)));
    let x: Vec<u32> = (0..64).collect();
    for target in targets(&TARGETS) {
        let ran = run(&*target, IN_PLACE, &given, &[vec![3], x.clone(), vec![0; 64]]);
        let sum: u32 = x.iter().sum();
        let expected = [vec![4], x.iter().map(|x| 2 * x).collect(), x.iter().map(|x| sum + 3 * x).collect()];
        assert_eq!(ran.words, expected, "{}", target.description().name);
    }
}

#[test]
fn replicas_that_reach_only_stores_need_no_barrier() {
    let x: Vec<u32> = (0..64).collect();
    let doubled: Vec<u32> = x.iter().map(|x| 2 * x).collect();
    for target in targets(&TARGETS) {
        let ran = run(&*target, ONLY_STORED, &[("x", KernelArgument::Buffer(0))], std::slice::from_ref(&x));
        assert_eq!(ran.words, std::slice::from_ref(&doubled), "{}", target.description().name);
        let [stored, added] = [ONLY_STORED, IN_PLACE].map(|text| count_barriers(&*target, text));
        assert!(stored == 0 && added > 0, "{}: {stored}, {added}", target.description().name);
    }
}

fn count_barriers(target: &dyn Target, text: &str) -> usize {
    let is_barrier = |statement: &&Statement| matches!(statement.op, Op::Barrier { .. } | Op::Fence { .. });
    compile(target, text).statements().into_iter().filter(is_barrier).count()
}

/// Control takes one branch, so that a store in the other one needs no barrier; a load after both needs one.
#[test]
fn branches_of_one_if_need_no_barrier_between_them() {
    let load = "  %after = tt.load %x : !tt.ptr<i32>\n  tt.store %out, %after : !tt.ptr<i32>\n  tt.return";
    let followed = BRANCHES.replace("  tt.return", load);
    for target in targets(&TARGETS) {
        let [alone, with_load] = [BRANCHES, &followed].map(|text| count_barriers(&*target, text));
        assert!(alone == 0 && with_load > 0, "{}: {alone}, {with_load}", target.description().name);
    }
}

/// Each branch is visited once: if each were visited twice, 64 nested ones would take 2^64 visits.
#[test]
fn nested_branches_take_linear_time() {
    let depth = 64;
    let branch = |at: usize| {
        let (taken, next) = (2 * at + 1, 2 * at + 2);
        format!(
            "  %m{at} = arith.constant {at} : i32\n  %c{at} = arith.cmpi eq, %m{at}, %n : i32\n  cf.cond_br %c{at}, \
             ^bb{taken}, ^bb{next}\n^bb{taken}:\n  tt.store %x, %m{at} : !tt.ptr<i32>\n  cf.br ^end\n^bb{next}:\n"
        )
    };
    let branches: String = (0..depth).map(branch).collect();
    let text = format!("tt.func @nested(%x: !tt.ptr<i32>, %n: i32) {{\n{branches}  cf.br ^end\n^end:\n  tt.return\n}}");
    for target in targets(&["h100"]) {
        let is_store = |statement: &&Statement| matches!(statement.op, Op::Store { .. });
        let stores = compile(&*target, &text).statements().into_iter().filter(is_store).count();
        assert_eq!(stores, depth, "{}", target.description().name);
    }
}

/// The combination is not commutative, yet all lanes of a row get the same element of that row.
#[test]
fn replicas_of_a_reduction_are_equal() {
    let given = [("x", 0), ("out", 1)].map(|(name, at)| (name, KernelArgument::Buffer(at)));
    let x: Vec<u32> = (0..256).collect();
    for target in targets(&TARGETS) {
        let ran = run(&*target, FIRST_OF_ROWS, &given, &[x.clone(), vec![0; 256]]);
        for (row, stored) in ran.words[1].chunks(32).enumerate() {
            let is_equal = stored.iter().all(|&element| element == stored[0]);
            assert!(is_equal && x[32 * row..][..32].contains(&stored[0]), "{}: {stored:?}", target.description().name);
        }
    }
}

#[test]
fn each_element_is_printed_once() {
    let given =
        [("x", KernelArgument::Buffer(0)), ("n", KernelArgument::Scalar { bits: u64::from(u32::MAX), width: 32 })];
    let elements = (0..2).flat_map(|row| (0..4).map(move |column| (row, column)));
    let mut expected: Vec<String> =
        elements.map(|(row, column)| format!("pid (0, 0, 0) idx ({row}, {column}) all: {column}")).collect();
    let bytes = [254, 255, 0, 1];
    expected.push("pid (0, 0, 0) idx () two: (operand 0) -1".to_owned());
    expected.extend((0..4).map(|at| format!("pid (0, 0, 0) idx ({at}) two: (operand 1) {}", bytes[at])));
    expected.push("pid (0, 0, 0) idx () done".to_owned());
    expected.sort();
    for target in targets(&TARGETS) {
        let mut printed = run(&*target, PRINTS, &given, &[vec![0]]).printed;
        printed.sort();
        assert_eq!(printed, expected, "{}", target.description().name);
    }
}
