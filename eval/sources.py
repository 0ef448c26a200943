"""Where the files of a benchmark come from: a folder or a hub data set, and JSON read with care.

Every fault is one `HistoryError` line that names the file, the line and the field.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memsteer.programs.records import HistoryError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def data_folder(data: Path | str) -> Path:
    """The folder `data`, or the local copy of the hub data set "owner/name" of that name."""
    folder = Path(data)
    if folder.is_dir():
        return folder
    if not _HUB_ID.fullmatch(str(data)):
        raise HistoryError(f"{data}: is no folder; give the folder that holds the benchmark's data")
    # Imported here: a folder needs no hub client, and importing it costs a second.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(data), repo_type="dataset", etag_timeout=5))
    except (OSError, ValueError, RuntimeError) as error:  # httpx and hub errors are among these
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise HistoryError(
            f"{data}: is no folder, and the hub gave no data set of that name ({reason})"
        ) from error


def read_text(path: Path) -> str:
    """The UTF-8 text of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise HistoryError(f"{path}: is not UTF-8 text (byte {error.start})") from error


def parse_object(place: str, text: str) -> Mapping[str, Any]:
    """The JSON object that `text` holds; `place` says where the text stands."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise HistoryError(f"{place}: is not JSON ({error.msg})") from error
    if not isinstance(value, dict):
        raise HistoryError(f"{place}: is a {type(value).__name__}, not an object with fields")
    return value


def read_objects(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSONL file, each with its place ("file, line N"), without blank lines."""
    # Not splitlines(): a JSON string may hold U+2028, which is no end of line here.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            place = f"{path}, line {number}"
            yield place, parse_object(place, line)


def string(place: str, row: Mapping[str, Any], name: str, required: bool = True) -> str:
    """The stripped string in field `name`; an absent one is an error, or empty if not required."""
    value = row.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        fault = "is missing" if value is None else f"{value!r} is not a string"
        raise HistoryError(f"{place}, field {name!r}: {fault}")
    if required and not value.strip():
        raise HistoryError(f"{place}, field {name!r}: is empty")
    return value.strip()


def strings(place: str, row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The list of strings in field `name`; empty where the field is absent."""
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise HistoryError(f"{place}, field {name!r}: {value!r} is not a list of strings")
    return tuple(value)
