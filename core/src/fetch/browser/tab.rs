//! A browser context with one page in it, made for one fetch: no cookie, no cache and no storage passes from it to
//! another.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::cdp::{Cdp, CdpError, Event};
use super::proxy::Proxy;
use crate::fetch::error::FetchErrorKind;

/// A context with one page in it; both go when it is dropped.
pub(super) struct Tab {
    pub cdp: Cdp,
    pub context: String,
    pub session: String,
    pub frame: String,
    pub to: mpsc::WeakSender<Event>,
    pub events: mpsc::Receiver<Event>,
}

impl Tab {
    pub async fn open(cdp: &Cdp, proxy: &Proxy<'_>) -> Result<Tab, FetchErrorKind> {
        let (to, events) = Cdp::queue();
        let way = json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://{}", proxy.address()?),
            "proxyBypassList": "<-loopback>",
        });
        let made = cdp.call(None, "Target.createBrowserContext", way).await.map_err(own)?;
        let mut tab = Tab {
            cdp: cdp.clone(),
            context: text(&made, "browserContextId")?,
            session: String::new(),
            frame: String::new(),
            to: to.downgrade(),
            events,
        };
        let wanted = json!({ "url": "about:blank", "browserContextId": tab.context });
        let made = cdp.call(None, "Target.createTarget", wanted).await.map_err(own)?;
        // The main frame has its target's name.
        tab.frame = text(&made, "targetId")?;
        let wanted = json!({ "targetId": tab.frame, "flatten": true });
        let attached = cdp.call(None, "Target.attachToTarget", wanted).await.map_err(own)?;
        tab.session = text(&attached, "sessionId")?;
        cdp.listen(&tab.session, to);
        Ok(tab)
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.cdp.forget(&self.session);
        self.cdp.tell(None, "Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
    }
}

/// Its own trouble, which says nothing about the host.
pub(super) fn own(error: CdpError) -> FetchErrorKind {
    FetchErrorKind::Backend(error.to_string())
}

fn text(value: &Value, key: &str) -> Result<String, FetchErrorKind> {
    let found = value[key].as_str().map(str::to_owned);
    found.ok_or_else(|| FetchErrorKind::Backend(format!("it answered without {key}")))
}
