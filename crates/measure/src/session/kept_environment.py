"""Keeps what a Python environment has, puts it back, and tells whether it imports a commit.

keep TOKEN PID    keeps what this Python has installed, in a folder beside its packages; ends with 3 if another search,
                  whose process lives, has done so
restore TOKEN     puts back what was kept with this token; prints as JSON what cannot be
imports WORKTREE  prints as JSON the distributions that are installed from a folder, and what is imported from elsewhere

It ends when its standard input does, so that it never outlives the program that started it.
"""

import csv
import json
import os
import shutil
import site
import sys
import sysconfig
import threading
from importlib import metadata, util
from pathlib import Path
from urllib.parse import unquote, urlsplit

METADATA = (".dist-info", ".egg-info")


def sites():
    """Returns the folders of packages that can be written to."""
    paths = sysconfig.get_paths()
    found = {paths["purelib"], paths["platlib"]}
    if site.ENABLE_USER_SITE:
        found.add(site.getusersitepackages())
    folders = sorted({Path(os.path.realpath(it)) for it in found})
    return [it for it in folders if it.is_dir() and os.access(it, os.W_OK) and os.access(it.parent, os.W_OK)]


# A larger file is linked, and cannot be put back if it is written in place.
LARGE = 1 << 20


def kept_in(top):
    """Returns the folder of what is kept. It appears and goes as a whole, and belongs to the search that made it."""
    return top.parent / f".lapwing-kept-{top.name}"


def owner_of(folder):
    try:
        return json.loads((folder / "owner").read_text(encoding="utf-8"))
    except OSError:
        return None


def lives(owner):
    if owner["host"] != os.uname().nodename:
        return True
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def refuse(top, owner):
    print(f"another search installs into {top} (process {owner['pid']} on {owner['host']})", file=sys.stderr)
    sys.exit(3)


def recorded(top, folder):
    """Returns the files of a distribution, outside of the packages only those in the folder of scripts."""
    scripts = Path(os.path.realpath(sysconfig.get_paths()["scripts"]))
    try:
        with open(folder / "RECORD", newline="", encoding="utf-8") as file:
            rows = [row[0] for row in csv.reader(file) if row]
    except OSError:
        return []
    paths = [Path(os.path.normpath(top / row)) for row in rows]
    return [it for it in paths if top in it.parents or it.parent == scripts]


def metadata_folders(top):
    return [it for it in top.iterdir() if it.name.endswith(METADATA) and it.is_dir()]


def copy(source, target, link):
    target.parent.mkdir(parents=True, exist_ok=True)
    unborn = target.with_name(target.name + ".lapwing-new")
    if source.is_symlink() or not link:
        shutil.copy2(source, unborn, follow_symlinks=False)
    else:
        os.link(source, unborn)
    os.replace(unborn, target)


def files(top):
    for folder, folders, names in os.walk(top):
        links = [it for it in folders if os.path.islink(os.path.join(folder, it))]
        folders[:] = [it for it in folders if it != "__pycache__" and it not in links]
        for name in names + links:
            if not name.endswith(".pyc"):
                yield (Path(folder) / name).relative_to(top)


def keep(token, pid):
    for top in sites():
        folder = kept_in(top)
        owner = owner_of(folder)
        if owner and owner["token"] == token:
            # Another Python has the same packages.
            continue
        if owner and lives(owner):
            refuse(top, owner)
        if owner:
            restore(top, folder)
        making = top.parent / f".lapwing-making-{top.name}-{pid}"
        shutil.rmtree(making, ignore_errors=True)
        (making / "site").mkdir(parents=True)
        linked = {}
        for relative in files(top):
            link = (top / relative).lstat().st_size > LARGE
            copy(top / relative, making / "site" / relative, link)
            if link:
                linked[str(relative)] = state(top / relative)
        scripts = {it for info in metadata_folders(top) for it in recorded(top, info) if top not in it.parents}
        for script in sorted(it for it in scripts if it.is_file()):
            copy(script, making / "scripts" / script.name, link=False)
        (making / "linked").write_text(json.dumps(linked), encoding="utf-8")
        owner = {"token": token, "pid": int(pid), "host": os.uname().nodename}
        (making / "owner").write_text(json.dumps(owner), encoding="utf-8")
        try:
            os.rename(making, folder)
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            refuse(top, owner_of(folder) or owner)


