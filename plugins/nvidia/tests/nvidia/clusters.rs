//! Layouts of tensors over the blocks of a cluster: every block has the layout of its part (share) of the tensor. The
//! parameter `cga_layout` gives the parts, for any number and order of blocks and any axes.

use crate::layouts::{mma, spec, tensor_memory};
use crate::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// A cluster: for each bit of the block index the axis and unit of its step, and the number of blocks along each axis.
#[derive(Debug, Clone)]
struct Cluster {
    bases: Vec<[u64; 2]>,
    blocks: [u64; 2],
}

impl Cluster {
    fn given(&self) -> FamilyParameterValue {
        let basis = |basis: &[u64; 2]| FamilyParameterValue::from(basis.map(|unit| unit as i64));
        FamilyParameterValue::List(self.bases.iter().map(basis).collect())
    }

    /// Returns the first element of each block's part, if each part has the size `share` and blocks along `repeated`
    /// hold replicas.
    fn positions(&self, share: [u64; 2], repeated: Option<usize>) -> Vec<Vec<u64>> {
        let along = |axis: usize, unit: u64| if repeated == Some(axis) { 0 } else { unit * share[axis] };
        self.bases.iter().map(|basis| vec![along(0, basis[0]), along(1, basis[1])]).collect()
    }
}

/// Generates clusters of up to 4 blocks along each axis and up to 4 replicas, in any order.
fn any_cluster() -> impl Strategy<Value = Cluster> {
    (0..3u32, 0..3u32, 0..3usize).prop_flat_map(|(down, along, same)| {
        let units = (0..down).map(|bit| [1 << bit, 0]).chain((0..along).map(|bit| [0, 1 << bit]));
        let all: Vec<[u64; 2]> = units.chain(std::iter::repeat_n([0, 0], same)).collect();
        Just(all).prop_shuffle().prop_map(move |bases| Cluster { bases, blocks: [1 << down, 1 << along] })
    })
}

/// Generates clusters as [`any_cluster`] does, for pairs of blocks: the first bit of the block index moves by one unit
/// of rows.
fn any_pairs() -> impl Strategy<Value = Cluster> {
    any_cluster().prop_map(|mut cluster| {
        for basis in cluster.bases.iter_mut().filter(|basis| basis[0] > 0) {
            basis[0] *= 2;
        }
        cluster.bases.insert(0, [1, 0]);
        Cluster { blocks: [cluster.blocks[0] * 2, cluster.blocks[1]], ..cluster }
    })
}

fn linear(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    let families = NvidiaFamilies::for_architecture("sm_100a");
    match families.resolve(spec, shape, &families).expect("a layout") {
        Layout::Memory(memory) => memory.linear,
        other => other.linear().clone(),
    }
}

/// Returns the layout of the cluster's first block, without the block index.
fn of_first_block(layout: &LinearLayout) -> LinearLayout {
    let ins: Vec<_> = layout.ins().dims().filter(|&dim| dim != Dim::BLOCK).collect();
    let outs: Vec<_> = layout.outs().dims().collect();
    layout.sublayout(&ins, &outs).expect("its dims")
}

/// Compares the layout `clustered` of a tensor with the layout `single` of one block's part, whose size is `share`.
fn each_block_has_its_share(
    cluster: &Cluster,
    (clustered, single): (&FamilySpec, &FamilySpec),
    share: [u64; 2],
    repeated: Option<usize>,
) -> Result<(), TestCaseError> {
    let along = |axis: usize| if repeated == Some(axis) { 1 } else { cluster.blocks[axis] };
    let shape = [share[0] * along(0), share[1] * along(1)];
    let found = linear(clustered, &shape);
    let expected = linear(single, &share);
    for dim in of_first_block(&expected).ins().dims() {
        prop_assert_eq!(found.bases_of(dim), expected.bases_of(dim), "{} of {:?}", dim, clustered);
    }
    prop_assert_eq!(found.bases_of(Dim::BLOCK), cluster.positions(share, repeated), "{:?}", clustered);
    prop_assert!(found.is_surjective() || !expected.is_surjective());
    let sizes: Vec<_> = found.outs().iter().map(|(_, bits)| 1u64 << bits).collect();
    prop_assert_eq!(sizes, shape.to_vec());
    Ok(())
}

fn result(major: u32) -> String {
    if major == 2 { mma(2, &[4, 1], &[16, 8]) } else { mma(3, &[4, 1], &[16, 32, 16]) }
}

