//! No page makes the browser connect where the gate would not: counted at the sockets.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use dibao::fetch::{FetchErrorKind, NameLookup, Rendering, Resolve};
use dibao_replica::{Fault, FaultRule};
use futures::future::BoxFuture;

use crate::bed::Bed;
use crate::stage::{GDQY, chromium, gate, granted, put, quick, rendered};

/// Every name it is asked about is this machine.
struct Rebinding;

impl NameLookup for Rebinding {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![Ipv4Addr::LOCALHOST.into()])))
    }
}

/// A place where nobody should come.
struct Trap {
    tcp: TcpListener,
    udp: UdpSocket,
    port: u16,
}

impl Trap {
    fn new() -> Trap {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        udp.set_nonblocking(true).unwrap();
        Trap { tcp, udp, port }
    }

    /// Connections and packets so far. The system completes connections, so none is missed.
    fn caught(&self) -> usize {
        let blocked = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let mut count = 0;
        loop {
            match self.tcp.accept() {
                Ok(_) => count += 1,
                Err(error) => break blocked(error),
            }
        }
        loop {
            match self.udp.recv(&mut [0; 2048]) {
                Ok(_) => count += 1,
                Err(error) => break blocked(error),
            }
        }
        count
    }

    /// A page that tries to come here in every way there is.
    fn page(&self) -> String {
        let port = self.port;
        let places = [
            format!("http://127.0.0.1:{port}/"),
            format!("http://localhost:{port}/"),
            format!("http://2130706433:{port}/"),
            format!("http://0x7f.1:{port}/"),
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            format!("http://0.0.0.0:{port}/"),
            format!("http://rebound.gov.cn:{port}/"),
            format!("https://rebound.gov.cn:{port}/"),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            "http://10.0.0.1/".to_owned(),
            format!("https://{GDQY}/leads-there"),
        ];
        let markup: String = places
            .iter()
            .map(|place| {
                let socket = place.replacen("http", "ws", 1);
                format!(
                    "<img src={place}a><iframe src={place}b></iframe><link rel=stylesheet href={place}c>\
                     <script src={place}d></script><link rel=prefetch href={place}e><link rel=preload as=fetch href={place}f>\
                     <link rel=dns-prefetch href={place}><link rel=preconnect href={place}><object data={place}g></object>\
                     <video src={place}h></video><form id=f{port} target=x action={place}k></form><script>\
                     for(const go of [()=>fetch('{place}i',{{mode:'no-cors'}}),()=>new WebSocket('{socket}'),()=>new EventSource('{place}j'),\
                     ()=>navigator.sendBeacon('{place}l'),()=>window.open('{place}m'),\
                     ()=>new Worker(URL.createObjectURL(new Blob([\"fetch('{place}n',{{mode:'no-cors'}});importScripts('{place}o')\"]))),\
                     ()=>new WebTransport('https://127.0.0.1:{port}/')]){{try{{const p=go();p&&p.catch&&p.catch(()=>0)}}catch(e){{}}}}</script>"
                )
            })
            .collect();
        format!(
            "{markup}<script>try{{const c=new RTCPeerConnection({{iceServers:[{{urls:'stun:127.0.0.1:{port}'}}]}});\
             c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))}}catch(e){{}}</script><p>tried</p>"
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_page_loads_reaches_a_forbidden_address() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(20).await;
    let trap = Trap::new();
    let there = Fault::RedirectTo { location: format!("http://127.0.0.1:{}/", trap.port) };
    bed.replica.fault(FaultRule::new(there).path("/leads-there"));
    let url = put(&bed, "/hostile", &trap.page());
    let all = || Rendering { block: Some(Vec::new()), ..Rendering::default() };
    let guarded = gate(&bed, quick(), |options| options.lookup = Some(Arc::new(Rebinding)));
    let fetched = guarded.fetch(&rendered(&url, all())).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(String::from_utf8_lossy(&fetched.body).contains("tried"));
    assert_eq!(trap.caught(), 0);
    assert!(bed.asked().iter().any(|path| path.starts_with("/leads-there")), "the allowed part was tried");

    // Neither does the page itself, by redirect, by script or by name.
    let leads = |location: &str| Fault::RedirectTo { location: location.to_owned() };
    let place = format!("http://127.0.0.1:{}/", trap.port);
    bed.replica.fault(FaultRule::new(leads(&place)).path("/moved"));
    let script = put(&bed, "/script-moved", &format!("<script>location='{place}'</script>"));
    for url in
        [format!("https://{GDQY}/moved"), script, format!("http://rebound.gov.cn:{}/", trap.port), place]
    {
        let error = match guarded.fetch(&rendered(&url, all())).await {
            Ok(fetched) => panic!("{url} ended at {}", fetched.url),
            Err(error) => error,
        };
        assert!(
            matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. } | FetchErrorKind::NotPublic(_)),
            "{url}: {error}"
        );
        guarded.hosts().reset(GDQY);
    }
    assert_eq!(trap.caught(), 0);
    // What is not granted is not asked either, public or not.
    let other = "https://www.gd.gov.cn/zwgk/wjk/qbwj/yf/index.html";
    let url = put(
        &bed,
        "/curious",
        &format!("<iframe src={other}></iframe><script>fetch('{other}',{{mode:'no-cors'}})</script>"),
    );
    bed.forget();
    let ask = granted(&url, &format!("https://{GDQY}"));
    guarded.fetch(&ask).await.unwrap_or_else(|error| panic!("{error}"));
    assert!(bed.replica.requests().iter().all(|seen| seen.host == GDQY), "{:?}", bed.asked());
    drop(guarded);

    // The traps work: with the operator's word for loopback the same page does come there.
    let open = gate(&bed, quick(), |options| {
        options.lookup = Some(Arc::new(Rebinding));
        options.allow_loopback = true;
        options.timeouts.total = Duration::from_secs(4);
        let addr = ([127, 0, 0, 1], trap.port).into();
        options.resolve.push(Resolve { host: "rebound.gov.cn".into(), port: None, addr });
    });
    let url = put(&bed, "/hostile-again", &trap.page());
    // Nobody answers there, so the page never comes to an end.
    let _ = open.fetch(&rendered(&url, all())).await;
    assert!(trap.caught() > 0);
}
