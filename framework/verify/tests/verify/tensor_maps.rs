//! Tensor maps as parameters: verification, text and bytes, and the arguments of launches.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;

use tilewright_emulator::{
    Argument, Emulator, Fault, FaultKind, GlobalMemory, RunLimits, SemanticsTable, TensorMapArgument,
};
use tilewright_kernel::{
    Builder, Element, Kernel, LaunchDerivedTensorMap, LaunchTimeElementCount, MemorySpace, Module, OutOfBoundsFill,
    Parameter, StaticLaunchConfig, TensorMap, Type, Violation, decode_module, encode_module, text, verify,
    verify_vendor_instructions,
};
use tilewright_plugin::{KernelMetadata, TensorMapParameter, check_module_tensor_maps};
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, Semantics, TargetDescription, TensorCopyLayout,
    TensorCopyOperand, XorSwizzle,
};
use tilewright_verify::kernels::{BulkCopyExtent, build_bulk_copy_kernel};

const SWIZZLE: XorSwizzle = XorSwizzle { shift: 3, mask: 0x10 };

fn map(swizzle: XorSwizzle) -> TensorMap {
    TensorMap { element_bits: 16, element: None, box_sizes: vec![16, 4], swizzle, outside: OutOfBoundsFill::Zeros }
}

fn parameters(parameter: Parameter) -> Kernel {
    Builder::with_parameters("mapped", StaticLaunchConfig::new(8, 1), vec![parameter]).finish()
}

/// Returns the violation that the verifier finds in a kernel with one parameter.
fn violation(parameter: Parameter) -> Violation {
    verify(&Module { kernels: vec![parameters(parameter)] }).unwrap_err().violation
}

#[test]
fn tensor_maps_print_their_fields() {
    let kernel = parameters(Parameter::tensor_map("tensor", map(SWIZZLE)));
    let module = Module { kernels: vec![kernel] };
    verify(&module).unwrap();
    let written = module.to_string();
    assert!(written.contains("%0 tensor: map 16 bits box 16 x 4 mix 3 0x10 outside zeros)"), "{written}");
    assert_eq!(text::parse_module(&written).unwrap(), module);
    assert_eq!(decode_module(&encode_module(&module)).unwrap(), module);
    let unsaid = text::parse_module("kernel k(%0 t: map) lanes 8 warps 1 {\n}").unwrap_err();
    assert!(unsaid.message.contains("expected the width of an element"), "{}", unsaid.message);
}

#[test]
fn maps_that_there_cannot_be_are_refused() {
    let wrong = |change: fn(&mut TensorMap)| {
        let mut map = map(SWIZZLE);
        change(&mut map);
        match violation(Parameter::tensor_map("tensor", map)) {
            Violation::TensorMap { parameter: 0, message } => message,
            other => panic!("{other}"),
        }
    };
    assert!(wrong(|map| map.element_bits = 12).contains("expected 8, 16, 32 or 64"));
    assert!(wrong(|map| map.box_sizes.clear()).contains("a box of 0 axes; expected 1 to 5"));
    assert!(wrong(|map| map.box_sizes = vec![1; 6]).contains("a box of 6 axes"));
    assert!(wrong(|map| map.box_sizes[1] = 0).contains("expected one at least along each axis"));
    assert!(wrong(|map| map.box_sizes = vec![1 << 20; 2]).contains("shared memory has fewer addresses"));
    assert!(wrong(|map| map.swizzle.shift = 0).contains("a shift of 0"));
    let unsaid = Parameter::scalar_or_pointer("tensor", Type::TensorMap);
    assert!(matches!(violation(unsaid), Violation::TensorMap { .. }));
    let pointer =
        Parameter { map: Some(map(SWIZZLE)), ..Parameter::scalar_or_pointer("p", Type::Pointer(MemorySpace::Global)) };
    assert!(matches!(violation(pointer), Violation::TensorMap { .. }));
}

