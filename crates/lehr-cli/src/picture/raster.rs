//! Turns SVG into PNG with an embedded font, so that text shows on machines without fonts.

use std::sync::{Arc, LazyLock};

use anyhow::Context;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

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
pub fn parse(svg: &str) -> anyhow::Result<Tree> {
    let options = Options { fontdb: FONTS.clone(), ..Options::default() };
    Tree::from_str(svg, &options).context("the picture is not valid SVG")
}

/// Renders an SVG document at `scale` pixels per unit.
pub fn pixels(svg: &str, scale: f32) -> anyhow::Result<Pixmap> {
    let tree = parse(svg)?;
    let size = tree.size().to_int_size().scale_by(scale).context("the picture has no size")?;
    let mut pixmap =
        Pixmap::new(size.width(), size.height()).context("the picture is too large")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(pixmap)
}

/// PNG bytes of an SVG document at `scale` pixels per unit.
pub fn png(svg: &str, scale: f32) -> anyhow::Result<Vec<u8>> {
    pixels(svg, scale)?.encode_png().context("cannot encode the picture as PNG")
}
