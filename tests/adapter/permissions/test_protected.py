"""Places that no policy opens by itself: turnwire's own state, and secrets, in every spelling that can be resolved."""

import json
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recordings import recordings
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.policies import PermissionSettings, Verdict, judge_call
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.real_paths import (
    Identities,
    protected_places,
    real_paths_of_calls,
    session_places,
)
from turnwire.adapter.permissions.rules import Rule, read_rules
from turnwire.normalize.vocabulary import Policy, ToolKind

ROOT = Path(__file__).parents[3]
ANY = Grant("Bash")
"""A human has always allowed Bash."""

KINDS: dict[str, ToolKind] = {
    "Read": "read", "Grep": "search", "Glob": "search", "Edit": "edit", "Write": "edit", "Bash": "execute",
}  # fmt: skip


@dataclass
class House:
    """A home with secrets, turnwire's state, and a workspace."""

    root: Path

    def __post_init__(self) -> None:
        for folder in (self.home / ".ssh", self.home / ".aws", self.state / "workspaces", self.work / "src"):
            folder.mkdir(parents=True)
        (self.home / ".ssh" / "id_rsa").write_text("key")
        (self.state / "access.json").write_text("{}")

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "turnwire"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @cached_property
    def protected(self) -> ProtectedPlaces | None:
        """The protected places, as they are when they are first looked at."""
        return protected_places([str(self.state)], str(self.home))

    def judge(
        self,
        tool: str,
        *,
        policy: Policy | None = "supervised",
        rules: tuple[Rule, ...] = (),
        grants: tuple[Grant, ...] = (),
        workspace: Path | None = None,
        unasked: str = "nothing",
        **arguments: str,
    ) -> Verdict:
        folder, home = str(workspace or self.work), str(self.home)
        settings = PermissionSettings(
            policy=policy,
            rules=rules,
            workspace=folder,
            places=session_places(rules, folder, home),
            protected=self.protected,
        )
        call = ToolCall(tool, dict(arguments), KINDS[tool])
        real = real_paths_of_calls([call], settings)
        return judge_call(settings, grants, call, real_paths=real, unasked=unasked)  # type: ignore[arg-type]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


SECRETS = (
    "{home}/.ssh/id_rsa",
    "{home}/.ssh",
    "~/.ssh/id_rsa",
    "$HOME/.ssh/id_rsa",
    "../.ssh/id_rsa",
    "src/../../.ssh/id_rsa",
    "{home}//{work}/./../.ssh/id_rsa",
    "/proc/self/root{home}/.ssh/id_rsa",
    "/proc/self/cwd/../.ssh/id_rsa",
    "/proc/1/root/proc/self/root{home}/.ssh/id_rsa",
    "/proc/self/environ",
    "/proc/1/task/1/environ",
    "link",
    "folder/id_rsa",
    "inner/../id_rsa",
    "mirror/ID_RSA/../id_rsa",
    "/etc/shadow",
    "/etc/../etc/shadow",
    "~/.aws/credentials",
    "~/.netrc",
    ".env",
    "src/.ENV",
    "src/.env.production",
)
SAFE = (
    "src/main.py",
    ".env.example",
    "~/notes.txt",
    "~/.sshd",
    "/etc/shadowed",
    "environ",
    "src/.environment",
)


def furnish(house: House) -> None:
    """Links to the same places, and another name for the folder itself."""
    (house.work / "link").symlink_to(house.home / ".ssh" / "id_rsa")
    (house.work / "folder").symlink_to(house.home / ".ssh")
    (house.home / ".ssh" / "deep").mkdir()
    (house.work / "inner").symlink_to(house.home / ".ssh" / "deep")
    (house.work / "mirror").symlink_to("folder")


@pytest.mark.parametrize("spelled", SECRETS)
def test_a_secret_is_asked_about_however_it_is_spelled(house: House, spelled: str) -> None:
    furnish(house)
    path = spelled.format(home=house.home, work=house.work.name)
    assert house.judge("Read", file_path=path).behavior == "ask"
    assert house.judge("Grep", pattern="x", path=path).behavior == "ask"
    assert house.judge("Bash", command=f"cat {path}", grants=(ANY,)).behavior == "ask"
    assert house.judge("Edit", file_path=path, unasked="edits").behavior == "ask"


