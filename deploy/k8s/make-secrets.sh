#!/bin/sh
# From the file with all secrets, what each workload may read of it: one file for each Secret, in FOLDER. NATS reads files
# in the form of its configuration, so its Secret is made of a folder.
#   sh deploy/k8s/make-secrets.sh FILE FOLDER
# They are as secret as FILE. components/external-secrets says the same for the External Secrets operator; a test compares them.
set -eu
umask 077

file=${1:?"the file with all secrets"}
folder=${2:?"a folder for what is made of it"}
mkdir -p "$folder/nats"

value() {
  found=$(sed -n "s/^$1=//p" "$file")
  [ -n "$found" ] || { echo "$file has no $1" >&2; exit 1; }
  printf '%s' "$found"
}

# A Secret, and its keys: the setting of the workload, and where it is called otherwise the name in FILE.
secret() {
  made=$folder/$1.env
  shift
  : > "$made"
  for key; do
    text=$(value "${key#*=}")
    printf '%s=%s\n' "${key%%=*}" "$text" >> "$made"
  done
}

# A file of NATS' configuration: its name, the field, and the name in FILE.
nats() {
  text=$(value "$3")
  printf '%s: "%s"' "$2" "$text" > "$folder/nats/$1.conf"
}

secret gateway DATABASE_PASSWORD=DATABASE_PASSWORD_GATEWAY NATS_PASSWORD=NATS_PASSWORD_GATEWAY \
  MASTER_KEYS=MASTER_KEYS_GATEWAY
# The same process as the gateway's for PostgreSQL, and another for the broker.
secret providers DATABASE_PASSWORD=DATABASE_PASSWORD_GATEWAY NATS_PASSWORD=NATS_PASSWORD_PROVIDERS \
  MASTER_KEYS=MASTER_KEYS_GATEWAY
secret players DATABASE_PASSWORD=DATABASE_PASSWORD_PLAYERS NATS_PASSWORD=NATS_PASSWORD_PLAYERS \
  MASTER_KEYS=MASTER_KEYS_PLAYERS GAME_PROVIDER_TOKEN
secret wallet DATABASE_PASSWORD=DATABASE_PASSWORD_WALLET NATS_PASSWORD=NATS_PASSWORD_WALLET
secret payments DATABASE_PASSWORD=DATABASE_PASSWORD_PAYMENTS NATS_PASSWORD=NATS_PASSWORD_PAYMENTS \
  MASTER_KEYS=MASTER_KEYS_PAYMENTS
secret webhooks DATABASE_PASSWORD=DATABASE_PASSWORD_WEBHOOKS NATS_PASSWORD=NATS_PASSWORD_WEBHOOKS \
  MASTER_KEYS=MASTER_KEYS_WEBHOOKS
secret reconciler DATABASE_PASSWORD=DATABASE_PASSWORD_RECONCILER NATS_PASSWORD=NATS_PASSWORD_RECONCILER \
  HEADS_ACCESS_KEY_ID=HEADS_ACCESS_KEY_ID_RECONCILER HEADS_SECRET_ACCESS_KEY=HEADS_SECRET_ACCESS_KEY_RECONCILER
secret games DATABASE_PASSWORD=DATABASE_PASSWORD_GAMES GAMES_PROVIDER_KEY GAMES_PROVIDER_SECRET
secret console NATS_PASSWORD=NATS_PASSWORD_CONSOLE CONSOLE_CLIENT_SECRET CONSOLE_SESSION_KEYS
secret migrate NATS_PASSWORD=NATS_PASSWORD_STREAMS DATABASE_PASSWORD_ADMIN DATABASE_PASSWORD_GATEWAY \
  DATABASE_PASSWORD_PLAYERS DATABASE_PASSWORD_WALLET DATABASE_PASSWORD_PAYMENTS DATABASE_PASSWORD_WEBHOOKS \
  DATABASE_PASSWORD_RECONCILER DATABASE_PASSWORD_GAMES
secret streams NATS_PASSWORD=NATS_PASSWORD_STREAMS
# Of PostgreSQL in the cluster.
secret postgres-admin password=DATABASE_PASSWORD_ADMIN
printf 'username=backoffice_admin\n' >> "$folder/postgres-admin.env"

for user in gateway players providers wallet payments webhooks reconciler streams console; do
  nats "$user" password "NATS_PASSWORD_$(printf '%s' "$user" | tr '[:lower:]' '[:upper:]')"
done
nats store-key key NATS_STORE_KEY
