"""What the Makefile installs with: PyTorch's build is chosen, and a dead index costs no time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.file_server import server
from tests.helpers.places import REPOSITORY

__all__ = ["server"]
GPUS = ("/dev/nvidiactl", "/dev/kfd")
INDEX = "http://127.0.0.1:9/whl/cpu"  # nobody answers there
HAS_OTHER_BUILD = sys.platform != "linux" or any(Path(name).exists() for name in GPUS)
# A python that only says what pip is asked for, and asks itself for the rest.
PYTHON = f"""#!/bin/sh
if [ "$1" = -m ]; then echo "pip $*"; else exec {sys.executable} "$@"; fi
"""


@pytest.fixture
def install(tmp_path):
    """The standard output and errors of `.ci/install`, with stand-ins for python and uv."""
    (tmp_path / "bin").mkdir()

    def run(*arguments, uv=None, **environment):
        for name, text in {"python": PYTHON, **({"uv": uv} if uv else {})}.items():
            (tmp_path / "bin" / name).write_text(text)
            (tmp_path / "bin" / name).chmod(0o755)
        known = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "TORCH_INDEX": INDEX}
        done = subprocess.run(
            [REPOSITORY / ".ci/install", tmp_path / "bin/python", *arguments],
            env=known | environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout, done.stderr

    return run


@pytest.mark.skipif(HAS_OTHER_BUILD, reason="the CPU build is for Linux without a GPU")
def test_an_index_that_does_not_answer_is_left_out(install):
    asked, said = install(".[train]", PIP_ARGS="--no-index")
    assert asked == "pip -m pip install --quiet --no-compile --no-index .[train]\n"
    assert said == f"{INDEX} does not answer; PyTorch comes as the usual index has it\n"
    assert install(".") == ("pip -m pip install --quiet --no-compile .\n", "")


def test_uv_is_taken_where_it_is_there_and_pip_where_it_fails(install, server):
    uv = '#!/bin/sh\necho "uv $*"\n'
    asked, _ = install(".[train]", uv=uv, PIP_FIND_LINKS="/wheels")
    assert re.fullmatch(r"uv pip install --quiet --python \S+ --find-links /wheels .\[train\]\n", asked)
    server.files["cpu/torch/"] = b"an index"
    asked, said = install(".[train]", uv=uv, TORCH_INDEX=f"{server.host}/cpu")
    assert asked.endswith(" --torch-backend auto .[train]\n") and said == ""
    asked, said = install(".", uv="#!/bin/sh\nexit 2\n")
    assert (
        asked == "pip -m pip install --quiet --no-compile .\n"
        and said == "uv could not install it; pip tries\n"
    )


def test_a_corpus_that_is_not_there_is_told_before_anything_is_installed(tmp_path):
    copy = tmp_path / "checkout"
    copy.mkdir()
    for name in ("Makefile", "setup.cfg", "pyproject.toml", "constraints.txt"):
        (copy / name).symlink_to(REPOSITORY / name)
    ended = subprocess.run(
        ["make", "train", "CORPUS=nowhere.csv"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2 and ended.stderr.startswith("CORPUS=nowhere.csv: no such file\n")
    assert not (copy / ".venv").exists()