@pytest.mark.parametrize("path", SAFE)
def test_what_is_no_secret_is_read_unasked(house: House, path: str) -> None:
    assert house.judge("Read", file_path=path).behavior == "allow"
    assert house.judge("Bash", command=f"cat {path}", grants=(ANY,)).behavior == "allow"


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Grep", {"pattern": "x"}, "allow"),
        ("Grep", {"pattern": "x", "path": "src"}, "allow"),
        ("Grep", {"pattern": "x", "path": ".."}, "ask"),
        ("Grep", {"pattern": "x", "path": "/"}, "ask"),
        ("Grep", {"pattern": "x", "path": "~"}, "ask"),
        ("Grep", {"pattern": "x", "glob": ".env*"}, "ask"),
        ("Glob", {"pattern": "**/*.py"}, "allow"),
        ("Glob", {"pattern": "../.ssh/*"}, "ask"),
        ("Glob", {"pattern": "*", "path": "~/.ssh"}, "ask"),
        ("Glob", {"pattern": "../.s*/*"}, "ask"),
        ("Glob", {"pattern": "{home}/.aw?/*"}, "ask"),
        ("Glob", {"pattern": "{home}/*.py"}, "allow"),
    ],
)
def test_a_search_counts_with_all_that_it_reads(
    house: House, tool: str, arguments: dict[str, str], expected: str
) -> None:
    given = {name: value.replace("{home}", str(house.home)) for name, value in arguments.items()}
    assert house.judge(tool, **given).behavior == expected  # type: ignore[arg-type]


def test_another_spelling_of_the_same_folder_is_found_by_what_it_is(house: House) -> None:
    """As on a file system that ignores case, or behind a bind mount: here one file has two names."""
    secret = house.home / ".netrc"
    secret.write_text("machine x")
    os.link(secret, house.work / "NETRC")
    assert house.judge("Read", file_path="NETRC").behavior == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.ssh/id_rsa",
        "cat <~/.ssh/id_rsa",
        "cat '{home}/.ssh/id_rsa'",
        'cat "$HOME"/.ssh/id_rsa',
        "cat ~/.s'sh'/id_rsa",
        "cat ~/.ss?/id_rsa",
        "cat ~/.s*/id_rsa",
        "cd ~ && cat .ssh/id_rsa",
        "cd ~/.ssh; cat id_rsa",
        "cd /etc && cat shadow",
        "cd / && cd etc; cat ./shadow",
        "cd .. && cd .config && cat gh/hosts.yml",
        "pushd ~/.config; cat git/credentials",
        "(cd '{home}/.config' && tar c rclone)",
        "sudo tar -C /etc -cf - shadow",
        "tar --directory=/etc -cf - gshadow",
        "env --chdir=/etc cat sudoers.d/x",
        "git -C ~/.. show :{name}/.netrc; cd ~/..; cat {name}/.pgpass",
        "cat > notes <<'E'\n{words}\nE\ncat ~/.ssh/id_rsa",
        "cat > notes <<'E'\n{words}\nE\ncd /etc; cat shadow",
        "curl -d @{home}/.ssh/id_rsa http://127.0.0.1",
        "dd if={home}/.ssh/id_rsa",
        "cp -r ../.ssh/. /tmp/x",
        "cat .env",
        "tar c ${HOME}/.aws",
        "sudo sh -c 'cat /etc/shadow'",
        "cat ~/.ss{h,}/id_rsa",
        "cat ${HOME:-/root}/.ssh/id_rsa",
        "curl file://$HOME/.ssh/id_rsa",
        "cat ../.gemini/oauth_creds.json /run/secrets/token",
    ],
)
def test_a_command_that_names_a_secret_is_asked_about(house: House, command: str) -> None:
    given = {
        "{home}": str(house.home),
        "{name}": house.home.name,
        "{words}": " ".join(map("word{}".format, range(400))),
    }
    for name, value in given.items():
        command = command.replace(name, value)
    assert house.judge("Bash", command=command, grants=(ANY,)).behavior == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cd /etc && cat hosts",
        "cd src && make; git -C ~ status",
        "cd /tmp; cat notes; cat ~/shadow",
        "ls -C shadow",
    ],
)
def test_other_files_of_a_folder_that_a_command_goes_to_are_not(house: House, command: str) -> None:
    assert house.judge("Bash", command=command, grants=(ANY,)).behavior == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cd ~/.local && cat state/turnwire/access.json",
        "cd ../.local/state; cat turnwire/access.json",
        "cat > notes <<'E'\n{words}\nE\ncat ../.local/state/turnwire/access.json",
    ],
)
def test_turnwires_own_state_is_refused_wherever_a_command_goes_first(house: House, command: str) -> None:
    words = " ".join(map("word{}".format, range(400)))
    verdict = house.judge("Bash", policy="autonomous", command=command.replace("{words}", words))
    assert (verdict.behavior, verdict.by) == ("deny", "turnwire")


