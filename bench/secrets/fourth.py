"""Plants fake secrets of a fourth list: contexts with five kinds of passwords each.

It was written when values near a name were found, by one who knew how, and before it was tried.
"""

from bench.secrets.forms import Form

_CONTEXTS: tuple[tuple[str, str], ...] = (
    ("answer", "stagehand.fill('Passwort eingeben', '{}')"),
    ("answer", "ACTION=input|field=pw|val={}"),
    ("history", '<tool name="type"><where>Password</where><what>{}</what></tool>'),
    (
        "tool arguments",
        '{"action":"keystrokes","sequence":"{}","why":"the password prompt is open"}',
    ),
    ("tool arguments", '{"inputs":{"login_password":"{}","remember":true}}'),
    ("tool arguments", '{"target_text":"Password","new_text":"{}"}'),
    ("mcp arguments", '{"uid":"7","widget":"PasswordBox","content":"{}"}'),
    ("mcp arguments", '{"kv":"password={}"}'),
    ("log", "auth: trying bob with {} (password)"),
    ("log", "Connecting as bob using password {}"),
    ("log", 'WARN weak password: "{}"'),
    ("log", "pw changed from old to {}"),
    ("log", "E/Login: credentials{user=bob, pwd={}}"),
    ("tool result", "<p>Your password: <strong>{}</strong></p>"),
    ("tool result", "<li>Password — <code>{}</code></li>"),
    ("tool result", "Login details\nUser: bob\nPass: {}"),
    ("tool result", "Password reset. New one: {}"),
    ("prompt", "Credentials for the site: user bob, password {}"),
    ("prompt", "Username: bob Password: {} URL: https://a.example"),
    ("prompt", "log in with bob / {} (password)"),
    ("prompt", "Use the password '{}' when asked"),
    ("prompt", "[pw={}]"),
    ("tool argument", "smbmap -u bob -p {} -H h"),
    ("tool argument", "evil-winrm -i h -u bob -p '{}'"),
    ("tool argument", "mysql --user=bob --password='{}' -e x"),
    ("tool argument", "echo '{}' | kinit bob"),
    ("tool argument", "python login.py --user bob --pw {}"),
    ("tool argument", "PASSWORD={} ./run.sh"),
    ("tool argument", "nmap --script x --script-args password={}"),
    ("tool argument", "ncftp -u bob -p {} h"),
    ("answer", "await auth.signInWithEmailAndPassword('b@a.example', '{}')"),
    ("answer", "supabase.auth.signInWithPassword({ email: 'b', password: '{}' })"),
    ("answer", 'client.login(username: "bob", passphrase: "{}")'),
    ("answer", 'Session.builder().credentials("bob", "{}").build()'),
    ("answer", 'login_form.submit(user="bob", secret="{}")'),
    ("answer", "passwordInput.value = `{}`"),
    ("answer", "vm.password = '{}'"),
    ("answer", "setPassword('{}')"),
    ("answer", "useState({password: '{}'})"),
    ("log", "spring.datasource.password={}"),
    ("log", "DB_PASS='{}'"),
    ("log", '\\"password\\":\\"{}\\"'),
    ("log", "password%3D{}%26x"),
    ("tool result", "ユーザー名: bob パスワード: {}"),
    ("tool result", "Benutzer bob, Kennwort {}"),
    ("tool result", "l'identifiant bob et le mot de passe {}"),
    ("tool result", "Usuario bob, clave {}"),
)
_DRAWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("as Otter!4711xyz", ("{word_password}",)),
    ("as otter42", ("{short_password}",)),
    ("random letters and digits", ("{token 12}",)),
    ("as Blue-River42?x", ("Blue-River{number 10 99}?x",)),
    ("as kitty@123", ("kitty@{number 100 999}", "rocky@{number 100 999}")),
)
FORMS = tuple(
    Form(f"password {name}", draw, (place,), (context,))
    for name, draw in _DRAWS
    for place, context in _CONTEXTS
)
