//! Pages of `-o html` in a real browser: they open without a fault at two widths and in both themes, reach for nothing, can be
//! used by keys and read aloud, and execute nothing whatever names a repository has.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::browser::{Browser, Look};
use crate::support::skip;

mod content;
mod hostile;
mod made;

/// What is wrong with a page, judged in the page itself.
const AUDIT: &str = include_str!("audit.js");

const LOOKS: [Look; 4] = [
    Look { width: 360, theme: "light" },
    Look { width: 360, theme: "dark" },
    Look { width: 1400, theme: "light" },
    Look { width: 1400, theme: "dark" },
];

/// Opens a page in each look; what is wrong with it, a sentence each.
fn faults(browser: &mut Browser, file: &Path, name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for look in LOOKS {
        browser.open(file, look);
        let label = format!("{name} {} {}", look.width, look.theme);
        let audit = browser.evaluate(AUDIT);
        let wrong = audit["wrong"].as_array().unwrap();
        faults.extend(wrong.iter().map(|fault| format!("{label}: {}", fault.as_str().unwrap())));
        if audit["isDark"] != json!(look.theme == "dark") {
            faults.push(format!("{label}: the theme is not that of the reader"));
        }
        faults.extend(deeds(&browser.events).into_iter().map(|deed| format!("{label}: {deed}")));
        faults.extend(
            unnamed(browser).into_iter().map(|role| format!("{label}: {role} without name")),
        );
        if let Some(folder) = std::env::var_os("OVERLAY_TEST_PICTURES").map(PathBuf::from) {
            fs::create_dir_all(&folder).unwrap();
            let picture = format!("{name}-{}-{}.png", look.width, look.theme);
            browser.write_picture(&folder.join(picture));
        }
    }
    faults
}

/// What a page did that it should not: messages on the console, exceptions, dialogs, requests beside itself.
fn deeds(events: &[Value]) -> Vec<String> {
    let mut documents = 0;
    let deed = |event: &Value| match event["method"].as_str().unwrap_or_default() {
        "Runtime.consoleAPICalled"
        | "Runtime.exceptionThrown"
        | "Log.entryAdded"
        | "Page.javascriptDialogOpening" => Some(event.to_string()),
        "Network.requestWillBeSent" => {
            documents += 1;
            (documents > 1 || event["params"]["type"] != "Document").then(|| event.to_string())
        }
        _ => None,
    };
    events.iter().filter_map(deed).collect()
}

/// What a screen reader would announce without a name, as the browser tells it.
fn unnamed(browser: &mut Browser) -> Vec<String> {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap().clone();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
    let wants_name = |node: &&Value| {
        let roles =
            ["link", "table", "region", "navigation", "image", "heading", "DisclosureTriangle"];
        node["ignored"] == json!(false) && roles.contains(&&*role(node))
    };
    let lacks =
        |node: &&Value| node["name"]["value"].as_str().unwrap_or_default().trim().is_empty();
    nodes.iter().filter(wants_name).filter(lacks).map(role).collect()
}

fn write_page(folder: &Path, name: &str, page: &str) -> PathBuf {
    let file = folder.join(format!("{name}.html"));
    fs::write(&file, page).unwrap();
    file
}

/// The judge is no use if it never finds anything.
#[test]
fn the_judge_sees_what_is_wrong_with_a_page() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let folder = tempfile::tempdir().unwrap();
    let page = "<!doctype html><html lang=en><title>x</title><body style='background:#fff'>
        <header><h1>x</h1></header><main><h3>skips</h3><p style='color:#bbb'>faint</p>
        <div style='width:5000px'>wide</div><table><tr><td>1</td></tr></table><img src='http://127.0.0.1:9/x'>
        <a href='#gone'></a><script>console.error('said'); undefined_thing()</script></main><footer></footer>";
    let file = write_page(folder.path(), "bad", page);
    let told = faults(&mut browser, &file, "bad").join("\n");
    for fault in [
        "wider than the window",
        "a heading of level 3 after 1",
        "contrast 1.",
        "a table without caption",
        "a link leads nowhere",
        "the theme is not that of the reader",
        "consoleAPICalled",
        "exceptionThrown",
        "requestWillBeSent",
        "link without name",
    ] {
        assert!(told.contains(fault), "{fault} was not seen in:\n{told}");
    }
}

#[test]
fn pages_open_without_a_fault_at_two_widths_and_in_both_themes() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (name, page) in made::pages() {
        let file = write_page(folder.path(), name, &page);
        wrong.extend(faults(&mut browser, &file, name));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tab reaches the link past the head first, then every link, every fold and everything that scrolls, and nothing else; Enter
/// on the first leads to the content.
#[test]
fn pages_are_used_by_keys_alone() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let folder = tempfile::tempdir().unwrap();
    for (name, page) in made::pages() {
        let file = write_page(folder.path(), name, &page);
        browser.open(&file, LOOKS[0]);
        let stops = "document.querySelectorAll('a[href], summary, [tabindex=\"0\"]').length";
        let stops = browser.evaluate(stops).as_u64().unwrap();
        let mut met = Vec::new();
        for _ in 0..stops {
            browser.press("Tab", 9);
            let at = "(() => { const e = document.activeElement; e.dataset.met = 1; \
                      const box = e.getBoundingClientRect(); \
                      return `${e.tagName} ${e.className} ${box.left >= 0 && box.width > 0}` })()";
            met.push(browser.evaluate(at).as_str().unwrap().to_owned());
        }
        assert_eq!(met[0], "A skip true", "{name}: {met:?}");
        assert!(met.iter().all(|stop| stop.ends_with("true")), "{name}: {met:?}");
        let reached = browser.evaluate("document.querySelectorAll('[data-met]').length");
        assert_eq!(reached, stops, "{name}: {met:?}");
    }
}

/// What is drawn in colours is printed, what only a screen needs is not.
#[test]
fn pages_print() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let folder = tempfile::tempdir().unwrap();
    for (name, page) in made::pages() {
        let file = write_page(folder.path(), name, &page);
        browser.open(&file, LOOKS[2]);
        browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        let hidden = "[...document.querySelectorAll('nav, .skip')].every(e => getComputedStyle(e).display === 'none')";
        assert_eq!(browser.evaluate(hidden), json!(true), "{name}");
        let exact = "[...document.querySelectorAll('.bar, .track > li, .cells i, .swatch')]\
                     .every(e => getComputedStyle(e).printColorAdjust === 'exact')";
        assert_eq!(browser.evaluate(exact), json!(true), "{name}");
        browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
        let printed = browser.call("Page.printToPDF", json!({ "printBackground": false }));
        let pdf = printed["data"].as_str().unwrap();
        assert!(pdf.len() > 10_000, "{name}: {}", pdf.len());
    }
}
