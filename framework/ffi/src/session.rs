//! Sessions: they have targets, plugins and diagnostics.

use std::ffi::{OsString, c_char, c_void};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tilewright::Session;
use tilewright_plugin::PluginSearchPath;
use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::Dialects;

use crate::blob::tw_blob;
use crate::boundary::{borrowed, fill, guarded, out_pointer, read_text};
use crate::diagnostic::{Diagnostics, TW_SEVERITY_INFO, tw_diagnostic_callback, with_diagnostics};
use crate::error::{Failure, tw_error};
use crate::handle::{destroy, handle};
use crate::names::tw_names;
use crate::option::{number, read_options, tw_option, unknown, wrong};

/// A session: targets, and plugins that are opened on demand.
pub struct tw_session {
    pub(crate) session: Session,
    pub(crate) dialects: Dialects,
    pub(crate) imports: ForeignOpReplacements,
    diagnostics: Option<Arc<Diagnostics>>,
}

impl tw_session {
    /// Runs `work`; messages of plugins go to the diagnostics callback of this session.
    pub(crate) fn heard<Answer>(&self, work: impl FnOnce() -> Answer) -> Answer {
        with_diagnostics(self.diagnostics.as_ref(), work)
    }
}

/// The options of creating a session.
struct Requested {
    discovery: PluginSearchPath,
    targets: Vec<PathBuf>,
    isolate: Option<PathBuf>,
    patience: Duration,
}

const KEYS: &[&str] = &["plugin", "plugin-directory", "discover", "targets", "isolate", "timeout"];

impl Requested {
    fn read(options: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut requested = Self {
            discovery: PluginSearchPath::default(),
            targets: Vec::new(),
            isolate: None,
            patience: Duration::from_secs(60),
        };
        let mut discover = true;
        for &(key, value) in options {
            match (key, value) {
                ("plugin", file) => requested.discovery.files.push(file.into()),
                ("plugin-directory", directory) => requested.discovery.directories.push(directory.into()),
                ("discover", "yes") => discover = true,
                ("discover", "no") => discover = false,
                ("discover", _) => return Err(wrong(key, value, "`yes` or `no`")),
                ("targets", directory) => requested.targets.push(directory.into()),
                ("isolate", command) => requested.isolate = Some(command.into()),
                ("timeout", seconds) => requested.patience = Duration::from_secs(number(key, seconds)?),
                _ => return Err(unknown(key, KEYS)),
            }
        }
        if discover {
            requested.discovery.directories.extend(library_plugin_dirs());
            requested.discovery.directories.extend(PluginSearchPath::default_search().directories);
        }
        Ok(requested)
    }

    fn session(self, diagnostics: Option<&Arc<Diagnostics>>) -> Result<Session, Failure> {
        let builder =
            Session::builder(tilewright_targets::read_default_catalogue()?).with_target_directories(&self.targets)?;
        let builder = match self.isolate {
            Some(command) => builder.with_isolated_plugins(command, self.patience),
            None => builder,
        };
        let session = builder.with_search_path(self.discovery).open()?;
        if let Some(diagnostics) = diagnostics {
            for refusal in session.registry().rejected_plugins() {
                diagnostics.say(TW_SEVERITY_INFO, &format!("a plugin was rejected: {}", refusal.reason));
            }
        }
        Ok(session)
    }
}

/// Returns the existing folders that are searched for plugins because of this library's location: the subfolders
/// `tilewright` (of an installation) and `deps` (of a build by cargo) of the library's folder, then that folder.
fn library_plugin_dirs() -> Vec<PathBuf> {
    let Some(current_exe) = own_file() else { return Vec::new() };
    let folder = current_exe.parent().unwrap_or(Path::new("/"));
    let candidates = [folder.join("tilewright"), folder.join("deps"), folder.to_owned()];
    candidates.into_iter().filter(|path| path.is_dir()).collect()
}

