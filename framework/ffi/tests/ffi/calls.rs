//! Tests of calls as a host makes them. Errors are returned and never crash, structs of older hosts are filled up to
//! their size, one `tw_session` serves many threads, and diagnostics go to the callback of their `tw_session`.

#![allow(unsafe_code, reason = "the interface is called as C calls it")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use tilewright_c::*;

const BLOCKED: &CStr =
    c"#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const COLUMNS: &CStr =
    c"#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";

/// Returns the code and message of an error, and frees it; `None` for success.
fn take_error(error: *mut tw_error) -> Option<(u32, String)> {
    if error.is_null() {
        return None;
    }
    // SAFETY: the error was just created.
    unsafe {
        let message = CStr::from_ptr(tw_error_message(error)).to_str().expect("UTF-8").to_owned();
        let code = tw_error_code(error);
        tw_error_destroy(error);
        Some((code, message))
    }
}

fn session(
    options: &[(&CStr, &CStr)],
    callback: tw_diagnostic_callback,
    context: *mut c_void,
) -> Result<*mut tw_session, (u32, String)> {
    let options: Vec<_> =
        options.iter().map(|(key, value)| tw_option { key: key.as_ptr(), value: value.as_ptr() }).collect();
    let mut session = null_mut();
    // SAFETY: the options live as long as the call.
    let error = unsafe { tw_session_create(options.as_ptr(), options.len(), callback, context, &raw mut session) };
    take_error(error).map_or(Ok(session), Err)
}

fn plain() -> *mut tw_session {
    session(&[(c"discover", c"no")], None, null_mut()).expect("a session")
}

fn layout(session: *const tw_session, text: &CStr, shape: &[u64]) -> Result<*mut tw_layout, (u32, String)> {
    let mut layout = null_mut();
    // SAFETY: all live as long as the call.
    let error = unsafe { tw_layout_read(session, null(), text.as_ptr(), shape.as_ptr(), shape.len(), &raw mut layout) };
    take_error(error).map_or(Ok(layout), Err)
}

#[test]
fn null_is_an_error_or_nothing() {
    let session = plain();
    let mut layout = null_mut();
    let mut names = null_mut();
    let (mut code, mut other) = (null_mut(), null_mut());
    // SAFETY: every function takes null.
    unsafe {
        let argument = |error| assert_eq!(take_error(error).expect("an error").0, TW_ERROR_ARGUMENT);
        argument(tw_session_create(null(), 0, None, null_mut(), null_mut()));
        argument(tw_session_create(null(), 2, None, null_mut(), &raw mut other));
        argument(tw_session_targets(null(), &raw mut names));
        argument(tw_session_targets(session, null_mut()));
        argument(tw_layout_read(session, null(), null(), null(), 0, &raw mut layout));
        argument(tw_layout_read(session, null(), BLOCKED.as_ptr(), null(), 2, &raw mut layout));
        argument(tw_layout_invert(null(), &raw mut layout));
        argument(tw_compile(session, c"h100".as_ptr(), null(), 5, null(), 0, &raw mut code));
        argument(tw_plan_figures(null(), null_mut()));
        argument(tw_plan_read_stats(null(), null_mut()));
        assert!(other.is_null() && layout.is_null() && names.is_null() && code.is_null());
        assert_eq!((tw_names_count(null()), tw_blob_size(null()), tw_code_kernel_count(null())), (0, 0, 0));
        assert!(
            tw_names_at(null(), 0).is_null()
                && tw_blob_data(null()).is_null()
                && tw_code_form_name(null(), 0).is_null()
        );
        assert_eq!((tw_error_code(null()), tw_error_line(null()), tw_layout_equal(null(), null())), (0, 0, 0));
        tw_session_destroy(null_mut());
        tw_layout_destroy(null_mut());
        tw_plan_destroy(null_mut());
        tw_code_destroy(null_mut());
        tw_blob_destroy(null_mut());
        tw_names_destroy(null_mut());
        tw_error_destroy(null_mut());
        tw_session_destroy(session);
    }
}

