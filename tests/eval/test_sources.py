"""Folder or hub: a data set of the hub is asked for only where there is no such folder."""

from pathlib import Path

import huggingface_hub
import pytest

from memsteer.eval.sources import data_folder
from memsteer.programs.records import HistoryError


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert data_folder(str(tmp_path)) == tmp_path


def test_a_hub_data_set_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def snapshot(name: str, **options: object) -> str:
        asked.append((name, options["repo_type"]))
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert data_folder("owner/name") == tmp_path
    assert asked == [("owner/name", "dataset")]


def test_no_network_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def snapshot(name: str, **options: object) -> str:
        raise ConnectionError("no route\nand a long story")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(HistoryError) as caught:
        data_folder("owner/name")
    assert str(caught.value) == (
        "owner/name: is no folder, and the hub gave no data set of that name (no route)"
    )


def test_what_is_neither_folder_nor_hub_id(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="is no folder; give the folder"):
        data_folder(tmp_path / "none")
