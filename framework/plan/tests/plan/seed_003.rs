//! Tests of the worked examples of the Hexcute paper, with their numbers. Figures that the text does not draw
//! are rebuilt from its description; theorem 1 is as in the errata.

use tilewright_layout::cute::{
    CuteLayout, TaskLoopNest, TaskMapping, ThreadValue, composition, idx2crd, right_inverse, to_distributed,
};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::constraint::{
    CopyInstructionTiles, InstructionOperandLayouts, LayoutConstraintError, MmaTileToTensorBases, check_copy_layouts,
    check_elementwise, check_mma, check_reduction, find_tile_to_tensor_map, solve_copy, solve_mma_operands,
    solve_reduction,
};
use tilewright_plan::memory_synthesis::{
    FreeStrideLayout, MemorySynthesisError, SharedTensor, TensorAccess, solve_shared_layout,
};
use tilewright_plan::movement::{PlanContext, SharedAccessKind};
use tilewright_target::{
    Completion, Direction, Instruction, InstructionKind, InstructionOperand, Semantics, TargetDescription,
};

fn a100() -> TargetDescription {
    let text = include_str!("../../../../targets/a100.toml");
    TargetDescription::from_toml("a100.toml", text).expect("the target's file is sound")
}

fn layout(text: &str) -> CuteLayout {
    text.parse().expect("a layout")
}

/// Returns the distributed layout of a thread-value layout (CuTe) over a tile, for warps of `lanes` lanes.
fn tv_layout(text: &str, tile: [u64; 2], lanes: u64) -> LinearLayout {
    to_distributed(&text.parse().expect("a layout"), &tile, lanes).expect("powers of two")
}

fn at(map: &LinearLayout, row: u64, column: u64) -> [u64; 2] {
    let position = map.apply(&[(Dim::tensor(0), row), (Dim::tensor(1), column)]).expect("inside");
    [position[0].1, position[1].1]
}

/// Section 2.3 and figure 4: 128 threads copy a 64x8 tile, as a grid of 16x8, in four iterations.
#[test]
fn figure_4_task_mappings() {
    let mapping: TaskMapping = "repeat(4, 1) * spatial(16, 8)".parse().expect("a mapping");
    assert_eq!((mapping.workers(), mapping.shape(), mapping.tasks_per_worker()), (128, vec![64, 8], 4));
    assert_eq!(mapping.tasks(127), [[15, 7], [31, 7], [47, 7], [63, 7]]);
    assert_eq!(mapping.loops().to_string(), "for i0 in 0..4:\n    task(i0 * 16 + thread / 8, thread % 8)");
    let layout = mapping.thread_value().expect("a layout");
    assert_eq!(TaskMapping::from_thread_value(&layout), Ok(mapping));
    let TaskLoopNest { loops, axes } = "spatial(4)".parse::<TaskMapping>().expect("a mapping").loops();
    assert_eq!((loops, axes[0].to_string()), (vec![], "thread".to_owned()));
}

/// Figure 5: a row-major layout of 4x8 whose rows are interleaved in pairs; A(6) is the coordinate ((0,1),1).
#[test]
fn figure_5_a_of_6() {
    let a = layout("((2,2),8):((1,16),2)");
    assert_eq!(a.at(6), Ok(18));
    assert_eq!(a.at_coordinate(&"(2,1)".parse().expect("a coordinate")), Ok(18));
    assert_eq!(a.at_coordinate(&"((0,1),1)".parse().expect("a coordinate")), Ok(18));
    assert_eq!(idx2crd(6, &a.shape()).expect("a coordinate").to_string(), "((0,1),1)");
}

