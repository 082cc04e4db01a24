//! The outbox: what is announced is announced with what it announces, at least once, under one key.

use std::collections::BTreeMap;

use dibao::crawl::Enricher;
use dibao::deliver::alert::AlertRule;
use dibao::deliver::{Announces, Channels, DELIVER, Delivery, DeliveryError, Message, Notice, Receipt, lane};
use dibao::model::Article;
use dibao::queue::{
    Handlers, Hold, JobContext, JobDone, JobFailed, JobHandler, JobQuery, JobResult, JobState, NewJob,
    WorkOptions,
};
use dibao::{CrawlJob, ErrorClass, Timestamp};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::crawls::bed::{Bed, articles, site};
use super::receiver::Receiver;
use super::workers::Shop;

fn deliveries(channel: &str) -> JobQuery {
    JobQuery { lane: Some(lane(channel)), limit: 10_000, ..JobQuery::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_articles_announce_themselves_once_and_only_where_somebody_listens() {
    let bed = Bed::new(30).await;
    let receiver = Receiver::start("ok").await;
    std::fs::create_dir_all(bed.data("data")).unwrap();
    let text = format!(
        "[channels.all]\nkind = \"webhook\"\nurl = \"{0}/all\"\ntell = [\"articles\"]\n\
         [channels.elsewhere]\nkind = \"webhook\"\nurl = \"{0}/no\"\ntell = [\"articles\"]\nsites = [\"gdqy\"]\n\
         [channels.quiet]\nkind = \"webhook\"\nurl = \"{0}/no\"",
        receiver.url
    );
    std::fs::write(bed.data("data").join("channels.toml"), text).unwrap();
    let engine = bed.engine_with("data", &site("ndrc")).await;
    engine.crawl("ndrc__tz").max_items(8).run().await.unwrap();
    let stored = articles(&engine, "ndrc__tz").await;
    let table = engine.queue().table();
    let waiting = table.jobs(deliveries("all")).await.unwrap();
    assert!(waiting.len() == stored.len() && !stored.is_empty(), "{} of {}", waiting.len(), stored.len());
    assert!(table.jobs(deliveries("elsewhere")).await.unwrap().is_empty());
    // The first answer is lost on the way: that one is told again.
    receiver.answer(500, "oh", None);
    let stop = CancellationToken::new();
    let work = engine.queue().work(engine.handlers(), WorkOptions::default(), stop.clone(), false);
    let wait = async {
        let first = loop {
            let jobs = table.jobs(deliveries("all")).await.unwrap();
            let failed = jobs.iter().find(|job| job.state == JobState::RetryWait);
            if let Some(failed) = failed {
                break failed.clone();
            }
            tokio::task::yield_now().await;
        };
        assert!(first.error.unwrap().contains("500") && first.due_at > first.started_at.unwrap());
        engine.queue().retry(first.id).await.unwrap();
        for job in &waiting {
            let ended = engine.queue().wait(job.id).await.unwrap().unwrap();
            assert_eq!((ended.state, ended.response.as_deref()), (JobState::Done, Some("200 ok")));
        }
        stop.cancel();
    };
    let (worked, ()) = tokio::join!(work, wait);
    worked.unwrap();
    let mut keys: BTreeMap<String, u32> = BTreeMap::new();
    for heard in receiver.heard() {
        assert_eq!(heard.path, "/all");
        *keys.entry(heard.header("idempotency-key").to_owned()).or_default() += 1;
    }
    let mut expected: Vec<String> =
        stored.iter().map(|article| format!("article:{}", article.url_hash)).collect();
    expected.sort();
    assert_eq!(keys.keys().cloned().collect::<Vec<_>>(), expected);
    assert_eq!(keys.values().sum::<u32>() as usize, stored.len() + 1, "one of them twice, with the same key");
    engine.crawl("ndrc__tz").max_items(8).run().await.unwrap();
    assert_eq!(
        table.jobs(deliveries("all")).await.unwrap().len(),
        stored.len(),
        "known articles are no news"
    );
}

/// Never gets through.
struct Nowhere;

impl Delivery for Nowhere {
    fn send<'a>(&'a self, _: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async { Err(DeliveryError::new(ErrorClass::Config, "there is no way")) })
    }
}

