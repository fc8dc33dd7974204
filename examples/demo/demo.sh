#!/usr/bin/env bash
# Runs real work in the sandbox, on a clone of this repository, then four things that must be refused.
# Everything happens in one scratch directory, which is removed at the end.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
sandboxctl=$repo/bin/sandboxctl
work=$(mktemp -d /var/tmp/sandboxctl-demo.XXXXXX)
trap 'chmod -R u+w "$work" 2>/dev/null || true; rm -rf "$work"' EXIT

modcache=$(go env GOMODCACHE)
export HOME=$work/home
project=$HOME/project
mkdir -p "$HOME/.ssh"
echo 'PRIVATE KEY' >"$HOME/.ssh/id_ed25519"
git clone -q --local --no-hardlinks "$repo" "$project" 2>/dev/null || git clone -q "file://$repo" "$project"
git -C "$project" config user.name demo
git -C "$project" config user.email demo@example.com
cat >"$work/settings.json" <<'J'
{
  "filesystem": {
    "denyRead": ["~/.ssh"],
    "allowWrite": ["."],
    "denyWrite": []
  },
  "network": { "allowedDomains": [], "deniedDomains": [] }
}
J
cd "$project"

progress() { if [ -t 2 ]; then printf '\r\033[K%s …' "$1" >&2; fi; }
rows=()
failed=0
row() { rows+=("$1"$'\t'"$2"$'\t'"$3"); }

# works NAME COMMAND: has to succeed.
works() {
  local name=$1 out
  shift
  progress "$name"
  if out=$("$sandboxctl" run --quiet --settings "$work/settings.json" --env GOFLAGS=-mod=mod --env GOPROXY=off --env GOTOOLCHAIN=local \
    --env "GOMODCACHE=$modcache" --env GOCACHE=/tmp/gocache --env CGO_ENABLED=0 -c "$*" 2>&1); then
    row "$name" done -
  else
    row "$name" "FAILED: $(tail -n 1 <<<"$out")" -
    failed=1
  fi
}

# refused NAME LAYER COMMAND: has to fail, and CHECK has to show that nothing happened.
refused() {
  local name=$1 layer=$2 check=$3 out
  shift 3
  progress "$name"
  if out=$("$sandboxctl" run --quiet --settings "$work/settings.json" -c "$*" 2>&1); then
    row "$name" "NOT REFUSED" "$layer"
    failed=1
  elif ! (eval "$check") >/dev/null 2>&1 || grep -q 'PRIVATE KEY' <<<"$out"; then
    row "$name" "GOT THROUGH" "$layer"
    failed=1
  else
    row "$name" "refused: $(tail -n 1 <<<"$out" | sed 's/.*: //')" "$layer"
  fi
}

works 'git status' 'git status --short'
works 'edit a file and commit it' 'echo "// edited in the sandbox" >>evaluator/doc.go && git commit -qam "edit in the sandbox"'
works 'search with rg' 'rg -q "package evaluator" .'
works 'go build, offline' 'go build ./evaluator'

refused 'read a planted secret' 'mounts' true 'cat ~/.ssh/id_ed25519'
refused 'write outside the project' 'mounts, landlock' '[ ! -e ~/.profile ]' 'echo evil >~/.profile'
refused 'plant a git hook' 'mounts' '[ ! -e .git/hooks/pre-commit ]' 'echo evil >.git/hooks/pre-commit'
refused 'open a connection' 'network namespace' true 'python3 -c "import socket; socket.create_connection((\"192.0.2.1\", 443), 2)"'

printf '\n%s\n' "$("$sandboxctl" version)"
if [ -t 2 ]; then printf '\r\033[K' >&2; fi
printf '%-26s %-44s %s\n' WHAT OUTCOME 'REFUSED BY'
for r in "${rows[@]}"; do
  IFS=$'\t' read -r what outcome layer <<<"$r"
  printf '%-26s %-44s %s\n' "$what" "$outcome" "$layer"
done
exit $failed
