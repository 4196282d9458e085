//! Checks of dots (matrix multiplies) on real targets: the plans, their code, and their layouts, which are compared
//! with the vendor's layout families.

use crate::prelude::*;
use tilewright_target::ElementType;
use tilewright_verify::check_all_emulated;

/// Types of A, B and the accumulator, each with the element width in bits of the MMA instructions of four warps (PTX's
/// `wgmma`) that compute the dot. `None` if they do not support the types.
pub const GROUP_TYPES: [([&str; 3], Option<u64>); 17] = [
    (["f16", "f16", "f32"], Some(16)),
    (["f16", "f16", "f16"], Some(16)),
    (["bf16", "bf16", "f32"], Some(16)),
    (["i8", "i8", "i32"], Some(8)),
    (["u8", "i8", "i32"], Some(8)),
    (["e4m3", "e4m3", "f32"], Some(8)),
    (["e5m2", "e4m3", "f16"], Some(8)),
    // Dots that cast one or both operands to the type that the MMA multiplies.
    (["i8", "f16", "f32"], Some(16)),
    (["f16", "i8", "f32"], Some(16)),
    (["e4m3", "f16", "f32"], Some(16)),
    (["bf16", "e5m2", "f32"], Some(16)),
    (["i8", "e4m3", "f32"], Some(16)),
    (["u8", "f16", "f16"], Some(16)),
    // No MMA type can represent all values of A's type or of the accumulator's type.
    (["i16", "f16", "f32"], None),
    (["f32", "f32", "f32"], None),
    (["f64", "f64", "f64"], None),
    (["i32", "f16", "f64"], None),
];

/// Returns the MMA problem with these sizes [M, N, K] and these types of A, B and the accumulator, for four warps of
/// the target's default number of lanes.
pub fn problem(target: &dyn Target, shape: [u64; 3], types: [&str; 3]) -> MmaProblem {
    let types = types.map(|name| ElementType::from_name(name).unwrap());
    MmaProblem::new(shape, types, target.description().lanes.default, 4)
}

/// Returns the MMA problem with these sizes [M, N, K] and these types of A, B and the accumulator, for `warps` warps of
/// 32 lanes.
pub fn problem_with_warps(shape: [u64; 3], types: [&str; 3], warps: u32) -> MmaProblem {
    MmaProblem::new(shape, types.map(|name| ElementType::from_name(name).unwrap()), 32, warps)
}

