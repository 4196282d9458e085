//! Property of the binary form of kernel modules: any bytes give a module or an error.

use tilewright_kernel as kernel;

/// Decodes one input as a kernel module; a decoded module, encoded and decoded again, must be equal. Verifying and
/// printing the module must not panic.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    if let Ok(module) = kernel::decode_module(bytes) {
        assert_eq!(kernel::decode_module(&kernel::encode_module(&module)).as_ref(), Ok(&module));
        let _ = kernel::verify(&module);
        let _ = module.to_string();
    }
}
