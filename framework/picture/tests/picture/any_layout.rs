//! Tests that every linear layout has pictures or an error: nothing panics, and pictures are complete.

use crate::samples;

use proptest::prelude::*;
use samples::grids;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, Space};
use tilewright_picture::terminal::{TerminalColours, TextRenderOptions};
use tilewright_picture::view::{self, ColourBy, LayoutDrawingOptions};
use tilewright_picture::{Picture, html, svg, terminal};

/// Generates a space with these dimensions in any order, each with a few bits.
fn space(dims: &'static [&'static str]) -> impl Strategy<Value = Space> {
    let all: Vec<&str> = dims.to_vec();
    let most = all.len();
    (prop::sample::subsequence(all, 0..=most).prop_shuffle(), prop::collection::vec(0u32..4, most)).prop_map(
        |(dims, bits)| {
            let mut space = Space::default();
            for (dim, bits) in dims.into_iter().zip(bits) {
                space.push(Dim::named(dim), bits).expect("few bits");
            }
            space
        },
    )
}

fn linear(ins: &'static [&'static str]) -> impl Strategy<Value = LinearLayout> {
    let outs = space(&["dim0", "dim1", "dim2"]);
    (space(ins), outs, prop::collection::vec(any::<u64>(), 16)).prop_map(|(ins, outs, columns)| {
        let mask = (1u64 << outs.total_bits()) - 1;
        let columns: Vec<_> = columns.iter().map(|column| column & mask).take(ins.total_bits() as usize).collect();
        LinearLayout::from_columns(ins, outs, &columns).expect("columns that fit")
    })
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![
        3 => linear(&["register", "lane", "warp", "block"]).prop_map(Layout::Distributed),
        1 => linear(&["register", "thing", "lane"]).prop_map(Layout::Distributed),
        1 => linear(&["offset", "block"]).prop_map(|linear| Layout::Memory(MemoryLayout::from_linear(linear))),
        1 => linear(&["row", "col"]).prop_map(Layout::TensorMemory),
    ]
}

/// Whether any cell or the legend has a colour.
fn is_painted(picture: &Picture) -> bool {
    let mut cells = grids(picture).into_iter().flat_map(|(_, grid)| (0..grid.rows()).flat_map(|row| grid.row(row)));
    !picture.legend.is_empty() || cells.any(|cell| cell.fill.rgb().is_some())
}

/// Renders a picture with every renderer.
fn render(picture: &Picture) {
    let svg = svg::render_svg(picture);
    roxmltree::Document::parse(&svg).expect("XML");
    assert!(html::render_html(picture).ends_with("</html>\n"));
    for colours in [TerminalColours::None, TerminalColours::Numbered, TerminalColours::Exact] {
        for width in [None, Some(1), Some(80)] {
            let text = terminal::render_text(picture, &TextRenderOptions { colours, width, remedy: String::new() });
            assert_eq!(text.contains('\u{1b}'), colours != TerminalColours::None && is_painted(picture));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_layout_is_drawn_completely(layout in layouts(), by in 0usize..3) {
        let colour = [ColourBy::Lane, ColourBy::Warp, ColourBy::Register][by];
        let options = LayoutDrawingOptions { colour, plane: None };
        let picture = view::draw_layout("any", &layout, &options).expect("a small layout");
        let cells = |which: fn(&str) -> bool| -> usize {
            grids(&picture).iter().filter(|(title, _)| which(title)).map(|(_, grid)| grid.rows() * grid.columns()).sum()
        };
        prop_assert_eq!(cells(|title| title.starts_with("tensor")), 1 << layout.linear().outs().total_bits());
        prop_assert_eq!(cells(|title| !title.starts_with("tensor")), 1 << layout.linear().ins().total_bits());
        render(&picture);
    }

    #[test]
    fn two_layouts_are_compared_composed_and_divided_or_refused(a in layouts(), b in layouts()) {
        for pair in [(&a, &b), (&a, &a)] {
            if let Ok(picture) = view::draw_difference("any", ("A", pair.0), ("B", pair.1), &LayoutDrawingOptions::default()) {
                render(&picture);
            }
            let (a, b) = (pair.0.linear(), pair.1.linear());
            if let Ok(picture) = view::draw_left_division("any", ("A", a), ("B", b)) {
                let drawn = grids(&picture).iter().any(|(title, _)| *title == "quotient");
                prop_assert_eq!(drawn, a.divide_left(b).is_some());
                render(&picture);
            }
            if let Ok(picture) = view::draw_composition("any", ("A", a), ("B", b)) {
                render(&picture);
            }
            render(&view::draw_f2_matrix("any", a));
        }
    }
}