/// Returns the path of the library or program file that this code was loaded from.
fn own_file() -> Option<PathBuf> {
    // SAFETY: a struct of pointers, for which zero is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let current_exe = tw_session_create as *const c_void;
    // SAFETY: `current_exe` is the address of a function in this library, and `info` may be written.
    let found = unsafe { libc::dladdr(current_exe, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dli_fname` is not null; the loader keeps the file name, a C string, as long as the library is loaded.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    std::fs::canonicalize(OsString::from_vec(name.to_bytes().to_vec())).ok()
}

/// Creates a session. `options` may be null if `count` is zero. Option keys: `plugin` (a library or manifest,
/// repeatable), `plugin-directory` (likewise), `discover` (`yes` or `no`: whether plugins are searched in the folder of
/// this library, in its folder `tilewright`, along `TILEWRIGHT_PLUGIN_PATH`, and in the folder of the program; default
/// `yes`), `targets` (a directory of target files, repeatable), `isolate` (the path of the command `tilewright`, which
/// then serves each plugin in a child process), `timeout` (time limit of such a process for one answer in seconds;
/// default 60). `callback` may be null; it receives the diagnostics of calls of this session, with `context`. Opens
/// only the plugins that `plugin` names; others are opened when first used. Available since 1.0.
///
/// # Safety
/// `options` points to `count` options; `out` may be written; `callback` may be called with `context` from every thread
/// that uses the created `tw_session`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_create(
    options: *const tw_option,
    count: usize,
    callback: tw_diagnostic_callback,
    context: *mut c_void,
    out: *mut *mut tw_session,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `out` may be written.
        let out = unsafe { out_pointer(out) }?;
        // SAFETY: the caller promises that `options` points to `count` options.
        let requested = Requested::read(&unsafe { read_options(options, count) }?)?;
        let diagnostics = Diagnostics::new(callback, context);
        let session = with_diagnostics(diagnostics.as_ref(), || requested.session(diagnostics.as_ref()))?;
        let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
        *out = handle(tw_session { session, dialects, imports, diagnostics });
        Ok(())
    })
}

/// Frees a session. Plugins stay loaded. Available since 1.0.
///
/// # Safety
/// `session` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_destroy(session: *mut tw_session) {
    // SAFETY: the caller promises that `session` is null or a handle that nothing else uses.
    unsafe { destroy(session) }
}

/// Returns the names of all known targets, including those without a plugin. Available since 1.0.
///
/// # Safety
/// `session` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_targets(session: *const tw_session, out: *mut *mut tw_names) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        *out = handle(tw_names::of(session.session.catalogue().iter().map(|target| target.name.clone())));
        Ok(())
    })
}

/// Returns the names of the discovered plugins, in search order. Available since 1.0.
///
/// # Safety
/// `session` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_plugins(session: *const tw_session, out: *mut *mut tw_names) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        *out = handle(tw_names::of(session.session.registry().plugins().iter().map(|plugin| plugin.name.clone())));
        Ok(())
    })
}

/// Properties of a target that a host needs to build layouts for it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_target {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// Default number of lanes of a warp.
    pub lanes: u32,
    /// 1 if a plugin serves the target, so that code can be generated for it; else 0.
    pub served: u32,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u64,
}

/// Returns the properties of a target. Available since 1.0.
///
/// # Safety
/// `session` is a handle, `target` a text; `out` points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_target(
    session: *const tw_session,
    target: *const c_char,
    out: *mut tw_target,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle.
        let session = &unsafe { borrowed("session", session) }?.session;
        // SAFETY: the caller promises that `target` is a C string.
        let target = session.catalogue().get(unsafe { read_text("target", target) }?)?;
        let known = tw_target {
            struct_size: size_of::<tw_target>(),
            lanes: target.lanes.default,
            served: u32::from(session.registry().find_server(&target.architecture).is_some()),
            shared_bytes: u64::from(target.shared.bytes),
        };
        // SAFETY: the caller promises that `out` points to a struct that begins with its size.
        unsafe { fill("out", &known, out) }
    })
}

/// Returns the description of a target as a JSON object: `target`, `product`, `architecture`, `lanes` (the possible
/// numbers of lanes of a warp), `shared_bytes`, `plugin` (the plugin that serves it, or null). Available since 1.0.
///
/// # Safety
/// `session` is a handle, `target` a text; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_session_write_target(
    session: *const tw_session,
    target: *const c_char,
    out: *mut *mut tw_blob,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `target` is a C string.
        let target = session.session.catalogue().get(unsafe { read_text("target", target) }?)?;
        let plugin = session.session.registry().find_server(&target.architecture).map(|plugin| plugin.name.clone());
        let target_json = json!({
            "target": target.name, "product": target.gpu_model, "architecture": target.architecture,
            "lanes": target.lanes.choices, "shared_bytes": target.shared.bytes, "plugin": plugin,
        });
        *out = handle(tw_blob::of(target_json.to_string()));
        Ok(())
    })
}