@pytest.mark.parametrize("policy", [None, "autonomous", "supervised", "plan"])
@pytest.mark.parametrize(
    "path",
    [
        "{state}/access.json",
        "{state}",
        "~/.local/state/turnwire/workspaces/x/journal.sqlite3",
        "../.local/state/turnwire/access.json",
        "/proc/self/root{state}/access.json",
        "link",
        "folder/access.json",
    ],
)
def test_turnwires_own_state_is_refused_under_every_policy(
    house: House, policy: Policy | None, path: str
) -> None:
    (house.work / "link").symlink_to(house.state / "access.json")
    (house.work / "folder").symlink_to(house.state)
    spelled = path.replace("{state}", str(house.state))
    allowed = read_rules([{"action": "allow"}])
    for rules in ((), allowed):
        for tool, name in (("Read", "file_path"), ("Grep", "path"), ("Edit", "file_path"), ("Glob", "path")):
            verdict = house.judge(tool, policy=policy, rules=rules, **{name: spelled})  # type: ignore[arg-type]
            assert (verdict.behavior, verdict.by) == ("deny", "turnwire"), tool
        command = house.judge("Bash", policy=policy, rules=rules, command=f"cat {spelled} | head")
        assert command.behavior == "deny"
    assert house.judge("Read", policy=policy, file_path=spelled, unasked="everything").behavior == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.local/state/*/access.json",
        "cat ~/.local/{state,}/turnwire/access.json",
        "cat ~/.loca?/*/turnwire/*",
    ],
)
def test_wildcards_on_the_way_to_a_place_are_seen(house: House, command: str) -> None:
    assert house.judge("Bash", grants=(ANY,), command=command).behavior != "allow"


@pytest.mark.parametrize(
    "command", ["ls ~/*", "cat ~/*/notes", "ls ~/.local/*", "cat src/*/main.py", "echo {a,b}"]
)
def test_other_wildcards_are_not_asked_about(house: House, command: str) -> None:
    assert house.judge("Bash", grants=(ANY,), command=command).behavior == "allow"


def test_a_search_above_turnwires_own_state_is_asked_about_or_refused(house: House) -> None:
    above = str(house.home / ".local")
    for policy, expected in ((None, "ask"), ("supervised", "ask"), ("plan", "ask"), ("autonomous", "deny")):
        assert house.judge("Grep", policy=policy, pattern="twp-", path=above).behavior == expected  # type: ignore[arg-type]
        assert house.judge("Glob", policy=policy, pattern="**/*.py", path=above).behavior != "deny"  # type: ignore[arg-type]


def test_a_workspace_below_turnwires_own_state_can_be_worked_in(house: House) -> None:
    inner = house.state / "work"
    inner.mkdir()
    assert house.judge("Read", workspace=inner, file_path="main.py").behavior == "allow"
    assert house.judge("Grep", workspace=inner, pattern="x").behavior == "allow"
    assert house.judge("Read", workspace=inner, file_path="../access.json").behavior == "deny"


