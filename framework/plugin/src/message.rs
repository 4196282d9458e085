//! The structured messages that cross the plugin boundary, each with a writer and a reader.
//!
//! A reader skips list entries with enum variants of a later version if the rest stays meaningful.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::wire::{self, WireError, is_unknown};
use crate::{Artifact, CodeFormat, CodePayload, CompileOptions, FactoryError, Target};
use tilewright_layout::{AttributeSyntax, FamilySpec, Layout, SampleLayout, SampleLayoutRequest};
use tilewright_target::{
    BankTableEntry, Instruction, InstructionKind, OmittedInstruction, ShufflePrimitive, TargetDescription,
};

/// A plugin's description of itself: name, version and architectures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PluginInfo {
    pub name: String,
    pub version: String,
    pub abi_minor: u32,
    pub architectures: Vec<String>,
}

/// One piece of a target's tables (families, samples, instructions), which a host can request separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Piece {
    /// Names and attribute syntaxes of the layout families.
    Families,
    /// Sample layouts of the families.
    Samples,
    /// The instruction table, and the hardware's instructions that it leaves out.
    Instructions,
    /// The instructions of one kind.
    InstructionsOf(InstructionKind),
}

impl Piece {
    /// The pieces that together are all of a target's tables.
    pub(super) const ALL: [Self; 3] = [Self::Families, Self::Samples, Self::Instructions];
}

/// A request for pieces of a target's tables; the answer is a [`TargetInfo`] with at least these pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PieceRequest {
    pub pieces: Vec<Piece>,
}

/// A target's tables: layout families, their samples and syntaxes, and instructions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TargetInfo<'a> {
    /// Names of the layout families.
    pub families: Vec<String>,
    /// The instruction table.
    pub instructions: Cow<'a, [Instruction]>,
    /// Sample layouts of the families, for each combination of warp size, warps and element width in [`uses`]; may be
    /// empty.
    #[serde(default)]
    pub samples: Vec<SamplesOfUse>,
    /// How attributes of the layout families are printed; a family without an entry is printed by the general rule.
    #[serde(default)]
    #[serde(rename = "spellings")]
    pub attribute_syntaxes: Vec<AttributeSyntax>,
    /// Instructions of the hardware that are not in the instruction table; may be empty.
    #[serde(default)]
    pub unused: Cow<'a, [OmittedInstruction]>,
}

/// The sample layouts of a target's families for one use: a warp size, a number of warps and an element width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SamplesOfUse {
    #[serde(rename = "use")]
    pub use_case: SampleLayoutRequest,
    pub samples: Vec<SampleLayout>,
}

/// Returns the uses for which sample layouts are sent across the boundary: every warp size of the target, blocks of up
/// to 16 warps, elements of 8 to 64 bits.
fn uses(description: &TargetDescription) -> impl Iterator<Item = SampleLayoutRequest> + '_ {
    description.lanes.choices.iter().flat_map(|&lanes| {
        let most = description.limits.lanes_per_block / lanes.max(1);
        let warps = [1, 2, 4, 8, 16].into_iter().filter(move |&warps| warps <= most);
        warps.flat_map(move |warps| {
            [8, 16, 32, 64].map(|element_bits| SampleLayoutRequest { lanes, warps, element_bits })
        })
    })
}

impl<'a> TargetInfo<'a> {
    /// Reads the requested pieces of a target's tables; the fields of other pieces stay empty.
    pub(super) fn of(target: &'a dyn Target, pieces: &[Piece]) -> Result<Self, FactoryError> {
        let families = target.families();
        let mut info = Self::default();
        for piece in pieces {
            match piece {
                Piece::Families => {
                    (info.families, info.attribute_syntaxes) = (families.names(), families.attribute_syntaxes())
                }
                Piece::Samples => {
                    info.samples = uses(target.description())
                        .map(|use_case| SamplesOfUse { use_case, samples: families.samples(use_case) })
                        .filter(|of_use| !of_use.samples.is_empty())
                        .collect();
                }
                Piece::Instructions => {
                    info.instructions = target.instruction_table()?;
                    info.unused = Cow::Borrowed(target.omitted_instructions());
                }
                Piece::InstructionsOf(kind) => info.instructions = target.instructions_of(*kind)?,
            }
        }
        Ok(info)
    }
}

/// A request for the layout that a family (a named constructor of layouts) gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FamilyRequest {
    pub spec: FamilySpec,
    pub shape: Vec<u64>,
}

/// The answer to a [`FamilyRequest`]: the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FamilyAnswer {
    pub layout: Layout,
}

/// Reads a target's description from the other side, with the same checks as for target files.
pub(super) fn read_description(bytes: &[u8]) -> Result<TargetDescription, WireError> {
    let description: TargetDescription = wire::read_without_unknown(
        bytes,
        &[(&["exchanges"], is_unknown::<ShufflePrimitive>), (&["shared", "banks"], is_unknown::<BankTableEntry>)],
    )?;
    description.check().map_err(|fault| WireError::Malformed(fault.to_string()))?;
    Ok(description)
}

