import type { Manifest } from './kustomize.ts'

/** A kind of object, as the API server calls it. */
export interface ApiResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** In addresses and roles. */
  readonly name: string
  readonly namespaced: boolean
  readonly short: readonly string[]
  readonly subresources: readonly string[]
}

/** A line for each group: its version, and `Kind` with `/subresource`, `=short name`, `!` for what has no namespace. */
const known = `
coordination.k8s.io v1 Lease
core v1 Pod/log/exec/portforward/proxy/eviction=po Service/proxy=svc Endpoints=ep ConfigMap=cm Event=ev PersistentVolumeClaim=pvc ServiceAccount=sa Secret Node!=no Namespace!=ns
apps v1 Deployment/scale=deploy StatefulSet/scale=sts ReplicaSet=rs ControllerRevision DaemonSet=ds
batch v1 Job CronJob=cj
autoscaling v2 HorizontalPodAutoscaler=hpa
policy v1 PodDisruptionBudget=pdb
networking.k8s.io v1 NetworkPolicy=netpol Ingress=ing
rbac.authorization.k8s.io v1 Role RoleBinding ClusterRole! ClusterRoleBinding!
admissionregistration.k8s.io v1 ValidatingAdmissionPolicy! ValidatingAdmissionPolicyBinding!
scheduling.k8s.io v1 PriorityClass!=pc
postgresql.cnpg.io v1 Cluster/status Backup ScheduledBackup FailoverQuorum
barmancloud.cnpg.io v1 ObjectStore
cert-manager.io v1 Certificate/status=cert CertificateRequest=cr Issuer ClusterIssuer!
acme.cert-manager.io v1 Order Challenge
trust.cert-manager.io v1alpha1 Bundle!
external-secrets.io v1 ExternalSecret=es ClusterSecretStore!=css
monitoring.coreos.com v1 PodMonitor Probe PrometheusRule Prometheus
gateway.networking.k8s.io v1 Gateway=gtw HTTPRoute BackendTLSPolicy
gateway.envoyproxy.io v1alpha1 EnvoyPatchPolicy=epp ClientTrafficPolicy=ctp BackendTrafficPolicy=btp EnvoyProxy SecurityPolicy`

function plural(kind: string): string {
  const name = kind.toLowerCase()
  if (name === 'endpoints') return name
  if (/[^a]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return name.endsWith('s') ? `${name}es` : `${name}s`
}

export const apiResources: readonly ApiResource[] = known
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [group = '', version = '', ...kinds] = line.split(' ')
    return kinds.map((written) => {
      const [, kind = '', subresources = '', cluster, short = ''] =
        /^(\w+)((?:\/\w+)*)(!?)(?:=(\w+))?$/.exec(written) ?? []
      return {
        group: group === 'core' ? '' : group,
        version,
        kind,
        name: plural(kind),
        namespaced: cluster === '',
        short: short === '' ? [] : [short],
        subresources: subresources.split('/').slice(1),
      }
    })
  })

/** Which objects a list is about. */
export interface Selection {
  readonly namespace?: string | undefined
  readonly labels?: string | undefined
  readonly fields?: string | undefined
}

/**
 * The objects of a cluster, and of what its controllers do with them as much as a guide waits for: pods and volumes come
 * and go with what they belong to, and what was asked for is so at once.
 */
export class ApiObjects {
  readonly #objects = new Map<string, Manifest>()
  #made = 0
  #settled = false

