//! Crash safety: killed at any moment, as often as you like, a crawl ends where an undisturbed one ends.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::Duration;

use dibao::Engine;

use crate::bed::{Bed, site_file};
use crate::program::Program;
use crate::snapshot::{Snapshot, number};

const KILLS: u32 = 50;

/// A small generator of its own: the same moments on every run of the test, as far as a scheduler allows.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Crawls until it was killed so often, then lets it end.
async fn crawl_with_kills(bed: &Bed, data: &Path, what: &[&str], kills: u32, seed: u64) {
    let mut dice = Dice(seed);
    for kill in 0..kills {
        bed.forget();
        let mut program = Program::crawl(bed, data, what);
        // Most kills come in the midst of the work, some before the first request: while the database is opened,
        // migrated or recovered. A request's arrival is the signal; what is random is how far past it we get.
        let moment = async {
            if dice.below(8) == 0 {
                tokio::time::sleep(Duration::from_millis(dice.below(60))).await;
                return;
            }
            let requests = 1 + dice.below(9) as usize;
            bed.replica.wait_for(requests, |_| true).await;
            tokio::time::sleep(Duration::from_micros(dice.below(6_000))).await;
        };
        tokio::select! {
            () = moment => {}
            end = program.end() => panic!("the crawl was over after {kill} kills ({end}): give it more articles"),
        }
        let end = program.kill().await;
        assert_eq!(end.signal(), Some(9), "{end}: it was over before kill {kill} struck");
    }
    let end = Program::crawl(bed, data, what).end().await;
    assert!(end.success(), "{end}");
}

async fn assert_whole(bed: &Bed, name: &str) {
    let data = bed.data(name);
    let engine: Engine = bed.engine(name).await;
    assert_eq!(engine.store().check().await.expect("a check"), Vec::<String>::new());
    // What dead processes left half-written is swept when the store is opened: only our own place is there.
    let entries = std::fs::read_dir(data.join("tmp")).expect("tmp").flatten();
    let places: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    assert_eq!(places.len(), 1, "{places:?}");
    drop(engine);
    let twice = "SELECT count(*) FROM (SELECT 1 FROM article GROUP BY url_hash HAVING count(*) > 1)";
    assert_eq!(number(&data, twice), 0);
    // Every article and every file was counted by exactly one run, however many died.
    let counted = |column: &str| number(&data, &format!("SELECT sum({column}) FROM crawl_run"));
    assert_eq!(counted("new"), number(&data, "SELECT count(*) FROM article"));
    assert_eq!(
        counted("attachments"),
        number(&data, "SELECT count(*) FROM attachment WHERE download_status = 'done'")
    );
    assert_eq!(number(&data, "SELECT count(*) FROM crawl_run WHERE state <> 'done'"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_killed_at_fifty_moments_ends_as_an_undisturbed_one() {
    let bed = Bed::new(600).await;
    let file = site_file("ndrc");
    let what = [file.to_str().expect("a path in UTF-8")];
    crawl_with_kills(&bed, &bed.data("killed"), &what, KILLS, 2).await;
    let end = Program::crawl(&bed, &bed.data("calm"), &what).end().await;
    assert!(end.success(), "{end}");

    assert_whole(&bed, "killed").await;
    assert_whole(&bed, "calm").await;
    let (killed, calm) = (Snapshot::of(&bed.data("killed")), Snapshot::of(&bed.data("calm")));
    assert_eq!(calm.articles.len(), 600, "the undisturbed crawl has all articles");
    assert!(calm.attachments.len() > 100, "and attachments are among what was at stake");
    killed.assert_same(&calm);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_two_at_a_time_survives_kills_as_well() {
    let bed = Bed::new(400).await;
    let text = std::fs::read_to_string(site_file("ndrc")).expect("the site file");
    let file = bed.data("ndrc.yaml");
    std::fs::write(&file, format!("{text}\nconcurrency: 2\n")).expect("a site file");
    let what = [file.to_str().expect("a path in UTF-8")];
    crawl_with_kills(&bed, &bed.data("killed"), &what, 15, 3).await;
    let end = Program::crawl(&bed, &bed.data("calm"), &what).end().await;
    assert!(end.success(), "{end}");
    assert_whole(&bed, "killed").await;
    Snapshot::of(&bed.data("killed")).assert_same(&Snapshot::of(&bed.data("calm")));
}
