//! A server on loopback that answers as a test says: also what no real server would say.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Path and query, as sent.
    pub(crate) target: String,
    /// In order, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Which connection it came by, from 0.
    pub(crate) connection: usize,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// One piece of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    Pause(Duration),
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pieces: Vec<Piece>,
    /// Whether the connection ends after it.
    closes: bool,
    head: String,
    body: Vec<u8>,
    raw: bool,
    stream: Option<Stream>,
}

type WriteStream = dyn FnMut(&mut dyn Write) -> io::Result<()> + Send;

/// A body that is written as things happen.
#[derive(Clone)]
struct Stream(Arc<Mutex<WriteStream>>);

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

impl Answer {
    pub(crate) fn new(status: u16) -> Self {
        let head = format!("HTTP/1.1 {status} Status\r\n");
        let (pieces, body) = (Vec::new(), Vec::new());
        Self { pieces, closes: false, head, body, raw: false, stream: None }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Exactly these pieces, then the end of the connection.
    pub(crate) fn raw(pieces: Vec<Piece>) -> Self {
        let (head, body) = (String::new(), Vec::new());
        Self { pieces, closes: true, head, body, raw: true, stream: None }
    }

    /// The head so far, then what `write` writes until it returns, then the end of the connection.
    pub(crate) fn stream(
        mut self,
        write: impl FnMut(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Self {
        self.head.push_str("Connection: close\r\n\r\n");
        self.closes = true;
        self.stream = Some(Stream(Arc::new(Mutex::new(write))));
        self
    }

    /// Nothing for a long while.
    pub(crate) fn hang() -> Self {
        Self::raw(vec![Piece::Pause(Duration::from_secs(30))])
    }

    fn write(&self, is_head: bool, out: &mut TcpStream) -> io::Result<()> {
        if let Some(stream) = &self.stream {
            out.write_all(self.head.as_bytes())?;
            let mut write = stream.0.lock().unwrap();
            return (*write)(out);
        }
        if !self.raw {
            let length = self.body.len();
            let mut whole = format!("{}Content-Length: {length}\r\n\r\n", self.head).into_bytes();
            if !is_head {
                whole.extend_from_slice(&self.body);
            }
            return out.write_all(&whole);
        }
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.write_all(bytes).and_then(|()| out.flush())?,
                Piece::Pause(time) => std::thread::sleep(*time),
            }
        }
        Ok(())
    }
}

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

/// A running server; its threads end with the process.
pub(crate) struct ScriptedHttp {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl ScriptedHttp {
    pub(crate) fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, script): (_, Arc<Script>) = (Arc::clone(&asked), Arc::new(script));
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                std::thread::spawn(move || answer_all(stream, connection, &log, &*script));
            }
        });
        Self { port, asked }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// Everything that was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer_all(stream: TcpStream, connection: usize, log: &Mutex<Vec<Asked>>, script: &Script) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Ok(asked) = read_request(&mut reader, connection) {
        log.lock().unwrap().push(asked.clone());
        let answer = script(&asked);
        if answer.write(asked.method == "HEAD", &mut stream).is_err() || answer.closes {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead, connection: usize) -> io::Result<Asked> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(Asked { method, target, headers, body, connection })
}
