//! Tests of bad input: exit code 2, one clear message with the place, no panic, no backtrace, and empty standard
//! output.

use crate::command;

use command::{BLOCKED, run, tilewright};

/// Returns the message of a command that is given bad input.
fn refusal(arguments: &[&str]) -> String {
    run(tilewright().args(arguments)).failed(2).to_owned()
}

fn convert<'a>(target: &'a str, shape: &'a str, element: &'a str) -> Vec<&'a str> {
    vec!["convert", "--target", target, "--shape", shape, "--element", element, BLOCKED, BLOCKED]
}

#[test]
fn names_that_are_not_known() {
    let misspelt = BLOCKED.replace("blocked", "blockd");
    let parameter = BLOCKED.replace("sizePerThread", "sizePerThred");
    for (arguments, expected) in [
        (convert("h10", "8x16", "f16"), vec!["`h10`", "did you mean `h100`?"]),
        (vec!["compile", "--target", "h10", "x.ttir"], vec!["`h10`", "did you mean `h100`?"]),
        (convert("h100", "8x16", "f80"), vec!["`f80`", "known are", "bf16"]),
        (convert("h100", "8x16", "80"), vec!["80 bits", "8, 16, 32 and 64"]),
        (vec!["layout", "--shape", "8x16", &misspelt], vec!["`blockd`", "did you mean `blocked`?"]),
        (vec!["layout", "--shape", "8x16", &parameter], vec!["`size_per_thread`", "`size_per_thred`"]),
        (vec!["layuot"], vec!["layuot", "layout"]),
        (vec!["targets", "--jsno"], vec!["--jsno", "--json"]),
    ] {
        let message = refusal(&arguments);
        for phrase in expected {
            assert!(message.contains(phrase), "no `{phrase}` in: {message}");
        }
    }
}

#[test]
fn a_typo_in_a_layout_is_shown_at_its_location() {
    // The missing bracket is reported at the next word's `=`.
    let unclosed = "#ttg.blocked<{sizePerThread = [1, 2, threadsPerWarp = [4, 8]}>";
    let unknown = "#ttg.blocked<{sizePerThread = [1; 2]}>";
    let cut = "#ttg.blocked<{sizePerThread = [1, 2]";
    let json = "{\"kind\": \"blocked\", }";
    let quoted = |text: &str, phrase: &str| text.find(phrase).expect("a part of the text");
    for (text, at) in [
        (unclosed, quoted(unclosed, "= [4")),
        (unknown, quoted(unknown, ";")),
        (cut, cut.len()),
        (json, quoted(json, "}")),
    ] {
        let message = refusal(&["layout", "--shape", "8x16", text]);
        let lines: Vec<&str> = message.lines().collect();
        let shown =
            lines.iter().position(|line| line.ends_with(text.trim_end())).unwrap_or_else(|| panic!("{message}"));
        let margin = lines[shown].find(text).expect("the text");
        let pointer = lines[shown..].iter().find_map(|line| line.find("`-")).unwrap_or_else(|| panic!("{message}"));
        assert_eq!(pointer, margin + at, "{message}");
        assert!(lines[0].contains("expected") || text == json, "what was expected: {message}");
    }
}

#[test]
fn errors_name_the_layout_of_a_conversion() {
    let mut arguments = convert("h100", "8x16", "f16");
    let wrong = BLOCKED.replace("= [4, 8]", "= [4, 8");
    *arguments.last_mut().expect("a layout") = &wrong;
    assert!(refusal(&arguments).contains("DST:1:"));
    *arguments.last_mut().expect("a layout") =
        "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>";
    assert!(refusal(&arguments).contains("DST: `swizzled_shared` is not a distributed layout"));
}

#[test]
fn shapes_that_are_none() {
    for (shape, expected) in [
        ("8x12", "12 is not a power of two; enlarge it to 16"),
        ("0x16", "0 is not a power of two"),
        ("8y16", "`8y16` is not a size; a shape is written 128x64"),
        ("8x", "`` is not a size"),
        ("-8x16", "`-8` is not a size"),
        ("18446744073709551615x16", "18446744073709551615 is not a power of two\n"),
        ("36893488147419103232x16", "36893488147419103232 does not fit 64 bits"),
    ] {
        let shape_option = format!("--shape={shape}");
        let message = refusal(&["layout", &shape_option, BLOCKED]);
        assert!(message.contains(&format!("shape `{shape}`")) && message.contains(expected), "{message}");
    }
}

#[test]
fn a_layout_of_80_bits() {
    let wide = refusal(&["layout", "--shape", "1099511627776x1099511627776", BLOCKED]);
    assert!(wide.contains("80 bits of coordinates: at most 64"), "{wide}");
    let listed: Vec<String> = (0..80).map(|bit| format!("[{}]", 1u128 << (bit % 40))).collect();
    let json = format!(
        "{{\"in_dims\": [[\"offset\", {}]], \"out_dims\": [[\"dim0\", 1099511627776]], \"bases\": {{\"offset\": [{}]}}}}",
        1u128 << 80,
        listed.join(", ")
    );
    refusal(&["layout", "--shape", "8x16", &json]);
}

/// A tensor of 2^40 elements has a layout, but is rejected for drawing and for planning register by register.
#[test]
fn sizes_that_no_table_holds() {
    let printed = run(tilewright().args(["layout", "--shape", "1048576x1048576", BLOCKED]));
    assert!(printed.ok().contains("not drawn: 2^40 positions"), "{}", printed.out);
    let message = refusal(&convert("h100", "1048576x1048576", "f16"));
    assert!(message.contains("2^35 elements"), "{message}");
}

#[test]
fn files_that_are_not_there() {
    for (arguments, file) in [
        (vec!["batch", "/nowhere/questions.jsonl"], "/nowhere/questions.jsonl"),
        (vec!["--plugin", "/nowhere/libnone.so", "targets"], "/nowhere/libnone.so"),
        (vec!["--plugin", "/nowhere/none.plugin.toml", "targets"], "/nowhere/none.plugin.toml"),
        (vec!["--plugin", "/tmp", "targets"], "/tmp"),
        (vec!["--targets", "/nowhere/targets", "targets"], "/nowhere/targets"),
    ] {
        let message = refusal(&arguments);
        assert!(message.contains(file), "{message}");
    }
    let mut emitted = convert("h100", "8x16", "f16");
    emitted.extend(["--emit", "kernel", "-o", "/nowhere/out.txt"]);
    assert!(refusal(&emitted).contains("cannot write /nowhere/out.txt"));
}

#[test]
fn a_patience_that_is_none() {
    for value in ["0", "-1", "soon", "inf", "NaN", "1e300"] {
        let printed = run(tilewright().arg("targets").env("TILEWRIGHT_PLUGIN_TIMEOUT", value));
        let message = printed.failed(2);
        assert!(message.contains("TILEWRIGHT_PLUGIN_TIMEOUT") && message.contains(value), "{message}");
    }
}

#[test]
fn a_family_of_another_vendor() {
    let mfma = "#ttg.amd_mfma<{version = 2, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>";
    let message = refusal(&["layout", "--target", "h100", "--shape", "64x64", mfma]);
    assert!(
        message.contains("`amd_mfma`") && message.contains("known are") && message.contains("nvidia_mma"),
        "{message}"
    );
}
