//! The tables of settings have what the structures have, and `docs/reference/settings.md` has what the tables have.
//! `LEHR_DOCS=write` writes the page instead of comparing it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lehr::FitConfig;
use lehr::data::{Duplicates, Ids, Ratings};
use lehr::models::lda::{SeedWords, WordEta};
use lehr::models::mixture::{Defaults, StartUnits};
use lehr::models::{
    Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, ReadOptions, Shipped, TABLES,
};
use lehr::settings::{FIT, Kind, Setting, Tables};
use serde::Serialize;

fn fields(value: &impl Serialize) -> BTreeSet<String> {
    serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
}

fn names(settings: &[Setting]) -> BTreeSet<String> {
    let own = settings.iter().filter(|setting| setting.name != "preset");
    own.map(|setting| setting.name.to_string()).collect()
}

fn tables(model: &str) -> &'static Tables {
    TABLES.iter().find(|tables| tables.model == model).unwrap()
}

/// Settings in which every field is written out, also those that are left out if they are as usual. The compiler asks
/// for them when a model is added to the list.
trait Full: Shipped {
    fn full() -> Self::Params;
}

impl Full for Mixture {
    fn full() -> MixtureParams {
        MixtureParams {
            start_units: StartUnits::Own,
            concentration: Some(1.0),
            mean: Some(vec![0.0]),
            mean_precision: Some(1.0),
            degrees_of_freedom: Some(1.0),
            scatter: Some(vec![1.0]),
            defaults: Defaults::ScikitLearn,
            ridge: 1.0,
            ..MixtureParams::gmm(1)
        }
    }
}

impl Full for Lda {
    fn full() -> LdaParams {
        LdaParams {
            seed_topics: Some("topics.csv".into()),
            seed_words: Some(SeedWords::File("seeds.txt".into())),
            word_eta: Some(WordEta::File("eta.txt".into())),
            seed_strength: Some(1.0),
            ..LdaParams::new(1)
        }
    }
}

impl Full for Pmf {
    fn full() -> PmfParams {
        PmfParams { implicit: true, confidence: Some(1.0), ..PmfParams::new(1) }
    }
}

#[test]
fn every_field_has_a_row_and_every_row_a_field() {
    macro_rules! check {
        ($($module:ident $Model:ident),*) => {$(
            for name in <lehr::models::$Model as Shipped>::NAMES {
                let tables = tables(name);
                assert_eq!(names(tables.own), fields(&<lehr::models::$Model as Full>::full()));
                let options = ReadOptions::<lehr::models::$Model>::default();
                assert_eq!(names(tables.data), fields(&options));
            }
        )*};
    }
    lehr::for_each_model!(check);
}

#[test]
fn defaults_that_belong_to_a_model_hold_in_rust() {
    let ids = || {
        let mut ids = Ids::default();
        for id in 0..4 {
            ids.insert_integer(id);
        }
        ids
    };
    let (user, item): (Vec<u32>, Vec<u32>) =
        (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).unzip();
    let rating = (0..16).map(|n| (n % 5) as f32).collect();
    let ratings = Ratings::new(ids(), ids(), user, item, rating, Duplicates::Refuse).unwrap();
    let pmf = Pmf::new(PmfParams::new(1), &ratings).unwrap();
    let noisy = FitConfig { effective: "2".parse().unwrap(), ..FitConfig::default() };
    let plan = noisy.check_for(&pmf, &ratings).unwrap();
    assert_eq!((plan.step_size.to_string().as_str(), plan.eval_every), ("0.85,1", 5));
    let said = FitConfig { step_size: Some("0.5".parse().unwrap()), eval_every: Some(1), ..noisy };
    let plan = said.check_for(&pmf, &ratings).unwrap();
    assert_eq!((plan.step_size.to_string().as_str(), plan.eval_every), ("0.5", 1));
    let plain = FitConfig::default().check_for(&pmf, &ratings).unwrap();
    assert_eq!((plain.step_size.to_string().as_str(), plain.eval_every), ("1", 1));
}

#[test]
fn the_page_of_settings_is_that_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/settings.md");
    let page = page();
    if std::env::var("LEHR_DOCS").is_ok_and(|text| text == "write") {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "write it again with LEHR_DOCS=write cargo test -p lehr --test settings"
    );
}

fn page() -> String {
    let mut page = "# Settings\n\n\
        Made of the tables in the code; a test compares them. A configuration file (`--config run.toml`) has the \
        sections\n`[fit]`, `[model]` and `[data]`; flags go on top. A flag without a name in Python, or the other \
        way round, is a dash.\n"
        .to_string();
    page += "\n## [fit], of every model\n\n";
    page += &listed(FIT, described);
    macro_rules! names_of_each {
        ($($module:ident $Model:ident),*) => {
            [$(<lehr::models::$Model as Shipped>::NAMES),*]
        };
    }
    for names in lehr::for_each_model!(names_of_each) {
        let (title, tables) = (names.join(" and "), tables(names[0]));
        page += &format!("\n## {title}\n\n`[model]`\n\n{}", listed(tables.own, described));
        page += &format!("\n`[data]`\n\n{}", listed(tables.data, described));
        let fit = tables.of_fit();
        let usual = |s: &&Setting| FIT.iter().any(|f| f.name == s.name && same(f, s));
        let others: Vec<Setting> = fit.iter().filter(|s| !usual(s)).copied().collect();
        if !others.is_empty() {
            page += &format!(
                "\nWhat is different about `[fit]`\n\n{}",
                listed(&others, |setting| {
                    let no = "of no use here".to_string();
                    if setting.hidden { no } else { described(setting) }
                })
            );
        }
    }
    page
}

fn same(a: &Setting, b: &Setting) -> bool {
    (a.help, a.default, a.python, a.hidden) == (b.help, b.default, b.python, b.hidden)
}

fn listed(settings: &[Setting], told: impl Fn(&Setting) -> String) -> String {
    let mut table =
        "| setting | flag | Python | values | what |\n|---|---|---|---|---|\n".to_string();
    let dash = || "-".to_string();
    for setting in settings {
        let flag = setting.long().map_or_else(dash, |long| format!("`--{long}`"));
        let python = setting.python.map_or_else(dash, |name| format!("`{name}`"));
        let cells =
            [format!("`{}`", setting.name), flag, python, values(setting.kind), told(setting)];
        table += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    table
}

fn described(setting: &Setting) -> String {
    setting.description()
}

fn values(kind: Kind) -> String {
    match kind {
        Kind::Whole | Kind::Seed => "whole number".into(),
        Kind::Number => "number".into(),
        Kind::Numbers => "numbers".into(),
        Kind::Seconds => "seconds".into(),
        Kind::Toggle(usual) => format!("true or false (usually {usual})"),
        Kind::Choice(names) => names.join(", "),
        Kind::Schedule(_) => "number or string".into(),
        Kind::Text => "string".into(),
        Kind::Texts => "strings".into(),
        Kind::Path => "path".into(),
    }
}
