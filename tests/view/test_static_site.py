import json
import re
from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.view.documents import Documents
from warex.view.static_site import write_static_site


def test_a_folder_holds_every_document_as_a_script(tmp_path: Path) -> None:
    run, site = tmp_path / "run", tmp_path / "site"
    folder = RunFolder(run).manifest()
    clean = Story().thinks(1, "goto").page("x1").stops()
    folder.trial("clean", "add", solved(), clean)
    folder.trial("server-error", "add", failed(), Story().thinks(1, "goto").fault(1).stops())
    documents = Documents([run])

    write_static_site(documents, site)

    ids = {row["condition"]: row["id"] for row in documents.run(0)["trials"]}
    (step,) = documents.trial(0, ids["clean"])["steps"]
    names = {
        "runs",
        "run/0",
        "search/0",
        "search/0/0",
        *(f"trial/0/{trial}" for trial in ids.values()),
        *(f"raw/0/{trial}/0" for trial in ids.values()),
        *(f"prompt/0/{trial}/{step['seq']}" for trial in ids.values()),
        f"pair/0/{ids['clean']}/0/{ids['server-error']}",
    }
    scripts = {}
    for path in (site / "data").iterdir():
        call = re.fullmatch(r"warexData\((.*)\)\n", path.read_text())
        assert call
        name, document = json.loads(f"[{call[1]}]")
        assert path.name == f"{name.replace('/', '-')}.js"
        scripts[name] = document
    assert set(scripts) == names
    assert scripts["run/0"]["has_figures"]
    page = (site / "index.html").read_text()
    assert 'name="warex-static"' in page
    assert "connect-src 'none'" in page
