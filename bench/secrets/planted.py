"""Plants fake secrets: each kind with its contexts, and the places where such a text may stand."""

import html
import json
import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from bench.secrets.values import PASSWORDS, VENDORS, draw_value


@dataclass(frozen=True, slots=True)
class Kind:
    """A way in which secrets stand in texts."""

    name: str
    draws: Sequence[str]
    """Templates of values."""
    contexts: Sequence[str]
    """Texts with ``{}`` for the secret."""
    places: Sequence[str]
    before: str = ""
    """An observation that comes first."""
    escape: str = ""
    """How the secret is escaped in the context."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret in its context and place."""

    kind: str
    place: str
    secret: str
    text: str
    before: str = ""
    name: str = ""
    """The name of a header."""
    encoded: str = ""
    """The secret as the text has it, if that is another spelling."""


_TEXTS = ("prompt", "blocks", "tool result", "answer", "mcp result", "log")
_AGENT = ("answer", "history", "tool argument", "log")
_COMMANDS = ("answer", "tool argument", "prompt", "log", "mcp arguments")
_ONE = ("{word_password}",)
_TWO = ("{word_password}", "{token 14}")
_WEBARENA = "Tab 0: Login\n[10] textbox 'Email' required: False\n[12] textbox 'Password' required: True\n[14] button 'Log In'"  # noqa: E501
_GYM = "RootWebArea 'Login', focused\n\t[a50] textbox 'Email', clickable\n\t[a51] textbox 'Password', clickable, required\n\t[a52] button 'Sign in'"  # noqa: E501
_SNAPSHOT = (
    '- textbox "Email" [ref=e10]\n- textbox "Password" [ref=e12]\n- button "Sign in" [ref=e13]'
)
_BROWSER_USE = "[4]<input type=text name=user />\n[5]<input type=password name=pw placeholder=Secret />\n[6]<button>Go</button>"  # noqa: E501
_VOYAGER = '[4]: <input> "Username";\n[5]: <input> "Password";\n[6]: "Log in"'
_DEVTOOLS = 'uid=1_2 textbox "Email"\nuid=1_3 textbox "Password"\nuid=1_4 button "Log in"'

WORDS_FOR_PASSWORD = (
    *(
        "contraseña",
        "пароль",
        "密码",
        "密碼",
        "パスワード",
        "비밀번호",
        "senha",
        "hasło",
        "heslo",
        "şifre",
    ),
    *(
        "parola",
        "лозинка",
        "Kennwort",
        "Passwort",
        "wachtwoord",
        "lösenord",
        "passord",
        "adgangskode",
    ),
    *("salasana", "jelszó", "κωδικός", "сырсөз", "รหัสผ่าน", "סיסמה", "mot de passe", "mot_de_passe"),
    *("mật khẩu", "كلمة المرور", "mdp", "contrasenya"),
)
OPENING = (
    "verify",
    "confirmation",
    "invite",
    "unsubscribe",
    "state",
    "viewstate",
    "reset",
    "magic",
)

