"""Answers of the program, as objects and as notebooks show them."""

from __future__ import annotations

import dataclasses
import hashlib
import html
import re
import shlex
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ._table import Table


# Hundreds of classes: each generated method would cost a third of the time of `import lapwing`.
part = dataclasses.dataclass(kw_only=True, repr=False, eq=False)


@part
class Part:
    """A part of an answer. Fields that this version does not know are in the answer's `json` alone."""

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> typing.Self:
        """Returns the part that this JSON describes."""
        makers = _makers(cls)
        return cls(**{name: make(json.get(key)) for name, (key, make) in makers.items()})

    def __repr__(self) -> str:
        told = (f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({', '.join(told)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)


@part
class Note(Part):
    """A remark; its other numbers are in the answer's `json`."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


@part
class NextStep(Part):
    """A command that continues from here."""

    command: str
    why: str
    seconds: float | None = None

    def __str__(self) -> str:
        return f"`{self.command}` {self.why}"


@part
class Answer(Part):
    """The answer to a question. In a notebook it shows its sentence, its table and its charts."""

    headline: str
    """The conclusion in one sentence."""
    verdict: str | None = None
    """The verdict, where the question has one."""
    next: list[NextStep] = dataclasses.field(default_factory=list)
    notes: list[Note] = dataclasses.field(default_factory=list)
    omitted_rows: int = 0
    """Number of rows that are not listed: `full=True` lists them."""
    json: dict[str, Any] = dataclasses.field(default_factory=dict)
    """The whole answer."""
    command: str = ""
    """The command that repeats it in a shell."""
    exit_code: int = 0
    """What the command exits with, such as 1 for a regression with `fail_on="regression"`."""
    shown: dict[str, Any] = dataclasses.field(default_factory=dict)

    def table(self) -> Table:
        """Returns the rows of the answer."""
        return Table(self.shown["csv"].encode(), "csv")

    def chart(self, height: int = 560) -> Chart:
        """Returns the charts of the answer, which respond to the pointer, as a page in a frame of this height."""
        if not self.shown.get("page"):
            raise ValueError("this answer has no chart")
        return Chart(self.shown["page"], self.pictures, height)

    @property
    def pictures(self) -> list[str]:
        """The first charts of the answer, as SVG."""
        return [_own_names(picture["svg"]) for picture in self.shown.get("pictures", [])]

    def __str__(self) -> str:
        return self.shown.get("markdown") or self.headline

    def __repr__(self) -> str:
        return f"<lapwing {self.json.get('answer', 'answer')}: {self.headline}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = self.shown.get("markdown", self.headline).rstrip()
        charts, drawn = self.shown.get("charts", 0), len(self.shown.get("pictures", []))
        more = f"\n\n{drawn} of {charts} charts; `answer.chart()` has all" if charts > drawn else ""
        return {"text/plain": text, "text/markdown": f"{text}{more}\n\n```sh\n{self.command}\n```"}

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self._repr_mimebundle_(), raw=True)
        titles = (picture["title"] for picture in self.shown.get("pictures", []))
        for title, svg in zip(titles, self.pictures):
            display({"text/plain": title, "image/svg+xml": svg}, raw=True)


class Chart:
    """The charts of an answer as a page that needs no network, in a frame of its own."""

    def __init__(self, page: str, pictures: list[str], height: int) -> None:
        self.page = page
        self.pictures = pictures
        self.height = height

    def save(self, path: str | Path) -> None:
        """Writes the page to an .html file, or the first chart to an .svg file."""
        forms = {".svg": self.pictures[0], ".html": self.page}
        form = forms.get(Path(path).suffix.lower())
        if form is None:
            raise ValueError(f"{path} does not end in .svg or .html; the command of the answer writes .png by `plot=`")
        Path(path).write_text(form, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{html.escape(self.page)}"></iframe>'
        )


def _own_names(svg: str) -> str:
    """Returns a picture whose names occur in no other: a converted notebook has all pictures in one document."""
    own = hashlib.sha256(svg.encode()).hexdigest()[:8]
    return re.sub(r"""(?m)(\b(?:id|class)=["']|href=["']#|url\(#|^\.(?=\w))""", rf"\g<1>n{own}-", svg)


def shell_line(line: list[str]) -> str:
    """Returns the line that asks the same in a shell."""
    return shlex.join(["lapwing", *line])


@cache
def _makers(cls: type) -> dict[str, tuple[str, Any]]:
    """Returns of each field the name in JSON, and how its value is made."""
    hints = typing.get_type_hints(cls)
    every = {it.name for it in dataclasses.fields(Answer)} if issubclass(cls, Answer) else set()
    own = [it for it in dataclasses.fields(cls) if it.name not in every]
    return {it.name: (it.metadata.get("json", it.name), _maker(hints[it.name])) for it in own}


def _maker(kind: Any) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (other,) = [it for it in inner if it is not types.NoneType]
        make = _maker(other)
        return lambda value: None if value is None else make(value)
    if origin is list:
        make = _maker(inner[0])
        return lambda value: [make(it) for it in value or []]
    if origin is dict:
        make = _maker(inner[1])
        return lambda value: {key: make(it) for key, it in (value or {}).items()}
    if isinstance(kind, type) and issubclass(kind, Part):
        return lambda value: None if value is None else kind.of(value)
    return lambda value: value


def made(cls: type[Answer], json: dict[str, Any], command: str, exit_code: int) -> Answer:
    """Returns an answer of this class."""
    shown = json.pop("shown", {})
    own = {name: make(json.get(key)) for name, (key, make) in _makers(cls).items()}
    return cls(
        **own,
        headline=json["headline"],
        verdict=json.get("verdict"),
        next=[NextStep.of(it) for it in json.get("next", [])],
        notes=[Note.of(it) for it in json.get("notes", [])],
        omitted_rows=json.get("omitted_rows", 0),
        json=json,
        command=command,
        exit_code=exit_code,
        shown=shown,
    )
