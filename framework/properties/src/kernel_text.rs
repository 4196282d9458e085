//! Text of the kernel IR: what is read is written as text and as bytes that are read as the same.

use tilewright_kernel as kernel;

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(bytes: &[u8]) {
    let source = crate::text(bytes);
    match kernel::text::parse(source) {
        Err(error) => assert!(error.line >= 1 && error.column >= 1),
        Ok(module) => {
            let written = module.to_string();
            assert_eq!(kernel::text::parse(&written).as_ref(), Ok(&module), "{written}");
            assert_eq!(kernel::decode(&kernel::encode(&module)).as_ref(), Ok(&module), "{written}");
            let _ = kernel::verify(&module);
        }
    }
}
