"""The table of character classes, against Python's own string methods."""

from augment_cli.text.surface import ALPHANUMERIC, LOWER, UPPER, character_classes


def test_classes_are_those_of_python():
    """Of the alphabets all, of the rest some code points, surrogates among them."""
    classes = character_classes()
    assert len(classes) == 0x110000
    codes = [*range(0x3000), *range(0x3000, 0x110000, 41)]
    for flag, test in ((UPPER, str.isupper), (LOWER, str.islower), (ALPHANUMERIC, str.isalnum)):
        assert [bool(one) for one in classes[codes] & flag] == [test(chr(code)) for code in codes]
