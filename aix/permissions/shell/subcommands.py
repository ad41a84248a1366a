"""Programs whose first operand names what they do."""

import re
from collections.abc import Sequence

_CONTAINERS = "-H --host --context -c --config -l --log-level --tlscacert --tlscert --tlskey --url --connection"
_COMPOSE = "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel"
_NODE = "--prefix -C --dir --cwd -w --workspace -F --filter --registry --userconfig --cache --loglevel"

_VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "nerdctl": f"{_CONTAINERS} -n --namespace -a --address",
    "docker-compose": _COMPOSE,
    "podman-compose": _COMPOSE,
    "kubectl": "-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group --as-uid"
    " --request-timeout --cache-dir --certificate-authority --client-certificate --client-key --tls-server-name"
    " --password --username --profile --profile-output -v --v",
    "oc": "-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group",
    "helm": "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config"
    " --repository-cache --repository-config",
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "bun": "--cwd --config -c --env-file",
    "cargo": "-C -Z --config --color",
    "pip": "--python --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir"
    " --keyring-provider",
    "uv": "--directory --project --cache-dir --config-file --color",
    "poetry": "-C --directory -P --project",
    "apt": "-o --option -c --config-file -t --target-release",
    "apt-get": "-o --option -c --config-file -t --target-release",
    "apt-cache": "-o --option -c --config-file",
    "dnf": "-c --config --installroot --releasever --enablerepo --disablerepo --repo",
    "yum": "-c --config --installroot --releasever --enablerepo --disablerepo",
    "apk": "-p --root -X --repository --keys-dir --repositories-file",
    "zypper": "-c --config -R --root",
    "go": "-C",
    "gh": "-R --repo --hostname",
    "glab": "-R --repo",
    "aws": "--profile --region --output --endpoint-url --query --ca-bundle --cli-read-timeout --cli-connect-timeout"
    " --color",
    "gcloud": "--project --account --configuration --format --verbosity --billing-project"
    " --impersonate-service-account",
    "az": "--subscription --output -o --query",
    "systemctl": "-H --host -M --machine -t --type -p --property -n --lines -o --output --root --state -s --signal",
    "composer": "-d --working-dir",
    "tmux": "-L -S -f -c -T",
    "adb": "-s -t -H -P -L",
    "hg": "-R --repository --cwd --config --encoding",
    "svn": "--username --password --config-dir",
    "jj": "-R --repository --at-operation --at-op --config --color",
    "nix": "--option --log-format --extra-experimental-features --experimental-features",
    "rclone": "--config --log-file --log-level",
    "restic": "-r --repo -p --password-file -o --option --cache-dir",
    "conda": "",
    "bundle": "",
    "terraform": "",
}
_PLAIN = (
    "act alembic argocd asdf brew buf cdk choco circleci consul corepack crane dart deno"
    " direnv doctl dotnet eas eb expo fastlane firebase flatpak fly flyctl flutter fnm gem ghcup hatch heroku hugo"
    " istioctl jupyter k3d kind kustomize launchctl lerna loginctl mamba micromamba minikube mise mix netlify ng nmcli"
    " nomad nvm nx okteto ollama opam openstack packer pdm pipenv pipx pixi pre-commit prisma"
    " pulumi pyenv rails railway rbenv ruff rustup rye sam scoop serverless skaffold sls snap snyk"
    " sqlx stack supabase swift terragrunt timedatectl tofu trivy turbo twine ufw vagrant vault vercel volta winget"
    " wrangler xcode-select"
)
_OPTIONS: dict[str, frozenset[str]] = {
    **{name: frozenset[str]() for name in _PLAIN.split()},
    **{name: frozenset(options.split()) for name, options in _VALUED.items()},
}
_VERSIONED = re.compile(r"(pip)[0-9.]+|(.+)\.(?:exe|cmd)")


def subcommand(program: str, words: Sequence[str]) -> str | None:
    """Return what a program is told to do by its first operand, when it is a program with subcommands."""
    valued = _OPTIONS.get(program)
    if valued is None:
        versioned = _VERSIONED.fullmatch(program)
        valued = _OPTIONS.get(versioned[1] or versioned[2]) if versioned else None
        if valued is None:
            return None
    position = 1
    while position < len(words):
        word = words[position]
        if word in valued:
            position += 2
        elif word == "--":
            return words[position + 1] if position + 1 < len(words) else None
        elif word[:1] in ("-", "+") or not word:
            position += 1
        else:
            return word
    return None
