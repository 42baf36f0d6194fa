#!/bin/sh
# A cluster from nothing, on any machine with Docker, kind 0.32, kubectl, helm, the command line of AWS and this repository
# installed (16 GiB, 4 cores): three nodes as zones, the prerequisites, production's own overlay, an operator's first deposit
# through the gateway, the books compared; then what breaks in a year, with the failed requests of each counted; then back to
# an earlier moment.
#
#   sh test/cluster/run.sh              all of it, and the cluster goes at the end (KEEP=true leaves it)
#   sh test/cluster/run.sh faults       one step: create images prerequisites deploy journey faults restore delete
#
# NOT RUN where it was written: there was no container engine and no API server. What cluster.test.ts runs there: `npm run smoke`
# against all services on loopback, and the overlay, which it builds. kind's volumes have no
# bound, so those of a node lie in a file system of 12 GiB, made by sudo. WEBHOOK_URL, a public https address of yours, adds a
# webhook to it.
set -eu

cluster=${CLUSTER:-backoffice-test}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${WORK:-/tmp/$cluster}
overlay=$work/test/cluster
k8s=$work/deploy/k8s
address=https://api.backoffice.example:30443
export KUBECONFIG="$work/kubeconfig"
services="gateway players wallet payments webhooks reconciler"
component=app.kubernetes.io/component

say() { printf '%s\n' "== $(date -u +%H:%M:%S) $*" >&2; }
in_ns() { kubectl -n backoffice "$@"; }
primary() { in_ns get cluster "$1" -o 'jsonpath={.status.currentPrimary}'; }
sql() { in_ns exec "$(primary "$1")" -c postgres -- psql -At -d backoffice -c "$2"; }

create() {
  mkdir -p "$work/test"
  for zone in a b c; do
    mkdir -p "$work/volumes-$zone"
    truncate -s 12G "$work/volumes-$zone.img"
    mkfs.ext4 -q -F "$work/volumes-$zone.img"
    sudo mount -o loop "$work/volumes-$zone.img" "$work/volumes-$zone"
  done
  cp -R "$root/deploy" "$work/"
  cp -R "$root/test/cluster" "$work/test/"
  kind create cluster --name "$cluster" --kubeconfig "$KUBECONFIG" --wait 5m --config - <<KIND
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    image: &image kindest/node:v1.36.1@sha256:3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5
  - { role: worker, image: *image, labels: { topology.kubernetes.io/zone: a }, extraMounts: [{ hostPath: $work/volumes-a, containerPath: /var/local-path-provisioner }] }
  - { role: worker, image: *image, labels: { topology.kubernetes.io/zone: b }, extraMounts: [{ hostPath: $work/volumes-b, containerPath: /var/local-path-provisioner }] }
  - { role: worker, image: *image, labels: { topology.kubernetes.io/zone: c }, extraMounts: [{ hostPath: $work/volumes-c, containerPath: /var/local-path-provisioner }] }
KIND
}

# Two releases, of the same programs: what rolls is what is new to the cluster.
images() {
  for target in $services games console migrate; do
    docker build -q -f "$root/deploy/docker/Dockerfile" --target "$target" -t "backoffice/$target:first" "$root"
    docker tag "backoffice/$target:first" "backoffice/$target:second"
    kind load docker-image --name "$cluster" "backoffice/$target:first" "backoffice/$target:second"
  done
}

prerequisites() {
  # Nobody is called.
  sed -i 's/\.example/.invalid/' "$k8s/../telemetry/alertmanager.yaml"
  kubectl create namespace monitoring --dry-run=client -o yaml | kubectl apply -f -
  kubectl -n monitoring create secret generic pager --from-literal=routing-key=none --dry-run=client -o yaml | kubectl apply -f -
  KUBELET_INSECURE_TLS=true sh "$k8s/prerequisites/install.sh" metrics-server gateway-api envoy-gateway cert-manager \
    trust-manager cloudnative-pg barman-cloud monitoring external-secrets
  kubectl -n monitoring rollout status statefulset/alertmanager-kube-prometheus-stack-alertmanager --timeout=10m
  secrets=$work/secrets.env
  [ -e "$secrets" ] || sh "$k8s/../docker/make-env.sh" "$secrets" "$k8s/components/secret-files/.env.example"
  value() { sed -n "s/^$1=//p" "$secrets"; }
  access=$(value HEADS_ACCESS_KEY_ID_RECONCILER) secret=$(value HEADS_SECRET_ACCESS_KEY_RECONCILER)
  kubectl create namespace storage --dry-run=client -o yaml | kubectl apply -f -
  kubectl -n storage create secret generic minio --from-literal=MINIO_ROOT_USER="$access" \
    --from-literal=MINIO_ROOT_PASSWORD="$secret" --dry-run=client -o yaml | kubectl apply -f -
  kubectl apply -f "$overlay/objects.yaml"
  kubectl -n storage rollout status deployment/minio --timeout=5m
  # The store of secrets that the overlay asks, with what make-env.sh made.
  node -e '
    const [, file, id, secret] = process.argv
    const lines = require("node:fs").readFileSync(file, "utf8").split("\n").filter((line) => /^[A-Z]/.test(line))
    const values = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]))
    const data = {
      "backoffice/production": values,
      "backoffice/production-backup": { ACCESS_KEY_ID: id, SECRET_ACCESS_KEY: secret },
      "backoffice/registry": { dockerconfigjson: JSON.stringify({ auths: {} }) },
    }
    const entries = Object.entries(data).map(([key, value]) => ({ key, value: JSON.stringify(value) }))
    const spec = { conditions: [{ namespaces: ["backoffice"] }], provider: { fake: { data: entries } } }
    const store = { apiVersion: "external-secrets.io/v1", kind: "ClusterSecretStore", metadata: { name: "backoffice" }, spec }
    console.log(JSON.stringify(store))
  ' "$secrets" "$access" "$secret" | kubectl apply -f -
  kubectl -n storage port-forward service/minio 9000 > /dev/null &
  forward=$!
  sleep 5
  export AWS_ENDPOINT_URL=http://127.0.0.1:9000 AWS_ACCESS_KEY_ID="$access" AWS_SECRET_ACCESS_KEY="$secret" AWS_REGION=sa-east-1
  sh "$k8s/prerequisites/heads-bucket.sh" backoffice-heads sa-east-1 1
  aws s3api create-bucket --bucket backoffice-postgres
  kill "$forward"
}

