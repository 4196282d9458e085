//! Mbarriers as PTX: one lane initializes them and arrives, all lanes wait, and `ptxas` accepts the code.

use crate::prelude::*;
use crate::virtual_device::bench::{self, Shape, device_of, words};
use tilewright_vendor_testkit::kernels::{GLOBAL_POINTER, WORD, module, own_address};

/// Architectures with mbarriers that count bytes, each with a GPU model.
const GPU_MODELS: [(&str, &str); 3] = [("sm_90a", "h100"), ("sm_100a", "b200"), ("sm_120a", "rtx5090")];

/// Returns a kernel: warp 0 sends a word of each lane to warp 1, four times, through one buffer. Warp 0 waits until the
/// buffer is empty, warp 1 until it is full.
fn handshake(arrivals: u32, bytes: u32) -> Kernel {
    let mut k = Builder::new("handshake", StaticLaunchConfig::new(32, 2), &[("out", GLOBAL_POINTER)]);
    let buffer = k.shared_buffer(128, 16);
    let (full, empty) = (k.mbarrier(arrivals), k.mbarrier(1));
    k.proxy_fence();
    k.barrier(CollectiveScope::Block);
    let (lane, warp) = (k.special(SpecialRegister::Lane), k.special(SpecialRegister::Warp));
    let [zero, one, four] = [0, 1, 4].map(|number| k.constant(WORD, number));
    let address = k.binary_const(Binary::Mul, lane, 4);
    let address = k.ptr_add(buffer, address);
    let first = k.compare(Compare::Eq, warp, zero);

    k.begin_region(&[]);
    let iteration = k.begin_region(&[WORD])[0];
    let before = k.binary(Binary::Add, iteration, one);
    k.mbarrier_wait(empty, before);
    k.store(address, 0, iteration, None);
    k.mbarrier_arrive(full, bytes);
    let iterations = k.end_region(&[]);
    k.for_loop(zero, four, one, &[], iterations);
    let gives = k.end_region(&[]);

    k.begin_region(&[]);
    let iteration = k.begin_region(&[WORD])[0];
    k.mbarrier_wait(full, iteration);
    let word = k.load(WORD, address, 0, None);
    let out = k.parameter(0);
    let out = own_address(&mut k, out, 4);
    k.store(out, 0, word, None);
    k.mbarrier_arrive(empty, 0);
    let iterations = k.end_region(&[]);
    k.for_loop(zero, four, one, &[], iterations);
    let takes = k.end_region(&[]);
    k.if_else(first, gives, takes, &[]);
    k.finish()
}

