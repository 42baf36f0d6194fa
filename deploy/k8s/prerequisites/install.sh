#!/bin/sh
# What a cluster has before deploy.sh: other people's controllers, each in one version, with the values that our manifests
# need, in the order in which they need one another. Run again it changes what differs.
#
#   sh deploy/k8s/prerequisites/install.sh small | standard | production
#   sh deploy/k8s/prerequisites/install.sh metrics-server external-secrets    # some of it, in the order of `all`
#
# As an administrator of the cluster, with kubectl and helm 3.14 or newer. Together these versions take Kubernetes 1.33 to 1.36
# (Envoy Gateway's matrix). Leave out what the cloud brings. issuer.yaml, secret-stores.yaml and telemetry/alertmanager.yaml
# are examples: write your own DNS zone, vault and receivers into them first. heads-bucket.sh makes the bucket.
#
# Environment: KUBELET_INSECURE_TLS=true where kubelets have certificates of their own making (kind).
set -eu

gateway_api=v1.6.1
envoy_gateway=v1.9.0
cert_manager=v1.21.1
trust_manager=v0.24.0
cloudnative_pg=0.29.0    # CloudNativePG 1.30.0
barman_cloud=0.7.0       # its plugin 0.13.0
external_secrets=2.9.0
monitoring=88.5.3        # Prometheus operator 0.93.1
blackbox_exporter=11.17.2
metrics_server=3.13.1    # metrics-server 0.8.1

here=$(dirname "$0")
receivers=../../telemetry/alertmanager.yaml
all="metrics-server gateway-api envoy-gateway cert-manager trust-manager issuer cloudnative-pg barman-cloud monitoring external-secrets secret-stores"
case ${1:?"a size, or names of parts"} in
  small) parts="gateway-api envoy-gateway" ;;
  standard) parts="metrics-server gateway-api envoy-gateway cert-manager trust-manager issuer cloudnative-pg barman-cloud monitoring" ;;
  production) parts=$all ;;
  *) parts=$* ;;
esac

say() { printf '%s\n' "== $*" >&2; }
fail() { say "$*"; exit 1; }

# chart NAMESPACE NAME CHART VERSION [ARGUMENT...]
chart() {
  namespace=$1 name=$2 from=$3 version=$4
  shift 4
  helm upgrade --install "$name" "$from" --version "$version" --namespace "$namespace" --create-namespace \
    --wait --timeout 10m "$@"
}

# Affinity: apart from others of the same name, and from PostgreSQL's instances, where machines suffice.
apart() {
  away='{"weight":%s,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","namespaces":["%s"],"labelSelector":{"matchLabels":{"%s":"%s"}}}}'
  # shellcheck disable=SC2059
  printf "{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[$away,$away]}}" \
    100 "$1" app.kubernetes.io/name "$2" 50 backoffice cnpg.io/podRole instance
}
# Tolerations: made anew half a minute after its machine was found lost, where Kubernetes waits five minutes.
gone='{"effect":"NoExecute","operator":"Exists","tolerationSeconds":30,"key":"node.kubernetes.io'
soon="[$gone/unreachable\"},$gone/not-ready\"}]"

# An example is nobody's DNS zone, nobody's vault and nobody's telephone.
own() {
  if grep -q 'example' "$here/$1"; then fail "$1 is still the example: write your own values into it"; fi
}

# What a part needs of whoever installs it. All of it is looked at before anything is installed.
needs() {
  case $1 in
    issuer | secret-stores) own "$1.yaml" ;;
    cloudnative-pg)
      # A volume that is made before its pod has a place lies in any zone, and its pod may then have none.
      [ "$(kubectl get storageclass -o 'jsonpath={range .items[?(@.metadata.annotations.storageclass\.kubernetes\.io/is-default-class=="true")]}{.volumeBindingMode}{end}')" = WaitForFirstConsumer ] ||
        fail "one default storage class is needed, with volumeBindingMode WaitForFirstConsumer: kubectl get storageclass"
      ;;
    monitoring)
      own "$receivers"
      # A Secret with a key for each file that the receivers name: without it Alertmanager does not start.
      for file in $(grep -o '/etc/alertmanager/secrets/[^ ]*' "$here/$receivers"); do
        key=${file##*/} secret=$(basename "${file%/*}")
        [ -n "$(kubectl -n monitoring get secret "$secret" -o "jsonpath={.data.$key}" --ignore-not-found)" ] ||
          fail "$receivers names $key of the Secret $secret, which is not there: kubectl create namespace monitoring && kubectl -n monitoring create secret generic $secret --from-file=$key"
      done
      ;;
  esac
}

