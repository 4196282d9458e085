//! Tests of the import of vendors' operations in real programs.

use tilewright_testkit::shared_data;

use crate::imports::neutral;

/// After import no vendor operation is left in any program with layouts of the shared data, except inline assembly.
pub fn real_programs_have_no_foreign_ops_after() {
    let folder = shared_data::path("kernels");
    let mut count = 0;
    for folder in [folder.join("ttgir"), folder.join("cases")] {
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let file = entry.expect("an entry").path();
            if !file.extension().is_some_and(|end| end == "ttgir" || end == "ttir") {
                continue;
            }
            let printed = neutral(&std::fs::read_to_string(&file).expect("a program"));
            for foreign in [" amdg.", " ttng.", " rocdl.", "extern_elementwise", "inline_asm"] {
                assert!(!printed.contains(foreign), "{}: {foreign}", file.display());
            }
            count += 1;
        }
    }
    assert_eq!(count, 652 + 220);
}
