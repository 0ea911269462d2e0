#!/usr/bin/env python3
"""Tells GitHub what Lapwing found.

    lapwing_github.py open <changes.json      opens an issue per change (`lapwing detect --notify`)
    lapwing_github.py update <changes.json    updates and closes these issues (`lapwing detect --full --format json`)
    lapwing_github.py comment FILE            comments on the pull request of this `workflow_run` event

An issue is recognised by the ids of its findings, in a comment in its text: a change has one issue, also if that
was closed. Needs GITHUB_TOKEN; the other variables are set in every workflow.
"""

import json
import os
import re
import sys
import urllib.parse
import urllib.request

LABEL = "performance"
MARK = "<!-- lapwing:"
# GitHub accepts 65,536 characters.
LONGEST = 60_000


def request(method, path, content=None):
    url = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}"
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Content-Type": "application/json",
    }
    data = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=30) as answer:
        return json.load(answer)


def pages(path):
    page = 1
    while True:
        found = request("GET", f"{path}{'&' if '?' in path else '?'}per_page=100&page={page}")
        yield from found
        if len(found) < 100:
            return
        page += 1


def code(text):
    """Returns a name as code in a cell of a table."""
    return "`" + text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"


def issue_text(change):
    """Returns the text of the issue of a change."""
    findings = change["findings"]
    mark = " ".join(finding["id"] for finding in findings)
    lines = [f"{MARK} {mark} -->", change["text"], ""]
    good, last = change["good"].get("commit"), change["last"].get("commit")
    if good and last and good != last:
        link = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}/compare/{good}...{last}"
        lines += [f"Suspects: [{change['suspects']}]({link})", ""]
    if change["shared"]:
        lines += ["Most of the suite changed here: look for a change of the machine first.", ""]
    lines += ["| benchmark | metric | change | since | state | id |", "|---|---|---|---|---|---|"]
    for it in findings:
        size = f"{it['ratio']:.3g}×" if it["ratio"] is not None else f"{it['difference']:+.3g} {it['unit']}"
        away = it["went_away"]
        state = f"until {away['text']}" if away else it["state"]
        cells = [code(it["benchmark"]), it["metric"], f"{it['direction']} {size}", it["since"]["text"], state, it["id"]]
        lines.append(f"| {' | '.join(cells)} |")
    seen = findings[0]["environment"][:10]
    if seen:
        lines += ["", "Also changed there:", *(f"- {code(change['text'])}" for change in seen)]
    lines += ["", f"`lapwing triage acknowledge {findings[0]['id']}` marks a finding as known; "
              "`explain`, `expect` and `mute` are the others."]
    return "\n".join(lines)[:LONGEST]


def known_issues():
    """Returns the issues by the ids of their findings."""
    issues = {}
    for issue in pages(f"issues?labels={LABEL}&state=all"):
        found = re.match(re.escape(MARK) + r" ([0-9a-f ]+) -->", issue["body"] or "")
        if found and "pull_request" not in issue:
            issues.update(dict.fromkeys(found[1].split(), issue))
    return issues


def is_open(finding):
    return finding["state"] == "new" and finding["went_away"] is None


def tell(changes, may_open):
    issues = known_issues()
    for change in changes:
        findings = change["findings"]
        issue = next((issues[it["id"]] for it in findings if it["id"] in issues), None)
        text = issue_text(change)
        if issue is None:
            # Improvements are in the report and the summary.
            if may_open and any(it["direction"] != "improvement" for it in findings):
                content = {"title": change["text"][:250], "body": text, "labels": [LABEL]}
                print(f"issue {request('POST', 'issues', content)['number']}: {change['text']}")
            continue
        if may_open:
            continue
        content = {} if issue["body"] == text else {"body": text}
        if issue["state"] == "open" and not any(map(is_open, findings)):
            content["state"] = "closed"
        if content:
            request("PATCH", f"issues/{issue['number']}", content)


def comment(file):
    """Writes the comment of a pull request, or replaces that of an earlier run."""
    with open(os.environ["GITHUB_EVENT_PATH"]) as event:
        run = json.load(event)["workflow_run"]
    # The artifact was made by the code of the pull request, so it may not say which one it is; nor may it call people.
    head = urllib.parse.quote(f"{run['head_repository']['owner']['login']}:{run['head_branch']}")
    found = [pull for pull in pages(f"pulls?state=open&head={head}") if pull["head"]["sha"] == run["head_sha"]]
    if not found:
        print("there is no open pull request of this commit any more")
        return
    number = found[0]["number"]
    mark = f"{MARK} pull request -->"
    with open(file, encoding="utf-8", errors="replace") as text:
        text = text.read(LONGEST).replace("@", "@\u200b").replace("<!--", "<! --")
    content = {"body": f"{mark}\n{text}"}
    for earlier in pages(f"issues/{number}/comments"):
        if earlier["user"]["type"] == "Bot" and earlier["body"].startswith(mark):
            request("PATCH", f"issues/comments/{earlier['id']}", content)
            return
    request("POST", f"issues/{number}/comments", content)


def main():
    match sys.argv[1:]:
        case ["open"]:
            tell(json.load(sys.stdin)["changes"], may_open=True)
        case ["update"]:
            tell(json.load(sys.stdin)["changes"], may_open=False)
        case ["comment", file]:
            comment(file)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