/// Figure 6: eight threads with four values each over a 4x8 tile; f(7,2) = 27, row 3 and column 6.
#[test]
fn figure_6_f_of_7_and_2() {
    let b =
        ThreadValue::new(&"(4,8)".parse().expect("a tile"), layout("((2,4),(2,2)):((8,1),(4,16))")).expect("inside");
    assert_eq!(b.layout().at_coordinate(&"(7,2)".parse().expect("a coordinate")), Ok(27));
    assert_eq!(idx2crd(27, b.tile()).expect("a coordinate").to_string(), "(3,6)");
}

/// Returns `ldmatrix` of `matrices` matrices, from its thread-value layouts in bits: the addresses of lanes, and the
/// results.
fn ldmatrix(matrices: u64, transposed: bool) -> Instruction {
    let rows = 8 * matrices;
    let got = match transposed {
        false => format!("((4,8),(32,{matrices})):(({},1),({rows},8))", 32 * rows),
        true => format!("((4,8),(16,2,{matrices})):((2,{}),({rows},1,8))", 16 * rows),
    };
    let bits = tv_layout(&got, [rows, 128], 32);
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let column = |&column: &u64| -> Vec<u64> {
        let at = |axis: usize| bits.outs().coordinate(column, Dim::tensor(axis));
        vec![at(0), at(1) / 8]
    };
    // Values count bits: three within a byte, two of the bytes of a register, then registers.
    let values: Vec<Vec<u64>> = bits.columns_of(Dim::REGISTER).iter().skip(3).map(column).collect();
    let lanes = bits.columns_of(Dim::LANE).iter().map(column).collect();
    let (bytes, registers) = values.split_at(2);
    let data = [(Dim::REGISTER, registers.to_vec()), (Dim::LANE, lanes), (byte, bytes.to_vec())];
    let address = (0..5).map(|bit| vec![if 1 << bit < rows { 1 << bit } else { 0 }]).collect();
    let fragment = LinearLayout::identity(1, Dim::REGISTER, Dim::tensor(0)).expect("a layout");
    Instruction {
        name: format!("ldmatrix.x{matrices}{}", if transposed { ".trans" } else { "" }),
        kind: InstructionKind::SharedMove,
        operands: vec![
            InstructionOperand::Register {
                role: "d".to_owned(),
                element: "b16".to_owned(),
                bits: 16,
                layout: fragment,
            },
            InstructionOperand::Access {
                data: LinearLayout::from_bases(&data, &[(segment, rows), (byte, 16)]).expect("a layout"),
                address: LinearLayout::from_bases(&[(Dim::LANE, address)], &[(segment, rows)]).expect("a layout"),
                alignment: 16,
            },
        ],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: "Seed 003, figure 10 (a)".to_owned(),
    }
}

/// Returns the operand tiles of `mma.sync.aligned.m16n8k16`, figures 10 (b) and 22, with b as K x N.
fn m16n8k16() -> InstructionOperandLayouts {
    InstructionOperandLayouts {
        a: Some(tv_layout("((4,8),(2,2,2)):((32,1),(16,8,128))", [16, 16], 32)),
        b: Some(tv_layout("((4,8),(2,2)):((2,16),(1,8))", [16, 8], 32)),
        c: tv_layout("((4,8),(2,2)):((32,1),(16,8))", [16, 8], 32),
    }
}

/// Figure 10 (a): 32 threads load two 8x8 matrices; each gives a row of 16x8, and then holds four elements.
#[test]
fn figure_10_instruction_layouts() {
    let sides = CopyInstructionTiles::from_instruction(&ldmatrix(2, false), 16).expect("it moves");
    let of = |layout: &LinearLayout, lane: u64, value: u64| {
        let position = layout.apply(&[(Dim::REGISTER, value), (Dim::LANE, lane)]).expect("inside");
        (position[0].1, position[1].1)
    };
    // Lane 9 gives the address of row 9, and holds the third pair of row 2, and the same of the second matrix.
    assert_eq!((of(&sides.memory, 9, 0), of(&sides.memory, 9, 7)), ((9, 0), (9, 7)));
    let values = [0, 1, 2, 3].map(|value| of(&sides.registers, 9, value));
    assert_eq!(values, [(2, 2), (2, 3), (10, 2), (10, 3)]);
    // Figure 10 (b): of A, lane 9 holds rows 2 and 10, columns 2, 3, 10 and 11.
    let a = m16n8k16().a.expect("in registers");
    let values: Vec<_> = (0..8).map(|value| of(&a, 9, value)).collect();
    assert_eq!(values, [(2, 2), (2, 3), (10, 2), (10, 3), (2, 10), (2, 11), (10, 10), (10, 11)]);
}