deploy() {
  machines=$k8s/overlays/production/team-identity/machines.json
  rm -f "$work/machine-key.json"
  sh "$k8s/../docker/make-machine.sh" first-machine "$work/machine-key.json" integration finance > "$work/machines.json"
  cp "$work/machines.json" "$machines"
  sh "$k8s/deploy.sh" "$overlay"
  in_ns wait certificate --all --for=condition=Ready --timeout=10m
  in_ns wait gateway/edge --for=condition=Programmed --timeout=10m
  node=$(kubectl get node -l node-role.kubernetes.io/control-plane -o 'jsonpath={.items[0].status.addresses[0].address}')
  grep -q ' api.backoffice.example' /etc/hosts ||
    echo "$node api.backoffice.example console.backoffice.example" | sudo tee -a /etc/hosts > /dev/null
  for name in api console; do in_ns get secret "$name-edge-tls" -o 'jsonpath={.data.tls\.crt}' | base64 -d; done > "$work/ca.pem"
}

team() {
  (cd "$root" && NODE_EXTRA_CA_CERTS="$work/ca.pem" TEAM_CONSOLE_URL=https://console.backoffice.example:30443 \
    TEAM_DEPLOYMENT=https://console.backoffice.example TEAM_MACHINE_NAME=first-machine \
    TEAM_MACHINE_KEY_FILE="$work/machine-key.json" node services/team-cli/src/main.ts "$@")
}

# In a subshell, which becomes the program.
operator() {
  cd "$root"
  NODE_EXTRA_CA_CERTS="$work/ca.pem" BASE_URL="$address/api/v1" OPERATOR_KEY="$(sed -n 1p "$work/operator")" \
    OPERATOR_SECRET="$(sed -n 2p "$work/operator")" exec "$@"
}

journey() {
  team operators create --name "Casa Azul" --reason "a test" --rate-limit 100000 --json > "$work/operator.json"
  node -p 'const { sandbox } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")); sandbox.key + "\n" + sandbox.secret' \
    "$work/operator.json" > "$work/operator"
  if [ -n "${WEBHOOK_URL:-}" ]; then
    team webhook set --operator "Casa Azul" --env sandbox --url "$WEBHOOK_URL" --reason "a test"
  else
    say "no webhook: neither WEBHOOK_URL nor the workflow's CLUSTER_WEBHOOK_URL is set"
  fi
  (operator npm run --silent smoke)
  team wallet reconcile --full
  say "the first deposit, $(($(date +%s) - began)) seconds after the beginning"
}

everything_is_up() {
  in_ns wait cluster --all --for=condition=Ready --timeout=15m
  in_ns rollout status statefulset/nats --timeout=15m
  in_ns rollout status deployment --timeout=15m
}

the_primary() {
  in_ns delete pod "$(primary postgres)" --grace-period=0 --force
  sleep 10
}
each_node() {
  for node in $(kubectl get node -l '!node-role.kubernetes.io/control-plane' -o name); do
    kubectl drain "$node" --ignore-daemonsets --delete-emptydir-data --timeout=15m
    kubectl uncordon "$node"
    everything_is_up
  done
}
each_certificate() {
  in_ns delete secret $(in_ns get certificate -o 'jsonpath={.items[*].spec.secretName}')
  in_ns wait certificate --all --for=condition=Ready --timeout=10m
  sleep 180 # Until the kubelet has replaced every mounted file, and all that read them have looked again.
}
# One node's volumes, PostgreSQL's and NATS's, for a minute: PostgreSQL stops there, so it is the one with the primary.
full_volumes() {
  node=$(in_ns get pod "$(primary postgres)" -o 'jsonpath={.spec.nodeName}')
  docker exec "$node" sh -c 'fallocate -l "$(df --output=avail -B1 /var/local-path-provisioner | tail -1)" /var/local-path-provisioner/full'
  sleep 60
  docker exec "$node" rm /var/local-path-provisioner/full
}
roll_forward() {
  sed -i 's/newTag: first/newTag: second/' "$overlay/kustomization.yaml"
  sh "$k8s/deploy.sh" "$overlay"
}
roll_back() {
  sed -i 's/newTag: second/newTag: first/' "$overlay/kustomization.yaml"
  sh "$k8s/deploy.sh" "$overlay" back
}