KINDS: tuple[Kind, ...] = (
    Kind(
        "typed by selector",
        PASSWORDS,
        (
            "fill('#password', '{}')",
            'page.fill("input[name=\'password\']", "{}")',
            "await page.locator('#login-password').fill('{}');",
            "page.getByLabel('Password').fill('{}')",
            'page.get_by_placeholder("Your password").type("{}")',
            "driver.find_element(By.ID, 'passwd').send_keys('{}')",
            'driver.find_element(By.XPATH, "//input[@type=\'password\']").send_keys("{}")',
            "password_field.send_keys('{}')",
            "cy.get('input[type=password]').type('{}')",
            "document.querySelector('#pwd').value = '{}';",
            "write('{}', into='Password')",
            "page.click('#password')\npage.keyboard.type('{}')",
            "await page.getByRole('textbox', { name: 'Password' }).pressSequentially('{}');",
            "```python\npw = page.locator('#pw')\npw.fill('{}')\n```",
            "act(\"type '{}' into the password field\")",
            'agent-browser fill "#password" "{}"',
            "$('#password').val('{}')",
            "browser_type(element='Password textbox', ref='e12', text='{}')",
            "input_text(selector='#password', text='{}')",
            'fill(selector="input[name=pass]", value="{}")',
        ),
        _AGENT,
    ),
    Kind(
        "typed in a tool call",
        PASSWORDS,
        (
            '{"selector": "#password", "text": "{}"}',
            '{"element": "Password textbox", "ref": "e12", "text": "{}"}',
            '{"label": "Password", "value": "{}"}',
            '{"locator": "input[type=password]", "value": "{}"}',
            '{"fields": [{"name": "Password", "type": "textbox", "ref": "e9", "value": "{}"}]}',
            '{"field": "Confirm password", "input": "{}"}',
            '{"xpath": "//input[@name=\'pwd\']", "content": "{}", "press_enter": true}',
            '{"css": "input#pass", "keys": "{}"}',
            '{"name": "password", "value": "{}"}',
            '{"password": "{}"}',
            '{"credentials": {"user": "bob", "password": "{}"}}',
            '{"action": "fill", "target": "#password", "text": "{}"}',
            '{"instruction": "type {} into the password field"}'.replace("{}", '\\"{}\\"'),
            "{\"code\": \"await page.fill('#password', '{}')\"}",
        ),
        ("tool arguments", "mcp arguments", "answer", "history"),
    ),
    *(
        Kind(f"typed by the id of {name}", PASSWORDS, contexts, places, before)
        for name, before, contexts, places in (
            (
                "WebArena",
                _WEBARENA,
                ("In summary, the next action is ```type [12] [{}] [1]```", "type [12] [{}]"),
                ("answer", "history"),
            ),
            (
                "BrowserGym",
                _GYM,
                ("fill('a51', '{}')", 'fill("a51", "{}")', "click('a50')\nfill('a51', '{}')"),
                ("answer", "history"),
            ),
            (
                "Playwright MCP",
                _SNAPSHOT,
                (
                    '{"ref": "e12", "text": "{}"}',
                    '{"element": "field", "ref": "e12", "text": "{}"}',
                ),
                ("tool arguments", "mcp arguments"),
            ),
            (
                "agent-browser",
                _SNAPSHOT,
                ('agent-browser fill @e12 "{}"', "agent-browser fill @e12 {}"),
                ("answer",),
            ),
            (
                "browser-use",
                _BROWSER_USE,
                (
                    '{"action": [{"input_text": {"index": 5, "text": "{}"}}]}',
                    '{"index": 5, "text": "{}"}',
                ),
                ("answer", "tool arguments"),
            ),
            ("WebVoyager", _VOYAGER, ("Action: Type [5]; [{}]",), ("answer", "history")),
            (
                "Chrome DevTools MCP",
                _DEVTOOLS,
                ('{"uid": "1_3", "value": "{}"}',),
                ("tool arguments", "mcp arguments"),
            ),
        )
    ),
    Kind(
        "typed as a sentence says",
        _TWO,
        (
            'Type "{}" into the password field',
            "I will enter '{}' in the password box.",
            'Fill the password field with "{}" and press Enter.',
            "Type {} into the password field.",
            'Enter "bob" as the username and "{}" as the password.',
            'Input "{}" into "Password"',
            "Next I type the password `{}`.",
            "Password: {}",
            "Username: bob\nPassword: {}\n",
        ),
        ("answer", "history", "prompt", "log"),
    ),
    Kind("typed after a click", PASSWORDS, ("{}",), ("computer use", "computer call")),
    Kind(
        "value of a field observed",
        PASSWORDS,
        (
            '- textbox "Password" [ref=e12]: {}',
            "[12] textbox 'Password' required: True value: {}",
            "[a51] textbox 'Password' value='{}', clickable",
            '<input type="password" name="x" value="{}">',
            "[5]<input type=password value={} />",
            '- textbox "Your password" [active] [ref=e2]: "{}"',
            '{"role": "textbox", "name": "Password", "value": "{}"}',
        ),
        ("prompt", "tool result", "mcp result", "blocks"),
    ),
    Kind(
        "assigned",
        (*_TWO, "{short_password}"),
        (
            "password={}&user=bob",
            "user=bob&password={}",
            "user%5Bpassword%5D={}&x=1",
            '{"user": "bob", "password": "{}"}',
            "{'user': 'bob', 'passwd': '{}'}",
            "DB_PASSWORD={}",
            "export PGPASSWORD='{}'",
            "POSTGRES_PASSWORD: {}",
            "password: {}\nuser: bob",
            "password:\n  {}\nuser: bob",
            "password: |\n  {}\n",
            "- name: DB_PASSWORD\n  value: {}",
            '{"name": "DB_PASSWORD", "value": "{}"}',
            "<password>{}</password>",
            '<ns:Password xsi:type="string">{}</ns:Password>',
            "<user>bob</user><pwd><![CDATA[{}]]></pwd>",
            '<add key="ApiPassword" value="{}"/>',
            '<entry key="password">{}</entry>',
            "<key>password</key><string>{}</string>",
            '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--x--',
            '--x\r\nContent-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n{}\r\n--x--',  # noqa: E501
            "&quot;password&quot;:&quot;{}&quot;",
            "&lt;password&gt;{}&lt;/password&gt;",
            "spring.datasource.password={}",
            'password = "{}"',
            "machine shop.example\n  login bob\n  password {}\n",
            "https://bob:{}@shop.example/",
        ),
        _TEXTS,
    ),
    Kind(
        "on a command line",
        _TWO,
        (
            "sshpass -p {} ssh bob@host",
            "sshpass -p '{}' ssh bob@host",
            "mysql -u root -p{} shop",
            "mysqldump --user=root --password={} shop",
            "tool --key {}",
            "tool --auth {} --verbose",
            "curl --user bob:{} https://a.example/",
            "curl -u 'bob:{}' https://a.example/",
            "curl -H 'X-Api-Key: {}' https://a.example/",
            "curl --header='X-Api-Key: {}' https://a.example/",
            "wget --header=X-Api-Key:{} https://a.example/",
            "curl -d 'user=bob&password={}' https://a.example/login",
            "curl -F password={} https://a.example/login",
            "login -p {} now",
            "docker login -u bob -p {} registry.example",
            "redis-cli -h host -a {} ping",
            "echo {} | sudo -S apt update",
            "echo 'bob:{}' | chpasswd",
            "7z x -p{} a.7z",
            "unzip -P {} a.zip",
            "openssl enc -pass pass:{}",
            "ldapsearch -D cn=admin -w {} -b dc=x",
            "PGPASSWORD={} psql -h db",
            "tool --password {} --user bob",
            "http -a bob:{} https://a.example/",
        ),
        (*_COMMANDS, "manifest"),
    ),
    Kind(
        "under a name in another language",
        ("{word_password}", "{letters_password}"),
        tuple(
            context.replace("NAME", name)
            for name in WORDS_FOR_PASSWORD
            for context in ('{"NAME": "{}"}', "fill('NAME', '{}')", f"x=1&{quote(name)}={{}}&y=2")
        ),
        ("answer", "tool result"),
    ),
    Kind(
        "hexadecimal under a telling name",
        ("{hexadecimal 8}", "{hexadecimal 12}", "{hexadecimal 32}"),
        tuple(
            f"https://a.example/go?{name}={{}}"
            for name in (
                *OPENING,
                "oauth_state",
                "__VIEWSTATE",
                "invite_code",
                "confirm",
                "unsub",
                "activation",
            )
        )
        + tuple(
            f"https://a.example/{name}/{{}}"
            for name in (
                *OPENING[:4],
                "reset-password",
                "magic",
                "activate",
                "confirm-email",
                "invitations",
            )
        )
        + tuple(f"https://a.example/{name}/{{}}/done?x=1" for name in ("verify", "invite")),
        ("url", "prompt"),
    ),
    Kind(
        "in a field with a telling name",
        ("{hexadecimal 12}", "{hexadecimal 40}", "{token 24}"),
        tuple(f'{{"{name}": "{{}}"}}' for name in OPENING)
        + tuple(f"<{name}>{{}}</{name}>" for name in OPENING),
        ("tool result", "mcp result"),
    ),
    Kind(
        "key of a vendor",
        VENDORS,
        ("{}", "key: {}", "https://a.example/x?k={}&y=1", "curl https://a.example/{}/sendMessage"),
        ("prompt", "answer", "log", "tool argument"),
    ),
    Kind(
        "random value of a query",
        ("{token 24}", "{hexadecimal 40}", "{base64_text 24}"),
        tuple(
            f"https://a.example/p?x=1&{name}={{}}&y=2"
            for name in ("hkx", "grant", "st", "u_tk", "zz9", "blob1")
        ),
        ("url",),
    ),
    Kind(
        "escaped",
        ("{odd_password}",),
        (
            "password=%s&x=1",
            "<password>%s</password>",
            '{"password": "%s"}',
            "fill('#password', '%s')",
        ),
        ("answer", "prompt", "tool result"),
        escape="context",
    ),
)

