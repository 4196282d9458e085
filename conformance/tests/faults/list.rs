//! The list of planted faults: their components, the cases to run, and the failures to expect.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, InstructionOperand, TargetDescription};

use super::edit::Edit::{Cut, Drop, Put, Swap};
use super::liar::Lie;

/// A planted fault, and the failure that the suite must report.
pub struct Fault {
    /// Description of the fault, for `docs/how-we-know.md`.
    pub name: &'static str,
    pub target: &'static str,
    pub lie: Lie,
    /// Globs of the names of the cases to run.
    pub cases: &'static [&'static str],
    /// Prefix of case names; at least one case with this prefix must fail.
    pub case_prefix: &'static str,
    /// Substring that the detail of the failed case must have.
    pub expected_detail: &'static str,
}

impl Fault {
    /// Returns the component that has the fault, as a heading in `docs/how-we-know.md`.
    pub fn component(&self) -> &'static str {
        match self.lie {
            Lie::None => "Nothing",
            Lie::Family(..) => "Families of a plugin",
            Lie::Rows(_) => "Its instruction table",
            Lie::Description(_) => "The target description",
            Lie::Kernel(_) => "Kernels between lowering and code",
            Lie::Text(_) => "The generated text",
        }
    }
}

/// Returns all faults, grouped by component.
pub fn all() -> Vec<Fault> {
    let faults_by_component = [families(), rows(), descriptions(), kernels(), texts()];
    faults_by_component.into_iter().flatten().collect()
}

fn fault(
    name: &'static str,
    target: &'static str,
    lie: Lie,
    cases: &'static [&'static str],
    case_prefix: &'static str,
    expected_detail: &'static str,
) -> Fault {
    Fault { name, target, lie, cases, case_prefix, expected_detail }
}

/// Returns the layout with the columns numbered `one` and `two` of the dim `dim` swapped.
fn swapped(layout: &LinearLayout, dim: Dim, [one, two]: [usize; 2]) -> LinearLayout {
    changed(layout, dim, |columns| {
        if one.max(two) < columns.len() {
            columns.swap(one, two);
        }
    })
}

/// Returns the layout with the columns of a dim modified by `change`.
fn changed(layout: &LinearLayout, dim: Dim, change: impl Fn(&mut [u64])) -> LinearLayout {
    let mut columns = layout.columns().to_vec();
    let start = layout.ins().shift_of(dim).unwrap_or(0) as usize;
    let end = start + layout.in_bits(dim) as usize;
    change(&mut columns[start..end]);
    LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &columns).expect("as many columns")
}

fn families() -> Vec<Fault> {
    let lanes = |layout: &LinearLayout| swapped(layout, Dim::LANE, [0, 2]);
    let lost = |layout: &LinearLayout| {
        changed(layout, Dim::LANE, |columns| {
            if let Some(last) = columns.last_mut() {
                *last = 0;
            }
        })
    };
    let mixed = |layout: &LinearLayout| {
        changed(layout, Dim::LANE, |columns| {
            if columns.len() > 1 {
                columns[0] ^= columns[1];
            }
        })
    };
    let offsets = |layout: &LinearLayout| {
        changed(layout, Dim::OFFSET, |columns| {
            if columns.len() > 1 {
                columns[0] = columns[1];
            }
        })
    };
    const TILES: &[&str] = &["layouts/operands"];
    const DEFINED: &[&str] = &["families/definition/*/f16/w4"];
    vec![
        fault(
            "two lane bases of `nvidia_mma` are swapped",
            "a100",
            Lie::Family("nvidia_mma", lanes),
            TILES,
            "layouts/operands",
            "the family's is",
        ),
        fault(
            "two lane bases of `amd_mfma` are swapped",
            "mi250",
            Lie::Family("amd_mfma", lanes),
            TILES,
            "layouts/operands",
            "the family's is",
        ),
        fault(
            "two lane bases of `amd_wmma` are swapped",
            "rx7900xtx",
            Lie::Family("amd_wmma", lanes),
            TILES,
            "layouts/operands",
            "the family's is",
        ),
        fault(
            "two lane bases of `dpas` are swapped",
            "max1550",
            Lie::Family("dpas", lanes),
            TILES,
            "layouts/operands",
            "the family's is",
        ),
        fault(
            "a lane basis of `nvidia_mma` is zero",
            "a100",
            Lie::Family("nvidia_mma", lost),
            DEFINED,
            "families/definition",
            "",
        ),
        fault(
            "a lane basis of `nvidia_mma` has two bits",
            "a100",
            Lie::Family("nvidia_mma", mixed),
            DEFINED,
            "families/definition",
            "",
        ),
        fault(
            "two offsets of `nvmma_shared` hold one element",
            "h100",
            Lie::Family("nvmma_shared", offsets),
            DEFINED,
            "families/definition",
            "",
        ),
        fault(
            "two offsets of `amd_rotating_shared` hold one element",
            "mi250",
            Lie::Family("amd_rotating_shared", offsets),
            DEFINED,
            "families/definition",
            "",
        ),
        fault(
            "registers of `dpas` are permuted",
            "max1550",
            Lie::Family("dpas", |layout| {
                let last = layout.in_bits(Dim::REGISTER).saturating_sub(1) as usize;
                if last > 0 { swapped(layout, Dim::REGISTER, [0, last]) } else { layout.clone() }
            }),
            &["families/answers/dpas", "families/answers/dot_operand-of-dpas"],
            "families/answers",
            "known answers differ",
        ),
        fault(
            "two warp bases of `nvidia_mma` are swapped for large tensors",
            "a100",
            Lie::Family("nvidia_mma", |layout| {
                if layout.outs().total_bits() > 9 { swapped(layout, Dim::WARP, [0, 1]) } else { layout.clone() }
            }),
            &["families/growth/*f16/w4"],
            "families/growth",
            "",
        ),
    ]
}

