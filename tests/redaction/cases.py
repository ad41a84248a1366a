"""Texts with what is to be hidden, and texts that only look like it.

Secrets stand between « and »; the text that is redacted has them without these signs. All of them are invented.
"""

from typing import NamedTuple


class Case(NamedTuple):
    """A text of which parts are hidden."""

    kind: str
    text: str

    @property
    def plain(self) -> str:
        return self.text.replace("«", "").replace("»", "")

    @property
    def hidden(self) -> list[str]:
        return [part.partition("»")[0] for part in self.text.split("«")[1:]]


def _of(kind: str, *texts: str) -> list[Case]:
    return [Case(kind, text) for text in texts]


# Put together here so that no scanner takes them for the real thing.
_AWS = "AKIA" + "QYLPMN5HHHFPZAM2"
_GITHUB = "ghp_" + "x7Kd93mQpZ1vN4tR8sWb2LcY6hJf0aEu5GiT"
_STRIPE = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
_ANTHROPIC = "sk-ant-" + "api03-Xk29dLmQ0pR7sT4uV6wY8zA1bC3dE5fG-7hI9jK"
_SLACK = "xoxb-" + "2048-4096-Qm9vZ1Rk3LpXs7Yt"
_JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJtYXJhIn0.b8x2Qk0LmN7pR4tV"
_GOOGLE = "AIza" + "SyD3kQ9mW7pL2xR5tV8nB1cF4gH6jK0sZqE"
_KEY_BODY = "MIIEpAIBAAKCAQEAxq8fJ3kV\\nb2Zs0P4hQmXkT9aLr7wY"

# The beginnings of credentials whose form gives them away, with as many characters as they need behind it.
_FORMS = """
    sk-ant- sk-proj- sk_live_ rk_test_ pk_live_ ghp_ gho_ ghs_ github_pat_ glpat- gldt- xoxp- xapp- AKIA ASIA AIza
    ya29. hf_ npm_ gsk_ xai- r8_ pypi- dckr_pat_ tvly- whsec_ SG. GOCSPX- 1//0 lin_api_ ntn_ secret_ HRKU- ATATT3
    PMAK- glsa_ glc_ sntrys_ dp.st. fm2_ pplx- lsv2_pt_ pcsk_ figd_ sq0atp- EAA hvs. ops_eyJ tskey-auth-
    pscale_tkn_ CFPAT- NRAK- LTAI
"""
_BEHIND = "A7B2C9D4E1F6G3H8A7B2C9D4E1F6G3H8A7B2C9D4E1F6"
_OF_HEXADECIMAL_DIGITS = ["dapi", "dop_v1_", "shpat_", "sbp_", "key-", "rubygems_", "SK"]
_HEXADECIMAL = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

