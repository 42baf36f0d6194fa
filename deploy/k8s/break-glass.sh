#!/bin/sh
# Lets somebody else into the services' namespace for an incident, with the roles on-call and break-glass, for eight hours:
#
#   sh deploy/k8s/break-glass.sh incident-42 bob@operator.example
#
# Whoever types it is on call, and cannot let themselves in (components/access/admission.yaml). Both bindings belong to a
# Job that has nothing to do. Kubernetes deletes it when its time is over, and the bindings with it. To end it earlier:
# kubectl -n backoffice delete job break-glass-incident-42
#
# Environment: SECONDS_OPEN (28800, which is the most).
set -eu

incident=${1:?"the incident, which becomes a part of names"}
person=${2:?"who is let in, as the cluster knows them"}
namespace=${NAMESPACE:-backoffice}

job=$(kubectl -n "$namespace" create -o 'jsonpath={.metadata.uid}' -f - <<EOT
apiVersion: batch/v1
kind: Job
metadata:
  name: break-glass-$incident
spec:
  # Complete as soon as it is there, without a pod.
  completions: 0
  ttlSecondsAfterFinished: ${SECONDS_OPEN:-28800}
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: none, image: none }]
EOT
)
for role in on-call break-glass; do
  kubectl -n "$namespace" create -f - <<EOT
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: $role-$incident
  ownerReferences: [{ apiVersion: batch/v1, kind: Job, name: break-glass-$incident, uid: $job }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: $role }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: "$person" }]
EOT
done
