//! A plugin's library in this process: opening, checking its table, calling its slots.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};

use super::abi::{
    ABI_MAJOR, ABI_MINOR, BlobHandle, ENTRY_SYMBOL, ErrorHandle, Extension, PIECES, PieceTable, PluginTable,
    QueryFunction, REQUIRED_PIECE_TABLE_SIZE, REQUIRED_TABLE_SIZE, Slice, TargetHandle, TargetPieces,
};
use super::channel::{Call, Channel};
use super::devices::library::{OpenDevices, Slots as DeviceSlots, find};
use super::extensions::find_extension;
use super::failure::PluginFailure;
use super::load_error::LoadError;
use super::message::PluginInfo;
use super::open_target::OpenTarget;
use super::plugin_slots::{MOST_ITEMS, Slots, text};
use super::{image, listener, wire};

/// Makes the library see its own copies of what it links before the host's: a host that exports
/// another LLVM's symbols would interpose otherwise.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const DEEP_BIND: std::ffi::c_int = 8;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const DEEP_BIND: std::ffi::c_int = 0;

/// What plugins build when they are initialised (LLVM's target registry) is not made for several
/// threads at once, and plugins may share it.
static INITIALISATION: Mutex<()> = Mutex::new(());

/// A library that was opened; never closed, since what it started may outlive any handle.
pub(super) struct Library {
    file: PathBuf,
    slots: Arc<Slots>,
    target_pieces: Option<TargetPieces>,
    abi_minor: u32,
    targets: Mutex<HashMap<u64, Arc<OpenTarget>>>,
    /// The extension for devices, or why there is none.
    device_slots: Result<Arc<DeviceSlots>, PluginFailure>,
    devices: Mutex<HashMap<u64, Arc<OpenDevices>>>,
}

/// The slot of the extension `pieces`; `None` if the plugin does not have it, or breaks a rule with it.
fn pieces(first: *const Extension) -> Option<TargetPieces> {
    let extension = find_extension(first, PIECES, REQUIRED_PIECE_TABLE_SIZE).ok()??;
    // SAFETY: its size covers all fields that this version knows; an aligned extension is an aligned table.
    unsafe { extension.cast::<PieceTable>().read() }.target_pieces
}

/// The absolute path of a library that may be opened.
pub(super) fn checked_path(file: &Path) -> Result<PathBuf, LoadError> {
    let file = fs::canonicalize(file).map_err(|_| LoadError::NotFound { file: file.to_owned() })?;
    let not_a_library = |message: String| LoadError::NotALibrary { file: file.clone(), message };
    let metadata = fs::metadata(&file).map_err(|error| not_a_library(error.to_string()))?;
    if !metadata.is_file() {
        return Err(not_a_library("it is no file".to_owned()));
    }
    if super::manifest::world_writable(&metadata) {
        return Err(LoadError::WorldWritable { file });
    }
    Ok(file)
}

impl Library {
    /// Opens a library and checks its table.
    pub(super) fn open(file: &Path) -> Result<Self, LoadError> {
        let file = checked_path(file)?;
        image::check(&file).map_err(|message| LoadError::NotALibrary { file: file.clone(), message })?;
        let table = {
            let _alone = INITIALISATION.lock().unwrap_or_else(PoisonError::into_inner);
            Self::table(&file)?
        };
        let broken = |message| LoadError::Broken { file: file.clone(), message };
        let slots = Arc::new(Slots::of(&table).map_err(broken)?);
        // Has an effect from minor version 1 on.
        #[allow(clippy::unnecessary_min_or_max)]
        let abi_minor = table.abi_minor.min(ABI_MINOR);
        let device_slots = find(table.extensions);
        let target_pieces = pieces(table.extensions);
        Ok(Self {
            slots,
            target_pieces,
            abi_minor,
            targets: Mutex::default(),
            device_slots,
            devices: Mutex::default(),
            file,
        })
    }

    /// Opens the library and asks for its table.
    fn table(file: &Path) -> Result<PluginTable, LoadError> {
        let flags = RTLD_NOW | RTLD_LOCAL | DEEP_BIND;
        // SAFETY: opening runs the library's initialisers, which the user asked for by naming or
        // installing it; the file was checked as far as it can be.
        let library = unsafe { unix::Library::open(Some(file), flags) }
            .map_err(|error| LoadError::NotALibrary { file: file.to_owned(), message: error.to_string() })?;
        // SAFETY: the symbol's type is part of the interface.
        let query = unsafe { library.get::<QueryFunction>(ENTRY_SYMBOL) }.map(|symbol| *symbol);
        // Never closed, whatever comes: initialisers may have started what needs the code.
        std::mem::forget(library);
        let query = query.map_err(|_| LoadError::NoEntry { file: file.to_owned() })?;
        // SAFETY: called as the interface says; the host's table is a static.
        let table = unsafe { query(ABI_MAJOR, ABI_MINOR, &raw const listener::HOST_TABLE) };
        Self::checked_table(file, table)
    }