/// Section 4.2 and figure 11: `g . q^-1` takes four 8x8 matrices to four places of a 16x32 tile of two warps.
#[test]
fn figure_11_composite_of_ldmatrix() {
    let q = tv_layout("((4,8),(2,4)):((64,1),(32,8))", [32, 8], 32);
    let g = tv_layout("((4,8,2),(2,2,2)):((32,1,128),(16,8,256))", [16, 32], 32);
    let map = find_tile_to_tensor_map(&g, &q).expect("all threads have their elements");
    assert_eq!([0, 1, 2, 3].map(|matrix| at(&map, 8 * matrix, 0)), [[0, 0], [8, 0], [0, 16], [8, 16]]);
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        assert_eq!(at(&map, row, column), [row, column], "the first matrix stays whole");
    }
    // f = g . q^-1 . p: the row of the tile whose address each lane gives.
    let sides = CopyInstructionTiles::from_instruction(&ldmatrix(4, false), 16).expect("it moves");
    assert_eq!(
        find_tile_to_tensor_map(&sides.registers, &q).expect("the same instruction").columns(),
        sides_identity(&sides)
    );
    let f = solve_copy(&g, &sides.registers, &sides.memory).expect("solvable");
    let row = |lane: u64, warp: u64| {
        let position = f.apply(&[(Dim::REGISTER, 0), (Dim::LANE, lane), (Dim::WARP, warp), (Dim::BLOCK, 0)]);
        position.expect("inside").iter().map(|(_, at)| *at).collect::<Vec<_>>()
    };
    assert_eq!([row(3, 0), row(8, 0), row(17, 0), row(31, 1)], [vec![3, 0], vec![8, 0], vec![1, 16], vec![15, 24]]);
    assert_eq!(check_copy_layouts((&f, &sides.memory), (&g, &sides.registers)), Ok(()));
    let other = tv_layout("((4,8,2),(2,2,2)):((32,1,128),(16,256,8))", [16, 32], 32);
    let error =
        check_copy_layouts((&f, &sides.memory), (&other, &sides.registers)).expect_err("the matrices are exchanged");
    assert!(matches!(&error, LayoutConstraintError::Differ { location, .. } if &**location == "register 2"), "{error}");
}

/// Returns the columns of the map of a tile onto itself.
fn sides_identity(sides: &CopyInstructionTiles) -> Vec<u64> {
    (0..sides.registers.outs().total_bits()).map(|bit| 1 << bit).collect()
}

