//! Tests of pictures of conversions and instructions, read back cell by cell.

use crate::samples;
use tilewright_testkit::test_targets::test_target;

use samples::{grid, linear};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_picture::view::{self, ConversionPictureSpec};
use tilewright_picture::{Cell, CellColour, EmphasisColour, PanelContent, Picture};
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionKind, ConversionPlan};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

/// Returns two layouts of an 8x8 tensor over 8 lanes: a row per lane, and a column per lane.
fn rows_and_columns() -> (LinearLayout, LinearLayout) {
    let (along, across) = ([vec![0, 1], vec![0, 2], vec![0, 4]], [vec![1, 0], vec![2, 0], vec![4, 0]]);
    let layout = |registers: &[Vec<u64>; 3], lanes: &[Vec<u64>; 3]| {
        linear(&[(Dim::REGISTER, registers.to_vec()), (Dim::LANE, lanes.to_vec())], &[8, 8])
    };
    (layout(&along, &across), layout(&across, &along))
}

fn plan(src: &LinearLayout, dst: &LinearLayout, path: ConversionKind) -> ConversionPlan {
    let (plans, rejected) = movement::conversion_candidates(src, dst, 32, &test_target()).expect("a sound question");
    plans.into_iter().find(|plan| plan.path == path).unwrap_or_else(|| panic!("{path} is rejected: {rejected:?}"))
}

fn drawn(src: &LinearLayout, dst: &LinearLayout, plan: &ConversionPlan) -> Picture {
    let target = test_target();
    let view = ConversionPictureSpec::new("conversion", [src, dst], 32, &target, plan);
    view::draw_conversion(&view).expect("a picture")
}

/// Returns the number after a word such as `lane` in a cell's tooltip.
fn number_after(cell: &Cell, word: &str) -> Option<u64> {
    let description = cell.hover.join(" ").replace([',', ':'], " ");
    let words: Vec<&str> = description.split_whitespace().collect();
    let at = words.windows(word.split(' ').count()).position(|w| w.join(" ") == word)?;
    words.get(at + word.split(' ').count())?.parse().ok()
}

fn element_of(layout: &LinearLayout, lane: u64, register: u64) -> String {
    let at = layout.apply(&[(Dim::LANE, lane), (Dim::REGISTER, register)]).expect("a position");
    format!("{},{}", at[0].1, at[1].1)
}

#[test]
fn every_register_shows_its_source_and_distance() {
    let (src, dst) = rows_and_columns();
    let picture = drawn(&src, &dst, &plan(&src, &dst, ConversionKind::Shuffle));
    let hardware = grid(&picture, "after: hardware");
    for lane in 0..8 {
        for register in 0..8 {
            let cell = hardware.cell(lane, register).expect("a cell");
            assert_eq!(cell.text(), element_of(&dst, lane as u64, register as u64));
            let from = (number_after(cell, "from lane"), number_after(cell, &format!("from lane {register} register")));
            // The transpose: register r of lane l comes from register l of lane r.
            assert_eq!(from, (Some(register as u64), Some(lane as u64)), "{:?}", cell.hover);
            let stays = lane == register;
            assert_eq!(
                cell.fill,
                CellColour::from_tone(if stays { EmphasisColour::Good } else { EmphasisColour::Warn })
            );
        }
    }
    let counts: Vec<_> = picture.legend.iter().map(|(_, description)| description.as_str()).collect();
    assert_eq!(counts, ["not moved: 8 of 64", "to another lane of its warp: 56 of 64"]);
}

#[test]
fn every_round_brings_a_lane_what_the_other_lane_had() {
    let (src, dst) = rows_and_columns();
    let plan = plan(&src, &dst, ConversionKind::Shuffle);
    let picture = drawn(&src, &dst, &plan);
    let rounds = grid(&picture, "shuffle rounds");
    assert_eq!((rounds.rows(), rounds.columns()), (8, 8));
    let mut moved = 0;
    for round in 0..8 {
        for lane in 0..8 {
            let cell = rounds.cell(round, lane).expect("a cell");
            let from: u64 = cell.text().parse().expect("a lane");
            for element in &cell.links {
                let had = (0..8).any(|register| format!("element {}", element_of(&src, from, register)) == *element);
                assert!(had, "lane {from} never had {element}");
                moved += 1;
            }
        }
    }
    assert_eq!(moved, 64);
    let moving = (0..8)
        .filter(|&round| rounds.cell(round, 0).is_some_and(|c| c.fill != CellColour::from_tone(EmphasisColour::Good)));
    assert_eq!(moving.count() as u64, plan.stats.counts.shuffles);
}

#[test]
fn scratch_memory_is_drawn_with_the_wavefronts_that_the_plan_counts() {
    let (src, dst) = rows_and_columns();
    let plan = plan(&src, &dst, ConversionKind::Shared);
    let picture = drawn(&src, &dst, &plan);
    let scratch = grid(&picture, "scratch memory");
    assert_eq!(scratch.rows() * scratch.columns(), 64);
    for (title, total, accesses) in [
        ("stores", plan.stats.counts.wavefronts_stored, plan.stats.counts.shared_stores),
        ("loads", plan.stats.counts.wavefronts_loaded, plan.stats.counts.shared_loads),
    ] {
        assert_eq!(grid(&picture, title).rows() as u64 * accesses, total, "{title}");
    }
}

