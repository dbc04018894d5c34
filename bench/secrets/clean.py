"""Texts without a secret that a trace must keep: actions, pages, URLs, code and commands."""

from warex.traces.redaction.headers import redact_header
from warex.traces.redaction.redactor import Redactor

CLEAN: tuple[str, ...] = (
    "fill('#search', 'red shoes')",
    "fill('#email', 'bob@site.example')",
    "page.fill('#username', 'standard_user')",
    "type [13] [red shoes] [1]",
    "page.get_by_label('Search').fill('password manager')",
    "page.get_by_role('textbox', name='City').fill('New York 10001')",
    "driver.find_element(By.NAME, 'q').send_keys('how to reset a password')",
    "click('#show-password')",
    "click('#forgot-password')",
    "await page.getByRole('button', { name: 'Log in' }).click();",
    "I will type 'red shoes 42' into the search box.",
    'Type "Ada Lovelace" into the name field.',
    "The page asks for a password of at least 12 characters.",
    "Forgot your password? Click here to reset it.",
    "Enter your password to continue.",
    "select_option('#country', 'Germany')",
    "press('#password', 'Enter')",
    "scroll(0, 400)",
    "goto('https://shop.example/product/B08N5WRWNW')",
    "send_msg_to_user('The order number is 4711-0815.')",
    '{"selector": "#search", "text": "red shoes"}',
    '{"element": "Search box", "ref": "e3", "text": "red shoes 42"}',
    '{"name": "sku", "value": "AB1234567890CD"}',
    '{"name": "reset_password_link", "description": "Sends a link", "content": "ok"}',
    '{"type": "text", "text": "The password field is empty."}',
    '{"action": "type", "text": "red shoes"}',
    '{"type": "object", "properties": {"password": {"type": "string", "description": "The password"}}}',  # noqa: E501
    '- textbox "Password" [ref=e12]',
    '- textbox "Email" [ref=e10]: bob@site.example',
    "[12] textbox 'Password' required: True",
    "[a51] textbox 'Password' value='', clickable",
    "[14] link 'Forgot password?'",
    "[15] StaticText 'Password must be 8 characters'",
    "[16] button 'Show password'",
    "[5]<input type=password placeholder=Password />",
    "[6]<a>Privacy policy 2026</a>",
    "mkdir -p build/out2 && docker run -p 8080:80 nginx",
    "ssh -p 2222 bob@host.example",
    "git commit -m 'Fix token refresh'",
    "curl -u bob https://a.example/",
    "pip install -U maskerlogger",
    "mysql -u root -p shop",
    "tool --key name --auth basic",
    "https://shop.example/?state=CA&confirm=yes&invite=1",
    "https://shop.example/verify/email",
    "https://shop.example/reset-password",
    "https://shop.example/confirm/order",
    "https://shop.example/invite/friends",
    "https://shop.example/unsubscribe/newsletter",
    "https://shop.example/state/california",
    "https://shop.example/orders?state=shipped&page=2",
    "https://shop.example/product/9f86d081884c7d65/reviews",
    "https://shop.example/img/9f86d081884c7d659a2feaa0c55ad015.jpg",
    "https://cdn.example/app.js?v=9f86d081884c7d659a2feaa0c55ad015",
    "<state>California</state><confirmation>yes</confirmation>",
    '<label for="password">Password</label>',
    "<p>Your password is safe with us.</p>",
    "state: open\nconfirm: true\nreset: daily",
    "const token = await getToken(user);",
    "def fill_password(page, password): page.fill('#password', password)",
    "if password != confirm_password: raise ValueError('differ')",
    "The PIN pad stands next to the till.",
    "senha e segurança: leia mais",
    "Das Passwort wurde geändert.",
    "login page password field",
    "Step 3: type the address, then press Enter.",
    "user_9f86d081884c7d659a2feaa0 bought item_550e8400e29b41d4a716446655440000",
)
_HEADERS = (
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-User", "?1"),
    ("Referer", "https://shop.example/product/B08N5WRWNW?color=red"),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0"),
    ("Content-Type", "application/json; charset=utf-8"),
    ("Location", "/cart?item=B08N5WRWNW"),
    ("Retry-After", "120"),
    ("X-RateLimit-Remaining", "4987"),
    ("Purpose", "prefetch"),
    ("ETag", '"33a64df551425fcc55e4d42a148795d9f25f89d4"'),
)


def changed() -> tuple[list[tuple[str, str]], int]:
    """Return the clean texts that a trial's redaction changes, and the number of all."""
    lost: list[tuple[str, str]] = []
    for text in CLEAN:
        redactor = Redactor()
        after = redactor.messages([{"role": "assistant", "content": text}])
        content = (
            after[0]["content"] if isinstance(after, list) and isinstance(after[0], dict) else ""
        )
        redactor = Redactor()
        for cleaned in (
            str(content),
            redactor.url(text),
            redactor.text(text),
            redactor.json_text(text),
        ):
            if cleaned != text:
                lost.append((text, cleaned))
                break
    lost += [
        (value, after)
        for name, value in _HEADERS
        if (after := redact_header(name, value)[1]) != value
    ]
    return lost, len(CLEAN) + len(_HEADERS)
