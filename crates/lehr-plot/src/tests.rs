//! Tests of whole figures: what is in the SVG, and what can be seen in the PNG.

use std::collections::HashSet;
use std::path::Path;

use roxmltree::Document;

use super::*;

/// Two panels with one series of each kind.
fn example(title: &str) -> Figure {
    let wave =
        |shift: f64| (0..40).map(move |i| (f64::from(i), (f64::from(i) / 6.0 + shift).sin()));
    let lines = Panel::new("Lines")
        .x_label("x")
        .y_label("y < 1 & \"quoted\"")
        .with(Series::line(wave(0.0)).dash([5.0, 3.0]).label("sine"))
        .with(
            Series::fan((0..5).map(|k| wave(0.1 * f64::from(k)).collect()).collect()).label("fan"),
        )
        .with(Series::scatter(wave(2.0)))
        .with(Series::ellipse([20.0, 0.0], [[9.0, 0.5], [0.5, 0.1]], 2.0).label("ellipse"));
    let counts = Panel::new("Counts")
        .x_names(["a", "b", "c"])
        .with(Series::bars([(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)]).label("bars"))
        .with(Series::boxes([(0.0, vec![1.0, 2.0, 4.0]), (1.0, vec![3.0]), (2.0, vec![])]));
    Figure::new(title).with(lines).with(counts)
}

/// Colours of all pixels.
fn pixels(figure: &Figure) -> Vec<[u8; 4]> {
    let pixmap = raster::pixels(&figure.scene(), 1.0).unwrap();
    pixmap.pixels().iter().map(|p| [p.red(), p.green(), p.blue(), p.alpha()]).collect()
}

#[test]
fn the_svg_is_well_formed_and_holds_every_series() {
    let svg = example("A <title> & more").to_svg();
    Document::parse(&svg).unwrap();
    for kind in ["line", "fan", "scatter", "ellipse", "bars", "boxes"] {
        assert_eq!(svg.matches(&format!("class=\"{kind}\"")).count(), 1, "{kind}");
    }
    assert_eq!(svg.matches("class=\"panel\"").count(), 2);
    assert_eq!(svg.matches("class=\"legend\"").count(), 2);
    // Dots of the scatter; the boxes have no outliers and the legend lists no dots.
    assert_eq!(svg.matches("<circle").count(), 40);
    // One legend entry for a whole fan: five runs, and above them the mean and its rim.
    let fan = svg.split("class=\"fan\"").nth(1).unwrap().split("</g>").next().unwrap();
    assert_eq!(fan.matches("<path").count(), 5);
    let mean = svg.split("class=\"mean\"").nth(1).unwrap().split("</g>").next().unwrap();
    assert_eq!(mean.matches("<path").count(), 2);
    assert_eq!(svg.matches(">fan</text>").count(), 1);
    assert!(svg.contains("A &lt;title&gt; &amp; more"));
}

#[test]
fn a_gap_breaks_the_line_and_a_lone_point_is_a_dot() {
    let points = [
        (0.0, 0.0),
        (1.0, 1.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, f64::INFINITY),
        (5.0, 0.0),
        (6.0, 1.0),
    ];
    let svg = Figure::new("").with(Panel::new("").with(Series::line(points))).to_svg();
    let line = svg.split("class=\"line\"").nth(1).unwrap();
    assert_eq!(line.matches("<path").count(), 2);
    assert_eq!(line.matches("<circle").count(), 1);
}

#[test]
fn the_png_shows_the_series_and_the_text() {
    let with = pixels(&example("A title"));
    let colours: HashSet<&[u8; 4]> = with.iter().collect();
    assert!(colours.len() > 200, "{}", colours.len());
    for series in [Colour::BLUE, Colour::VERMILION, Colour::PURPLE] {
        assert!(colours.contains(&[series.0, series.1, series.2, 255]), "{series}");
    }
    // Same page, other words: only glyphs can differ.
    let other = pixels(&example("B words"));
    assert_eq!(with.len(), other.len());
    let differing = with.iter().zip(&other).filter(|(a, b)| a != b).count();
    assert!((50..5000).contains(&differing), "{differing}");
    let taller = with.len() > pixels(&example("")).len();
    assert!(taller, "the title takes room");
}

#[test]
fn files_keep_dots_in_their_stem() {
    let figure = example("x");
    let [png, svg] = figure.files(Path::new("deep/run-0.5")).unwrap();
    assert_eq!(png, ("deep/run-0.5.png".into(), figure.to_png().unwrap()));
    assert_eq!(svg, ("deep/run-0.5.svg".into(), figure.to_svg().into_bytes()));
    assert!(png.1.starts_with(b"\x89PNG") && svg.1.starts_with(b"<svg"));
}

