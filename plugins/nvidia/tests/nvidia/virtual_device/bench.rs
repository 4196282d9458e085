//! Helpers that run PTX on the virtual device.

use crate::prelude::*;
use tilewright_plugin::{CodePayload, KernelMetadata};
use tilewright_virtual_ptx::{LaunchReport, VirtualDevice};

/// Returns the target of this name and its virtual device.
pub fn device_of(name: &str) -> (NvidiaTarget, VirtualDevice) {
    let target = target(name);
    let device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
    (target, device)
}

/// Returns the virtual device that most tests use.
pub fn device() -> VirtualDevice {
    device_of("a100").1
}

/// An argument of a kernel launch on the virtual device.
#[derive(Debug, Clone)]
pub enum Given {
    /// A buffer with these contents.
    Buffer(Vec<u8>),
    /// A 32-bit number.
    Word(u32),
    /// A 64-bit number.
    Long(u64),
}

/// The launch configuration of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub warps: u32,
    pub grid: [u32; 3],
    pub shared_bytes: u64,
}

impl Shape {
    pub fn warps(warps: u32) -> Self {
        Self { warps, grid: [1, 1, 1], shared_bytes: 0 }
    }
}

/// Returns an artifact with a PTX text of one kernel.
pub fn artifact(ptx: &str, kernel: &str, shape: Shape) -> Artifact {
    let metadata = KernelMetadata {
        name: kernel.to_owned(),
        lanes: 32,
        warps: shape.warps,
        blocks: 1,
        shared_bytes: shape.shared_bytes,
        registers: 0,
        maps: Vec::new(),
        parameters: None,
    };
    let payload = CodePayload {
        form: CodeFormat::Assembly,
        format: "ptx".to_owned(),
        bytes: ptx.as_bytes().to_vec(),
        may_differ: false,
    };
    Artifact { payloads: vec![payload], kernels: vec![metadata], accepted_by: None }
}

/// Runs a kernel on the default virtual device; returns the contents of its buffers and its counts.
pub fn run(
    ptx: &str,
    kernel: &str,
    shape: Shape,
    given: &[Given],
) -> Result<(Vec<Vec<u8>>, LaunchReport), DeviceError> {
    run_on(&mut device(), ptx, kernel, shape, given)
}

/// Runs a kernel on a given virtual device; returns the contents of its buffers and its counts.
pub fn run_on(
    device: &mut VirtualDevice,
    ptx: &str,
    kernel: &str,
    shape: Shape,
    given: &[Given],
) -> Result<(Vec<Vec<u8>>, LaunchReport), DeviceError> {
    let code = device.load(&artifact(ptx, kernel, shape))?;
    let (mut arguments, mut buffers) = (Vec::new(), Vec::new());
    for given in given {
        arguments.push(match given {
            Given::Buffer(bytes) => {
                let buffer = device.allocate(bytes.len() as u64)?;
                device.write(buffer, 0, bytes)?;
                buffers.push((buffer, bytes.len() as u64));
                LaunchArgument::Buffer(buffer)
            }
            Given::Word(value) => LaunchArgument::Scalar { bits: (*value).into(), width: 32 },
            Given::Long(value) => LaunchArgument::Scalar { bits: *value, width: 64 },
        });
    }
    device.launch(&LaunchRequest { code, kernel: kernel.to_owned(), grid: shape.grid, arguments })?;
    let left = buffers.iter().map(|&(buffer, bytes)| device.read(buffer, 0, bytes)).collect::<Result<_, _>>()?;
    Ok((left, device.report().clone()))
}

/// Returns the PTX of a kernel with one buffer, whose address is in `%io`; `%lane` is the lane index. The body may use
/// the predicates `%p0` to `%p9`, and the registers `%h0`.. of 16 bits, `%r0`.. of 32 and `%d0`.. of 64.
pub fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 io)\n{{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .b64 %d<20>;\n\
         .reg .b64 %io; .reg .b32 %lane;\n\
         ld.param.u64 %io, [io]; mov.u32 %lane, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Returns the 32-bit words of a buffer.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Runs a body whose lanes each store one word at the lane's location; returns the words.
pub fn lanes(body: &str) -> Vec<u32> {
    let body = format!("{body}\nmul.wide.u32 %d19, %lane, 4; add.u64 %d19, %d19, %io; st.global.u32 [%d19], %r0;");
    let (left, _) = run(&kernel(&body), "k", Shape::warps(1), &[Given::Buffer(vec![0; 128])])
        .unwrap_or_else(|error| panic!("{error}: {body}"));
    words(&left[0])
}

/// Returns the error message for a body that must fault, with `warps` warps.
pub fn fault(body: &str, warps: u32) -> String {
    match run(&kernel(body), "k", Shape::warps(warps), &[Given::Buffer(vec![0; 4096])]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it runs: {body}"),
    }
}
