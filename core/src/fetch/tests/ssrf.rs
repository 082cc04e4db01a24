//! Every way we know of to make the gate connect to where it must not: none does.
//!
//! The places that must not be reached listen on 127.0.0.1 and ::1 and count who comes. Every other check is as open as
//! it can be: the hosts are granted and named by the site, so that the guard alone has to hold.

use super::*;

/// How the forbidden place is put before the gate.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Asked for.
    Asked,
    /// A redirect after so many others.
    Redirect(usize),
    /// The redirect of a robots.txt.
    Robots,
    /// The redirect of an attachment.
    Attachment,
    /// Asked for by a site that goes through a proxy, which listens where nobody may come.
    Proxy,
    /// A name that stands for these addresses, one list per lookup.
    Name(&'static [&'static [&'static str]]),
}

use Way::*;

/// `P` is the port of the listeners; `site` is a host that may be reached.
#[rustfmt::skip]
const TABLE: &[(&str, Way, &str)] = &[
    // 127.0.0.1 in every notation
    ("dotted", Asked, "http://127.0.0.1:P/"),
    ("anywhere in 127/8", Asked, "http://127.255.255.254:P/"),
    ("two parts", Asked, "http://127.1:P/"),
    ("three parts", Asked, "http://127.0.1:P/"),
    ("decimal", Asked, "http://2130706433:P/"),
    ("hexadecimal", Asked, "http://0x7f000001:P/"),
    ("hexadecimal, capitals", Asked, "http://0X7F000001:P/"),
    ("octal", Asked, "http://017700000001:P/"),
    ("octal part", Asked, "http://0177.0.0.1:P/"),
    ("octal part, many zeros", Asked, "http://0000000177.0.0.01:P/"),
    ("hexadecimal part", Asked, "http://0x7f.0.0.1:P/"),
    ("mixed parts", Asked, "http://0x7f.0.1:P/"),
    ("trailing dot", Asked, "http://127.0.0.1.:P/"),
    ("percent-encoded", Asked, "http://%31%32%37.%30.0.1:P/"),
    ("percent-encoded dots", Asked, "http://127%2e0%2E0%2e1:P/"),
    ("full-width digits", Asked, "http://１２７.０.０.１:P/"),
    ("ideographic dots", Asked, "http://127。0．0｡1:P/"),
    ("circled digits", Asked, "http://①②⑦.⓪.⓪.①:P/"),
    ("over TLS", Asked, "https://127.0.0.1:P/"),
    // other addresses of no public host
    ("unspecified", Asked, "http://0.0.0.0:P/"),
    ("unspecified, short", Asked, "http://0:P/"),
    ("unspecified, hexadecimal", Asked, "http://0x0:P/"),
    ("this network", Asked, "http://0.1.2.3/"),
    ("private 10/8", Asked, "http://10.0.0.1/"),
    ("private 172.16/12", Asked, "http://172.31.255.1/"),
    ("private 192.168/16", Asked, "http://192.168.1.1/"),
    ("link-local, metadata", Asked, "http://169.254.169.254/latest/meta-data/"),
    ("metadata, decimal", Asked, "http://2852039166/"),
    ("carrier NAT", Asked, "http://100.64.0.1/"),
    ("carrier NAT, metadata of a cloud", Asked, "http://100.100.100.200/"),
    ("protocol assignments", Asked, "http://192.0.0.192/"),
    ("documentation 1", Asked, "http://192.0.2.1/"),
    ("documentation 2", Asked, "http://198.51.100.1/"),
    ("documentation 3", Asked, "http://203.0.113.1/"),
    ("benchmark", Asked, "http://198.19.0.1/"),
    ("6to4 relay", Asked, "http://192.88.99.1/"),
    ("multicast", Asked, "http://224.0.0.1/"),
    ("reserved", Asked, "http://240.0.0.1/"),
    ("broadcast", Asked, "http://255.255.255.255/"),
    // IPv6
    ("v6 loopback", Asked, "http://[::1]:P/"),
    ("v6 loopback, long", Asked, "http://[0:0:0:0:0:0:0:0001]:P/"),
    ("v6 unspecified", Asked, "http://[::]:P/"),
    ("mapped", Asked, "http://[::ffff:127.0.0.1]:P/"),
    ("mapped, hexadecimal", Asked, "http://[::FFFF:7f00:1]:P/"),
    ("mapped private", Asked, "http://[::ffff:10.0.0.1]/"),
    ("mapped metadata", Asked, "http://[::ffff:a9fe:a9fe]/"),
    ("compatible", Asked, "http://[::127.0.0.1]:P/"),
    ("translated, RFC 2765", Asked, "http://[::ffff:0:127.0.0.1]:P/"),
    ("NAT64", Asked, "http://[64:ff9b::127.0.0.1]:P/"),
    ("NAT64 metadata", Asked, "http://[64:ff9b::a9fe:a9fe]/"),
    ("NAT64, local prefix", Asked, "http://[64:ff9b:1::7f00:1]:P/"),
    ("6to4", Asked, "http://[2002:7f00:1::1]:P/"),
    ("6to4 private", Asked, "http://[2002:c0a8:101::]/"),
    ("Teredo, its server", Asked, "http://[2001:0:7f00:1::1]:P/"),
    ("Teredo, its client", Asked, "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:P/"),
    ("ISATAP", Asked, "http://[2400:3200::5efe:7f00:1]:P/"),
    ("v6 link-local", Asked, "http://[fe80::1]/"),
    ("zone id", Asked, "http://[fe80::1%25lo]/"),
    ("zone id on loopback", Asked, "http://[::1%25lo]:P/"),
    ("site-local", Asked, "http://[fec0::1]/"),
    ("unique local", Asked, "http://[fd00:ec2::254]/"),
    ("v6 multicast", Asked, "http://[ff02::1]/"),
    ("v6 documentation", Asked, "http://[2001:db8::1]/"),
    ("v6 documentation, new", Asked, "http://[3fff::1]/"),
    ("v6 discard", Asked, "http://[100::1]/"),
    ("v6 benchmark", Asked, "http://[2001:2::1]/"),
    // names
    ("localhost", Name(&[&["127.0.0.1", "::1"]]), "http://localhost:P/"),
    ("localhost, case and dot", Name(&[&["127.0.0.1"]]), "http://LocalHost.:P/"),
    ("below localhost", Name(&[&["::1"]]), "http://www.localhost:P/"),
    ("enclosed letters", Name(&[&["127.0.0.1"]]), "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:P/"),
    ("soft hyphen", Name(&[&["127.0.0.1"]]), "http://local\u{ad}host:P/"),
    ("name of a loopback address", Name(&[&["127.0.0.1"]]), "http://inside.gov.cn:P/"),
    ("name with a trailing dot", Name(&[&["127.0.0.1"]]), "http://inside.gov.cn.:P/"),
    ("name of a private address", Name(&[&["10.1.2.3"]]), "http://inside.gov.cn/"),
    ("name of metadata", Name(&[&["169.254.169.254"]]), "http://inside.gov.cn/"),
    ("name of a mapped address", Name(&[&["::ffff:127.0.0.1"]]), "http://inside.gov.cn:P/"),
    ("name of a NAT64 address", Name(&[&["64:ff9b::7f00:1"]]), "http://inside.gov.cn:P/"),
    ("name of the unspecified address", Name(&[&["0.0.0.0", "::"]]), "http://inside.gov.cn:P/"),
    ("several forbidden addresses", Name(&[&["10.0.0.1", "127.0.0.1", "::1"]]), "http://inside.gov.cn:P/"),
    ("public beside private", Name(&[&["192.0.1.1", "127.0.0.1", "::1"]]), "http://mixed.gov.cn:P/"),
    ("private beside public", Name(&[&["127.0.0.1", "192.0.1.1"]]), "http://mixed.gov.cn:P/"),
    ("rebinding", Name(&[&["192.0.1.1"], &["127.0.0.1"]]), "http://rebind.gov.cn:P/"),
    ("rebinding back and forth", Name(&[&["127.0.0.1"], &["192.0.1.1"], &["::1"]]), "http://rebind.gov.cn:P/"),
    ("a numeric name", Name(&[&["127.0.0.1"]]), "http://127.0.0.1.gov.cn:P/"),
    // userinfo, backslashes, ports
    ("userinfo that looks like a host", Asked, "http://www.site.test@127.0.0.1:P/"),
    ("userinfo with a password", Asked, "http://www.site.test:80@127.0.0.1:P/"),
    ("userinfo, twice", Asked, "http://a@www.site.test@127.0.0.1:P/"),
    ("userinfo on v6", Asked, "http://user:word@[::1]:P/"),
    ("userinfo on a host that may be reached", Asked, "http://user:word@www.site.test/"),
    ("backslash before the path", Asked, "http://127.0.0.1:P\\@www.site.test/"),
    ("backslashes for slashes", Asked, "http:\\\\127.0.0.1:P\\"),
    ("no slashes", Asked, "http:127.0.0.1:P/"),
    ("many slashes", Asked, "http:////127.0.0.1:P/"),
    ("tab inside the host", Asked, "http://127.0.\t0.1:P/"),
    ("the port of ssh", Asked, "http://www.site.test:22/"),
    ("the port of mail", Asked, "http://www.site.test:25/"),
    ("the port of redis", Asked, "http://www.site.test:6379/"),
    ("the port of memcached", Asked, "http://www.site.test:11211/"),
    ("the port of a database", Asked, "http://www.site.test:5432/"),
    // schemes
    ("file", Asked, "file:///etc/passwd"),
    ("ftp", Asked, "ftp://127.0.0.1:P/"),
    ("gopher", Asked, "gopher://127.0.0.1:P/_GET%20/"),
    ("data", Asked, "data:text/html,<p>"),
    ("websocket", Asked, "ws://127.0.0.1:P/"),
    // redirects
    ("redirect", Redirect(1), "http://127.0.0.1:P/"),
    ("redirect, decimal", Redirect(1), "http://2130706433:P/"),
    ("redirect, mapped", Redirect(1), "http://[::ffff:127.0.0.1]:P/"),
    ("redirect without a scheme", Redirect(1), "//127.0.0.1:P/"),
    ("redirect with backslashes", Redirect(1), "\\\\127.0.0.1:P/"),
    ("redirect with slash and backslash", Redirect(1), "/\\127.0.0.1:P/"),
    ("redirect with white space", Redirect(1), " \t//127.0.0.1:P/"),
    ("redirect with userinfo", Redirect(1), "http://www.site.test@127.0.0.1:P/"),
    ("redirect with userinfo to where one may go", Redirect(1), "http://user:word@www.site.test/there"),
    ("redirect to full-width digits", Redirect(1), "http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1:P/"),
    ("redirect to metadata", Redirect(1), "http://169.254.169.254/latest/meta-data/"),
    ("redirect to a name inside", Redirect(1), "http://inside.gov.cn:P/"),
    ("redirect to TLS inside", Redirect(1), "https://127.0.0.1:P/"),
    ("redirect to a file", Redirect(1), "file:///etc/passwd"),
    ("redirect to ftp", Redirect(1), "ftp://127.0.0.1:P/"),
    ("redirect to gopher", Redirect(1), "gopher://127.0.0.1:P/"),
    ("redirect to data", Redirect(1), "data:text/html,x"),
    ("redirect to a script", Redirect(1), "javascript:alert(1)"),
    ("redirect to the port of ssh", Redirect(1), "http://www.site.test:22/"),
    ("chain of two", Redirect(2), "http://127.0.0.1:P/"),
    ("chain of three", Redirect(3), "http://[::1]:P/"),
    ("chain of five", Redirect(5), "http://0x7f.1:P/"),
    ("chain of nine", Redirect(9), "http://localhost:P/"),
    ("robots.txt redirect", Robots, "http://127.0.0.1:P/robots.txt"),
    ("robots.txt redirect to v6", Robots, "http://[::1]:P/robots.txt"),
    ("robots.txt redirect to a name inside", Robots, "http://inside.gov.cn:P/robots.txt"),
    ("robots.txt redirect to a file", Robots, "file:///etc/passwd"),
    ("attachment redirect", Attachment, "http://127.0.0.1:P/a.pdf"),
    ("attachment redirect to a name inside", Attachment, "http://inside.gov.cn:P/a.pdf"),
    ("attachment redirect to metadata", Attachment, "http://169.254.169.254/a.pdf"),
    // a proxy connects in our place
    ("literal through a proxy", Proxy, "http://127.0.0.1:P/"),
    ("v6 literal through a proxy", Proxy, "http://[::1]:P/"),
    ("private literal through a proxy", Proxy, "http://10.0.0.1/"),
    ("name inside through a proxy", Proxy, "http://inside.gov.cn/"),
    ("TLS to a name inside through a proxy", Proxy, "https://inside.gov.cn/"),
];

/// A name that is not looked up in the scripts of the table stands for this machine.
struct Inside;

impl NameLookup for Inside {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![
            IpAddr::from([127, 0, 0, 1]),
            IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ])))
    }
}

