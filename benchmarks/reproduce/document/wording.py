"""What the document says between its tables."""

OPENING = """\
# Evidence: {about}
{warning}"""

ORIGIN = """\
## How it was measured

Drawn by `make reproduce` from `benchmarks/reproduce/results/`; titles, notes and each row's settings are in
`benchmarks/reproduce/grid.toml`. `make reproduce-plan{named}` says what is missing, `make repeat{named}
ROW=simcse SEEDS={seed}` trains a row once more and compares{where}. All scores: [{scores}]({scores}).

Corpus: {corpus} of {files}. Encoder: `{encoder}`{made}. Settings of all rows:
`{settings}`.{others}{stages}

Test sets are encoded in {precision}. Scores are Spearman × 100 of the best checkpoint by STS-B dev (the start
is one, unless it says otherwise below), mean ± sample standard deviation over the seeds. The average is over
the STS test sets that the data folder has ({tests}). Δ is taken seed by seed.
"""

PRIMARY = """\
## Primary comparisons

Named in `grid.toml` before any of them was run. The interval is Student's over the differences seed by seed;
p is corrected by Holm over all of them. The other interval resamples the test pairs; a dash where their
similarities were not kept. `holds`: the paper's sign, p below 0.05, at least a third of the paper's size. The
rest of this document is exploratory.
"""

TOGETHER = """\
## Both beds together

The differences of each bed's seeds, taken within their bed and then pooled: on the first bed
([evidence.md](evidence.md)), here, and on both, with Student's interval. It is the best estimate of a
difference, not a test: seeds of the first bed count with the fresh ones, and trainings of one bed have more
in common than those of two.

| better | than | paper | first bed | here | both, 95 % interval | trainings |
|---|---|---|---|---|---|---|"""

METHODS = """\
## Methods

CPU s: training on 1,000 rows, evaluations on STS-B dev included, on a shared machine: only large ratios mean
anything.
"""

CONCLUSIONS = """\
## The papers' conclusions, one by one

The papers measured BERT-base on a million sentences. The interval is Student's over the differences seed by
seed, 95 % and not corrected. `holds`: it excludes zero on the paper's side, and the difference is at least a
third of the paper's; with fewer than {fewest} seeds the sign is all that is said.{primary}
`start not beaten`: training made the encoder worse, so the first row is the untrained one. On the STS average
unless it says otherwise; the paper's difference is over the same test sets where it prints its columns.

| conclusion | paper | here (95 % interval; seeds) | verdict |
|---|---|---|---|"""

NEIGHBOURS = """\
VaSCL's figure 2, on the titles of StackOverflow (20 classes): how many of a title's nearest neighbours are of
its class, and how far they are.

![Purity of neighbourhoods and distance of neighbours]({picture})
"""

SWEEPS = """\
## Sweeps

Differences on STS-B dev. \\* its interval over the seeds excludes zero and agrees with the paper, where that
says anything; † it excludes zero and contradicts the paper; one or two seeds are not judged. A point trained
for more or fewer steps than the one it is compared with has them in brackets, and no mark; where training
made the encoder worse, the point is the untrained one, and its last step's score is in brackets. The picture
has the average too where it was measured, and the papers' curves.
"""

BANDS = """\
## What to expect

`make reproduce PROFILE=paper DATA=folder` trains the same rows from `bert-base-uncased` on a million
sentences with the recipes' own settings; it needs those weights on the machine and a GPU. The band is the
published mean (over seeds where somebody gave one) ± 2 standard deviations, which are taken to be {sd}
points where none was given. A score outside it is worth a look, one inside proves little. The profile trains
BERT-base: a band of another encoder needs a profile that names that one. Some figures were measured otherwise
than the row is (see the notes of the rows above); theirs is no band for it.

| row | paper | measure | encoder | published | band |
|---|---|---|---|---|---|"""
