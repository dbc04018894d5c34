import gzip
import hashlib
from pathlib import Path

from warex.view.server import ASSETS, asset

ROOT = Path(__file__).parents[2]
VIEWER = ROOT / "viewer"
BUILT = ROOT / "src/warex/view/assets"


def test_the_built_pages_are_of_this_source() -> None:
    digest = hashlib.sha256()
    names = ["build.mjs", "package.json", *(f"src/{p.name}" for p in (VIEWER / "src").iterdir())]
    for name in sorted(names):
        digest.update(f"{name}\n".encode() + (VIEWER / name).read_bytes())

    assert (BUILT / "source.txt").read_text().strip() == digest.hexdigest(), "run: make viewer"


def test_the_script_is_small() -> None:
    assert len(gzip.compress(asset("app.js"))) <= 250_000


def test_every_file_that_is_served_is_there() -> None:
    assert {path.name for path in BUILT.iterdir()} == {*ASSETS, "source.txt"}
