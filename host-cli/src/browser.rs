//! The browser that `dibao` uses: which program, or none.

use std::path::PathBuf;

use clap::Args;
use dibao::EngineBuilder;

#[derive(Args)]
pub struct BrowserArgs {
    /// Chromium or Chrome, for sites that turn plain HTTP away; `off` for none [default: CHROME, then the usual names]
    #[arg(long, global = true, env = "DIBAO_CHROMIUM", value_name = "FILE")]
    chromium: Option<PathBuf>,
}

impl BrowserArgs {
    /// An engine with the browser, when this program was built with one.
    #[cfg(feature = "browser")]
    pub fn add_to(&self, builder: EngineBuilder) -> EngineBuilder {
        let named = |file: &PathBuf| !file.as_os_str().is_empty();
        let program = self.chromium.clone().filter(named);
        if program.as_deref().is_some_and(|program| program.as_os_str() == "off") {
            return builder;
        }
        let program = program.or_else(|| std::env::var_os("CHROME").map(PathBuf::from).filter(named));
        builder.browser(dibao::fetch::browser::BrowserOptions { program, ..Default::default() })
    }

    /// The same engine: this program was built without one.
    #[cfg(not(feature = "browser"))]
    pub fn add_to(&self, builder: EngineBuilder) -> EngineBuilder {
        builder
    }
}