/// Listens on a port of both families and counts who comes.
struct Trap {
    port: u16,
    came: Arc<AtomicUsize>,
}

impl Trap {
    async fn listen() -> Trap {
        let came = Arc::new(AtomicUsize::new(0));
        let four = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = four.local_addr().unwrap().port();
        let mut listeners = vec![four];
        // A machine without IPv6 has nothing to be reached there.
        listeners.extend(TcpListener::bind(("::1", port)).await.ok());
        for listener in listeners {
            let came = came.clone();
            tokio::spawn(async move {
                while listener.accept().await.is_ok() {
                    came.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Trap { port, came }
    }
}

/// Tries one row; what became of it.
async fn attempt(way: Way, target: &str, port: u16) -> Result<(), Option<FetchError>> {
    let to = target.to_owned();
    let site = Server::start(move |asked| match asked.path.as_str() {
        "/robots.txt" => redirect_to(&to),
        "/last" => redirect_to(&to),
        path => match path.trim_start_matches("/hop").parse::<usize>() {
            Ok(0) => redirect_to(&to),
            Ok(more) => redirect_to(&format!("/hop{}", more - 1)),
            Err(_) => reply("200 OK", "", b"<p>outside"),
        },
    })
    .await;
    let lookup: Arc<dyn NameLookup> = match way {
        Name(answers) => Script::new(answers),
        _ => Arc::new(Inside),
    };
    let gate = gate(GateOptions {
        resolve: vec![Resolve { host: "www.site.test".into(), port: Some(80), addr: site.addr }],
        lookup: Some(lookup),
        timeouts: Timeouts { connect: Duration::from_millis(150), ..Timeouts::default() },
        ..GateOptions::default()
    });
    let base: Url = "http://www.site.test/".parse().unwrap();
    let begin = match way {
        Redirect(hops) => format!("/hop{}", hops - 1),
        Attachment => "/last".to_owned(),
        Robots => "/page".to_owned(),
        Asked | Proxy | Name(_) => String::new(),
    };
    // What cannot be read as an address cannot be asked for.
    let url = if begin.is_empty() { Url::parse(target) } else { base.join(&begin) };
    let Ok(url) = url else { return Err(None) };
    let mut ask = ask("http://www.site.test/");
    let named: Vec<String> = [base.join(target).ok(), Some(url.clone())]
        .into_iter()
        .flatten()
        .filter_map(|url| url.host_str().map(str::to_owned))
        .collect();
    ask.public = Arc::new(PublicRule::new(&[".cn", ".test", "localhost"], &named));
    ask.url = url;
    match way {
        Robots => ask.robots = RobotsMode::default(),
        Proxy => {
            let proxy = Wire::proxy_of(&format!("http://127.0.0.1:{port}")).unwrap();
            ask.wire = Arc::new(Wire { proxy: Some(proxy), ..Wire::default() });
        }
        _ => {}
    }
    // Twice: a name may change its mind.
    let mut last = None;
    for _ in 0..2 {
        let done = match way {
            Attachment => {
                ask.purpose = Purpose::Attachment;
                gate.download(&ask, tokio::io::sink(), 1000).await.map(drop)
            }
            _ => gate.fetch(&ask).await.map(drop),
        };
        match done {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    Err(last)
}

#[tokio::test]
async fn none_of_a_hundred_ways_to_a_forbidden_place_connects() {
    let inside = Trap::listen().await;
    let port = inside.port.to_string();
    let mut wrong = Vec::new();
    for (name, way, target) in TABLE {
        let target = target.replace(":P", &format!(":{port}"));
        let outcome = attempt(*way, &target, inside.port).await;
        let came = inside.came.swap(0, Ordering::SeqCst);
        let refused = match &outcome {
            // The page behind a robots.txt that leads inside may be read: the file counts as unreachable.
            Ok(()) => matches!(way, Robots),
            Err(None) => true,
            Err(Some(error)) => match error.kind() {
                FetchErrorKind::NotPublic(_)
                | FetchErrorKind::ForbiddenAddress { .. }
                | FetchErrorKind::BadRedirect(_) => true,
                // Nobody is at the public address of these names; that it is tried is right.
                FetchErrorKind::Connect(_) | FetchErrorKind::Timeout { .. } => {
                    matches!(way, Name(_)) && (name.contains("public") || name.contains("rebinding"))
                }
                _ => false,
            },
        };
        if came > 0 || !refused {
            wrong.push(format!("{name}: {target}: {came} came, {outcome:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
    assert!(TABLE.len() >= 100, "{}", TABLE.len());
    // The listeners do count: somebody who may come is seen.
    let gate = gate(GateOptions { allow_loopback: true, ..GateOptions::default() });
    let _ = gate.fetch(&ask(&format!("http://127.0.0.1:{port}/"))).await;
    assert_eq!(inside.came.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_proxy_of_the_environment_hears_nothing() {
    let inside = Trap::listen().await;
    let proxy = format!("127.0.0.1:{}", inside.port);
    // The environment belongs to the whole process, so another one fetches a page with it.
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        let scheme = if name.to_ascii_lowercase().starts_with("all") { "socks5" } else { "http" };
        child.env(name, format!("{scheme}://{proxy}"));
    }
    let done = child
        .args(["--exact", "fetch::tests::pages::a_page_is_fetched_with_honest_headers"])
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(inside.came.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_cookie_is_sent_to_nobody_but_those_its_host_may_set_it_for() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/start" => {
            let cookies = [
                "own=1; path=/",
                "other=1; domain=b.example.com.cn; path=/",
                "suffix=1; domain=com.cn; path=/",
                "top=1; domain=cn; path=/",
                "dot=1; domain=.; path=/",
                "wide=1; domain=example.com.cn; path=/",
                "number=1; domain=127.0.0.1; path=/",
            ];
            let headers: String = cookies.iter().map(|cookie| format!("set-cookie: {cookie}\r\n")).collect();
            reply("302 Found", &format!("location: http://b.example.com.cn/next\r\n{headers}"), b"")
        }
        "/next" => redirect_to("http://c.other.com.cn/next2"),
        "/next2" => redirect_to("http://a.example.com.cn/end"),
        _ => reply("200 OK", "", b"<p>ok"),
    })
    .await;
    let hosts = ["a.example.com.cn", "b.example.com.cn", "c.other.com.cn"];
    let resolve = hosts.iter().map(|host| Resolve { host: host.to_string(), port: None, addr: server.addr });
    let gate = gate(GateOptions { resolve: resolve.collect(), ..GateOptions::default() });
    assert_eq!(gate.fetch(&ask("http://a.example.com.cn/start")).await.unwrap().status, 200);
    let sent = |index: usize| {
        let head = server.heads()[index].to_lowercase();
        let mut names: Vec<String> = head
            .lines()
            .filter_map(|line| line.strip_prefix("cookie: "))
            .flat_map(|line| {
                line.split("; ").map(|pair| pair.split('=').next().unwrap().to_owned()).collect::<Vec<_>>()
            })
            .collect();
        names.sort();
        names
    };
    assert_eq!(sent(1), ["wide"], "another host of the same domain");
    assert_eq!(sent(2), [""; 0], "another domain");
    assert_eq!(sent(3), ["dot", "own", "wide"], "back where they were set");
}