    /// Copies the table as far as it can be believed.
    fn checked_table(file: &Path, table: *const PluginTable) -> Result<PluginTable, LoadError> {
        let broken = |message: String| LoadError::Broken { file: file.to_owned(), message };
        if table.is_null() {
            return Err(LoadError::Version { file: file.to_owned(), found: None });
        }
        if !table.is_aligned() {
            return Err(broken("its table is not aligned".to_owned()));
        }
        // SAFETY: every table, of any version, begins with its size.
        let size = unsafe { (&raw const (*table).struct_size).read() };
        let covers_version = size >= std::mem::offset_of!(PluginTable, abi_minor) + size_of::<u32>();
        // SAFETY: `size` covers the field.
        let major = covers_version.then(|| unsafe { (&raw const (*table).abi_major).read() });
        match major {
            Some(major) if major != ABI_MAJOR => Err(LoadError::Version { file: file.to_owned(), found: Some(major) }),
            Some(_) if size >= REQUIRED_TABLE_SIZE => {
                // SAFETY: `size` covers all fields that this version knows.
                Ok(unsafe { table.read() })
            }
            _ => Err(broken(format!("its table is cut off: {size} bytes, where {REQUIRED_TABLE_SIZE} are needed"))),
        }
    }

    /// What the plugin says of itself.
    pub(super) fn info(&self) -> Result<PluginInfo, PluginFailure> {
        // SAFETY: slots of a checked table, called as the interface says; the texts live as long
        // as the image, and are copied at once.
        let (name, version) =
            unsafe { (text("its name", (self.slots.name)())?, text("its version", (self.slots.version)())?) };
        let mut architectures = Vec::new();
        for index in 0..MOST_ITEMS {
            // SAFETY: as above.
            let slice = unsafe { (self.slots.architecture)(index) };
            if slice.length == 0 {
                break;
            }
            architectures.push(text("an architecture", slice)?);
        }
        if architectures.len() == MOST_ITEMS as usize {
            return Err(PluginFailure::internal("it lists architectures without end"));
        }
        if name.is_empty() || architectures.is_empty() {
            return Err(PluginFailure::internal(
                "it names no architectures, or not itself: no targets are registered in it",
            ));
        }
        Ok(PluginInfo { name, version, abi_minor: self.abi_minor, architectures })
    }

    fn create(&self, target: u64, description: &[u8]) -> Result<Vec<u8>, PluginFailure> {
        let mut handle = std::ptr::null_mut();
        let error = {
            let _alone = INITIALISATION.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: a slot of a checked table, called as the interface says.
            unsafe { (self.slots.target_create)(Slice::of(description), &raw mut handle) }
        };
        self.slots.outcome(error)?;
        if handle.is_null() {
            return Err(PluginFailure::internal("it gave neither a target nor an error"));
        }
        let opened = OpenTarget { slots: Arc::clone(&self.slots), handle };
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).insert(target, Arc::new(opened));
        Ok(Vec::new())
    }

    fn target(&self, target: u64) -> Result<Arc<OpenTarget>, PluginFailure> {
        let targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        targets.get(&target).cloned().ok_or_else(|| PluginFailure::internal(format!("there is no target {target}")))
    }

    /// Calls a slot of a target that answers a blob.
    fn blob(
        &self,
        target: u64,
        slot: impl FnOnce(&Slots, *const TargetHandle, *mut *mut BlobHandle) -> *mut ErrorHandle,
    ) -> Result<Vec<u8>, PluginFailure> {
        let target = self.target(target)?;
        self.slots.blob(|out| slot(&self.slots, target.handle, out))
    }

    fn open_devices(&self, target: u64, devices: u64) -> Result<Vec<u8>, PluginFailure> {
        let slots = self.device_slots.clone()?;
        let (opened, names) = OpenDevices::open(slots, self.target(target)?)?;
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).insert(devices, Arc::new(opened));
        Ok(names)
    }

    fn devices(&self, devices: u64) -> Result<Arc<OpenDevices>, PluginFailure> {
        let all = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&devices).cloned().ok_or_else(|| PluginFailure::internal(format!("there are no devices {devices}")))
    }
}

impl Channel for Library {
    fn file(&self) -> &Path {
        &self.file
    }

    fn call(&self, call: Call) -> Result<Vec<u8>, PluginFailure> {
        // SAFETY of the slots' calls below: slots of a checked table on live handles, with slices
        // that outlive the call.
        match &call {
            Call::Describe => wire::write(&self.info()?).map_err(|error| PluginFailure::internal(error.to_string())),
            Call::Create { target, description } => self.create(*target, description),
            Call::Destroy { target } => {
                self.targets.lock().unwrap_or_else(PoisonError::into_inner).remove(target);
                Ok(Vec::new())
            }
            Call::Info { target, request } => self.blob(*target, |slots, handle, out| match self.target_pieces {
                Some(pieces) => unsafe { pieces(handle, Slice::of(request), out) },
                None => unsafe { (slots.target_info)(handle, out) },
            }),
            Call::Resolve { target, request } => self
                .blob(*target, |slots, handle, out| unsafe { (slots.resolve_family)(handle, Slice::of(request), out) }),
            Call::Compile { target, module, options } => self.blob(*target, |slots, handle, out| unsafe {
                (slots.compile)(handle, Slice::of(module), Slice::of(options), out)
            }),
            Call::OpenDevices { target, devices } => self.open_devices(*target, *devices),
            Call::CloseDevices { devices } => {
                self.devices.lock().unwrap_or_else(PoisonError::into_inner).remove(devices);
                Ok(Vec::new())
            }
            Call::Device { devices, device, call } => self.devices(*devices)?.call(*device, call),
        }
    }
}
