"""The words of a format can be shown without loading what makes one."""

import subprocess
import sys
from pathlib import Path

from warex.exports import names

ROOT = Path(__file__).parents[2]


def test_nothing_of_warex_is_imported_for_them() -> None:
    program = (
        "import sys, warex.exports.names;"
        "print(*sorted(it for it in sys.modules if it.startswith('warex.') and it.count('.') > 1))"
    )
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60)

    assert loaded.split() == ["warex.exports.names"]


def test_no_name_of_a_format_kind_or_dimension_occurs_twice() -> None:
    words = [*names.FORMATS, *names.RUN_FORMATS]
    for each in (words, names.KINDS, names.DIMENSIONS, names.SIDES, names.LEAKS):
        assert len(set(each)) == len(each) > 1


def test_a_format_is_found_by_being_there(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "stone_tablet.py").write_text('"""Stone tablets.\n\nHeavy.\n"""\n')

    assert names._formats(str(tmp_path)) == {"stone-tablet": "Stone tablets"}


def test_each_format_has_a_line_a_test_and_a_section_of_the_reference() -> None:
    for folder, formats, page in (
        ("dataset_formats", names.FORMATS, "training-data.md"),
        ("run_formats", names.RUN_FORMATS, "runs-for-other-tools.md"),
    ):
        sections = (ROOT / "docs/reference" / page).read_text().splitlines()
        for name, about in formats.items():
            assert 10 < len(about) < 75, about
            assert f"## {name}" in sections
            test = ROOT / "tests/exports" / folder / f"test_{names.module_name(name)}.py"
            assert test.is_file(), test
