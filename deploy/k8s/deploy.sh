#!/bin/sh
# Rolls a release out, or back, in the order in which the parts understand one another, and waits for each step:
#
#   sh deploy/k8s/deploy.sh deploy/k8s/overlays/production
#   sh deploy/k8s/deploy.sh deploy/k8s/overlays/production back
#
# Forward: backends, secrets, policies and the permissions of NATS; the preflight Jobs; the migration Job; then services, games
# and the console. Nobody may send a new subject before NATS has read its permission, and no service meets an older schema.
# Back: services, games and console first, then the rest without the Jobs. With the older permissions NATS would refuse the newer
# services' subjects. The schema stays.
#
# One at a time: the Lease `roll-out` says who. Production takes images by digest alone.
#
# Environment: NAMESPACE (backoffice), JOB_TIMEOUT in seconds (1900, more than a Job's own deadline), ROLLOUT_TIMEOUT (10m),
# NATS_TIMEOUT (35m: each of three servers may take ten to start), DATABASE_TIMEOUT (30m), OPERATOR_SECONDS (10),
# POLL_SECONDS (2), SKIP_PREFLIGHT=true, SKIP_VERSION=true (images that were built some other way than CONTRIBUTING.md says), SKIP_DIGESTS=true.
set -eu

overlay=${1:?"the folder of an overlay"}
direction=${2:-forward}
namespace=${NAMESPACE:-backoffice}
component=app.kubernetes.io/component
programs="$component in (service, games, console)"

manifests=$(mktemp)
locked=
unlock() {
  rm -f "$manifests"
  [ -z "$locked" ] || kubectl -n "$namespace" delete lease roll-out --ignore-not-found
}
trap unlock EXIT
trap 'exit 1' INT TERM

say() { printf '%s\n' "== $*" >&2; }
fail() { printf '%s\n' "== $*" >&2; exit 1; }
apply() { kubectl apply -f "$manifests" -l "$1"; }

# A line for each Job of a component: its name, and the conditions that hold.
states() {
  kubectl -n "$namespace" get job -l "$component=$1" \
    -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{range .status.conditions[?(@.status=="True")]}{.type}{","}{end}{"\n"}{end}'
}

# Runs the Jobs of a component anew, and waits until all are complete or one has failed: `kubectl wait` can only wait for
# one of the two, and would sit out its time on a Job that has failed.
run_jobs() {
  grep -q "$component\"*: *\"*$1" "$manifests" || return 0
  say "$1"
  # A Job cannot be changed.
  kubectl -n "$namespace" delete job -l "$component=$1" --ignore-not-found --timeout=2m
  apply "$component=$1"
  deadline=$(($(date +%s) + ${JOB_TIMEOUT:-1900}))
  while :; do
    all=$(states "$1")
    failed=$(printf '%s\n' "$all" | sed -n 's/^\([^ ]*\) .*Fail.*/\1/p')
    if [ -n "$failed" ]; then
      for job in $failed; do kubectl -n "$namespace" logs "job/$job" --tail=50 || true; done
      fail "failed: $failed. Nothing after it was applied."
    fi
    if [ -n "$all" ] && ! printf '%s\n' "$all" | grep -qv 'Complete,'; then return; fi
    [ "$(date +%s)" -lt "$deadline" ] || fail "not complete in time: $all"
    sleep "${POLL_SECONDS:-2}"
  done
}

wait_for() {
  kubectl -n "$namespace" rollout status "$1" --timeout="${2:-${ROLLOUT_TIMEOUT:-10m}}" ||
    fail "$1 is not rolled out. The replicas of before serve on: find the reason, or roll back with the tags of before."
}

roll_programs() {
  say "services, games and console"
  apply "$programs"
  for deployment in $(kubectl -n "$namespace" get deployment -l "$programs" -o name); do wait_for "$deployment"; done
}

# A Deployment of 0 replicas is rolled out at once, and neither an apply nor its autoscaler brings it back.
nothing_is_stopped() {
  stopped=$(kubectl -n "$namespace" get deployment -l "$programs" \
    -o 'jsonpath={range .items[?(@.spec.replicas==0)]}{.metadata.name}{" "}{end}')
  [ -z "$stopped" ] || fail "applied, but at 0 replicas: $stopped(kubectl -n $namespace scale deployment $stopped--replicas=2)"
}

