//! Program cases: reading, execution, and comparison with the expected buffers.

use tilewright_testkit::emulator_target;

use std::path::{Path, PathBuf};

use emulator_target::{kernel, target};
use serde_json::{Value as Json, json};
use tilewright_emulator::RunLimits;
use tilewright_plan::movement::PlanContext;
use tilewright_tile::FloatType;
use tilewright_verify::CheckFailure;
use tilewright_verify::case::{
    CaseBuffer, CaseElement, CaseElementValue, CaseFileError, ExpectedContents, ProgramCase, Tolerance,
};

/// The JSON of a case: `c[i] = a[i] * by` for the 16 `f32` of two programs of eight lanes; the last four elements of
/// `c` keep their fill.
fn scale() -> Json {
    json!({
        "name": "scale", "ttir": "scale.ttir", "entry": "scale", "grid": [2, 1, 1], "num_warps": 1,
        "args": [
            {"name": "a", "kind": "pointer", "dtype": "f32", "ir_type": "!tt.ptr<f32>", "buffer": "a"},
            {"name": "c", "kind": "pointer", "dtype": "f32", "ir_type": "!tt.ptr<f32>", "buffer": "c"},
            {"name": "by", "kind": "scalar", "dtype": "f32", "ir_type": "f32", "value": 0.5},
        ],
        "buffers": {
            "a": {"dtype": "f32", "shape": [4, 4], "bytes": 64, "role": "input", "input": "scale.in.a.bin"},
            "c": {"dtype": "f32", "shape": [4, 5], "bytes": 80, "role": "output", "fill": 80,
                  "expected": "scale.out.c.bin", "tolerance": {"rtol": 0.0, "atol": 0.25}},
        },
    })
}

const KERNEL: &str = "kernel scale(%0 a: ptr.global, %1 c: ptr.global, %2 by: f32) lanes 8 warps 1 {
  %3: i32 = special program 0
  %4: i32 = constant 8
  %5: i32 = binary mul %3, %4
  %6: i32 = special lane
  %7: i32 = binary add %5, %6
  %8: i32 = constant 4
  %9: i32 = binary mul %7, %8
  %10: ptr.global = ptr_add %0, %9
  %11: ptr.global = ptr_add %1, %9
  %12: f32 = load %10 align 4
  %13: f32 = binary f_mul %12, %2
  store %11, %13 align 4
}";

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Writes a case and its buffers to a new folder; the expected output is `expected` followed by the fill.
fn write(folder: &str, case: &Json, expected: &[f32]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases").join(folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let path_of = |name: &str| folder.join(name);
    std::fs::write(path_of("scale.json"), case.to_string()).expect("the case is written");
    std::fs::write(path_of("scale.in.a.bin"), floats((0..16).map(|value| value as f32))).expect("the input");
    let filled = expected.iter().copied().chain(std::iter::repeat(80.0)).take(20);
    std::fs::write(path_of("scale.out.c.bin"), floats(filled)).expect("the output");
    path_of("scale.json")
}

fn halved_inputs() -> Vec<f32> {
    (0..16).map(|value| value as f32 / 2.0).collect()
}

#[test]
fn a_kernel_that_leaves_what_it_must_has_no_differences() {
    let case = ProgramCase::read(&write("right", &scale(), &halved_inputs())).expect("a case");
    assert_eq!((case.name.as_str(), case.entry.as_str(), case.grid, case.warps), ("scale", "scale", [2, 1, 1], 1));
    assert!(case.program.ends_with("scale.ttir"));
    let outcome =
        case.run_emulated(&kernel(KERNEL), PlanContext::new(&target(true)), &RunLimits::default()).expect("it runs");
    assert_eq!(outcome.differences, []);
    assert!(outcome.report.steps > 0);
}

