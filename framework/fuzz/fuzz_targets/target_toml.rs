//! Target files: a description or an error, and a description crosses the plugin boundary unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright::plugin::wire;
use tilewright::target::TargetDescription;

fuzz_target!(|text: &str| {
    if let Ok(target) = TargetDescription::from_toml("fuzz.toml", text) {
        let bytes = wire::write(&target).expect("a description has bytes");
        assert_eq!(wire::read::<TargetDescription>(&bytes), Ok(target));
    }
});
