//! The command that runs a pack (a folder of compiled test cases) on this machine's GPU.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tilewright_plugin::{Device, DeviceError};

use crate::{Pack, PackIndex, PackedCase, PlayedPack, TimingOptions, run_packed_case};

/// Exit status if a case failed; equal to the exit status of the full suite for a failed case.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const HARNESS: u8 = 3;

/// Arguments of the command that runs a pack.
#[derive(Debug, Clone, Args)]
pub struct PlayCommand {
    /// The folder that `conformance pack` wrote.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only cases whose names begin with one of these prefixes; empty selects all cases.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Substring of the device's name; the first device that matches is used.
    #[arg(long, value_name = "NAME", default_value = "")]
    device: String,
    /// List the devices that run the pack's target, and run nothing.
    #[arg(long)]
    list_devices: bool,
    /// Number of timed launches of each kernel; 0 turns timing off.
    #[arg(long, value_name = "N", default_value_t = TimingOptions::default().repetitions)]
    repetitions: u32,
    /// Number of launches of each kernel before the first timed one.
    #[arg(long, value_name = "N", default_value_t = TimingOptions::default().warm_up)]
    warm_up: u32,
    /// Print the results as one JSON object.
    #[arg(long)]
    json: bool,
    /// Also write the results to this file, as the JSON object that `--json` prints.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// Opens the devices of a pack's target; called once more after a launch that lost the device.
pub type OpenDevices = Box<dyn Fn() -> Result<Vec<Box<dyn Device>>, DeviceError>>;

/// The reason for an early exit: exit status and message.
struct Stop(u8, String);

impl PlayCommand {
    /// Runs the cases of the pack, reports the results, and returns the exit status. `find` returns the function that
    /// opens the devices of the pack's target.
    pub fn run(&self, find: impl Fn(&PackIndex) -> Result<OpenDevices, String>) -> u8 {
        match self.obey(find) {
            Ok(right) => u8::from(!right) * FAILED,
            Err(Stop(status, message)) => {
                eprintln!("error: {message}");
                status
            }
        }
    }

    fn obey(&self, find: impl Fn(&PackIndex) -> Result<OpenDevices, String>) -> Result<bool, Stop> {
        let pack = Pack::open(&self.folder).map_err(|error| Stop(USAGE, error.to_string()))?;
        let open = find(&pack.index).map_err(|message| Stop(HARNESS, message))?;
        if self.list_devices {
            for device in devices(&open)? {
                println!("{}", device.name());
            }
            return Ok(true);
        }
        let chosen: Vec<_> = pack.index.cases.iter().filter(|case| self.is_chosen(case)).collect();
        if chosen.is_empty() {
            return Err(Stop(USAGE, "no case of the pack has one of these names".to_owned()));
        }
        let mut device = self.device(&open, &pack.index)?;
        let mut played = PlayedPack::new(&pack.index, device.name());
        let timing = TimingOptions { warm_up: self.warm_up, repetitions: self.repetitions };
        for case in chosen {
            let (result, lost) = run_packed_case(&pack, case, &mut *device, timing);
            played.cases.push(result);
            if lost {
                device = self.device(&open, &pack.index)?;
            }
        }
        self.write_report(&played)?;
        Ok(played.has_no_failures())
    }

    fn is_chosen(&self, case: &PackedCase) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| case.name.starts_with(name.as_str()))
    }

    fn device(&self, open: &OpenDevices, index: &PackIndex) -> Result<Box<dyn Device>, Stop> {
        let expected = self.device.to_lowercase();
        let mut others = Vec::new();
        for device in devices(open)? {
            let name = device.name();
            if name.to_lowercase().contains(&expected) {
                return Ok(device);
            }
            others.push(format!("`{name}`"));
        }
        let there =
            if others.is_empty() { "there is none".to_owned() } else { format!("there are {}", others.join(", ")) };
        let gpu_model = &index.target.gpu_model;
        Err(Stop(HARNESS, format!("no device for {gpu_model} has `{}` in its name; {there}", self.device)))
    }

    fn write_report(&self, played: &PlayedPack) -> Result<(), Stop> {
        let json = || serde_json::to_string_pretty(played).map_err(|error| Stop(HARNESS, error.to_string()));
        if let Some(file) = &self.results {
            let cannot = |error| Stop(HARNESS, format!("cannot write {}: {error}", file.display()));
            std::fs::write(file, json()? + "\n").map_err(cannot)?;
        }
        let text = if self.json { json()? } else { played.to_string() };
        let written = writeln!(std::io::stdout(), "{}", text.trim_end());
        written.map_err(|error| Stop(HARNESS, format!("cannot write the results: {error}")))
    }
}

fn devices(open: &OpenDevices) -> Result<Vec<Box<dyn Device>>, Stop> {
    open().map_err(|error| {
        let what = match error {
            DeviceError::NoRuntime(why) => format!("no device: {why}"),
            error => error.to_string(),
        };
        Stop(HARNESS, what)
    })
}
