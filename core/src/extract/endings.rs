//! How the titles of one site end (S2-32): learned from its pages.
//!
//! Decides when an ending belongs to the site: several different titles have it, behind a separator. Kept in memory for one site; what was
//! forgotten is learned again from the next pages.

use std::collections::BTreeMap;

/// So many different titles make an ending the site's.
const ENOUGH: u32 = 3;
/// Endings that are remembered; a site has a handful.
const MOST: usize = 200;
/// Longer endings are part of titles.
const LONGEST: usize = 60;

/// What was seen of a site's titles.
#[derive(Clone, Debug, Default)]
pub struct Endings {
    /// Ending with its separator → how many titles had it, and the last one.
    seen: BTreeMap<String, (u32, String)>,
}

impl Endings {
    /// Remembers how a `<title>` ends.
    pub fn see(&mut self, title: &str) {
        let title = title.trim();
        for (at, _) in title.char_indices().filter(|(_, c)| "_-|｜–—＿－丨".contains(*c)) {
            let (head, ending) = (title[..at].trim_end(), &title[at..]);
            if head.is_empty() || ending.chars().count() > LONGEST || ending.chars().count() < 3 {
                continue;
            }
            let full = self.seen.len() >= MOST;
            match self.seen.get_mut(ending) {
                Some((_, last)) if last == head => {}
                Some((count, last)) => {
                    *count = count.saturating_add(1);
                    *last = head.to_owned();
                }
                None if !full => {
                    self.seen.insert(ending.to_owned(), (1, head.to_owned()));
                }
                None => {}
            }
        }
    }

    /// Endings that are the site's, longest first.
    pub fn known(&self) -> Vec<String> {
        let mut known: Vec<String> = self
            .seen
            .iter()
            .filter(|(_, (count, _))| *count >= ENOUGH)
            .map(|(ending, _)| ending.clone())
            .collect();
        known.sort_by_key(|ending| std::cmp::Reverse(ending.len()));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_the_sites_when_several_titles_have_it() {
        let mut endings = Endings::default();
        for title in ["甲-要闻-某局", "乙-要闻-某局", "乙-要闻-某局"] {
            endings.see(title);
        }
        assert!(endings.known().is_empty(), "one title twice is no proof");
        endings.see("中国-东盟博览会-某局");
        assert_eq!(endings.known(), ["-某局"]);
        endings.see("丙-要闻-某局");
        assert_eq!(endings.known(), ["-要闻-某局", "-某局"]);
    }
}