/// Returns the kernel's PTX, which `ptxas` must accept if it is installed.
fn ptx(gpu_model: &str, kernel: Kernel) -> String {
    let options = CompileOptions {
        emit: vec![CodeFormat::Assembly, CodeFormat::Object],
        optimisation: 2,
        ..CompileOptions::default()
    };
    let artifact = target(gpu_model).compile(&module(vec![kernel]), &options).unwrap();
    match &artifact.accepted_by {
        Some(tool) => assert_eq!(tool, "ptxas"),
        None => assert!(object::find_assembler().is_err(), "there is an assembler that was not asked"),
    }
    artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

#[test]
fn one_lane_makes_them_and_arrives_and_all_wait() {
    for (architecture, gpu_model) in GPU_MODELS {
        let ptx = ptx(gpu_model, handshake(1, 0));
        assert!(ptx.contains(&format!(".target {architecture}")), "{ptx}");
        let pieces: Vec<&str> = ptx.split('{').map(|piece| piece.split('}').next().unwrap()).collect();
        let with = |what: &str| pieces.iter().filter(|piece| piece.contains(what)).copied().collect::<Vec<_>>();
        for one in ["mbarrier.init", "mbarrier.arrive"] {
            let found = with(one);
            assert!(found.len() >= 2, "{one}: {ptx}");
            for piece in found {
                // One lane arrives after all lanes have come.
                let at = |what: &str| piece.find(what).unwrap_or_else(|| panic!("{what} in {piece}"));
                assert!(at("bar.warp.sync") < at("elect.sync _|one"), "{piece}");
                assert!(at("elect.sync _|one") < at(&format!("@one {one}")), "{piece}");
            }
        }
        let waits = with("mbarrier.try_wait.parity");
        assert!(waits.len() >= 2 && waits.iter().all(|wait| wait.contains("@!done bra again")), "{ptx}");
        assert!(waits.iter().all(|wait| !wait.contains("elect")), "{ptx}");
        let fence = ptx.find("fence.proxy.async.shared::cta").unwrap();
        let (last_init, barrier) = (ptx.rfind("mbarrier.init").unwrap(), ptx.find("bar.sync").unwrap());
        assert!(last_init < fence && fence < barrier, "{ptx}");
    }
}

#[test]
fn bytes_are_expected_with_the_arrival() {
    let expecting = ptx(GPU_MODELS[0].1, handshake(1, 4096));
    assert!(expecting.contains("mbarrier.arrive.expect_tx.shared::cta.b64 _, ["), "{expecting}");
    assert!(expecting.contains(", 4096;"), "{expecting}");
    assert!(!ptx(GPU_MODELS[0].1, handshake(1, 0)).contains("expect_tx"));
    assert!(ptx(GPU_MODELS[0].1, handshake(7, 0)).contains(", 7;"));
}

#[test]
fn what_no_mbarrier_counts_is_refused() {
    let refusal = |gpu_model: &str, kernel: Kernel| {
        let error = target(gpu_model).compile(&module(vec![kernel]), &CompileOptions::default()).unwrap_err();
        let CompileError::Unsupported(message) = error else { panic!("{error}") };
        message
    };
    assert!(refusal("a100", handshake(1, 0)).contains("no mbarriers"));
    assert!(refusal(GPU_MODELS[0].1, handshake(1 << 20, 0)).contains("1048575 arrivals"));
    assert!(refusal(GPU_MODELS[0].1, handshake(1, 1 << 20)).contains("1048575 bytes"));
}

/// Returns a kernel: in each of three iterations warp 0 makes a word of shared memory an mbarrier, arrives there, and,
/// if `invalidates`, ends it; then each lane of warp 0 stores a number to the same word.
fn reuse(invalidates: bool) -> Kernel {
    let mut k = Builder::new("reuse", StaticLaunchConfig::new(32, 2), &[("out", GLOBAL_POINTER)]);
    let pointer = k.shared_buffer(8, 8);
    let warp = k.special(SpecialRegister::Warp);
    let [zero, one, three] = [0, 1, 3].map(|number| k.constant(WORD, number));
    let first = k.compare(Compare::Eq, warp, zero);
    let by_first = |k: &mut Builder, act: &dyn Fn(&mut Builder)| {
        k.begin_region(&[]);
        act(k);
        let then = k.end_region(&[]);
        k.begin_region(&[]);
        let otherwise = k.end_region(&[]);
        k.if_else(first, then, otherwise, &[]);
        k.barrier(CollectiveScope::Block);
    };
    let iteration = k.begin_region(&[WORD])[0];
    by_first(&mut k, &|k| {
        k.effect(Op::MbarrierInit { pointer, arrivals: 1 });
        k.mbarrier_arrive(pointer, 0);
    });
    k.mbarrier_wait(pointer, zero);
    k.barrier(CollectiveScope::Block);
    by_first(&mut k, &|k| {
        if invalidates {
            k.mbarrier_invalidate(pointer);
        }
        k.store(pointer, 0, iteration, None);
    });
    let word = k.load(WORD, pointer, 0, None);
    let out = k.parameter(0);
    let out = own_address(&mut k, out, 4);
    k.store(out, 0, word, None);
    k.barrier(CollectiveScope::Block);
    let iterations = k.end_region(&[]);
    k.for_loop(zero, three, one, &[], iterations);
    k.finish()
}

#[test]
fn an_invalidated_mbarrier_is_plain_memory() {
    for (_, gpu_model) in GPU_MODELS {
        let ptx = ptx(gpu_model, reuse(true));
        let count = |text: &str| ptx.matches(text).count();
        let invalidations = count("@one mbarrier.inval.shared::cta.b64 [");
        assert!(invalidations > 0 && invalidations == count("@one mbarrier.init.shared::cta.b64 ["), "{ptx}");
    }
    let run = |invalidates: bool| {
        let (_, mut device) = device_of("h100");
        let ptx = ptx("h100", reuse(invalidates));
        bench::run_on(&mut device, &ptx, "reuse", Shape::warps(2), &[bench::Given::Buffer(vec![0; 256])])
    };
    let (left, _) = run(true).unwrap();
    assert_eq!(words(&left[0]), [2; 64]);
    let error = run(false).unwrap_err().to_string();
    assert!(error.contains("a plain access touches it"), "{error}");
}
