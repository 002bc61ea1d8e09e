//! `lehr man`: manual pages, made of the same definition as help.

use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::End;
use crate::args::{Cli, ManArgs};
use crate::text::{self, counted};

/// Prints the page of the program, or writes those of all commands.
pub fn run(args: &ManArgs) -> anyhow::Result<End> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.folder else {
        text::print_as_it_is(&page(&command)?)?;
        return Ok(End::Done);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let pages = write(&command, folder)?;
    text::print(&format!("{}: {}\n", folder.display(), counted(pages, "page")))?;
    Ok(End::Done)
}

/// Writes the pages of a command and of those below it; how many these are.
fn write(command: &Command, folder: &Path) -> anyhow::Result<u64> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    lehr::write::whole(&folder.join(format!("{name}.1")), page(command)?.as_bytes())?;
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    below.map(|command| write(command, folder)).try_fold(1, |all, pages| Ok(all + pages?))
}

fn page(command: &Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
