"""Packages with entry points."""

from pathlib import Path


def install(
    folder: Path, name: str, points: dict[str, str], group: str = "augment_cli.augmentations", **modules: str
) -> None:
    """What an installed package leaves behind: its modules, and the metadata with its entry points."""
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{point} = {place}\n" for point, place in points.items()]
    (information / "entry_points.txt").write_text("".join([f"[{group}]\n", *lines]))
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
