//! Each channel against a receiver that checks what it gets as the real one would.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dibao::clock::SystemClock;
use dibao::deliver::{Channels, DeliveryError, Message, Receipt, SystemCredentials};
use dibao::{Clock, ErrorClass, Timestamp};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::receiver::Receiver;

/// HMAC by the book, apart from the library's.
fn hmac(key: &[u8], content: &[u8]) -> Vec<u8> {
    let mut block = [0u8; 64];
    match key.len() > 64 {
        true => block[..32].copy_from_slice(&Sha256::digest(key)),
        false => block[..key.len()].copy_from_slice(key),
    }
    let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<u8>>();
    let inner = Sha256::digest([&pad(0x36)[..], content].concat());
    Sha256::digest([&pad(0x5c)[..], &inner[..]].concat()).to_vec()
}

pub fn message() -> Message {
    let mut message = Message::new(
        "article:abc",
        "article",
        "关于 <b>印发</b> [办法]*的通知",
        Timestamp(1_700_000_000_000),
    );
    message.text = "各地区：现将《办法》印发 @all".to_owned();
    message.url = Some("https://www.ndrc.gov.cn/a(1).html?x=1&y=2".to_owned());
    message.fields.insert("publisher".into(), "国家发展改革委".into());
    message.fields.insert("published".into(), "2023-11-14".into());
    message
}

pub fn channels(dir: &Path, text: &str) -> Channels {
    std::fs::write(dir.join("channels.toml"), text).unwrap();
    Channels::open(dir, &SystemCredentials, &[]).unwrap()
}

async fn send(text: &str) -> Result<Receipt, DeliveryError> {
    let dir = TempDir::new().unwrap();
    channels(dir.path(), text).send("it", &message()).await
}

fn is_now(seconds: i64) {
    assert!((SystemClock.now().0 / 1000 - seconds).abs() < 300, "{seconds}");
}

#[tokio::test]
async fn a_webhook_is_signed_and_carries_its_key() {
    let receiver = Receiver::start("taken").await;
    let text = format!(
        "[channels.it]\nkind = \"webhook\"\nurl = \"{}/hook?a=1\"\nsecret = \"whsec_{}\"",
        receiver.url,
        STANDARD.encode(b"twenty-four bytes or so!")
    );
    let receipt = send(&text).await.unwrap();
    assert_eq!(receipt.0, "200 taken");
    let heard = receiver.last();
    assert_eq!((heard.method.as_str(), heard.path.as_str(), heard.query("a")), ("POST", "/hook", "1"));
    assert_eq!((heard.header("idempotency-key"), heard.header("webhook-id")), ("article:abc", "article:abc"));
    let at = heard.header("webhook-timestamp");
    is_now(at.parse().unwrap());
    let signed = [format!("article:abc.{at}.").as_bytes(), &heard.body].concat();
    let expected = format!("v1,{}", STANDARD.encode(hmac(b"twenty-four bytes or so!", &signed)));
    assert_eq!(heard.header("webhook-signature"), expected);
    let body = heard.json();
    assert_eq!((&body["event"], &body["title"]), (&json!("article"), &json!(message().title)));
    assert_eq!(body["fields"]["publisher"], "国家发展改革委");
}

