//! Bulk copies on the virtual device: bulk tensor copies and 1-D copies in both directions, their faults, and every
//! instruction as this plugin emits it.

use crate::prelude::*;
use crate::virtual_device::bench::device_of;
use crate::virtual_device::bench::{Shape, artifact, fault, words};
use tilewright_kernel::{MAX_TENSOR_MAP_RANK, OutOfBoundsFill, TensorMap, TensorMapBinding};
use tilewright_plugin::TensorMapParameter;
use tilewright_target::XorSwizzle;
use tilewright_verify::{
    TestCase, build_box_copy_case, build_bulk_copy_1d_case, edge_box_origins, with_combined_element,
};

/// Returns the PTX of a kernel with a tensor map and a pointer. The predicate `%one` selects one lane, and `b` is an
/// mbarrier of one arrival.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 io)\n{{\n\
         .reg .pred %one, %p0; .reg .b32 %r<10>; .reg .b64 %d<20>; .reg .b64 %io, %map; .reg .b32 %lane;\n\
         .shared .align 1024 .b8 box[1024]; .shared .align 8 .b64 b;\n\
         mov.b64 %map, map; cvta.param.u64 %map, %map;\n\
         ld.param.u64 %io, [io]; mov.u32 %lane, %tid.x; setp.eq.u32 %one, %lane, 0;\n\
         @%one mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n{body}\nret;\n}}\n"
    )
}

const BRING: &str = "@%one mbarrier.arrive.expect_tx.shared.b64 _, [b], 256; \
    @%one cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%map, {%r1, %r2}], [b];";
const WAIT: &str = "W: mbarrier.try_wait.parity.shared.b64 %p0, [b], 0; @!%p0 bra W;";
/// PTX text: each lane writes two words of the box in shared memory to the buffer.
const SHOW: &str = "mul.lo.u32 %r3, %lane, 8; mov.u32 %r4, box; add.u32 %r4, %r4, %r3; \
    ld.shared.v2.u32 {%r5, %r6}, [%r4]; cvt.u64.u32 %d0, %r3; add.u64 %d0, %d0, %io; st.global.v2.u32 [%d0], {%r5, %r6};";

/// Runs a body on a tensor of 16 rows of 24 words, each equal to its index, whose boxes have 4 rows of 16 words.
/// Returns the words at the pointer, and the tensor.
fn run(body: &str, mode: u32, outside: OutOfBoundsFill) -> Result<[Vec<u32>; 2], DeviceError> {
    let (_, mut device) = device_of("h100");
    let map =
        TensorMap { element_bits: 32, element: None, box_sizes: vec![16, 4], swizzle: XorSwizzle::default(), outside };
    let mut modified = artifact(&kernel(body), "k", Shape::warps(1));
    modified.kernels[0].maps = vec![TensorMapParameter { parameter: 0, map, mode: Some(mode), rows: None }];
    modified.kernels[0].parameters = Some(vec![0, 64]);
    let code = device.load(&modified)?;
    let tensor: Vec<u8> = (0..16 * 24u32).flat_map(u32::to_le_bytes).collect();
    let buffers = [device.allocate(256)?, device.allocate(tensor.len() as u64)?];
    device.write(buffers[1], 0, &tensor)?;
    let given = TensorMapBinding::contiguous(buffers[1], &[24, 16], 4).unwrap();
    let arguments = vec![LaunchArgument::Tensor(given), LaunchArgument::Buffer(buffers[0])];
    device.launch(&LaunchRequest { code, kernel: "k".to_owned(), grid: [1, 1, 1], arguments })?;
    Ok([words(&device.read(buffers[0], 0, 256)?), words(&device.read(buffers[1], 0, tensor.len() as u64)?)])
}

#[test]
fn a_box_comes_with_what_is_outside() {
    let at = "mov.u32 %r1, 20; mov.u32 %r2, -1;";
    for (outside, filler) in [(OutOfBoundsFill::Zeros, 0), (OutOfBoundsFill::NotANumber, u32::MAX)] {
        let [found, _] = run(&format!("{at} {BRING} {WAIT} {SHOW}"), 0, outside).unwrap();
        for (index, found) in (0..).zip(found) {
            let (row, column) = (index / 16, 20 + index % 16);
            let inside = row > 0 && column < 24;
            assert_eq!(found, if inside { (row - 1) * 24 + column } else { filler }, "place {index}");
        }
    }
}

/// Compares a box with PTX ISA, "Swizzling modes": in rows of 64 bytes, chunk `c` of row `r` is at chunk
/// `c ^ (r / 2 % 4)`.
#[test]
fn a_box_has_the_layout_of_its_swizzle_mode() {
    let [found, _] =
        run(&format!("mov.u32 %r1, 0; mov.u32 %r2, 8; {BRING} {WAIT} {SHOW}"), 2, OutOfBoundsFill::Zeros).unwrap();
    for row in 0..4u32 {
        for chunk in 0..4 {
            let index = (row * 16 + (chunk ^ (row / 2 % 4)) * 4) as usize;
            let first = (8 + row) * 24 + chunk * 4;
            assert_eq!(found[index..index + 4], [first, first + 1, first + 2, first + 3], "row {row}, chunk {chunk}");
        }
    }
}

const FILL: &str = "mul.lo.u32 %r3, %lane, 8; mov.u32 %r4, box; add.u32 %r4, %r4, %r3; add.u32 %r5, %lane, 1000; \
    st.shared.v2.u32 [%r4], {%r5, %r5}; fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r1, 16; mov.u32 %r2, 14;";
