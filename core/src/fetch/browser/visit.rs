//! One page in a browser context of its own: opened, watched until it is complete, read, and gone.
//!
//! Complete is: loaded and quiet; then the selector that the site's settings name is there; then scrolling brings
//! nothing more. A firewall's page is given time to load the real one. What does not come in time is not waited for:
//! the page is taken as it stands.

use std::future::Future;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::cdp::{Cdp, Event};
use super::options::BrowserOptions;
use super::proxy::Proxy;
use super::read;
use super::relay::Relay;
use super::screening::{Paused, Word};
use super::tab::{Tab, own};
use super::watch::Watch;
use crate::fetch::backend::{BackendOrder, BackendPage};
use crate::fetch::error::{FetchErrorKind, Phase};
use crate::fetch::rendering::{Part, Rendering};

/// A page that asked for nothing for this long is at rest; as long as Chromium's own measure.
const QUIET: Duration = Duration::from_millis(500);
/// Between two looks at a page.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A page with its parts may load so many times the size of the largest page.
const TRAFFIC: u64 = 8;
/// Kept of the time for reading what is there.
const READING: Duration = Duration::from_secs(2);

/// Fetches one page. Dropping the future closes the page.
pub(super) async fn visit(
    cdp: &Cdp,
    relay: &Relay,
    options: &BrowserOptions,
    order: &BackendOrder<'_>,
) -> Result<BackendPage, FetchErrorKind> {
    let begin = Instant::now();
    let proxy = Proxy::open(order.screen, &relay.acceptor, order.body_cap.saturating_mul(TRAFFIC)).await?;
    let work = async {
        let tab = Tab::open(cdp, &proxy).await?;
        let mut visit = Visit::new(tab, options, order, begin);
        visit.prepare().await?;
        visit.load(&proxy).await?;
        let mut page = visit.read().await?;
        page.bytes = proxy.bytes();
        Ok(page)
    };
    tokio::select! {
        done = work => done,
        () = proxy.serve() => Err(FetchErrorKind::Backend("its proxy ended".to_owned())),
    }
}

/// A page under way.
pub(super) struct Visit<'a> {
    tab: Tab,
    pub options: &'a BrowserOptions,
    pub order: &'a BackendOrder<'a>,
    pub watch: Watch,
    block: &'a [Part],
    /// Requests that went out.
    pub requests: u32,
    /// Why the page itself was not loaded.
    refused: Option<FetchErrorKind>,
    /// What is there by then is taken.
    deadline: Instant,
}

