//! Instructions that a vendor has and that no row stands for: known, and listed with the reason why nothing uses them.

use serde::{Deserialize, Serialize};

/// A form of an instruction, in all its sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedInstruction {
    /// Its mnemonic; `{M}`, `{N}` and `{K}` stand for sizes where there are several.
    pub name: String,
    /// M, N and K of each size, as the vendor counts them.
    pub shapes: Vec<[u64; 3]>,
    /// Element type of each operand, by its role.
    pub types: Vec<(String, String)>,
    /// Why nothing uses it.
    pub reason: String,
    /// The vendor's document or tool from which it is known.
    pub source: String,
}

/// A plugin's list, in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    groups: Vec<Group>,
}

/// Forms that the same architectures have and that nothing uses for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    architectures: Vec<String>,
    reason: String,
    source: String,
    /// Roles of the operands, in the order of each form's types.
    roles: Vec<String>,
    forms: Vec<Form>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: String,
    shapes: Vec<[u64; 3]>,
    types: Vec<String>,
}

impl UnusedInstruction {
    /// The forms that a plugin's list has for an architecture: TOML with `groups` of forms.
    ///
    /// # Errors
    /// The text is no such list.
    pub fn read_list(list: &str, architecture: &str) -> Result<Vec<Self>, toml::de::Error> {
        let mut found = Vec::new();
        for group in toml::from_str::<List>(list)?.groups {
            if !group.architectures.iter().any(|known| known == architecture) {
                continue;
            }
            found.extend(group.forms.into_iter().map(|form| Self {
                name: form.name,
                shapes: form.shapes,
                types: group.roles.iter().cloned().zip(form.types).collect(),
                reason: group.reason.clone(),
                source: group.source.clone(),
            }));
        }
        Ok(found)
    }
}
