//! Tests of whole figures: what is in the SVG, and what can be seen in the PNG.
use super::*;
#[test]
fn gallery() {
    let Ok(folder) = std::env::var("GALLERY") else { return };
    let mut state = 7_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    };
    let mut normal =
        move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    let centres = [[-4.0, 3.0], [3.0, 4.0], [0.0, -2.0], [5.0, -3.5]];
    let covs = [
        [[1.5, 0.8], [0.8, 1.0]],
        [[0.6, -0.3], [-0.3, 1.2]],
        [[2.5, 0.0], [0.0, 0.3]],
        [[0.4, 0.2], [0.2, 0.9]],
    ];
    let mut pts = vec![];
    for i in 0..250 {
        let (c, v) = (centres[i % 4], covs[i % 4]);
        let a = f64::sqrt(v[0][0]);
        let b = v[0][1] / a;
        let d = f64::sqrt(v[1][1] - b * b);
        let (u, w) = (normal(), normal());
        pts.push((c[0] + a * u, c[1] + b * u + d * w));
    }
    let mut left = Panel::new("Posterior predictive, 250 points")
        .x_label("first coordinate")
        .y_label("second coordinate")
        .equal_units()
        .with(Series::scatter(pts).colour(Colour::GREY).label("data"));
    for k in 0..4 {
        let e = Series::ellipse(centres[k], covs[k], 2.0);
        left = left.with(if k == 0 {
            e.label("component, 2σ").colour(Colour::BLUE)
        } else {
            e.colour(Colour::BLUE)
        });
    }
    let mut right = Panel::new("Evidence lower bound, ten runs each")
        .x_label("sweeps over the data")
        .y_label("bound (nats)");
    for (m, (name, end, rate)) in [
        ("annealed", -982.0, 9.0),
        ("stochastic", -1001.0, 6.0),
        ("coordinate ascent", -1030.0, 3.0),
    ]
    .into_iter()
    .enumerate()
    {
        let _ = m;
        let runs = (0..10)
            .map(|_| {
                let e = end + 6.0 * normal();
                let s = -1095.0 + 4.0 * normal();
                (0..=60)
                    .map(|t| (t as f64, e + (s - e) * (-(t as f64) / rate).exp() + 0.6 * normal()))
                    .collect()
            })
            .collect();
        right = right.with(Series::fan(runs).label(name));
    }
    let f = Figure::new("Four clusters recovered, and how fast").with(left).with(right.clone());
    f.write(Path::new(&format!("{folder}/a"))).unwrap();
    let line = |o: f64| {
        (0..200).map(move |i| {
            (i as f64 * 5000.0, -1_221_700.0 + 48.0 * (1.0 - (-(i as f64) / 40.0).exp()) - o)
        })
    };
    let big = Panel::new("")
        .x_label("data points seen")
        .y_label("bound (nats)")
        .with(Series::line(line(0.0)).label("SVI+"))
        .with(Series::line(line(9.0)).dash([6.0, 4.0]).label("SVI"));
    Figure::new("Large numbers")
        .with(big.clone())
        .write(Path::new(&format!("{folder}/b")))
        .unwrap();
    let mut boxed = Panel::new("Cumulative share by rank")
        .x_label("components")
        .y_label("share of the data")
        .y_range(0.0, 1.0);
    for m in 0..2 {
        boxed = boxed.with(
            Series::boxes((1..=6).map(|k| {
                (
                    k as f64,
                    (0..30)
                        .map(|_| 1.0 - (-(k as f64) / (1.5 + m as f64)).exp() + 0.03 * normal())
                        .collect(),
                )
            }))
            .label(["annealed", "plain"][m]),
        );
    }
    let bars = Panel::new("Component sizes")
        .y_label("points")
        .x_names(["setosa", "versicolor", "virginica", "noise"])
        .with(Series::bars([(0.0, 50.0), (1.0, 48.0), (2.0, 45.0), (3.0, 7.0)]));
    let log =
        Panel::new("Error, both axes logarithmic & a heading that is too long for one line")
            .x_label("n")
            .y_label("error")
            .x_log()
            .y_log()
            .with(
                Series::line((1..50).map(|i| ((i * i * 20) as f64, 1.0 / (i as f64).powi(3))))
                    .label("theory <1/n>"),
            )
            .with(
                Series::scatter((1..50).step_by(3).map(|i| {
                    ((i * i * 20) as f64, (1.0 + 0.2 * normal()).abs() / (i as f64).powi(3))
                }))
                .label("measured"),
            );
    let tiny = Panel::new("Offsets").x_label("x").y_label("y").with(
        Series::line((0..50).map(|i| (1e9 + i as f64 * 1e-3, (i as f64 * 0.2).sin() * 1e-7)))
            .label("tiny"),
    );
    Figure::new("Everything else")
        .with(boxed)
        .with(bars)
        .with(log)
        .with(tiny)
        .write(Path::new(&format!("{folder}/c")))
        .unwrap();
    Figure::new("")
        .with(Panel::new("Empty"))
        .with(Panel::new("One").with(Series::line([(1.0, 2.0)])))
        .with(right)
        .write(Path::new(&format!("{folder}/d")))
        .unwrap();
    use terminal::*;
    let s: Vec<TermSeries> = [
        ("annealed", -982.0, 9.0),
        ("stochastic", -1001.0, 6.0),
        ("coordinate ascent", -1030.0, 3.0),
    ]
    .into_iter()
    .map(|(n, e, r): (&str, f64, f64)| {
        TermSeries::new(
            n,
            (0..=60).map(|t| (t as f64, e + (-1095.0 - e) * (-(t as f64) / r).exp())),
        )
    })
    .collect();
    print!("{}", chart(&s, 80, 20, true));
    print!("{}", chart(&s, 80, 20, false));
    print!("{}", chart(&s[..1], 60, 10, false));
    print!(
        "{}",
        chart(
            &[TermSeries::new("big", line(0.0)), TermSeries::new("x", [(3.0, -1221690.0)])],
            80,
            12,
            false
        )
    );
    for v in [100.0, 70.0, 33.3, 1.0, 0.01, 0.0] {
        println!("{v:>6} {}", histogram_bar(v, 100.0, 20));
    }
}