SECRETS = [
    *_of("secret", *(f"first «{form}{_BEHIND}» then" for form in _FORMS.split())),
    *_of("secret", *(f"first «{form}{_HEXADECIMAL}» then" for form in _OF_HEXADECIMAL_DIGITS)),
    *_of(
        "secret",
        # by their form, in prose, code and commands
        f"use «{_AWS}» for the bucket",
        f"git clone with «{_GITHUB}», please",
        f"stripe.api_key = '«{_STRIPE}»'",
        f"I see «{_ANTHROPIC}».",
        f"token «{_SLACK}» is for the bot",
        f"curl -H 'X: «{_JWT}»'",
        f"https://maps.example.org/?q=1&sensor=«{_GOOGLE}»",
        "https://hooks.slack.com/«services/T024BE7LD/B08KQ1/3kPzLmQx7Rt9»",
        "glpat key: «glpat-" + "Zx81mQpL4vRt7sWk2nBd»",
        "npm config set //registry/:_authToken «npm_" + "k3LmQ9xR7tV2pZ8nB5cF1gH4jD6sWy0aEu»",
        "the age key «AGE-SECRET-KEY-1QF8Z3L»",
        # named, in JSON
        '{"password": "«x»"}',
        '{"apiKey":"«plain words»","model":"gpt-5"}',
        '{"db": {"Password": "«p4ss»", "host": "db.internal"}}',
        '{"name": "OPENAI_API_KEY", "value": "«abc»"}',
        '{"headers": [["Authorization", "«Bearer abc»"]]}',
        '{"args": ["--password", "«hunter2»", "--verbose"]}',
        '{"access_token": "«a»", "expires_in": 3600, "token_type": "bearer"}',
        '{"secrets": ["«one»", "«two»"]}',
        '{"pin": 13, "client_secret": "«12345»"}',
        '{"connectionString": "«Server=db;Database=app;Uid=app»"}',
        '{"text": "{\\"password\\": \\"«inner»\\"}"}',
        '{"content": "first line\\nDB_PASSWORD=«s3cr3t»\\nlast"}',
        # named, in JSON inside other texts, at any depth of escapes
        'the body was {"password": "«open sesame»", "user_id": 5} and failed',
        'data = "{\\"apiKey\\": \\"«k-123»\\"}"',
        '\\\\\\"secret\\\\\\": \\\\\\"«deep»\\\\\\", \\\\\\"a\\\\\\": 1',
        '[{"name": "DB_PASSWORD", "value": "«v»"} ... cut',
        '     3\t  "clientSecret": "«abc»",',
        '{"refreshToken": "«cut in the mid»',
        # named, in code and settings
        'password = "«hunter2»"',
        "const apiKey = '«abc def»';",
        'api_key: str = "«k»"',
        "os.environ['OPENAI_API_KEY'] = '«value»'",
        'headers={"x-api-key": "«value»"}',
        "{ password: '«a»', user_id: 1 }",
        "secretKey => '«v»'",
        'conn = connect(host="db", password="«pw»")',
        "localStorage.setItem('token', '«a1b2c3d4e5f6»')",
        "DATABASE_PASSWORD=«correct;horse&battery»",
        "export GITHUB_TOKEN=«abcdef»",
        "API_KEY=«abc123» make deploy",
        "  STRIPE_SECRET_KEY: «abc123xyz»",
        "password: «Tr0ub4dor»",
        "db_password = «swordfish9»",
        "spring.datasource.password=«letmein»",
        "$env:AZURE_CLIENT_SECRET = '«v~8Q»'",
        "<password>«letmein»</password>",
        '<add key="ApiKey" value="«letmein»" />',
        "machine example.org login app password «hunter2»",
        "ALTER USER app WITH PASSWORD '«hunter»'",
        "CREATE USER app IDENTIFIED BY '«hunter»'",
        "the password is «hunter2».",
        '{"Password": "«password»"}',
        "PASSWORD=«password»",
        'password = "«$ecr3t!»"',
        "password='«<b0ld>x»'",
        "key: «Zx81mQpL4vRt7sWk2nBd»",
        '"key": "«Zx81mQpL4vRt7sWk2nBd»"',
        "signature=«9f86d081884c7d659a2feaa0c55ad015»",
        # after what programs write between words
        "{'stdout': 'a\\n«" + _GITHUB + "»\\n«" + _AWS + "»\\n'}",
        "\x1b[33m«" + _GITHUB + "»\x1b[0m",
        "\\u001b[33m«" + _GITHUB + "»\\u001b[0m",
        "password: \x1b[33m«hunter2»",
        "%20«" + _GITHUB + "»",
        "   12→API_KEY=«abc123»",
        "+API_KEY=«abc123»",
        # short names, words, lines below, tables
        '{"pass": "«hunter2»", "pin": "«4821»", "otp": "«482193»"}',
        "export PASS='«hunter2»'",
        "TOKEN=«hunter2»",
        "  password: «hunterhorse»",
        "      DB_PASSWORD: «hunterhorse»  # prod",
        '- name: DB_PASSWORD\n  value: "«hunter2horse»"',
        "- name: DB_PASSWORD\n  value: «hunter2horse»",
        "password: |\n  «hunter2horse and more»\n",
        '{"passwords": {"db": "«hunter2»", "web": "«letmein9»"}}',
        '{"password": {"value": "«hunter»"}}',
        "PASSWORD=«{hunter2}»",
        "DB_PASSWORD=«correct.horse.battery»",
        "PASSWORD=«/hunter2»",
        "| password | «hunter2horse» |",
        "**Password:** «hunter2»",
        "password          : «hunter2»",
        'os.environ.setdefault("DB_PASSWORD", "«hunter-2»")',
        "requests.get(url, auth=('mara', '«hunter2»'))",
        "AWS Secret Access Key [None]: «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzz0KEY1»",
        "API key: «abc123»",
        "mnemonic: «legal winner thank year wave sausage worth useful»",
        # of commands and headers
        '{"command": ["curl", "-u", "mara:«hunter2»"]}',
        "curl -u 'mara:«1234567»' https://api.example.org",
        "curl -u 'mara:«pass word1»' https://api.example.org",
        '$p = ConvertTo-SecureString "«P@ssw0rd!»" -AsPlainText',
        "zip -r -P «hunter2» a.zip a",
        "ldapsearch -x -w «hunter2» -b dc=x",
        "mongosh -u app -p «hunter2» shop",
        "redis-cli -h cache -a «hunter2» ping",
        "openssl rsa -passin pass:«hunter2» -in k.pem",
        "https://api.example.org/?token=«abcdef»&page=2",
        "postgres://«mara:hunter2»@/shop?host=db",
        "password_hash is «$2b$12$KIXQ4S6pQx1Z8bqv6vUoUeD3p4x0Zq8n0b1c2d3e4f5g6h7i8j9k0»",
        "use «sk-abcdefghijklmnopqrstuvwxyz»",
        "Authorization: Bearer «abc»",
        "curl -H 'Authorization: token «abc»' https://api.example.org",
        'curl -H "X-Api-Key: «abc123»" https://api.example.org',
        "Authorization: Basic «bWFyYTp4»",
        "Cookie: «sid=abc; theme=dark»",
        "set-cookie: «sid=abc; HttpOnly»",
        "use Bearer «abc123def456» here",
        "curl -u app:«swordfish» https://api.example.org",
        "curl --user 'app:«swordfish»'",
        "mysql -u app -p«swordfish» shop",
        "sshpass -p «swordfish» ssh build",
        "docker login -u app -p «swordfish» registry.example.org",
        "deploy --api-key «swordfish» --region eu",
        "deploy --token=«swordfish1»",
        "aws configure set aws_secret_access_key «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzz0KEY1»",
        # of URLs and connection strings
        "postgres://«app:s3cret»@db.internal:5432/shop",
        "redis://«:swordfish»@cache:6379/0",
        "mongodb+srv://«app:p@ss/word»@cluster0.example.org/shop",
        "https://«ZxkQ81mQpL4vRt7sWk2n»@github.com/team/app.git",
        "https://api.example.org/v1?api_key=«abc123»&page=2",
        "https://store.example.org/a?sv=1&sig=«a1B2c3D4e5%2Bf6G7h8»&se=2",
        "Server=db;Database=shop;User Id=app;Password=«swordfish»;Encrypt=yes",
        "AccountName=app;AccountKey=«Zm9vYmFyYmF6cXV4eHl6enk123==»;EndpointSuffix=x",
    ),
    *_of(
        "private-key",
        "«-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nxq8f\n-----END RSA PRIVATE KEY-----» and more",
        "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk»",
        f'key = "«-----BEGIN PRIVATE KEY-----\\n{_KEY_BODY}\\n-----END PRIVATE KEY-----»\\n"',
        "   1→«-----BEGIN RSA PRIVATE KEY-----\n   2→MIIEpAIBAAKCAQEA1234\n   3→abcdEFGHijkl»",
        "«-----BEGIN PRIVATE KEY-----\n[secret:0123456789]\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----»",
        "«MIIEpAIBAAKCAQEA1234abcd/xyz\nabcd1234\n-----END RSA PRIVATE KEY»-----",
        "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGAx\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----»",
    ),
]