install() {
  case $1 in
    metrics-server)
      chart kube-system metrics-server metrics-server "$metrics_server" \
        --repo https://kubernetes-sigs.github.io/metrics-server/ ${KUBELET_INSECURE_TLS:+--set "args={--kubelet-insecure-tls}"}
      ;;
    gateway-api)
      kubectl apply --server-side -f \
        "https://github.com/kubernetes-sigs/gateway-api/releases/download/$gateway_api/standard-install.yaml"
      ;;
    envoy-gateway)
      # Helm itself never upgrades a chart's definitions.
      helm template envoy-gateway-crds oci://docker.io/envoyproxy/gateway-crds-helm --version "$envoy_gateway" \
        --set crds.gatewayAPI.enabled=false --set crds.envoyGateway.enabled=true > "$definitions"
      kubectl apply --server-side -f "$definitions"
      # Our paths stay as they came by an EnvoyPatchPolicy, which is refused by default. It names Envoy's listener as 1.10
      # does by default.
      chart envoy-gateway-system envoy-gateway oci://docker.io/envoyproxy/gateway-helm "$envoy_gateway" \
        --set crds.enabled=false --set config.envoyGateway.extensionApis.enableEnvoyPatchPolicy=true \
        --set 'config.envoyGateway.runtimeFlags.enabled={XDSNameSchemeV2}' \
        --set deployment.replicas=2 --set podDisruptionBudget.minAvailable=1 \
        --set-json "deployment.pod.affinity=$(apart envoy-gateway-system gateway-helm)"
      kubectl apply -f "$here/gateway-class.yaml"
      ;;
    cert-manager)
      chart cert-manager cert-manager oci://quay.io/jetstack/charts/cert-manager "$cert_manager" --set crds.enabled=true
      ;;
    trust-manager)
      chart cert-manager trust-manager oci://quay.io/jetstack/charts/trust-manager "$trust_manager" \
        --set app.trust.namespace=cert-manager
      ;;
    issuer) kubectl apply -f "$here/issuer.yaml" ;;
    cloudnative-pg)
      chart cnpg-system cloudnative-pg oci://ghcr.io/cloudnative-pg/charts/cloudnative-pg "$cloudnative_pg" \
        --set replicaCount=2 --set-json "affinity=$(apart cnpg-system cloudnative-pg)"
      ;;
    # Behind cert-manager, which makes the certificates between the plugin and the operator. The operator promotes no
    # standby while the plugin does not answer, of which one pod alone serves: a second is not ready before the first ends.
    barman-cloud)
      chart cnpg-system barman-cloud oci://ghcr.io/cloudnative-pg/charts/plugin-barman-cloud "$barman_cloud" \
        --set-json "tolerations=$soon" --set-json "affinity=$(apart cnpg-system plugin-barman-cloud)"
      ;;
    monitoring)
      # Who is called.
      kubectl create namespace monitoring --dry-run=client -o yaml | kubectl apply -f -
      kubectl -n monitoring create secret generic alertmanager-backoffice --dry-run=client -o yaml \
        --from-file=alertmanager.yaml="$here/$receivers" | kubectl apply -f -
      chart monitoring kube-prometheus-stack oci://ghcr.io/prometheus-community/charts/kube-prometheus-stack \
        "$monitoring" --values "$here/monitoring.yaml"
      # Its pods are the operator's, for which helm does not wait.
      kubectl -n monitoring wait alertmanager/kube-prometheus-stack-alertmanager --for=condition=Available --timeout=10m
      # Of the chart's own modules the probes use http_2xx.
      chart monitoring blackbox-exporter oci://ghcr.io/prometheus-community/charts/prometheus-blackbox-exporter \
        "$blackbox_exporter" --set fullnameOverride=blackbox-exporter
      ;;
    external-secrets)
      chart external-secrets external-secrets oci://ghcr.io/external-secrets/charts/external-secrets "$external_secrets"
      ;;
    secret-stores) kubectl apply -f "$here/secret-stores.yaml" ;;
  esac
}

for part in $parts; do
  case " $all " in *" $part "*) ;; *) fail "no part is called $part: $all" ;; esac
done
for part in $parts; do needs "$part"; done
definitions=$(mktemp)
trap 'rm -f "$definitions"' EXIT
for part in $all; do
  case " $parts " in
    *" $part "*)
      say "$part"
      install "$part"
      ;;
  esac
done
say "done"
