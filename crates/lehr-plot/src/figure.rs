//! A whole figure, and its way to SVG and PNG.

use std::path::{Path, PathBuf};

use crate::scene::Scene;
use crate::{Error, Panel, layout, raster, svg};

/// Pixels of the PNG per unit of the SVG.
const PNG_SCALE: f32 = 2.0;

/// One picture: up to a handful of panels under a common title.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// The headline; empty for none.
    pub title: String,
    /// Panels in reading order.
    pub panels: Vec<Panel>,
    /// Panels per row; by default up to three stand in one row, and four make a square.
    pub columns: Option<usize>,
    /// Width and height of every plotting area, at most 10,000 each; by default chosen by the number of columns.
    pub plot_size: Option<(f64, f64)>,
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a panel.
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// What the figure is made of.
    pub(crate) fn scene(&self) -> Scene {
        layout::figure(self)
    }

    /// The figure as a self-contained SVG document.
    pub fn to_svg(&self) -> String {
        svg::document(&self.scene())
    }

    /// The figure as an element of a page of HTML, in the colours of that page: ink is its `currentColor`, and its class
    /// `paper` fills what is white. `name` tells it from the page's other figures, and screen readers say `label`.
    pub fn to_element(&self, name: &str, label: &str) -> String {
        svg::element_of_page(&self.scene(), name, label)
    }

    /// The figure as PNG bytes, at twice the resolution of the SVG.
    pub fn to_png(&self) -> Result<Vec<u8>, Error> {
        raster::png(&self.scene(), PNG_SCALE)
    }

    /// The files `stem.png` and `stem.svg`: their paths and bytes, to be written in whatever way the caller
    /// writes files.
    pub fn files(&self, stem: &Path) -> Result<[(PathBuf, Vec<u8>); 2], Error> {
        // `with_extension` would eat the end of a stem such as `run-0.5`.
        let named = |extension: &str| {
            let mut path = stem.as_os_str().to_owned();
            path.push(extension);
            PathBuf::from(path)
        };
        let scene = self.scene();
        let png = raster::png(&scene, PNG_SCALE)?;
        Ok([(named(".png"), png), (named(".svg"), svg::document(&scene).into_bytes())])
    }
}