/// A tensor map of another parameter's buffer: the launch's other arguments determine its sizes.
#[test]
fn a_map_follows_from_other_parameters() {
    let strides = vec![LaunchTimeElementCount::Number(1), LaunchTimeElementCount::Parameter(1)];
    let rows = LaunchDerivedTensorMap { pointer: 0, strides, sizes: Vec::new() };
    let of =
        |rows: LaunchDerivedTensorMap| Parameter { rows: Some(rows), ..Parameter::tensor_map("rows", map(SWIZZLE)) };
    let given = vec![
        Parameter::scalar_or_pointer("p", Type::Pointer(MemorySpace::Global)),
        Parameter::scalar_or_pointer("n", Type::Scalar(Element::I32)),
        of(rows.clone()),
    ];
    let kernel = Builder::with_parameters("k", StaticLaunchConfig::new(8, 1), given.clone()).finish();
    let module = Module { kernels: vec![kernel] };
    verify(&module).unwrap();
    let written = module.to_string();
    assert!(written.contains("outside zeros rows of %0 by 1 x %1)"), "{written}");
    assert_eq!(text::parse_module(&written).unwrap(), module);
    assert_eq!(decode_module(&encode_module(&module)).unwrap(), module);
    // 16 bits per element: 640 bytes are 4 rows of 80 elements.
    let tensor =
        |n: u64, bytes: u64| rows.derive_tensor(&map(SWIZZLE), ((), bytes), |number| (number == 1).then_some(n));
    let found = tensor(80, 640).unwrap();
    assert_eq!((&found.sizes[..2], &found.strides[..2]), (&[80, 4][..], &[2, 160][..]));
    assert_eq!(found.end_offset(&map(SWIZZLE)), Ok(640));
    assert!(tensor(80, 650).unwrap_err().to_string().contains("a buffer of 650 bytes"));
    assert!(tensor(0, 640).unwrap_err().to_string().contains("strides [1, 0]"));
    // If the sizes are given, strides and the size of the buffer need not follow from each other.
    let sizes = vec![LaunchTimeElementCount::Parameter(1), LaunchTimeElementCount::Number(3)];
    let strides = vec![LaunchTimeElementCount::Number(1), LaunchTimeElementCount::Number(96)];
    let sized = LaunchDerivedTensorMap { pointer: 0, strides, sizes };
    let found = sized.derive_tensor(&map(SWIZZLE), ((), 650), |number| (number == 1).then_some(80)).unwrap();
    assert_eq!(
        (&found.sizes[..2], found.strides[1], found.end_offset(&map(SWIZZLE))),
        (&[80, 3][..], 192, Ok(2 * 192 + 160))
    );
    let written = Module {
        kernels: vec![
            Builder::with_parameters("k", StaticLaunchConfig::new(8, 1), {
                let mut given = given.clone();
                given[2] = of(sized.clone());
                given
            })
            .finish(),
        ],
    };
    verify(&written).unwrap();
    assert!(written.to_string().contains("rows of %0 by 1 x 96 sizes %1 x 3)"), "{written}");
    assert_eq!(text::parse_module(&written.to_string()).unwrap(), written);
    assert_eq!(decode_module(&encode_module(&written)).unwrap(), written);
    let wrong = |rows: LaunchDerivedTensorMap| {
        let mut given = given.clone();
        given[2] = of(rows);
        let kernel = Builder::with_parameters("k", StaticLaunchConfig::new(8, 1), given).finish();
        verify(&Module { kernels: vec![kernel] }).unwrap_err().to_string()
    };
    assert!(wrong(LaunchDerivedTensorMap { pointer: 1, ..rows.clone() }).contains("parameter 1 is not a pointer"));
    let of_pointer = vec![LaunchTimeElementCount::Number(1), LaunchTimeElementCount::Parameter(0)];
    assert!(
        wrong(LaunchDerivedTensorMap { strides: of_pointer, ..rows.clone() }).contains("parameter 0 is not a number")
    );
    let sizes = vec![LaunchTimeElementCount::Number(1)];
    assert!(
        wrong(LaunchDerivedTensorMap { sizes, ..rows.clone() }).contains("expected none, or one for each of 2 axes")
    );
    assert!(
        wrong(LaunchDerivedTensorMap { strides: vec![LaunchTimeElementCount::Number(1)], ..rows.clone() })
            .contains("one for each of 2 axes")
    );
}

/// Only instructions take tensor maps, and no operation produces one.
#[test]
fn maps_go_nowhere_else() {
    let refused = |body: &str| {
        let kernel = format!(
            "kernel k(%0 t: map 16 bits box 16 x 4 outside zeros) lanes 8 warps 1 {{
               %1: i1 = constant 1
               {body}
             }}"
        );
        verify(&text::parse_module(&kernel).unwrap()).unwrap_err().violation
    };
    assert!(matches!(refused("%2: map = select %1, %0, %0"), Violation::MapDefined { .. }));
    assert!(matches!(refused("%2: map = instruction \"x\" %0"), Violation::MapDefined { .. }));
    let yielded = refused("%2: map = if %1 {\n yield %0\n } else {\n yield %0\n }");
    assert!(matches!(yielded, Violation::MapDefined { .. }), "{yielded}");
    assert!(matches!(refused("%2: i32 = cast bits %0"), Violation::Operand { .. }));
    assert!(matches!(refused("%2: i32 = load %0 align 4"), Violation::Operand { .. }));
    assert!(matches!(refused("%2: i1 = compare eq %0, %0"), Violation::Operand { .. }));
}

fn row() -> Instruction {
    let box_layout = |name: &str, mode, swizzle, row_bytes| TensorCopyLayout {
        name: name.to_owned(),
        mode,
        swizzle,
        row_bytes,
        alignment: 128,
    };
    let operand = TensorCopyOperand {
        elements: Vec::new(),
        rank: 2,
        most: 64,
        row_granularity: 16,
        global_alignment: 16,
        layouts: vec![box_layout("plain", 0, XorSwizzle::default(), None), box_layout("mixed", 7, SWIZZLE, Some(32))],
    };
    Instruction {
        name: "fetch".to_owned(),
        kind: InstructionKind::AsyncCopy,
        operands: vec![
            InstructionOperand::Box(operand),
            InstructionOperand::TensorMap,
            InstructionOperand::Coordinate,
            InstructionOperand::Coordinate,
            InstructionOperand::Mbarrier,
        ],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Mbarrier,
        numerics: None,
        source: "made up".to_owned(),
    }
}

