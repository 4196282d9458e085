//! Tests of pictures of layouts against golden files. After an intended change, review the pictures and run this test
//! with `TILEWRIGHT_BLESS=1`.

use crate::kept;
use crate::samples;

use kept::{check, check_both};
use samples::{accumulator, blocked, linear, small, swizzled};
use tilewright_layout::Dim;
use tilewright_picture::view::{self, LayoutDrawingOptions};
use tilewright_picture::{Picture, svg};

fn layout(layout: &tilewright_layout::Layout) -> Picture {
    view::draw_layout("layout", layout, &LayoutDrawingOptions::default()).expect("a picture")
}

#[test]
fn a_blocked_layout() {
    check_both("blocked", &layout(&small()));
}

#[test]
fn several_warps() {
    check("warps.svg", &svg::render_svg(&layout(&blocked(&[8, 16], &[1, 2], &[4, 8], &[2, 1]))));
}

#[test]
fn a_large_grid() {
    check("large.svg", &svg::render_svg(&layout(&blocked(&[32, 128], &[1, 16], &[4, 8], &[1, 1]))));
}

#[test]
fn a_swizzle() {
    check_both("swizzle", &layout(&swizzled(&[8, 16], 2, 1, 8)));
}

#[test]
fn a_matrix() {
    check_both("matrix", &view::draw_f2_matrix("matrix", accumulator().linear()));
}

#[test]
fn a_difference() {
    let (a, b) = (small(), blocked(&[8, 16], &[1, 4], &[8, 4], &[1, 1]));
    let picture = view::draw_difference("difference", ("A", &a), ("B", &b), &LayoutDrawingOptions::default());
    check_both("difference", &picture.expect("a picture"));
}

#[test]
fn a_composition() {
    let b = swizzled(&[16, 8], 2, 1, 4).linear().invert().expect("a memory layout");
    let picture = view::draw_composition("composition", ("A", accumulator().linear()), ("B", &b));
    check_both("composition", &picture.expect("a picture"));
}

#[test]
fn a_division() {
    let lanes = vec![vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![4, 0]];
    let tile = linear(&[(Dim::REGISTER, vec![vec![0, 1]]), (Dim::LANE, lanes)], &[8, 8]);
    let picture = view::draw_left_division("division", ("A", accumulator().linear()), ("B", &tile));
    check_both("division", &picture.expect("a picture"));
}