PEOPLE = [
    *_of(
        "email",
        "Mara <«mara.lindt+aix@example.org»>",
        "Author: «mara@example.co.uk»",
        '{"email": "«mara@example.org»"}',
        "mailto:«MARA_1@sub.example.museum»?subject=x",
        "Co-authored-by: X <«1234+x@users.noreply.example.com»>",
    ),
    *_of(
        "home",
        "cd «/home/mara»/app && ls",
        "«/Users/mara»/src/app.py:12",
        "file://«/Users/mara»/src",
        "«C:\\Users\\Mara»\\src",
        '{"cwd": "«C:\\\\Users\\\\Mara»\\\\src"}',
        "see «/mnt/c/Users/mara»/src",
        "vscode://file/«c%3A%5CUsers%5Cmara»%5Csrc",
        "~/.claude/projects/«-Users-mara»-src-app",
        "projects/«-home-mara»-app/x.jsonl",
        "PATH=«/home/mara»/bin:/usr/bin",
        "in «~mara»/public",
        "https://x.example/?f=«%2Fhome%2Fmara»%2Fapp",
        "docker run -v«/home/mara»/x:/x",
        "+++ «b/home/mara»/.bashrc",
        "in «/data/home/mara»/x and «/Volumes/disk/Users/mara»/x",
        "{'o': 'x\\n«/home/mara»/app'}",
        "\x1b[0;36m«/home/mara»/app\x1b[0m",
    ),
    *_of(
        "user",
        "USER=«mara»",
        '"username": "«mara»"',
        "LOGNAME: «mara»",
        "a folder of «mlindt» here",
    ),
    *_of("user", "ssh «mara»@localhost", "\\n«mlindt» and \x1b[32m«mlindt»\x1b[0m, «mlindt»2"),
    *_of("host", "HOSTNAME=«heron-7»", '{"hostname": "«heron-7»"}', "on heron: «HERON-9» answers"),
    *_of(
        "name",
        "thanks, «Mara Lindt»!",
        "by «mara.lindt»",
        "«MaraLindt» wrote",
        "«MARA  LINDT»",
        "ls «Mara\\ Lindt» and «Mara%20Lindt» and {'a': '\\n«Mara Lindt»\\n'}",
        "for «Falkenberg» GmbH",
    ),
]

