//! Notations of this plugin's families: attribute text as Intel's Triton backend prints it, JSON, and the laws between
//! them.

use tilewright_intel_tables::families::IntelFamilies;
use tilewright_layout::{AttributeSyntaxes, SampleLayout, spec_from_json, spec_to_json};
use tilewright_vendor_testkit::prelude::*;

/// Attribute texts from the tests of Intel's Triton backend.
const TEXTS: [&str; 4] = [
    "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, \
     warpsPerCTA = [1, 4], repCluster = [1, 1], A = [8, 16], B = [16, 16], C = [8, 16]}>",
    "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 4, fp4KPack = 2, \
     threadsPerWarp = 16, warpsPerCTA = [4, 4], repCluster = [4, 2], A = [32, 32], B = [32, 32], C = [32, 32]}>",
    "#ttg.dot_op<{opIdx = 0, parent = #ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, \
     opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [4, 2], repCluster = [1, 1]}>, kWidth = 1}>",
    "#ttg.dot_op<{opIdx = 1, parent = #ttig.subgroup_2d_block<{warpsPerCTA = [8, 4], instrShape = [8, 16], \
     numBlocks = 2, order = [1, 0], kWidth = 1, threadsPerWarp = 16}>, kWidth = 1}>",
];

#[test]
fn the_backends_text_comes_back() {
    let vendor_families = IntelFamilies::default();
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    let attribute_syntaxes = AttributeSyntaxes::from_families(&families);
    for text in TEXTS {
        let spec = parse_family_spec(text).expect("well-formed text");
        assert_eq!(attribute_syntaxes.print_spec(&spec), text);
        families.layout(&spec, &[64, 64]).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

/// Checks that every sample of every architecture, and the scales, survive a round trip through text and JSON.
#[test]
fn every_layout_comes_back_from_its_text_and_json() {
    let mut checked = 0;
    for (architecture, lanes) in [("pvc", 16), ("dg2", 8), ("xe2", 16)] {
        let vendor_families = IntelFamilies::for_architecture(architecture);
        let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
        for element_bits in [8, 16] {
            let samples = vendor_families.samples(SampleLayoutRequest { lanes, warps: 4, element_bits });
            let dpas = samples.iter().find(|sample| sample.name == "dpas").map(|sample| sample.spec.clone());
            let scale = |dpas| FamilySpec::new("dpas_scale").with_parameter("operand_index", 1).with_parent(dpas);
            // Block-scaled instructions have 16 columns, one for each lane.
            let scales = dpas.filter(|_| lanes == 16).map(|dpas| SampleLayout::new("scale", scale(dpas)));
            for sample in samples.iter().chain(&scales) {
                check(&sample.spec, &families);
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked} layouts");
}

fn check(spec: &FamilySpec, families: &FamilyProviders) {
    let attribute_syntaxes = AttributeSyntaxes::from_families(families);
    let text = attribute_syntaxes.print_spec(spec);
    let read = parse_family_spec(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let canonical = attribute_syntaxes.to_canonical_spec(spec);
    assert_eq!(attribute_syntaxes.to_canonical_spec(&read), canonical, "{text}");
    assert_eq!(spec_from_json(&spec_to_json(&canonical)), Ok(canonical));
    let layout = |spec: &FamilySpec| families.layout(spec, &[64, 64]).map_err(|error| error.to_string());
    let expected = layout(spec).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(layout(&read), Ok(expected.clone()), "{text}");
    let by_bases = expected.to_spec().map(|spec| layout(&spec));
    assert_eq!(by_bases, Some(Ok(expected)), "{text}");
}