/// Figure 22: C and A map the instruction's M to the same positions. Two warps along M, two tiles along N, K = 32.
#[test]
fn figure_22_layouts_of_an_mma() {
    let c = tv_layout("((4,8,2),(2,2,2)):((64,1,16),(32,8,256))", [32, 16], 32);
    let solved = solve_mma_operands(&c, &m16n8k16(), 32).expect("the instruction tiles the sums");
    let (a, b) = (solved.a.expect("in registers"), solved.b.expect("in registers"));
    assert_eq!(a, tv_layout("((4,8,2),(2,2,2,2)):((64,1,16),(32,8,256,512))", [32, 32], 32));
    assert_eq!(b, tv_layout("((4,8,2),(2,2,2,2)):((2,32,0),(1,8,16,256))", [32, 16], 32));
    // f_A . p_A^-1 takes the four 8x8 matrices of A to distinct places, f_C . p_C^-1 the two of C.
    let of_a = find_tile_to_tensor_map(&a, m16n8k16().a.as_ref().expect("in registers")).expect("whole");
    assert_eq!([(0, 0), (8, 0), (0, 8), (8, 8)].map(|(m, k)| at(&of_a, m, k)), [[0, 0], [8, 0], [0, 8], [8, 8]]);
    let tiling = check_mma(Some(&a), Some(&b), &c, &m16n8k16()).expect("consistent");
    assert_eq!(tiling, MmaTileToTensorBases { m: vec![1, 2, 4, 8], n: vec![1, 2, 4], k: vec![1, 2, 4, 8] });
    // Theorem 1's second equation: exchanged rows of B no longer are the columns of C.
    let wrong = tv_layout("((4,8,2),(2,2,2,2)):((2,64,0),(1,8,16,32))", [32, 16], 32);
    let error = check_mma(Some(&a), Some(&wrong), &c, &m16n8k16()).expect_err("N differs");
    assert!(matches!(&error, LayoutConstraintError::Differ { constraint: "mma", .. }), "{error}");
}

/// Figure 13: a dot, the sum of its rows, a division, a cast, and a second dot with the result as its operand A.
#[test]
fn figure_13_chained_dots() {
    // 64 queries, 32 keys, values of 16 numbers: four warps along the queries, so that each holds whole rows.
    let qk = tv_layout("((4,8,4),(2,2,4)):((128,1,16),(64,8,512))", [64, 32], 32);
    let sum = solve_reduction(&qk, 1).expect("it has rows");
    assert_eq!(check_reduction(&qk, &sum, 1), Ok(()));
    assert_eq!(check_elementwise(&[("qk", &qk), ("qk1", &qk), ("qk2", &qk)]), Ok(()));
    let o = tv_layout("((4,8,4),(2,2,2)):((128,1,16),(64,8,512))", [64, 16], 32);
    let solved = solve_mma_operands(&o, &m16n8k16(), 32).expect("the instruction tiles the sums");
    // The accumulator of the first dot is the operand of the second without a conversion: two tiles of eight columns
    // are sixteen of K.
    assert_eq!(check_elementwise(&[("qk2", &qk), ("a", &solved.a.clone().expect("in registers"))]), Ok(()));
    check_mma(Some(&qk), solved.b.as_ref(), &o, &m16n8k16()).expect("consistent");
    // Warps along the keys hold partial results of rows: then a conversion is needed.
    let split_rows = tv_layout("((4,8,4),(2,2,4)):((128,1,512),(64,8,16))", [64, 32], 32);
    let error = check_mma(Some(&split_rows), solved.b.as_ref(), &o, &m16n8k16()).expect_err("warps lack parts of rows");
    assert!(error.to_string().contains("offset 8 along K of the tile is in no register"), "{error}");
}

/// Section 5.2 and appendix C, figure 24: 8 threads load 8x4 elements each of a 4x64 tile, 16 bytes at a time.
#[test]
fn figure_24_alignment_of_a_4_by_64_tile() {
    let (target, f) = (a100(), tv_layout("(8,(8,4)):(32,(4,1))", [4, 64], 8));
    let wide = SharedAccessKind::plain_accesses(&target, Direction::Load)
        .into_iter()
        .find(|kind| kind.bytes == 16)
        .expect("loads of 16 bytes");
    let term = FreeStrideLayout::from_access(&f, &wide, 16).expect("lanes hold eight neighbours");
    assert_eq!(term.to_string(), "(4,8,8):(d2,1,d1)");
    assert_eq!(format!("{term:#}"), "(4,(8,8)):(d2,(1,d1))");
    // A lane with a column of the tile has fewer than 16 bytes.
    let columns =
        FreeStrideLayout::from_access(&tv_layout("(64,4):(4,1)", [4, 64], 64), &wide, 16).expect_err("four elements");
    assert!(columns.to_string().contains("64 bits, fewer than the 128"), "{columns}");
}

