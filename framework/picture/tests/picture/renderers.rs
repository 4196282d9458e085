//! Tests of properties that every renderer has for any picture.

use crate::samples;

use samples::{accumulator, blocked, grids, small};
use serde_json::Value as Json;
use tilewright_picture::terminal::{TerminalColours, TextRenderOptions};
use tilewright_picture::view::{self, LayoutDrawingOptions};
use tilewright_picture::{
    Cell, CellColour, CellRun, EmphasisColour, Grid, Panel, Picture, Rgb, TextTable, html, svg, terminal,
};

fn layout_of(layout: &tilewright_layout::Layout) -> Picture {
    view::draw_layout("a <layout> & \"more\"", layout, &LayoutDrawingOptions::default()).expect("a picture")
}

/// Returns a picture with a panel of every kind.
fn everything() -> Picture {
    let mut grid = Grid::new(2, 2);
    grid.set(
        0,
        0,
        Cell::new("a<b")
            .with_line("&")
            .with_fill(CellColour::from_index(3, 32))
            .with_link("x")
            .with_related_group("y")
            .with_tooltip_line("</script>"),
    );
    grid.set(
        1,
        1,
        Cell::new("d")
            .with_fill(CellColour::from_tone(EmphasisColour::Bad))
            .with_link("x")
            .with_frame(EmphasisColour::Bad),
    );
    let mut picture = Picture::new("all <kinds>");
    picture.add_panel(Panel::grid("left", grid.clone()).with_caption_line("a caption"));
    picture.add_panel(Panel::operator_sign("×"));
    picture.add_panel(Panel::grid("right", grid));
    picture.start_row();
    let rows = vec![vec!["one".to_owned(), "1".to_owned()], vec!["three".to_owned()]];
    picture.add_panel(Panel::table("table", TextTable { header: vec!["word".to_owned(), "number".to_owned()], rows }));
    picture.add_panel(Panel::note("note", ["a line", "another"]));
    picture.legend.push((CellColour::from_tone(EmphasisColour::Good), "as it should be".to_owned()));
    picture
}

#[test]
fn ink_reads_on_every_fill() {
    for of in 1..=128 {
        for index in 0..of {
            for (shade, shades) in [(0, 1), (0, 32), (7, 32), (31, 32)] {
                let fill = CellColour::from_index_and_shade(index, of, shade, shades).rgb().expect("a colour");
                assert!(
                    fill.contrast_ratio(fill.readable_text_colour()) >= 4.5,
                    "{index} of {of}, shade {shade} of {shades}"
                );
            }
        }
    }
    for tone in
        [EmphasisColour::Quiet, EmphasisColour::Strong, EmphasisColour::Good, EmphasisColour::Warn, EmphasisColour::Bad]
    {
        assert!(tone.rgb().contrast_ratio(tone.rgb().readable_text_colour()) >= 4.5, "{tone:?}");
    }
    assert!(
        (Rgb(0, 0, 0).contrast_ratio(Rgb(255, 255, 255)) - 21.0).abs() < 1e-9,
        "black on white, as the guideline says"
    );
}

#[test]
fn neighbours_and_all_of_32_differ_in_colour() {
    let far = |a: Rgb, b: Rgb| a.0.abs_diff(b.0).max(a.1.abs_diff(b.1)).max(a.2.abs_diff(b.2));
    for of in [2, 4, 8, 16, 32, 64, 128] {
        let colours: Vec<_> = (0..of).map(|index| CellColour::from_index(index, of).rgb().expect("a colour")).collect();
        for pair in colours.windows(2) {
            assert!(far(pair[0], pair[1]) >= 16, "{of}: {pair:?}");
        }
        for (index, colour) in colours.iter().enumerate().take(32) {
            assert!(colours[..index].iter().all(|other| other != colour), "{index} of {of}");
        }
    }
}

#[test]
fn svg_is_well_formed_and_refers_to_nothing() {
    for picture in [everything(), layout_of(&small()), layout_of(&accumulator())] {
        let text = svg::render_svg(&picture);
        let document = roxmltree::Document::parse(&text).expect("XML");
        let root = document.root_element();
        assert!(root.attribute("viewBox").is_some());
        let texts: Vec<_> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        assert!(texts.contains(&picture.title.as_str()), "{}", picture.title);
        for (_, grid) in grids(&picture) {
            for line in (0..grid.rows()).flat_map(|row| grid.row(row)).flat_map(|cell| &cell.lines) {
                assert!(texts.contains(&line.as_str()), "{line}");
            }
        }
        for node in document.descendants() {
            assert!(!["script", "image", "use", "a", "foreignObject"].contains(&node.tag_name().name()));
            assert!(node.attributes().all(|attribute| !attribute.value().contains("url(")), "{node:?}");
            assert!(node.attributes().all(|attribute| attribute.name() != "href"), "{node:?}");
        }
    }
}

