"""What a wheel has: train/, eval/ and what they need of data/ go into the package's folder `checkout`.

Everything else of the package's description is in setup.cfg; `augment_cli/places.py` finds the folders again.
"""

from setuptools import find_packages, setup

INSIDE = "augment_cli.checkout"
BESIDE = find_packages(include=["train", "train.*", "eval", "eval.*", "data", "data.fetch"])

setup(
    packages=[
        *find_packages(include=["augment_cli", "augment_cli.*"]),
        *(f"{INSIDE}.{package}" for package in BESIDE),
    ],
    package_dir={f"{INSIDE}.{folder}": folder for folder in ("train", "eval", "data")},
    package_data={
        "augment_cli": [
            "py.typed",
            "sample/*",
            "recipes/*.toml",
            "pages/templates/*",
            "models/english/*",
            "models/english/*/*",
            "models/paraphraser/*",
            "resources/*/*",
        ],
        f"{INSIDE}.train": ["recipes/*.toml", "methods/*/*.toml", "extras/*.html"],
        f"{INSIDE}.eval": ["results/*.toml", "results/*.html", "tasks/*.toml", "tasks/*.tsv"],
        # The small BERT, data/models/encoder, would make the wheel larger than 40 MB.
        f"{INSIDE}.data": ["fetch/*.toml", "models/static/*"],
    },
    include_package_data=False,
)
