// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawings as files: SVG as it is, or made into PNG and PDF with the fonts of this machine.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use carrick_driver::Failure;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree, WriteOptions};
use svg2pdf::{ConversionOptions, PageOptions};

use crate::manifest::PNG_KEYWORD;

/// What a drawing is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
    Pdf,
}

/// Fonts that have all letters of a drawing; the first that is installed takes the place of fonts that are not.
const FONTS: [&str; 4] = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "FreeSans"];

impl Format {
    /// That which the ending of a file says.
    ///
    /// # Errors
    /// [`Failure::Usage`] with the endings that there are.
    pub fn of(file: &Path) -> Result<Format, Failure> {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("pdf") => Ok(Format::Pdf),
            _ => Err(Failure::Usage(format!(
                "{}: a drawing's file ends in .svg, .png or .pdf, which is its format",
                file.display()
            ))),
        }
    }

    /// The content of a file. A PNG holds the manifest like the drawing, a PDF does not.
    ///
    /// # Errors
    /// [`Failure::Missing`] if this machine has no font.
    pub fn bytes(self, svg: &str, manifest: &str) -> Result<Vec<u8>, Failure> {
        match self {
            Format::Svg => Ok(svg.as_bytes().to_vec()),
            Format::Png => png(&tree(svg, system_fonts())?, manifest),
            Format::Pdf => pdf(&tree(svg, system_fonts())?),
        }
    }
}

fn cannot(format: &str, why: impl Display) -> Failure {
    Failure::Failed(format!("the drawing cannot be made a {format}: {why}"))
}

/// The fonts of this machine.
fn system_fonts() -> Database {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    fonts
}

fn tree(svg: &str, mut fonts: Database) -> Result<Tree, Failure> {
    let family = usual(&fonts).ok_or_else(|| {
        Failure::Missing(
            "this machine has no font for the text of a PNG or PDF: install fonts-dejavu-core, or write an .svg".into(),
        )
    })?;
    fonts.set_sans_serif_family(&family);
    let options = Options { font_family: family, fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|e| cannot("picture", e))
}

/// The font for text: one of those that have all letters, else any.
fn usual(fonts: &Database) -> Option<String> {
    let has =
        |name: &&&str| fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some();
    let known = FONTS.iter().find(has).map(|name| (*name).to_owned());
    known.or_else(|| fonts.faces().find_map(|face| Some(face.families.first()?.0.clone())))
}

fn png(tree: &Tree, manifest: &str) -> Result<Vec<u8>, Failure> {
    let size = tree.size().to_int_size();
    let mut pixels =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| cannot("PNG", "it is too large"))?;
    resvg::render(tree, Transform::identity(), &mut pixels.as_mut());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width(), size.height());
    // The background has no transparency, so that colours are what they are also after it was applied to them.
    encoder.set_color(png::ColorType::Rgba);
    if !manifest.is_empty() {
        let text = manifest.to_owned();
        encoder.add_itxt_chunk(PNG_KEYWORD.to_owned(), text).map_err(|e| cannot("PNG", e))?;
    }
    let mut writer = encoder.write_header().map_err(|e| cannot("PNG", e))?;
    writer.write_image_data(pixels.data()).map_err(|e| cannot("PNG", e))?;
    writer.finish().map_err(|e| cannot("PNG", e))?;
    Ok(bytes)
}

/// Text becomes outlines: a PDF that embeds fonts takes nine more packages, among them skrifa and write-fonts.
fn pdf(tree: &Tree) -> Result<Vec<u8>, Failure> {
    let outlined = tree.to_string(&WriteOptions::default());
    let outlined = Tree::from_str(&outlined, &Options::default()).map_err(|e| cannot("PDF", e))?;
    svg2pdf::to_pdf(&outlined, ConversionOptions::default(), PageOptions::default())
        .map_err(|e| cannot("PDF", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_fonts_says_what_to_install() {
        let said = tree("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", Database::new());
        assert!(matches!(said, Err(Failure::Missing(why)) if why.contains("install fonts-dejavu-core")));
    }

    #[test]
    fn endings_are_formats() {
        let of = |file: &str| Format::of(Path::new(file)).map_err(|e| e.to_string());
        assert_eq!(
            [of("a.svg"), of("b/a.png"), of("a.b.pdf")],
            [Format::Svg, Format::Png, Format::Pdf].map(Ok)
        );
        for file in ["a", "a.jpg", "a.SVG", ".png"] {
            assert!(of(file).is_err_and(|e| e.contains(".svg, .png or .pdf")), "{file}");
        }
    }
}