/// Changes the layout of the operand with the role `role` in all instructions whose names contain `words`.
fn operand(rows: &mut [Instruction], words: &str, role: &str, change: impl Fn(&LinearLayout) -> LinearLayout) {
    for row in rows.iter_mut().filter(|row| row.name.contains(words)) {
        for operand in &mut row.operands {
            if let InstructionOperand::Register { role: own, layout, .. } = operand
                && own == role
            {
                *layout = change(layout);
            }
        }
    }
}

const F16: &str = "m16n8k16.row.col.f32.f16.f16.f32";

fn rows() -> Vec<Fault> {
    const DEVICE: &[&str] = &["instructions/device/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"];
    const LAWS: &[&str] = &["layouts/instructions", "layouts/operands"];
    vec![
        fault(
            "lanes of `a` of an MMA are permuted",
            "a100",
            Lie::Rows(|rows| operand(rows, F16, "a", |layout| swapped(layout, Dim::LANE, [0, 2]))),
            LAWS,
            "layouts/operands",
            "the instruction's layout is",
        ),
        fault(
            "lanes of `b` of an MMA are permuted",
            "a100",
            Lie::Rows(|rows| operand(rows, F16, "b", |layout| swapped(layout, Dim::LANE, [1, 3]))),
            LAWS,
            "layouts/operands",
            "the instruction's layout is",
        ),
        fault(
            "lanes of the result of an MMA are permuted",
            "a100",
            Lie::Rows(|rows| operand(rows, F16, "d", |layout| swapped(layout, Dim::LANE, [0, 4]))),
            DEVICE,
            "instructions/device",
            "",
        ),
        fault(
            "registers of `a` of an MMA are permuted",
            "a100",
            Lie::Rows(|rows| operand(rows, F16, "a", |layout| swapped(layout, Dim::REGISTER, [1, 2]))),
            DEVICE,
            "instructions/device",
            "",
        ),
        fault(
            "the result of an MMA loses half of its tile",
            "a100",
            Lie::Rows(|rows| operand(rows, F16, "d", |layout| changed(layout, Dim::LANE, |columns| columns[0] = 0))),
            LAWS,
            "layouts/instructions",
            "",
        ),
        fault(
            "`ldmatrix` loads its matrices to other registers",
            "a100",
            Lie::Rows(|rows| {
                for row in rows.iter_mut().filter(|row| row.name.contains("ldmatrix") && row.name.contains("x4")) {
                    for operand in &mut row.operands {
                        if let InstructionOperand::Access { data, .. } = operand {
                            *data = changed(data, Dim::REGISTER, |columns| columns.reverse());
                        }
                    }
                }
            }),
            &["instructions/device/ldmatrix*x4*"],
            "instructions/device",
            "",
        ),
    ]
}

/// Changes the bank description of plain accesses of `bits` bits.
fn banks(target: &mut TargetDescription, bits: u32, change: impl Fn(&mut tilewright_target::BankTableEntry)) {
    target.shared.banks.iter_mut().filter(|row| row.access_bits.contains(&bits)).for_each(change);
}

/// Returns a fault of a target description that the planner and the emulated device share, so that both are wrong
/// alike.
fn believed(
    name: &'static str,
    target: &'static str,
    change: fn(&mut TargetDescription),
    expected_detail: &'static str,
) -> Fault {
    fault(name, target, Lie::Description(change), &["facts/banks", "facts/limits"], "facts", expected_detail)
}