/// Figure 14: rows of 16 bytes are stored; rows can be loaded with 16 bytes at a time, columns cannot.
#[test]
fn figure_14_satisfiable_and_unsatisfiable() {
    let target = a100();
    let context = PlanContext::new(&target);
    let rows = tv_layout("((8,16),(8,4)):((512,1),(64,16))", [64, 64], 32);
    let columns = tv_layout("((8,16),(8,4)):((8,64),(1,1024))", [64, 64], 32);
    let tensor = SharedTensor::new(&[64, 64], 16);
    let g2s = TensorAccess::global_to_shared_copy("copy(ga, sa)", rows.clone(), &context)
        .with_retained_alternatives(|kind| kind.bytes() == 16);
    let s2r = TensorAccess::load("copy(sa, ra)", rows, &context).with_retained_alternatives(|kind| kind.bytes() == 16);
    let found = solve_shared_layout(&tensor, &[g2s.clone(), s2r], &context).expect("both along rows");
    assert_eq!(found.term.as_ref().map(ToString::to_string), Some("(16,4,8,8):(d2,d3,1,d1)".to_owned()));
    assert_eq!(
        (found.conflict_wavefronts(), found.served.iter().map(|one| one.bytes).collect::<Vec<_>>()),
        (0, vec![16, 16])
    );
    let across =
        TensorAccess::load("copy(sa, rb)", columns, &context).with_retained_alternatives(|kind| kind.bytes() == 16);
    let error = solve_shared_layout(&tensor, &[g2s.clone(), across.clone()], &context)
        .expect_err("conflicting contiguous dims");
    let MemorySynthesisError::Disagree { first, second, bit, wants, .. } = &error else { panic!("{error}") };
    assert_eq!((first.access.as_str(), second.access.as_str(), *bit), ("copy(ga, sa)", "copy(sa, rb)", 0));
    assert!(wants.contains("dim1's 1") && !wants.contains("dim0's 1 "), "{error}");
    // With accesses of any width they are satisfiable.
    let any = TensorAccess {
        alternatives: TensorAccess::load("", across.layout.clone().expect("given"), &context).alternatives,
        ..across
    };
    let found = solve_shared_layout(&tensor, &[g2s, any], &context).expect("one of them is narrower");
    assert!(found.served[0].bytes.min(found.served[1].bytes) < 16, "{found}");
}

/// Checks the moves between registers for a store of loaded vectors. Rows of 16 bytes that are stored as they were loaded
/// take none. If the layout joins halves of two rows in the 16 bytes, all words of a lane move.
#[test]
fn words_of_other_vectors_are_moved() {
    let target = a100();
    let context = PlanContext::new(&target);
    // Each lane has 8 elements of a row, and of the row that is 32 below.
    let rows = tv_layout("((8,32),(8,2)):((512,1),(64,32))", [64, 64], 32);
    let store =
        TensorAccess::store("copy(ra, sa)", rows, &context).with_retained_alternatives(|kind| kind.bytes() == 16);
    let moves = |text: &str, vector_bytes: u64| {
        let tensor = SharedTensor { layout: Some(layout(text)), ..SharedTensor::new(&[64, 64], 16) };
        let store = store.clone().with_register_vectors(vector_bytes);
        solve_shared_layout(&tensor, &[store], &context).expect("16 bytes are contiguous").served[0].permutes
    };
    let (as_loaded, joined) = ("(64,64):(64,1)", "((32,2),(4,2,8)):((16,4),(1,8,512))");
    assert_eq!([moves(as_loaded, 16), moves(joined, 16), moves(joined, 8), moves(joined, 0)], [0, 8, 0, 0]);
}

