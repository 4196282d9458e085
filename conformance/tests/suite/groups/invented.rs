//! An invented GPU with a matrix instruction, which can have one of many flaws.

use std::sync::atomic::{AtomicU64, Ordering};

use tilewright_kernel::Module;
use tilewright_layout::families::cluster::{check_family_shape, extend_tile_to_tensor};
use tilewright_layout::{
    Dim, Families, FamilyError, FamilyParameterValue, FamilySpec, Layout, LinearLayout, MemoryLayout, Padding,
    SampleLayout, SampleLayoutRequest,
};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics, TargetDescription};

/// The flaw that the invented target has, to be detected by a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// The target has no flaw.
    None,
    /// The result's layout never reaches the odd rows of a warp's tile.
    LosesRows,
    /// Two lane bits are mixed: a column of the layout has two bits.
    MixesLanes,
    /// The result's layout covers half of the lanes only.
    HalfWarp,
    /// The layout permutes its lanes for a tensor of more than 64 rows.
    ChangesWithShape,
    /// The memory layout's padding counts one element too many.
    OverlapsInMemory,
    /// The family does not accept a parameter that its own samples have.
    ForgetsParameter,
    /// The layout is for a tensor with half the rows.
    OtherShape,
    /// Each element of the result is held twice without a zero column: two columns are equal.
    HoldsTwice,
    /// The layout permutes its registers differently in every request.
    Forgetful,
    /// The family accepts any parameter.
    AcceptsParameters,
    /// The family accepts any word for a number.
    AcceptsText,
    /// The family accepts any shape, rounded up to powers of two.
    AcceptsShapes,
    /// The family panics at an unexpected shape.
    PanicsAtShapes,
    /// The errors name another family than the requested one.
    BlamesAnother,
    /// No sample has the family `gapped`.
    HidesGapped,
    /// The plugin's process ends during each request.
    Breaks,
    /// Tensors with less than 32 rows are rejected.
    RefusesSmall,
    /// Two instructions have one name.
    TwoRowsOneName,
    /// Operand `a` of the instruction omits half of its tile.
    RowLosesOperandElements,
    /// Operand `b` of the instruction has twice the K of operand `a`.
    RowHasOtherK,
    /// Each element of the instruction's result is held by two lanes.
    RowResultTwice,
    /// The family's layout of `a` permutes lanes compared with the instruction's.
    OperandDiffers,
    /// The family's layout of `a` permutes K compared with the instruction's, but its layout of `b` does not.
    OneOperandPermutesK,
    /// The family's layouts of `a` and `b` both permute K.
    BothOperandsPermuteK,
    /// Memory segments are closer together than the alignment of addresses allows.
    AlignedTooFar,
}

pub struct Invented {
    description: TargetDescription,
    rows: Vec<Instruction>,
    families: Tiles,
}

impl Invented {
    pub fn new(flaw: Flaw) -> Self {
        let text = include_str!("../../invented.toml").replace("NAME", "invented");
        let description = TargetDescription::from_toml("invented.toml", &text).expect("the invented file is right");
        Self { description, rows: rows(flaw), families: Tiles { flaw, requested: AtomicU64::new(0) } }
    }
}

impl Target for Invented {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        &self.rows
    }

    fn compile(&self, _module: &Module, _options: &CompileOptions) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported("invented hardware runs no code".into()))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Ok(Vec::new())
    }
}

const I: Dim = Dim::REGISTER;

fn layout(register: &[[u64; 2]], lane: &[[u64; 2]], shape: [u64; 2]) -> LinearLayout {
    let bases = |bases: &[[u64; 2]]| bases.iter().map(|basis| basis.to_vec()).collect();
    let outs = [(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])];
    LinearLayout::from_bases(&[(I, bases(register)), (Dim::LANE, bases(lane))], &outs).expect("bases fit")
}

