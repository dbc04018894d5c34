"""Check the files that other programs read, each against the schema of its program.

    python -m scripts.check_forms

The schemas come with check-jsonschema, so that nothing is fetched.
"""

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FORMS: Final = {
    "vendor.citation-file-format": ("CITATION.cff",),
    "vendor.compose-spec": ("docker/compose.yaml",),
    "vendor.dependabot": (".github/dependabot.yml",),
    "vendor.github-actions": ("action.yml",),
    "vendor.github-issue-config": (".github/ISSUE_TEMPLATE/config.yml",),
    "vendor.github-issue-forms": (
        ".github/ISSUE_TEMPLATE/bug.yml",
        ".github/ISSUE_TEMPLATE/feature.yml",
    ),
    "vendor.github-workflows": (
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        "examples/ci/github-actions.yml",
    ),
    "vendor.gitlab-ci": ("examples/ci/gitlab-ci.yml",),
}
"""The files of each schema."""


def mistakes(root: Path) -> dict[str, str]:
    """Return what is wrong with the files below a folder, by schema."""
    from check_jsonschema import main
    from click.exceptions import Exit

    broken = {}
    for schema, names in FORMS.items():
        options = ["--builtin-schema", schema, "--default-filetype", "yaml"]
        if schema == "vendor.gitlab-ci":
            options += ["--data-transform", "gitlab-ci"]
        with redirect_stdout(StringIO()) as report:
            try:
                code = main(
                    [*options, *(str(root / name) for name in names)], standalone_mode=False
                )
            except Exit as ended:
                code = ended.exit_code
        if code:
            broken[schema] = report.getvalue()
    return broken


if __name__ == "__main__":
    reports = mistakes(ROOT)
    sys.stderr.write("".join(reports.values()))
    sys.exit(1 if reports else 0)