#[test]
fn differences_name_the_first_and_the_worst_element() {
    let mut expected = halved_inputs();
    expected[3] = 1.5 + 0.25; // within the tolerance
    expected[6] = 4.0;
    expected[9] = 400.0;
    let case = ProgramCase::read(&write("wrong", &scale(), &expected)).expect("a case");
    let outcome =
        case.run_emulated(&kernel(KERNEL), PlanContext::new(&target(true)), &RunLimits::default()).expect("it runs");
    let [difference] = &outcome.differences[..] else { panic!("one buffer differs: {:?}", outcome.differences) };
    assert_eq!((difference.elements, difference.wrong), (20, 2));
    assert_eq!(difference.first.index, [1, 1]);
    assert_eq!(difference.worst.index, [1, 4]);
    assert_eq!(
        difference.to_string(),
        "buffer `c`: 2 of 20 elements are wrong; the first at [1, 1] is 3.0, expected 4.0 within 2.5e-1; \
         the worst at [1, 4] is 4.5, expected 400.0 within 2.5e-1"
    );
}

#[test]
fn elements_that_must_not_be_touched_and_inputs_are_compared_too() {
    let path = write("touched", &scale(), &halved_inputs());
    let case = ProgramCase::read(&path).expect("a case");
    // Stores shifted by one element: the first keeps its fill, and the one after the last is overwritten.
    let beside = KERNEL.replace("%11: ptr.global = ptr_add %1, %9", "%11: ptr.global = ptr_add %14, %9");
    let beside = beside.replace("%10: ptr", "%14: ptr.global = ptr_add %1, %8\n %10: ptr");
    let outcome =
        case.run_emulated(&kernel(&beside), PlanContext::new(&target(true)), &RunLimits::default()).expect("it runs");
    assert_eq!(outcome.differences.len(), 1);
    assert_eq!(outcome.differences[0].first.index, [0, 0]);
    let of_input = KERNEL.replace("store %11", "store %10");
    let outcome =
        case.run_emulated(&kernel(&of_input), PlanContext::new(&target(true)), &RunLimits::default()).expect("it runs");
    let names: Vec<_> = outcome.differences.iter().map(|difference| difference.buffer.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn what_lies_beyond_a_buffer_is_a_fault() {
    let mut case = scale();
    case["grid"] = json!([3, 1, 1]);
    let case = ProgramCase::read(&write("beyond", &case, &halved_inputs())).expect("a case");
    let error = case
        .run_emulated(&kernel(KERNEL), PlanContext::new(&target(true)), &RunLimits::default())
        .expect_err("a fault");
    assert!(matches!(error, CheckFailure::Fault(_)), "{error}");
    assert!(error.to_string().contains("offset 64 of buffer 0, which has 64 bytes"), "{error}");
}

#[test]
fn a_kernel_of_other_parameters_is_refused() {
    let case = ProgramCase::read(&write("parameters", &scale(), &halved_inputs())).expect("a case");
    let run = |text: &str| case.run_emulated(&kernel(text), PlanContext::new(&target(true)), &RunLimits::default());
    let other = KERNEL
        .replace("%2 by: f32", "%2 by: f64")
        .replace("%13: f32 = binary f_mul %12, %2", "%13: f32 = binary f_mul %12, %12");
    let error = run(&other).expect_err("it takes another type").to_string();
    assert_eq!(error, "argument `by`: a number of 32 bits is given, parameter `by` of kernel `scale` is f64");
    let error = run("kernel scale(%0 a: ptr.global) lanes 8 warps 1 {}").expect_err("it takes less").to_string();
    assert_eq!(error, "kernel `scale` takes 1 arguments, 3 are given");
}

#[test]
fn what_is_wrong_with_a_case_names_the_file_and_the_field() {
    let with = |pointer: &str, value: Json| {
        let mut case = scale();
        *case.pointer_mut(pointer).expect("a field") = value;
        case
    };
    for (number, (case, field, message)) in [
        (with("/grid", json!([1, 2])), "grid", "has 2 counts; expected those along x, y and z"),
        (with("/grid/1", json!(0)), "grid[1]", "invalid value: integer `0`, expected a nonzero u32"),
        (with("/grid", json!([65536, 65536, 1])), "grid", "there are too many programs: expected less than 2^32"),
        (with("/name", json!(3)), "name", "invalid type: integer `3`, expected a string"),
        (with("/entry", Json::Null), "entry", "invalid type: null, expected a string"),
        (with("/args", json!({})), "args", "invalid type: map, expected a sequence"),
        (with("/args/0/kind", json!("map")), "args[0].kind", "`map` is neither `pointer` nor `scalar`"),
        (with("/args/1/buffer", json!("d")), "args[1].buffer", "there is no buffer `d`"),
        (with("/args/2/ir_type", json!("i128")), "args[2].ir_type", "`i128` is not a type of a number"),
        (with("/args/2/value", json!("x")), "args[2].value", "expected a number, found \"x\""),
        (
            with("/args/2", json!({"name": "n", "kind": "scalar", "ir_type": "i8", "value": 256})),
            "args[2].value",
            "256 does not fit into 8 bits",
        ),
        (
            with("/args/2", json!({"name": "n", "kind": "scalar", "ir_type": "i8", "value": 0.5})),
            "args[2].value",
            "0.5 is not an integer",
        ),
        (with("/args/2", json!({"name": "n", "kind": "scalar"})), "args[2]", "`ir_type` is missing"),
        (with("/buffers/a/bytes", json!(60)), "buffers.a.bytes", "is 60, but the shape has 64 bytes"),
        (with("/buffers/a/shape", json!([1u64 << 40, 1u64 << 40])), "buffers.a.shape", "is too large"),
        (
            with("/buffers/a/role", json!("in")),
            "buffers.a.role",
            "`in` is none of `input`, `output`, `inout`, `scratch`",
        ),
        (with("/buffers/c/tolerance/atol", json!(-1)), "buffers.c.tolerance.atol", "-1.0 is negative"),
        (with("/buffers/c/tolerance", json!({"rtol": 0})), "buffers.c.tolerance", "missing field `atol`"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = write(&format!("malformed{number}"), &case, &halved_inputs());
        let error = ProgramCase::read(&path).expect_err(message);
        assert_eq!(error.to_string(), format!("{}: `{field}`: {message}", path.display()));
    }
    let path = write("dtype", &with("/buffers/a/dtype", json!("f12")), &halved_inputs());
    let error = ProgramCase::read(&path).expect_err("no such element").to_string();
    assert!(error.contains("`buffers.a.dtype`: `f12` is not an element; expected one of i1, "), "{error}");
    let mut case = scale();
    case["buffers"]["c"].as_object_mut().expect("an object").remove("expected");
    let error =
        ProgramCase::read(&write("nothing", &case, &halved_inputs())).expect_err("nothing is expected").to_string();
    assert!(error.ends_with("scale.json: `buffers.c`: `expected` is missing"), "{error}");
}

#[test]
fn files_that_are_not_there_or_too_short_are_named() {
    let path = write("short", &scale(), &halved_inputs());
    std::fs::write(path.with_file_name("scale.in.a.bin"), [0; 60]).expect("shorter");
    let error = ProgramCase::read(&path).expect_err("too short").to_string();
    assert!(error.contains("`buffers.a.input`: ") && error.ends_with("has 60 bytes, but the buffer 64"), "{error}");
    std::fs::remove_file(path.with_file_name("scale.in.a.bin")).expect("removed");
    let error = ProgramCase::read(&path).expect_err("not there");
    assert!(matches!(&error, CaseFileError::File { file, .. } if file.ends_with("scale.in.a.bin")), "{error}");
    std::fs::write(&path, "{").expect("no JSON");
    assert!(matches!(ProgramCase::read(&path), Err(CaseFileError::Json { .. })));
}

#[test]
fn the_cases_of_a_folder_are_its_files_of_one_name() {
    let path = write("folder", &scale(), &halved_inputs());
    let folder = path.parent().expect("a folder");
    for other in ["index.json", "scale.triton.json", "scale.txt", "b.json"] {
        std::fs::write(folder.join(other), "[]").expect("a file");
    }
    assert_eq!(ProgramCase::list_case_files(folder).expect("files"), [folder.join("b.json"), path.clone()]);
    assert!(matches!(ProgramCase::list_case_files(&path), Err(CaseFileError::File { .. })));
}

/// Each entry: the name of an element type, some bytes, and their value.
#[test]
fn bytes_are_read_by_element_type() {
    let integer = |value: i64| CaseElementValue::Integer(i128::from(value));
    for (name, bytes, expected) in [
        ("i1", &[1][..], integer(1)),
        ("bool", &[0], integer(0)),
        ("i8", &[0xff], integer(-1)),
        ("u8", &[0xff], integer(255)),
        ("i16", &[0xfe, 0xff], integer(-2)),
        ("u16", &[0xfe, 0xff], integer(0xfffe)),
        ("i32", &[0, 0, 0, 0x80], integer(i64::from(i32::MIN))),
        ("u32", &[0, 0, 0, 0x80], integer(1 << 31)),
        ("i64", &[0, 0, 0, 0, 0, 0, 0, 0x80], integer(i64::MIN)),
        ("u64", &[0, 0, 0, 0, 0, 0, 0, 0x80], CaseElementValue::Integer(1 << 63)),
        ("f16", &[0x00, 0x3e], CaseElementValue::Float(1.5)),
        ("bf16", &[0xc0, 0x3f], CaseElementValue::Float(1.5)),
        ("f32", &[0, 0, 0xc0, 0x3f], CaseElementValue::Float(1.5)),
        ("f64", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], CaseElementValue::Float(1.5)),
        ("f8e4m3", &[0x3c], CaseElementValue::Float(1.5)),
        ("f8e5m2", &[0x3e], CaseElementValue::Float(1.5)),
    ] {
        let element = CaseElement::from_name(name).expect(name);
        assert_eq!(element.decode(bytes), expected, "{name}");
        let encoded = element.encode(expected).expect(name);
        assert_eq!(&encoded.to_le_bytes()[..element.bytes()], bytes, "{name}");
        let eighty = element.encode(CaseElementValue::Integer(80)).expect(name).to_le_bytes();
        if !matches!(element, CaseElement::Boolean) {
            let filled = element.decode(&eighty[..element.bytes()]);
            assert!(filled == integer(80) || filled == CaseElementValue::Float(80.0), "{name}");
        }
    }
    assert_eq!(CaseElement::Float(FloatType::F16).encode(CaseElementValue::Float(f64::NEG_INFINITY)), Ok(0xfc00));
    assert!(CaseElement::Float(FloatType::F8E4M3Fn).encode(CaseElementValue::Float(f64::INFINITY)).is_err());
}

/// Compares pairs of a computed and an expected number, by the rules of the case format for zeros, NaN, infinities and
/// tolerances.
#[test]
fn numbers_pass_within_their_tolerance() {
    let exact = Tolerance::default();
    let loose = Tolerance { relative: 0.1, absolute: 1.0 };
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for (tolerance, got, expected, passes) in [
        (exact, -0.0, 0.0, true),
        (exact, nan, nan, true),
        (loose, nan, 1.0, false),
        (loose, 1.0, nan, false),
        (loose, inf, inf, true),
        (loose, -inf, inf, false),
        (loose, f64::MAX, inf, false),
        (loose, inf, f64::MAX, false),
        (exact, 1.0, 1.0 + f64::EPSILON, false),
        (loose, 12.0, 10.0, true),
        (loose, 12.1, 10.0, false),
        (loose, -8.0, -10.0, true),
    ] {
        assert_eq!(
            tolerance.allows(CaseElementValue::Float(got), CaseElementValue::Float(expected)),
            passes,
            "{got} {expected}"
        );
    }
    let integer = |value: i128| CaseElementValue::Integer(value);
    assert!(loose.allows(integer(12), integer(10)) && !loose.allows(integer(13), integer(10)));
    assert!(loose.allows(integer(-12), integer(-10)) && !loose.allows(integer(10), integer(-10)));
    assert!(!exact.allows(integer(u64::MAX.into()), integer(i128::from(u64::MAX) - 1)));
}

#[test]
fn a_nan_that_should_not_be_there_is_the_worst() {
    let bytes = |values: [f32; 3]| floats(values);
    let after = ExpectedContents::Expected { bytes: bytes([1.0, 2.0, 3.0]), tolerance: Tolerance::default() };
    let element = CaseElement::Float(FloatType::F32);
    let buffer = CaseBuffer { name: "c".into(), element, shape: vec![3], before: bytes([0.0; 3]), after };
    let difference = buffer.compare_contents(&bytes([5e9, f32::NAN, 3.0])).expect("two are wrong");
    assert_eq!((difference.wrong, &difference.first.index[..], &difference.worst.index[..]), (2, &[0][..], &[1][..]));
    assert_eq!(buffer.compare_contents(&bytes([1.0, 2.0, 3.0])), None);
    let anything = CaseBuffer { after: ExpectedContents::Anything, ..buffer };
    assert_eq!(anything.compare_contents(&bytes([7.0; 3])), None);
}
