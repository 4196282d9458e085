//! Execution of generated code by Intel's OpenCL driver, compared with the expected results.
//!
//! `conformance/intel-tools.sh` installs the runtime for processors, and `OCL_ICD_VENDORS` points to it.
#![allow(clippy::unwrap_used)]

use crate::validated_target::{ValidatedTarget, target};
use tilewright_plan::movement::{Block2dLoadPlan, BlockLoadSource};
use tilewright_plugin::{DeviceBufferId, LoadedCodeId};
use tilewright_vendor_testkit::dots::{planned, problem};
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::{BlockLoadTile, build_block_2d_load_case};

/// Returns the reason why this machine has no device that runs the code; `None` if it has one.
pub fn missing() -> Option<String> {
    match target("max1550").devices() {
        Ok(devices) if devices.is_empty() => Some("the runtime finds no such device".to_owned()),
        Err(DeviceError::NoRuntime(why)) => Some(why),
        // Any other error must make a test fail.
        _ => None,
    }
}

fn device(target: &ValidatedTarget) -> Box<dyn Device> {
    let devices = target.devices().unwrap_or_else(|error| panic!("{error}"));
    devices.into_iter().next().expect("the tests that need a device run only if there is one")
}

pub fn each_mma_instruction_matches_its_semantics() {
    for target in [target("max1550"), target("a770")] {
        let mut device = device(&target);
        for row in target.instructions().iter().filter(|row| row.semantics.is_mma()) {
            build_instruction_case(row, build_plan_context(&target))
                .and_then(|case| check_on_device(&case, &target, &mut *device))
                .unwrap_or_else(|error| panic!("{}: {error}", row.name));
        }
    }
}

/// Checks each 2-D block load on a device, within a matrix and beyond the matrix's edges.
pub fn loads_of_blocks_give_what_their_rows_say() {
    let target = target("max1550");
    let mut device = device(&target);
    for row in target.instructions().iter().filter(|row| row.kind == InstructionKind::GlobalMove) {
        let context = PlanContext::new(target.description()).with_instructions(std::slice::from_ref(row));
        let Some(InstructionOperand::Register { layout, bits, .. }) = row.operands.first() else {
            panic!("{}", row.name)
        };
        let one = LinearLayout::identity(1, Dim::WARP, Dim::tensor(0)).unwrap();
        let layout = layout.direct_sum(&one).unwrap();
        let [rows, columns] = [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis)));
        let shape = [2 * rows + 1, 2 * columns + 32 / u64::from(*bits)];
        let shape = [shape[0], shape[1].max(512 / u64::from(*bits))];
        let source = BlockLoadSource { shape, minor: 1, pitch: 4 * columns.max(32), alignment: 64 };
        let loads = Block2dLoadPlan::new(&layout, &source, *bits, context).unwrap();
        let [high, wide] = [rows as i32, columns as i32];
        for begin in [[2 * high, 2 * wide], [-high / 2, -wide / 2]] {
            let tile = BlockLoadTile { layout: &layout, source, element_bits: *bits, begin };
            build_block_2d_load_case(&tile, &loads, self::build_plan_context(&target))
                .and_then(|case| check_on_device(&case, &target, &mut *device))
                .unwrap_or_else(|error| panic!("{} at {begin:?}: {error}", row.name));
        }
    }
}

pub fn dots_are_correct() {
    let target = target("max1550");
    let mut device = device(&target);
    let by_blocks = planned(&target, &problem(&target, [64, 64, 64], ["f16", "f16", "f32"]));
    assert!(
        by_blocks
            .plan_operand_loads(build_plan_context(&target))
            .unwrap()
            .iter()
            .any(|operand_load| operand_load.blocks.is_some())
    );
    build_mma_plan_cases(&by_blocks, build_plan_context(&target))
        .and_then(|cases| cases.iter().try_for_each(|case| check_on_device(case, &target, &mut *device).map(drop)))
        .unwrap();
    for types in [["f16", "f16", "f32"], ["i8", "u8", "i32"], ["i8", "e4m3", "f32"], ["i32", "f16", "f64"]] {
        let plan = planned(&target, &problem(&target, [32, 64, 32], types));
        build_mma_plan_cases(&plan, build_plan_context(&target))
            .and_then(|cases| cases.iter().try_for_each(|case| check_on_device(case, &target, &mut *device).map(drop)))
            .unwrap_or_else(|error| panic!("{types:?} by {}: {error}", plan.atom_name()));
    }
}

