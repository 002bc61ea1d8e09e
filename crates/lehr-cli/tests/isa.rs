//! `LEHR_ISA` lowers the instruction set, and nothing but a name of one that the CPU has will do.

mod common;

use common::Place;

/// The instruction set that a fit has noted, under this value of the variable.
fn noted(place: &Place, value: Option<&str>, run: &str) -> Result<String, String> {
    let mut command = place.command(&format!("fit gmm points.csv -k 2 --steps 3 --quiet -o {run}"));
    command.env_remove("LEHR_ISA").envs(value.map(|value| ("LEHR_ISA", value)));
    let output = command.output().unwrap();
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(2));
        assert!(!place.path(run).exists(), "nothing is left behind");
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    let text = std::fs::read_to_string(place.path(run).join("config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&text).unwrap();
    Ok(config["cpu"]["kernels"].as_str().unwrap().to_string())
}

#[test]
fn the_environment_chooses_among_the_sets_of_the_cpu() {
    let place = Place::new();
    place.points("points.csv", 60);
    let best = noted(&place, None, "best").unwrap();
    assert_eq!(noted(&place, Some("portable"), "portable").as_deref(), Ok("portable"));
    assert_eq!(noted(&place, Some(&best), "same"), Ok(best.clone()));
    for (n, wrong) in ["sse9", "", "AVX2", "avx2 "].into_iter().enumerate() {
        let said = noted(&place, Some(wrong), &format!("wrong{n}")).unwrap_err();
        assert!(
            said.starts_with(&format!("error: LEHR_ISA={wrong}: not an instruction set")),
            "{said}"
        );
        assert!(said.contains("portable") && said.contains(&best), "{said}");
    }
    if best != "avx512" {
        noted(&place, Some("avx512"), "more").unwrap_err();
    }
}
