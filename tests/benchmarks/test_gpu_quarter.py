"""What a GPU is measured with, at a tiny size on the CPU."""

import json

from benchmarks.gpu_quarter import main


def test_trainings_are_compared_with_the_cpus_and_speeds_stand_in_one_file(tmp_path):
    out = tmp_path / "quarter.json"
    sizes = ["--layers", "1", "--width", "32", "--steps", "4", "--first", "3", "--batches", "8"]
    main(["--out", str(out), "--precisions", "fp32,fp16", "--modes", "plain", *sizes])
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [part["agrees"] for part in found["agreement"]] == [True, True]
    assert found["agreement"][0]["largest_difference"] == 0.0 < found["agreement"][1]["largest_difference"]
    assert [part["rows_per_second"] > 0 for part in found["speed"]] == [True, True]
    assert not found["left_out"]
    main(["--out", str(out), "--seconds", "0", "--precisions", "fp32", "--modes", "plain", *sizes])
    assert len(json.loads(out.read_text(encoding="utf-8"))["left_out"]) == 2