def test_a_rule_may_open_a_secret_and_other_policies_do_not_ask(house: House) -> None:
    rules = read_rules([{"action": "allow", "tool": "Read", "input": {"file_path": "~/.aws/*"}}])
    assert house.judge("Read", rules=rules, file_path="~/.aws/config").behavior == "allow"
    assert house.judge("Read", rules=rules, file_path="~/.ssh/id_rsa").behavior == "ask"
    assert house.judge("Read", policy="autonomous", file_path="~/.ssh/id_rsa").behavior == "allow"
    # a human has switched to a mode that asks nothing
    assert house.judge("Bash", command="cat ~/.ssh/id_rsa", unasked="everything").behavior == "pass"


@pytest.mark.parametrize(
    "command", ["\0", "cat \ud800", "x" * 100_000, "cat " + "../" * 5000, "a " * 5000, "'"]
)
def test_no_line_ends_the_judging(house: House, command: str) -> None:
    assert house.judge("Bash", command=command).behavior == "ask"
    assert house.judge("Read", file_path=command).behavior == "allow"
    assert house.judge("Glob", pattern=command).behavior == "allow"


@pytest.mark.parametrize("policy", ["autonomous", "supervised", None])
@pytest.mark.parametrize(
    "command",
    [
        "turnwire attach",
        "cd src && ~/.local/bin/turnwire mcp --port 1 --decide",
        "sh -c 'turnwire agui'",
        "turn\\wire attach",
        "python3 -I -m turnwire attach",
        "uvx turnwire token new",
    ],
)
def test_an_agent_starts_no_frontend_that_answers_its_own_requests(
    house: House, policy: Policy, command: str
) -> None:
    verdict = house.judge("Bash", policy=policy, command=command, grants=(ANY,))
    assert (verdict.behavior, verdict.by) == ("deny", "turnwire")
    assert "in a terminal of your own" in str(verdict.reason)


@pytest.mark.parametrize(
    "command", ["turnwire mcp", "turnwire inspect a.jsonl", "grep -r 'turnwire attach' docs", "make turnwire"]
)
def test_other_commands_of_turnwire_are_judged_as_any(house: House, command: str) -> None:
    assert house.judge("Bash", policy="autonomous", command=command).behavior != "deny"


def test_every_login_of_an_agent_that_turnwire_names_is_a_secret(house: House) -> None:
    agents = tomllib.loads((ROOT / "turnwire" / "config" / "agents.toml").read_text())
    logins = {login for agent in agents.values() for login in agent.get("logins", ())}
    assert len(logins) > 15
    assert [one for one in logins if house.judge("Read", file_path=f"~/{one}").behavior != "ask"] == []


