"""What a model is called in tables."""

from eval.scoring import split_label


def test_labels_come_from_the_path_unless_given(tmp_path):
    assert split_label("una=runs/x") == ("una", "runs/x")
    assert split_label("runs/una/best/") == ("una-best", "runs/una/best/")
    assert split_label("sentence-transformers/all-MiniLM-L6-v2")[0] == "all-MiniLM-L6-v2"
    folder = tmp_path / "lr=3"
    folder.mkdir()
    assert split_label(str(folder)) == ("lr=3", str(folder))