#[test]
fn errors_have_a_code_and_a_remedy() {
    let wrong = |key, value| session(&[(key, value)], None, null_mut()).expect_err("an option that is wrong");
    let (code, message) = wrong(c"plugins", c"x");
    assert!(code == TW_ERROR_OPTION && message.contains("plugin-directory"), "{message}");
    let (code, message) = wrong(c"discover", c"maybe");
    assert!(code == TW_ERROR_OPTION && message.contains("`yes` or `no`"), "{message}");
    let (code, message) = wrong(c"plugin", c"/nowhere/libnothing.so");
    assert!(code == TW_ERROR_PLUGIN && message.contains("/nowhere/libnothing.so"), "{message}");
    let session = plain();
    let (code, message) = layout(session, c"#ttg.blocked<{sizePerThread = [1,", &[8, 8]).expect_err("half a text");
    assert!(code == TW_ERROR_INPUT && !message.is_empty(), "{message}");
    let bytes = CString::new(vec![0xffu8, 0xfe]).expect("no zero");
    assert_eq!(layout(session, &bytes, &[8, 8]).expect_err("no UTF-8").0, TW_ERROR_ARGUMENT);
    let (mut code, text) = (null_mut(), "module {}");
    // SAFETY: all live as long as the call.
    let error =
        unsafe { tw_compile(session, c"h100".as_ptr(), text.as_ptr().cast(), text.len(), null(), 0, &raw mut code) };
    let (number, message) = take_error(error).expect("no plugin was looked for");
    assert!(number == TW_ERROR_PLUGIN && message.contains("no plugin serves"), "{message}");
    // SAFETY: a handle that is not used any more.
    unsafe { tw_session_destroy(session) };
}

#[test]
fn a_host_with_a_shorter_struct_gets_what_it_knows() {
    let session = plain();
    let layout_handle = layout(session, BLOCKED, &[16, 32]).expect("a layout");
    let mut dim = tw_dim { struct_size: size_of::<usize>() + size_of::<*const c_char>(), name: null(), size: 77 };
    // SAFETY: the struct is larger than its size states.
    unsafe {
        assert_eq!(take_error(tw_layout_dim(layout_handle, TW_SIDE_IN, 1, &raw mut dim)), None);
        assert_eq!(CStr::from_ptr(dim.name), c"lane");
        assert_eq!(dim.size, 77, "a field that the host does not have was written");
        dim.struct_size = size_of::<tw_dim>();
        assert_eq!(take_error(tw_layout_dim(layout_handle, TW_SIDE_IN, 1, &raw mut dim)), None);
        assert_eq!(dim.size, 32);
        assert_eq!(tw_layout_dim_count(layout_handle, TW_SIDE_OUT), 2);
        assert_eq!(
            take_error(tw_layout_dim(layout_handle, TW_SIDE_OUT, 2, &raw mut dim)).expect("past the end").0,
            TW_ERROR_ARGUMENT
        );
        dim.struct_size = 0;
        assert_eq!(
            take_error(tw_layout_dim(layout_handle, TW_SIDE_OUT, 0, &raw mut dim)).expect("no size").0,
            TW_ERROR_ARGUMENT
        );
        tw_layout_destroy(layout_handle);
        tw_session_destroy(session);
    }
}

#[test]
fn layouts_keep_their_laws() {
    let session = plain();
    let (rows, columns) = (layout(session, BLOCKED, &[32, 32]), layout(session, COLUMNS, &[32, 32]));
    let (rows, columns) = (rows.expect("a layout"), columns.expect("a layout"));
    let (mut there, mut back, mut both, mut same) = (null_mut(), null_mut(), null_mut(), null_mut());
    // SAFETY: handles that live as long as the calls.
    unsafe {
        assert_eq!(take_error(tw_layout_invert_and_compose(rows, columns, &raw mut there)), None);
        assert_eq!(take_error(tw_layout_compose(there, columns, &raw mut same)), None);
        assert_eq!(tw_layout_equal(same, rows), 1, "to the columns and back");
        assert_eq!(tw_layout_equal(columns, rows), 0);
        assert_eq!(take_error(tw_layout_invert(there, &raw mut back)), None);
        assert_eq!(take_error(tw_layout_compose(there, back, &raw mut both)), None);
        let mut coordinates = [0u64; 4];
        let position = [1u64, 9, 2, 0];
        assert_eq!(take_error(tw_layout_apply(both, position.as_ptr(), 4, coordinates.as_mut_ptr(), 4)), None);
        assert_eq!(coordinates, position);
        let (code, _) = take_error(tw_layout_apply(rows, position.as_ptr(), 3, coordinates.as_mut_ptr(), 2))
            .expect("three of four");
        assert_eq!(code, TW_ERROR_ARGUMENT);
        for handle in [rows, columns, there, back, both, same] {
            tw_layout_destroy(handle);
        }
        tw_session_destroy(session);
    }
}

