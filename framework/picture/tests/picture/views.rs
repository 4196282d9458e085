//! Tests that pictures agree with the layouts: every cell is read back and checked against the linear map.

use crate::samples;

use std::collections::{BTreeMap, BTreeSet};

use samples::{accumulator, blocked, grid, grids, linear, resolved, small, swizzled};
use tilewright_layout::{Dim, FamilySpec, Layout, LinearLayout, parse_family_spec};
use tilewright_picture::view::{self, ColourBy, LayoutDrawingOptions};
use tilewright_picture::{CellColour, EmphasisColour, PanelContent, Picture, PictureError};

fn drawn(layout: &Layout) -> Picture {
    view::draw_layout("test", layout, &LayoutDrawingOptions::default()).expect("a picture")
}

/// Returns the tensor coordinates of the element that the layout `linear` has at a position.
fn element(linear: &LinearLayout, coordinates: &[(Dim, u64)]) -> Vec<u64> {
    let mut image = linear.apply(coordinates).expect("a position");
    image.sort();
    image.into_iter().map(|(_, at)| at).collect()
}

/// Parses a cell's text `W1/T3:5`: warp 1, lane 3, register 5.
fn coordinates(text: &str) -> Vec<(Dim, u64)> {
    let mut coordinates = Vec::new();
    for dim_text in text.split('/') {
        let (dim, rest) = match dim_text.split_at(1) {
            ("W", rest) => (Dim::WARP, rest),
            ("T", rest) => (Dim::LANE, rest),
            other => panic!("{other:?} in {text}"),
        };
        let (at, register) = rest.split_once(':').unwrap_or((rest, ""));
        coordinates.push((dim, at.parse().expect("a number")));
        if !register.is_empty() {
            coordinates.push((Dim::REGISTER, register.parse().expect("a number")));
        }
    }
    coordinates
}

#[test]
fn every_cell_of_the_tensor_names_a_position_of_its_element() {
    for layout in [small(), accumulator(), blocked(&[32, 64], &[1, 4], &[8, 4], &[2, 2])] {
        let picture = drawn(&layout);
        let tensor = grid(&picture, "tensor");
        for row in 0..tensor.rows() {
            for column in 0..tensor.columns() {
                let text = tensor.cell(row, column).expect("a cell").text();
                assert_eq!(element(layout.linear(), &coordinates(&text)), [row as u64, column as u64], "{text}");
            }
        }
    }
}

#[test]
fn every_cell_of_the_hardware_names_the_element_that_is_there() {
    let across = blocked(&[32, 64], &[1, 4], &[8, 4], &[2, 2]);
    let turned = [Dim::WARP, Dim::REGISTER, Dim::BLOCK, Dim::LANE];
    let turned = Layout::Distributed(across.linear().transpose_ins(&turned).expect("a layout"));
    let down = blocked(&[32, 64], &[1, 16], &[8, 4], &[2, 1]);
    for layout in [small(), accumulator(), across, turned, down] {
        let picture = drawn(&layout);
        let hardware = grid(&picture, "hardware");
        let mut seen = BTreeSet::new();
        for row in 0..hardware.rows() {
            for column in 0..hardware.columns() {
                let cell = hardware.cell(row, column).expect("a cell");
                // `warp 1 lane 3 register 5`: the tooltip names the cell's own position.
                let words: Vec<&str> = cell.hover[0].split(' ').collect();
                let coordinates: Vec<_> =
                    words.chunks(2).map(|pair| (Dim::named(pair[0]), pair[1].parse().expect("a number"))).collect();
                let names: Vec<_> = element(layout.linear(), &coordinates).iter().map(u64::to_string).collect();
                assert_eq!(cell.text(), names.join(","), "{coordinates:?}");
                assert_eq!(
                    hardware.row_axis.heading(row),
                    coordinates.iter().find(|p| p.0 == Dim::LANE).expect("a lane").1.to_string()
                );
                assert!(seen.insert(coordinates));
            }
        }
        assert_eq!(seen.len() as u64, 1 << layout.linear().ins().total_bits(), "every position is drawn once");
    }
}