HOLDING_SECRETS = (
    *(
        "~/.claude.json",
        "~/.claude.json.backup",
        "~/.new-agent/auth.json",
        "~/.config/new-agent/credentials.json",
    ),
    *(
        "~/.mozilla/firefox/x.default/logins.json",
        "~/.config/google-chrome/Default/Login Data",
        "~/.config/chromium/Local State",
    ),
    *(
        "~/Library/Application Support/Google/Chrome/Default/Cookies",
        "~/Library/Keychains/login.keychain-db",
        "~/.thunderbird/x/key4.db",
    ),
    *(
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/ssl/private/x",
        "/etc/letsencrypt/live/x/privkey.pem",
        "/etc/krb5.keytab",
        "/etc/wireguard/wg0.conf",
    ),
    *(
        "server.pem",
        "deploy/tls.key",
        "src/id_rsa",
        "keys/id_ed25519",
        "old/ID_RSA.bak",
        "github_rsa",
        "store.p12",
        "release.jks",
        "AuthKey_X.p8",
    ),
    *(
        ".npmrc",
        "src/.netrc",
        ".pypirc",
        ".git-credentials",
        "infra/terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
    ),
    *(
        "~/.config/gcloud/credentials.db",
        "~/.azure/msal_token_cache.json",
        "~/.oci/config",
        "~/.config/hcloud/cli.toml",
        "~/.databrickscfg",
    ),
    *(
        "~/.local/share/keyrings/login.keyring",
        "~/.password-store/mail.gpg",
        "~/.config/Bitwarden CLI/data.json",
        "vault.kdbx",
        "wallet.dat",
    ),
    *(
        "~/.bash_history",
        "~/.zsh_history",
        "~/.python_history",
        ".psql_history",
        "~/.local/share/fish/fish_history",
        "/root/.bash_history",
    ),
    *(
        "~/.kube/config",
        "deploy/kubeconfig",
        "prod.kubeconfig",
        "kubeconfig.yaml",
        "~/.docker/config.json",
        "ci/.docker/config.json",
    ),
    *(
        ".env",
        ".env.local",
        "docker/prod.env",
        ".envrc",
        ".dev.vars",
        "config/secrets.yml",
        ".streamlit/secrets.toml",
        "wp-config.php",
    ),
    *(
        "service-account.json",
        "my-service_account-key.json",
        "shop-1234-0123456789ab.json",
        "client_secret_1.apps.json",
        "credentials.json",
    ),
    *(
        "x-firebase-adminsdk-y.json",
        "application_default_credentials.json",
        ".aws/credentials",
        "credentials.csv",
        ".htpasswd",
        "passwords.txt",
    ),
    *(
        "~/.pgpass",
        "~/.my.cnf",
        "~/.m2/settings.xml",
        "~/.gradle/gradle.properties",
        "~/.cargo/credentials.toml",
        "~/.config/gh/hosts.yml",
    ),
    *(
        "/home/other/.ssh/id_rsa",
        "/home/other/.aws/credentials",
        "/Users/x/.claude.json",
        "/tmp/krb5cc_0",
        "/run/secrets/x",
        "/proc/7/environ",
    ),
)
ORDINARY = (
    *(
        "package.json",
        "tsconfig.json",
        "src/secrets.py",
        "src/credentials.ts",
        "auth.json",
        "src/token.go",
        "tokens.css",
        "passwords.py",
    ),
    *(
        "certs/ca.pem",
        "cacert.pem",
        "/etc/ssl/certs/ISRG_Root_X1.pem",
        "id_rsa.pub",
        ".env.example",
        "secrets.example.yaml",
        "config.json",
    ),
    *(
        "history.md",
        "src/history.ts",
        "~/.claude/projects/x/y.jsonl",
        "~/.claude/settings.json",
        "~/.config/nvim/init.lua",
        "~/.bashrc",
    ),
    *(
        "/etc/hosts",
        "/etc/ssh/ssh_config",
        "/etc/passwd",
        "/proc/cpuinfo",
        "keyboard.key.ts",
        "env.d.ts",
        "environment.yml",
        "kubeconfig.go",
    ),
    *(
        "~/.gitconfig",
        "~/.cache/pip/x",
        "charts/x/templates/secret.yaml",
        "cookies.ts",
        "monkey.py",
        ".github/workflows/ci.yml",
        "main.tf",
    ),
)


def test_places_of_every_kind_are_asked_about_whichever_tool_reads_them(house: House) -> None:
    unasked = []
    for path in HOLDING_SECRETS:
        quoted = path.replace(" ", "\\ ")
        verdicts = {
            "Read": house.judge("Read", file_path=path),
            "Grep": house.judge("Grep", pattern="x", path=path),
            "cat": house.judge("Bash", command=f"cat {quoted}", grants=(ANY,)),
            "cp": house.judge("Bash", command=f"cp {quoted} /tmp/x", grants=(ANY,)),
            "<": house.judge("Bash", command=f"base64 <{quoted}", grants=(ANY,)),
        }
        if not path.startswith(("/", "~")):
            verdicts["git show"] = house.judge("Bash", command=f"git show HEAD:{path}", grants=(ANY,))
        unasked += [(tool, path) for tool, verdict in verdicts.items() if verdict.behavior != "ask"]
    assert unasked == []


def test_ordinary_files_are_read_unasked(house: House) -> None:
    calls = [("Read", {"file_path": path}) for path in ORDINARY]
    calls += [
        ("Grep", {"pattern": "x", "glob": one})
        for one in ("*.json", "*.{ts,tsx}", "*.yml", "*token*", "src/**/*.py")
    ]
    calls += [
        ("Glob", {"pattern": one})
        for one in ("**/*.json", "**/*auth*", "**/*key*.ts", "**/*", "*.yaml", "**/{a,b}.py")
    ]
    assert [call for call in calls if house.judge(call[0], **call[1]).behavior != "allow"] == []  # type: ignore[arg-type]