pub(super) fn read_pieces(bytes: &[u8]) -> Result<PieceRequest, WireError> {
    wire::read_without_unknown(bytes, &[(&["pieces"], is_unknown::<Piece>)])
}

pub(super) fn read_target_info(bytes: &[u8]) -> Result<TargetInfo<'static>, WireError> {
    wire::read_without_unknown(
        bytes,
        &[
            (&["instructions"], is_unknown::<Instruction>),
            (&["spellings"], is_unknown::<AttributeSyntax>),
            (&["unused"], is_unknown::<OmittedInstruction>),
        ],
    )
}

pub(super) fn read_options(bytes: &[u8]) -> Result<CompileOptions, WireError> {
    wire::read_without_unknown(bytes, &[(&["emit"], is_unknown::<CodeFormat>)])
}

pub(super) fn read_artifact(bytes: &[u8]) -> Result<Artifact, WireError> {
    wire::read_without_unknown(bytes, &[(&["payloads"], is_unknown::<CodePayload>)])
}

/// Tries to read the bytes as each kind of message, for tests with arbitrary bytes: each gives a value or an error,
/// never a panic.
pub fn read_as_every_message(bytes: &[u8]) {
    use super::devices::call::{DeviceNames, Number};
    use super::frame::{self, Answer, Request};
    use crate::{LaunchRequest, LaunchStats};
    let _ = read_description(bytes);
    let _ = read_target_info(bytes);
    let _ = read_pieces(bytes);
    let _ = read_options(bytes);
    let _ = read_artifact(bytes);
    let _ = wire::deserialize_message::<FamilyRequest>(bytes);
    let _ = wire::deserialize_message::<FamilyAnswer>(bytes);
    let _ = wire::deserialize_message::<PluginInfo>(bytes);
    let _ = wire::deserialize_message::<DeviceNames>(bytes);
    let _ = wire::deserialize_message::<Number>(bytes);
    let _ = wire::deserialize_message::<LaunchRequest>(bytes);
    let _ = wire::deserialize_message::<LaunchStats>(bytes);
    let _ = frame::read::<Request>(&mut &*bytes);
    let _ = frame::read::<Answer>(&mut &*bytes);
}

#[cfg(test)]
mod tests {
    use ciborium::value::Value;
    use proptest::prelude::*;

    use super::super::frame::{self, Request};
    use super::super::wire::{MAX_MESSAGE_DEPTH, WIRE_VERSION, deserialize_message, serialize_message};
    use super::*;

    fn description() -> TargetDescription {
        let text = include_str!("../tests/fixtures/targets/src/fixture.toml");
        TargetDescription::from_toml("fixture.toml", text).expect("the fixture's description")
    }

    /// The envelope around a message, as another implementation might write it.
    #[derive(Serialize)]
    struct Envelope {
        version: u32,
        body: Value,
    }

    /// Returns the CBOR of a value after `change` has modified the value.
    fn changed<T: Serialize>(value: &T, change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut body = Value::serialized(value).expect("CBOR");
        change(&mut body);
        let mut bytes = Vec::new();
        ciborium::into_writer(&Envelope { version: WIRE_VERSION, body }, &mut bytes).expect("CBOR");
        bytes
    }

