//! The byte form of kernel modules, from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright::kernel;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(module) = kernel::decode(bytes) {
        assert_eq!(kernel::decode(&kernel::encode(&module)).as_ref(), Ok(&module));
        let _ = kernel::verify(&module);
        let _ = module.to_string();
    }
});
