#!/bin/sh
# Make .venv ready to work in: a Python, the pinned packages, a Chromium.
#
#   sh scripts/setup.sh                   all of it; less than a second when nothing changed
#   sh scripts/setup.sh --find-python     print the Python that would be used
#   sh scripts/setup.sh --find-chromium   print the Chromium that would be used
#
# Exit code 3: the machine lacks something; the last sentence says what, and what to do.
set -eu
cd "$(dirname "$0")/.."

lacking() {
    echo "$*" >&2
    exit 3
}

# Do a step of the set-up: one line says which, and how long it took; on a terminal it counts while it
# works. What the step's program prints is shown only where it fails.
#
#   step SENTENCE COMMAND…
step() {
    sentence=$1
    shift
    began=$(date +%s)
    printf '%s ...' "$sentence"
    ticker=
    if [ -t 1 ]; then
        while sleep 1; do
            printf '\r%s ... %s s' "$sentence" "$(($(date +%s) - began))"
        done &
        ticker=$!
    fi
    if said=$("$@" 2>&1); then status=0; else status=$?; fi
    [ -z "$ticker" ] || { kill "$ticker"; wait "$ticker" 2>/dev/null || true; printf '\r%s ...' "$sentence"; }
    took=$(($(date +%s) - began))
    if [ "$status" = 0 ]; then
        printf ' %s s\n' "$took"
    else
        printf ' failed after %s s\n' "$took"
        [ -z "$said" ] || printf '%s\n' "$said" >&2
    fi
    return "$status"
}

# --- a Python ------------------------------------------------------------------------------------

# Print "VERSION PIP EXECUTABLE" if $1 runs and is new enough; PIP is "pip" or "no-pip". The version
# is asked of the program itself: a pyenv shim of that name may stand for nothing, and mitmproxy's
# wheels fit CPython with its lock only.
probe() {
    "$1" -c '
import sys, sysconfig
from importlib.util import find_spec
if sys.version_info < (3, 12) or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)
if sys.implementation.name != "cpython":
    sys.exit(1)
pip = "pip" if find_spec("ensurepip") and find_spec("venv") else "no-pip"
print("%d.%d.%d" % sys.version_info[:3], pip, sys.executable)
' 2>/dev/null
}

# What this script brought itself, in this clone only.
own=$(pwd)/.python

find_uv() {
    command -v uv || for uv in "${HOME:-}/.local/bin/uv" "${HOME:-}/.cargo/bin/uv" \
        "$own/bin/uv" "$own/packages/bin/uv"; do
        [ ! -x "$uv" ] || { echo "$uv"; break; }
    done
}

# Print the candidates one a line, best first. 3.13 leads: it is what the constraints are tried with.
candidate_pythons() {
    for name in python3.13 python3.12 python3.14 python3 python; do
        command -v "$name" || true
    done
    uv=$(find_uv)
    [ -z "$uv" ] || "$uv" python find --no-python-downloads '>=3.12' 2>/dev/null || true
    for python in "$own"/cpython-3.*/bin/python3; do
        [ ! -x "$python" ] || echo "$python"
    done
    for root in "${PYENV_ROOT:-}" "$(pyenv root 2>/dev/null)" "${HOME:-}/.pyenv"; do
        for version in 3.13 3.12 3.14 3.15; do
            for python in "$root/versions/$version".*/bin/python; do
                [ ! -x "$python" ] || echo "$python"
            done
        done
    done
}

# Print the probe of the best Python: one with pip before one without. Fails if there is none.
search_python() {
    if [ -n "${WAREX_PYTHON:-}" ]; then
        found=$(probe "$WAREX_PYTHON") || lacking "WAREX_PYTHON is $WAREX_PYTHON, which is not a Python 3.12 or" \
            "newer: name the program file of one, or unset it."
        echo "$found"
        return
    fi
    second=
    candidates=$(candidate_pythons)
    while IFS= read -r candidate; do
        [ -n "$candidate" ] && found=$(probe "$candidate") || continue
        case $found in
            *" no-pip "*) second=${second:-$found} ;;
            *) echo "$found"; return ;;
        esac
    done <<EOF