#[test]
fn an_element_links_to_each_of_its_replicas() {
    let parent = FamilySpec::new("blocked")
        .with_parameter("size_per_thread", [1i64, 2])
        .with_parameter("threads_per_warp", [8i64, 4])
        .with_parameter("warps_per_cta", [1i64, 1])
        .with_parameter("order", [1i64, 0]);
    let layout = resolved(&FamilySpec::new("slice").with_parameter("dim", 1i64).with_parent(parent), &[16]);
    let picture = drawn(&layout);
    let mut link_counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (title, grid) in grids(&picture) {
        for row in 0..grid.rows() {
            for cell in grid.row(row) {
                assert_eq!(cell.links.len(), 1);
                let count = link_counts.entry(cell.links[0].clone()).or_default();
                *(if title == "tensor" { &mut count.0 } else { &mut count.1 }) += 1;
            }
        }
    }
    // Four lanes hold replicas along the removed axis, so each of the 16 elements has four positions.
    assert_eq!(link_counts.len(), 16);
    assert!(link_counts.values().all(|&count| count == (1, 4)), "{link_counts:?}");
    let tensor = grid(&picture, "tensor");
    assert_eq!(tensor.cell(0, 9).expect("a cell").text(), "T4:1 x4");
    assert!(picture.caption.iter().any(|line| line.contains("has 4 replicas")), "{:?}", picture.caption);
}

#[test]
fn two_holders_are_both_named() {
    let lane = linear(&[(Dim::LANE, vec![vec![1], vec![0]])], &[2]);
    let register = linear(&[(Dim::REGISTER, vec![vec![0]]), (Dim::LANE, vec![vec![1]])], &[2]);
    let warp = linear(&[(Dim::LANE, vec![vec![1]]), (Dim::WARP, vec![vec![0]])], &[2]);
    for (layout, expected) in [(lane, "T1,T3:0"), (register, "T1:0,1"), (warp, "W0,W1/T1:0")] {
        let picture = drawn(&Layout::Distributed(layout));
        assert_eq!(grid(&picture, "tensor").cell(0, 1).expect("a cell").text(), expected);
    }
}

#[test]
fn holders_of_the_same_have_the_same_colour_and_neighbours_another() {
    let layout = Layout::Distributed(linear(&[(Dim::LANE, vec![vec![0], vec![0], vec![1], vec![2], vec![4]])], &[8]));
    let picture = drawn(&layout);
    let hardware = grid(&picture, "hardware");
    let fill = |lane: usize| hardware.cell(lane, 0).expect("a lane").fill;
    for lane in 0..32 {
        assert_eq!(fill(lane), fill(lane / 4 * 4), "lane {lane}");
    }
    let colours: BTreeSet<_> = (0..32).step_by(4).map(|lane| fill(lane).rgb()).collect();
    assert_eq!(colours.len(), 8);
}

#[test]
fn hues_distinguish_the_chosen_dim() {
    let layout = blocked(&[16, 16], &[1, 2], &[4, 8], &[2, 1]);
    for (colour, distinct) in [(ColourBy::Lane, 32), (ColourBy::Warp, 2 * 32), (ColourBy::Register, 4)] {
        let options = LayoutDrawingOptions { colour, plane: None };
        let picture = view::draw_layout("test", &layout, &options).expect("a picture");
        let tensor = grid(&picture, "tensor");
        let fills: BTreeSet<_> =
            (0..16).flat_map(|row| tensor.row(row)).map(|cell| format!("{:?}", cell.fill)).collect();
        assert_eq!(fills.len(), distinct, "{colour:?}");
    }
}

#[test]
fn a_tensor_of_three_axes_is_a_row_of_slices_and_any_two_axes_can_be_its_plane() {
    let layout = blocked(&[4, 8, 16], &[1, 1, 2], &[1, 4, 8], &[1, 1, 1]);
    let picture = drawn(&layout);
    let slices: Vec<_> = grids(&picture).into_iter().filter(|(title, _)| title.starts_with("tensor")).collect();
    let titles: Vec<_> = slices.iter().map(|(title, _)| *title).collect();
    assert_eq!(titles, ["tensor, dim0 = 0", "tensor, dim0 = 1", "tensor, dim0 = 2", "tensor, dim0 = 3"]);
    for (slice, (_, grid)) in slices.iter().enumerate() {
        let text = grid.cell(5, 9).expect("a cell").text();
        assert_eq!(element(layout.linear(), &coordinates(&text)), [slice as u64, 5, 9]);
    }
    let options =
        LayoutDrawingOptions { plane: Some((Dim::tensor(2), Dim::tensor(0))), ..LayoutDrawingOptions::default() };
    let turned = view::draw_layout("test", &layout, &options).expect("a picture");
    let slice = grid(&turned, "tensor, dim1 = 3");
    assert_eq!((slice.rows(), slice.columns()), (16, 4));
    assert_eq!(element(layout.linear(), &coordinates(&slice.cell(9, 2).expect("a cell").text())), [2, 3, 9]);
}

