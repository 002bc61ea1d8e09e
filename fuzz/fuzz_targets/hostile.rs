//! libFuzzer on one of the targets of `targets/mod.rs`: the one that the variable TARGET names.

#![no_main]

#[path = "../targets/mod.rs"]
mod targets;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use targets::{Folder, Target};

static CHOSEN: OnceLock<(&'static Target, Folder)> = OnceLock::new();

fn chosen() -> &'static (&'static Target, Folder) {
    CHOSEN.get_or_init(|| {
        let name = std::env::var("TARGET").unwrap_or_default();
        let target = targets::find(&name).unwrap_or_else(|| {
            let names: Vec<_> = targets::TARGETS.iter().map(|target| target.name).collect();
            panic!("TARGET={name:?}: give one of {}", names.join(", "))
        });
        // libFuzzer's hook ends the process at every panic, also at those inside the Parquet library
        // that the reader turns into errors. One that leaves the target still ends it.
        std::panic::set_hook(Box::new(|_| {}));
        (target, Folder::new())
    })
}

fuzz_target!(init: { chosen(); }, |bytes: &[u8]| {
    let (target, folder) = chosen();
    let (caught, peak) = targets::meter::peak(|| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (target.run)(folder, bytes)))
    });
    if let Err(panic) = caught {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        eprintln!("{}: panicked: {}", target.name, text.unwrap_or_default());
        std::process::abort();
    }
    let most = target.limit.of(bytes);
    if peak > most {
        eprintln!("{}: {peak} bytes of memory for a file of {}; the limit is {most}", target.name, bytes.len());
        std::process::abort();
    }
});
