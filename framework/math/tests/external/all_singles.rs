//! Unary functions on all `f32` values.

use std::collections::BTreeMap;

use tilewright_kernel::{Element, MathFunction};

use crate::functions::{Worst, against_host, is_listed, within_bound};

/// Environment variable that names functions, separated by commas, to test on all 2^32 arguments.
pub const ALL_SINGLES: &str = "TILEWRIGHT_ALL_SINGLES";

/// Tests the named functions on all 2^32 arguments.
pub fn all_singles() {
    let names = std::env::var(ALL_SINGLES).expect("this test needs it");
    for name in names.split(',') {
        let function = MathFunction::ALL.iter().find(|function| function.name() == name);
        let &function = function.unwrap_or_else(|| panic!("no function {name}"));
        assert_eq!(function.operand_count(), 1, "{name} takes two numbers");
        assert!(!is_listed(function), "the host has no {name}");
        let mut worst = Worst::default();
        for start in (0..1u64 << 32).step_by(1 << 20) {
            against_host(function, &[(start..start + (1 << 20)).collect()], &mut worst);
        }
        println!("{name}: {} at {:x?}", worst.error, worst.at);
        within_bound(&BTreeMap::from([(function, worst)]), Element::F32);
    }
}
