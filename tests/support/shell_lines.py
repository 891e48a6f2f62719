"""Lines of shell that may run `rm x`, made by a grammar of bash's constructs; and real shells that tell which of them do.

Lines run in a folder of their own, with a PATH that has harmless commands alone. Left out is what docs/rules.md says
that rules do not promise: scripts and variables of earlier calls, code that puts a name together, the arguments of
programs in no table where these spell the command otherwise.
"""

import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

NAMES = (
    *("rm",) * 12,
    *("'rm'", '"rm"', r"r\m", r"\rm", "r''m", 'r""m', "$'rm'", r"$'\x72m'", r"$'r\155'", '$"rm"', "r\\\nm"),
    *(
        "r$@m",
        'r"$@"m',
        "${E}rm",
        "r${E}m",
        "$R",
        '"$R"',
        "${R}",
        "${R:-x}",
        "${E:-rm}",
        "${A[0]}",
        "${R@P}",
        "${!N}",
    ),
    *(
        "`echo rm`",
        "$(echo rm)",
        "{rm,x}",
        "{r,}m",
        "r{m,}",
        "./stub/r?",
        "./stub/*m",
        "./stub/rm",
        "stub//rm",
        "~+/stub/rm",
    ),
    *(
        "$(printf r)m",
        '"$(echo rm)"',
        "${E:=rm}",
        "${E+rm}",
        "${X:-rm}",
        "${R#x}",
        "${R%x}",
        "${R/x/y}",
        "${R,,}",
    ),
)
ARGUMENTS = ("x", "x", "-f x", "", '"a b"', "*")
RUNNERS = (
    *(
        "command {}",
        "command -p {}",
        "builtin command {}",
        "exec {}",
        "exec -a x {}",
        "eval {}",
        "env {}",
        "env -i PATH=$PATH LINE=$LINE {}",
    ),
    *(
        "env -u X {}",
        "env A=1 {}",
        "nohup {}",
        "nice {}",
        "nice -n 3 {}",
        "timeout 5 {}",
        "timeout -k 1 5 {}",
        "timeout -s KILL 5 {}",
    ),
    *(
        "stdbuf -oL {}",
        "setsid -w {}",
        "flock f {}",
        "chrt -o 0 {}",
        "ionice -c 3 {}",
        "taskset 1 {}",
        "taskset -c 0 {}",
    ),
    *(
        "prlimit --nofile=64 {}",
        "prlimit --core=0 -- {}",
        "setarch x86_64 {}",
        "setarch -R {}",
        "linux64 {}",
        "xargs {}",
        "xargs -n 1 {}",
    ),
    *(
        "xargs -I Z {}",
        "time {}",
        "time -p {}",
        "! {}",
        "coproc {}",
        "coproc C {{ {}; }}",
        "time ! {}",
        "! time {}",
        "choom -n 0 -- {}",
    ),
    *(
        "sudo {}",
        "sudo -u root {}",
        "sudo -E A=1 {}",
        "doas {}",
        "npx {}",
        "npm exec {}",
        "npm exec -- {}",
        "docker exec c {}",
        "run0 {}",
    ),
    *("bwrap --bind / / {}", "find . -maxdepth 0 -exec {} ';'"),
    *(
        "find . -maxdepth 0 -exec {} +",
        "find . -maxdepth 0 -execdir {} \\;",
        "setpriv --no-new-privs {}",
        "command command {}",
        "ltrace {}",
    ),
    *(
        "systemd-run --scope {}",
        "proxychains4 -q {}",
        "gosu root {}",
        "direnv exec . {}",
        "nix-shell -p x --run {}",
        "uv run {}",
        "poetry run {}",
    ),
)
UNKNOWN_RUNNERS = ("unknown-runner", "unknown-runner --with it", "./tools/runner", "unknown-runner -x A=1")
QUOTED = (
    *(
        "sh -c {}",
        "bash -c {}",
        "dash -c {}",
        "bash -ec {}",
        "bash --norc -c {}",
        "bash -o errexit -c {}",
        "sh -c {} x y",
        "eval {}",
    ),
    *(
        "eval -- {}",
        "env -S {}",
        "trap {} EXIT",
        "trap -- {} 0",
        "bash <<< {}",
        "sh <<< {}",
        "echo {} | sh",
        "printf %s {} | bash",
        "echo {} | bash -s",
    ),
    *(
        "alias d={}\nd",
        "shopt -s expand_aliases; alias d={}\nd",
        "X={}; $X",
        "X={}; eval $X",
        'X={}; eval "$X"',
        'X={}; sh -c "$X"',
        "bash <(echo {})",
    ),
    *(
        "source <(echo {})",
        ". /dev/stdin <<< {}",
        "source /dev/stdin <<< {}",
        "mapfile -C {} -c 1 A <<< y",
        "readarray -c1 -C {} A <<< y",
    ),
    *(
        "compgen -C {}",
        "compgen -C {} x",
        "complete -C {} x",
        "PS4={}; set -x; :",
        "flock f -c {}",
        "script -qc {} f",
        "find . -maxdepth 0 -exec sh -c {} ';'",
    ),
    *(
        "xargs sh -c {}",
        "timeout 5 sh -c {}",
        "nice bash -c {}",
        "npx -c {}",
        "watch {}",
        "su -c {}",
        "tmux new {}",
        "ssh host {}",
    ),
    *(
        "make -f - <<< $'all:\\n\\t'{}",
        "make --eval=$'x:;'{} x",
        "git -c alias.x='!'{} x",
        "git submodule foreach {}",
        "git rebase -x {}",
    ),
    *(
        "BASH_ENV=<(echo {}) bash -c :",
        "ENV=<(echo {}) sh -i -c :",
        "bash --rcfile <(echo {}) -ic :",
        "PROMPT_COMMAND={} bash -i <<< :",
        "parallel {} ::: x",
    ),
    *(
        "echo {} > f; sh f",
        "echo {} > f; . ./f",
        "printf '%s\\n' {} > f && bash f",
        "cat <<< {} | sh",
        "tee f <<< {} | bash",
        'f={}; bash -c "$f"',
    ),
    *(
        "echo {} | xargs -I Z sh -c Z",
        "xargs -I Z sh -c Z <<< {}",
        'echo {} | while read -r l; do eval "$l"; done',
        "read -r X <<< {}; $X",
        "set -- {}; $1",
    ),
    *(
        "A=({}); ${{A[0]}}",
        "for c in {}; do $c; done",
        "for c in {}; do eval $c; done",
        "printf -v X %s {}; $X",
        "declare X={}; $X",
        "export X={}; sh -c '$X'",
    ),
)
EVALUATED = (
    *(
        "[[ -v 'a[$({0})]' ]]",
        "test -v 'a[$({0})]'",
        "[ -v 'a[$({0})]' ]",
        "let 'a[$({0})]=1'",
        "declare 'a[$({0})]=1'",
        "typeset 'a[$({0})]=1'",
    ),
    *(
        "unset 'a[$({0})]'",
        "read 'a[$({0})]' <<< 1",
        "printf -v 'a[$({0})]' x",
        "X='a[$({0})]'; echo $((X))",
        "X='a[$({0})]'; ((X))",
        "X='a[$({0})]'; [[ X -eq 1 ]]",
    ),
    *(
        "X='$({0})'; echo ${{X@P}}",
        "X='`{0}`'; echo \"${{X@P}}\"",
        "X='a[$({0})]'; echo ${{!X}}",
        "X='a[$({0})]'; let X",
        "X='a[$({0})]'; declare -i Y=X",
        "X='a[$({0})]'; A[X]=1",
    ),
    *(
        "X='a[$({0})]'; echo ${{A[X]}}",
        "X='a[$({0})]'; echo ${{R:X}}",
        "X='a[$({0})]'; for ((i=X; i<0; i++)); do :; done",
        "export 'a[$({0})]=1'",
        "X='a[$({0})]'; test $X -eq 1",
    ),
    *(
        "X='a[$({0})]'; [[ $X -eq 1 ]]",
        "X='a[$({0})]'; echo $[X]",
        "PS4='$({0})'; set -x; :",
        "PS4='`{0}`' bash -xc :",
        "compgen -W '$({0})'",
        "compgen -W '`{0}`'",
        "f() {{ local 'a[$({0})]=1'; }}; f",
    ),
    *(
        "wait -p 'a[$({0})]' -n",
        "mapfile 'a[$({0})]' <<< 1",
        "readonly 'a[$({0})]=1'",
        "X='x[$({0})]' Y=X; echo $((Y))",
        "echo 'a[$({0})]' | {{ read X; echo $((X)); }}",
        "set -- 'a[$({0})]'; echo $(($1))",
    ),
)
CODE = (
    *(
        "python3 - <<E\nimport os; os.system({!r})\nE",
        "python3 <<E\nimport os; os.system({!r})\nE",
        "python3 -c 'import os; os.system(\"{0}\")'",
        "echo 'import os; os.system(\"{0}\")' | python3",
    ),
    *(
        "perl -e 'system(\"{0}\")'",
        "perl <<E\nsystem({!r})\nE",
        "awk 'BEGIN {{ system(\"{0}\") }}'",
        "awk 'BEGIN {{ \"{0}\" | getline }}'",
        "sed '1e {0}' <<< x",
        "perl -e 'exec split / /, \"{0}\"'",
    ),
    *(
        "awk -f /dev/stdin <<E\nBEGIN {{ system({!r}) }}\nE",
        "perl -pe '`{0}`' <<< x",
        "python3 <<< 'import os; os.system(\"{0}\")'",
        "make -f - <<E\nall:; {0}\nE",
        "sed -n 's/x/{0}/e' <<< x",
    ),
)
CONTEXTS = (
    *(
        "{}",
        "{}",
        "{}",
        "true; {}",
        "true && {}",
        "false || {}",
        "true & {}",
        "{} &",
        "true | {}",
        "{} | cat",
        "true |& {}",
        "true\n{}",
        "{}; true",
        "{} && true",
        "{}\ntrue",
    ),
    *(
        "({})",
        "( {} )",
        "{{ {}; }}",
        "{{ {}\n}}",
        "( ({}) )",
        "if true; then {}; fi",
        "if {}; then :; fi",
        "if false; then :; else {}; fi",
        "if false; then :; elif {}; then :; fi",
    ),
    *(
        "while {}; do break; done",
        "until {}; do break; done",
        "for i in 1; do {}; done",
        "for ((i=0; i<1; i++)); do {}; done",
        "case x in x) {};; esac",
        "case x in (x) {} ;; esac",
        "case x in\n x) {}\nesac",
    ),
    *(
        "f() {{ {}; }}; f",
        "f() ( {} ); f",
        "function f {{ {}; }}; f",
        "function f() {{ {}; }}; f",
        "f()\n{{\n{}\n}}\nf",
        "ls() {{ {}; }}; ls",
        "coproc {{ {}; }}; wait",
        "coproc ({}); wait",
        "time {{ {}; }}",
        "time ( {} )",
    ),
    *(
        "time -p {{ {}; }}",
        "! {{ {}; }}",
        "! ({})",
        "! if true; then {}; fi",
        "time if true; then {}; fi",
        "time while {}; do break; done",
        "[[ -n $({}) ]]",
        "[[ x = $({}) ]]",
        "(( $({}) + 1 ))",
        "[[ -z x || -n $({}) ]]",
    ),
    *(
        "echo $({})",
        'echo "$({})"',
        "echo `{}`",
        'echo "`{}`"',
        "echo ${{E:-$({})}}",
        'echo "${{E:-$({})}}"',
        "echo ${{E:-`{}`}}",
        'echo "${{E:-`{}`}}"',
        "echo ${{E:=$({})}}",
        "echo ${{R+`{}`}}",
        "echo ${{R/m/`{}`}}",
        "echo ${{R#`{}`}}",
    ),
    *(
        "echo ${{R/m/$({})}}",
        "echo ${{R:`{}`}}",
        "cat <({})",
        "cat ${{E:-<({})}}",
        "echo x > >({})",
        "tee >({}) <<< x",
        "echo $((1 + $({})))",
        "echo $((1 + `{}`))",
        "A=$({})",
        "A=`{}`",
        "A=($({}))",
        "A[$({})]=1",
        "export A=$({})",
        "local A=$({})",
    ),
    *(
        "cat <<E\n$({})\nE",
        "cat <<E\n`{}`\nE",
        "cat <<-E\n\t`{}`\n\tE",
        "cat <<E\n${{E:-`{}`}}\nE",
        "cat <<E\n${{E:-$({})}}\nE",
        "cat <<'E'\nx\nE\n{}",
        "cat <<E >f; {}\nx\nE",
        "cat <<E | cat && {}\nx\nE",
        "cat <<\\E\nx\nE\n{}",
        'cat <<"E"\n\'\nE\n{}',
    ),
    *(
        "cat <<A <<B\nx\nA\ny\nB\n{}",
        "cat <<< $({})",
        "cat <<< `{}`",
        'cat <<< "`{}`"',
        "# comment\n{}",
        "# comment \\\n{}",
        "true # comment \\\n{}",
        "echo a#b; {}",
        "echo \\\\\n{}",
        "echo 'a\\'\n{}",
        "# it's\n{}",
        'true # "\n{}',
        "echo $# ; {}",
        "echo ${{#R}}; {}",
    ),
    *(
        "echo a\\\n; {}",
        "select i in 1; do {}; break; done <<< 1",
        "true;{}",
        "true;;{}",
        "{} 2>&1 | cat",
        "{} > f 2>&1",
        "bash -c 'true'; {}",
        "exec 3>f; {}",
        "set -e; {}",
        "cd . && {}",
        "pushd . ; {}",
        "test -f f || {}",
        "[ 1 = 1 ] && {}",
    ),
    *(
        "echo $'\\'' ; {}",
        'echo "\\""; {}',
        'echo "\'"; {}; echo "\'"',
        "echo '\"'; {}; echo '\"'",
        "echo \\'; {}; echo \\'",
        "echo ')'; {}",
        "( echo \\); {} )",
        "echo $(echo ')'; {})",
        "echo $(case x in x) {};; esac)",
        'echo "$(echo "a"; {})"',
    ),
    *(
        "{{ {}; }} 2>&1",
        "({}) > f",
        "while read l; do {}; done <<< x",
        "for i in a b; do {} & done; wait",
        "if ! {}; then :; fi",
        "true && ! {}",
        "shopt -s extglob; echo !(x); {}",
        "echo {{a,b}}; {}",
        "echo $[1+1]; {}",
        "echo ~; {}",
        "a=1 b=2; {}",
    ),
)
PREFIXES = (
    "A=1 ",
    "A=1 B=2 ",
    "A= ",
    "A=$(true) ",
    "A='x y' ",
    ">f ",
    "2>&1 ",
    "<f ",
    "2>/dev/null ",
    ">f 2>&1 ",
    "&>f ",
    ">|f ",
    "<<<x ",
    "3<>f ",
    "A+=1 ",
    "A=(1) ",
    "{fd}>f ",
)
REDIRECTIONS = (
    "2>&1",
    ">f",
    "<f",
    "2>/dev/null",
    ">>f",
    "&>f",
    ">&2",
    "<<<x",
    ">|f",
    "3>f",
    "> f",
    "2> f",
    "<&-",
)
MARKS = (
    "'",
    '"',
    "\\",
    "$",
    "`",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "&",
    "|",
    "<",
    ">",
    "\n",
    " ",
    "\t",
    "#",
    "!",
    "=",
    "~",
    "*",
    "\\\n",
    "$(",
    "<<",
    "\r",
    "\f",
    "é",
    "\u00a0",
)


