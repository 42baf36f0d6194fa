#!/bin/sh
# Makes the key of a machine that acts for the team: the private key into KEY_FILE, as a JWK that the command line reads
# (TEAM_MACHINE_KEY_FILE), and on standard output what TEAM_MACHINES_FILE says of it.
#   sh deploy/docker/make-machine.sh NAME KEY_FILE ROLE…      roles: compliance, finance, integration, support, auditor
# It needs openssl 1.1.1 or newer.
set -eu
umask 077

name=${1:?"a name, as the audit trail is to show it"}
file=${2:?"a file for the private key"}
[ $# -gt 2 ] || { echo "give it at least one role" >&2; exit 1; }
shift 2

private=$(mktemp -p "$(dirname "$file")")
trap 'rm -f "$private" "$private.jwk"' EXIT
openssl genpkey -algorithm ed25519 -outform DER -out "$private"
# In both forms of the key the last 32 bytes are the key itself.
url64() { tail -c 32 | base64 | tr -d '=\n' | tr '+/' '-_'; }
d=$(url64 < "$private")
x=$(openssl pkey -inform DER -in "$private" -pubout -outform DER | url64)

printf '{"kty":"OKP","crv":"Ed25519","x":"%s","d":"%s"}\n' "$x" "$d" > "$private.jwk"
# A link is made only where nothing is yet.
ln "$private.jwk" "$file" 2>/dev/null || {
  echo "$file is there, or cannot be written: nothing is changed." >&2
  exit 1
}
roles=$(printf ',"%s"' "$@")
printf '[{"name":"%s","publicKey":{"kty":"OKP","crv":"Ed25519","x":"%s"},"roles":[%s]}]\n' "$name" "$x" "${roles#,}"
