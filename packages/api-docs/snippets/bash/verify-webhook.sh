#!/usr/bin/env bash
# Bash with openssl.
#   WEBHOOK_SECRET=… bash verify-webhook.sh "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
set -euo pipefail

# verify_webhook SECRET TIMESTAMP SIGNATURE [TOLERANCE_SECONDS [NOW_SECONDS]], with the raw body on standard input.
# Deduplicate on the id in the verified body.
verify_webhook() {
  local expected age tolerance=${4:-300} now=${5:-$(date +%s)}
  # Whoever recorded a delivery cannot send it again later.
  [[ $2 =~ ^[0-9]{1,12}$ ]] || return 1
  age=$((now - 10#$2))
  [ "${age#-}" -le "$tolerance" ] || return 1
  expected=$({ printf '%s.' "$2"; cat; } | openssl dgst -sha256 -hmac "$1" | sed 's/^.* //')
  # Hashing both first hides, from the time that the comparison takes, where they differ.
  [ "$(printf '%s' "$expected" | openssl dgst -sha256)" = "$(printf '%s' "$3" | openssl dgst -sha256)" ]
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  if [ $# -lt 2 ] || [ -z "${WEBHOOK_SECRET-}" ]; then
    echo 'usage: WEBHOOK_SECRET=... bash verify-webhook.sh TIMESTAMP SIGNATURE < raw-body' >&2
    exit 2
  fi
  if verify_webhook "$WEBHOOK_SECRET" "$1" "$2"; then echo valid; else echo INVALID; exit 1; fi
fi
