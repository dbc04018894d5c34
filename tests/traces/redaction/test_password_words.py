import pytest

from warex.traces.redaction.names import Secrecy, name_secrecy


@pytest.mark.parametrize(
    "name",
    [
        "contraseña",
        "ПАРОЛЬ",
        "密码",
        "Kennwort",
        "mot de passe",
        "senha",
        "hasło",
        "Şifre",
        "パスワード",
        "비밀번호",
        "contrase%C3%B1a",
        "\\u5bc6\\u7801",
        "nova_senha",
        "Nhập mật khẩu",
    ],
)
def test_a_password_is_recognised_in_other_languages(name: str) -> None:
    assert name_secrecy(name) is Secrecy.SECRET


@pytest.mark.parametrize(
    "name", ["autoclave", "parole", "thousand_islands", "Straße", "поиск", "検索"]
)
def test_other_words_are_not(name: str) -> None:
    assert name_secrecy(name) is Secrecy.NOTHING
