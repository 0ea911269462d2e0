"""Keeps what a Python environment has, puts it back, and tells whether it imports a commit.

keep NAME         keeps what this Python has installed, in folders of this name beside its packages
restore NAME      puts back what differs from it, and removes these folders
imports WORKTREE  prints as JSON the distributions that are installed from a folder, and what is imported from elsewhere
"""

import csv
import json
import os
import shutil
import site
import sys
import sysconfig
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


def kept_in(top, name):
    return top.parent / f"{name}-{top.name}"


def is_small(relative):
    """Returns whether a file may be written in place: it is copied, others are linked."""
    return len(relative.parts) == 1 or relative.parts[0].endswith(METADATA)


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


def keep(name):
    for top in sites():
        folder = kept_in(top, name)
        try:
            folder.mkdir()
        except FileExistsError:
            # Another Python has the same packages.
            continue
        for relative in files(top):
            copy(top / relative, folder / "site" / relative, link=not is_small(relative))
        scripts = {it for info in metadata_folders(top) for it in recorded(top, info) if top not in it.parents}
        for script in sorted(it for it in scripts if it.is_file()):
            copy(script, folder / "scripts" / script.name, link=False)
        # Without this file it is not complete, and nothing was installed yet.
        (folder / "complete").touch()


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
    """Puts back what a folder of packages had."""
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        return
    scripts, kept = Path(os.path.realpath(sysconfig.get_paths()["scripts"])), folder / "site"
    changed, new = set(), set()
    for info in metadata_folders(top):
        names = {it.relative_to(info) for it in info.rglob("*") if it.is_file()}
        old = kept / info.name
        if not old.is_dir() or any(not (old / it).is_file() or differs(old / it, info / it) for it in names):
            changed.add(info.name)
            new.update(recorded(top, info))
            new.update(info / it for it in names)
    gone = [it.name for it in metadata_folders(kept) if not (top / it.name).is_dir()]
    # Editable installations of older tools, and their paths.
    new.update(it for it in top.iterdir() if it.is_file() and it.suffix in (".pth", ".egg-link", ".py"))
    if changed or gone or any(differs(kept / it.name, it) for it in top.glob("*.pth")):
        for path in sorted(new):
            inside = top in path.parents
            old = kept / path.relative_to(top) if inside else folder / "scripts" / path.name
            if not os.path.lexists(old) and os.path.lexists(path):
                path.unlink()
                parent = path.parent
                while inside and parent != top and not any(it.name != "__pycache__" for it in parent.iterdir()):
                    shutil.rmtree(parent)
                    parent = parent.parent
        for relative in files(kept):
            if differs(kept / relative, top / relative):
                copy(kept / relative, top / relative, link=not is_small(relative))
        for script in (folder / "scripts").glob("*"):
            if differs(script, scripts / script.name):
                copy(script, scripts / script.name, link=False)
    shutil.rmtree(folder)


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


def main():
    action, word = sys.argv[1:]
    if action == "keep":
        keep(word)
    elif action == "restore":
        for top in sites():
            if kept_in(top, word).is_dir():
                restore(top, kept_in(top, word))
    else:
        imports(word)


main()