/// Checks that labels of a 128x128 grid stay inside their runs (consecutive cells of a row) and are legible when
/// enlarged.
#[test]
fn text_stays_within_its_cells_at_128x128() {
    let picture = layout_of(&blocked(&[128, 128], &[1, 8], &[4, 8], &[4, 1]));
    let text = svg::render_svg(&picture);
    let document = roxmltree::Document::parse(&text).expect("XML");
    let groups = document.descendants().filter(|node| node.attribute("text-anchor").is_some());
    let mut named = 0;
    for group in groups {
        let size: f64 = group.attribute("font-size").and_then(|size| size.parse().ok()).expect("a size");
        assert!(size >= 5.0, "{size}");
        for label in group.children().filter_map(|node| node.text()).filter(|text| text.starts_with("W")) {
            // A run is eight cells of 16 pixels wide; a character is 0.6 of the font size.
            assert!(label.len() as f64 * 0.6 * size <= 8.0 * 16.0, "{label} at {size}");
            named += 1;
        }
    }
    assert_eq!(named, 128 * 128 / 8, "every run of eight elements of a lane is named once");
    assert!(text.len() < 500_000, "{} bytes", text.len());
}

#[test]
fn cells_without_runs_show_their_text_where_it_fits() {
    let mut grid = Grid::new(64, 64);
    for row in 0..64 {
        for column in 0..64 {
            grid.set(row, column, Cell::new(if row == 0 { "much too long for it" } else { "7" }));
        }
    }
    let mut picture = Picture::new("large");
    picture.add_panel(Panel::grid("grid", grid.clone()));
    let text = svg::render_svg(&picture);
    assert_eq!(text.matches(">7<").count(), 63 * 64);
    assert!(!text.contains("much too long"));
    grid.runs.push(CellRun { row: 0, start: 0, end: 64, name: "all of them".to_owned() });
    let mut picture = Picture::new("large");
    picture.add_panel(Panel::grid("grid", grid));
    let text = svg::render_svg(&picture);
    assert_eq!((text.matches(">7<").count(), text.matches("all of them").count()), (0, 1));
}

/// Returns the data that the script of the HTML page reads.
fn data(page: &str) -> Json {
    let start = page.split("<script type=\"application/json\" id=\"data\">").nth(1).expect("data");
    serde_json::from_str(start.split("</script>").next().expect("an end")).expect("JSON")
}

#[test]
fn a_page_stands_alone_and_carries_what_the_pointer_needs() {
    let picture = everything();
    let page = html::render_html(&picture);
    for outside in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest", "//cdn"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let addresses = page.matches("http").count() - page.matches("http-equiv").count();
    assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert_eq!(page.matches("</script>").count(), 2, "the cell that says </script> ends no script");
    let data = data(&page);
    let drawn = grids(&picture);
    assert_eq!(data["grids"].as_array().expect("grids").len(), drawn.len());
    let name = |number: &Json| data["names"][number.as_u64().expect("a number") as usize].as_str().expect("a name");
    for (stored, (_, grid)) in data["grids"].as_array().expect("grids").iter().zip(drawn) {
        let cells = stored["cells"].as_array().expect("cells");
        assert_eq!(cells.len(), grid.rows() * grid.columns());
        for (index, stored) in cells.iter().enumerate() {
            let cell = grid.cell(index / grid.columns(), index % grid.columns()).expect("a cell");
            let names = |section: usize| -> Vec<&str> {
                stored[section].as_array().expect("a list").iter().map(name).collect()
            };
            let description = if cell.hover.is_empty() { &cell.lines } else { &cell.hover };
            assert_eq!((names(0), names(1), names(2)), (refs(&cell.links), refs(&cell.kin), refs(description)));
        }
    }
}

