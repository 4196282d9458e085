//! Explicit-memory programs whose operands a warpgroup reads in shared memory.

use crate::prelude::*;
use tilewright_vendor_testkit::explicit::case;

pub fn mma_operands_in_shared_memory_are_assembled() {
    let target = target("h100");
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    for name in ["explicit_gemm", "explicit_gemm_edges", "explicit_attention"] {
        let (case, text) = case(name);
        let kernel = case.compile_variant(&compiler, &text, &ProgramOptions::default()).expect("a kernel");
        let options = CompileOptions {
            emit: vec![CodeFormat::Assembly, CodeFormat::Object],
            optimisation: 2,
            ..CompileOptions::default()
        };
        let compiled = target.compile(&Module { kernels: vec![kernel] }, &options);
        let compiled = compiled.unwrap_or_else(|error| panic!("{name}: {error}"));
        let ptx = compiled.payload_text(CodeFormat::Assembly).expect("text");
        assert!(ptx.contains("wgmma.mma_async") && ptx.contains("fence.proxy.async"), "{name}: {ptx}");
        assert_eq!(compiled.payload(CodeFormat::Object).map(|object| object.format.as_str()), Some("cubin"), "{name}");
    }
}
