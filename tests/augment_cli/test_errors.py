"""A fault of ours says where it is to be reported."""

import configparser
from email.message import Message

import pytest
import typer

from augment_cli import errors
from augment_cli.cli.application import guarded
from augment_cli.store.store import Store
from tests.helpers.places import REPOSITORY


def test_the_address_stands_in_one_place(monkeypatch):
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    addresses = dict(line.split(" = ") for line in config["metadata"]["project_urls"].strip().splitlines())
    package = Message()
    for name, address in addresses.items():
        package["Project-URL"] = f"{name}, {address}"
    monkeypatch.setattr(errors, "metadata", lambda name: package)
    assert errors.issue_tracker() == addresses["Issues"].strip()


def test_an_internal_error_names_it(monkeypatch, capsys):
    package = Message()
    package["Project-URL"] = "Issues, https://example.org/here"
    monkeypatch.setattr(errors, "metadata", lambda name: package)

    @guarded
    def command():
        Store.open(None)

    with pytest.raises(typer.Exit):
        command()
    assert "https://example.org/here" in capsys.readouterr().err


def test_a_checkout_that_is_not_installed(monkeypatch):
    def missing(name):
        raise errors.PackageNotFoundError(name)

    monkeypatch.setattr(errors, "metadata", missing)
    assert errors.issue_tracker() == "the address in setup.cfg"
