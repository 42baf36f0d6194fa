import type { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'

/** `from → to:port`; what is in a namespace of somebody else's has a name of ours. */
export type Arrow = string

interface Half {
  readonly from: string
  readonly to: string
  readonly port: number | 'any port'
}

/**
 * What network policies let through. Between two pods of ours both ends must allow it: what only one end allows is a
 * mistake, and is listed apart.
 */
export function arrowsOf(cluster: Cluster): { readonly open: readonly Arrow[]; readonly halfOpen: readonly Arrow[] } {
  const leaving = cluster.all('NetworkPolicy').flatMap((policy) => halves(cluster, policy, 'egress'))
  const arriving = cluster.all('NetworkPolicy').flatMap((policy) => halves(cluster, policy, 'ingress'))
  const pods = new Set(cluster.pods.map(({ name }) => name))
  const inside = ({ from, to }: Half) => pods.has(from) && pods.has(to)
  const write = ({ from, to, port }: Half): Arrow => `${from} → ${to}:${port}`
  const left = new Set(leaving.filter(inside).map(write))
  const arrived = new Set(arriving.filter(inside).map(write))
  const outside = [...leaving, ...arriving].filter((half) => !inside(half)).map(write)
  return {
    open: [...new Set([...[...left].filter((arrow) => arrived.has(arrow)), ...outside])].sort(),
    halfOpen: [...left.symmetricDifference(arrived)].sort(),
  }
}

/** The namespaces in which every pod is refused everything that no other policy allows. */
export function namespacesThatRefuse(cluster: Cluster): readonly string[] {
  const refusing = cluster.all('NetworkPolicy').filter(({ spec: { podSelector, policyTypes, ingress, egress } }) => {
    const everyPod = Object.keys(podSelector).length === 0
    const nothing = ingress === undefined && egress === undefined
    return everyPod && nothing && policyTypes.includes('Ingress') && policyTypes.includes('Egress')
  })
  return refusing.map(({ metadata }) => metadata.namespace).sort()
}

function halves(cluster: Cluster, policy: Manifest, direction: 'ingress' | 'egress'): readonly Half[] {
  const { namespace } = policy.metadata
  const own = podsOf(cluster, policy.spec.podSelector, namespace)
  const rules: readonly Manifest[] = policy.spec[direction] ?? []
  return rules.flatMap((rule) => {
    const peers = rule[direction === 'ingress' ? 'from' : 'to']
    // Without peers or ports a rule allows all of them.
    if (peers === undefined || rule.ports === undefined) throw new Error(`${policy.metadata.name} has an open rule`)
    const others = (peers as readonly Manifest[]).flatMap((peer) => namesOf(cluster, peer, namespace))
    return own.flatMap((pod) =>
      others.flatMap((other) =>
        (rule.ports as readonly Manifest[]).map(({ port = 'any port' }) =>
          direction === 'ingress' ? { from: other, to: pod, port } : { from: pod, to: other, port },
        ),
      ),
    )
  })
}

/** Pods of a namespace that a selector means, by their workloads' names. */
export function podsOf(
  cluster: Cluster,
  { matchLabels = {}, matchExpressions = [] }: Manifest,
  namespace = 'backoffice',
): readonly string[] {
  const byLabels = cluster.selected(matchLabels, namespace)
  return (matchExpressions as readonly Manifest[]).reduce((names: readonly string[], { key, operator, values }) => {
    if (operator === 'Exists') {
      const labelled = new Set(cluster.pods.filter(({ labels }) => key in labels).map(({ name }) => name))
      return names.filter((name) => labelled.has(name))
    }
    if (operator !== 'In') throw new Error(`${operator} is not understood`)
    const any = new Set((values as readonly string[]).flatMap((value) => cluster.selected({ [key]: value }, namespace)))
    return names.filter((name) => any.has(name))
  }, byLabels)
}

/** Ranges of addresses, by what they are for. */
const ranges: Readonly<Record<string, string>> = {
  '10.0.0.0/8': 'private addresses',
  '172.16.0.0/12': 'private addresses',
  '192.168.0.0/16': 'private addresses',
  '100.64.0.0/10': 'shared addresses',
  '169.254.20.10/32': 'the resolver of the node',
  '169.254.169.254/32': 'the resolver of the cloud',
}

/** Pods of ours, of the policy's own namespace or another; somebody's pod in another namespace; or addresses. */
function namesOf(
  cluster: Cluster,
  { namespaceSelector, podSelector, ipBlock }: Manifest,
  ofThePolicy: string,
): readonly string[] {
  if (ipBlock !== undefined) return [ranges[ipBlock.cidr] ?? 'public addresses']
  const namespace = namespaceSelector?.matchLabels['kubernetes.io/metadata.name'] ?? ofThePolicy
  if (cluster.pods.some((pod) => pod.namespace === namespace)) return podsOf(cluster, podSelector, namespace)
  const labels = podSelector.matchLabels
  const name =
    labels['app.kubernetes.io/name'] ?? labels['k8s-app'] ?? labels['dns.operator.openshift.io/daemonset-dns']
  return [`${namespace}/${name}`]
}
