use std::collections::HashMap;
use std::io::Write;

use clap::CommandFactory;

use super::*;
use crate::Cli;

fn layers(toml: &str, variables: &[(&str, &str)]) -> Result<Layers, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(toml.as_bytes()).unwrap();
    let variables: HashMap<String, OsString> =
        variables.iter().map(|(name, value)| (name.to_string(), OsString::from(value))).collect();
    Layers::of(&Cli::command(), Some(file.path().to_path_buf()), &|name| variables.get(name).cloned())
}

fn value(layers: &Layers, path: &str) -> String {
    let layer = layers.said.iter().find(|layer| layer.setting.path() == path);
    layer.map(|layer| layer.values.join(",")).unwrap_or_default()
}

#[test]
fn every_setting_is_an_option() {
    let command = Cli::command();
    command.clone().debug_assert();
    for setting in SETTINGS {
        let arg = option(&command, setting).unwrap_or_else(|| panic!("{} is no option", setting.path()));
        assert!(arg.get_help().is_some(), "{}", setting.path());
        for name in setting.scope.commands() {
            let sub = command.find_subcommand(name).unwrap();
            assert!(
                sub.get_arguments().any(|arg| arg.get_id() == setting.option),
                "{} of {name}",
                setting.path()
            );
        }
    }
}

#[test]
fn an_option_is_stronger_than_a_variable_and_that_than_the_file() {
    let said = layers(
        "[work]\njobs = 5\ndrain = 7\n[server]\nlisten = \"127.0.0.1:1\"",
        &[("DIBAO__WORK__JOBS", "6")],
    )
    .unwrap();
    let command = said.onto(Cli::command());
    let matches =
        command.clone().try_get_matches_from(["dibao", "serve", "--listen", "127.0.0.1:2"]).unwrap();
    let (_, serve) = matches.subcommand().unwrap();
    assert_eq!(serve.get_one::<u32>("jobs"), Some(&6));
    assert_eq!(serve.get_one::<std::time::Duration>("drain").unwrap().as_secs(), 7);
    assert_eq!(serve.get_one::<std::net::SocketAddr>("listen").unwrap().port(), 2);
    let matches = command.try_get_matches_from(["dibao", "run", "--jobs", "8"]).unwrap();
    assert_eq!(matches.subcommand().unwrap().1.get_one::<u32>("jobs"), Some(&8));
}

#[test]
fn a_bad_value_is_named_where_it_was_said() {
    let bad = |toml: &str, variables: &[(&str, &str)]| layers(toml, variables).err().unwrap();
    let words = bad("[server]\nlisten = \"nowhere\"", &[]);
    assert!(words.contains(":2: server.listen = \"nowhere\": invalid socket address"), "{words}");
    let words = bad("[work]\njobs = 100", &[]);
    assert!(words.contains(":2: work.jobs = \"100\": 100 is not in 0..=64"), "{words}");
    let words = bad("[log]\nformat = \"xml\"", &[]);
    assert!(words.contains("log.format = \"xml\": possible values: text, json"), "{words}");
    let words = bad("", &[("DIBAO__FETCH__INTERVAL", "soon")]);
    assert!(
        words.starts_with("variable DIBAO__FETCH__INTERVAL: fetch.interval = \"soon\": write a number"),
        "{words}"
    );
    let words = bad("", &[("DIBAO__SERVER__HTTPS", "maybe")]);
    assert!(words.contains("true or false"), "{words}");
    let words = bad("[log]\nverbose = -1", &[]);
    assert!(words.contains("log.verbose"), "{words}");
}

#[test]
fn names_of_older_deployments_are_heard() {
    let said = layers(
        "",
        &[
            ("DATABASE_URL", "mysql://user:secret@db/gov"),
            ("DATA_DIR", "/data/govcrawler"),
            ("SCHEDULER_RECONCILE_SEC", "60"),
            ("ADMIN_USER", "chief"),
            ("SKIP_CHROMIUM", "1"),
        ],
    )
    .unwrap();
    assert_eq!(value(&said, "store.data"), "/data/govcrawler");
    assert_eq!(value(&said, "work.reconcile"), "60");
    assert_eq!(value(&said, "server.admin_user"), "chief");
    assert_eq!(value(&said, "fetch.chromium"), "off");
    let said = layers("", &[("DATABASE_URL", "sqlite:///srv/dibao/dibao.db?mode=rwc")]).unwrap();
    assert_eq!(value(&said, "store.data"), "/srv/dibao");
    let said = layers("", &[("DATABASE_URL", "mysql://db/gov")]).unwrap();
    assert_eq!(value(&said, "store.data"), "");
}

#[test]
fn switches_and_lists_can_be_said_anywhere() {
    let said = layers("[fetch]\nallow_loopback = true\n[server]\nhost = [\"a.example\", \"b.example\"]\nhttps = false\n[log]\nverbose = 2", &[]).unwrap();
    let matches = said.onto(Cli::command()).try_get_matches_from(["dibao", "serve"]).unwrap();
    assert!(matches.get_flag("allow_loopback"));
    assert_eq!(matches.get_count("verbose"), 2);
    let (_, serve) = matches.subcommand().unwrap();
    assert!(!serve.get_flag("https"));
    assert_eq!(serve.get_many::<String>("host").unwrap().count(), 2);
    let said = layers("", &[("DIBAO__SERVER__HOST", "a.example, b.example")]).unwrap();
    assert_eq!(value(&said, "server.host"), "a.example,b.example");
}
