//! Property of the text of kernel IR: a parsed module round-trips through text and bytes.

use tilewright_kernel as kernel;

/// Parses one input as the text of a kernel module. A parsed module, printed and parsed again, or encoded and decoded,
/// must be equal; an error must have a line and a column.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let source = crate::text(bytes);
    match kernel::text::parse_module(source) {
        Err(error) => assert!(error.line >= 1 && error.column >= 1),
        Ok(module) => {
            let written = module.to_string();
            assert_eq!(kernel::text::parse_module(&written).as_ref(), Ok(&module), "{written}");
            assert_eq!(kernel::decode_module(&kernel::encode_module(&module)).as_ref(), Ok(&module), "{written}");
            let _ = kernel::verify(&module);
        }
    }
}
