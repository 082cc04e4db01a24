//! A host of one's own over plain HTTP: pages as bytes, for what no replica would ever serve, and a record of
//! who came, for places where nobody may come.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

pub struct Plain {
    addr: SocketAddr,
    came: Arc<Mutex<Vec<String>>>,
}

impl Plain {
    /// Serves these paths, with their content types, until the test ends.
    pub fn serve(pages: impl IntoIterator<Item = (String, &'static str, Vec<u8>)>) -> Plain {
        let pages: HashMap<String, (&str, Vec<u8>)> =
            pages.into_iter().map(|(path, kind, body)| (path, (kind, body))).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let came = Arc::new(Mutex::new(Vec::new()));
        let book = came.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Noted before a byte is read: a connection alone is a visit.
                book.lock().unwrap().push(String::new());
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let path = lines.next().and_then(|line| Some(line.split(' ').nth(1)?.to_owned()));
                while lines.next().is_some_and(|line| !line.is_empty()) {}
                let path = path.unwrap_or_default();
                let (status, kind, body) = match pages.get(&path) {
                    Some((kind, body)) => ("200 OK", *kind, body.as_slice()),
                    None => ("404 Not Found", "text/plain", &b"no such page"[..]),
                };
                if let Some(last) = book.lock().unwrap().last_mut() {
                    *last = path;
                }
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let mut stream = &stream;
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            }
        });
        Plain { addr, came }
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The paths that were asked for; an empty one for a connection that asked nothing.
    pub fn came(&self) -> Vec<String> {
        self.came.lock().unwrap().clone()
    }
}
