//! Turns SVG into PNG with an embedded font, so that text shows on machines without fonts.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use crate::Error;

/// Only the embedded font, Ubuntu Light (Ubuntu Font Licence 1.0): the same picture comes out on
/// every machine.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_source(Source::Binary(Arc::new(epaint_default_fonts::UBUNTU_LIGHT)));
    let family = fonts.faces().next().and_then(|f| f.families.first()).map(|f| f.0.clone());
    if let Some(family) = family {
        fonts.set_sans_serif_family(family);
    }
    Arc::new(fonts)
});

/// Parses an SVG document, resolving its text with the embedded font.
pub fn parse(svg: &str) -> Result<Tree, Error> {
    let options = Options { fontdb: FONTS.clone(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| Error::Svg(error.into()))
}

/// Renders an SVG document at `scale` pixels per unit.
pub fn pixels(svg: &str, scale: f32) -> Result<Pixmap, Error> {
    let tree = parse(svg)?;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|x| (x * scale).round() as u32);
    let mut pixmap = Pixmap::new(width, height).ok_or(Error::TooLarge { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(pixmap)
}

/// PNG bytes of an SVG document at `scale` pixels per unit.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    pixels(svg, scale)?.encode_png().map_err(|error| Error::Png(error.into()))
}