/// Checks the operations of the table by name: layouts as handles and as JSON, results of both kinds, and errors.
#[test]
fn operations_are_performed_by_name() {
    let session = plain();
    let rows = layout(session, BLOCKED, &[32, 32]).expect("a layout");
    let family = br#"{"b": {"params": "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])", "shape": [32, 32]}}"#;
    let run = |name: &str, layouts: &[*const tw_layout], inputs: &[u8]| {
        let (mut layout, mut json) = (null_mut(), null_mut());
        let texts = [name.as_bytes(), inputs].map(|text| CString::new(text).expect("no zero byte"));
        // SAFETY: all live as long as the call.
        let error = unsafe {
            tw_layout_operation(
                session,
                texts[0].as_ptr(),
                layouts.as_ptr(),
                layouts.len(),
                texts[1].as_ptr(),
                &raw mut layout,
                &raw mut json,
            )
        };
        take_error(error).map_or_else(
            || {
                // SAFETY: the call made both.
                let text = unsafe { CStr::from_ptr(tw_blob_data(json)) }.to_str().expect("UTF-8").to_owned();
                unsafe {
                    tw_blob_destroy(json);
                    tw_layout_destroy(layout);
                }
                Ok((!layout.is_null(), text))
            },
            |(_, message)| Err(message),
        )
    };
    /// The operation, its layouts and inputs; whether it gives a layout, or its error; and a part of the result.
    type Case<'a> = (&'a str, &'a [*const tw_layout], &'a [u8], Result<bool, &'a str>, &'a str);
    let cases: [Case<'_>; 7] = [
        ("flattenOuts", &[rows], b"{}", Ok(true), r#""out_dims":[["dim0",1024]]"#),
        ("equal", &[rows], family, Ok(false), r#"{"value":true}"#),
        ("transpose_outs", &[rows], br#"{"order": ["dim1", "dim0"]}"#, Ok(true), r#"[["dim1",32],["dim0",32]]"#),
        ("identity_1d", &[], br#"{"size": 4, "in_dim": "lane", "out_dim": "dim0"}"#, Ok(true), r#"[["dim0",4]]"#),
        ("flaten_outs", &[rows], b"{}", Err("did you mean `flatten_outs`?"), ""),
        ("invert", &[rows, rows], b"{}", Err("`invert` takes 1 layouts, not 2"), ""),
        ("equal", &[rows], br#"{"a": {}}"#, Err("`a` is given twice"), ""),
    ];
    for (name, layouts, inputs, expected, part) in cases {
        match (run(name, layouts, inputs), expected) {
            (Ok((gives_layout, text)), Ok(expected)) => {
                assert_eq!(gives_layout, expected, "{name}");
                assert!(text.contains(part), "{name}: {text}");
            }
            (Err(message), Err(expected)) => assert!(message.contains(expected), "{name}: {message}"),
            (found, expected) => panic!("{name}: {found:?}, expected {expected:?}"),
        }
    }
    let mut names = null_mut();
    // SAFETY: handles that live as long as the calls.
    unsafe {
        assert_eq!(take_error(tw_layout_operations(&raw mut names)), None);
        assert_eq!(tw_names_count(names), tilewright::operations::LAYOUT_OPERATIONS.len());
        tw_names_destroy(names);
        tw_layout_destroy(rows);
        tw_session_destroy(session);
    }
}

fn answer(session: *const tw_session) -> (String, [u64; 3]) {
    let (rows, columns) = (layout(session, BLOCKED, &[32, 32]), layout(session, COLUMNS, &[32, 32]));
    let (rows, columns) = (rows.expect("a layout"), columns.expect("a layout"));
    let (mut blob, mut plan) = (null_mut(), null_mut());
    // SAFETY: handles that live as long as the calls; zero is a value of every field.
    unsafe {
        assert_eq!(take_error(tw_layout_write(session, rows, c"cute".as_ptr(), &raw mut blob)), None);
        let text = CStr::from_ptr(tw_blob_data(blob)).to_str().expect("UTF-8").to_owned();
        let mut stats: tw_plan_stats = std::mem::zeroed();
        stats.struct_size = size_of::<tw_plan_stats>();
        let mut figures: tw_figures = std::mem::zeroed();
        figures.struct_size = size_of::<tw_figures>();
        assert_eq!(take_error(tw_plan_conversion(session, c"a100".as_ptr(), rows, columns, 32, &raw mut plan)), None);
        assert_eq!(take_error(tw_plan_read_stats(plan, &raw mut stats)), None);
        assert_eq!(take_error(tw_plan_figures(plan, &raw mut figures)), None);
        assert_eq!((figures.exchanges, figures.slots), (stats.shuffles, stats.price));
        assert_eq!(figures.wavefronts_loaded, stats.wavefronts_loaded);
        tw_blob_destroy(blob);
        tw_plan_destroy(plan);
        tw_layout_destroy(rows);
        tw_layout_destroy(columns);
        (text, [stats.wavefronts_stored, stats.wavefronts_loaded, stats.shared_bytes])
    }
}

#[test]
fn many_threads_use_one_session_and_many_sessions() {
    let shared = plain() as usize;
    let expected = answer(shared as *const tw_session);
    // The expected layout is computed by hand: lanes go along a row by four columns, 32 elements each, then down with
    // the warps; registers go along a row, then 16 rows down.
    assert_eq!(expected.0, "((8,16),(4,2)):((128,1),(32,16))");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                let own = (thread % 2 == 0).then(plain);
                for _ in 0..20 {
                    assert_eq!(&answer(own.unwrap_or(shared as *mut tw_session)), expected);
                }
                // SAFETY: null, or a handle that is not used any more.
                unsafe { tw_session_destroy(own.unwrap_or(null_mut())) };
            });
        }
    });
    // SAFETY: a handle that is not used any more.
    unsafe { tw_session_destroy(shared as *mut tw_session) };
}

