//! Pictures of topics: their words, their sizes, the map, and their shares by group.

use lehr_plot::{Colour, Figure, Legend, Panel, Series};

use super::{Groups, Map, Topic};
use crate::chart::Chart;

/// This many topics have a panel each; more are rows of one list.
const PANELS: usize = 12;
/// Rows of the list in one column.
const ROWS: usize = 50;
/// Letters of a topic's words in the list.
const LETTERS: usize = 60;
/// Topics whose shares are drawn by group.
const BY_GROUP: usize = 8;
/// What is written into discs.
const INK: Colour = Colour(0x11, 0x11, 0x11);

/// The words of the topics: as bars if there are few topics, else in a list that stays readable for hundreds.
pub fn words(topics: &[Topic]) -> Chart {
    let rows = topics.iter().flat_map(|topic| {
        let row = |word: &super::WordRow| {
            vec![topic.topic.into(), word.word.as_str().into(), word.p.into(), word.q.into()]
        };
        topic.words.iter().map(row).collect::<Vec<_>>()
    });
    let rows = rows.collect();
    let figure = if topics.len() <= PANELS { panels(topics) } else { list(topics) };
    Chart::of("topics", "Topics", figure).numbers(&["topic", "word", "probability", "all"], rows)
}

fn panels(topics: &[Topic]) -> Figure {
    let mut figure = Figure::new("");
    for (at, topic) in topics.iter().enumerate() {
        let bars = |of: fn(&super::WordRow) -> f64| {
            let rows = topic.words.iter().enumerate();
            Series::rows(
                rows.map(|(at, word)| (100.0 * of(word), -(at as f64))).collect::<Vec<_>>(),
            )
        };
        let (mut own, mut all) = (bars(|word| word.p), bars(|word| word.q));
        if at == 0 {
            (own, all) = (own.label("in the topic"), all.label("in all"));
        }
        figure.panels.push(
            Panel::new(format!("topic {} ({} %)", topic.topic, topic.share))
                .y_names(topic.words.iter().map(|word| cut(&word.word, 24)))
                .x_label("probability, in percent")
                .with(own.colour(Colour::BLUE))
                .with(all.colour(Colour::GREY).opacity(0.6)),
        );
    }
    let n = topics.len();
    figure.columns = Some(if n <= 3 {
        n.max(1)
    } else if n == 4 {
        2
    } else {
        3
    });
    figure.plot_size = Some((200.0, 210.0));
    figure
}

fn list(topics: &[Topic]) -> Figure {
    let columns = topics.len().div_ceil(ROWS);
    let each = topics.len().div_ceil(columns);
    let mut figure = Figure::new("");
    let longest = topics.iter().map(|topic| topic.size).fold(0.0, f64::max);
    for part in topics.chunks(each) {
        let names =
            part.iter().map(|topic| format!("{}   {}", cut(&topic.begin, LETTERS), topic.topic));
        let bars = part.iter().enumerate().map(|(at, topic)| (100.0 * topic.size, -(at as f64)));
        figure.panels.push(
            Panel::new("")
                .y_names(names)
                .x_range(0.0, 105.0 * longest)
                .x_label("share of words, in percent")
                .with(Series::rows(bars).colour(Colour::BLUE)),
        );
    }
    figure.columns = Some(columns.min(2));
    figure.plot_size = Some((150.0, 17.0 * each as f64));
    figure
}

fn cut(text: &str, most: usize) -> String {
    match text.chars().count() {
        n if n <= most => text.to_string(),
        _ => text.chars().take(most - 1).chain(['\u{2026}']).collect(),
    }
}

/// The map, as the page has it.
pub fn map(map: &Map) -> Chart {
    let (wide, high) = (map.wide, map.high);
    let mut panel =
        Panel::new("").bare().x_range(0.0, wide).y_range(0.0, high).legend(Legend::Hidden);
    for place in &map.places {
        let disc = Series::scatter([(place.x, high - place.y)]).radius(place.r);
        panel = panel.with(disc.colour(Colour::BLUE).opacity(0.35));
    }
    let words = map.places.iter().map(|p| ((p.x, high - p.y), p.topic.to_string()));
    let chart = Chart::new(
        "map",
        &format!("Map of topics, with {} % of their squared distances", map.shown),
        panel.with(Series::words(words).colour(INK)),
        (wide, high),
    );
    let rows =
        map.places.iter().map(|p| vec![p.topic.into(), p.x.into(), p.y.into(), p.size.into()]);
    chart.numbers(&["topic", "x", "y", "share"], rows.collect())
}

/// The shares by group of those topics whose shares differ most.
pub fn groups(groups: &Groups, topics: &[Topic]) -> Chart {
    let spread = |topic: usize| {
        let row = &groups.shares[topic];
        row.iter().fold(0.0_f64, |most, x| most.max(*x))
            - row.iter().fold(1.0_f64, |least, x| least.min(*x))
    };
    let mut order: Vec<usize> = topics.iter().map(|topic| topic.topic).collect();
    order.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)).then(a.cmp(&b)));
    let n = order.len();
    let drawn = if groups.in_time { BY_GROUP } else { BY_GROUP / 2 };
    order.truncate(drawn);
    let mut panel = Panel::new("")
        .y_label("mean share, in percent")
        .x_names(groups.groups.iter().map(|group| cut(&group.name, 18)))
        .legend(Legend::Outside);
    for (at, &topic) in order.iter().enumerate() {
        let row = &groups.shares[topic];
        let points = row.iter().enumerate().map(|(at, x)| (at as f64, 100.0 * x));
        let series = if groups.in_time { Series::line(points) } else { Series::bars(points) };
        panel = panel.with(series.colour(Colour::nth(at)).label(format!("topic {topic}")));
    }
    let rows = groups.shares.iter().enumerate().flat_map(|(topic, row)| {
        let cells = groups.groups.iter().zip(row);
        let row = move |(group, share): (&super::groups::Group, &f64)| {
            vec![topic.into(), group.name.as_str().into(), group.documents.into(), (*share).into()]
        };
        cells.map(row).collect::<Vec<_>>()
    });
    let note = match n > order.len() {
        true => format!("The {} topics whose shares differ most; the table has all.", order.len()),
        false => String::new(),
    };
    let title = format!("Topics by {}", groups.name);
    Chart::new("by-group", &title, panel, (640.0, 260.0))
        .note(note)
        .numbers(&["topic", "group", "documents", "share"], rows.collect())
}