impl<'a> Visit<'a> {
    fn new(tab: Tab, options: &'a BrowserOptions, order: &'a BackendOrder<'a>, begin: Instant) -> Visit<'a> {
        let watch = Watch::new(&tab.frame, begin);
        let block = order.rendering.block.as_deref().unwrap_or(&options.block);
        let deadline = begin + order.timeout.saturating_sub(READING.min(order.timeout / 5));
        Visit { tab, options, order, watch, block, requests: 0, refused: None, deadline }
    }

    /// Who asks, what is watched, and what pages may not do.
    async fn prepare(&mut self) -> Result<(), FetchErrorKind> {
        let context = self.tab.context.clone();
        let header = |name: &str| self.order.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        let mut agent = json!({ "userAgent": header("user-agent").unwrap_or("dibao") });
        if let Some(languages) = header("accept-language") {
            agent["acceptLanguage"] = read::languages(languages).into();
        }
        let none = json!({});
        for (session, method, params) in [
            (
                false,
                "Browser.setDownloadBehavior",
                json!({ "behavior": "deny", "browserContextId": context }),
            ),
            (true, "Page.enable", none.clone()),
            (true, "Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            (
                true,
                "Network.enable",
                json!({ "maxTotalBufferSize": self.order.body_cap * 2, "maxResourceBufferSize": self.order.body_cap }),
            ),
            (true, "Network.setBypassServiceWorker", json!({ "bypass": true })),
            (true, "Inspector.enable", none.clone()),
            (true, "Emulation.setUserAgentOverride", agent),
            (true, "Fetch.enable", none.clone()),
            (true, "Target.setAutoAttach", attach()),
        ] {
            self.call(session, method, params).await?;
        }
        // One by one: Chromium refuses all of them for one that it does not like.
        for cookie in read::to_browser(self.order.cookies) {
            let set = json!({ "cookies": [cookie], "browserContextId": self.context() });
            if let Err(why) = self.call(false, "Storage.setCookies", set).await {
                tracing::debug!(%why, "a cookie of the pool is not taken");
            }
        }
        Ok(())
    }

    /// Until the page is complete, or its time is over.
    async fn load(&mut self, proxy: &Proxy<'_>) -> Result<(), FetchErrorKind> {
        let went = self.call(true, "Page.navigate", json!({ "url": self.order.url.as_str() })).await?;
        if let Some(error) = went["errorText"].as_str().filter(|error| !error.is_empty()) {
            // What explains it may come a moment later.
            let soon = Instant::now() + QUIET;
            self.until(soon, |watch, _| watch.download).await?;
            return Err(self.why(error, proxy));
        }
        let patience = Instant::now() + self.options.patience;
        loop {
            self.settle().await?;
            if let Some(kind) = self.refused.take_if(|_| self.watch.head().is_none()) {
                return Err(kind);
            }
            if self.watch.head().is_none() {
                // An error page of Chromium's own: a script led us there.
                let at = self.watch.url.as_deref().and_then(|url| Url::parse(url).ok());
                let trouble =
                    at.and_then(|url| proxy.trouble(&url)).or_else(|| proxy.trouble(self.order.url));
                return Err(
                    trouble.unwrap_or_else(|| FetchErrorKind::Backend("the page came to nothing".into()))
                );
            }
            // A firewall's page loads the real one by itself, if it means to.
            let stood = self.watch.documents;
            if !self.is_turned_away().await? {
                break;
            }
            let left = patience.min(self.deadline);
            if !self.until(left, |watch, _| watch.documents > stood).await? {
                return Ok(());
            }
        }
        if let Some(selector) = &self.order.rendering.wait_for {
            self.wait_for(selector).await?;
        }
        self.scroll().await
    }

    async fn settle(&mut self) -> Result<(), FetchErrorKind> {
        let settle = self.options.settle;
        let settled =
            self.until(self.deadline, move |watch, now| watch.is_settled(now, QUIET, settle)).await?;
        if settled || self.watch.is_ready() {
            return Ok(());
        }
        Err(FetchErrorKind::Timeout { what: Phase::Total, after: self.order.timeout })
    }

    async fn wait_for(&mut self, selector: &str) -> Result<(), FetchErrorKind> {
        let asked = format!("!!document.querySelector({})", Value::from(selector));
        while Instant::now() < self.deadline {
            let found = self.ask(&asked).await.map_err(|kind| match kind {
                FetchErrorKind::Backend(why) if why.contains("selector") => FetchErrorKind::Setup(format!(
                    "`browser.wait_for` of the site: {selector:?} is no CSS selector"
                )),
                other => other,
            })?;
            if found == true {
                return Ok(());
            }
            let now = Instant::now();
            self.until(now + LOOK_EVERY, |_, _| false).await?;
        }
        tracing::debug!(selector, url = %self.order.url, "nothing matched in time; the page is taken as it stands");
        Ok(())
    }

    /// To the end, again and again, while the page grows.
    async fn scroll(&mut self) -> Result<(), FetchErrorKind> {
        const TO_END: &str = "(() => { const e = document.scrollingElement || document.documentElement; \
            window.scrollTo(0, e.scrollHeight); return [e.scrollHeight, document.getElementsByTagName('*').length]; })()";
        let mut before = Value::Null;
        for _ in 0..self.order.rendering.scroll.min(Rendering::MOST_SCROLLS) {
            let now = self.ask(TO_END).await?;
            if now == before || Instant::now() >= self.deadline {
                break;
            }
            before = now;
            let (begin, limit) = (Instant::now(), self.options.settle);
            let rest = self.deadline.min(begin + limit);
            // What scrolling asks for is asked for at once; then it is waited for.
            self.until(rest, move |watch, now| now >= begin + QUIET && watch.is_quiet(now, QUIET)).await?;
        }
        Ok(())
    }

    pub fn context(&self) -> &str {
        &self.tab.context
    }

    /// Asks the page something, where its own scripts cannot meddle.
    pub async fn ask(&mut self, question: &str) -> Result<Value, FetchErrorKind> {
        for attempt in 0..2 {
            let world = json!({ "frameId": self.watch.frame, "worldName": "dibao" });
            let world = self.call(true, "Page.createIsolatedWorld", world).await?;
            let asked = json!({
                "expression": question,
                "contextId": world["executionContextId"],
                "returnByValue": true,
            });
            match self.call(true, "Runtime.evaluate", asked).await {
                // The page went on to another one meanwhile.
                Err(FetchErrorKind::Backend(why)) if attempt == 0 && why.contains("context") => (),
                Err(kind) => return Err(kind),
                Ok(answer) => match answer.get("exceptionDetails") {
                    None => return Ok(answer["result"]["value"].clone()),
                    Some(thrown) => {
                        let told = thrown["exception"]["description"].as_str().unwrap_or("a script failed");
                        return Err(FetchErrorKind::Backend(told.chars().take(200).collect()));
                    }
                },
            }
        }
        Err(FetchErrorKind::Backend("the page does not stand still".to_owned()))
    }

    /// Carries out a command while the page's events are looked after; without those it would never be answered.
    pub async fn call(
        &mut self,
        in_page: bool,
        method: &'static str,
        params: Value,
    ) -> Result<Value, FetchErrorKind> {
        let (cdp, session) = (self.tab.cdp.clone(), self.tab.session.clone());
        let call = async move { cdp.call(in_page.then_some(session.as_str()), method, params).await };
        self.beside(call).await?.map_err(own)
    }

    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> Result<T, FetchErrorKind> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                event = self.tab.events.recv() => self.on(event)?,
            }
        }
    }

    /// Whether it came true before the time was over.
    async fn until(
        &mut self,
        end: Instant,
        test: impl Fn(&Watch, Instant) -> bool,
    ) -> Result<bool, FetchErrorKind> {
        loop {
            let now = Instant::now();
            if test(&self.watch, now) {
                return Ok(true);
            }
            if now >= end {
                return Ok(false);
            }
            if let Ok(event) = timeout_at(end.min(now + LOOK_EVERY), self.tab.events.recv()).await {
                self.on(event)?;
            }
        }
    }

    fn on(&mut self, event: Option<Event>) -> Result<(), FetchErrorKind> {
        let Some(event) = event else {
            let why = "it ended in the middle of a page, or the page did more than can be watched";
            return Err(FetchErrorKind::Backend(why.to_owned()));
        };
        let session = event.session.as_str();
        match event.method.as_str() {
            "Fetch.requestPaused" => self.paused(session, &event.params),
            "Page.javascriptDialogOpening" => {
                // To leave a page is always allowed; everything else is "cancel".
                let accept = event.params["type"] == "beforeunload";
                self.tab.cdp.tell(Some(session), "Page.handleJavaScriptDialog", json!({ "accept": accept }));
            }
            "Target.attachedToTarget" => self.attached(&event.params),
            method => self.watch.note(method, &event.params, Instant::now()),
        }
        match self.watch.crashed {
            true => Err(FetchErrorKind::Backend("the page crashed".to_owned())),
            false => Ok(()),
        }
    }

    /// Decides about a request of the page.
    fn paused(&mut self, session: &str, params: &Value) {
        let Some(paused) = Paused::read(params, &self.watch.frame) else { return };
        let reason = match paused.judge(self.order.screen, self.block) {
            Word::Go => {
                self.requests = self.requests.saturating_add(1);
                let mut go = json!({ "requestId": paused.id });
                if let Some(headers) = read::headers_for(&paused, params, self.order) {
                    go["headers"] = headers;
                }
                self.tab.cdp.tell(Some(session), "Fetch.continueRequest", go);
                return;
            }
            Word::Skip => "BlockedByClient",
            Word::Refuse(why) => {
                tracing::debug!(url = paused.url, %why, "a request of the page was refused");
                if paused.is_page {
                    self.refused = Some(why);
                }
                "AccessDenied"
            }
        };
        let refuse = json!({ "requestId": paused.id, "errorReason": reason });
        self.tab.cdp.tell(Some(session), "Fetch.failRequest", refuse);
    }

    /// A frame or a worker of the page: it waits until its requests are looked at too.
    fn attached(&self, params: &Value) {
        let (Some(session), Some(to)) = (params["sessionId"].as_str(), self.tab.to.upgrade()) else { return };
        let cdp = &self.tab.cdp;
        cdp.listen(session, to);
        for (method, params) in [
            ("Fetch.enable", json!({})),
            ("Target.setAutoAttach", attach()),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ] {
            cdp.tell(Some(session), method, params);
        }
    }

    /// Why there is no page, in the gate's words.
    fn why(&mut self, error: &str, proxy: &Proxy<'_>) -> FetchErrorKind {
        if let Some(kind) = self.refused.take() {
            return kind;
        }
        if self.watch.download {
            return FetchErrorKind::Backend(
                "the address is a download and no page; files come by HTTP".to_owned(),
            );
        }
        // Of a redirect to another host nobody remembers the address; its trouble is the only one there.
        if let Some(kind) = proxy.trouble(self.order.url) {
            return kind;
        }
        read::net_error(error)
    }
}

fn attach() -> Value {
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })
}