/// Figure 3: the packed layout of int4 weights maps offsets to elements of a 16x16 tile, counted along rows. It is the
/// register layout of `mma`, so 32 bits of memory are the bits of the f16 operand that a lane needs.
#[test]
fn figure_3_packed_int4_layout() {
    let packed = layout("((2,2,2,4),(8)):((1,8,128,2),(16))");
    let rows = tv_layout("((4,8),(2,2,2)):((32,1),(16,8,128))", [16, 16], 32);
    for offset in 0..256 {
        let at = packed.at(offset).expect("inside");
        // Registers along K, lanes along K, then M: the order within 32 bits is free, since registers are renamed.
        let (low, lane) = (offset % 8, offset / 8);
        let register = low & 1 | (low >> 2 & 1) << 1 | (low >> 1 & 1) << 2;
        let coordinates = rows.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, 0), (Dim::BLOCK, 0)]);
        assert_eq!(coordinates.expect("inside").iter().map(|(_, at)| *at).collect::<Vec<_>>(), [at / 16, at % 16]);
    }
    // Synthesis finds such a layout for the tile, whose loads are one `ldmatrix`.
    let (target, rows_of) = (a100(), [ldmatrix(1, false)]);
    let context = PlanContext::new(&target).with_instructions(&rows_of);
    let load =
        TensorAccess::load("weights", rows, &context).with_retained_alternatives(|kind| kind.instruction().is_some());
    let found =
        solve_shared_layout(&SharedTensor::new(&[16, 16], 4), std::slice::from_ref(&load), &context).expect("it loads");
    assert_eq!((found.served[0].issued, found.served[0].wavefronts, found.conflict_wavefronts()), (1, 1, 0), "{found}");
    assert_eq!(found.layout.to_string(), "((8,2),(2,4,2)):((32,2),(1,8,4))", "{found}");
    // The figure's layout differs in the order within 32 bits, and loads as well.
    let stats =
        SharedTensor { layout: Some(layout("((8,2),(2,4,2)):((32,4),(1,8,2))")), ..SharedTensor::new(&[16, 16], 4) };
    let found = solve_shared_layout(&stats, &[load], &context).expect("it loads");
    assert_eq!((found.served[0].issued, found.conflict_wavefronts()), (1, 0), "{found}");
}

/// Section 7.3: the layout of a 128x128 int4 tile from which the transposing `ldmatrix` loads the f16 operand.
#[test]
fn section_7_3_int4_tile_loads_without_conversion() {
    let (target, rows) =
        (a100(), [4u64, 2, 1].map(|matrices| [ldmatrix(matrices, false), ldmatrix(matrices, true)]).concat());
    let context = PlanContext::new(&target).with_instructions(&rows);
    let operand = tv_layout("((4,8,4),(2,2,2,8,2)):((256,1,16),(128,8,1024,2048,64))", [128, 128], 32);
    let load = TensorAccess::load("weights", operand, &context);
    let seeds = SharedTensor {
        layout: Some(layout("((8,2,8),(2,64)):((4,2,2048),(1,32))")),
        ..SharedTensor::new(&[128, 128], 4)
    };
    let found = solve_shared_layout(&seeds, std::slice::from_ref(&load), &context).expect("the seed's layout");
    assert_eq!(
        (found.served[0].instruction.as_deref(), found.conflict_wavefronts()),
        (Some("ldmatrix.x4.trans"), 0),
        "{found}"
    );
    let found = solve_shared_layout(&SharedTensor::new(&[128, 128], 4), &[load], &context).expect("a layout");
    assert!(found.served[0].bytes >= 16 && found.conflict_wavefronts() == 0, "{found}");
    // Layouts are inverses: offsets to elements and back.
    let inverse = right_inverse(&found.layout).expect("a bijection");
    let back = composition(&found.layout, &inverse).expect("a layout");
    assert_eq!(inverse.size(), 1 << 14);
    assert!((0..1 << 14).all(|offset| back.at(offset) == Ok(offset)));
}