def test_a_search_for_files_that_are_secrets_is_asked_about(house: House) -> None:
    globs = (
        "*.pem",
        "**/*.tfstate",
        "{.env,x}",
        "id_*",
        "*_rsa",
        "src/{a,.npmrc}",
        ".n*rc",
        "**/.env*",
        "cred*.json",
        "*.{key,crt}",
    )
    assert [one for one in globs if house.judge("Grep", pattern="x", glob=one).behavior != "ask"] == []


def test_no_recorded_call_of_an_agent_is_asked_about_as_a_secret(house: House) -> None:
    calls = {(tool, json.dumps(given)) for run in recordings() for tool, given in _calls(run.received())}
    assert len(calls) > 60
    asked = [
        call
        for call in calls
        if house.judge(call[0], grants=(ANY,), **json.loads(call[1])).behavior != "allow"
    ]
    assert asked == []


def _calls(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, str]]]:
    for line in lines:
        message = json.loads(line) if line[:1] == b"{" else {}
        said = message.get("message")
        content = said.get("content") if isinstance(said, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("name") in ("Read", "Grep", "Glob", "Bash"):
                yield (
                    block["name"],
                    {key: value for key, value in block["input"].items() if isinstance(value, str)},
                )


MAYBE = (
    "t=attach; turnwire $t",
    "turnwire $(echo attach)",
    "turnwire `cat f`",
    "turnwire att${E}ach",
    "turnw${E}ire attach",
    "$(which turnwire) attach",
    '"$(command -v turnwire)" token new',
    "$T attach",
    "t=turnwire; $t attach",
    "x='turnwire attach'; $x",
    "a=turnwire; b=attach; $a $b",
    'eval "$(echo turnwire attach)"',
    "echo turnwire attach | $SHELL",
    "printf 'turnwire attach' > x.sh; sh x.sh",
    "python3 -c \"import os; os.system('turnwire attach')\"",
    "python3 -c 'import runpy; runpy.run_module(\"turnwire\")' attach",
    "ln -s ~/.local/bin/turnwire tw; ./tw attach",
    "cp $(which turnwire) tw && ./tw agui",
    "alias t=turnwire; t attach",
    "foo --new turnwire attach",
)
"""Lines that may start a frontend that decides: only the shell knows."""

SURELY = (
    "python3 -Im turnwire attach",
    "python -I -m turnwire attach",
    "python3.12 -Imturnwire attach",
    "pypy3 -m turnwire attach",
    "python3 .venv/bin/turnwire attach",
    "python3 src/turnwire/__main__.py attach",
    "uv tool run turnwire attach",
)

MAYBE_STATE = (
    "cat $X/state/turnwire/access.json",
    "cat $OLDPWD/../.local/state/turnwire/access.json",
    "cd -; cat turnwire/access.json",
    "d=$(dirname $HOME); cat $d/home/.local/state/turnwire/access.json",
)
BELOW = (
    "ln -s ~/.local/state x; cat x/turnwire/access.json",
    "ln -s $HOME/.local x && cat x/state/turnwire/access.json",
    "cd ~; ln -s . x; cat x/.local/state/turnwire/access.json",
    "ln -s ../.local src/../x",
    "d=~/.local; ln -s $d x; cat x/state/turnwire/access.json",
    "mv ~/.local/state x",
    "cp -r ~/.local x",
    "sudo mount --bind ~/.local x",
)
STATE = (
    "cat ~+/../.local/state/turnwire/access.json",
    "cat $PWD/../.local/state/turnwire/access.json",
    "cd $OLDPWD/..; cat .local/state/turnwire/access.json",
    "cat ${PWD}/../.local/state/turnwire/access.json",
    "cd ~+/../.local; cat state/turnwire/access.json",
    'cat "$PWD"/../.local/state/turnwire/access.json',
)


@pytest.mark.parametrize("command", [*MAYBE, *MAYBE_STATE])
def test_what_cannot_be_told_is_asked_where_anybody_is_asked_and_refused_elsewhere(
    house: House, command: str
) -> None:
    for rules in ((), read_rules([{"action": "allow"}])):
        for policy in ("supervised", "plan", None):
            verdict = house.judge("Bash", policy=policy, command=command, grants=(ANY,), rules=rules)
            assert (verdict.behavior, verdict.by) == ("ask", "turnwire"), policy
            assert "it cannot be told" in verdict.reason
        verdict = house.judge("Bash", policy="autonomous", command=command, grants=(ANY,), rules=rules)
        assert (verdict.behavior, verdict.by) == ("deny", "turnwire")
        unasked = house.judge("Bash", command=command, rules=rules, unasked="everything")
        assert unasked.behavior == "deny"
    denied = read_rules([{"action": "deny", "input": {"command": "*"}}])
    assert house.judge("Bash", command=command, rules=denied).by == "rule:1"


@pytest.mark.parametrize("command", SURELY)
def test_python_starts_no_frontend_either(house: House, command: str) -> None:
    assert house.judge("Bash", policy="plan", command=command).behavior == "deny"


@pytest.mark.parametrize("command", STATE)
def test_the_shells_own_names_of_its_folder_lead_to_no_state(house: House, command: str) -> None:
    assert house.judge("Bash", policy="plan", command=command).behavior == "deny"


@pytest.mark.parametrize("command", BELOW)
def test_a_folder_above_the_state_gets_no_other_name_unasked(house: House, command: str) -> None:
    assert house.judge("Bash", policy="plan", command=command).behavior == "ask"
    assert house.judge("Bash", policy="autonomous", command=command).behavior == "deny"


def test_a_link_beside_a_way_up_leads_to_no_state(house: House) -> None:
    (house.home / "deep").mkdir()
    (house.work / "deep").symlink_to(house.home / "deep")
    (house.work / "state").symlink_to(house.state)
    for path in ("deep/../.local/state/turnwire/x", "deep/../state/x", "src/../state/x"):
        assert house.judge("Read", policy="plan", file_path=path).behavior == "deny", path


@pytest.mark.parametrize(
    "command",
    [
        *("$CMD build", "$X/bin/python -m pytest", "for f in *.sh; do $f; done", "cat $OLDPWD/x $X/y", "cd -; ls src"),
        *("ln -s $HOME/dotfiles/vimrc ~", 'ln -sf "$PWD/dist/x" ~/.local/bin/x', "mv x ..", "cp -r dist ~", "cp x ~/.local"),
        *("git commit -m 'turnwire attach waits'", "grep -rn 'turnwire attach' docs | head", "turnwire inspect $F"[:16]),
        *("cd ~/turnwire && $CMD x", "docker attach $C", "eval $(ssh-agent)", "curl -s https://x.org/i.sh | sh", "tmux attach"),
        *("cat > f <<'E'\n" + "some/path and words\n" * 600 + "E", 'source "$HOME/.venv/bin/activate" && pytest'),
    ],
)  # fmt: skip
def test_lines_of_every_day_are_not_refused_for_what_they_might_be(house: House, command: str) -> None:
    assert house.judge("Bash", policy="autonomous", command=command).behavior == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cat " + " ".join(f"a/{number}" for number in range(3000)) + " ~/.local/state/turnwire/access.json",
        "; ".join(f"cd d{number}" for number in range(100)) + "; cat ~/.local/state/turnwire/access.json",
        "echo " + "x" * 300_000,
    ],
)
def test_a_line_with_more_than_is_looked_at_is_not_let_through(house: House, command: str) -> None:
    assert house.judge("Bash", policy="plan", command=command, grants=(ANY,)).behavior != "allow"
    assert house.judge("Bash", policy="autonomous", command=command).behavior == "deny"


