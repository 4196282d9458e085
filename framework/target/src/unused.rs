//! Instructions of a vendor without an entry in the table, listed with the reason why they are not used.

use serde::{Deserialize, Serialize};

/// An instruction of the vendor, in all its sizes, that no entry of the instruction table describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedInstruction {
    /// Mnemonic of the instruction; `{M}`, `{N}` and `{K}` stand for sizes if it has several.
    pub name: String,
    /// M, N and K of each size of the instruction, as the vendor counts them.
    pub shapes: Vec<[u64; 3]>,
    /// Role (`a`, `b`, ...) and vendor's name of the element type of each operand.
    pub types: Vec<(String, String)>,
    /// The reason why the instruction is not used.
    pub reason: String,
    /// The vendor's document or tool that lists the instruction.
    pub source: String,
}

/// A plugin's file of unused instructions, in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    groups: Vec<Group>,
}

/// Entry of the list: instructions of the same architectures that are unused for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    architectures: Vec<String>,
    reason: String,
    source: String,
    /// Roles of the operands, in the order of the `types` of each entry of `forms`.
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

impl OmittedInstruction {
    /// Reads the instructions that `architecture` has and the plugin does not use, from the plugin's list: TOML with
    /// `groups` of `forms`.
    ///
    /// # Errors
    /// The TOML parser's error if the text is no such list.
    pub fn parse_list(list: &str, architecture: &str) -> Result<Vec<Self>, toml::de::Error> {
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
