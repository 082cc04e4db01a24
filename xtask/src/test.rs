//! `cargo xtask test`: the whole check. Nothing is skipped silently.

use std::path::Path;

use anyhow::Result;

use crate::adapters;
use crate::api;
use crate::setup;
use crate::steps::{cargo, run, step};

/// Formatting, lints, adapters, then every unit, property, document and end-to-end test.
pub fn run_all(workspace: &Path) -> Result<()> {
    step("formatting", || run(cargo(workspace).args(["fmt", "--all", "--check"])))?;
    step("adapters", || adapters::run(workspace))?;
    step("clippy, warnings denied", || {
        run(cargo(workspace).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    // The end-to-end tests start programs of the workspace as processes of their own. Everything is built at once: a part
    // alone would choose other features of its dependencies, and build (and keep) the largest of them twice.
    step("programs", || run(cargo(workspace).args(["build", "--workspace", "--all-targets"])))?;
    step("documentation, warnings denied", || {
        run(cargo(workspace)
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    // Its tests are among the others. Without it they say so and are skipped, but on CI nothing is.
    step("Chromium, and a font with Chinese letters", || {
        match setup::chromium().and_then(|()| setup::chinese_font()) {
            Err(missing) if std::env::var_os("CI").is_none() => {
                eprintln!("{missing}");
                Ok(())
            }
            found => found,
        }
    })?;
    step("OpenSSL's program", setup::openssl_program)?;
    step("tests", || run(cargo(workspace).args(["test", "--workspace"])))?;
    step("the API against its own description", || api::check(workspace))?;
    step("an old host, with OpenSSL", || {
        setup::openssl()?;
        // The workspace as a whole, for the same reason.
        run(cargo(workspace).args([
            "test",
            "--workspace",
            "--features",
            "dibao/native-tls",
            "--test",
            "native_tls",
        ]))
    })
}