def state(path):
    found = path.lstat()
    return [found.st_size, found.st_mtime_ns]


def differs(one, other):
    if os.path.islink(one) or os.path.islink(other):
        return not (os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other))
    if not other.is_file():
        return True
    ours, theirs = one.stat(), other.stat()
    if ours.st_ino == theirs.st_ino:
        return False
    return ours.st_size != theirs.st_size or one.read_bytes() != other.read_bytes()


def restore(top, folder):
    """Makes a folder of packages as it was; returns the files that were written in place and cannot be put back."""
    scripts, kept = Path(os.path.realpath(sysconfig.get_paths()["scripts"])), folder / "site"
    linked = json.loads((folder / "linked").read_text(encoding="utf-8"))
    lost = [str(top / it) for it, was in linked.items() if state(kept / it) != was]
    new = {it for info in metadata_folders(top) for it in recorded(top, info) if top not in it.parents}
    for script in sorted(new):
        if not os.path.lexists(folder / "scripts" / script.name) and os.path.lexists(script):
            script.unlink()
    before, now = set(files(kept)), set(files(top))
    for relative in sorted(now - before):
        (top / relative).unlink()
    remains = {parent for it in before for parent in it.parents}
    gone = {parent for it in now for parent in it.parents} - remains
    for parent in sorted(gone, reverse=True):
        if not any(it.name != "__pycache__" for it in (top / parent).iterdir()):
            shutil.rmtree(top / parent)
    for relative in sorted(before):
        if differs(kept / relative, top / relative):
            copy(kept / relative, top / relative, link=str(relative) in linked)
    for script in (folder / "scripts").glob("*"):
        if differs(script, scripts / script.name):
            copy(script, scripts / script.name, link=False)
    ended = folder.with_name(f".lapwing-making-{top.name}-{os.getpid()}")
    os.rename(folder, ended)
    shutil.rmtree(ended)
    return lost


def source_of(distribution):
    try:
        url = json.loads(distribution.read_text("direct_url.json") or "{}").get("url", "")
    except (OSError, ValueError):
        return None
    parts = urlsplit(url)
    return os.path.realpath(unquote(parts.path)) if parts.scheme == "file" else None


def imports(worktree):
    worktree = os.path.realpath(worktree)
    within = lambda path: path == worktree or path.startswith(worktree + os.sep)
    found, wrong = [], []
    for distribution in metadata.distributions():
        source = source_of(distribution)
        if source is None or not within(source):
            continue
        name = distribution.metadata["Name"]
        found.append(name)
        owned = [it for it in distribution.files or [] if it.suffix == ".py" and not it.name.startswith("__editable__")]
        for file in owned:
            installed = Path(distribution.locate_file(file))
            for top in (Path(source), Path(source) / "src"):
                if (top / file).is_file() and installed.is_file() and (top / file).read_bytes() != installed.read_bytes():
                    wrong.append(f"{installed} is not that of the commit")
        modules = (distribution.read_text("top_level.txt") or "").split()
        modules = modules or sorted({it.parts[0].removesuffix(".py") for it in owned}) or [name.replace("-", "_")]
        for module in modules:
            try:
                spec = util.find_spec(module)
            except (ImportError, ValueError):
                spec = None
            if spec is None:
                continue
            places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or [])
            own = {os.path.realpath(distribution.locate_file(it)) for it in owned}
            places = [os.path.realpath(it) for it in places if it]
            if places and not any(within(it) or it in own for it in places):
                wrong.append(f"`{module}` is imported from {places[0]}, not from the commit")
    print(json.dumps({"found": sorted(found), "wrong": wrong[:3]}))


def end_with_input():
    while os.read(0, 1):
        pass
    os._exit(4)


def main():
    threading.Thread(target=end_with_input, daemon=True).start()
    action, word, *more = sys.argv[1:]
    if action == "keep":
        keep(word, more[0])
    elif action == "restore":
        kept = [(it, kept_in(it)) for it in sites()]
        own = [(top, folder) for top, folder in kept if (owner_of(folder) or {}).get("token") == word]
        print(json.dumps([lost for top, folder in own for lost in restore(top, folder)]))
    else:
        imports(word)


main()