/// Returns the layout of an operand's tile of the invented MMA instruction, which multiplies 8 x 4 by 4 x 8.
fn tile(operand_role: &str) -> LinearLayout {
    match operand_role {
        "a" => layout(&[], &[[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], [8, 4]),
        "b" => layout(&[], &[[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], [4, 8]),
        _ => layout(&[[0, 1]], &[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [8, 8]),
    }
}

fn rows(flaw: Flaw) -> Vec<Instruction> {
    let mut a = tile("a");
    let mut b = tile("b");
    let mut d = tile("d");
    match flaw {
        Flaw::RowLosesOperandElements => a = layout(&[], &[[0, 1], [0, 0], [1, 0], [2, 0], [4, 0]], [8, 4]),
        Flaw::RowHasOtherK => b = layout(&[[4, 0]], &[[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], [8, 8]),
        Flaw::RowResultTwice => d = layout(&[[0, 1], [0, 2]], &[[0, 0], [0, 4], [1, 0], [2, 0], [4, 0]], [8, 8]),
        _ => {}
    }
    let register = |role: &str, layout: &LinearLayout| InstructionOperand::Register {
        role: role.into(),
        element: "f16".into(),
        bits: 16,
        layout: layout.clone(),
    };
    let multiply = Instruction {
        name: "multiply.8x8x4".into(),
        kind: InstructionKind::Matrix,
        operands: vec![register("d", &d), register("a", &a), register("b", &b), register("c", &d)],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        numerics: None,
        source: "invented".into(),
    };
    let mut rows = vec![multiply.clone(), load(flaw)];
    if flaw == Flaw::TwoRowsOneName {
        // A distinct case name, so that the suite can report it.
        rows.push(Instruction { operands: Vec::new(), semantics: Semantics::Move, ..multiply });
    }
    rows
}

/// Returns an instruction that loads eight memory segments of 16 bytes: lanes 0 to 7 give the addresses, and four lanes
/// receive each segment.
fn load(flaw: Flaw) -> Instruction {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let outs = [(segment, 8), (byte, 16)];
    let lanes = vec![vec![0, 4], vec![0, 8], vec![1, 0], vec![2, 0], vec![4, 0]];
    let bases = [(I, vec![]), (Dim::LANE, lanes), (byte, vec![vec![0, 1], vec![0, 2]])];
    let data = LinearLayout::from_bases(&bases, &outs).expect("bases fit");
    let addresses = vec![vec![1], vec![2], vec![4], vec![0], vec![0]];
    let address = LinearLayout::from_bases(&[(Dim::LANE, addresses)], &[(segment, 8)]).expect("bases fit");
    Instruction {
        name: "load.8x16".into(),
        kind: InstructionKind::SharedMove,
        operands: vec![
            InstructionOperand::Register {
                role: "d".into(),
                element: "b32".into(),
                bits: 32,
                layout: layout(&[], &[[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], [8, 4]),
            },
            InstructionOperand::Access { data, address, alignment: if flaw == Flaw::AlignedTooFar { 32 } else { 16 } },
        ],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: "invented".into(),
    }
}

/// The layout families `tile` (an operand of the MMA instruction, over warps along M) and `gapped` (padded memory).
struct Tiles {
    flaw: Flaw,
    requested: AtomicU64,
}

impl Families for Tiles {
    fn names(&self) -> Vec<String> {
        ["tile", "gapped"].map(str::to_owned).into()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _all: &dyn Families) -> Result<Layout, FamilyError> {
        match self.flaw {
            Flaw::Breaks => Err(FamilyError::Plugin("its process ended: signal 11".to_owned())),
            Flaw::PanicsAtShapes => {
                assert_eq!(shape.len(), 2, "a matrix");
                self.build(spec, shape)
            }
            Flaw::BlamesAnother => self
                .build(spec, shape)
                .map_err(|error| FamilyError::Layout { family: "blocked".to_owned(), message: error.to_string() }),
            Flaw::AcceptsShapes if shape.len() == 2 => {
                let sizes: Vec<_> = shape.iter().map(|size| size.clamp(&1, &(1 << 20)).next_power_of_two()).collect();
                self.build(spec, &sizes)
            }
            Flaw::OtherShape if shape.len() == 2 => self.build(spec, &[(shape[0] / 2).max(1), shape[1]]),
            _ => self.build(spec, shape),
        }
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        if use_case.lanes != 32 {
            return Vec::new();
        }
        let operand_role = |operand_role: &str| {
            FamilySpec::new("tile")
                .with_parameter("part", FamilyParameterValue::Text(operand_role.to_owned()))
                .with_parameter("warps", i64::from(use_case.warps))
        };
        let sample = |role: &str| {
            SampleLayout::new(&format!("tile-{role}"), operand_role(role)).for_operand("multiply.8x8x4", role)
        };
        let mut samples = vec![sample("d"), sample("a"), sample("b")];
        if self.flaw != Flaw::HidesGapped {
            samples.push(SampleLayout::new("gapped", FamilySpec::new("gapped")));
        }
        samples
    }
}

impl Tiles {
    fn build(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        check_family_shape(spec, shape)?;
        let refused = |message: &str| {
            Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message: message.to_owned() })
        };
        if shape.len() != 2 {
            return refused("tiles have two axes");
        }
        if self.flaw == Flaw::RefusesSmall && shape[0] < 32 {
            return refused("tiles have 32 rows or more");
        }
        if spec.name == "gapped" {
            spec.parameter_reader().check_all_read()?;
            return Ok(Layout::Memory(self.gapped(shape)));
        }
        let (operand_role, warps) = self.parameters(spec)?;
        let of = |error| FamilyError::from_layout_error(&spec.name, &error);
        let along_m = if operand_role == "b" {
            LinearLayout::zeros(warps, Dim::WARP, Dim::tensor(0), 1)
        } else {
            LinearLayout::identity(warps, Dim::WARP, Dim::tensor(0))
        };
        let tile = self.tile(&operand_role, shape).direct_sum(&along_m.map_err(of)?).map_err(of)?;
        let one_block = LinearLayout::from_bases(&[(Dim::BLOCK, vec![])], &[(Dim::tensor(0), 1), (Dim::tensor(1), 1)]);
        extend_tile_to_tensor(&tile, &one_block.map_err(of)?, shape).map(Layout::Distributed).map_err(of)
    }

    /// Returns the operand and the number of warps in a spec of the family `tile`.
    fn parameters(&self, spec: &FamilySpec) -> Result<(String, u64), FamilyError> {
        let read = spec.parameter_reader();
        let operand_role = match read.required(&["part"])? {
            FamilyParameterValue::Text(operand_role) if ["a", "b", "d"].contains(&operand_role.as_str()) => {
                operand_role.clone()
            }
            _ => return Err(read.invalid_value_error("part", "must be `a`, `b` or `d`")),
        };
        let warps = match read.required(&["warps"])? {
            FamilyParameterValue::Text(_) if self.flaw == Flaw::AcceptsText => 4,
            _ => read.number(&["warps"])?,
        };
        if self.flaw == Flaw::ForgetsParameter {
            return Err(read.invalid_value_error("warps", "is not a parameter of this family"));
        }
        if self.flaw != Flaw::AcceptsParameters {
            read.check_all_read()?;
        }
        Ok((operand_role, warps))
    }

    fn tile(&self, operand_role: &str, shape: &[u64]) -> LinearLayout {
        let reorders = |operand_role: &str| match self.flaw {
            Flaw::OneOperandPermutesK => operand_role == "a",
            Flaw::BothOperandsPermuteK => operand_role != "d",
            _ => false,
        };
        match (self.flaw, operand_role) {
            (Flaw::LosesRows, "d") => layout(&[[0, 1]], &[[0, 2], [0, 4], [0, 0], [2, 0], [4, 0]], [8, 8]),
            (Flaw::MixesLanes, "d") => layout(&[[0, 1]], &[[0, 2], [0, 4], [1, 0], [3, 0], [4, 0]], [8, 8]),
            (Flaw::HoldsTwice, "d") => layout(&[[0, 1], [4, 0]], &[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [8, 8]),
            (Flaw::Forgetful, "d") if self.requested.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                layout(&[[0, 2]], &[[0, 1], [0, 4], [1, 0], [2, 0], [4, 0]], [8, 8])
            }
            (Flaw::HalfWarp, "d") => layout(&[[0, 1], [0, 2]], &[[0, 4], [1, 0], [2, 0], [4, 0]], [8, 8]),
            (Flaw::ChangesWithShape, "d") if shape[0] > 64 => {
                layout(&[[0, 1]], &[[1, 0], [2, 0], [4, 0], [0, 2], [0, 4]], [8, 8])
            }
            (Flaw::OperandDiffers, "a") => layout(&[], &[[0, 1], [0, 2], [2, 0], [1, 0], [4, 0]], [8, 4]),
            (_, "a") if reorders("a") => layout(&[], &[[0, 2], [0, 1], [1, 0], [2, 0], [4, 0]], [8, 4]),
            (_, "b") if reorders("b") => layout(&[], &[[2, 0], [1, 0], [0, 1], [0, 2], [0, 4]], [4, 8]),
            _ => tile(operand_role),
        }
    }

    fn gapped(&self, shape: &[u64]) -> MemoryLayout {
        let rows = LinearLayout::identity(shape[1], Dim::OFFSET, Dim::tensor(1)).expect("a power of two");
        let cols = LinearLayout::identity(shape[0], Dim::OFFSET, Dim::tensor(0)).expect("a power of two");
        let block = LinearLayout::identity(1, Dim::BLOCK, Dim::tensor(0)).expect("a power of two");
        let linear = rows.direct_sum(&cols).and_then(|sum| sum.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)]));
        let linear = linear.and_then(|sum| sum.direct_sum(&block)).expect("the sum is small");
        // An interval that is not a power of two moves elements to unexpected positions.
        let interval = if self.flaw == Flaw::OverlapsInMemory { 24 } else { 32 };
        MemoryLayout { linear, padding: vec![Padding { interval, padding: 8 }], alignment: None }
    }
}