extern "C" fn hear(context: *mut c_void, diagnostic: *const tw_diagnostic) {
    // SAFETY: the context belongs to the test; the diagnostic lives as long as the call.
    let (heard, received) = unsafe { (&*context.cast::<Mutex<Vec<String>>>(), &*diagnostic) };
    assert!(received.struct_size >= size_of::<tw_diagnostic>());
    let message = unsafe { CStr::from_ptr(received.message) }.to_string_lossy().into_owned();
    // SAFETY: the text lives as long as the call.
    heard.lock().expect("the test's own").push(message);
}

#[test]
fn a_rejected_plugin_is_reported_to_its_session() {
    let folder = std::env::temp_dir().join(format!("tilewright-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("broken.plugin.toml"), "name = 5").expect("a manifest");
    let (one, other) = (Mutex::new(Vec::<String>::new()), Mutex::new(Vec::<String>::new()));
    let directory = CString::new(folder.to_str().expect("UTF-8")).expect("no zero");
    let options: &[(&CStr, &CStr)] = &[(c"discover", c"no"), (c"plugin-directory", &directory)];
    let quiet = session(&options[..1], Some(hear), (&raw const other).cast_mut().cast()).expect("a session");
    let listening = session(options, Some(hear), (&raw const one).cast_mut().cast()).expect("a session");
    let heard = one.lock().expect("the test's own").clone();
    assert!(heard.len() == 1 && heard[0].contains("broken.plugin.toml"), "{heard:?}");
    assert!(other.lock().expect("the test's own").is_empty());
    // SAFETY: handles that are not used any more.
    unsafe {
        tw_session_destroy(listening);
        tw_session_destroy(quiet);
    }
    std::fs::remove_dir_all(folder).expect("the test's folder");
}