const PUT: &str = "@%one cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%r1, %r2}], [box]; \
    cp.async.bulk.commit_group;";

#[test]
fn a_bulk_tensor_store_writes_only_in_bounds() {
    for wait in ["cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0; bar.sync 0; st.shared.u32 [%r4], 7;"]
    {
        let [_, tensor] = run(&format!("{FILL} {PUT} {wait}"), 0, OutOfBoundsFill::Zeros).unwrap();
        for (index, found) in (0..).zip(tensor) {
            let (row, column) = (index / 24, index % 24);
            let written = row >= 14 && column >= 16;
            // A lane has two words of the box, whose rows have 16.
            let lane = (row.max(14) - 14) * 8 + (column.max(16) - 16) / 2;
            assert_eq!(found, if written { 1000 + lane } else { index }, "place {index}");
        }
    }
}

#[test]
fn data_of_a_bulk_copy_in_flight_is_not_accessed() {
    let assert_error = |body: String, phrases: &[&str]| {
        let error = run(&body, 0, OutOfBoundsFill::Zeros).unwrap_err().to_string();
        phrases.iter().for_each(|phrase| assert!(error.contains(phrase), "{error}"));
    };
    let at = "mov.u32 %r1, 0; mov.u32 %r2, 0;";
    assert_error(format!("{at} {BRING} {SHOW}"), &["being written", "not waited for"]);
    assert_error(format!("{FILL} {PUT} st.shared.u32 [%r4], 7;"), &["being read by an asynchronous operation"]);
    assert_error(format!("{FILL} {PUT}"), &["exits", "not waited for"]);
    assert_error(format!("{at} {}", BRING.replace("[box]", "[box+16]")), &["not a multiple of 128"]);
    assert_error(format!("{at} {}", BRING.replace("[%map,", "[%io,")), &["no map of a tensor"]);
    assert_error(format!("{at} {}", BRING.replace("{%r1, %r2}", "{%r1}")), &["1 coordinates"]);
    // More bytes are expected than arrive: the phase never completes.
    let more = BRING.replace(", 256;", ", 272;");
    let (_, mut device) = device_of("h100");
    let mut modified = artifact(
        &kernel(&format!("{at} {more} mbarrier.test_wait.parity.shared.b64 %p0, [b], 0; {SHOW}")),
        "k",
        Shape::warps(1),
    );
    modified.kernels[0].parameters = Some(vec![0, 64]);
    let code = device.load(&modified).unwrap();
    let buffer = device.allocate(16).unwrap();
    let tensor =
        TensorMapBinding { buffer, offset: 0, sizes: [1; MAX_TENSOR_MAP_RANK], strides: [0; MAX_TENSOR_MAP_RANK] };
    let arguments = vec![LaunchArgument::Tensor(tensor), LaunchArgument::Buffer(buffer)];
    let launched = device.launch(&LaunchRequest { code, kernel: "k".to_owned(), grid: [1, 1, 1], arguments });
    assert!(
        matches!(launched, Err(DeviceError::Unsupported(_))),
        "an artifact that says nothing of a map: {launched:?}"
    );
}

#[test]
fn bulk_copies_are_of_multiples_of_the_granularity() {
    let shared = ".shared .align 16 .b8 w[64]; .shared .align 8 .b64 b; setp.eq.u32 %p0, %lane, 0; \
                  @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;";
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    let wrong = |what: &str| fault(&format!("{shared} @%p0 {copy} {what};"), 1);
    assert!(wrong("[w], [%io], 24, [b]").contains("a multiple of 16"));
    assert!(wrong("[w+8], [%io], 16, [b]").contains("not a multiple of 16"));
    assert!(wrong("[w], [%io+4], 16, [b]").contains("not a multiple of 16"));
    assert!(wrong("[w], [%io], 16, [w]").contains("not initialized"));
}

/// Runs every bulk copy as the plugin emits it: any start of a box, every swizzle, elements of 16 and 64 bits, of reductions
/// integers of 32 and 64 bits.
#[test]
fn every_row_runs() {
    let (target, mut device) = device_of("h100");
    let rows = target.instructions().iter().filter(|row| tilewright_verify::kernels::BulkCopyExtent::is_copied_by(row));
    let mut ran = 0;
    let mut right = |case: TestCase, what: String| {
        check_on_device(&case, &target, &mut device).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        ran += 1;
    };
    for row in rows {
        let Some(operand) = row.tensor_copy_operand() else {
            right(build_bulk_copy_1d_case(row, 1040, 32, None).unwrap(), row.name.clone());
            continue;
        };
        let narrow = if operand.elements.is_empty() { 16 } else { 32 };
        for (box_layout, element_bits) in operand.layouts.iter().zip([narrow, 64].into_iter().cycle()) {
            let mut box_sizes = vec![box_layout.row_bytes.unwrap_or(48) * 8 / element_bits, 5, 2, 3, 1];
            box_sizes.truncate(operand.rank as usize);
            let map = TensorMap {
                element_bits,
                element: None,
                box_sizes,
                swizzle: box_layout.swizzle,
                outside: OutOfBoundsFill::NotANumber,
            };
            let map = with_combined_element(map, operand).expect("integers of this width");
            for which in 0..4 {
                let origin: Vec<i32> = map.box_sizes.iter().map(|&size| edge_box_origins(size)[which]).collect();
                let case = build_box_copy_case(row, &map, &origin, 32, None).unwrap();
                right(case, format!("{} {} at {origin:?}", row.name, box_layout.name));
            }
        }
    }
    assert_eq!(ran, 2 + (2 + 6) * 5 * 4 * 4);
}