  constructor(manifests: readonly Manifest[]) {
    for (const manifest of manifests) {
      const resource = apiResources.find(({ kind, group }) => kind === manifest.kind && groupOf(manifest) === group)
      if (resource === undefined) throw new Error(`nobody knows the plural of ${manifest.apiVersion} ${manifest.kind}`)
      const object = structuredClone(manifest)
      // As `kubectl apply` leaves it, so that the next one takes away what is no longer written.
      const applied = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(manifest) }
      object.metadata.annotations = { ...object.metadata.annotations, ...applied }
      this.create(resource, object)
    }
    this.#settled = true
    this.#settle()
  }

  get all(): readonly Manifest[] {
    return [...this.#objects.values()]
  }

  list(resource: ApiResource, { namespace, labels = '', fields = '' }: Selection): readonly Manifest[] {
    return this.#of(resource.kind)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => requirementsOf(labels).every((isMet) => isMet(metadata.labels ?? {})))
      .filter((object) =>
        fields
          .split(',')
          .filter((field) => field !== '')
          .every((field) => {
            const [path = '', value] = field.split(/==?/)
            return String(path.split('.').reduce((part, key) => part?.[key], object) ?? '') === value
          }),
      )
  }

  find(resource: ApiResource, namespace: string | undefined, name: string): Manifest | undefined {
    return this.#objects.get(keyOf(resource.kind, namespace, name))
  }

  create({ kind, group, version, namespaced }: ApiResource, object: Manifest): Manifest {
    this.#made++
    const { namespace = 'default', ...others } = object.metadata
    const made = {
      ...object,
      kind,
      apiVersion: group === '' ? version : `${group}/${version}`,
      metadata: {
        ...others,
        ...(namespaced ? { namespace } : {}),
        uid: `uid-${this.#made}`,
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: '2026-03-02T12:00:00Z',
      },
    }
    if (kind === 'StatefulSet') made.spec.updateStrategy ??= { type: 'RollingUpdate' }
    this.#objects.set(keyOf(kind, namespaced ? namespace : undefined, made.metadata.name), made)
    this.#settle()
    return made
  }

  /** A merge patch; lists are taken as they come. */
  patch(object: Manifest, patch: Manifest): Manifest {
    merge(object, patch)
    this.#settle()
    return object
  }

  delete(object: Manifest, orphan: boolean): void {
    this.#remove(object)
    if (!orphan) for (const owned of this.#ownedBy(object)) this.delete(owned, false)
    this.#settle()
  }

  #remove({ kind, metadata }: Manifest): void {
    this.#objects.delete(keyOf(kind, metadata.namespace, metadata.name))
  }

  #of(kind: string): readonly Manifest[] {
    return this.all.filter((object) => object.kind === kind)
  }

  #ownedBy(owner: Manifest): readonly Manifest[] {
    return this.all.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }: Manifest) => uid === owner.metadata.uid),
    )
  }

  #settle(): void {
    if (!this.#settled) return
    for (const { spec } of this.#of('HorizontalPodAutoscaler')) {
      const target = this.#of('Deployment').find(({ metadata }) => metadata.name === spec.scaleTargetRef.name)
      // It leaves what has no replicas alone.
      if (target !== undefined && (target.spec.replicas ?? 1) !== 0)
        target.spec.replicas = Math.max(target.spec.replicas ?? 1, spec.minReplicas)
    }
    for (const owner of this.all) if (owner.kind in workers) this.#runs(owner)
    for (const claim of this.#of('PersistentVolumeClaim'))
      claim.status = { phase: 'Bound', capacity: claim.spec.resources.requests }
    for (const object of this.all) {
      const condition = holds[object.kind]
      const conditions = [{ type: condition, status: 'True' }]
      // Of the Gateway API: it holds for each that it is attached to.
      if (object.kind === 'EnvoyPatchPolicy') object.status = { ancestors: [{ conditions }] }
      else if (condition !== undefined) object.status = { ...object.status, conditions }
    }
  }

  /** Gives what runs as many pods, and each of them the volumes, as it asks for. */
  #runs(owner: Manifest): void {
    const work = workers[owner.kind]?.(owner)
    if (work === undefined) return
    const { wanted, nameOf, template, claims } = work
    const { namespace, name, uid } = owner.metadata
    const pods = this.#ownedBy(owner).filter(({ kind }) => kind === 'Pod')
    for (const extra of pods.slice(wanted)) this.#remove(extra)
    const ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true }]
    for (let index = 0; index < wanted; index++) {
      const pod = nameOf(index)
      if (!this.#objects.has(keyOf('Pod', namespace, pod)))
        this.#objects.set(keyOf('Pod', namespace, pod), {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...template.metadata, name: pod, namespace, uid: `uid-${++this.#made}`, ownerReferences },
          spec: { ...template.spec, nodeName: `node-${index + 1}` },
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        })
      for (const { of, storage, labels } of claims) {
        const claim = keyOf('PersistentVolumeClaim', namespace, of(pod))
        const metadata = { name: of(pod), namespace, labels, uid: `uid-${++this.#made}` }
        const there = this.#objects.get(claim) ?? {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata,
          spec: {},
        }
        if (owner.kind === 'Cluster' || there.spec.resources === undefined)
          there.spec.resources = { requests: { storage } }
        this.#objects.set(claim, there)
      }
    }
    owner.status = {
      ...owner.status,
      observedGeneration: owner.metadata.generation,
      replicas: wanted,
      readyReplicas: wanted,
      updatedReplicas: wanted,
      availableReplicas: wanted,
      ...(owner.kind === 'StatefulSet' ? { currentRevision: '1', updateRevision: '1' } : {}),
      ...(owner.kind === 'Job' ? { succeeded: wanted } : {}),
    }
  }
}

