//! Dots of real targets: plans, their code, and their layouts beside the vendor's families.

use crate::prelude::*;
use tilewright_target::ElementType;
use tilewright_verify::check_all_emulated;

/// Types of a, b and the sums, and the bits of the elements that instructions of four warps multiply; none where they
/// have no such product.
pub const GROUP_TYPES: [([&str; 3], Option<u64>); 17] = [
    (["f16", "f16", "f32"], Some(16)),
    (["f16", "f16", "f16"], Some(16)),
    (["bf16", "bf16", "f32"], Some(16)),
    (["i8", "i8", "i32"], Some(8)),
    (["u8", "i8", "i32"], Some(8)),
    (["e4m3", "e4m3", "f32"], Some(8)),
    (["e5m2", "e4m3", "f16"], Some(8)),
    // One is cast, or both are.
    (["i8", "f16", "f32"], Some(16)),
    (["f16", "i8", "f32"], Some(16)),
    (["e4m3", "f16", "f32"], Some(16)),
    (["bf16", "e5m2", "f32"], Some(16)),
    (["i8", "e4m3", "f32"], Some(16)),
    (["u8", "f16", "f16"], Some(16)),
    // Not all values of the first are values of a type that is multiplied.
    (["i16", "f16", "f32"], None),
    (["f32", "f32", "f32"], None),
    (["f64", "f64", "f64"], None),
    (["i32", "f16", "f64"], None),
];

/// A product by four warps of the target's default lanes.
pub fn problem(target: &dyn Target, shape: [u64; 3], types: [&str; 3]) -> MmaProblem {
    let types = types.map(|name| ElementType::named(name).unwrap());
    MmaProblem::new(shape, types, target.description().lanes.default, 4)
}

/// A product by so many warps of 32 lanes.
pub fn question_of(shape: [u64; 3], types: [&str; 3], warps: u32) -> MmaProblem {
    MmaProblem::new(shape, types.map(|name| ElementType::named(name).unwrap()), 32, warps)
}

/// The plan.
pub fn planned(target: &dyn Target, problem: &MmaProblem) -> Contraction {
    contract::plan(problem, context(target)).unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// The plan, shown on the emulator.
pub fn proven(target: &dyn Target, problem: &MmaProblem) -> Contraction {
    let plan = planned(target, problem);
    contraction_cases(&plan, context(target))
        .and_then(|cases| check_all_emulated(&cases, context(target)))
        .unwrap_or_else(|error| panic!("{}: {error}", plan.unit_name()));
    plan
}

/// Assembly of a kernel around the plan; tools that are here take its object.
pub fn assembly(target: &dyn Target, plan: &Contraction) -> String {
    compiled(target, plan).text(Emit::Assembly).unwrap().to_owned()
}

/// Its object.
pub fn object(target: &dyn Target, plan: &Contraction) -> Vec<u8> {
    compiled(target, plan).payload(Emit::Object).unwrap().bytes.clone()
}

/// Assembly of a kernel that is given the sums to begin with, without its object.
pub fn accumulating_assembly(target: &dyn Target, plan: &Contraction) -> String {
    crate::code::assembly(target, vec![mma_kernel(plan, true, context(target)).unwrap()])
}

fn compiled(target: &dyn Target, plan: &Contraction) -> Artifact {
    let kernel = mma_kernel(plan, false, context(target)).unwrap();
    let artifact = artifact(target, vec![kernel], &[Emit::Assembly, Emit::Object]);
    artifact.unwrap_or_else(|error| panic!("{}: {error}", plan.unit_name()))
}

/// Warps along M and N, as families take them.
pub fn warps(plan: &Contraction) -> [i64; 2] {
    plan.warps().map(|warps| warps as i64)
}

/// A factor's family over that of the result.
pub fn dot_operand(index: i64, k_width: Option<u64>, parent: &FamilySpec) -> FamilySpec {
    let spec = FamilySpec::new("dot_operand").with("operand_index", index);
    let spec = match k_width {
        Some(width) => spec.with("k_width", FamilyAttribute::Int(width as i64)),
        None => spec,
    };
    spec.of(parent.clone())
}

/// That the layouts of a plan which has all of K at once are those of the vendor's families, registers in any order.
pub fn is_of_families(target: &dyn Target, plan: &Contraction, result: &FamilySpec, k_width: Option<u64>) {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let [m, n, k] = plan.problem.shape;
    assert_eq!(plan.chunk(), k, "all of K at once");
    let all = [
        ("c", &plan.c, result.clone(), [m, n]),
        ("a", &plan.a, dot_operand(0, k_width, result), [m, k]),
        ("b", &plan.b, dot_operand(1, k_width, result), [k, n]),
    ];
    for (name, own, spec, shape) in all {
        let family = families.layout(&spec, &shape).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (own, family) = (columns(own), columns(family.linear()));
        assert_eq!(own, family, "{name} of {} beside {spec:?}", plan.unit_name());
    }
}

/// Columns of lanes and warps in order, of registers sorted, as coordinates of rows and columns.
fn columns(layout: &LinearLayout) -> [Vec<[u64; 2]>; 3] {
    let of = |dim| -> Vec<[u64; 2]> {
        let at = |&column: &u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
        layout.columns_of(dim).iter().map(at).collect()
    };
    let mut registers = of(Dim::REGISTER);
    registers.sort_unstable();
    [registers, of(Dim::LANE), of(Dim::WARP)]
}