#[test]
fn a_conversion_across_blocks_shows_source_blocks() {
    // Two blocks of eight lanes that swap a register bit and the block bit.
    let layout = |register: Vec<u64>, block: Vec<u64>| {
        let lanes = vec![vec![0, 1], vec![0, 2], vec![0, 4]];
        let bases =
            [(Dim::REGISTER, vec![register]), (Dim::LANE, lanes), (Dim::WARP, vec![]), (Dim::BLOCK, vec![block])];
        linear(&bases, &[4, 8])
    };
    let (src, dst) = (layout(vec![1, 0], vec![2, 0]), layout(vec![2, 0], vec![1, 0]));
    let picture = drawn(&src, &dst, &plan(&src, &dst, ConversionKind::Cluster));
    let through = "through the shared memory of the cluster's blocks";
    assert!(picture.caption.iter().any(|line| line == through), "{:?}", picture.caption);
    let notes = picture.panels().filter_map(|panel| match &panel.content {
        PanelContent::Note(lines) => Some(lines.join(" ")),
        _ => None,
    });
    let description: Vec<String> = notes.collect();
    assert!(description.iter().any(|note| note.contains("in each of 2 blocks")), "{description:?}");
    let counts: Vec<_> = picture.legend.iter().map(|(_, description)| description.as_str()).collect();
    assert!(
        counts.iter().any(|description| description.contains("block") && description.ends_with("16 of 32")),
        "{counts:?}"
    );
}

#[test]
fn a_conversion_to_itself_stays() {
    let (src, _) = rows_and_columns();
    let plan = movement::plan_conversion(&src, &src, 32, &test_target()).expect("a plan");
    let picture = drawn(&src, &src, &plan);
    assert!(picture.caption.iter().any(|line| line == "no data movement"), "{:?}", picture.caption);
    assert_eq!(picture.legend, [(CellColour::from_tone(EmphasisColour::Good), "not moved: 64 of 64".to_owned())]);
}

fn operand(role: &str, registers: Vec<Vec<u64>>, lanes: Vec<Vec<u64>>, shape: &[u64]) -> InstructionOperand {
    let layout = linear(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], shape);
    InstructionOperand::Register { role: role.to_owned(), element: "f32".to_owned(), bits: 32, layout }
}

/// Returns an MMA of 4x2 by 2x2 on four lanes, with B replicated twice.
fn mma_instruction() -> Instruction {
    let rows = || vec![vec![1, 0], vec![2, 0]];
    Instruction {
        name: "product".to_owned(),
        kind: InstructionKind::Matrix,
        operands: vec![
            operand("d", vec![vec![0, 1]], rows(), &[4, 2]),
            operand("a", vec![vec![0, 1]], rows(), &[4, 2]),
            operand("b", vec![vec![1, 0]], vec![vec![0, 1], vec![0, 0]], &[2, 2]),
            operand("c", vec![vec![0, 1]], rows(), &[4, 2]),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        numerics: None,
        source: "invented".to_owned(),
    }
}

#[test]
fn a_tableau_has_a_at_the_left_b_on_top_and_the_result_at_the_lower_right() {
    let picture = view::draw_instruction(&mma_instruction()).expect("a picture");
    let panel = picture.panels().next().expect("a panel");
    let PanelContent::Grid(tableau) = &panel.content else { panic!("no grid") };
    assert_eq!((tableau.rows(), tableau.columns()), (2 + 1 + 4, 2 + 1 + 2));
    let text = |row, column| tableau.cell(row, column).expect("a cell").text();
    for m in 0..4 {
        for index in 0..2 {
            assert_eq!(text(3 + m, index), format!("T{m}:{index}"), "A {m},{index}");
            assert_eq!(text(3 + m, 3 + index), format!("T{m}:{index}"), "D {m},{index}");
        }
    }
    for k in 0..2 {
        for n in 0..2 {
            assert_eq!(text(k, 3 + n), format!("T{n},{}:{k}", n + 2), "B {k},{n}");
        }
    }
    for row in 0..7 {
        assert!(tableau.cell(row, 2).is_some_and(Cell::is_placeholder));
        assert_eq!(tableau.cell(row, 0).is_some_and(Cell::is_placeholder), row < 3);
    }
}

#[test]
fn mismatched_mma_operands_are_rejected() {
    let mut wrong = mma_instruction();
    wrong.operands[2] = operand("b", vec![vec![1, 0], vec![2, 0]], vec![vec![0, 1], vec![0, 0]], &[4, 2]);
    let message = view::draw_instruction(&wrong).expect_err("no picture").to_string();
    assert!(message.contains("A 4x2 f32, B 4x2 f32 and D 4x2 f32 do not form an MMA"), "{message}");
}

#[test]
fn a_move_shows_who_gives_the_address_of_each_segment() {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    // Two slots of 8 bytes; each of four lanes gets four bytes.
    let data = LinearLayout::from_bases(
        &[(Dim::REGISTER, vec![]), (Dim::LANE, vec![vec![0, 4], vec![1, 0]]), (byte, vec![vec![0, 1], vec![0, 2]])],
        &[(segment, 2), (byte, 8)],
    );
    let address = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![1], vec![0]])], &[(segment, 2)]);
    let registers = operand("d", vec![], vec![vec![0, 1], vec![1, 0]], &[2, 2]);
    let (data, address) = (data.expect("a layout"), address.expect("a layout"));
    let row = Instruction {
        kind: InstructionKind::SharedMove,
        operands: vec![registers, InstructionOperand::Access { data, address, alignment: 8 }],
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        ..mma_instruction()
    };
    let picture = view::draw_instruction(&row).expect("a picture");
    let memory = grid(&picture, "shared memory");
    assert_eq!(memory.row_axis.headings, ["0 at T0,2", "1 at T1,3"]);
    let texts: Vec<_> = (0..2).flat_map(|row| memory.row(row)).map(Cell::text).collect();
    assert_eq!(texts, ["T0:0.0", "T1:0.0", "T2:0.0", "T3:0.0"]);
}