HEADERS = (
    "X-Acme", "X-Corp-Thing", "X-Internal-Value", "Shop-Context", "X-Edge-Note", "X-Api-Key", "Authorization",  # noqa: E501
    "Cookie", "Set-Cookie", "X-Auth-Token", "xi-api-key", "X-Subscription", "X-Device-Fingerprint", "Amz-Sdk-Thing",  # noqa: E501
    "X-Customer", "X-Pin", "X-Otp", "X-Visitor", "X-Amz-Security-Token", "X-Bot-Check",
)  # fmt: skip


def planted(seed: int = 1) -> Iterator[Planted]:
    """Yield the planted secrets."""
    rng = random.Random(seed)
    for kind in KINDS:
        for context in kind.contexts:
            for draw in kind.draws:
                place = kind.places[rng.randrange(len(kind.places))]
                secret = draw_value(rng, [draw])
                yield Planted(kind.name, place, secret, _within(context, secret), kind.before)
                if len(kind.draws) <= 2:
                    other = kind.places[rng.randrange(len(kind.places))]
                    again = draw_value(rng, [draw])
                    yield Planted(kind.name, other, again, _within(context, again), kind.before)
    for place in ("request header", "response header"):
        for name in HEADERS:
            for draw in ("{token 20}", "{hexadecimal 24}", "{short_password}"):
                yield Planted("header", place, draw_value(rng, [draw]), "", name=name)


def _within(context: str, secret: str) -> str:
    if "%s" not in context:
        return context.replace("{}", secret)
    if "&x=1" in context:
        return context.replace("%s", quote_plus(secret))
    if "</" in context:
        return context.replace("%s", html.escape(secret))
    return context.replace("%s", json.dumps(secret)[1:-1] if '"' in context else secret)


def ways(secret: str) -> frozenset[str]:
    """Return how a secret may stand in a file."""
    texts = {secret, quote(secret, safe=""), quote_plus(secret), html.escape(secret)}
    return frozenset(
        texts
        | {json.dumps(text, ensure_ascii=way)[1:-1] for text in texts for way in (True, False)}
    )