#[test]
fn a_plot_has_a_size_that_can_be_drawn() {
    let nan = f64::NAN;
    for size in [(0.0, -1.0), (nan, nan), (f64::INFINITY, 50.0)] {
        let svg = Figure { plot_size: Some(size), ..example("x") }.to_svg();
        let page = Document::parse(&svg).unwrap();
        let width: f64 = page.root_element().attribute("width").unwrap().parse().unwrap();
        assert!((80.0..25_000.0).contains(&width), "{size:?}");
    }
    let wide = scene::Scene { size: (3e9, 1.0), items: Vec::new() };
    let error = raster::png(&wide, 1.0).unwrap_err().to_string();
    assert_eq!(error, "a picture of 3000000000 x 1 pixels is too large");
}

#[test]
fn the_legend_never_covers_data() {
    // A blanket of points leaves no corner free: the legend must leave the plot.
    let blanket = (0..2500).map(|i| (f64::from(i % 50), f64::from(i / 50)));
    let full = Panel::new("").with(Series::scatter(blanket).label("blanket"));
    let free = Panel::new("").with(Series::line([(0.0, 0.0), (9.0, 9.0)]).label("diagonal"));
    let plot = (400.0, 300.0);
    let area = |panel: &Panel| {
        let shapes = marks::shapes(panel, &axes::Axes::of(panel, plot));
        let area = legend::place(panel, &shapes, plot).unwrap();
        assert!(!shapes.iter().any(|(shape, _)| shape.touches(area)));
        area
    };
    assert!(area(&full).x >= plot.0);
    assert!(area(&free).x < plot.0);
    assert!(legend::place(&free.legend(Legend::Hidden), &[], plot).is_none());
}

#[test]
fn degenerate_figures_are_still_pictures() {
    let nan = f64::NAN;
    let series = || {
        vec![
            Series::line([]),
            Series::line([(nan, nan)]),
            Series::line([(1.0, 1.0)]),
            Series::line([(-1e308, f64::MIN), (1e308, f64::MAX)]),
            Series::fan(vec![]),
            Series::fan(vec![vec![], vec![(1.0, nan)]]),
            Series::scatter([(f64::INFINITY, 0.0)]),
            Series::ellipse([0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]], 2.0),
            Series::ellipse([nan, 0.0], [[-1.0, 9.0], [9.0, -1.0]], nan),
            Series::bars([]),
            Series::bars([(0.0, nan), (1.0, -2.0)]),
            Series::boxes([(0.0, vec![]), (1.0, vec![nan])]),
        ]
    };
    let check = |panel: Panel| {
        let figure = Figure::new("").with(panel);
        let svg = figure.to_svg();
        Document::parse(&svg).unwrap();
        raster::pixels(&figure.scene(), 1.0).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    };
    for one in series() {
        check(Panel::new("").with(one.clone()));
        check(Panel::new("").with(one.clone().label("x")).equal_units());
        check(Panel::new("").with(one).x_log().y_log());
    }
    check(Panel { series: series(), ..Panel::default() });
    check(Panel::new("").x_range(3.0, 3.0).y_range(nan, 1.0));
    Figure::default().to_png().unwrap();
    let four = (0..4).fold(Figure::new(""), |f, _| f.with(Panel::new("p")));
    Document::parse(&four.to_svg()).unwrap();
}

#[test]
fn an_element_of_a_page_takes_the_colours_of_the_page() {
    let named = |label: &str| Series::line([(0.0, 1.0), (1.0, 2.0)]).label(label);
    let figure = Figure::new("").with(Panel::new("<b>").with(named("</svg><script>")));
    let element = figure.to_element("bound", "\"><script>");
    let document = Document::parse(&element).expect("well-formed");
    assert_eq!(document.root_element().attribute("aria-label"), Some("\"><script>"));
    assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    assert!(element.contains("url(#bound-plot0)") && element.contains(r#"class="paper""#));
    // Neither white nor a grey is left, but the colours of the lines are.
    let colours: Vec<&str> =
        document.descendants().filter_map(|node| node.attribute("stroke")).collect();
    assert!(colours.contains(&"#0072b2") && colours.contains(&"currentColor"));
    for grey in ["#ffffff", "#e7e7e7", "#4d4d4d", "#222222"] {
        assert!(!element.contains(grey), "{grey}");
    }
}