#[test]
fn a_tensor_of_one_axis_is_wrapped() {
    let picture = drawn(&blocked(&[128], &[2], &[32], &[1]));
    let tensor = grid(&picture, "tensor");
    assert_eq!((tensor.rows(), tensor.columns()), (4, 32));
    assert_eq!(tensor.row_axis.heading(3), "96");
    // Element 96 + 5: lane (101 / 2) % 32 in the second round of registers.
    assert_eq!(tensor.cell(3, 5).expect("a cell").text(), "T18:3");
    let short = drawn(&blocked(&[16], &[1], &[16], &[1]));
    assert_eq!((grid(&short, "tensor").rows(), grid(&short, "tensor").columns()), (1, 16));
}

/// Checks that a picture of a swizzled layout shows the offsets that the definition of the swizzle gives: groups of
/// `vec` elements are permuted by the phase of the row.
#[test]
fn a_memory_layout_shows_offsets_and_its_lines() {
    let picture = drawn(&swizzled(&[8, 32], 4, 1, 8));
    let (tensor, memory) = (grid(&picture, "tensor"), grid(&picture, "memory"));
    for row in 0..8 {
        for column in 0..32 {
            let offset = row * 32 + ((column / 4) ^ row) * 4 + column % 4;
            let cell = tensor.cell(row, column).expect("a cell");
            assert_eq!(cell.text(), offset.to_string());
            let there = memory.cell(offset / 32, offset % 32).expect("a cell");
            assert_eq!(there.text(), format!("{row},{column}"));
            assert_eq!((&there.links, there.fill), (&cell.links, cell.fill));
        }
    }
}

#[test]
fn a_padded_memory_shows_physical_offsets() {
    let spec = parse_family_spec("#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 32]}>").expect("a family");
    let picture = drawn(&resolved(&spec, &[8, 32]));
    for row in 0..8 {
        let cell = grid(&picture, "tensor").cell(row, 5).expect("a cell");
        assert_eq!(cell.text(), (row * 36 + 5).to_string());
        assert_eq!(grid(&picture, "memory").row_axis.heading(row), (row * 36).to_string());
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_to_do() {
    let wide =
        view::draw_layout("test", &blocked(&[512, 512], &[1, 8], &[4, 8], &[4, 1]), &LayoutDrawingOptions::default());
    let Err(PictureError::TooLarge { bits: 18, most: 16, remedy, .. }) = wide else { panic!("{wide:?}") };
    assert!(remedy.contains("smaller shape"));
    let deep = blocked(&[128, 2, 2], &[1, 1, 1], &[32, 1, 1], &[1, 1, 1]);
    let deep = view::draw_layout("test", &deep, &LayoutDrawingOptions::default());
    assert!(matches!(deep, Err(PictureError::TooLarge { bits: 7, .. })), "{deep:?}");
    for plane in [(Dim::tensor(0), Dim::tensor(7)), (Dim::tensor(1), Dim::tensor(1))] {
        let options = LayoutDrawingOptions { plane: Some(plane), ..LayoutDrawingOptions::default() };
        let refused = view::draw_layout("test", &small(), &options);
        let Err(error @ PictureError::NotDrawable { .. }) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains("dim0, dim1"), "{error}");
    }
}

#[test]
fn odd_layouts_have_pictures() {
    let scalar = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![]])], &[]).expect("a layout");
    let gap = linear(&[(Dim::LANE, vec![vec![2]])], &[4]);
    let named = LinearLayout::from_bases(&[(Dim::named("thing"), vec![vec![1]])], &[(Dim::named("place"), 2)]);
    let tensor_memory = linear(&[(Dim::ROW, vec![vec![1, 0]]), (Dim::COL, vec![vec![0, 1]])], &[2, 2]);
    for layout in [LinearLayout::empty(), scalar, gap.clone(), named.expect("a layout")] {
        drawn(&Layout::Distributed(layout));
    }
    let picture = drawn(&Layout::Distributed(gap));
    assert_eq!(grid(&picture, "tensor").cell(0, 1).expect("a cell").text(), "-");
    assert!(picture.caption.iter().any(|line| line.contains("2 elements are in no register")));
    let picture = drawn(&Layout::TensorMemory(tensor_memory));
    assert_eq!(grid(&picture, "tensor").cell(1, 0).expect("a cell").text(), "1:0");
}