/// Returns a kernel: each block writes its index, times a scalar argument, to its element of the output.
fn numbering(target: &ValidatedTarget) -> Artifact {
    let i32 = Type::Scalar(Element::I32);
    let parameters = [("out", Type::Pointer(MemorySpace::Global)), ("factor", i32)];
    let mut builder = Builder::new("numbering", StaticLaunchConfig::new(16, 2), &parameters);
    let (out, multiplier) = (builder.parameter(0), builder.parameter(1));
    let block = builder.special(SpecialRegister::Program(0));
    let bytes = builder.binary_const(tilewright_kernel::Binary::Mul, block, 4);
    let address = builder.ptr_add(out, bytes);
    let value = builder.binary(tilewright_kernel::Binary::Mul, block, multiplier);
    builder.store(address, 0, value, None);
    target.compile(&Module { kernels: vec![builder.finish()] }, &CompileOptions::default()).unwrap()
}

fn launch(code: LoadedCodeId, grid: [u32; 3], arguments: &[LaunchArgument]) -> LaunchRequest {
    LaunchRequest { code, kernel: "numbering".to_owned(), grid, arguments: arguments.to_vec() }
}

pub fn grids_scalars_and_subbuffers_arrive() {
    let target = target("max1550");
    let mut device = device(&target);
    let code = device.load(&numbering(&target)).unwrap();
    let out = device.allocate(20).unwrap();
    assert_eq!(device.read(out, 0, 20).unwrap(), [0; 20], "memory begins as zeros");
    device.write(out, 16, &[1, 2, 3, 4]).unwrap();
    let multiplier = LaunchArgument::Scalar { bits: 1000, width: 32 };
    let launched = device.launch(&launch(code, [4, 1, 1], &[LaunchArgument::Buffer(out), multiplier])).unwrap();
    assert!(launched.nanoseconds.is_some(), "the runtime has a clock");
    let expected: Vec<u8> = [0u32, 1000, 2000, 3000, 0x0403_0201].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(device.read(out, 0, 20).unwrap(), expected);
    assert_eq!(device.read(out, 4, 4).unwrap(), expected[4..8]);
}

pub fn misuse_is_an_error_with_a_reason() {
    let target = target("max1550");
    let mut device = device(&target);
    let artifact = numbering(&target);
    let code = device.load(&artifact).unwrap();
    let out = device.allocate(8).unwrap();
    let valid = [LaunchArgument::Buffer(out), LaunchArgument::Scalar { bits: 1, width: 32 }];
    assert!(matches!(device.write(out, 4, &[0; 5]), Err(DeviceError::BadBuffer(_))));
    assert!(matches!(device.read(out, u64::MAX, 2), Err(DeviceError::BadBuffer(_))));
    assert!(matches!(device.read(DeviceBufferId(4711), 0, 0), Err(DeviceError::BadBuffer(_))));
    assert!(matches!(device.allocate(u64::MAX), Err(DeviceError::OutOfMemory(_))));
    assert!(matches!(device.launch(&launch(LoadedCodeId(4711), [1; 3], &valid)), Err(DeviceError::BadLaunch(_))));
    assert!(matches!(device.launch(&launch(code, [0, 1, 1], &valid)), Err(DeviceError::BadLaunch(_))));
    assert!(matches!(device.launch(&launch(code, [1; 3], &valid[..1])), Err(DeviceError::BadLaunch(_))));
    let wide = [valid[0], LaunchArgument::Scalar { bits: 1, width: 64 }];
    assert!(matches!(device.launch(&launch(code, [1; 3], &wide)), Err(DeviceError::BadLaunch(_))));
    let mut freed = valid;
    freed[0] = LaunchArgument::Buffer(device.allocate(8).unwrap());
    let LaunchArgument::Buffer(buffer) = freed[0] else { unreachable!() };
    device.free(buffer);
    assert!(matches!(device.launch(&launch(code, [1; 3], &freed)), Err(DeviceError::BadBuffer(_))));
    device.unload(code);
    assert!(matches!(device.launch(&launch(code, [1; 3], &valid)), Err(DeviceError::BadLaunch(_))));
    let mut broken = artifact.clone();
    broken.payloads.iter_mut().for_each(|payload| payload.bytes.truncate(40));
    assert!(matches!(device.load(&broken), Err(DeviceError::Driver(_) | DeviceError::BadLaunch(_))));
    let mut wide = artifact;
    wide.kernels[0].lanes = 7;
    assert!(matches!(device.load(&wide), Err(DeviceError::Unsupported(message)) if message.contains("7 lanes")));
}
