//! `pullRequestTemplate`: a body of the repository's own.

use super::*;

impl Stage {
    /// The repository's template, in the clone and on the base branch.
    fn with_template(text: &str) -> Self {
        let stage = Self::new(1);
        stage.lab.write("clone/.overlay.yaml", "pullRequestTemplate: .github/overlay.md\n");
        stage.lab.write("clone/.github/overlay.md", text);
        stage.lab.commit_all("clone", "template");
        stage.lab.git("clone", &["push", "-q", "origin", "main"]);
        stage
    }
}

#[test]
fn a_template_of_the_repository_makes_the_body() {
    let template = "## {{ title }}\n\n{{ summary }} Into {{ base }} from {{ branch }}.\n\n{% for image in images -%}\n\
                    * {{ image.name | code }}: {{ image.before }} → {{ image.after }} ({{ image.places }})\n{% endfor %}\n\
                    {{ effect_total }} of {{ overlays | length }}{% for row in effect %} {{ row.object }} {{ row.field | code }}{% endfor %}";
    let stage = Stage::with_template(template);
    let ran = stage.pin('2', &["--title", "Ship *it* @ann"]).ok();
    let body = stage.github.pull(1).body;
    let text: Vec<&str> = body.lines().filter(|line| !line.starts_with("<!--")).collect();
    assert_eq!(text[0], "## Ship \\*it\\* @&#8203;ann");
    let branch = ran.branch().replace('-', "\\-");
    assert_eq!(text[2], format!("Changes 1 image in overlays/prod. Into main from {branch}."));
    assert_eq!(
        text[4],
        "* `shop/app0`: sha256:&#8203;111111111111… → sha256:&#8203;222222222222… (1)"
    );
    let field = "`spec.template.spec.containers.[name=app0].image`";
    assert_eq!(*text.last().unwrap(), format!("1 of 1 Deployment/web {field}"));
    // What people write around it stays here too.
    stage.github.hub(|hub| hub.find(1).unwrap().body.insert_str(0, "Mind this.\n"));
    stage.pin('3', &[]).ok();
    let body = stage.github.pull(1).body;
    assert!(body.starts_with("Mind this.\n") && body.contains("333333333333…"), "{body}");
}

#[test]
fn a_template_that_gives_no_body_stops_before_anything_is_pushed() {
    let endless = "{% for a in range(9000) %}{% for b in range(9000) %}x{% endfor %}{% endfor %}";
    for (template, line, words) in [
        ("ok\n{{ nothing }}", Some(2), "undefined"),
        ("{% if %}", Some(1), "syntax error"),
        (endless, None, "fuel"),
        (&"x".repeat(70_000), None, "the forge takes 65536"),
    ] {
        let stage = Stage::with_template(template);
        let ran = stage.pin('2', &[]);
        assert_eq!((ran.status, ran.code()), (3, "template-invalid"), "{}", ran.text);
        let error = &ran.json["error"];
        assert_eq!(error["location"]["file"], ".github/overlay.md", "{error}");
        if let Some(line) = line {
            assert_eq!(error["location"]["line"], line, "{error}");
        }
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert_eq!(stage.git(&["branch", "--list"]), "* main");
        assert_eq!(stage.github.writes(), [""; 0]);
    }
}
