//! The page's files as they are: how much they weigh, that every word is there in both languages, and that nothing in
//! them could take what comes from a stranger for markup, a style or a script.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All of it together, in bytes.
const MOST: usize = 200_000;

/// The files of the page with their text, by path.
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/page");
    let (mut found, mut dirs) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).expect("the page is in server/page").flatten() {
            let path: PathBuf = entry.path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("the page is text");
            found.insert(path.strip_prefix(&root).unwrap().display().to_string(), text);
        }
    }
    found
}

/// The modules, without the dictionary.
fn modules() -> BTreeMap<String, String> {
    files().into_iter().filter(|(name, _)| name.ends_with(".js") && name != "words.js").collect()
}

/// The dictionary: each key (`group.name`, or `group` for the word of the group itself) with its words.
fn dictionary() -> BTreeMap<String, Vec<String>> {
    let text = &files()["words.js"];
    let begin = text.find("const WORDS = {").expect("the dictionary begins");
    let end = begin + text[begin..].find("\n};").expect("the dictionary ends");
    let (mut words, mut group) = (BTreeMap::new(), String::new());
    for row in text[begin..end].lines().skip(1) {
        let row = row.trim();
        if let Some(name) = row.strip_suffix(": {") {
            group = name.to_owned();
        } else if row == "}," {
            group.clear();
        } else {
            let (name, pair) = row.split_once(": ").unwrap_or_else(|| panic!("no pair: {row}"));
            let name = name.trim_matches('\'');
            let key = match (group.as_str(), name) {
                ("", name) => name.to_owned(),
                (group, "_") => group.to_owned(),
                (group, name) => format!("{group}.{name}"),
            };
            let pair = pair.trim_end_matches(',').trim_start_matches('[').trim_end_matches(']');
            let pair = pair.trim_start_matches('\'').trim_end_matches('\'').split("', '");
            assert!(words.insert(key.clone(), pair.map(str::to_owned).collect()).is_none(), "{key} twice");
        }
    }
    words
}

/// What stands between `before` and the next `'`, wherever `before` does.
fn after<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(before).filter_map(move |(at, _)| {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let alone = !text[..at].chars().next_back().is_some_and(word);
        alone.then(|| text[at + before.len()..].split('\'').next()).flatten()
    })
}

#[test]
fn the_whole_page_weighs_less_than_200_kb() {
    // As it is sent: the build leaves indentation out, and lines that are only a comment of one line.
    let comment = |line: &&str| ["//", "/*"].iter().any(|begin| line.starts_with(begin));
    let sent = |text: &str| -> usize {
        let lines = text.lines().map(|line| line.trim_start_matches('\t'));
        lines.filter(|line| !comment(line)).map(|line| line.len() + 1).sum()
    };
    let sizes: BTreeMap<_, _> = files().into_iter().map(|(name, text)| (name, sent(&text))).collect();
    let all: usize = sizes.values().sum();
    assert!(all < MOST, "{all} bytes: {sizes:#?}");
}

#[test]
fn every_word_is_there_in_both_languages_with_the_same_places_to_fill() {
    let words = dictionary();
    assert!(words.len() > 300, "only {} words were read", words.len());
    let places = |text: &str| -> BTreeSet<String> {
        text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned())).collect()
    };
    for (key, pair) in &words {
        let [chinese, english] = pair.as_slice() else { panic!("{key} is no pair: {pair:?}") };
        assert!(!chinese.is_empty() && !english.is_empty(), "{key}: {pair:?}");
        assert_eq!(places(chinese), places(english), "{key}");
    }
}

#[test]
fn no_key_is_missing_and_none_is_left_over() {
    let words = dictionary();
    let groups: BTreeSet<&str> = words.keys().map(|key| key.split('.').next().unwrap_or(key)).collect();
    let modules = modules();
    let (mut used, mut by_group) = (BTreeSet::new(), BTreeSet::new());
    for (name, text) in &modules {
        for key in after(text, "t('") {
            assert!(words.contains_key(key), "{name} says {key}, for which there are no words");
            used.insert(key);
        }
        for group in after(text, "known('").chain(after(text, "pill('")) {
            assert!(groups.contains(group), "{name} says {group}.…, for which there are no words");
            by_group.insert(group);
        }
        // Keys that are chosen: `t(x ? 'a' : 'b')`, and those made of a name: t(`group.${name}`).
        used.extend(words.keys().map(String::as_str).filter(|key| text.contains(&format!("'{key}'"))));
        by_group.extend(
            text.split("t(`").skip(1).filter_map(|rest| rest.split_once(".$")).map(|(group, _)| group),
        );
    }
    let left: Vec<_> = words
        .keys()
        .filter(|key| {
            !used.contains(key.as_str()) && !by_group.contains(key.split('.').next().unwrap_or_default())
        })
        .collect();
    assert!(left.is_empty(), "nobody says {left:?}");
}

#[test]
fn nothing_in_the_page_reads_a_text_as_markup_style_or_script() {
    let refused = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
        "createContextualFragment",
        "setAttribute('style'",
        "srcdoc",
        "javascript:",
    ];
    for (name, text) in modules() {
        // The one place that refuses them has to name them.
        let text = if name == "dom.js" {
            text.replace("['style', 'srcdoc', 'innerHTML', 'outerHTML', 'formaction']", "")
        } else {
            text
        };
        for word in refused {
            assert!(!text.contains(word), "{name} has {word}");
        }
    }
    let index = &files()["index.html"];
    for word in ["<style", "style=", " onload", "onclick", "http://", "https://"] {
        assert!(!index.contains(word), "index.html has {word}");
    }
    assert!(!index.contains("<script>"), "index.html has an inline script");
}

#[test]
fn the_page_names_no_other_server() {
    for (name, text) in files() {
        for scheme in ["https://", "http://", "url(//", "@import"] {
            for (at, _) in text.match_indices(scheme) {
                let rest: String = text[at..].chars().take(40).collect();
                let known = ["http://www.w3.org/", "https://www.example.gov.cn"]
                    .iter()
                    .any(|own| rest.starts_with(own));
                assert!(known, "{name} names {rest}");
            }
        }
    }
}

#[test]
fn the_page_waits_for_no_event_that_the_server_does_not_send() {
    const SENT: [&str; 5] = ["changed", "crawl", "job", "missed", "refresh"];
    let mut lists = 0;
    for (name, text) in modules() {
        // Lists of names of events: of words, with one that is certainly such a name.
        for list in text.split('[').skip(1).filter_map(|rest| rest.split_once(']').map(|(list, _)| list)) {
            let names: Vec<_> = list.split(", ").map(|name| name.trim_matches('\'')).collect();
            let quoted = list.split(", ").all(|name| name.starts_with('\'') && name.ends_with('\''));
            if quoted && names.iter().any(|name| ["changed", "job"].contains(name)) {
                lists += 1;
                assert!(names.iter().all(|event| SENT.contains(event)), "{name}: {names:?}");
            }
        }
    }
    assert!(lists > 10, "only {lists} were found");
}
