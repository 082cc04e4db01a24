//! A receiver of webhooks on loopback: keeps what it is told, answers as it is bid.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Heard {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: http::HeaderMap,
    pub body: Vec<u8>,
}

impl Heard {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn query(&self, name: &str) -> &str {
        self.query.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

type Answer = (u16, &'static str, Option<&'static str>);

#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Receiver {
    /// Answers 200 and `usual`, unless it is told otherwise.
    pub async fn start(usual: &'static str) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let receiver = Receiver { url, heard: Arc::default(), answers: Arc::default() };
        let shared = receiver.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let shared = shared.clone();
                let service = hyper::service::service_fn(move |request| {
                    let shared = shared.clone();
                    async move { Ok::<_, Infallible>(shared.take(request, usual).await) }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service),
                );
            }
        });
        receiver
    }

    async fn take(&self, request: Request<Incoming>, usual: &'static str) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let url = url::Url::parse(&format!("http://x{}", head.uri)).unwrap();
        let heard = Heard {
            method: head.method.to_string(),
            path: url.path().to_owned(),
            query: url.query_pairs().into_owned().collect(),
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        };
        self.heard.lock().unwrap().push(heard);
        let (status, body, retry_after) =
            self.answers.lock().unwrap().pop_front().unwrap_or((200, usual, None));
        let mut answer = Response::builder().status(status).header("content-type", "application/json");
        if let Some(wait) = retry_after {
            answer = answer.header("retry-after", wait);
        }
        answer.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap()
    }

    /// The next answer.
    pub fn answer(&self, status: u16, body: &'static str, retry_after: Option<&'static str>) {
        self.answers.lock().unwrap().push_back((status, body, retry_after));
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    pub fn last(&self) -> Heard {
        self.heard().pop().expect("nothing was heard")
    }
}
