// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `carrick plot` draws: choices, limits and sizes, as SVG, PNG and PDF.

use std::path::Path;

use carrick_tests::command::{done, run};

/// A folder with tables of a run of a program of its own.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    let network = "sim parcel/parcel.mtp --topology star:4 --workload incast:3 --bytes 20KB";
    let tables = "--csv flows.csv --rates rates.csv --every 50us --sample snd_una --samples una.csv";
    done(dir, &network.split(' ').chain(tables.split(' ')).collect::<Vec<_>>());
    folder
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).expect("readable")
}

/// The error of a drawing that is not made.
fn refused(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, &[&["plot"], args, &["-o", "none.svg"]].concat());
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.code() == Some(2) && !dir.join("none.svg").exists(), "{args:?}: {said}");
    said
}

#[test]
fn choices_limits_and_sizes_are_made_again() {
    let folder = begun();
    let dir = folder.path();
    let title = "--title=-o a <title>, it's";
    let limits = ["--x", "0..1ms", "--y", "0..30000", "--size", "640x480"];
    done(dir, &[&["plot", "una.csv", "--host", "h1..h2", "-o", "una.svg", title][..], &limits].concat());
    done(dir, &[&["plot", "una.csv", "--host", "h1..h2", "-o", "una.png", title][..], &limits].concat());
    done(dir, &["plot", "rates.csv", "--flow", "0,2", "-o", "rates.svg"]);
    let drawn = read(dir, "una.svg");
    for part in [
        "width=\"640\" height=\"480\"",
        "-o a &lt;title&gt;, it&#39;s</text>",
        "una, host 1, context 1<",
        "una, host 2, context 1<",
        ">snd_una",
        ">virtual time, ",
    ] {
        assert!(drawn.contains(part), "{part} is missing: {drawn}");
    }
    assert!(!drawn.contains("host 0") && !drawn.contains("host 3"), "{drawn}");
    let rates = read(dir, "rates.svg");
    assert!(rates.contains("flow 0<") && rates.contains("flow 2<") && !rates.contains("flow 1<"), "{rates}");
    let said = done(dir, &["repro", "una.svg", "una.png", "rates.svg"]);
    assert_eq!(said.matches(": the same").count(), 3, "{said}");
    // A compressed or cut text, and no text at all, are no manifest.
    let picture = std::fs::read(dir.join("una.png")).expect("readable");
    for end in [8, 60, 300] {
        std::fs::write(dir.join("cut.png"), &picture[..end]).expect("writable");
        assert_eq!(run(dir, &["repro", "cut.png"]).status.code(), Some(2), "{end} bytes");
    }
}

#[test]
fn a_choice_that_a_figure_does_not_have_is_refused() {
    let folder = begun();
    let dir = folder.path();
    for (args, wanted) in [
        ("flows.csv --what completion --host h0", "--host does not choose curves of completion"),
        ("rates.csv --context 1", "--context does not choose curves of rates: use --flow"),
        ("una.csv --flow 1", "--flow does not choose curves of samples: use --host or --context"),
        ("una.csv --host h9", "there is no host 9 in the tables: they have 0 to 3"),
        ("una.csv --x 1KB..2KB", "--x 1KB..2KB: \"1KB\" is not a duration"),
        ("una.csv --x 2ms..1ms", "the first limit is not below the second"),
        ("una.csv --x 1s", "expected FROM..TO"),
        ("una.csv --x 1000s..2000s", "no curve is within --x and --y"),
        ("flows.csv --x 0..1MB", "this axis has a log scale"),
        ("una.csv --size 640x100", "--size is too small"),
        ("una.csv --size 640", "such as 800x600"),
        ("una.csv flows.csv", "and flows.csv is another one"),
    ] {
        let said = refused(dir, &args.split(' ').collect::<Vec<_>>());
        assert!(said.contains(wanted), "{args}: {said}");
    }
    let other = read(dir, "una.csv").replace("snd_una", "snd_nxt");
    std::fs::write(dir.join("nxt.csv"), other).expect("writable");
    assert!(refused(dir, &["una.csv", "nxt.csv"]).contains("draw each field by itself"));
    let wrong = run(dir, &["plot", "flows.csv", "-o", "flows.jpg"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        wrong.status.code() == Some(2) && said.contains("flows.jpg: ") && said.contains(".svg, .png or .pdf"),
        "{said}"
    );
}

#[test]
fn nothing_to_draw_is_an_error() {
    let folder = begun();
    let dir = folder.path();
    for (table, wanted) in [
        ("flows.csv", "empty.csv: there is nothing to draw for slowdown: it has no measured flow"),
        ("rates.csv", "empty.csv: there is nothing to draw for rates: no byte of a flow arrived"),
        ("una.csv", "empty.csv: there is nothing to draw for samples: no context has a value"),
    ] {
        let text = read(dir, table);
        let head = text.lines().find(|line| !line.starts_with('#')).expect("a head");
        std::fs::write(dir.join("empty.csv"), format!("{head}\n")).expect("writable");
        let said = refused(dir, &["empty.csv"]);
        assert!(said.contains(wanted), "{said}");
        assert!(refused(dir, &[table, "empty.csv"]).contains(wanted));
    }
    let lost =
        "sim parcel/parcel.mtp --topology star:3 --workload incast:2 --bytes 2KB --loss 100% --plot lost";
    let output = run(dir, &lost.split(' ').collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no drawing of slowdown: no flow arrived as a whole"), "{said}");
    assert!(dir.join("lost/queues.svg").exists() && !dir.join("lost/slowdown.svg").exists());
}

#[test]
fn pictures_have_a_size_and_curves() {
    let folder = begun();
    let dir = folder.path();
    done(dir, &["plot", "una.csv", "--size", "700x500", "-o", "una.png"]);
    done(dir, &["plot", "una.csv", "--size", "700x500", "-o", "una.pdf"]);
    let decoder = png::Decoder::new(std::fs::File::open(dir.join("una.png")).expect("readable"));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height, info.color_type), (700, 500, png::ColorType::Rgba));
    let white = pixels.chunks_exact(4).filter(|pixel| pixel[..3] == [0xff; 3]).count();
    // Between the axes, above the legend, only curves have a colour.
    let colour = |(x, y): (usize, usize)| {
        let pixel = &pixels[(y * 700 + x) * 4..][..3];
        pixel.iter().max() > pixel.iter().min().map(|least| least.saturating_add(60)).as_ref()
    };
    let coloured = (93..700).flat_map(|x| (44..300).map(move |y| (x, y))).filter(|at| colour(*at)).count();
    assert!(white > 250_000 && coloured > 200, "{white} white, {coloured} coloured");
    // Letters are dark pixels left of the curves, where no line is.
    let dark = |x: usize, y: usize| pixels[(y * 700 + x) * 4] < 0x60;
    let letters = (0..84).flat_map(|x| (44..300).map(move |y| (x, y))).filter(|&(x, y)| dark(x, y)).count();
    assert!(letters > 100, "{letters} dark pixels");
    let pdf = std::fs::read(dir.join("una.pdf")).expect("readable");
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1.") && text.trim_end().ends_with("%%EOF"), "no PDF");
    assert!(text.contains("/MediaBox [0 0 700 500]"), "another page");
    assert!(pdf.len() > 10_000, "{} bytes have no letters", pdf.len());
}
