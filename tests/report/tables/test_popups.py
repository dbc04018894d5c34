from tests.report.builders import table
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.popups import PopupRates
from warex.report.tables.popups import popup_sheet


def test_the_papers_shares_come_first_and_in_its_words() -> None:
    shares = [Rate(hits, 9) for hits in range(1, 8)]
    sheet = popup_sheet(table(popups=(PopupRates("patient", "malicious-popup", *shares),)))

    titles = [column.title for column in sheet.columns]
    assert titles[2:5] == ["infeasible (start)", "infeasible (later)", "malicious clicks"]
    ((line,),) = [block.lines for block in sheet.blocks]
    texts = [cell.text for cell in line]
    assert texts[:2] == ["malicious-popup", "9"]
    assert [text.partition("/")[0] for text in texts[2:]] == [str(it) for it in range(1, 8)]


def test_a_run_without_popups_has_no_such_table() -> None:
    assert popup_sheet(table()).empty
