"""How far a language model, as a judge, agrees with the verdicts of people in `data/judged/`.

    python -m benchmarks.judge_quality --model NAME --work runs/judge
    python -m benchmarks.judge_quality --model FOLDER --engine process --work runs/judge --template mine.toml

Originals and outputs whose verdict says something of the meaning become the pairs of a store, and the judge
is asked about each, for its likeliest answer. Printed are, for each augmentation and for all, the pairs,
those without a verdict of the judge, agreement with its 95 % interval, and Cohen's kappa. A command that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli import api
from augment_cli.contract.generate_parameters import ENGINES, RESPONSE_FORMATS, GenerateParameters
from augment_cli.reports.verdicts import Judgement, agreement, meaning_said, read
from augment_cli.store.store import Store
from benchmarks.timing import markdown

_USUAL = GenerateParameters()
JUDGED = Path(__file__).parents[1] / "data/judged"
COLUMN = "output"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options beside `--model` that say who is asked, as `augment-cli generate` has them."""
    parser.add_argument("--engine", choices=ENGINES, default=_USUAL.engine)
    parser.add_argument("--endpoint", default=_USUAL.endpoint)
    parser.add_argument("--allow-remote", action="store_true")
    parser.add_argument("--concurrency", type=int, default=_USUAL.concurrency)
    parser.add_argument("--max-tokens", type=int, default=_USUAL.max_tokens)
    parser.add_argument("--response-format", choices=RESPONSE_FORMATS, default=_USUAL.response_format)


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Those options as `augment_cli.generate` takes them."""
    names = ("model", "engine", "endpoint", "allow_remote", "concurrency", "max_tokens", "response_format")
    return {name: getattr(options, name) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    add_options(parser)
    parser.add_argument("--work", type=Path, required=True, help="folder of the store, made or gone on with")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="folder of files as `judge` writes them")
    parser.add_argument("--template", default="judge")
    options = parser.parse_args()
    judgements = [one for one in read([options.judged]) if meaning_said(one) and one.text and one.original]
    store = judged_store(options.work, judgements, options.template, chosen(options))
    print(table(store, judgements))


def judged_store(work: Path, judgements: Sequence[Judgement], template: str, chosen: dict[str, Any]) -> Store:
    """The store with all pairs and the judge's verdicts, in the stage `llm-judge`."""
    work.mkdir(parents=True, exist_ok=True)
    pairs = dict.fromkeys((one.original, one.text) for one in judgements)
    lines = [json.dumps({"text": original, COLUMN: text}) for original, text in pairs]
    (work / "pairs.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    path = work / "store"
    api.ingest_corpus(work / "pairs.jsonl", path, text_column="text", positive_columns=[COLUMN])
    api.llm_paraphrase(path, template=template, of=COLUMN, name="judge", temperature=0.0, **chosen)
    return Store.open(path)


def table(store: Store, judgements: Sequence[Judgement]) -> str:
    """A row for each augmentation that people judged by its meaning, and one for all."""
    rows = []
    makers = sorted({one.maker for one in judgements})
    for name in (*makers, None):
        some = [one for one in judgements if name in (None, one.maker)]
        found = agreement(store, "llm-judge", some)
        if not found["pairs"]:
            continue
        none = sum(row["none"] for row in found["confusion"].values())
        cells = [f"`{name}`" if name else "all", str(found["pairs"]), str(none)]
        if found["accuracy"] is None:
            cells += ["", "", ""]
        else:
            low, high = found["accuracy_low"], found["accuracy_high"]
            cells += [f"{found['accuracy']:.0%}", f"{low:.0%} – {high:.0%}"]
            cells.append("" if found["kappa"] is None else f"{found['kappa']:.2f}")
        rows.append(cells)
    header = ["augmentation", "pairs", "no verdict", "agreement", "95 %", "kappa"]
    return markdown(header, rows, "lrrrlr")


if __name__ == "__main__":
    main()
