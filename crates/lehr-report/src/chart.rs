//! Charts: pictures with the numbers that they show, so that both can be saved.

use std::collections::BTreeMap;

use lehr_plot::{Figure, Panel};
use serde::{Serialize, Serializer};

/// A chart.
#[derive(Debug, Clone, Serialize)]
pub struct Chart {
    /// What tells it from others: letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The pictures: one, or several of the same with other axes.
    pub views: Vec<View>,
    /// The names of the columns of its numbers.
    #[serde(skip)]
    pub columns: Vec<String>,
    /// Its numbers.
    #[serde(skip)]
    pub rows: Vec<Vec<Cell>>,
}

/// A picture of a chart.
#[derive(Debug, Clone, Serialize)]
pub struct View {
    /// What tells it from the chart's other pictures.
    pub label: String,
    /// The picture.
    pub svg: String,
    /// The same for a file of its own.
    #[serde(skip)]
    pub figure: Figure,
}

/// A cell of a chart's numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number; what is not finite is left empty.
    Number(f64),
    /// A text.
    Text(String),
}

impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Cell::Number(x)
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Self {
        Cell::Number(n as f64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_string())
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => to.serialize_str(text),
            Cell::Number(x) if !x.is_finite() => to.serialize_none(),
            Cell::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => to.serialize_i64(*x as i64),
            Cell::Number(x) => to.serialize_f64(short(*x, 7)),
        }
    }
}

/// The number with this many significant digits that is nearest.
pub fn short(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

impl Chart {
    /// A chart of one panel, `size` pixels large.
    pub fn new(id: &str, title: &str, panel: Panel, size: (f64, f64)) -> Self {
        let mut figure = Figure::new("").with(panel);
        figure.plot_size = Some(size);
        Chart::of(id, title, figure)
    }

    /// A chart of any figure.
    pub fn of(id: &str, title: &str, figure: Figure) -> Self {
        let view = view(id, "", title, figure);
        let (id, title) = (id.to_string(), title.to_string());
        let (note, views) = (String::new(), vec![view]);
        Chart { id, title, note, views, columns: Vec::new(), rows: Vec::new() }
    }

    /// The chart as a figure of its own, with its title; against one of what its views are drawn against.
    pub fn figure(&self, against: Option<&str>) -> Option<&Figure> {
        let wanted = |view: &&View| against.is_none_or(|against| view.label == against);
        self.views.iter().find(wanted).map(|view| &view.figure)
    }

    /// How to read it.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Its numbers.
    pub fn numbers(mut self, columns: &[&str], rows: Vec<Vec<Cell>>) -> Self {
        self.columns = columns.iter().map(ToString::to_string).collect();
        self.rows = rows;
        self
    }
}

/// A picture, which a page shows under a title.
pub fn view(id: &str, label: &str, title: &str, figure: Figure) -> View {
    let name: String = if label.is_empty() { id.into() } else { format!("{id}-{label}") };
    let svg = figure.to_element(&name, title);
    View { label: label.to_string(), svg, figure: Figure { title: title.into(), ..figure } }
}

/// The numbers of a chart, for the scripts.
#[derive(Serialize)]
pub struct Numbers<'a> {
    columns: &'a [String],
    rows: &'a [Vec<Cell>],
}

/// The numbers of all charts, by their ids.
pub fn numbers<'a>(charts: impl IntoIterator<Item = &'a Chart>) -> BTreeMap<&'a str, Numbers<'a>> {
    let of = |chart: &'a Chart| {
        (chart.id.as_str(), Numbers { columns: &chart.columns, rows: &chart.rows })
    };
    charts.into_iter().filter(|chart| !chart.rows.is_empty()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short_and_what_is_no_number_is_empty() {
        let cells = [1.0 / 3.0, -2e6, f64::NAN, 123_456.789_4, 1e-9 / 3.0].map(Cell::Number);
        let text = serde_json::to_string(&cells).unwrap();
        assert_eq!(text, "[0.3333333,-2000000,null,123456.8,3.333333e-10]");
    }
}
