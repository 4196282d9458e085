//! Kernel modules that need clusters of blocks. A target without clusters must reject each, with the reason.

use crate::prelude::*;

/// Returns a verified module with one kernel, whose only parameter is a pointer; `act` builds the kernel's body.
pub fn module(launch: StaticLaunchConfig, act: impl FnOnce(&mut Builder)) -> Module {
    let mut builder = Builder::new("across", launch, &[("out", Type::Pointer(MemorySpace::Global))]);
    act(&mut builder);
    let module = Module { kernels: vec![builder.finish()] };
    verify(&module).unwrap();
    module
}

/// Returns four modules, each with one feature of clusters: a launch with clusters, a cluster barrier, the block's
/// index in the cluster, and an address in another block's shared memory.
fn asking(launch: StaticLaunchConfig) -> [Module; 4] {
    [
        module(launch.with_blocks(2), |_| {}),
        module(launch, |k| k.barrier(CollectiveScope::Cluster)),
        module(launch, |k| {
            k.special(SpecialRegister::Block);
        }),
        module(launch, |k| {
            let buffer = k.shared_buffer(16, 16);
            let block = k.i32(0);
            k.cluster_address(buffer, block);
        }),
    ]
}

/// Checks that a target without clusters rejects each of the modules as unsupported. `words` are texts that the four
/// messages must contain.
#[track_caller]
pub fn are_refused(target: &dyn Target, words: [&str; 4]) {
    let launch = StaticLaunchConfig::new(target.description().lanes.default, 1);
    for (module, words) in asking(launch).iter().zip(words) {
        match target.compile(module, &CompileOptions::default()) {
            Err(CompileError::Unsupported(message)) => assert!(message.contains(words), "{message}"),
            other => panic!("expected a refusal about {words}: {other:?}"),
        }
    }
}