/// Plans the MMA; panics if there is no plan.
pub fn planned(target: &dyn Target, problem: &MmaProblem) -> MmaPlan {
    mma::plan_mma(problem, build_plan_context(target)).unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// Plans the MMA, checks the plan on the emulator, and returns it.
pub fn proven(target: &dyn Target, problem: &MmaProblem) -> MmaPlan {
    let plan = planned(target, problem);
    build_mma_plan_cases(&plan, build_plan_context(target))
        .and_then(|cases| check_all_emulated(&cases, build_plan_context(target)))
        .unwrap_or_else(|error| panic!("{}: {error}", plan.atom_name()));
    plan
}

/// Element types of operands that can have scales.
const SCALED: [&str; 7] = ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz"];
/// Further element types for the other operand, which has no scales.
const UNSCALED: [&str; 5] = ["f16", "bf16", "f32", "s8", "u4"];
/// Ranges of the scales that the problem states: log2 of the smallest and of the largest scale; `None` if only the type
/// limits them.
const SCALE_RANGES: [Option<[i32; 2]>; 5] = [None, Some([0, 0]), Some([-1, 2]), Some([-8, 8]), Some([-40, 3])];

/// Returns MMA problems with scaled operands: every pair of element types, with scales of every type on one or both
/// operands, and with every range of scales.
fn scaled_problems(target: &dyn Target) -> Vec<MmaProblem> {
    let scale = |name: &str, exponents| BlockScale::from_name(name).map(|scale| BlockScale { exponents, ..scale });
    let mut problems = Vec::new();
    for (a, b) in SCALED.iter().flat_map(|a| SCALED.iter().chain(&UNSCALED).map(move |b| (*a, *b))) {
        for (of_a, of_b) in [("e8m0", ""), ("ue4m3", ""), ("e8m0", "e8m0"), ("ue4m3", "e8m0"), ("ue4m3", "ue4m3")] {
            if !of_b.is_empty() && UNSCALED.contains(&b) {
                continue;
            }
            for exponents in SCALE_RANGES {
                let plain = problem(target, [32, 32, 64], [a, b, "f32"]).with_warps(1);
                problems.push(plain.with_scales([scale(of_a, exponents), scale(of_b, exponents)]));
            }
        }
    }
    problems
}

/// Checks every `stride`-th of all dots with scaled operands. Either its plan's kernel gives the high-precision results
/// on the emulator, or the planner rejects it because no type represents all products.
pub fn check_scaled_dots(target: &dyn Target, stride: usize) {
    let mut planned = 0;
    for problem in scaled_problems(target).iter().step_by(stride) {
        let plan = match mma::plan_mma(problem, build_plan_context(target)) {
            Ok(plan) => plan,
            Err(mma::MmaError::Impossible { .. }) => continue,
            Err(error) => panic!("{problem:?}: {error}"),
        };
        planned += 1;
        build_mma_plan_cases(&plan, build_plan_context(target))
            .and_then(|cases| check_all_emulated(&cases, build_plan_context(target)))
            .unwrap_or_else(|error| panic!("{problem:?} by {}: {error}", plan.atom_name()));
    }
    assert!(planned > 700 / stride, "{planned} dots have a plan");
}

/// Returns the assembly of a kernel with the plan. It also compiles an object, which the vendor's tools check if
/// installed.
pub fn assembly(target: &dyn Target, plan: &MmaPlan) -> String {
    compiled(target, plan).payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

/// Returns the object file of a kernel with the plan.
pub fn object(target: &dyn Target, plan: &MmaPlan) -> Vec<u8> {
    compiled(target, plan).payload(CodeFormat::Object).unwrap().bytes.clone()
}

/// Returns the assembly of a kernel with the plan that reads an initial accumulator; compiles no object.
pub fn accumulating_assembly(target: &dyn Target, plan: &MmaPlan) -> String {
    crate::code::assembly(target, vec![build_mma_kernel(plan, true, build_plan_context(target)).unwrap()])
}

fn compiled(target: &dyn Target, plan: &MmaPlan) -> Artifact {
    let kernel = build_mma_kernel(plan, false, build_plan_context(target)).unwrap();
    let artifact = artifact(target, vec![kernel], &[CodeFormat::Assembly, CodeFormat::Object]);
    artifact.unwrap_or_else(|error| panic!("{}: {error}", plan.atom_name()))
}

/// Returns the numbers of warps along M and along N, as parameters of layout families have them.
pub fn warps(plan: &MmaPlan) -> [i64; 2] {
    plan.warp_partition().map(|warps| warps as i64)
}

/// Returns the parameters of the layout of operand `index` (0 or 1); `parent` has those of the result's layout.
pub fn dot_operand(index: i64, k_width: Option<u64>, parent: &FamilySpec) -> FamilySpec {
    let spec = FamilySpec::new("dot_operand").with_parameter("operand_index", index);
    let spec = match k_width {
        Some(width) => spec.with_parameter("k_width", FamilyParameterValue::Int(width as i64)),
        None => spec,
    };
    spec.with_parent(parent.clone())
}

/// Checks that a plan's layouts are those of the vendor's layout families, except for the order of registers. The plan
/// must have all of K in one chunk. `result` has the parameters of the result's layout; `k_width` is the operands'
/// parameter.
pub fn check_layouts_match_families(target: &dyn Target, plan: &MmaPlan, result: &FamilySpec, k_width: Option<u64>) {
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let [m, n, k] = plan.problem.shape;
    assert_eq!(plan.chunk_elements(), k, "all of K at once");
    let all = [
        ("c", &plan.c, result.clone(), [m, n]),
        ("a", &plan.a, dot_operand(0, k_width, result), [m, k]),
        ("b", &plan.b, dot_operand(1, k_width, result), [k, n]),
    ];
    for (name, own, spec, shape) in all {
        let family = families.layout(&spec, &shape).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (own, family) = (columns(own), columns(family.linear()));
        assert_eq!(own, family, "{name} of {} beside {spec:?}", plan.atom_name());
    }
}

/// Returns the bases of a layout as (row, column): those of registers sorted, those of lanes and warps in order.
fn columns(layout: &LinearLayout) -> [Vec<[u64; 2]>; 3] {
    let of = |dim| -> Vec<[u64; 2]> {
        let at = |&column: &u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
        layout.columns_of(dim).iter().map(at).collect()
    };
    let mut registers = of(Dim::REGISTER);
    registers.sort_unstable();
    [registers, of(Dim::LANE), of(Dim::WARP)]
}
