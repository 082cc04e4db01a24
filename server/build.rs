//! Lists the files of `page/`, so that all of them are in the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where this is")).join("page");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let mut list = String::from("static FILES: &[File] = &[\n");
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(file).expect("the files of the page are text");
        let kept = out.join(name.replace('/', "__"));
        fs::write(&kept, plain(&text, file)).expect("a file of the page can be written");
        let kept = kept.display().to_string();
        writeln!(list, "    File {{ path: {name:?}, bytes: include_bytes!({kept:?}) }},")
            .expect("a string can be written to");
    }
    list.push_str("];\n");
    fs::write(out.join("page.rs"), list).expect("the list of the page's files can be written");
}

/// Without indentation and, in scripts and style, without the lines that are only a comment: nobody who is sent the page reads them, and they
/// are a fifteenth of it. No text in a file of the page spans lines, which a test holds it to.
fn plain(text: &str, file: &Path) -> String {
    let kind = file.extension().and_then(|kind| kind.to_str()).unwrap_or("");
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines().map(|line| line.trim_start_matches('\t')) {
        let begins = match kind {
            "js" => line.starts_with("/**"),
            "css" => line.starts_with("/*"),
            _ => false,
        };
        let comment = inside || begins || (kind == "js" && line.starts_with("//"));
        inside = (inside || begins) && !line.ends_with("*/");
        if !comment && !line.is_empty() {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo:rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir).expect("server/page is there").flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if path.is_dir() {
            walk(&path, files);
        } else if !hidden && path.extension().is_some_and(|kind| kind != "md") {
            files.push(path);
        }
    }
}
