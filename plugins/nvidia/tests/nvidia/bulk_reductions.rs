//! Bulk reductions (`cp.reduce.async.bulk.tensor`): `tt.descriptor_reduce` of every operation and element type on the
//! emulator, and from PTX on the virtual device. The expected elements come from exact integer arithmetic.

use std::path::PathBuf;

use crate::prelude::*;
use tilewright_target::Optimization;
use tilewright_verify::case::{
    CaseArgument, CaseBuffer, CaseElement, CaseElementValue, CaseValue, ExpectedContents, ProgramCase, Tolerance,
};
use tilewright_virtual_ptx::VirtualDevice;

/// Numbers of rows and columns of the tensor; the last blocks reach beyond both.
const SIZE: [u64; 2] = [100, 72];

/// Numbers of rows and columns of a block.
const BLOCK: [u64; 2] = [64, 64];

/// Number of elements of a row in memory.
const PITCH: u64 = 80;

/// A reduction of a tensor into another one, through descriptors.
#[derive(Debug, Clone, Copy)]
struct Reduction {
    kind: &'static str,
    /// The element type as Triton IR names it.
    element: &'static str,
    combine: Combine,
}

/// Combines the element of the tensor with that of the block.
type Combine = fn(i64, i64) -> i64;

impl Reduction {
    fn is_float(self) -> bool {
        self.element.contains('f')
    }

    /// The element of a matrix; floating-point numbers have exact sums.
    fn value(self, row: u64, column: u64, seed: u64) -> i64 {
        let number = ((row * 7 + column * 5 + row * column + seed) % 23) as i64;
        if self.element.starts_with("ui") { number } else { number - 11 }
    }

    fn text(self) -> String {
        let Self { kind, element, .. } = self;
        let [m, n] = BLOCK;
        // Pointers have no signedness; descriptors have.
        let pointee = element.trim_start_matches('u');
        format!(
            "module {{
  tt.func public @reduce(%x: !tt.ptr<{pointee}> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<{pointee}> {{tt.divisibility = 16 : i32}}, %rows: i32, %columns: i32 {{tt.divisibility = 8 : i32}}, %pitch: i64 {{tt.divisibility = 16 : i32}}) {{
    %one = arith.constant 1 : i64
    %m = arith.constant {m} : i32
    %n = arith.constant {n} : i32
    %from = tt.make_tensor_descriptor %x, [%rows, %columns], [%pitch, %one] : <{pointee}>, <{m}x{n}x{element}>
    %to = tt.make_tensor_descriptor %y, [%rows, %columns], [%pitch, %one] : <{pointee}>, <{m}x{n}x{element}>
    %i = tt.get_program_id x : i32
    %j = tt.get_program_id y : i32
    %row = arith.muli %i, %m : i32
    %column = arith.muli %j, %n : i32
    %tile = tt.descriptor_load %from[%row, %column] : !tt.tensordesc<{m}x{n}x{element}> -> tensor<{m}x{n}x{pointee}>
    tt.descriptor_reduce {kind}, %to[%row, %column], %tile : !tt.tensordesc<{m}x{n}x{element}>, tensor<{m}x{n}x{pointee}>
    tt.return
  }}
}}"
        )
    }

    fn case(self) -> ProgramCase {
        let element = CaseElement::from_name(self.element.trim_start_matches('u')).expect("an element type");
        let encoded = |value: i64| {
            let value = match self.is_float() {
                true => CaseElementValue::Float(value as f64),
                false => CaseElementValue::Integer(value.into()),
            };
            element.encode(value).expect("a small number").to_le_bytes()[..element.bytes()].to_vec()
        };
        let [rows, columns] = SIZE;
        let matrix = |of: &dyn Fn(u64, u64) -> i64| -> Vec<u8> {
            let at = |row, column| if column < columns { of(row, column) } else { 5 };
            (0..rows).flat_map(|row| (0..PITCH).flat_map(move |column| encoded(at(row, column)))).collect()
        };
        let (x, y) = (|i, j| self.value(i, j, 1), |i, j| self.value(i, j, 9));
        let after = matrix(&|i, j| (self.combine)(y(i, j), x(i, j)));
        let after = ExpectedContents::Expected { bytes: after, tolerance: Tolerance::default() };
        let buffer = |name: &str, before, after| {
            let shape = vec![rows, PITCH];
            CaseBuffer { name: name.to_owned(), element, shape, before, after }
        };
        let buffers = vec![buffer("x", matrix(&x), ExpectedContents::Unchanged), buffer("y", matrix(&y), after)];
        let numbers = [(rows, 32), (columns, 32), (PITCH, 64)];
        let values = (0..2).map(CaseValue::Buffer);
        let values = values.chain(numbers.map(|(bits, width)| CaseValue::Scalar { bits, width }));
        let names = ["x", "y", "rows", "columns", "pitch"];
        let arguments = names.into_iter().zip(values);
        ProgramCase {
            name: format!("{self:?}"),
            program: PathBuf::new(),
            entry: "reduce".to_owned(),
            grid: [0, 1]
                .map(|axis| SIZE[axis].div_ceil(BLOCK[axis]) as u32)
                .into_iter()
                .chain([1])
                .collect::<Vec<_>>()
                .try_into()
                .expect("three axes"),
            warps: 4,
            stages: None,
            blocks: 1,
            arguments: arguments.map(|(name, value)| CaseArgument { name: name.to_owned(), value }).collect(),
            buffers,
        }
    }
}