fn descriptions() -> Vec<Fault> {
    const SHARED: &[&str] = &["conversions/device/blocked-rows-3d-to-blocked-planes-3d"];
    vec![
        fault(
            "wide accesses have phases of other lanes",
            "a100",
            Lie::Description(|target| banks(target, 128, |row| row.phase = vec![4, 8, 16])),
            SHARED,
            "conversions/device",
            "the plan counts",
        ),
        fault(
            "wide accesses have phases of half a warp",
            "a100",
            Lie::Description(|target| banks(target, 128, |row| row.phase = vec![1, 2, 4, 8])),
            SHARED,
            "conversions/device",
            "the plan counts",
        ),
        believed(
            "half of the banks",
            "a100",
            |target| target.shared.banks.iter_mut().for_each(|row| row.banks /= 2),
            "wavefronts, known are",
        ),
        believed(
            "twice the banks",
            "a100",
            |target| target.shared.banks.iter_mut().for_each(|row| row.banks *= 2),
            "wavefronts, known are",
        ),
        believed(
            "banks of twice the width",
            "a100",
            |target| target.shared.banks.iter_mut().for_each(|row| row.bank_bytes *= 2),
            "wavefronts, known are",
        ),
        believed(
            "phases of a wide load are consecutive lanes",
            "mi300x",
            |target| banks(target, 128, |row| row.phase = vec![1, 2, 4]),
            "wavefronts, known are",
        ),
        believed(
            "half of the banks of a wide load",
            "mi355x",
            |target| banks(target, 128, |row| row.banks = 32),
            "wavefronts, known are",
        ),
        believed(
            "shared memory of another device",
            "h100",
            |target| target.shared.bytes = 166_912,
            "`shared_bytes` is",
        ),
        believed("more registers than exist", "a100", |target| target.limits.registers_per_lane = 256, "is 256"),
        believed(
            "tensor memory of half the columns",
            "b200",
            |target| target.tensor.iter_mut().for_each(|memory| memory.columns /= 2),
            "`tensor_columns` is",
        ),
    ]
}

const THROUGH_MEMORY: &[&str] = &["conversions/device/blocked-rows-3d-to-blocked-planes-3d"];
const BY_SHUFFLES: &[&str] = &["reduce/device/blocked-rows", "kernels/device/reduce_both_axes"];
const GATHERED: &[&str] = &["gather/device/blocked-a-by-blocked-a/axis0-to-32"];
const INTEGERS: &[&str] = &["kernels/device/integers"];
const FLOATS: &[&str] = &["kernels/device/floats"];
const CASTS: &[&str] = &["kernels/device/casts"];
const DOT_CASES: &[&str] = &["dot/device/plain/f16-f16-f32/32x64x32"];

fn kernels() -> Vec<Fault> {
    let fault = |name, edit, cases, case_prefix, expected_detail| {
        fault(name, "a100", Lie::Kernel(edit), cases, case_prefix, expected_detail)
    };
    vec![
        fault(
            "a movement lacks its block barrier",
            Drop(&["barrier block"]),
            THROUGH_MEMORY,
            "conversions/device",
            "race",
        ),
        fault(
            "shuffles use another lane",
            Put("shuffle_xor 1 ", "_xor 1 ", "_xor 2 "),
            BY_SHUFFLES,
            "reduce/device",
            "expected element",
        ),
        fault("value and source lane of a shuffle are swapped", Swap("shuffle index"), GATHERED, "gather/device", ""),
        fault(
            "comparisons of integers are unsigned",
            Put("compare lt_s", "lt_s", "lt_u"),
            &[
                "kernels/device/map_elements",
                "kernels/device/argmax",
                "kernels/device/control",
                "kernels/device/integers",
            ],
            "kernels/device",
            "buffer",
        ),
        fault(
            "operands of a subtraction are swapped",
            Swap("binary sub"),
            INTEGERS,
            "kernels/device/integers",
            "buffer",
        ),
        fault(
            "quotients are unsigned",
            Put("binary div_s", "div_s", "div_u"),
            INTEGERS,
            "kernels/device/integers",
            "buffer",
        ),
        fault(
            "remainders are unsigned",
            Put("binary rem_s", "rem_s", "rem_u"),
            INTEGERS,
            "kernels/device/integers",
            "buffer",
        ),
        fault(
            "right shifts fill with zeros",
            Put("binary shr_s", "shr_s", "shr_u"),
            INTEGERS,
            "kernels/device/integers",
            "buffer",
        ),
        fault(
            "extensions are unsigned",
            Put("cast extend_s", "extend_s", "extend_u"),
            &["kernels/device/casts", "kernels/device/integers", "kernels/device/narrow_atomics"],
            "kernels/device",
            "buffer",
        ),
        fault(
            "a float is rounded up instead of down",
            Put("unary f_floor", "f_floor", "f_ceil"),
            FLOATS,
            "kernels/device/floats",
            "buffer",
        ),
        fault(
            "a float minimum is a maximum",
            Put("binary f_m", "f_maximum", "f_minimum"),
            FLOATS,
            "kernels/device/floats",
            "buffer",
        ),
        fault(
            "a float less-than is a less-or-equal",
            Put("compare f_lt", "f_lt", "f_le"),
            FLOATS,
            "kernels/device/floats",
            "elements are wrong",
        ),
        fault(
            "stores are not masked",
            Cut("store", " if "),
            &["kernels/device/add_masked"],
            "kernels/device/add_masked",
            "",
        ),
        fault(
            "operands of a select are swapped",
            Swap("select"),
            &["kernels/device/argmax", "kernels/device/call"],
            "kernels/device",
            "buffer",
        ),
        fault(
            "program indices are of another axis",
            Put("special program 0", "program 0", "program 1"),
            &["kernels/device/programs"],
            "kernels/device/programs",
            "",
        ),
        fault(
            "an atomic add is a maximum",
            Put("atomic_rmw add", "rmw add", "rmw max_s"),
            &["kernels/device/atomics"],
            "kernels/device/atomics",
            "buffer",
        ),
        fault(
            "elements are packed in another order",
            Swap(" = pack "),
            THROUGH_MEMORY,
            "conversions/device",
            "expected element",
        ),
        fault(
            "conversions of integers to floats are unsigned",
            Put("cast float_s", "float_s", "float_u"),
            CASTS,
            "kernels/device/casts",
            "buffer",
        ),
    ]
}

