"""The words for a password in other languages than English.

Sources: Django's translations of "Password" (``django/contrib/auth/locale``, BSD-3-Clause); the
words by which Firefox tells a password's field (``toolkit/components/passwordmgr/
NewPasswordModel.sys.mjs``, ``passwordStringRegex``), in ``_BY_FIREFOX``; and usual synonyms, in
``_SYNONYMS``.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from urllib.parse import quote

from warex.text.lazy_pattern import lazy_re

_BY_DJANGO = (
    # Latin: af ast az br ca cy da de dsb eo et eu fi fr ga gd gl hr hsb hu ia id is kab lt lv
    # ms nb nl pl pt pt_BR ro sk sl sq sv sw tr uz vi
    "Wagwoord|Contraseña|Şifrə|Ger-tremen|Contrasenya|Cyfrinair|Adgangskode|Passwort|Gronidło"
    "|Pasvorto|Salasõna|Pasahitza|Salasana|Mot de passe|Focal faire|Facal-faire|Contrasinal"
    "|Lozinka|Hesło|Jelszó|Contrasigno|Sandi|Lykilorð|Awal n uɛeddi|Awal uffir|Slaptažodis|Parole"
    "|Kata laluan|Passord|Wachtwoord|Hasło|Palavra-passe|Senha|Parolă|Heslo|Geslo|Fjalëkalim"
    "|Lösenord|Nenosiri|Parola|Parol|Mật khẩu"
    # be bg el kk ky mk mn ru sr tg tt uk
    "|Пароль|Парола|Συνθηματικό|Құпия сөз|Сырсөз|Лозинка|Нууц үг|Рамз|Серсүз"  # noqa: RUF001
    # ar bn ckb fa he hi hy ja ka km kn ko ml mr my ne pa ta te th ug ur zh
    "|كلمة المرور|পাসওয়ার্ড|تێپەڕەوشە|گذرواژه|סיסמה|कूटशब्द|शब्दकूट|Գաղտնաբառ|パスワード|პაროლი"
    "|ពាក្យសំងាត់|ಪ್ರವೇಶಪದ|비밀번호|പാസ്സ്‌വേഡ്|गुप्तशब्द|စကားဝှက်|पासवर्ड|ਪਾਸਵਰਡ|கடவுச்சொல்"
    "|సంకేతపదం|รหัสผ่าน|پارول|لفظ اجازت|密码|密碼"
)
_BY_FIREFOX = "رمز عبور|암호|كلمة السر|Kodeord|Κωδικός|Kata sandi|Şifre"
_SYNONYMS = "Kennwort|Losungswort|Clave|mdp|口令|暗証番号|סיסמא|Код доступа|Парол"
_ORDINARY = frozenset({"parole", "awal n uɛeddi", "awal uffir", "рамз"})
"""Words that also mean something else where a name would have them."""
_AS_A_WORD = frozenset(
    {"sandi", "senha", "heslo", "hasło", "geslo", "parola", "parol", "clave"}
) | {
    "mdp",
    "hesło",
    "şifre",
    "lozinka",
}
"""Words that stand within others, so that they must be words of their own."""
_GAPS = lazy_re(r"[\s_.\u200c-]+")
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "ə": "e"})  # noqa: RUF001


@cache
def _words() -> tuple[str, ...]:
    every = "|".join((_BY_DJANGO, _BY_FIREFOX, _SYNONYMS)).split("|")
    return tuple(dict.fromkeys(word for word in every if word.lower() not in _ORDINARY))


def folded(text: str) -> str:
    """Return a text in lower case, without accents, spaces, hyphens and underscores."""
    if text.isascii():
        return _GAPS.sub("", text.lower())
    spread = unicodedata.normalize("NFKD", text.casefold().translate(_STROKES))
    bare = "".join(sign for sign in spread if unicodedata.combining(sign) == 0)
    return _GAPS.sub("", unicodedata.normalize("NFC", bare))


@cache
def marks() -> tuple[str, ...]:
    """Return the folded words that mean a password anywhere in a folded name."""
    return tuple({folded(word) for word in _words() if word.lower() not in _AS_A_WORD})


@cache
def words() -> frozenset[str]:
    """Return the folded words that mean a password as a word of a name."""
    return frozenset(map(folded, _words()))


@cache
def prefilter() -> bytes:
    """Return alternatives for RE2: each word as bytes, without accents, and escaped."""
    return b"|".join(sorted({*_folded_alternatives(), *_escaped_alternatives()}))


def _folded_alternatives() -> Iterator[bytes]:
    gap = rb"(?:[ _.-]|%20|\+)?"
    for word in _words():
        yield gap.join(re.escape(part.encode()) for part in re.split(r"[\s-]", folded_words(word)))


def _escaped_alternatives() -> Iterator[bytes]:
    """Yield the words that are not ASCII as they are, as in a URL, and as in JSON."""
    # RE2 ignores the case of ASCII letters only.
    texts: set[str] = set()
    for word in _words():
        if not word.isascii():
            for each in {word, word.lower(), word.upper(), unicodedata.normalize("NFD", word)}:
                texts |= {each, each.replace(" ", "_"), each.replace(" ", "")}
    # All at once, since each call takes longer than a word.
    joined = "|".join(texts)
    for form in (joined, quote(joined, safe="|"), json.dumps(joined)[1:-1]):
        for alternative in form.encode().split(b"|"):
            yield re.escape(alternative)


def folded_words(word: str) -> str:
    """Return a word folded, with its gaps."""
    return " ".join(folded(part) for part in _GAPS.split(word))
