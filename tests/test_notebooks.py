"""The notebooks run from top to bottom in an empty folder, without a network, and ship without outputs."""

import json

import pytest

from tests.helpers.places import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "docs/notebooks").glob("*.ipynb"))
_LONGEST_CELL = 300  # seconds; a hanging cell fails


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_ships_small_and_without_outputs(path):
    content = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    assert path.stat().st_size < 20_000 and "/home/" not in path.read_text("utf-8")
    for cell in cells:
        compile("".join(cell["source"]), str(path), "exec")


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    import ipykernel  # noqa: F401 - the kernel that runs them
    import nbclient
    import nbformat

    settings = {
        "PYTHONPATH": str(REPOSITORY),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hub"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter"),
        "OMP_NUM_THREADS": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=_LONGEST_CELL, startup_timeout=120, resources=folder).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    results = [output["data"] for output in outputs if output.output_type == "execute_result"]
    assert all(data.get("text/html") or not data["text/plain"].isdecimal() for data in results) and results
    assert not [output for output in outputs if output.output_type in ("stream", "error")]
    assert "<progress" not in json.dumps(outputs)  # gone when the cell has run
    assert {entry.name for entry in tmp_path.iterdir()} <= {"hub", "ipython", "jupyter"}  # nothing is left
