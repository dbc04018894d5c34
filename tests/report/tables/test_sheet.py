from warex.report.tables.columns import Column, text_cell
from warex.report.tables.sheet import Sheet, blocks

CONDITION = Column("condition", "What was varied.", ("condition",), True)


def test_an_agent_without_lines_has_no_block() -> None:
    made = blocks({"patient": [(text_cell("clean"),)], "giveup": []})

    assert [block.agent for block in made] == ["patient"]


def test_a_table_without_lines_is_empty() -> None:
    assert Sheet("a", "A", "", (CONDITION,), ()).empty
    assert not Sheet("a", "A", "", (CONDITION,), blocks({"patient": [(text_cell("clean"),)]})).empty
