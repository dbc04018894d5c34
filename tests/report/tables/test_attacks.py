from tests.report.builders import table
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.attacks import AttackRates
from warex.report.tables.attacks import attack_sheet


def test_the_attack_rate_is_beside_the_unknown_trials() -> None:
    sheet = attack_sheet(table(attacks=(AttackRates("patient", "injection", Rate(1, 4), 2),)))

    ((line,),) = [block.lines for block in sheet.blocks]
    assert line[0].text == "injection"
    assert line[1].text.startswith("1/4")
    assert line[2].text == "2"


def test_a_run_without_attacks_has_no_such_table() -> None:
    assert attack_sheet(table()).empty