#[test]
fn the_matrix_shows_its_bits_under_their_names() {
    let layout = accumulator();
    let picture = view::draw_f2_matrix("test", layout.linear());
    let drawn = grid(&picture, "matrix");
    let bits = layout.linear().matrix();
    for (row, bits) in bits.iter().enumerate() {
        for (column, &bit) in bits.iter().enumerate() {
            let cell = drawn.cell(row, column).expect("a cell");
            assert_eq!(cell.text(), if bit == 1 { "1" } else { "·" });
        }
    }
    assert_eq!(drawn.column_axis.headings, ["1", "2", "1", "2", "4", "8", "16"]);
    let bands: Vec<_> = drawn.column_axis.bands.iter().map(|band| (band.start, band.heading.as_str())).collect();
    assert_eq!(bands, [(0, "register"), (2, "lane")]);
    // Lanes 1 and 2 go to dim1 2 and 4, lanes 4 to 16 to dim0 1 to 4.
    let outlines: Vec<_> = drawn.outlines.iter().map(|outline| (outline.columns.clone(), outline.rows.len())).collect();
    assert_eq!(outlines, [(2..4, 2), (4..7, 3)]);
}

#[test]
fn the_first_difference_is_the_first_in_the_order_of_the_tensor() {
    let (a, b) = (small(), blocked(&[8, 16], &[1, 4], &[8, 4], &[1, 1]));
    // By definition: lane and register of an element under either layout.
    let of = |size: usize, lanes: usize, row: usize, column: usize| {
        let (down, across) = (32 / lanes, 16 / (size * lanes));
        let lane = row % down * lanes + column / size % lanes;
        (lane, column % size + size * (column / (size * lanes)) + size * across * (row / down))
    };
    let differ: Vec<(usize, usize)> = (0..8)
        .flat_map(|row| (0..16).map(move |column| (row, column)))
        .filter(|&(row, column)| of(2, 8, row, column) != of(4, 4, row, column))
        .collect();
    let picture =
        view::draw_difference("test", ("A", &a), ("B", &b), &LayoutDrawingOptions::default()).expect("a picture");
    for side in ["A: tensor", "B: tensor"] {
        let drawn = grid(&picture, side);
        for row in 0..8 {
            for column in 0..16 {
                let cell = drawn.cell(row, column).expect("a cell");
                let tone = if differ.contains(&(row, column)) { EmphasisColour::Warn } else { EmphasisColour::Good };
                assert_eq!(cell.fill, CellColour::from_tone(tone), "{side} {row},{column}");
                assert_eq!(cell.mark.is_some(), differ.first() == Some(&(row, column)), "{side} {row},{column}");
            }
        }
    }
    let first = format!("{} of 128 elements differ; the first is {},{}:", differ.len(), differ[0].0, differ[0].1);
    assert!(picture.caption[0].starts_with(&first), "{} in {:?}", first, picture.caption);
}

#[test]
fn equal_layouts_have_no_difference_and_other_shapes_none_to_draw() {
    let same = view::draw_difference("test", ("A", &small()), ("B", &small()), &LayoutDrawingOptions::default())
        .expect("a picture");
    assert!(same.caption[0].starts_with("the same map"), "{:?}", same.caption);
    let other = blocked(&[16, 16], &[1, 2], &[4, 8], &[1, 1]);
    let refused = view::draw_difference("test", ("A", &small()), ("B", &other), &LayoutDrawingOptions::default());
    assert!(matches!(refused, Err(PictureError::NotDrawable { .. })), "{refused:?}");
}

