import ast
from pathlib import Path

import warex.agents

GROUND = {f"warex.{name}" for name in ("errors", "seeds", "clock", "exchange", "extras", "text")}


def test_agents_are_strangers_they_import_no_other_room() -> None:
    room = Path(warex.agents.__file__).parent
    foreign = {
        f"{path.relative_to(room)}: {name}"
        for path in room.rglob("*.py")
        for name in _imports(path)
        if name.split(".")[0] == "warex"
        and not name.startswith("warex.agents.")
        and ".".join(name.split(".")[:2]) not in GROUND | _known(path.relative_to(room))
    }
    assert not foreign


def test_the_agent_and_the_model_do_not_know_each_other() -> None:
    room = Path(warex.agents.__file__).parent
    for one, other in (("reference", "scripted_model"), ("scripted_model", "reference")):
        names = {name for path in (room / one).rglob("*.py") for name in _imports(path)}
        assert names
        assert not {name for name in names if name.startswith(f"warex.agents.{other}")}


def _known(path: Path) -> set[str]:
    """What plays a model speaks the APIs of models."""
    return {"warex.llm"} if path.parts[0] == "scripted_model" else set()


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names
