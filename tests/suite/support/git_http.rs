//! A small smart-HTTP git server on loopback: `git http-backend` behind a hand-written CGI, with basic authentication, and
//! able to be silent.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// How the server answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    /// `user:password` that is asked for.
    pub(crate) credentials: Option<String>,
    /// Takes connections and says nothing.
    pub(crate) is_silent: bool,
    /// Answers every request by a redirect to this origin.
    pub(crate) redirect: Option<String>,
}

/// A running server; its threads end with the process.
pub(crate) struct GitHttp {
    pub(crate) port: u16,
    headers: Arc<Mutex<Vec<String>>>,
}

impl GitHttp {
    /// Serves the bare repositories below `root`.
    pub(crate) fn serve(root: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let headers = Arc::new(Mutex::new(Vec::new()));
        let server = Server { root: root.to_owned(), manner, headers: Arc::clone(&headers) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.answer_all(stream));
            }
        });
        Self { port, headers }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// The `Authorization` headers that came, in order.
    pub(crate) fn authorizations(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }
}

#[derive(Clone)]
struct Server {
    root: PathBuf,
    manner: Manner,
    headers: Arc<Mutex<Vec<String>>>,
}

pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Server {
    fn answer_all(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        if self.manner.is_silent {
            return std::thread::sleep(std::time::Duration::from_secs(60));
        }
        loop {
            let Ok(request) = read_request(&mut reader) else { return };
            if self.answer(&request, &mut stream).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request, out: &mut TcpStream) -> io::Result<()> {
        let given = request.headers.get("authorization").cloned();
        self.headers.lock().unwrap().extend(given.clone());
        if let Some(origin) = &self.manner.redirect {
            return write!(
                out,
                "HTTP/1.1 302 Found\r\nLocation: {origin}{}\r\nContent-Length: 0\r\n\r\n",
                request.target
            );
        }
        let user = match &self.manner.credentials {
            None => String::new(),
            Some(wanted) if given.as_deref() == Some(&format!("Basic {}", base64(wanted))) => {
                wanted.split(':').next().unwrap().to_owned()
            }
            Some(_) => {
                return out.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\r\n");
            }
        };
        out.write_all(&backend(&self.root, request, &user)?)
    }
}

/// What `git http-backend` answers for the repositories below `root`.
pub(crate) fn backend(root: &Path, request: &Request, user: &str) -> io::Result<Vec<u8>> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let mut child = Command::new("git")
        .arg("http-backend")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &request.method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", user)
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().unwrap();
    let body = request.body.clone();
    std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output()?.stdout;
    let end = output.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(output.len());
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let content = output.get(end + 4..).unwrap_or_default();
    let mut status = "200 OK".to_owned();
    let mut lines = String::new();
    for line in head.lines() {
        match line.strip_prefix("Status: ") {
            Some(other) => status = other.to_owned(),
            None => lines.push_str(&format!("{line}\r\n")),
        }
    }
    let mut answer =
        format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n", content.len())
            .into_bytes();
    answer.extend_from_slice(content);
    Ok(answer)
}

pub(crate) fn read_request(reader: &mut impl BufRead) -> io::Result<Request> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|v| v.eq_ignore_ascii_case("chunked")) {
        read_chunks(reader, &mut body)?;
    } else {
        let length = headers.get("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_end(&mut body)?;
    }
    let word = |at: usize| words.get(at).cloned().unwrap_or_default();
    Ok(Request { method: word(0), target: word(1), headers, body })
}

/// Git sends packs of more than 1 MiB in chunks.
fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        (&mut *reader).take(length).read_to_end(body)?;
        reader.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(());
        }
    }
}

pub(crate) fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let group = chunk
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        for at in 0..4 {
            let digit = char::from(DIGITS[(group >> (18 - 6 * at) & 63) as usize]);
            out.push(if at <= chunk.len() { digit } else { '=' });
        }
    }
    out
}
