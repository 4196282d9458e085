//! The byte form of kernel modules, from anybody.

use tilewright_kernel as kernel;

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(bytes: &[u8]) {
    if let Ok(module) = kernel::decode(bytes) {
        assert_eq!(kernel::decode(&kernel::encode(&module)).as_ref(), Ok(&module));
        let _ = kernel::verify(&module);
        let _ = module.to_string();
    }
}