# fault NAME SECONDS: what happens while ten deposits a second come, and for how long at most none may be answered.
fault() {
  (operator node test/cluster/load.ts) > "$work/$1.json" &
  load=$!
  sleep 10
  "$1"
  everything_is_up
  sleep 10
  kill "$load"
  wait "$load"
  say "$1 $(cat "$work/$1.json")"
  node -e '
    const [, file, seconds] = process.argv
    const { requests, failed, awaySeconds } = JSON.parse(require("node:fs").readFileSync(file, "utf8"))
    if (requests < 100 || awaySeconds > Number(seconds) || (failed > 0 && seconds === "0")) process.exit(1)
  ' "$work/$1.json" "$2" || failed="$failed $1"
}

faults() {
  failed=
  fault roll_forward 0
  fault roll_back 0
  fault each_node 10
  fault each_certificate 0
  fault the_primary 30
  fault full_volumes 60
  team wallet reconcile --full
  [ -z "$failed" ] || { say "more requests failed than may:$failed"; exit 1; }
}

# compared FILE: whether a report names nothing but what the restore undid. Heads may be old by then, which is no difference.
compared() {
  node -e '
    const { checks } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
    const others = checks.filter(({ check, differences }) => differences > 0 && !/^(exportedHeads|evidence)$/.test(check))
    if (others.length > 0) { console.error(others); process.exit(1) }
  ' "$1"
}

# docs/runbooks/restore.md, without its step 7: the two people who end the heads of what was undone. So they still differ.
restore() {
  in_ns wait backup --all --for=jsonpath='{.status.phase}'=completed --timeout=15m
  moment=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
  before=$(sql postgres "select count(*) from payments.deposit where created_at < '$moment'")
  sleep 5
  (operator npm run --silent smoke)
  in_ns scale deployment -l "$component in (service, games, console, keeper)" --replicas=0
  in_ns scale statefulset nats --replicas=0
  segment=$(sql postgres 'select pg_walfile_name(pg_switch_wal())')
  until [ "$(sql postgres "select last_archived_wal >= '$segment' from pg_stat_archiver")" = t ]; do sleep 2; done
  in_ns annotate cluster postgres --overwrite cnpg.io/hibernation=on
  sed -i 's/^DATABASE_CLUSTER=.*/DATABASE_CLUSTER=postgres-b/' "$k8s/overlays/production/settings.env"
  sed -i "s/^RESTORE_TARGET_TIME=.*/RESTORE_TARGET_TIME=$moment/" "$k8s/components/restore/restore.env"
  mkdir -p "$work/test/restore"
  sed 's/overlays\/production/overlays\/restore\/production/' "$overlay/kustomization.yaml" > "$work/test/restore/kustomization.yaml"
  in_ns delete job -l "$component in (migration, preflight)" --ignore-not-found
  in_ns delete scheduledbackup postgres-every-night --cascade=orphan
  kubectl apply -k "$work/test/restore"
  in_ns wait cluster/postgres-b --for=condition=Ready --timeout=30m
  in_ns delete pvc data-nats-0 data-nats-1 data-nats-2
  after=$(sql postgres-b 'select count(*) from payments.deposit')
  [ "$before" = "$after" ] || { say "$before deposits before $moment, $after after the restore"; exit 1; }
  kubectl apply -k "$overlay" -l "$component notin (service, games, console)"
  in_ns wait --for=condition=complete --timeout=30m job -l "$component=migration"
  kubectl apply -k "$overlay" -l 'app.kubernetes.io/name in (wallet, reconciler, console)'
  for name in wallet reconciler console; do in_ns rollout status "deployment/$name" --timeout=10m; done
  team wallet reconcile --restored-to "$moment" --json > "$work/undone.json" || say "the restore undid something"
  compared "$work/undone.json"
  sh "$k8s/deploy.sh" "$overlay"
  (operator npm run --silent smoke)
  team wallet reconcile --full --json > "$work/all.json" || say "the restore undid something"
  compared "$work/all.json"
}

delete() {
  kind delete cluster --name "$cluster"
  for zone in a b c; do sudo umount "$work/volumes-$zone"; done
}

began=$(date +%s)
[ $# -gt 0 ] || set -- create images prerequisites deploy journey faults restore ${KEEP:-delete}
for step; do
  [ "$step" != true ] || continue
  say "$step"
  "$step"
done
say "done in $(($(date +%s) - began)) seconds"