$candidates
EOF
    [ -n "$second" ] || return 1
    echo "$second"
}

no_python() {
    lacking "WAREX needs Python 3.12 or newer, and there is none on PATH, known" \
        "to uv, or among pyenv's versions. Install one (Debian 13: apt-get install python3" \
        "python3-venv; with uv: uv python install 3.13; with pyenv: pyenv install 3.13) and try again."
}

# Put uv into a folder of this clone: from the package index by an older Python's pip, else by uv's own
# installer.
get_uv() {
    for python in python3 python; do
        "$python" -m pip install -q --disable-pip-version-check --target "$own/packages" uv && return
    done
    installer=https://astral.sh/uv/install.sh
    if command -v curl >/dev/null; then
        curl -LsSf "$installer" | UV_UNMANAGED_INSTALL="$own/bin" sh
    elif command -v wget >/dev/null; then
        wget -qO- "$installer" | UV_UNMANAGED_INSTALL="$own/bin" sh
    fi
    [ -x "$own/bin/uv" ]
}

# Put a Python into a folder of this clone. What fails is shown, and find_python says what to do.
get_python() {
    [ -n "$(find_uv)" ] || step "Getting uv into .python, since there is no Python 3.12 or newer" \
        get_uv || return 1
    # A uv that is too old for a variable ignores it.
    step "Getting Python 3.13 into .python with uv, since there is no 3.12 or newer" \
        env UV_PYTHON_INSTALL_DIR="$own" UV_PYTHON_INSTALL_BIN=0 "$(find_uv)" python install 3.13
}

# --- the packages --------------------------------------------------------------------------------

# What .venv was made from. The folder belongs to it: a virtual environment does not survive a move.
recipe() {
    { pwd; cat pyproject.toml testbed/pyproject.toml constraints.txt scripts/setup.sh; } | cksum
}

make_venv() {
    [ -w . ] || lacking "Cannot write in $(pwd): clone the repository into a folder of your own."
    found=$(search_python) || {
        # An unusable WAREX_PYTHON has been named already, and getting another would not mend it.
        [ -z "${WAREX_PYTHON:-}" ] || exit 3
        get_python || true
        found=$(search_python) || no_python
    }
    rest=${found#* }
    python=${rest#* }
    make="Making .venv with Python ${found%% *} at $python"
    install="Installing WAREX and $(grep -c == constraints.txt) pinned packages into it (a minute or two)"
    # Made anew, since what an earlier recipe or another Python installed must not shine through.
    rm -rf .venv
    # pip rather than uv, for pip is what a machine's own index settings are written for.
    case $rest in
        pip*)
            step "$make" "$python" -m venv .venv &&
                step "$install" .venv/bin/python -m pip install -qq --disable-pip-version-check \
                    -c constraints.txt -e testbed -e '.[demo,dev]'
            ;;
        *)
            [ -n "$(find_uv)" ] || step "Getting uv into .python, since $python has no venv module" get_uv || true
            uv=$(find_uv)
            [ -n "$uv" ] || lacking "$python has no venv module, so no environment can be made with" \
                "it. Install it (Debian: apt-get install python3-venv) or install uv, and try again."
            step "$make" "$uv" venv -q --python "$python" .venv &&
                step "$install" "$uv" pip install -q --python .venv/bin/python \
                    -c constraints.txt -e testbed -e '.[demo,dev]'
            ;;
    esac || lacking "The packages could not be installed (see above). Check that this machine reaches" \
        "its package index, then try again."
    step "Compiling it" .venv/bin/python -m compileall -q src testbed/src || true
    recipe >.venv/.warex-setup
    get_headless_shell
}

