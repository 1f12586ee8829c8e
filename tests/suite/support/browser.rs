//! A headless Chromium, driven by the DevTools protocol over two pipes: what it opens, how a page looks and what it does.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
];

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Pixels.
    pub(crate) width: u32,
    /// `light` or `dark`.
    pub(crate) theme: &'static str,
}

/// A browser with one page; it ends with this value.
pub(crate) struct Browser {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    number: u64,
    /// What happened since the last page was opened.
    pub(crate) events: Vec<Value>,
    _home: tempfile::TempDir,
}

impl Browser {
    /// Starts one; `None` where there is none on this machine.
    pub(crate) fn start() -> Option<Self> {
        let program = PROGRAMS.into_iter().find(|name| is_on_path(name))?;
        let home = tempfile::tempdir().unwrap();
        let (to, from) = (home.path().join("to"), home.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut command = Command::new("bash");
        command.args(["-c", r#"exec "$@" 3<"$TO" 4>"$FROM""#, "browser", program]).args(FLAGS);
        command.arg(format!("--user-data-dir={}", home.path().join("profile").display()));
        command.env("TO", &to).env("FROM", &from).env("HOME", home.path()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let mut browser = Self {
            process,
            to: OpenOptions::new().write(true).open(&to).unwrap(),
            from: BufReader::new(File::open(&from).unwrap()),
            session: String::new(),
            number: 0,
            events: Vec::new(),
            _home: home,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer; events that come meanwhile are kept.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.read();
            if message["id"] == json!(self.number) {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser went away");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Opens a file, waits until it is loaded and drawn.
    pub(crate) fn open(&mut self, file: &Path, look: Look) {
        let is_narrow = look.width < 600;
        let metrics = json!({
            "width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": is_narrow,
        });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let theme = json!({ "name": "prefers-color-scheme", "value": look.theme });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [theme] }));
        self.events.clear();
        let file = fs::canonicalize(file).unwrap();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(is_loaded) {
            let event = self.read();
            self.events.push(event);
        }
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))");
    }

    /// The value of an expression in the page, which the page's own policy does not hinder.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Writes a picture of the whole page.
    pub(crate) fn write_picture(&mut self, file: &Path) {
        use base64::Engine as _;
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", asked);
        let engine = base64::engine::general_purpose::STANDARD;
        fs::write(file, engine.decode(picture["data"].as_str().unwrap()).unwrap()).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", self.process.id())])
            .stderr(Stdio::null())
            .status();
        let _ = self.process.wait();
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
