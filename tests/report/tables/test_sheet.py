from tests.report.builders import row
from warex.report.tables.columns import CONDITION
from warex.report.tables.sheet import sheet_of


def test_each_agent_has_a_block_with_a_line_for_each_row() -> None:
    rows = (row("clean"), row("down"), row("clean", agent="hasty"))
    blocks = sheet_of("a", "A", "", (CONDITION,), rows).blocks

    assert [(block.agent, len(block.lines)) for block in blocks] == [("patient", 2), ("hasty", 1)]


def test_a_table_without_lines_is_empty() -> None:
    assert sheet_of("a", "A", "", (CONDITION,), ()).empty
    assert not sheet_of("a", "A", "", (CONDITION,), (row("clean"),)).empty
