"""The quick-start notebook runs from top to bottom, and draws its pictures."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_quickstart.ipynb"


def test_the_quickstart_runs_and_draws(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:  # smaller numbers: what is tested is that it runs
        small = cell.source.replace("questions=100", "questions=16")
        cell.source = small.replace("rounds=3, trials=10", "rounds=1, trials=2")
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 5
    text = "".join(o.get("text", "") for o in outputs)
    assert "refused at" in text
    assert "round 1:" in text
