//! The program `lehr`; all of it is in the library of this crate, which says why.

use std::process::ExitCode;

fn main() -> ExitCode {
    lehr_cli::main()
}