/// Fails as long as its payload says so.
struct Flaky;

impl JobHandler for Flaky {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            match job.job.payload["fails"].as_bool() {
                Some(true) => Err(JobFailed::Error {
                    class: ErrorClass::Shape,
                    message: "another layout".into(),
                    not_before: None,
                }),
                _ => Ok(JobDone::default()),
            }
        })
    }
}

#[tokio::test]
async fn what_keeps_failing_is_told_with_the_failure_that_crosses_the_rule() {
    let told = Announces { alerts: true, ..Announces::default() };
    let rule = AlertRule { after: 3, repeat: None, ..AlertRule::default() };
    let channels = Channels::default().with("ops", Nowhere, told).alert_rule(rule);
    let mut shop = Shop::open();
    shop.queue = shop.queue.clone().alerting(channels.alerts(&["crawl"]));
    let run = async |target: &str, kind: &str, fails: bool| {
        let payload = serde_json::json!({"target": target, "fails": fails});
        shop.queue.submit(NewJob::new(kind, "a").payload(payload)).await.unwrap();
        shop.work(Handlers::new().with("crawl", Flaky).with("other", Flaky)).await;
        let mut said = shop.queue.table().jobs(deliveries("ops")).await.unwrap();
        said.reverse();
        said.into_iter()
            .map(|job| match serde_json::from_value(job.payload).unwrap() {
                Notice::Message(message) => (message.event.clone(), *message),
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert!(run("t1", "crawl", true).await.is_empty());
    }
    assert!(run("t2", "crawl", true).await.is_empty(), "another target has its own count");
    for _ in 0..4 {
        assert!(run("t3", "other", true).await.is_empty(), "another kind is not watched");
    }
    let said = run("t1", "crawl", true).await;
    assert_eq!(said.len(), 1);
    let (event, message) = &said[0];
    assert_eq!((event.as_str(), message.value("target"), message.value("failures")), ("alert", "t1", "3"));
    assert!(message.text.contains("another layout") && message.value("error_class") == "shape");
    assert_eq!(run("t1", "crawl", true).await.len(), 1, "said once");
    let said = run("t1", "crawl", false).await;
    assert_eq!(said.last().unwrap().0, "recovered");
    assert_eq!(run("t1", "crawl", false).await.len(), 2, "and that it is over, once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_cannot_deliver_fails_alone_and_says_why() {
    let bed = Bed::new(20).await;
    let listens = Announces { articles: true, ..Announces::default() };
    let channels = Channels::default().with("lost", Nowhere, listens);
    let engine = bed.builder("data").channels(channels).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    engine
        .submit_crawl(CrawlJob { target: "ndrc__tz".into(), max_items: Some(2), force: false }, 0)
        .await
        .unwrap();
    let gone = Notice::Article(999_999).job("lost", "gone");
    let text = Message::new("", "test", "hello", Timestamp(0));
    let unknown = Notice::Message(Box::new(text)).job("nobody", "hello");
    let ids = engine.queue().submit_all(vec![gone, unknown]).await.unwrap();
    engine
        .queue()
        .work(engine.handlers(), WorkOptions::default(), CancellationToken::new(), true)
        .await
        .unwrap();
    let table = engine.queue().table();
    let job = table.job(ids[0].id).await.unwrap().unwrap();
    assert!(job.state == JobState::Failed && job.error.as_deref().unwrap().contains("999999"), "{job:?}");
    let job = table.job(ids[1].id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Queued, "a process that knows the channel will tell it");
    assert!(!articles(&engine, "ndrc__tz").await.is_empty(), "the crawl went its way");
    let query = JobQuery { kind: Some(DELIVER.into()), states: vec![JobState::Failed], ..deliveries("lost") };
    assert!(table.jobs(query).await.unwrap().len() >= 2, "each announcement failed, with its reason");
}

/// Counts characters, or has a bad day.
struct Counts(bool);

impl Enricher for Counts {
    fn enrich<'a>(&'a self, article: &'a Article) -> BoxFuture<'a, Result<Vec<(String, String)>, String>> {
        let length = article.content_text.chars().count().to_string();
        Box::pin(async move {
            match self.0 {
                true => Ok(vec![("length".to_owned(), length)]),
                false => Err("the service is down".to_owned()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_are_enriched_before_they_are_stored_and_stored_when_they_cannot_be() {
    let bed = Bed::new(20).await;
    let engine = bed.builder("data").enricher(Counts(true)).enricher(Counts(false)).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    engine.crawl("ndrc__tz").max_items(2).run().await.unwrap();
    let stored = articles(&engine, "ndrc__tz").await;
    assert!(!stored.is_empty());
    for article in stored {
        assert_eq!(article.metadata["length"], article.content_text.chars().count().to_string());
        assert_eq!(article.metadata["enrich_error"], "the service is down");
    }
}

/// Says "not so fast" for a minute, and counts who did not listen.
struct Hasty(std::sync::Arc<std::sync::atomic::AtomicU32>);

impl Delivery for Hasty {
    fn send<'a>(&'a self, _: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let wait = Some(std::time::Duration::from_secs(60));
        let error =
            DeliveryError { class: ErrorClass::Busy, message: "not so fast".into(), retry_after: wait };
        Box::pin(async { Err(error) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_asks_for_time_is_left_alone_by_everything_that_waits_for_it() {
    let bed = Bed::new(1).await;
    let sent = std::sync::Arc::<std::sync::atomic::AtomicU32>::default();
    let channels = Channels::default().with("slow", Hasty(sent.clone()), Announces::default());
    let engine = bed.builder("data").channels(channels).build().await.unwrap();
    let jobs = (0..10).map(|n| {
        let message = Message::new("", "test", "hello", Timestamp(0));
        Notice::Message(Box::new(message)).job("slow", &n.to_string())
    });
    engine.queue().submit_all(jobs.collect()).await.unwrap();
    let stop = CancellationToken::new();
    let work = engine.queue().work(engine.handlers(), WorkOptions::default(), stop.clone(), false);
    let wait = async {
        loop {
            let jobs = engine.queue().table().jobs(deliveries("slow")).await.unwrap();
            if jobs.iter().all(|job| job.state == JobState::RetryWait) {
                stop.cancel();
                return jobs;
            }
            tokio::task::yield_now().await;
        }
    };
    let (worked, jobs) = tokio::join!(work, wait);
    worked.unwrap();
    assert_eq!(sent.load(std::sync::atomic::Ordering::SeqCst), 1, "one hears it, all heed it");
    for job in jobs {
        assert_eq!(
            (job.attempts, job.hold, job.hold_why.as_deref()),
            (0, Some(Hold::Host), Some("not so fast"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_without_the_secret_cannot_tell_waits_for_one_that_has_it() {
    let bed = Bed::new(1).await;
    let receiver = Receiver::start("ok").await;
    std::fs::create_dir_all(bed.data("data")).unwrap();
    let file = bed.data("data").join("channels.toml");
    let secret = bed.data("data").join("url");
    let text = format!("[channels.it]\nkind = \"webhook\"\nurl = {{ file = \"{}\" }}", secret.display());
    std::fs::write(file, text).unwrap();
    let message = Message::new("", "test", "hello", Timestamp(0));
    let job = Notice::Message(Box::new(message)).job("it", "hello");
    let work = async |id: Option<i64>| {
        let engine = bed.engine("data").await;
        let id = match id {
            Some(id) => id,
            None => engine.queue().submit(job.clone()).await.unwrap().id,
        };
        let options = WorkOptions::default();
        engine.queue().work(engine.handlers(), options, CancellationToken::new(), true).await.unwrap();
        engine.queue().table().job(id).await.unwrap().unwrap()
    };
    let waits = work(None).await;
    assert_eq!((waits.state, waits.attempts), (JobState::Queued, 0), "{waits:?}");
    std::fs::write(secret, format!("{}/hook", receiver.url)).unwrap();
    assert_eq!(work(Some(waits.id)).await.state, JobState::Done);
    assert_eq!(receiver.heard().len(), 1);
}
