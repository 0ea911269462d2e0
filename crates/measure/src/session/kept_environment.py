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
import stat
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
    """Returns the folder of what is kept. It appears and goes as a whole, and belongs to the search that made it.

    `contents` has the contents of all smaller files, as making thousands of files takes much longer; `large` has links
    to the larger ones; `index` tells which is which.
    """
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


def scripts(top):
    """Returns the scripts of the distributions in a folder of packages."""
    folder, found = os.path.realpath(sysconfig.get_paths()["scripts"]), set()
    for info in top.iterdir():
        if not info.name.endswith(METADATA):
            continue
        try:
            with open(info / "RECORD", newline="", encoding="utf-8") as file:
                rows = [row[0] for row in csv.reader(file) if row]
        except OSError:
            continue
        # What is in the folder of packages has a path below it.
        paths = [os.path.normpath(os.path.join(top, row)) for row in rows if row.startswith("..") or os.path.isabs(row)]
        found.update(it for it in paths if os.path.dirname(it) == folder)
    return sorted(found)


def files(top):
    """Returns the files and links below a folder, but for compiled modules."""
    found, folders = [], [str(top)]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    folders.append(entry.path)
            elif entry.is_symlink() or entry.is_file() and not entry.name.endswith(".pyc"):
                found.append(entry.path)
    return found


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
        (making / "large").mkdir(parents=True)
        with open(making / "contents", "wb") as contents:
            paths = files(top) + [it for it in scripts(top) if os.path.isfile(it)]
            index = {path: keep_file(path, contents, making / "large" / str(number)) for number, path in enumerate(paths)}
        (making / "index").write_text(json.dumps(index), encoding="utf-8")
        owner = {"token": token, "pid": int(pid), "host": os.uname().nodename}
        (making / "owner").write_text(json.dumps(owner), encoding="utf-8")
        try:
            os.rename(making, folder)
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            refuse(top, owner_of(folder) or owner)


def keep_file(path, contents, large):
    """Keeps a file, and returns what is needed to put it back."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return {"target": os.readlink(path)}
    if found.st_size > LARGE:
        os.link(path, large)
        return {"large": large.name, "was": [found.st_size, found.st_mtime_ns]}
    with open(path, "rb") as file:
        begin, size = contents.tell(), contents.write(file.read())
    return {"begin": begin, "size": size, "mode": stat.S_IMODE(found.st_mode), "state": state(found)}


def state(found):
    """Returns what is other after a file was written or replaced."""
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def put_back(path, was, contents, large):
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        now = None
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unborn = path + ".lapwing-new"
    if "target" in was:
        if now and stat.S_ISLNK(now.st_mode) and os.readlink(path) == was["target"]:
            return
        os.symlink(was["target"], unborn)
    elif "large" in was:
        if now and now.st_ino == os.lstat(large / was["large"]).st_ino:
            return
        os.link(large / was["large"], unborn)
    else:
        if now and state(now) == was["state"]:
            return
        contents.seek(was["begin"])
        with open(unborn, "wb") as file:
            file.write(contents.read(was["size"]))
        os.chmod(unborn, was["mode"])
        os.utime(unborn, ns=(was["state"][2],) * 2)
    os.replace(unborn, path)


def folders_of(paths):
    found = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in found and path != "/":
            found.add(path)
    return found


def restore(top, folder):
    """Makes a folder of packages as it was; returns the files that were written in place and cannot be put back."""
    index, large = json.loads((folder / "index").read_text(encoding="utf-8")), folder / "large"
    linked = [(path, was, os.lstat(large / was["large"])) for path, was in index.items() if "large" in was]
    lost = [path for path, was, now in linked if [now.st_size, now.st_mtime_ns] != was["was"]]
    now = files(top)
    for path in now + scripts(top):
        if path not in index and os.path.lexists(path):
            os.unlink(path)
    # New folders go once they have nothing but compiled modules.
    for path in sorted(folders_of(now) - folders_of(index), reverse=True):
        if not any(it != "__pycache__" for it in os.listdir(path)):
            shutil.rmtree(path)
    with open(folder / "contents", "rb") as contents:
        for path, was in index.items():
            put_back(path, was, contents, large)
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