# Images are built at the tag of a release. With other programs in the checkout, the cluster would run that release and not
# what is here, under the schema and the permissions of what is here.
released() {
  version=$(sed -n 's|.*image"*: *"*[^" ]*/gateway:\([0-9][0-9.]*\)\([@"].*\)*$|\1|p' "$manifests" | head -n 1)
  checkout=$(dirname "$0")
  if [ -z "$version" ] || ! git -C "$checkout" rev-parse --git-dir > /dev/null 2>&1; then return; fi
  git -C "$checkout" diff --quiet "v$version" -- :/packages :/services :/deploy/nats :/package-lock.json 2> /dev/null ||
    fail "the manifests ask for the images of $version, and v$version is not what is checked out: npm run release (CONTRIBUTING.md, Releases), or check it out."
}

# A tag can be moved between the starts of two replicas, by whoever owns it.
pinned() {
  [ "$(basename "$overlay")" = production ] && [ "${SKIP_DIGESTS:-}" != true ] || return 0
  loose=$(grep -o '"*image\(Name\)*"*: *"*[^", ]*/[^", ]*' "$manifests" | sed 's/^"*image[A-Za-z]*"*: *"*//' | grep -v '@sha256:' | sort -u || true)
  [ -z "$loose" ] || fail "by tag, which may mean something else tomorrow: $(echo $loose). npm run pin-images, and -- --own for ours, write digests."
}

# Another one would end the Jobs of this. Before the first time there is no namespace, and no other.
lock() {
  kubectl get namespace "$namespace" > /dev/null 2>&1 || return 0
  printf '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"roll-out","namespace":"%s"},"spec":{"holderIdentity":"%s, since %s"}}' \
    "$namespace" "$(id -un)@$(hostname)" "$(date -u +%FT%TZ)" | kubectl create -f - ||
    fail "another roll-out is under way: kubectl -n $namespace get lease roll-out -o yaml. If it was killed, delete that Lease."
  locked=true
}

apply_the_rest() {
  say "backends, secrets, policies"
  apply "$component notin (service, games, console, preflight, migration)"
  wait_for statefulset/nats "${NATS_TIMEOUT:-35m}"
  # Another image or size of PostgreSQL rolls its instances, and no migration runs into that. Its operator needs a moment
  # to see the change.
  database=$(sed -n 's/^.*DATABASE_CLUSTER"*: *"*\([a-z0-9-]*\).*$/\1/p' "$manifests" | head -n 1)
  [ -n "$database" ] || return 0
  sleep "${OPERATOR_SECONDS:-10}"
  kubectl -n "$namespace" wait "cluster/$database" --for=condition=Ready --timeout="${DATABASE_TIMEOUT:-30m}" ||
    fail "PostgreSQL is not Ready: kubectl cnpg status $database. Nothing after it was applied."
}

# While it is not, Envoy tidies paths, and the signatures of some requests are wrong.
paths_stay() {
  grep -q 'kind"*: *"*EnvoyPatchPolicy' "$manifests" || return 0
  tries=30
  until [ "$(kubectl -n "$namespace" get envoypatchpolicy \
    -o 'jsonpath={.items[*].status.ancestors[*].conditions[?(@.type=="Programmed")].status}')" = True ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "applied, but Envoy does not have the patch: kubectl -n $namespace get envoypatchpolicy -o yaml"
    sleep "${POLL_SECONDS:-2}"
  done
}

kubectl kustomize "$overlay" > "$manifests"
case $direction in
  forward)
    pinned
    [ "${SKIP_VERSION:-}" = true ] || released
    lock
    apply_the_rest
    [ "${SKIP_PREFLIGHT:-}" = true ] || run_jobs preflight
    run_jobs migration
    roll_programs
    ;;
  back)
    lock
    roll_programs
    apply_the_rest
    ;;
  *) fail "forward or back, not $direction" ;;
esac
nothing_is_stopped
paths_stay
say "done"
