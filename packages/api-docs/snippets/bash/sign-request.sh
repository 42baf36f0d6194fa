#!/usr/bin/env bash
# Bash with openssl and curl.
#   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… bash sign-request.sh GET /me
#   … bash sign-request.sh POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
set -euo pipefail

# sign_request SECRET METHOD PATH TIMESTAMP BODY
# PATH is what is really sent: with the /api/v1 prefix and the query string. BODY is empty when there is none.
sign_request() {
  local body_sha256
  body_sha256=$(printf '%s' "$5" | openssl dgst -sha256 | sed 's/^.* //')
  printf '%s\n%s\n%s\n%s' "$2" "$3" "$4" "$body_sha256" | openssl dgst -sha256 -hmac "$1" | sed 's/^.* //'
}

main() {
  if [ $# -lt 2 ] || [ -z "${BASE_URL-}" ] || [ -z "${OPERATOR_KEY-}" ] || [ -z "${OPERATOR_SECRET-}" ]; then
    echo 'usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... bash sign-request.sh METHOD PATH [BODY [IDEMPOTENCY_KEY]]' >&2
    exit 2
  fi
  local method=$1 url=$BASE_URL$2 body=${3-} idempotency_key=${4-} timestamp path
  timestamp=$(date +%s)
  path=/$(printf '%s' "$url" | cut -d/ -f4-)
  local arguments=(--silent --show-error --request "$method" --path-as-is --write-out '\n%{http_code}\n'
    --header "X-Operator-Key: $OPERATOR_KEY"
    --header "X-Timestamp: $timestamp"
    --header "X-Signature: $(sign_request "$OPERATOR_SECRET" "$method" "$path" "$timestamp" "$body")")
  if [ -n "$body" ]; then arguments+=(--header 'Content-Type: application/json' --data-binary "$body"); fi
  if [ -n "$idempotency_key" ]; then arguments+=(--header "Idempotency-Key: $idempotency_key"); fi
  curl "${arguments[@]}" "$url"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
