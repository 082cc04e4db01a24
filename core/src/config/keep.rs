//! What was set by hand at the desk, laid over a site file that is read again (I14). What the row of a target keeps by itself
//! is the store's part; here is what only the settings of the site hold.

use serde::Deserialize;
use serde_json::Value;

use super::check;
use super::error::ConfigError;
use super::model::SiteConfig;
use crate::model::Site;

/// Marks of a target that are keys of its column and no columns of its row.
const COLUMN_KEYS: [&str; 2] = ["stop_after_duplicates", "full_sweep_every"];
/// The mark of a target that was made by hand.
const CREATED: &str = "created";

/// The settings from which a stored site was made.
pub(crate) fn written(site: &Site) -> SiteConfig {
    SiteConfig::deserialize(&site.source).unwrap_or_else(|_| super::export::bare(site))
}

/// The file with what was set by hand in it. `targets`: column ids with their marks.
pub(crate) fn keep_by_hand(
    file: &SiteConfig,
    stored: &Site,
    site_marks: &[String],
    targets: &[(String, Vec<String>)],
) -> Result<SiteConfig, ConfigError> {
    let known = written(stored).to_json();
    let mut settings = file.to_json();
    for key in site_marks {
        match known.get(key) {
            Some(value) => settings[key] = value.clone(),
            None => drop(settings.as_object_mut().and_then(|settings| settings.shift_remove(key))),
        }
    }
    let column_of = |settings: &Value, id: &str| -> Option<usize> {
        let columns = settings.get("columns")?.as_array()?;
        columns.iter().position(|column| column.get("column_id").and_then(Value::as_str) == Some(id))
    };
    for (id, marks) in targets {
        let Some(by_hand) = column_of(&known, id).map(|at| known["columns"][at].clone()) else { continue };
        match column_of(&settings, id) {
            Some(at) => {
                for key in marks.iter().filter(|mark| COLUMN_KEYS.contains(&mark.as_str())) {
                    settings["columns"][at][key] = by_hand.get(key).cloned().unwrap_or_default();
                }
            }
            None if marks.iter().any(|mark| mark == CREATED) => {
                if settings.get("columns").is_none() {
                    settings["columns"] = Value::Array(Vec::new());
                }
                if let Some(columns) = settings["columns"].as_array_mut() {
                    columns.push(by_hand);
                }
            }
            None => {}
        }
    }
    let mut kept = SiteConfig::deserialize(&settings).unwrap_or_else(|_| file.clone());
    kept.origin = file.origin.clone();
    check::site(&kept)?;
    Ok(kept)
}