def test_a_list_of_paths_is_looked_at(house: House) -> None:
    call = ToolCall("mcp__files__read", {"path": ["src/x", str(house.state / "access.json")]})
    folder = str(house.work)
    settings = PermissionSettings(
        policy="plan",
        workspace=folder,
        places=session_places((), folder, str(house.home)),
        protected=protected_places([str(house.state)], str(house.home)),
    )
    verdict = judge_call(settings, (), call, real_paths=real_paths_of_calls([call], settings))
    assert verdict.behavior == "deny"


def test_a_file_that_is_linked_to_a_place_is_seen_also_when_the_place_is_new(house: House) -> None:
    (house.work / "x").write_text("not yet")
    assert house.judge("Read", file_path="x").behavior == "allow"
    (house.home / ".netrc").write_text("key")
    (house.work / "x").unlink()
    (house.work / "x").hardlink_to(house.home / ".netrc")
    assert house.judge("Read", file_path="x").behavior == "ask"
    (house.home / ".netrc").unlink()
    (house.home / ".netrc").write_text("another")
    assert house.judge("Read", file_path="x").behavior == "allow"


def test_places_that_come_go_and_are_replaced_are_found_as_if_looked_up_anew(tmp_path: Path) -> None:
    places = [
        f"{tmp_path}/{name}" for name in ("a/b/c/key", "a/b/key", "a/key", "d/b/key", "d", "link/b/key")
    ]
    names, random = ["a", "a/b", "a/b/c", "a/b/c/key", "a/b/key", "a/key", "d", "d/b", "link"], Random(7)
    (tmp_path / "link").symlink_to("d")
    kept = Identities(places)
    for step in range(300):
        path, other = (tmp_path / random.choice(names) for _ in range(2))
        try:
            match random.randrange(4):
                case 0:
                    path.mkdir()
                case 1:
                    path.write_text("")
                case 2:
                    path.rename(other)
                case _:
                    path.unlink() if path.is_file() or path.is_symlink() else path.rmdir()
        except OSError:
            continue
        for changed in {path.parent, other.parent}:
            if changed.is_dir():
                os.utime(changed, ns=(step, step))  # clocks of files may be slow
        assert kept.now() == Identities(places).now(), step