NEAR_MISSES = [
    "call ConvertToSecureString and converttosecurestring",
    "curl -u user:password https://api.example.org",
    'headers = {"Authorization": f"Bearer {token}"}',
    'password = request.form["password"]',
    "    password=password,\n    api_key=args.api_key)",
    "aix deploy --token TOKEN --api-key KEY --password PASSWORD",
    'GET /users/123/profile and route("/users/list")',
    "/home/runner/work and /home/vscode",
    "username = request.user.name",
    'hostname: "0.0.0.0" and hostname: example.com',
    "ssh git@github.com",
    "bearer bonds and basic research2024",
    "log4j@2.17.1.jar",
    "wrote C:\\temp\\new\\report.txt",
    "  passwordField: passwordField",
    "interface Login {\n  authToken: AuthToken\n}",
    "Client(api_key=api_key, password=password, token=token)",
    "login(user, password=pw)",
    '{"type": "object", "properties": {"password": {"type": "string"}}}',
    "max_tokens=4096, tokens used: 120000, cache_read_tokens: 5",
    '{"input_tokens": 5, "total_tokens": 12, "maxTokens": 4096}',
    '{"token_type": "bearer", "primaryKey": "id", "key": "title", "keyboard": "dvorak"}',
    '{"key": "5b1f03ab-8a6c-4c08-9d2e-0f3a5b7c9d1e"}',
    "api_key = os.environ['OPENAI_API_KEY']",
    "apiKey: process.env.OPENAI_API_KEY,",
    "password = get_password()",
    "password: str",
    "password: string;",
    "def login(user: str, password: str | None = None) -> Token:",
    "token = self.lexer.next()",
    "token = tokens[0]",
    'const [password, setPassword] = useState("")',
    '"api_key": "${API_KEY}"',
    "API_KEY=$API_KEY ./run",
    "API_KEY=<your key>",
    'api_key="your-api-key-here"',
    "PASSWORD=********",
    "password: null",
    '"password": ""',
    "password: {{ vault_password }}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "Please add authentication: the token expires after an hour.",
    "The password must have eight characters.",
    "the secret is to ask",
    "a basic understanding of bearer tokens",
    "Bearer authentication is missing",
    "Authorization: required",
    "auth: add a page",
    "git@github.com:team/app.git",
    "ssh://git@example.org/team/app.git",
    "logo@2x.png and left-pad@1.3.0",
    "@dataclass and @pytest.fixture",
    "getty@tty1.service",
    "matrix a@b and x @ y.T",
    "http://localhost:3000/@scope/package",
    "https://example.org/home/index.html",
    "src/home/page.tsx and app/Users/list.py",
    "/home and /Users are folders",
    "~/src and ~ and a~b/c",
    "login-home-page and end-users-guide",
    "user-home-mara",
    "hostname: localhost",
    "USER=root",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 45a3acaf0d1e2b3c4d5e6f708192a3b4c5d6e7f8",
    "id: 018f3a5b-7c9d-7e1f-8a6c-4c089d2e0f3a",
    "sk-learn is scikit-learn; task-management-and-more-things",
    "the key is to sort: key=lambda row: row.name",
    "sorted(rows, key=itemgetter(0))",
    "cache_key = f'{user}:{page}'",
    "passed 12 of 13; pass rate: 92%",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "ssh-keygen -t ed25519 -f key",
    "monkey: abc123def456, author=a1b2c3d4",
    "KeyError: 'api_key'",
    "secretName: app-tls",
    "[secret:0123456789] and [email:abcdef0123]",
    "Maralindtia and Samara Lindtner",
    "heronry and chéron",
]
