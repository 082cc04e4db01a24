//! Input: a site file.

use dibao::config::{ConfigError, parse_site};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_site(text, "fuzz.yaml") {
        Ok(site) => {
            // What was accepted can be used: its addresses are those of the web, its codes name files.
            assert!(
                !site.site_id.is_empty() && !site.site_id.contains(['/', '\\', '\0', '.']),
                "{:?}",
                site.site_id
            );
            assert_eq!(
                format!("{site:?}"),
                format!("{:?}", parse_site(text, "fuzz.yaml").expect("once more"))
            );
        }
        Err(error) => {
            let words = error.to_string();
            assert!(!words.is_empty() && words.len() < 20_000, "{} bytes of error", words.len());
            if !matches!(error, ConfigError::Read { .. }) {
                assert!(words.contains("fuzz.yaml"), "an error names its file: {words}");
            }
        }
    }
}