# --- a Chromium ----------------------------------------------------------------------------------

# A file of the right name may be a stub that asks for a package, or lack its libraries: try it.
runs() {
    "$1" --version >/dev/null 2>&1
}

playwrights_own() {
    for root in "${PLAYWRIGHT_BROWSERS_PATH:-}" "${HOME:-}/.cache/ms-playwright" \
        "${HOME:-}/Library/Caches/ms-playwright"; do
        for chrome in "$root"/chromium-*/chrome-linux*/chrome \
            "$root"/chromium-*/chrome-mac*/*.app/Contents/MacOS/* \
            "$root"/chromium_headless_shell-*/chrome-*/*headless?shell; do
            [ ! -x "$chrome" ] || echo "$chrome"
        done
    done
}

find_chromium() {
    if [ -n "${WAREX_CHROMIUM:-}" ]; then
        runs "$WAREX_CHROMIUM" || lacking "WAREX_CHROMIUM is $WAREX_CHROMIUM, which does not run:" \
            "name the program file of a Chromium or Chrome, or unset it."
        echo "$WAREX_CHROMIUM"
        return
    fi
    for name in chromium chromium-browser google-chrome google-chrome-stable \
        chromium-headless-shell chrome-headless-shell; do
        chrome=$(command -v "$name") && runs "$chrome" && echo "$chrome" && return
    done
    chromes=$(playwrights_own)
    while IFS= read -r chrome; do
        [ -n "$chrome" ] && runs "$chrome" && echo "$chrome" && return
    done <<EOF
$chromes
EOF
    return 1
}

get_chromium() {
    # A download that hangs must not hang the set-up; macOS has no timeout command.
    limit=$(command -v timeout || true)
    step "Getting Chromium from Playwright (5 minutes at most)" \
        ${limit:+"$limit" 300} .venv/bin/python -m playwright install chromium 2>/dev/null || true
    find_chromium >/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    export DEBIAN_FRONTEND=noninteractive
    step "Looking at the system's packages" apt-get update -qq || true
    step "Installing the system's chromium" apt-get install -qq -y chromium || return 1
    find_chromium >/dev/null
}

# Debian has it as a package of its own, and the demo takes half the time with it. Nothing needs it.
get_headless_shell() {
    [ -z "${WAREX_CHROMIUM:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    ! command -v chromium-headless-shell >/dev/null || return 0
    export DEBIAN_FRONTEND=noninteractive
    step "Looking at the system's packages" apt-get update -qq 2>/dev/null || true
    step "Installing Chromium's headless shell" \
        apt-get install -qq -y chromium-headless-shell 2>/dev/null || true
}

# -------------------------------------------------------------------------------------------------

case ${1:-} in
    --find-python)
        search_python || { [ -n "${WAREX_PYTHON:-}" ] || no_python; exit 3; }
        exit
        ;;
    --find-chromium)
        find_chromium || lacking "No Chromium on this machine."
        exit
        ;;
esac

if ! .venv/bin/python -c '' 2>/dev/null || [ "$(recipe)" != "$(cat .venv/.warex-setup 2>/dev/null)" ]; then
    make_venv
fi

# Each start would compile the modules anew where Python is told to write no bytecode
# (PYTHONDONTWRITEBYTECODE, as in many images).
.venv/bin/python -m compileall -q src testbed/src || true

if ! chromium=$(find_chromium); then
    # An unusable WAREX_CHROMIUM has been named already, and getting another would not mend it.
    [ -z "${WAREX_CHROMIUM:-}" ] || exit 3
    get_chromium || lacking "WAREX needs Chromium: none was found, and neither Playwright's download" \
        "nor the system's package could be installed. Install one (Debian: apt-get install chromium," \
        "as root), or set WAREX_CHROMIUM to the program file of a Chromium or Chrome, and try again."
    chromium=$(find_chromium)
fi
echo "Ready: .venv, Chromium at $chromium"