#[tokio::test]
async fn what_a_receiver_answers_decides_whether_it_is_told_again() {
    let receiver = Receiver::start("ok").await;
    let text = format!("[channels.it]\nkind = \"webhook\"\nurl = \"{}/\"", receiver.url);
    for (status, wait, class, retried) in [
        (503, None, ErrorClass::Server, true),
        (429, Some("7"), ErrorClass::Busy, true),
        // An address or a key may be put right: only 410 says that nobody wants to hear any more.
        (401, None, ErrorClass::Server, true),
        (404, None, ErrorClass::Server, true),
        (302, None, ErrorClass::Server, true),
        (410, None, ErrorClass::Gone, false),
    ] {
        receiver.answer(status, "no", wait);
        let error = send(&text).await.unwrap_err();
        assert_eq!((error.class, error.class.is_retryable()), (class, retried), "{status}: {error}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), wait.map(|_| 7));
        assert!(error.message.contains(&status.to_string()), "{error}");
    }
    receiver.answer(429, "no", Some("Fri, 31 Dec 2999 23:59:59 GMT"));
    assert_eq!(
        send(&text).await.unwrap_err().retry_after.unwrap().as_secs(),
        24 * 3600,
        "a date, within reason"
    );
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("[channels.it]\nkind = \"webhook\"\nurl = \"http://{closed}/?token=hunter2\"");
    let error = send(&nobody).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Network);
    assert!(!error.message.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn dingtalk_gets_signed_markdown() {
    let receiver = Receiver::start(r#"{"errcode":0,"errmsg":"ok"}"#).await;
    let text = format!(
        "[channels.it]\nkind = \"dingtalk\"\nurl = \"{}/robot/send?access_token=t\"\nsecret = \"SECx\"",
        receiver.url
    );
    send(&text).await.unwrap();
    let heard = receiver.last();
    assert_eq!((heard.path.as_str(), heard.query("access_token")), ("/robot/send", "t"));
    let at = heard.query("timestamp");
    is_now(at.parse::<i64>().unwrap() / 1000);
    assert_eq!(heard.query("sign"), STANDARD.encode(hmac(b"SECx", format!("{at}\nSECx").as_bytes())));
    let body = heard.json();
    assert_eq!(body["msgtype"], "markdown");
    assert_eq!(body["markdown"]["title"], message().title);
    assert_eq!(
        body["markdown"]["text"],
        "### [关于 &lt;b&gt;印发&lt;/b&gt; \\[办法\\]\\*的通知](https://www.ndrc.gov.cn/a%281%29.html?x=1&y=2)\n\
         国家发展改革委  2023-11-14\n\n各地区：现将《办法》印发 ＠all"
    );
    for (answer, class) in [
        (r#"{"errcode":310000,"errmsg":"sign not match"}"#, ErrorClass::Config),
        (r#"{"errcode":130101,"errmsg":"send too fast"}"#, ErrorClass::Busy),
        ("<html>maintenance</html>", ErrorClass::Server),
    ] {
        receiver.answer(200, answer, None);
        let error = send(&text).await.unwrap_err();
        assert_eq!(error.class, class, "{error}");
    }
}

#[tokio::test]
async fn feishu_gets_a_signed_post() {
    let receiver = Receiver::start(r#"{"code":0,"data":{},"msg":"success"}"#).await;
    let text = format!(
        "[channels.it]\nkind = \"feishu\"\nurl = \"{}/open-apis/bot/v2/hook/x\"\nsecret = \"s3\"\narticle = \"{{text}}\"",
        receiver.url
    );
    send(&text).await.unwrap();
    let body = receiver.last().json();
    let at = body["timestamp"].as_str().unwrap();
    is_now(at.parse().unwrap());
    assert_eq!(body["sign"], STANDARD.encode(hmac(format!("{at}\ns3").as_bytes(), b"")));
    assert_eq!(body["msg_type"], "post");
    let post = &body["content"]["post"]["zh_cn"];
    assert_eq!(post["title"], message().title);
    let url = message().url.unwrap();
    assert_eq!(
        post["content"],
        json!([[{"tag": "text", "text": message().text}], [{"tag": "a", "text": url, "href": url}]])
    );
    receiver.answer(200, r#"{"code":19021,"msg":"sign match fail"}"#, None);
    assert_eq!(send(&text).await.unwrap_err().class, ErrorClass::Config);
}

#[tokio::test]
async fn wecom_gets_markdown_that_fits() {
    let receiver = Receiver::start(r#"{"errcode":0,"errmsg":"ok"}"#).await;
    let text =
        format!("[channels.it]\nkind = \"wecom\"\nurl = \"{}/cgi-bin/webhook/send?key=k\"", receiver.url);
    let dir = TempDir::new().unwrap();
    let mut long = message();
    long.text = "长".repeat(5_000);
    channels(dir.path(), &text).send("it", &long).await.unwrap();
    let heard = receiver.last();
    assert_eq!((heard.path.as_str(), heard.query("key")), ("/cgi-bin/webhook/send", "k"));
    let body = heard.json();
    assert_eq!(body["msgtype"], "markdown");
    let content = body["markdown"]["content"].as_str().unwrap();
    assert!(
        content.len() <= 4_096 && content.ends_with("长…") && content.starts_with("### ["),
        "{}",
        content.len()
    );
}

#[tokio::test]
async fn telegram_gets_html_and_its_wait_is_heeded() {
    let receiver = Receiver::start(r#"{"ok":true,"result":{"message_id":7}}"#).await;
    let text = format!(
        "[channels.it]\nkind = \"telegram\"\ntoken = \"12:AB-c_d\"\nchat_id = \"@gazette\"\napi = \"{}/\"",
        receiver.url
    );
    assert_eq!(send(&text).await.unwrap().0, "message 7");
    let heard = receiver.last();
    assert_eq!(heard.path, "/bot12:AB-c_d/sendMessage");
    let body = heard.json();
    assert_eq!((&body["chat_id"], &body["parse_mode"]), (&json!("@gazette"), &json!("HTML")));
    let said = body["text"].as_str().unwrap();
    let link = "<b><a href=\"https://www.ndrc.gov.cn/a(1).html?x=1&amp;y=2\">关于 &lt;b&gt;印发&lt;/b&gt; [办法]*的通知</a></b>";
    assert!(said.starts_with(link), "{said}");
    receiver.answer(429, r#"{"ok":false,"error_code":429,"parameters":{"retry_after":31}}"#, None);
    let error = send(&text).await.unwrap_err();
    assert_eq!((error.class, error.retry_after.unwrap().as_secs()), (ErrorClass::Busy, 31));
}

#[tokio::test]
async fn a_file_grows_by_whole_lines() {
    let dir = TempDir::new().unwrap();
    let channels = channels(dir.path(), "[channels.it]\nkind = \"file\"\npath = \"out.jsonl\"");
    for _ in 0..3 {
        channels.send("it", &message()).await.unwrap();
    }
    let text = std::fs::read_to_string(dir.path().join("out.jsonl")).unwrap();
    let lines: Vec<Message> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [message(), message(), message()]);
    let nowhere =
        send("[channels.it]\nkind = \"file\"\npath = \"/nonexistent/out.jsonl\"").await.unwrap_err();
    assert!(nowhere.class.is_retryable() && nowhere.message.contains("/nonexistent"), "{nowhere}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_gets_json_and_no_shell_reads_it() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("heard.json");
    // The message is on its input; what is in its arguments stays what it is.
    let script = "cat > \"$1\"; echo \"took $DIBAO_KEY $2\"";
    let text = format!(
        "[channels.it]\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", '{script}', \"sh\", \"{}\", \"$(id); x\"]",
        out.display()
    );
    let receipt = channels(dir.path(), &text).send("it", &message()).await.unwrap();
    assert_eq!(receipt.0, "took article:abc $(id); x");
    let heard: Message = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(heard, message());
    let error =
        send("[channels.it]\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"echo broken >&2; exit 3\"]")
            .await
            .unwrap_err();
    assert!(error.class.is_retryable() && error.message.contains("broken"), "{error}");
    let error = send(
        "[channels.it]\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"sleep 60\"]\ntimeout_sec = 1",
    )
    .await
    .unwrap_err();
    assert!(error.message.contains("longer than 1 s"), "{error}");
    let error = send("[channels.it]\nkind = \"command\"\nargv = [\"/no/such/program\"]").await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config, "{error}");
}
