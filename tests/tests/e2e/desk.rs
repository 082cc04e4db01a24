//! The operator's desk on an engine that crawls for real: what he changes holds, survives imports, leaves audit rows,
//! and what cannot be done says why.

use dibao::config::parse_site;
use dibao::desk::{Actor, AuditQuery, BulkAct, DepartmentEdit, LogQuery, Paging, Pulse, RunAsk, TargetQuery};
use dibao::{Desk, Error, Refusal};
use serde_json::{Map, Value, json};

use crate::bed::{Bed, articles, crawl, site, site_file};

fn desk(engine: &dibao::Engine) -> Desk {
    engine.desk(Actor::new("amy", "test").request("r1"))
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn refusal<T: std::fmt::Debug>(done: Result<T, Error>) -> Refusal {
    let error = done.expect_err("it is refused");
    error.refusal().unwrap_or_else(|| panic!("no refusal: {error}"))
}

#[tokio::test]
async fn a_site_is_made_changed_and_removed_under_the_rules_of_site_files() {
    let bed = Bed::new(12).await;
    let engine = bed.engine("d").await;
    let desk = desk(&engine);
    let text = std::fs::read_to_string(site_file("ndrc")).unwrap();
    let row = desk.create_site(&text).await.unwrap();
    assert_eq!((row.site.code.as_str(), row.managed_by.as_str()), ("ndrc", "admin"));
    assert_eq!(refusal(desk.create_site(&text).await).code(), "exists");

    // The same checks as for a file, with the field.
    let bad = refusal(desk.update_site("ndrc", map(json!({"schedule": "99 * * * *"}))).await);
    assert_eq!((bad.http_status(), bad.field()), (422, Some("schedule")));
    let bad = refusal(desk.update_site("ndrc", map(json!({"shedule": "0 1 * * *"}))).await);
    assert_eq!(bad.field(), Some("shedule"));
    assert!(bad.to_string().contains("did you mean `schedule`"), "{bad}");
    let bad = refusal(desk.update_site("ndrc", map(json!({"ca_file": "/etc/passwd"}))).await);
    assert_eq!(bad.field(), Some("ca_file"));
    assert_eq!(refusal(desk.update_site("ndcr", Map::new()).await).http_status(), 404);

    let plan = json!({"nightly": "full"});
    let patch = map(json!({"schedule": "0 3 * * *", "site_name": "发改委", "crawl_plan": plan}));
    let row = desk.update_site("ndrc", patch).await.unwrap();
    assert_eq!((row.site.schedule.as_deref(), row.site.name.as_str()), (Some("0 3 * * *"), "发改委"));
    assert_eq!(row.crawl_plan, Some(plan));

    // An import leaves alone what was set by hand, and follows the file in the rest.
    let again = text.replace("interval_sec: 5", "interval_sec: 7");
    engine.import_site_config(&parse_site(&again, "ndrc.yaml").unwrap()).await.unwrap();
    let row = desk.site("ndrc").await.unwrap();
    assert_eq!((row.site.schedule.as_deref(), row.site.name.as_str()), (Some("0 3 * * *"), "发改委"));

    crawl(&engine, "ndrc__tz").await;
    let stored = articles(&engine, "ndrc__tz").await;
    let file = engine.files().os_path(stored[0].raw_html_path.as_deref().unwrap()).unwrap();
    assert!(file.exists());
    desk.delete_site("ndrc").await.unwrap();
    assert!(!file.exists() && desk.sites().await.unwrap().is_empty());
    assert!(engine.store().check().await.unwrap().is_empty());
    assert_eq!(refusal(desk.delete_site("ndrc").await).http_status(), 404);

    let audit = desk.audit(AuditQuery::default(), Paging::first(200)).await.unwrap().items;
    assert!(audit.iter().all(|row| (row.actor.as_str(), row.request.as_deref()) == ("amy", Some("r1"))));
    let outcomes = |action: &str| -> Vec<&str> {
        audit.iter().filter(|row| row.action == action).map(|row| row.outcome.as_str()).collect()
    };
    assert_eq!(outcomes("site.create"), ["exists", "ok"]);
    assert_eq!(outcomes("site.delete"), ["not_found", "ok"]);
    assert_eq!(outcomes("site.update"), ["ok", "not_found", "invalid", "invalid", "invalid"]);
}

#[tokio::test]
async fn a_target_is_a_column_and_what_was_set_by_hand_outlives_imports() {
    let bed = Bed::new(12).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let desk = desk(&engine);
    let dept = desk
        .create_department(DepartmentEdit {
            full_name: Some("发展改革局".into()),
            region: Some("清远".into()),
            ..Default::default()
        })
        .await
        .unwrap();
    let patch = json!({"name": "通知公告", "schedule": "15 4 * * *", "interval_sec": 9, "dept_id": dept.dept_id,
        "stop_after_duplicates": 4, "detail": {"title": "h1.x::text"}});
    let row = desk.update_target("ndrc__xwfb", map(patch)).await.unwrap();
    assert_eq!((row.target.name.as_str(), row.target.pace.interval_sec), ("通知公告", Some(9.0)));
    assert_eq!(row.department.as_ref().map(|dept| dept.dept_id), Some(dept.dept_id));
    assert_eq!(row.target.config["detail"]["title"], "h1.x::text");

    let made = json!({"column_id": "extra", "name": "另一个", "alias_of": "xwfb", "list_url": "https://www.ndrc.gov.cn/extra/"});
    desk.create_target("ndrc", map(made.clone())).await.unwrap();
    assert_eq!(refusal(desk.create_target("ndrc", map(made)).await).code(), "exists");
    let bad = json!({"column_id": "bad", "alias_of": "xwfb", "list_url": "https://www.ndrc.gov.cn/x/", "schedule": "x"});
    assert_eq!(refusal(desk.create_target("ndrc", map(bad)).await).field(), Some("schedule"));
    assert_eq!(
        refusal(desk.update_target("ndrc__xwfb", map(json!({"interval_sec": -1}))).await).field(),
        Some("interval_sec")
    );
    assert_eq!(
        refusal(desk.update_target("ndrc__xwfb", map(json!({"dept_id": 99}))).await).field(),
        Some("dept_id")
    );

    engine.import_site_config(&site("ndrc")).await.unwrap();
    let row = desk.target("ndrc__xwfb").await.unwrap();
    assert_eq!((row.target.name.as_str(), row.target.schedule.as_deref()), ("通知公告", Some("15 4 * * *")));
    assert_eq!(row.target.config["detail"]["title"], "h1.x::text");
    let extra = desk.target("ndrc__extra").await.unwrap();
    assert!(
        extra.target.enabled,
        "what was made by hand is not switched off by a file that does not name it"
    );

    // The parser in layers; an override is checked by the adapter, and `null` takes it back.
    let over = map(json!({"detail": {"title": "h2::text"}}));
    let parser = desk.set_parser("ndrc__xwfb", Some(over.clone())).await.unwrap();
    assert_eq!(
        (parser.parser_override.as_ref(), &parser.effective["detail"]["title"]),
        (Some(&over), &json!("h2::text"))
    );
    assert_eq!(
        refusal(desk.set_parser("ndrc__xwfb", Some(map(json!({"detail": 5})))).await).http_status(),
        422
    );
    assert_eq!(desk.set_parser("ndrc__xwfb", None).await.unwrap().parser_override, None);

    let found = |query: TargetQuery| {
        let desk = desk.clone();
        async move { desk.targets(query, Paging::default()).await.unwrap() }
    };
    assert_eq!(found(TargetQuery { q: Some("另一个 NDRC".into()), ..Default::default() }).await.total, 1);
    assert_eq!(
        found(TargetQuery { department: Some(dept.dept_id), ..Default::default() }).await.items[0]
            .target
            .code,
        "ndrc__xwfb"
    );
    desk.delete_target("ndrc__extra").await.unwrap();
    assert_eq!(refusal(desk.target("ndrc__extra").await).http_status(), 404);
    engine.import_site_config(&site("ndrc")).await.unwrap();
    assert_eq!(refusal(desk.target("ndrc__extra").await).http_status(), 404);
    desk.delete_department(dept.dept_id).await.unwrap();
    assert_eq!(desk.target("ndrc__xwfb").await.unwrap().department, None);
}

#[tokio::test]
async fn runs_by_hand_are_refused_where_a_target_is_off_or_in_line() {
    let bed = Bed::new(12).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let desk = desk(&engine);
    let job = desk.run_target("ndrc__tz", RunAsk::default()).await.unwrap();
    assert!(job > 0);
    assert_eq!(refusal(desk.run_target("ndrc__tz", RunAsk::default()).await).code(), "active");
    desk.toggle_target("ndrc__tz", false).await.unwrap();
    assert_eq!(refusal(desk.run_target("ndrc__tz", RunAsk::default()).await).code(), "disabled");
    desk.toggle_target("ndrc__tz", true).await.unwrap();
    let force = RunAsk { force: true, max_items: None };
    let outcomes = desk.run_targets(vec!["ndrc__tz".into(), "nowhere".into()], force).await.unwrap();
    let codes: Vec<_> = outcomes
        .iter()
        .map(|outcome| match &outcome.act {
            BulkAct::Refused { code, .. } => code.as_str(),
            _ => "ok",
        })
        .collect();
    assert_eq!(codes, ["active", "not_found"]);
}

#[tokio::test]
async fn an_article_goes_with_its_files_and_shared_contents_stay() {
    let bed = Bed::new(40).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let desk = desk(&engine);
    crawl(&engine, "ndrc__tz").await;
    let stored = articles(&engine, "ndrc__tz").await;
    let with_file = |from: usize| {
        let found = stored[from..]
            .iter()
            .position(|article| article.attachments.iter().any(|file| file.sha256.is_some()));
        &stored[from + found.expect("the replica has attachments")]
    };
    let one = with_file(0);
    let file = one.attachments.iter().find(|file| file.sha256.is_some()).unwrap();
    let blob =
        engine.files().os_path(&dibao::store::layout::blob_path(file.sha256.as_deref().unwrap())).unwrap();
    let named = engine.files().os_path(file.file_path.as_deref().unwrap()).unwrap();
    let sharers = stored
        .iter()
        .filter(|other| other.id != one.id && other.attachments.iter().any(|f| f.sha256 == file.sha256));
    let sharers: Vec<i64> = sharers.map(|article| article.id).collect();
    assert!(blob.exists() && named.exists());
    desk.delete_article(one.id).await.unwrap();
    assert!(!named.exists());
    assert_eq!(blob.exists(), !sharers.is_empty(), "the content stays while {sharers:?} have it");
    if !sharers.is_empty() {
        assert_eq!(desk.delete_articles(sharers.clone()).await.unwrap(), sharers.len() as u64);
        assert!(!blob.exists());
    }
    assert_eq!(refusal(desk.article(one.id).await).http_status(), 404);
    // All or none.
    let left = articles(&engine, "ndrc__tz").await;
    assert_eq!(refusal(desk.delete_articles(vec![left[0].id, one.id]).await).code(), "not_found");
    assert!(desk.article(left[0].id).await.is_ok());
    assert!(engine.store().check().await.unwrap().is_empty());
}

#[tokio::test]
async fn numbers_say_what_was_crawled_and_why_a_target_fails() {
    let bed = Bed::new(12).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let desk = desk(&engine);
    assert_eq!(desk.target_health("ndrc__tz").await.unwrap().pulse, Pulse::Never);
    let report = crawl(&engine, "ndrc__tz").await;
    let overview = desk.overview().await.unwrap();
    assert_eq!(
        (overview.articles, overview.articles_today),
        (u64::from(report.items_new), u64::from(report.items_new))
    );
    assert_eq!(overview.hours.iter().map(|hour| hour.articles).sum::<u64>(), u64::from(report.items_new));
    let days = desk.stats_by_day(3, Some("ndrc")).await.unwrap();
    assert_eq!((days.len(), days[2].fetched), (3, u64::from(report.items_new)));
    let sites = desk.stats_by_site().await.unwrap();
    assert_eq!((sites[0].site.as_str(), sites[0].articles), ("ndrc", u64::from(report.items_new)));
    assert_eq!(
        desk.stats_by_department().await.unwrap().last().unwrap().articles,
        u64::from(report.items_new)
    );
    assert!(desk.freshness().await.unwrap()[0].last_good_run.is_some());

    desk.update_target("ndrc__tz", map(json!({"list_url": "https://www.ndrc.gov.cn/nowhere/at/all/"})))
        .await
        .unwrap();
    engine.crawl("ndrc__tz").run().await.expect_err("the list is gone");
    let health = desk.target_health("ndrc__tz").await.unwrap();
    let trouble = health.trouble.expect("it fails");
    assert_eq!(
        (health.pulse, trouble.failures, trouble.advice.code),
        (Pulse::Failing, 1, "gone"),
        "{}",
        trouble.why
    );
    assert!(health.last_good_run.is_some() && !health.errors.is_empty());
    let errors =
        desk.logs(LogQuery { errors_only: true, ..Default::default() }, Paging::first(1)).await.unwrap();
    assert!(errors.total >= 1 && !errors.items[0].request.success);
    let all = desk
        .logs(LogQuery { target: Some("ndrc__tz".into()), ..Default::default() }, Paging::first(5))
        .await
        .unwrap();
    let next = Paging { cursor: all.cursor.clone(), ..Paging::first(5) };
    let more =
        desk.logs(LogQuery { target: Some("ndrc__tz".into()), ..Default::default() }, next).await.unwrap();
    assert!(more.items[0].id < all.items[4].id);
}
