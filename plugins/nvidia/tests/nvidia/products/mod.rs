//! Products by their names, with the plugin that serves them.

use tilewright_nvidia::NvidiaTarget;
use tilewright_target::TargetDescription;

/// The target of that name.
pub fn target(name: &str) -> NvidiaTarget {
    let text = match name {
        "a100" => include_str!("../../../../../targets/a100.toml"),
        "b200" => include_str!("../../../../../targets/b200.toml"),
        "gh200" => include_str!("../../../../../targets/gh200.toml"),
        "h100" => include_str!("../../../../../targets/h100.toml"),
        "rtx4090" => include_str!("../../../../../targets/rtx4090.toml"),
        "rtx5090" => include_str!("../../../../../targets/rtx5090.toml"),
        _ => panic!("no file for {name}"),
    };
    let description = TargetDescription::from_toml(&format!("{name}.toml"), text).expect("a description");
    NvidiaTarget::new(description).expect("a target")
}
