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
# Environment: NAMESPACE (backoffice), JOB_TIMEOUT in seconds (1900, more than a Job's own deadline), ROLLOUT_TIMEOUT (10m),
# POLL_SECONDS (2), SKIP_PREFLIGHT=true, SKIP_VERSION=true (images that were built some other way than CONTRIBUTING.md says).
set -eu

overlay=${1:?"the folder of an overlay"}
direction=${2:-forward}
namespace=${NAMESPACE:-backoffice}
component=app.kubernetes.io/component
programs="$component in (service, games, console)"

manifests=$(mktemp)
trap 'rm -f "$manifests"' EXIT

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
  kubectl -n "$namespace" rollout status "$1" --timeout="${ROLLOUT_TIMEOUT:-10m}" ||
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

apply_the_rest() {
  say "backends, secrets, policies"
  apply "$component notin (service, games, console, preflight, migration)"
  wait_for statefulset/nats
}

kubectl kustomize "$overlay" > "$manifests"
case $direction in
  forward)
    [ "${SKIP_VERSION:-}" = true ] || released
    apply_the_rest
    [ "${SKIP_PREFLIGHT:-}" = true ] || run_jobs preflight
    run_jobs migration
    roll_programs
    ;;
  back)
    roll_programs
    apply_the_rest
    ;;
  *) fail "forward or back, not $direction" ;;
esac
nothing_is_stopped
say "done"