fn fetching(map: &TensorMap) -> Kernel {
    build_bulk_copy_kernel(&row(), 8, BulkCopyExtent::Box(map), None).unwrap()
}

#[test]
fn tensor_maps_to_encode_are_listed() {
    let encoded = |map: TensorMap, mode| vec![TensorMapParameter { parameter: 0, map, mode, rows: None }];
    for (swizzle, mode) in [(SWIZZLE, Some(7)), (XorSwizzle::default(), Some(0))] {
        assert_eq!(KernelMetadata::new(&fetching(&map(swizzle)), 0, &[row()]).maps, encoded(map(swizzle), mode));
    }
    assert_eq!(KernelMetadata::new(&fetching(&map(SWIZZLE)), 0, &[]).maps, encoded(map(SWIZZLE), None));
}

#[test]
fn instructions_accept_tensor_maps_of_their_box_shape() {
    let mut kernel = fetching(&map(SWIZZLE));
    verify_vendor_instructions(&kernel, &[row()]).unwrap();
    check_module_tensor_maps(&[row()], &Module { kernels: vec![kernel.clone()] }).unwrap();
    kernel.parameters[0].map = Some(TensorMap { box_sizes: vec![16, 65], ..map(SWIZZLE) });
    let error = verify_vendor_instructions(&kernel, &[row()]).unwrap_err();
    assert!(
        matches!(&error.violation, Violation::Instruction { message, .. } if message.contains("65 elements")),
        "{error}"
    );
    let error = check_module_tensor_maps(&[row()], &Module { kernels: vec![kernel] }).unwrap_err().to_string();
    assert!(error.contains("kernel `bulk`, instruction `fetch`") && error.contains("it copies 64 at most"), "{error}");
}

fn target() -> TargetDescription {
    emulator_target::target(true)
}

/// Runs a kernel that copies a box of a tensor to shared memory, after `change` has modified its memory and arguments.
fn fetched(change: impl Fn(&mut GlobalMemory, &mut [Argument; 3])) -> Result<(), Fault> {
    let (kernel, target) = (fetching(&map(SWIZZLE)), target());
    let semantics = SemanticsTable::from_instructions(&[row()]);
    let mut memory = GlobalMemory::new();
    let [tensor, origin, shared_contents] = [4096, 8, 128].map(|bytes| memory.allocate_with(&vec![0; bytes]));
    let tensor = TensorMapArgument::contiguous(tensor, &[32, 8], 2).unwrap();
    let mut arguments = [Argument::Tensor(tensor), Argument::Buffer(origin), Argument::Buffer(shared_contents)];
    change(&mut memory, &mut arguments);
    let emulator = Emulator::new(&kernel, &target)?.with_semantics(&semantics);
    emulator.run([1, 1, 1], &arguments, &mut memory, &RunLimits::default()).map(drop)
}

fn refusal(change: impl Fn(&mut TensorMapArgument)) -> String {
    let changed = fetched(|_, arguments| {
        if let Argument::Tensor(tensor) = &mut arguments[0] {
            change(tensor);
        }
    });
    changed.unwrap_err().to_string()
}

#[test]
fn a_launch_gives_a_tensor_for_a_map() {
    fetched(|_, _| {}).unwrap();
    let error = fetched(|_, arguments| arguments[0] = arguments[1]).unwrap_err();
    assert!(matches!(error.kind, FaultKind::Argument { index: 0, .. }), "{error}");
    let error = fetched(|_, arguments| arguments[1] = arguments[0]).unwrap_err();
    assert!(matches!(error.kind, FaultKind::Argument { index: 1, .. }), "{error}");
    let error = fetched(|_, arguments| arguments[0] = Argument::Scalar(0)).unwrap_err();
    assert!(matches!(error.kind, FaultKind::Argument { index: 0, .. }), "{error}");
    assert!(refusal(|tensor| tensor.sizes[1] = 0).contains("expected 1 to 2^32 along each axis"));
}

#[test]
fn tensors_are_aligned_and_there() {
    assert!(refusal(|tensor| tensor.strides[1] = 72).contains("expected a multiple of 16 bytes"));
    assert!(refusal(|tensor| tensor.offset = 8).contains("expected a multiple of 16 bytes"));
    // Rows beyond the buffer.
    let beyond = refusal(|tensor| tensor.strides[1] = 4096);
    assert!(beyond.contains("which has 4096 bytes"), "{beyond}");
    // Memory that the box does not reach is not checked.
    fetched(|_, arguments| {
        if let Argument::Tensor(tensor) = &mut arguments[0] {
            tensor.sizes[1] = 1 << 20;
        }
    })
    .unwrap();
}
