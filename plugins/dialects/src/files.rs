//! The dialect files (lists of a vendor's tile operations) and import tables of all vendors.

use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::{DialectError, Dialects};

use crate::rules::VERIFY_RULE_SETS;

/// Names and texts of the dialect files. Each file lists the tile operations of one dialect of a vendor.
pub const DIALECT_FILES: &[(&str, &str)] = &[
    ("amdg.toml", include_str!("../amdg.toml")),
    ("nvws.toml", include_str!("../nvws.toml")),
    ("nvvm.toml", include_str!("../nvvm.toml")),
    ("rocdl.toml", include_str!("../rocdl.toml")),
    ("ttig.toml", include_str!("../ttig.toml")),
    ("tti.toml", include_str!("../tti.toml")),
    ("ttng.toml", include_str!("../ttng.toml")),
];

/// Returns the neutral dialects together with the dialects of all vendors.
///
/// # Panics
/// Never: the files are part of the library, and tests parse each of them.
#[must_use]
pub fn all_dialects() -> Dialects {
    let mut dialects = Dialects::neutral();
    if let Err(error) = add_vendor_dialects(&mut dialects) {
        panic!("{error}");
    }
    dialects
}

/// Adds the verifier rules and the dialect files of all vendors to `dialects`.
///
/// # Errors
/// Returns [`DialectError`] if `dialects` already has a rule or dialect with the same name.
pub fn add_vendor_dialects(dialects: &mut Dialects) -> Result<(), DialectError> {
    VERIFY_RULE_SETS.iter().try_for_each(|rules| dialects.register_rules(rules))?;
    DIALECT_FILES.iter().try_for_each(|(file, text)| dialects.add_dialect(file, text))
}

/// Names and texts of the import tables, which map vendors' operations and library functions to neutral operations.
pub const IMPORT_TABLE_FILES: &[(&str, &str)] = &[
    ("amdg.toml", include_str!("../imports/amdg.toml")),
    ("gpu.toml", include_str!("../imports/gpu.toml")),
    ("imf.toml", include_str!("../imports/imf.toml")),
    ("libdevice.toml", include_str!("../imports/libdevice.toml")),
    ("mlir.toml", include_str!("../imports/mlir.toml")),
    ("nvws.toml", include_str!("../imports/nvws.toml")),
    ("nvvm.toml", include_str!("../imports/nvvm.toml")),
    ("ocml.toml", include_str!("../imports/ocml.toml")),
    ("tti.toml", include_str!("../imports/tti.toml")),
    ("ttng.toml", include_str!("../imports/ttng.toml")),
];

/// Returns the import tables of all vendors, which map vendors' operations to neutral operations.
///
/// # Panics
/// Never: the tables are part of the library, and tests parse each of them.
#[must_use]
pub fn read_import_tables() -> ForeignOpReplacements {
    let mut imports = ForeignOpReplacements::default();
    for (file, text) in IMPORT_TABLE_FILES {
        if let Err(error) = imports.add_table(file, text) {
            panic!("{error}");
        }
    }
    imports
}
