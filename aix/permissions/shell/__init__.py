"""Shell commands, split into the programs that they run.

A text is read with the grammar of bash (tree-sitter-bash). What the grammar is known to misread is overwritten first
(`masking`), here-documents are read apart, and the tokens are read as well (`tokens`): where they show a
program that the grammar lost, or it finds no valid shell, they alone count and the answer is not whole. Plain texts
need no grammar (`reading`).

What is decided here:

- A word has its quotes and escapes resolved and keeps expansions as they are written: `$x`, `$(date)`, `{a,b}`.
- The program is the last part of the path of the first word; the words stay as they are. Case counts.
- A command comes before those in its substitutions. An expanded here-document runs its substitutions, a quoted one
  nothing; text that a shell reads from a here-document or a pipe is not looked into here, but by `indirect`.
- `[` and `test` are programs, and so are `export`, `declare` and `unset`; `[[ … ]]`, `(( … ))` and assignments alone
  are not. The commands of a function count where it is defined.
- Looked through: sudo, doas, env (`-S` too), xargs, timeout, nice, ionice, nohup, setsid, stdbuf, unbuffer, caffeinate,
  time, command, builtin, noglob, exec, coproc, busybox, watch, eval, `sh -c` and its like, and `find -exec`, a command
  itself too. Without a program to run (`sudo -l`, `command -v git`) they stand for themselves, and so does a script of
  which nothing is known before it runs (`eval "$x"`). `time` before a loop or group is left out.
- Not looked through, because what they run runs elsewhere, as somebody else, or is no shell: ssh, su, chroot,
  `docker exec`, `kubectl exec`, `python -c`, npx, `uv run`, parallel, trap. `indirect` says what these run, for audits
  of risks, and what variables make of a command.
- `FOO=1` before a wrapper, and assignments given to `sudo` and `env`, belong to the program behind it; so do
  redirections.
- A line may end with CR LF. Any other control character is a part of its word.
"""

from aix.permissions.shell.masking import command_substitutions
from aix.permissions.shell.splitting import split
from aix.permissions.shell.words import Command, Redirect, Script, SimpleCommand

__all__ = ["Command", "Redirect", "Script", "SimpleCommand", "command_substitutions", "split"]
