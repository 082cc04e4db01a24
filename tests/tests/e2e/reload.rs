//! Development mode: a changed adapter is used from its next turn on, without a pin and without a restart.

use dibao_replica::{Fault, FaultRule};

use crate::bed::{Bed, adapters, counts, crawl, site};

#[path = "../../../core/tests/hostile/make.rs"]
#[allow(dead_code, reason = "the sandbox's own tests use the rest")]
mod guest;

const XWFB: &str = "ndrc__xwfb";
const LIST: &str = "/xwdt/xwfb/index.html";

#[tokio::test(flavor = "multi_thread")]
async fn the_next_turn_of_a_crawl_under_way_runs_in_the_new_component() {
    let bed = Bed::new(40).await;
    let own = bed.data("own-adapters");
    std::fs::create_dir(&own).unwrap();
    let file = own.join("yaml-css.wasm");
    let bundled = std::fs::read(adapters().join("yaml-css.wasm")).unwrap();
    std::fs::write(&file, &bundled).unwrap();
    // Nothing is pinned: only development mode loads it at all.
    let pinned_only = bed.builder("pinned").adapters(&own).build().await.unwrap();
    let refused = pinned_only.import_site_config(&site("ndrc")).await.unwrap_err().to_string();
    assert!(refused.contains("is not pinned"), "{refused}");
    let engine = bed.builder("data").adapters(&own).development(true).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();

    // The old component has asked for the list; before the answer comes its file is another adapter, which finds nothing.
    let held = bed.replica.fault(FaultRule::new(Fault::Hold).path(LIST));
    let crawling = tokio::spawn({
        let engine = engine.clone();
        async move { crawl(&engine, XWFB).await }
    });
    bed.replica.wait_for(1, |seen| seen.path == LIST).await;
    let empty = guest::Guest { name: "yaml-css", ..guest::guest("") }.build();
    std::fs::write(&file, &empty).unwrap();
    bed.replica.remove_fault(held);
    let report = crawling.await.unwrap();
    assert_eq!(counts(&report), (0, 0, 0, 0));

    // Bytes that are no adapter leave the last good one in use; the first adapter again reads the list.
    std::fs::write(&file, &bundled[..bundled.len() / 2]).unwrap();
    assert_eq!(counts(&crawl(&engine, XWFB).await), (0, 0, 0, 0));
    std::fs::write(&file, &bundled).unwrap();
    assert_eq!(crawl(&engine, XWFB).await.items_new, 20);
}
