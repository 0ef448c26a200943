"""The notebook on adaptive memory runs from top to bottom, and draws its pictures."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "02_adaptive_memory.ipynb"


def test_the_adaptive_memory_runs_and_draws(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:  # fewer systems: what is tested is that it runs
        fewer = cell.source.replace('"adamem-paper", "mem0", "mem0-time", ', "")
        cell.source = fewer.replace('"mem0-time": SOFT, ', "")
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 3
    text = "".join(o.get("text", "") for o in outputs)
    assert "after week 3" in text
    assert "week 1:" in text
    assert "noise_rejection" in text