const holds: Readonly<Record<string, string>> = {
  Job: 'Complete',
  Cluster: 'Ready',
  Certificate: 'Ready',
  ExternalSecret: 'Ready',
  EnvoyPatchPolicy: 'Programmed',
}

interface Work {
  readonly wanted: number
  readonly nameOf: (index: number) => string
  readonly template: Manifest
  readonly claims: readonly Claim[]
}

interface Claim {
  /** Its name, by the pod's. */
  readonly of: (pod: string) => string
  readonly storage: string
  readonly labels: Readonly<Record<string, string>>
}

const workers: Readonly<Record<string, (owner: Manifest) => Work>> = {
  Deployment: ({ metadata, spec }) => ({
    wanted: spec.replicas ?? 1,
    nameOf: (index) => `${metadata.name}-7c9d-${index}`,
    template: spec.template,
    claims: [],
  }),
  Job: ({ metadata, spec }) => ({
    wanted: spec.completions ?? 1,
    nameOf: (index) => `${metadata.name}-${index}`,
    template: spec.template,
    claims: [],
  }),
  StatefulSet: ({ metadata, spec }) => ({
    wanted: spec.replicas,
    nameOf: (index) => `${metadata.name}-${index}`,
    template: spec.template,
    claims: (spec.volumeClaimTemplates ?? []).map((claim: Manifest) => ({
      of: (pod: string) => `${claim.metadata.name}-${pod}`,
      storage: claim.spec.resources.requests.storage,
      labels: spec.selector.matchLabels,
    })),
  }),
  // As CloudNativePG makes them.
  Cluster: ({ metadata, spec }) => ({
    wanted: metadata.annotations?.['cnpg.io/hibernation'] === 'on' ? 0 : spec.instances,
    nameOf: (index) => `${metadata.name}-${index + 1}`,
    template: {
      metadata: { labels: { 'cnpg.io/cluster': metadata.name, 'cnpg.io/podRole': 'instance' } },
      spec: { containers: [{ name: 'postgres' }, { name: 'plugin-barman-cloud' }] },
    },
    claims: [
      { of: (pod) => pod, storage: spec.storage.size, labels: volume(metadata.name, 'PG_DATA') },
      { of: (pod) => `${pod}-wal`, storage: spec.walStorage.size, labels: volume(metadata.name, 'PG_WAL') },
    ],
  }),
}

const volume = (cluster: string, role: string) => ({ 'cnpg.io/cluster': cluster, 'cnpg.io/pvcRole': role })
const groupOf = ({ apiVersion }: Manifest) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')
const keyOf = (kind: string, namespace: string | undefined, name: string) => `${kind} ${namespace ?? ''} ${name}`

/** What a merge patch would make of an object. */
export function merged(object: Manifest, patch: Manifest): Manifest {
  const copy = structuredClone(object)
  merge(copy, patch)
  return copy
}

function merge(into: Manifest, patch: Manifest): void {
  for (const [key, value] of Object.entries<Manifest>(patch)) {
    if (value === null) delete into[key]
    else if (typeof value === 'object' && !Array.isArray(value) && typeof into[key] === 'object')
      merge(into[key], value)
    else into[key] = value
  }
}

type Requirement = (labels: Readonly<Record<string, string>>) => boolean

/** As the API server reads a selector: `key`, `key=value`, `key in (…)`, `key notin (…)`, with commas between. */
function requirementsOf(selector: string): readonly Requirement[] {
  return [...selector.matchAll(/([\w./-]+)(?:\s*(==?|!=| in | notin )\s*(?:\(([^)]*)\)|([^,]*)))?(?:,|$)/g)].map(
    ([, key = '', operator, list, one]): Requirement => {
      const values = (list ?? one ?? '').split(',').map((value) => value.trim())
      if (operator === undefined) return (labels) => key in labels
      const isNot = operator === '!=' || operator.trim() === 'notin'
      return (labels) => values.includes(labels[key] ?? '') !== isNot
    },
  )
}
