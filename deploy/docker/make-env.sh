#!/bin/sh
# Writes the file of secrets: .env.example, or the example that is named, with a new random value wherever it is empty.
#   sh deploy/docker/make-env.sh                       writes deploy/docker/.env, and the key of a first machine beside it
#   sh deploy/docker/make-env.sh FILE [EXAMPLE]
# A file that is there stays as it is: with other MASTER_KEYS nobody can read what is encrypted with these.
set -eu
umask 077

here=$(dirname "$0")
file=${1:-$here/.env}
example=${2:-$here/.env.example}

random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

filled=$(mktemp -p "$(dirname "$file")")
trap 'rm -f "$filled"' EXIT
while IFS= read -r line; do
  case "$line" in
    CONSOLE_SESSION_KEYS=) printf '%s%s\n' "$line" "$(head -c 32 /dev/urandom | base64)" ;;
    MASTER_KEYS*=) printf '%sfirst:%s\n' "$line" "$(head -c 32 /dev/urandom | base64)" ;;
    # A letter first and no punctuation: safe in a URL and in nats-server's configuration.
    [A-Z]*=) printf '%sp%s\n' "$line" "$(random 18)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "$example" > "$filled"
# A link is made only where nothing is yet, and at once: the file is never there by half.
ln "$filled" "$file" 2>/dev/null || {
  echo "$file is there, or cannot be written: nothing is changed. Its keys are needed to read what is stored." >&2
  exit 1
}

# With it the first operator can be made before anybody of the team can log in. What is public, every container may read.
if [ $# -eq 0 ] && [ ! -e "$here/machine-key.json" ]; then
  sh "$here/make-machine.sh" first-machine "$here/machine-key.json" integration > "$here/machines.json"
  chmod 644 "$here/machines.json"
fi
