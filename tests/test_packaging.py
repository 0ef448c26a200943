"""The wheel holds every module and data file of the source, under one namespace."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_the_source(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("memsteer-*.whl")
    held = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    expected = {"memsteer/__init__.py", "memsteer/py.typed"}
    for folder in ("signatures", "programs", "optimizers", "eval"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".jsonl", ".json"):
                expected.add(f"memsteer/{path.relative_to(ROOT)}")
    assert held == expected


def test_folders_are_not_imported_by_their_bare_names() -> None:
    """`import programs` would give other classes than `import memsteer.programs`."""
    faults = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("signatures", "programs", "optimizers", "eval", "benchmarks", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.startswith(
            tuple(f"from {f}" for f in ("programs", "signatures", "optimizers", "eval"))
        )
        or line.startswith(("import programs", "import signatures", "import optimizers"))
    ]
    assert faults == []


def test_arrows_go_one_way() -> None:
    """signatures <- programs <- optimizers <- eval."""
    order = ["signatures", "programs", "optimizers", "eval"]
    faults = []
    for level, folder in enumerate(order):
        above = [f"memsteer.{name}" for name in order[level + 1 :]]
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            faults += [f"{path.name}: {name}" for name in above if f"{name}" in text]
    assert faults == []