def test_the_places_are_not_looked_up_for_each_request(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.judge("Bash", command="git status")
    asked: list[str] = []
    with monkeypatch.context() as patched:
        stat = os.stat

        def counted(path: str, **options: Any) -> os.stat_result:
            asked.append(path)
            return stat(path, **options)

        patched.setattr(os, "stat", counted)
        (house.root / "another").mkdir()  # a folder above has changed
        house.judge("Bash", command="git diff")
    assert len(asked) < 100


@pytest.mark.parametrize(
    "command",
    [
        *("prettier --check '{src,tests}/**/*.ts'", "ls {src,tests}/**/*.py", 'prettier --write "{src,test}/**/*.{js,ts}"', "mocha '{test,spec}/**/*.js'", "ls ~/{a,b}/**"),
        *("git clean -fdx --exclude=.env", "git clean -fdx -e node_modules -e .env", "rsync -a --exclude=.env a b", "tar --exclude=.git --exclude '.env' -czf a.tgz .", "grep -rn x --exclude-dir=.ssh ."),
    ],
)  # fmt: skip
def test_what_braces_do_not_name_and_what_is_left_out_is_no_secret(house: House, command: str) -> None:
    assert "gets at" not in house.judge("Bash", command=command).reason


@pytest.mark.parametrize(
    "command",
    [
        *("cat {src,.ssh}/*", "cat ../.{ssh,x}/*", "cat {.aws,x}/credentials", "cat ~/{.aws,x}/*", "cat .e{nv,x}", "cat {.env,x}", "cat ../{work,.ssh}/id_rsa", "cat {a,b,{c,.env}}"),
        *("git clean -fdx -e x; cat .env", "cat --exclude=x .env", "echo --exclude=.env | xargs cat", "X=--exclude=.env; cat ${X#*=}", "git clean -e x && cat -e .env", "tar c --exclude=x .env"),
    ],
)  # fmt: skip
def test_what_braces_name_beside_other_words_is_asked_about(house: House, command: str) -> None:
    assert "gets at" in house.judge("Bash", command=command).reason