fn refs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn plain_text_aligns_and_has_no_escapes() {
    let text = terminal::render_text(&layout_of(&small()), &TextRenderOptions::plain());
    assert!(!text.contains('\u{1b}'));
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('│') && line.contains(':')).collect();
    assert_eq!(rows.len(), 8);
    // Every cell ends in the same column of each row.
    let ends = |line: &str| -> Vec<usize> {
        let all: Vec<char> = line.chars().collect();
        (1..=all.len()).filter(|&at| all[at - 1] != ' ' && all.get(at).is_none_or(|next| *next == ' ')).collect()
    };
    for row in &rows {
        assert_eq!(ends(row)[..16], ends(rows[0])[..16], "{row}");
    }
    assert!(text.lines().all(|line| line == line.trim_end()), "no blanks at the ends of lines");
}

#[test]
fn colours_are_those_of_the_cells() {
    let mut grid = Grid::new(1, 2);
    grid.set(0, 0, Cell::new("x").with_fill(CellColour::from_index(0, 8)));
    grid.set(0, 1, Cell::new("y"));
    let mut picture = Picture::new("two");
    picture.add_panel(Panel::grid("", grid));
    let Rgb(r, g, b) = CellColour::from_index(0, 8).rgb().expect("a colour");
    let exact = terminal::render_text(
        &picture,
        &TextRenderOptions { colours: TerminalColours::Exact, ..TextRenderOptions::plain() },
    );
    assert!(exact.contains(&format!("\u{1b}[48;2;{r};{g};{b};38;5;231m x \u{1b}[0m y")), "{exact:?}");
    let numbered = terminal::render_text(
        &picture,
        &TextRenderOptions { colours: TerminalColours::Numbered, ..TextRenderOptions::plain() },
    );
    // The colour (0, 114, 178) is nearest to (0, 95, 175) of the cube, which has the index 16 + 6 * 1 + 3.
    assert!(numbered.contains("\u{1b}[48;5;25;38;5;231m x \u{1b}[0m y"), "{numbered:?}");
}

#[test]
fn a_wide_grid_is_truncated_with_a_remedy() {
    let picture = layout_of(&blocked(&[4, 64], &[1, 2], &[1, 32], &[1, 1]));
    let style = TextRenderOptions {
        width: Some(60),
        remedy: "--columns A..B shows a part".to_owned(),
        ..TextRenderOptions::plain()
    };
    let text = terminal::render_text(&picture, &style);
    assert!(text.lines().all(|line| line.chars().count() <= 60 || line.starts_with("(columns")), "{text}");
    assert!(text.contains(" of 64; --columns A..B shows a part)"), "{text}");
    assert!(!terminal::render_text(&picture, &TextRenderOptions::plain()).contains("(columns"));
}

#[test]
fn panels_stand_side_by_side_where_they_fit() {
    let picture = view::draw_f2_matrix("m", small().linear());
    let mut two = Picture::new("two");
    for _ in 0..2 {
        picture.panels().for_each(|panel| {
            two.add_panel(panel.clone());
        });
    }
    let wide = terminal::render_text(&two, &TextRenderOptions::plain());
    let narrow = terminal::render_text(&two, &TextRenderOptions { width: Some(40), ..TextRenderOptions::plain() });
    assert_eq!(wide.matches("matrix over F2").count(), 2);
    assert!(wide.lines().any(|line| line.matches("matrix over F2").count() == 2), "{wide}");
    assert!(narrow.lines().all(|line| line.matches("matrix over F2").count() < 2), "{narrow}");
}

#[test]
fn a_cropped_grid_keeps_its_headings() {
    let picture = layout_of(&blocked(&[32, 32], &[1, 2], &[8, 4], &[2, 2]));
    let full = samples::grid(&picture, "tensor");
    let section = full.crop(9..20, 6..usize::MAX);
    assert_eq!((section.rows(), section.columns()), (11, 26));
    for row in 0..section.rows() {
        assert_eq!(section.row_axis.heading(row), full.row_axis.heading(row + 9));
        assert_eq!(section.row(row), &full.row(row + 9)[6..]);
    }
    // The full grid has a border before every eighth row and column. The cropped part starts within a band in both
    // directions, so its first bands start at 0.
    let starts = |bands: &[tilewright_picture::HeadedGridBand]| bands.iter().map(|band| band.start).collect::<Vec<_>>();
    assert_eq!((starts(&section.row_axis.bands), starts(&section.column_axis.bands)), (vec![0, 7], vec![0, 2, 10, 18]));
    assert!(section.runs.iter().all(|run| run.row < 11 && run.end <= 26 && run.start < run.end));
    assert_eq!(full.crop(40..50, 0..1).rows(), 0);
}
