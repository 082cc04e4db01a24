//! Input: a line with `Retry-After`, a line with `Date`.

use dibao::Timestamp;
use dibao::fetch::Validators;
use dibao::fetch::retry_after::{LONGEST, SHORTEST, http_date, until};

const NOW: Timestamp = Timestamp(1_780_000_000_000);

pub fn run(data: &[u8]) {
    let ([value, date], _) = super::lines(data);
    let (value, date) = (super::text(value), super::text(date));
    for date in [None, Some(date.as_str())] {
        let Some(at) = until(&value, date, NOW) else { continue };
        let wait = at.0 - NOW.0;
        let bounds = SHORTEST.as_millis() as i64..=LONGEST.as_millis() as i64;
        assert!(bounds.contains(&wait), "{value:?} {date:?}: {wait} ms");
        assert_eq!(until(&format!(" {value}\t"), date, NOW), Some(at), "blanks around say nothing");
    }
    if let Some(at) = http_date(&value, NOW) {
        let year = at.to_utc().format("%Y").to_string();
        assert!(value.contains(&year[2..]), "{value:?} is of {year}");
        // What is a date may be kept as one, and nothing that could end a header line is a date.
        assert!(Validators::kept("https://a.cn/".into(), None, Some(value.clone())).is_some());
        assert!(!value.contains(['\r', '\n', '\0']), "{value:?}");
    }
}