#[test]
fn a_difference_does_not_depend_on_the_order_in_which_dims_are_listed() {
    let a = small();
    let turned = a.linear().transpose_outs(&[Dim::tensor(0), Dim::tensor(1)]).expect("a layout");
    let turned = turned.transpose_ins(&[Dim::WARP, Dim::BLOCK, Dim::LANE, Dim::REGISTER]).expect("a layout");
    let b = Layout::Distributed(turned);
    let picture =
        view::draw_difference("test", ("A", &a), ("B", &b), &LayoutDrawingOptions::default()).expect("a picture");
    assert!(picture.caption[0].contains("128 elements have the same positions"), "{:?}", picture.caption);
}

#[test]
fn a_composition_shows_the_path_of_every_bit() {
    let a = accumulator();
    let memory = swizzled(&[16, 8], 2, 1, 4);
    let b = memory.linear().invert().expect("a memory layout");
    let picture = view::draw_composition("test", ("A", a.linear()), ("B", &b)).expect("a picture");
    let signs: Vec<_> = picture
        .panels()
        .map(|panel| match &panel.content {
            PanelContent::Operator(sign) => sign.as_str(),
            _ => panel.title.as_str(),
        })
        .collect();
    assert_eq!(signs, ["B", "×", "A", "=", "B of A", "every input bit, step by step"]);
    let Some(PanelContent::Table(table)) = picture.panels().last().map(|panel| &panel.content) else {
        panic!("a table")
    };
    for row in &table.rows {
        let (dim, at) = row[0].split_once(' ').expect("a bit");
        let through = a.linear().apply(&[(Dim::named(dim), at.parse().expect("a number"))]).expect("an element");
        let end = b.apply(&through).expect("an offset");
        assert_eq!(row[2], format!("offset {}", end[0].1), "{row:?}");
    }
    assert_eq!(table.rows.len(), 7);
    assert!(view::draw_composition("test", ("A", a.linear()), ("A", a.linear())).is_err());
}

#[test]
fn a_division_shows_the_quotient_or_the_obstacle() {
    let dividend = accumulator();
    let lanes = vec![vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![4, 0]];
    let tile = linear(&[(Dim::REGISTER, vec![vec![0, 1]]), (Dim::LANE, lanes.clone())], &[8, 8]);
    let picture = view::draw_left_division("test", ("A", dividend.linear()), ("B", &tile)).expect("a picture");
    let rest = grid(&picture, "quotient");
    assert_eq!((rest.rows(), rest.columns()), (1, 1));
    assert_eq!(rest.cell(0, 0).expect("a cell").text(), "1");
    assert!((0..7).flat_map(|row| grid(&picture, "A").row(row)).all(|cell| cell.mark.is_none()));

    // Registers along dim0 instead: bit 1 of the register is wrong in two entries.
    let other = linear(&[(Dim::REGISTER, vec![vec![1, 0]]), (Dim::LANE, lanes)], &[8, 8]);
    let picture = view::draw_left_division("test", ("A", dividend.linear()), ("B", &other)).expect("a picture");
    let drawn = grid(&picture, "A");
    let marked: Vec<_> = (0..drawn.rows())
        .flat_map(|row| (0..drawn.columns()).map(move |column| (row, column)))
        .filter(|&(row, column)| drawn.cell(row, column).is_some_and(|cell| cell.mark.is_some()))
        .collect();
    // Rows: dim0 1, 2, 4, 8, then dim1 1, 2, 4. Required dim0 1, found dim1 1.
    assert_eq!(marked, [(0, 0), (4, 0)]);
    let note = picture.panels().find(|panel| panel.title == "no quotient").expect("a note");
    let lines = PanelContent::Note(vec!["register 1 does not reach dim0 1, reaches dim1 1".to_owned()]);
    assert_eq!(note.content, lines);

    let larger = linear(&[(Dim::REGISTER, vec![vec![1, 0], vec![2, 0], vec![4, 0]])], &[16, 8]);
    let refused = view::draw_left_division("test", ("A", dividend.linear()), ("B", &larger));
    assert!(matches!(refused, Err(PictureError::NotDrawable { .. })), "{refused:?}");
}
