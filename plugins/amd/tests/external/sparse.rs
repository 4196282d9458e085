//! Sparse instructions, which the committed excerpt of the calculator's tables does not contain.

use crate::CALCULATED;
use serde_json::Value;
use tilewright_amd_tables::instructions::omitted_instructions_of;
use tilewright_vendor_testkit::prelude::*;

pub fn sparse_instructions_are_those_of_the_calculator() {
    let file: Value = serde_json::from_str(&shared_data::text(CALCULATED)).expect("a table is JSON");
    for (generation, architecture) in [("cdna3", "gfx942"), ("rdna4", "gfx1201")] {
        let listed = file[generation].as_object().expect("instructions").iter();
        let sparse: BTreeSet<_> =
            listed.filter(|(_, row)| row["sparse"] == true).map(|(name, _)| name.clone()).collect();
        assert_eq!(
            omitted_instructions_of(architecture).into_iter().map(|form| form.name).collect::<BTreeSet<_>>(),
            sparse
        );
    }
}
