//! Buffers of the host in runs on the emulator.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;

use emulator_target::{kernel, target};
use tilewright::kernel::Module;
use tilewright::run::{EmulatedRun, EmulatedRunError, HostBuffer, KernelArgument, KernelLaunch, run_emulated};
use tilewright_emulator::{FaultKind, RunLimits};
use tilewright_layout::{Families, families::NeutralFamilies};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Instruction, TargetDescription};

/// A target without instructions and code generator.
struct Plain(TargetDescription);

impl Target for Plain {
    fn description(&self) -> &TargetDescription {
        &self.0
    }

    fn families(&self) -> &dyn Families {
        &NeutralFamilies
    }

    fn instructions(&self) -> &[Instruction] {
        &[]
    }

    fn compile(&self, _: &Module, _: &CompileOptions) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported("no code generator".to_owned()))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Ok(Vec::new())
    }
}

/// Copies a word of each of eight lanes from one buffer to another.
fn copy(from: HostBuffer<'_>, to: HostBuffer<'_>) -> Result<EmulatedRun, EmulatedRunError> {
    let kernel = kernel(
        "kernel copy(%0 from: ptr.global, %1 to: ptr.global) lanes 8 warps 1 {
           %2: i32 = special lane
           %3: i32 = constant 4
           %4: i32 = binary mul %2, %3
           %5: ptr.global = ptr_add %0, %4
           %6: ptr.global = ptr_add %1, %4
           %7: i32 = load %5 align 4
           store %6, %7 align 4
         }",
    );
    let launch = KernelLaunch {
        grid: [1, 1, 1],
        arguments: &[KernelArgument::Buffer(0), KernelArgument::Buffer(1)],
        buffers: vec![from, to],
    };
    run_emulated(&kernel, &Plain(target(true)), &launch, &RunLimits::default(), None)
}

#[test]
fn uninitialised_buffers_are_so_at_every_address() {
    let (numbers, zeros): (Vec<u8>, Vec<u8>) = ((0..32).collect(), vec![0; 36]);
    for address in [None, Some(0x7f00_0000_1000)] {
        let from = HostBuffer { address, ..HostBuffer::new(&numbers) };
        let to = |bytes| HostBuffer { initialised: false, address: address.map(|at| at + 4096), bytes };
        let run = copy(from, to(&zeros[..32])).unwrap();
        assert_eq!(run.changed, [None, Some(numbers.clone())]);
        let read = copy(HostBuffer { initialised: false, ..from }, to(&zeros[..32])).unwrap_err();
        let EmulatedRunError::Fault(fault) = &read else { panic!("{read}") };
        assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{address:?}: {fault}");
        let unwritten = copy(from, to(&zeros)).unwrap_err();
        assert!(matches!(unwritten, EmulatedRunError::Unwritten { buffer: 1, .. }), "{address:?}: {unwritten}");
    }
}
