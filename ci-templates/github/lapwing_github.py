#!/usr/bin/env python3
"""Tells GitHub what Lapwing found.

    lapwing_github.py open <changes.json      opens an issue per change (`lapwing detect --notify`)
    lapwing_github.py update <changes.json    updates and closes these issues (`lapwing detect --full --format json`)
    lapwing_github.py judge RECORDS FOLDER    judges the records of the pull request of this `workflow_run` event
    lapwing_github.py comment FOLDER          comments on it what was judged, and marks its commit

Names of benchmarks, messages of commits and records of pull requests are texts of strangers: all are escaped. An issue is recognised by the ids of its findings, in a comment in its text: a change has one issue, also if that
was closed. Needs GITHUB_TOKEN; the other variables are set in every workflow.
"""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request

LABEL = "performance"
MARK = "<!-- lapwing:"
# GitHub accepts 65,536 characters.
LONGEST = 60_000
# Bytes of records that are read.
LARGEST = 64 * 2**20


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


def line(text):
    """Returns a text as one line, without characters that control a terminal or the direction of text."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", " ", str(text))


def escaped(text):
    """Returns a text whose characters mean nothing to Markdown or HTML, and which mentions no user."""
    text = re.sub(r"([\\`*_\[\]|~!#])", r"\\\1", line(text))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A mention, an address, and a link without marks.
    return text.replace("@", "@\u200b").replace("://", ":\u200b//").replace("www.", "www\u200b.")


def code(text):
    """Returns a name as code in a cell of a table."""
    return "`" + line(text).replace("`", "'").replace("|", "\\|") + "`"


def issue_text(change):
    """Returns the text of the issue of a change."""
    findings = change["findings"]
    mark = " ".join(finding["id"] for finding in findings)
    lines = [f"{MARK} {mark} -->", escaped(change["text"]), ""]
    good, last = change["good"].get("commit"), change["last"].get("commit")
    if good and last and good != last and re.fullmatch(r"[0-9a-f]{7,64}\.{3}[0-9a-f]{7,64}", f"{good}...{last}"):
        link = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}/compare/{good}...{last}"
        lines += [f"Suspects: [{escaped(change['suspects'])}]({link})", ""]
    if change["shared"]:
        lines += ["Most of the suite changed here: look for a change of the machine first.", ""]
    lines += ["| benchmark | metric | change | since | state | id |", "|---|---|---|---|---|---|"]
    for it in findings:
        size = f"{it['ratio']:.3g}×" if it["ratio"] is not None else f"{it['difference']:+.3g} {it['unit']}"
        away = it["went_away"]
        state = f"until {away['text']}" if away else it["state"]
        texts = [it["metric"], f"{it['direction']} {size}", it["since"]["text"], state, it["id"]]
        cells = [code(it["benchmark"]), *map(escaped, texts)]
        lines.append(f"| {' | '.join(cells)} |")
    seen = findings[0]["environment"][:10]
    if seen:
        lines += ["", "Also changed there:", *(f"- {code(change['text'])}" for change in seen)]
    lines += ["", f"{code('lapwing triage acknowledge ' + findings[0]['id'])} marks a finding as known; "
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
                content = {"title": line(change["text"]).replace("@", "@\u200b")[:250], "body": text, "labels": [LABEL]}
                print(f"issue {request('POST', 'issues', content)['number']}: {line(change['text'])}")
            continue
        if may_open:
            continue
        content = {} if issue["body"] == text else {"body": text}
        if issue["state"] == "open" and not any(map(is_open, findings)):
            content["state"] = "closed"
        if content:
            request("PATCH", f"issues/{issue['number']}", content)


def pull_request():
    """Returns the open pull request of this event; None if there is none any more.

    The artifact was made by the code of the pull request, so it may not say which one it is: GitHub names the commit.
    """
    with open(os.environ["GITHUB_EVENT_PATH"]) as event:
        run = json.load(event)["workflow_run"]
    head = urllib.parse.quote(f"{run['head_repository']['owner']['login']}:{run['head_branch']}")
    found = [pull for pull in pages(f"pulls?state=open&head={head}") if pull["head"]["sha"] == run["head_sha"]]
    return found[0] if found else None


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def pairs(number, head):
    """Returns the commits that are compared, with titles; what they are is asked of GitHub, not of the records."""
    git("fetch", "--quiet", "origin", f"+refs/pull/{number}/head:refs/judged/head")
    if git("rev-parse", "refs/judged/head") != head:
        raise ValueError("the pull request has moved on")
    base = git("merge-base", "HEAD", head)
    found = [(base, head, "This pull request, compared with its merge base")]
    try:
        git("fetch", "--quiet", "origin", f"+refs/pull/{number}/merge:refs/judged/merge")
        merged, main, second = git("rev-parse", *(f"refs/judged/merge{it}" for it in ("", "^1", "^2"))).split()
        git("merge-base", "--is-ancestor", main, "HEAD")
    except subprocess.CalledProcessError:
        # It cannot be merged, or its merge is not one with the main branch.
        return found
    if second == head and main != base:
        found.append((main, merged, "Merged, compared with the main branch"))
    return found


def check(path, commits, instances):
    """Raises ValueError for records that are not what was asked for: of other commits, machines or numbers."""
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
        raise ValueError(f"the records are no file of up to {LARGEST >> 20} MiB")
    runs, hosts, visits, ended, failed = {}, set(), {}, {}, set()
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            it = json.loads(text)
            match it["kind"]:
                case "run":
                    runs[it["id"]] = it.get("version", {}).get("commit")
                case "instance":
                    visits[it["id"]] = (runs[it["run"]], it["benchmark"]["id"])
                    hosts.add(it.get("host"))
                case "iteration" if it.get("outcome", "ok") != "ok":
                    failed.add(visits[it["instance"]])
                case "instance_end":
                    ended[it["instance"]] = it.get("outcome", "ok")
                case "annotation":
                    raise ValueError("the records have annotations")
    other = sorted(str(commit) for commit in set(runs.values()) - set(commits))
    if other:
        raise ValueError(f"the records have the commit {other[0]}, which was not to be measured")
    missing = [commit for commit in commits if commit not in runs.values()]
    if missing:
        raise ValueError(f"the records lack the commit {missing[0]}")
    if len(hosts) != 1:
        raise ValueError(f"the records are of {len(hosts)} machines, not of one")
    counts = {}
    for visit, (commit, benchmark) in visits.items():
        if ended.get(visit) != "lost":
            counts[commit, benchmark] = counts.get((commit, benchmark), 0) + 1
    for (commit, benchmark), count in counts.items():
        # A benchmark that fails again and again is given up.
        if count != instances and not (count < instances and (commit, benchmark) in failed):
            raise ValueError(f"the records have {count} instances of {benchmark} at {commit}, not {instances}")


def judge(records, folder):
    """Judges the records of a pull request; writes the comment, and what the commit is marked with."""
    pull = pull_request()
    state, said, text = "none", "there is no open pull request of this commit any more", ""
    if pull:
        try:
            found = pairs(pull["number"], pull["head"]["sha"])
            commits = list(dict.fromkeys(commit for pair in found for commit in pair[:2]))
            check(records, commits, int(os.environ["INSTANCES"]))
            state, said, text = verdict(records, folder, found)
        # Whatever is wrong with records of strangers, it is said.
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            state, said = "error", f"the records were rejected: {line(error)}"
            text = f"The records of this pull request were rejected: {escaped(error)}\n"
    with open(os.path.join(folder, "comment.md"), "w", encoding="utf-8") as file:
        file.write(text or f"{said}\n")
    with open(os.path.join(folder, "status.json"), "w", encoding="utf-8") as file:
        json.dump({"state": state, "description": said}, file)


def verdict(records, folder, found):
    """Returns the state, its description and the comment on these pairs of commits."""
    store = os.path.join(folder, os.pardir, "judged.db")
    program = ["lapwing", "--store", store]
    imported = subprocess.run([*program, "import", records], capture_output=True, text=True)
    if imported.returncode:
        raise ValueError(imported.stderr.strip().splitlines()[0])
    texts, codes = [], []
    for base, candidate, title in found:
        options = ["--smallest-effect", os.environ["SMALLEST_EFFECT"], "--fail-on", "regression,failures"]
        words = [*program, "compare", f"commit:{base}", f"commit:{candidate}", *options, "--export-markdown", "-"]
        done = subprocess.run(words, capture_output=True, text=True)
        codes.append(done.returncode)
        # Markdown of lapwing is escaped; an error is not.
        texts.append(f"### {title}\n\n{done.stdout or escaped(done.stderr)}\n")
    # A fold that is cut off would swallow what follows.
    for at in reversed(range(len(texts))):
        if sum(map(len, texts)) > LONGEST:
            texts[at] = re.sub(r"<details>.*?</details>\n*", "", texts[at], flags=re.DOTALL)
    undecided = sum(int(it) for text in texts for it in re.findall(r"^\*\*.*?(\d+) undecided", text, re.MULTILINE)[:1])
    said = {0: "no regression found" + (f", {undecided} undecided" if undecided else ""),
            1: "a regression, or a benchmark that fails", 3: "not enough data to judge", 4: "a benchmark never succeeded"}
    # The worst of both, the worst first.
    worst = next((code for code in codes if code not in said), None) or next(code for code in (1, 4, 3, 0) if code in codes)
    state = {0: "success", 1: "failure", 4: "failure"}.get(worst, "error")
    return state, said.get(worst, f"lapwing failed with exit code {worst}"), "".join(texts)


def comment(folder):
    """Marks the commit of a pull request, and writes its comment or replaces that of an earlier run."""
    pull = pull_request()
    with open(os.path.join(folder, "status.json"), encoding="utf-8") as file:
        status = json.load(file)
    if pull is None or status["state"] == "none":
        print("there is no open pull request of this commit any more")
        return
    content = {"context": "lapwing", "state": status["state"], "description": line(status["description"])[:140]}
    request("POST", f"statuses/{pull['head']['sha']}", content)
    number = pull["number"]
    mark = f"{MARK} pull request -->"
    with open(os.path.join(folder, "comment.md"), encoding="utf-8", errors="replace") as text:
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
        case ["judge", records, folder]:
            judge(records, folder)
        case ["comment", folder]:
            comment(folder)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
