//! From what there is to show to one file of HTML: templates, style, scripts, and the policy that keeps it to itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lehr::{Error, Result};
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::chart::{self, Chart};
use crate::head::Head;
use crate::{Part, several::Several};

/// The templates; those that end in `.html` escape what they print.
const TEMPLATES: &[(&str, &str)] = &[
    ("page.html", include_str!("../templates/page.html")),
    ("meta.html", include_str!("../templates/meta.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("head.html", include_str!("../templates/head.html")),
    ("foot.html", include_str!("../templates/foot.html")),
    ("topics.html", include_str!("../templates/topics.html")),
    ("clusters.html", include_str!("../templates/clusters.html")),
    ("ratings.html", include_str!("../templates/ratings.html")),
    ("several.html", include_str!("../templates/several.html")),
    ("card.html", include_str!("../templates/card.html")),
];

const STYLE: &str = include_str!("../templates/page.css");

/// What every page's script starts with, and what the models add.
const SCRIPT: &str = include_str!("../templates/page.js");
const OF_TOPICS: &str = include_str!("../templates/topics.js");
const OF_CLUSTERS: &str = include_str!("../templates/clusters.js");
const OF_RATINGS: &str = include_str!("../templates/ratings.js");

/// The page of one run.
pub fn of_one(head: Head, mut part: Part) -> Result<String> {
    let own = part.take_data();
    let script = match &part {
        Part::Topics(_) => OF_TOPICS,
        Part::Clusters(_) => OF_CLUSTERS,
        Part::Ratings(_) => OF_RATINGS,
    };
    let charts: Vec<&Chart> = head.charts.iter().chain(part.charts()).collect();
    let mut numbers = chart::numbers(charts);
    // The script makes these of what it draws: very many would be there twice.
    numbers.remove("by-group");
    let data = serde_json::json!({ "charts": numbers, "model": own });
    let title = match head.name.as_str() {
        "" => head.title.clone(),
        name => format!("{name}: {}", head.title),
    };
    filled("page.html", &title, &data, script, context! { head, part })
}

/// The page of several runs.
pub fn of_several(several: &Several) -> Result<String> {
    let data = serde_json::json!({ "charts": chart::numbers(several.charts()) });
    filled(
        "several.html",
        &several.title,
        &data,
        "",
        context! { several, version => env!("CARGO_PKG_VERSION") },
    )
}

/// A fitted model in a few lines.
pub fn card(head: &Head) -> Result<String> {
    rendered("card.html", context! { head })
}

fn filled(
    template: &str,
    title: &str,
    data: &serde_json::Value,
    script: &str,
    own: minijinja::Value,
) -> Result<String> {
    // In one element, whose hash the policy names: nothing else that may be in the page is run.
    let script = format!("\n{SCRIPT}{script}");
    let style = format!("\n{STYLE}");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let shared = context! { title, policy, style, script, data => in_script(data)? };
    rendered(template, context! { ..own, ..shared })
}

fn rendered(template: &str, values: minijinja::Value) -> Result<String> {
    let wrong = |error: minijinja::Error| {
        Error::data(format!("the page cannot be made, which is a bug: {error:#}"))
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).map_err(wrong)?;
    }
    let page = environment.get_template(template).map_err(wrong)?;
    page.render(values).map_err(wrong)
}

/// Data as JSON that can stand in a script element, whose end no text in it can be.
fn in_script(data: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(data);
    let text = text.map_err(|error| Error::data(format!("the numbers become no JSON: {error}")))?;
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}

/// The hash of an element's text as a policy has it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_specification() {
        // The example of the specification of content security policies.
        assert_eq!(hash("doSomething();"), "sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=");
    }

    #[test]
    fn no_text_ends_the_script_that_holds_it() {
        let text = in_script(&["</script><b>", "\u{2028}"]).unwrap();
        assert_eq!(text, "[\"\\u003c/script>\\u003cb>\",\"\\u2028\"]");
        let back: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, ["</script><b>", "\u{2028}"]);
    }
}