fn texts() -> Vec<Fault> {
    let fault = |name, edit, cases, case_prefix, expected_detail| {
        fault(name, "a100", Lie::Text(edit), cases, case_prefix, expected_detail)
    };
    vec![
        fault("no `bar.sync`", Drop(&["bar.sync"]), THROUGH_MEMORY, "conversions/device", "race"),
        fault(
            "`shfl.sync.bfly` reads the lane above",
            Put("shfl.sync.bfly", "bfly", "down"),
            BY_SHUFFLES,
            "reduce/device",
            "",
        ),
        fault("`shfl.sync.idx` reads another lane", Put("shfl.sync.idx", "idx", "bfly"), GATHERED, "gather/device", ""),
        fault(
            "`setp` is unsigned",
            Put("setp.", ".s32", ".u32"),
            &["kernels/device/map_elements", "kernels/device/argmax"],
            "kernels/device",
            "buffer",
        ),
        fault("operands of `sub` are swapped", Swap("sub.s32"), INTEGERS, "kernels/device/integers", "buffer"),
        fault("`div` is unsigned", Put("div.s32", "div.s", "div.u"), INTEGERS, "kernels/device/integers", "buffer"),
        fault("`shr` fills with zeros", Put("shr.", "shr.s", "shr.u"), INTEGERS, "kernels/device/integers", "buffer"),
        fault("`min` is `max`", Put("min.s32", "min.", "max."), INTEGERS, "kernels/device/integers", "buffer"),
        fault("`cvt` to f16 cuts", Put("cvt.rn.f16.f32", "cvt.rn", "cvt.rz"), CASTS, "kernels/device/casts", "buffer"),
        fault(
            "`cvt` rounds up instead of down",
            Put("cvt.rmi", "cvt.rmi", "cvt.rpi"),
            FLOATS,
            "kernels/device/floats",
            "buffer",
        ),
        fault(
            "`neg` is `abs`",
            Put("neg.f32", "neg", "abs"),
            FLOATS,
            "kernels/device/floats",
            "instructions were executed",
        ),
        fault("`ldmatrix` does not transpose", Put("ldmatrix", ".trans", ""), DOT_CASES, "dot/device", ""),
        fault(
            "`mma` has another type",
            Put("mma.sync", "f32.f16.f16.f32", "f32.bf16.bf16.f32"),
            DOT_CASES,
            "dot/device",
            "",
        ),
        fault(
            "`prmt` selects another byte",
            Put("prmt.b32", "0x3340", "0x3341"),
            &["reduce/device/blocked-rows-3d", "gather/device/mma-b-by-blocked-planes-3d"],
            "",
            "expected element",
        ),
        fault(
            "no `cp.async.wait_group`",
            Drop(&["cp.async.wait_group"]),
            &["kernels/device/shared_memory"],
            "kernels/device/shared_memory",
            "",
        ),
        fault("`%tid.x` is `%laneid`", Put("%tid.x", "%tid.x", "%laneid"), THROUGH_MEMORY, "conversions/device", ""),
        fault(
            "`%ctaid.x` is `%ctaid.y`",
            Put("%ctaid.x", "%ctaid.x", "%ctaid.y"),
            &["kernels/device/add_masked"],
            "kernels/device/add_masked",
            "",
        ),
        fault(
            "an atomic maximum is a minimum",
            Put("red.relaxed.gpu.global.max", ".max", ".min"),
            &["kernels/device/atomics"],
            "kernels/device/atomics",
            "buffer",
        ),
    ]
}