    fn field<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
        let Value::Map(map) = value else { panic!("a map with {name}") };
        &mut map.iter_mut().find(|(key, _)| key.as_text() == Some(name)).expect("the field").1
    }

    fn set(value: &mut Value, name: &str, to: Value) {
        *field(value, name) = to;
    }

    fn push(value: &mut Value, item: Value) {
        value.as_array_mut().expect("a list").push(item);
    }

    fn add_field(value: &mut Value) {
        value.as_map_mut().expect("a map").insert(0, ("later".into(), Value::Array(vec![1.into()])));
    }

    #[test]
    fn descriptions_cross_unchanged() {
        assert_eq!(read_description(&serialize_message(&description()).expect("bytes")), Ok(description()));
    }

    #[test]
    fn fields_of_a_later_version_are_skipped_at_every_depth() {
        let bytes = changed(&description(), |value| {
            add_field(value);
            add_field(field(value, "shared"));
            field(field(value, "shared"), "banks").as_array_mut().expect("rows").iter_mut().for_each(add_field);
            add_field(field(field(value, "costs"), "exchange"));
        });
        assert_eq!(read_description(&bytes), Ok(description()));
    }

    #[test]
    fn rows_with_variants_of_a_later_version_are_skipped() {
        let bytes = changed(&description(), |value| {
            for (list, name, variant) in [("exchanges", "kind", "teleport"), ("exchanges", "evidence", "dreamt")] {
                let rows = field(value, list);
                let mut row = rows.as_array().expect("rows")[0].clone();
                set(&mut row, name, variant.into());
                push(rows, row);
            }
            let banks = field(field(value, "shared"), "banks");
            let mut row = banks.as_array().expect("rows")[0].clone();
            push(field(&mut row, "directions"), "sideways".into());
            push(banks, row);
        });
        assert_eq!(read_description(&bytes), Ok(description()));
    }

    #[test]
    fn rows_that_are_wrong_are_no_rows_of_a_later_version() {
        let bytes = changed(&description(), |value| {
            let row = &mut field(value, "exchanges").as_array_mut().expect("rows")[0];
            set(row, "bits", "many".into());
        });
        assert!(matches!(read_description(&bytes), Err(WireError::Malformed(_))));
    }

    #[test]
    fn an_instruction_with_an_operand_of_a_later_version_is_skipped_entirely() {
        let row = |operand: Value| {
            let text = |text: &str| Value::from(text);
            Value::Map(vec![
                (text("name"), text("move")),
                (text("kind"), text("shared_move")),
                (text("operands"), Value::Array(vec![text("uniform"), operand])),
                (text("cycles"), Value::Null),
                (text("semantics"), text("move")),
                (text("source"), text("made up")),
            ])
        };
        let families = vec!["striped".to_owned()];
        let info = TargetInfo { families, ..TargetInfo::default() };
        let with_rows = |rows: Vec<Value>| changed(&info, |value| set(value, "instructions", Value::Array(rows)));
        let read_rows = |rows| read_target_info(&with_rows(rows)).map(|info| info.instructions.len());
        assert_eq!(read_rows(vec![row("uniform".into())]), Ok(1));
        let later = Value::Map(vec![("holographic".into(), Value::Map(vec![]))]);
        assert_eq!(read_rows(vec![row("uniform".into()), row(later)]), Ok(1));
        assert!(matches!(read_rows(vec![row(7.into())]), Err(WireError::Malformed(_))));
    }

    #[test]
    fn unused_instructions_cross_and_a_plugin_need_not_list_any() {
        let unused = vec![OmittedInstruction {
            name: "mad.sparse".to_owned(),
            shapes: vec![[16, 8, 32], [16, 8, 64]],
            types: vec![("d".to_owned(), "f32".to_owned()), ("a".to_owned(), "f16".to_owned())],
            reason: "its first operand has zeros by structure".to_owned(),
            source: "made up".to_owned(),
        }];
        let info = TargetInfo { unused: unused.into(), ..TargetInfo::default() };
        let bytes = changed(&info, |value| {
            field(value, "unused").as_array_mut().expect("rows").iter_mut().for_each(add_field);
        });
        assert_eq!(read_target_info(&bytes), Ok(info.clone()));
        let of_an_earlier_version = changed(&info, |value| {
            value.as_map_mut().expect("a map").retain(|(key, _)| key.as_text() != Some("unused"));
        });
        assert_eq!(read_target_info(&of_an_earlier_version), Ok(TargetInfo { unused: Cow::default(), ..info }));
    }

    #[test]
    fn forms_of_a_later_version_are_skipped() {
        let options = CompileOptions::default();
        let bytes = changed(&options, |value| push(field(value, "emit"), "hologram".into()));
        assert_eq!(read_options(&bytes), Ok(options));
        let payload =
            CodePayload { form: CodeFormat::Assembly, format: "s".to_owned(), bytes: vec![0, 255], may_differ: false };
        let artifact = Artifact { payloads: vec![payload], kernels: Vec::new(), accepted_by: None };
        let bytes = changed(&artifact, |value| {
            let mut payload = field(value, "payloads").as_array().expect("payloads")[0].clone();
            set(&mut payload, "form", "hologram".into());
            push(field(value, "payloads"), payload);
        });
        assert_eq!(read_artifact(&bytes), Ok(artifact));
    }

    #[test]
    fn a_later_envelope_is_refused_by_its_number() {
        let mut bytes = Vec::new();
        ciborium::into_writer(&Envelope { version: WIRE_VERSION + 1, body: 0.into() }, &mut bytes).expect("CBOR");
        assert_eq!(deserialize_message::<u32>(&bytes), Err(WireError::Version { found: WIRE_VERSION + 1 }));
    }

    #[test]
    fn depth_and_length_are_bounded_and_nothing_may_follow() {
        let nested = |depth: usize| (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let too_deep = serialize_message(&nested(MAX_MESSAGE_DEPTH + 1)).expect("bytes");
        assert!(matches!(deserialize_message::<Value>(&too_deep), Err(WireError::Malformed(_))));
        let mut followed = serialize_message(&1u32).expect("bytes");
        assert_eq!(deserialize_message::<u32>(&followed), Ok(1));
        followed.push(0);
        assert!(matches!(deserialize_message::<u32>(&followed), Err(WireError::Malformed(_))));
        // Four bytes of length and nothing else: an error without an allocation of that length.
        let huge = u32::MAX.to_le_bytes();
        assert!(frame::read::<Request>(&mut huge.as_slice()).is_err());
        let cut_off = [100, 0, 0, 0, 1, 2, 3];
        assert!(frame::read::<Request>(&mut cut_off.as_slice()).is_err());
        assert!(matches!(frame::read::<Request>(&mut [].as_slice()), Ok(None)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read_as_every_message(&bytes);
        }

        #[test]
        fn no_damage_makes_a_reader_panic(damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6)) {
            let mut bytes = serialize_message(&description()).expect("bytes");
            for (at, byte) in damage {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            read_as_every_message(&bytes);
        }
    }
}