class Lines:
    """Makes lines; the same seed makes the same."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def line(self) -> str:
        """Return a line."""
        pick = self._chance.random()
        line = self._within(self._part(self._chance.randint(0, 3)), self._chance.randint(0, 2))
        if pick < 0.2:
            line = self._disturbed(line)
        return line

    def _any(self, of: Sequence[str]) -> str:
        return self._chance.choice(of)

    def _part(self, depth: int) -> str:
        """Return a command that runs it, some way."""
        pick = self._chance.random()
        if depth <= 0 or pick < 0.2:
            return self._plain()
        inner = self._part(depth - 1)
        if pick < 0.55:
            return self._redirected(self._any(RUNNERS).format(inner))
        if pick < 0.8:
            return self._any(QUOTED).format(self._quote(inner))
        if pick < 0.88:
            return self._any(EVALUATED).format(self._plain() if "'" in inner else inner)
        if pick < 0.93:
            return self._any(CODE).format("rm x")
        if pick < 0.95:
            # of a program that nobody knows the arguments are compared as they are
            return f"{self._any(UNKNOWN_RUNNERS)} rm x"
        return self._within(inner, 1)

    def _plain(self) -> str:
        line = self._redirected(f"{self._any(NAMES)} {self._any(ARGUMENTS)}")
        return self._any(PREFIXES) + line if self._chance.random() < 0.15 else line

    def _redirected(self, line: str) -> str:
        """Put a redirection between two words."""
        if self._chance.random() > 0.15 or "\n" in line:
            return line
        words = line.split(" ")
        words.insert(self._chance.randint(1, len(words)), self._any(REDIRECTIONS))
        return " ".join(words)

    def _within(self, line: str, depth: int) -> str:
        for _ in range(depth):
            line = self._any(CONTEXTS).format(line)
        return line

    def _quote(self, line: str) -> str:
        match self._chance.randint(0, 3):
            case 0:
                return (
                    '"'
                    + line.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
                    + '"'
                )
            case 1:
                return "$'" + line.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
            case _:
                return shlex.quote(line)

    def _disturbed(self, line: str) -> str:
        for _ in range(self._chance.randint(1, 2)):
            at = self._chance.randint(0, len(line))
            match self._chance.randint(0, 3):
                case 0:
                    line = line[:at] + line[at + 1 :]
                case _:
                    line = line[:at] + self._any(MARKS) + line[at:]
        return line


RUNNER = """#!/bin/dash
while :; do case "$1" in -u|-nu) shift 2;; -*|*=*|exec|run|/|.|root|c|it|new|host) shift;; *) break;; esac; done
case $# in 0) ;; 1) exec sh -c "$1";; *) exec "$@";; esac
"""
"""Stands for runners that are not installed: drops options, with the value of -u, and runs the rest."""

STAND_INS = (
    "unknown-runner",
    *(
        "sudo",
        "doas",
        "npx",
        "npm",
        "docker",
        "run0",
        "bwrap",
        "systemd-run",
        "proxychains4",
        "gosu",
        "direnv",
    ),
    *("nix-shell", "uv", "poetry", "watch", "su", "tmux", "ssh", "parallel", "ltrace"),
)
REAL = (
    *(
        "env",
        "nohup",
        "nice",
        "timeout",
        "stdbuf",
        "setsid",
        "flock",
        "chrt",
        "ionice",
        "taskset",
        "prlimit",
        "setarch",
        "linux64",
        "choom",
    ),
    *(
        "xargs",
        "find",
        "setpriv",
        "sh",
        "bash",
        "dash",
        "cat",
        "tee",
        "true",
        "false",
        "echo",
        "printf",
        "awk",
        "sed",
        "perl",
        "make",
        "script",
        "git",
        "test",
        "[",
    ),
    *("cp", "mv", "ln", "install", "tar", "dd", "gzip", "gunzip", "sort", "split", "patch", "base64", "curl", "node", "rsync", "cpio", "mkdir", "chmod", "head", "xxd", "rename"),
)  # fmt: skip

WRITES = (
    *("cp stub/rm {d}{f}", "cp -p stub/rm {d}{f}", "mv stub/rm {d}{f}", "ln -s $PWD/stub/rm {d}{f}", "ln stub/rm {d}{f}", "install -m 755 stub/rm {d}{f}", "dd if=stub/rm of={d}{f}"),
    *("cp stub/rm {f}; mv {f} {d}", "rsync stub/rm {d}{f}", "curl -so {d}{f} file://$PWD/stub/rm", "curl -s file://$PWD/stub/rm > {d}{f}", "cat stub/rm > {d}{f}", "cat < stub/rm > {d}{f}"),
    *("tee {d}{f} < stub/rm", "cat stub/rm | tee -a {d}{f}", "sed -n 'w {d}{f}' stub/rm", "sed 's/^#!.*//w{d}{f}' stub/rm; cp stub/rm {d}{f}", "awk '{{ print > \"{d}{f}\" }}' stub/rm", "sort -o {d}{f} stub/rm"),
    *("base64 stub/rm | base64 -d > {d}{f}", "gzip -c stub/rm > {d}{f}.gz; gunzip {d}{f}.gz", "head -n 9 stub/rm > {d}{f}", "sed s/q/q/ stub/rm > {d}{f}", "find stub -name rm -fprintf {d}{f} 'rm x\\n'"),
    *("python3 -c \"import shutil; shutil.copy('stub/rm', '{d}{f}')\"", "python3 - <<'E'\nopen('{d}{f}', 'w').write(open('stub/rm').read())\nE", "perl -pe 's/q/q/' stub/rm > {d}{f}"),
    *("tar c --transform='s,rm,{f},' -C stub rm | tar x -C ./{d}", "tar cf t.tar --transform='s,rm,{f},' -C stub rm; tar -xf t.tar -C ./{d}", "printf 'rm\\n' | (cd stub; cpio -o) | (cd ./{d}; cpio -i; mv rm {f})"),
    *("split -l 99 --additional-suffix=.sh stub/rm {d}x; cp {d}xaa.sh {d}{f}", "git init -q g; cp stub/rm g/{f}; git -C g add .; git -C g -c user.name=a -c user.email=a@b.c commit -qm m; git clone -q g h; cp h/{f} ./{d}"),
    *("git diff --no-index --output=p /dev/null stub/rm; git apply --unsafe-paths -p2 --include=rm p; mv rm {d}{f}", "git diff --no-index /dev/null stub/rm | patch -p0 {d}{f}", "unknown-runner cp stub/rm {d}{f}"),
    *("sudo cp stub/rm {d}{f}", "cp stub/* ./{d}; mv {d}rm {d}{f}", "cp -r stub/. ./{d}; mv {d}rm {d}{f}", "cp -t ./{d} stub/rm; mv {d}rm {d}{f}", "sh -c 'cp stub/rm {d}{f}'", "find stub -name rm -exec cp '{{}}' {d}{f} ';'"),
    *("echo stub/rm | xargs -I Z cp Z {d}{f}", "eval 'cp stub/rm {d}{f}'", "C=cp; $C stub/rm {d}{f}", "cp stub/rm $PWD/{d}{f}", "F={d}{f}; cp stub/rm $F", "for s in stub/rm; do cp $s {d}{f}; done", "c\\\np stub/rm {d}{f}", "{{ cat stub/rm; }} > {d}{f}"),
)  # fmt: skip
"""What has a file say `rm x`, or be `rm`: {f} in {d}."""
RUNS = (
    *("sh {d}{f} x", "bash {d}{f}", "bash -x ./{d}{f}", ". ./{d}{f}", "source ./{d}{f}", "chmod +x {d}{f}; ./{d}{f} x", "env sh {d}{f}", "sudo sh ./{d}{f}", "timeout 5 sh {d}{f}", "sh -c '. ./{d}{f}'"),
    *("cd ./{d}; sh {f}", "(cd ./{d} && bash {f})", "exec sh {d}{f}", "sh $PWD/{d}{f}", "sh {d}*f*", "X={d}{f}; sh $X", "xargs sh {d}{f} < /dev/null", "PATH=$PWD/{d}:$PATH; chmod +x {d}{f}; {f} x", "dash < {d}{f}", "cat {d}{f} | sh"),
    *("if sh {d}{f}; then :; fi", "f() {{ sh {d}{f}; }}; f", "echo $(sh {d}{f})", "find ./{d} -name {f} -exec sh '{{}}' ';'", "eval 'sh {d}{f}'", "bash --rcfile {d}{f} -ic :", "BASH_ENV={d}{f} bash -c :", "coproc sh {d}{f}; wait", "command . ./{d}{f}"),
)  # fmt: skip
"""What runs it."""


def written_and_run(seed: int, count: int) -> list[str]:
    """Return lines that write a file by some program and run it."""
    chance = random.Random(seed)
    lines = []
    for _ in range(count):
        place = {"f": chance.choice(("ff", "ff.sh", "f-f", "run-ff")), "d": chance.choice(("", "", "tools/"))}
        write, run = (chance.choice(of).format(**place) for of in (WRITES, RUNS))
        join = chance.choice(("; ", " && ", "\n")) if "\nE" not in write else "\n"
        lines.append(
            chance.choice(("{}", "{}", "({})", "true; {}", "{{ {}\n}}")).format(f"{write}{join}{run}")
        )
    return lines


def made_ready(folder: Path) -> None:
    """Make a folder in which shells find the commands of these lines, and an `rm` that only leaves a trace."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    (folder / "here" / "stub").mkdir(parents=True)
    (folder / "here" / "tools").mkdir()
    (folder / "traces").mkdir()
    # a line may set LINE; a name that is no number would lead elsewhere
    trace = f'#!/bin/dash\ncase "$LINE" in ""|*[!0-9]*) ;; *) : > {folder}/traces/"$LINE";; esac\n'
    for name, text in [
        *((name, RUNNER) for name in STAND_INS),
        *(("../here/tools/runner", RUNNER), ("rm", trace), ("../here/stub/rm", trace)),
    ]:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    for name in REAL:
        if (found := shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")) is not None:
            (programs / name).symlink_to(found)
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    (programs / "python3").symlink_to(os.path.realpath(python))


def ran(lines: Sequence[str], shell: str) -> set[int]:
    """Run lines in a shell, each by itself; return the numbers of those that ran `rm`."""
    # not where pytest makes folders, which other users cannot enter
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        made_ready(folder)
        subprocess.run(
            [sys.executable, "-I", str(Path(__file__).with_name("shell_driver.py")), shell],
            input=b"".join(line.encode() + b"\0" for line in lines),
            cwd=folder / "here",
            env={
                "PATH": str(folder / "programs"),
                "HOME": str(folder / "here"),
                "LC_ALL": "C.UTF-8",
                "FUNCNEST": "9",
            },
            check=True,
            timeout=3600,
        )
        return {int(path.name) for path in (folder / "traces").iterdir()}