/// All reductions that the target's instructions have, in the types of Triton IR.
fn reductions() -> Vec<Reduction> {
    let of = |kind, elements: &[&'static str], combine| {
        elements.iter().map(|&element| Reduction { kind, element, combine }).collect::<Vec<_>>()
    };
    let all: [(_, &[_], Combine); 6] = [
        ("add", &["i32", "ui32", "i64", "f16", "bf16", "f32"], |a, b| a + b),
        ("min", &["i32", "ui32", "i64", "f16", "bf16"], i64::min),
        ("max", &["i32", "ui32", "i64", "f16", "bf16"], i64::max),
        ("and", &["i32", "i64"], |a, b| a & b),
        ("or", &["i32", "ui32"], |a, b| a | b),
        ("xor", &["i32", "i64"], |a, b| a ^ b),
    ];
    all.into_iter().flat_map(|(kind, elements, combine)| of(kind, elements, combine)).collect()
}

fn compiled(reduction: Reduction, target: &dyn Target, options: &ProgramOptions) -> Kernel {
    let kernel = compiler(target).compile_kernel(&reduction.text(), options, &mut |_| {});
    kernel.unwrap_or_else(|error| panic!("{reduction:?}: {error}"))
}

fn check(reduction: Reduction, target: &NvidiaTarget, kernel: Kernel) {
    let case = reduction.case();
    let ran = case.run_emulated(&kernel, build_plan_context(target), &RunLimits::default());
    let ran = ran.unwrap_or_else(|error| panic!("{reduction:?}: {error}\n{kernel}"));
    let differences: Vec<String> = ran.differences.iter().map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{reduction:?}: {differences:?}");
    let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
    let checked = case.to_test_case(kernel).and_then(|case| check_on_device(&case, target, &mut device));
    checked.unwrap_or_else(|wrong| panic!("{reduction:?}: {wrong}"));
}

/// Checks that blocks are combined by bulk reductions, which drop elements outside of the tensor. Elements of 64 bits are
/// combined by atomic operations if these take less time.
#[test]
fn blocks_are_combined_by_bulk_reductions() {
    let target = target("h100");
    for reduction in reductions() {
        let kernel = compiled(reduction, &target, &ProgramOptions::default().with_warps(4));
        let mnemonic = format!("global.shared::cta.{}.tile.bulk_group", reduction.kind);
        let is_bulk = kernel.to_string().contains(&mnemonic);
        assert!(is_bulk || reduction.element.ends_with("64"), "{reduction:?}: {kernel}");
        check(reduction, &target, kernel);
    }
}

/// Checks the same programs without bulk stores, and on a target without bulk copies.
#[test]
fn blocks_are_combined_by_atomic_operations_without_bulk_stores() {
    let options = ProgramOptions::default().with_warps(4);
    for (target, options) in
        [("h100", options.clone().with_disabled([Optimization::BulkStores].into_iter().collect())), ("a100", options)]
    {
        let target = self::target(target);
        for reduction in reductions() {
            let kernel = compiled(reduction, &target, &options);
            assert!(!kernel.to_string().contains("bulk_group"), "{reduction:?}: {kernel}");
            check(reduction, &target, kernel);
        }
    }
}