#[test]
fn mmas_and_their_operands() {
    let check = |cluster: Cluster| {
        let spread = |spec: FamilySpec| spec.with_parameter("cga_layout", cluster.given());
        for major in [2, 3] {
            let single = spec(&result(major));
            let pair = (&spread(single.clone()), &single);
            each_block_has_its_share(&cluster, pair, [128, 64], None)?;
            for index in 0..if major == 2 { 2 } else { 1 } {
                let operand = |parent| {
                    FamilySpec::new("dot_operand")
                        .with_parameter("operand_index", index)
                        .with_parameter("k_width", 2)
                        .with_parent(parent)
                };
                // Blocks that differ along K of the operand hold replicas.
                let along_k = 1 - index as usize;
                let pair = (&operand(spread(single.clone())), &operand(single.clone()));
                each_block_has_its_share(&cluster, pair, [64, 64], Some(along_k))?;
            }
        }
        Ok(())
    };
    TestRunner::deterministic().run(&any_cluster(), check).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn shared_memory() {
    let widths = prop::sample::select(vec![0i64, 32, 64, 128]);
    let strategy = (any_cluster(), widths, any::<bool>());
    let check = |(cluster, width, transposed): (Cluster, i64, bool)| {
        let single = FamilySpec::new("nvmma_shared")
            .with_parameter("swizzling_byte_width", width)
            .with_parameter("element_bit_width", 16)
            .with_parameter("transposed", transposed);
        let clustered = single.clone().with_parameter("cga_layout", cluster.given());
        each_block_has_its_share(&cluster, (&clustered, &single), [64, 128], None)
    };
    TestRunner::deterministic().run(&strategy, check).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn tensor_memory_its_scales_and_its_registers() {
    let check = |cluster: Cluster| {
        let spread = |spec: FamilySpec| spec.with_parameter("cga_layout", cluster.given());
        for rows in [64, 128] {
            let pair = (&spread(tensor_memory(rows, 32)), &tensor_memory(rows, 32));
            each_block_has_its_share(&cluster, pair, [128, 64], None)?;
            let registers = |memory: FamilySpec| {
                FamilySpec::new("tmem_reg")
                    .with_parameter("memory", FamilyParameterValue::Spec(Box::new(memory)))
                    .with_parameter("element_bits", 16)
                    .with_parameter("num_warps", 8)
                    .with_parameter("instr_variant", FamilyParameterValue::Text("32x32b".to_owned()))
            };
            let pair = (&registers(spread(tensor_memory(rows, 32))), &registers(tensor_memory(rows, 32)));
            each_block_has_its_share(&cluster, pair, [128, 64], None)?;
        }
        for order in ["mnThenK", "kThenMn"] {
            let scales = FamilySpec::new("tensor_memory_scales")
                .with_parameter("block_rep_order", FamilyParameterValue::Text(order.to_owned()));
            each_block_has_its_share(&cluster, (&spread(scales.clone()), &scales), [256, 16], None)?;
        }
        Ok(())
    };
    TestRunner::deterministic().run(&any_cluster(), check).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn scales_in_registers() {
    let check = |cluster: Cluster| {
        // K of scales is the second axis; the cluster splits rows only.
        let bases = cluster.bases.iter().map(|basis| [basis[0], 0]).collect();
        let cluster = Cluster { bases, blocks: [cluster.blocks[0], 1] };
        for index in [0i64, 1] {
            let single = FamilySpec::new("mma_scale")
                .with_parameter("operand_index", index)
                .with_parameter("warps_per_cta", [2, 2]);
            let clustered = single.clone().with_parameter("cga_layout", cluster.given());
            each_block_has_its_share(&cluster, (&clustered, &single), [128, 8], None)?;
        }
        Ok(())
    };
    TestRunner::deterministic().run(&any_cluster(), check).unwrap_or_else(|error| panic!("{error}"));
}

/// Checks pairs of blocks against PTX ISA, data path layouts of tcgen05 with `cta_group::2`. With 128 rows in each
/// block they equal the layout of one block. With 64 rows the lower half of the columns is in rows 0 to 63 of tensor
/// memory and the upper half in rows 64 to 127.
#[test]
fn pairs_of_blocks() {
    let check = |cluster: Cluster| {
        let blocks = cluster.blocks;
        for rows in [64u64, 128] {
            let spec =
                tensor_memory(rows, 32).with_parameter("two_ctas", true).with_parameter("cga_layout", cluster.given());
            let found = linear(&spec, &[rows * blocks[0], 32 * blocks[1]]);
            let half = if rows == 64 { 16 } else { 32 };
            for block in 0..1u64 << cluster.bases.len() {
                let moved = cluster.bases.iter().enumerate().filter(|(bit, _)| block >> bit & 1 == 1);
                let coordinates = moved.fold([0, 0], |at, (_, by)| [at[0] + by[0] * rows, at[1] + by[1] * 32]);
                for (row, col) in (0..128).flat_map(|row| (0..half).map(move |col| (row, col))) {
                    let mut at = vec![(Dim::ROW, row), (Dim::COL, col)];
                    at.extend(found.ins().contains(Dim::BLOCK).then_some((Dim::BLOCK, block)));
                    let expected = [coordinates[0] + row % rows, coordinates[1] + col + row / rows * half];
                    let element: Vec<_> = found.apply(&at).expect("a place").into_iter().map(|(_, c)| c).collect();
                    prop_assert_eq!(element, expected.to_vec(), "row {} column {} block {}", row, col, block);
                }
            }
        }
        Ok(())
    };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) };
    let mut runner = TestRunner::new(config);
    runner.run(&any_pairs(), check).unwrap_or_else(|error| panic!("{error}"));
}
