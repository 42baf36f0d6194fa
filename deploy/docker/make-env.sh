#!/bin/sh
# Prints .env.example, or the file that is named, with a new random value wherever it is empty:
#   (umask 077 && sh deploy/docker/make-env.sh > deploy/docker/.env)
set -eu

random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

while IFS= read -r line; do
  case "$line" in
    MASTER_KEYS*=) printf '%sfirst:%s\n' "$line" "$(head -c 32 /dev/urandom | base64)" ;;
    # A letter first and no punctuation: safe in a URL and in nats-server's configuration.
    [A-Z]*=) printf '%sp%s\n' "$line" "$(random 18)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "${1:-$(dirname "$0")/.env.example}"
