import type { Manifest } from './kustomize.ts'

/** One container of one workload. */
export interface Running {
  /** Of the workload, as the tests call it. */
  readonly name: string
  readonly workload: Manifest
  readonly pod: Manifest
  readonly container: Manifest
  readonly where: string
}

interface PodOfOurs {
  /** Of its workload. */
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
}

/** What stands in for every value that only the cluster's Secrets know. */
const secretValues: Readonly<Record<string, string>> = {
  MASTER_KEYS_GATEWAY: `first:${Buffer.alloc(32, 1).toString('base64')}`,
  MASTER_KEYS_PLAYERS: `first:${Buffer.alloc(32, 3).toString('base64')}`,
  MASTER_KEYS_PAYMENTS: `first:${Buffer.alloc(32, 4).toString('base64')}`,
  MASTER_KEYS_WEBHOOKS: `first:${Buffer.alloc(32, 2).toString('base64')}`,
}
const secretValue = (key: string) => secretValues[key] ?? `of-the-test-${key}`

/** What an overlay makes, asked about as one asks a cluster. */
export class Cluster {
  readonly manifests: readonly Manifest[]

  constructor(manifests: readonly Manifest[]) {
    this.manifests = manifests
  }

  all(kind: string): readonly Manifest[] {
    return this.manifests.filter((manifest) => manifest.kind === kind)
  }

  find(kind: string, name: string): Manifest | undefined {
    return this.all(kind).find(({ metadata }) => metadata.name === name)
  }

  get workloads(): readonly Manifest[] {
    return ['Deployment', 'StatefulSet', 'Job'].flatMap((kind) => this.all(kind))
  }

  /** Every container that we run; PostgreSQL in production is its operator's. */
  get containers(): readonly Running[] {
    return this.workloads.flatMap((workload) => {
      const pod = workload.spec.template.spec
      return [...(pod.initContainers ?? []), ...pod.containers].map((container: Manifest) => ({
        workload,
        pod,
        container,
        name: this.#nameOf(workload),
        where: `${workload.kind} ${workload.metadata.name}, ${container.name}`,
      }))
    })
  }

  container(name: string): Running {
    const found = this.containers.find((container) => container.name === name)
    if (found === undefined) throw new Error(`no workload is called ${name}`)
    return found
  }

  /** Ports of all containers of a workload. */
  ports(name: string): readonly Manifest[] {
    return this.containers
      .filter(({ workload }) => workload.metadata.name === name)
      .flatMap(({ container }) => container.ports ?? [])
  }

  /** The files of the ConfigMaps in a volume, by name. */
  filesIn({ configMap, projected }: Manifest): Readonly<Record<string, string>> {
    const maps = projected?.sources.map((source: Manifest) => source.configMap) ?? [configMap]
    return Object.assign({}, ...maps.map(({ name }: Manifest) => this.find('ConfigMap', name)?.data))
  }

  /** A Job has the release in its name. */
  #nameOf({ kind, metadata }: Manifest): string {
    return kind === 'Job' ? metadata.labels['app.kubernetes.io/name'] : metadata.name
  }

  /** Pods of a namespace that a selector of labels means, by their workloads' names. */
  selected(matchLabels: Readonly<Record<string, string>>, namespace = 'backoffice'): readonly string[] {
    return this.pods
      .filter((pod) => pod.namespace === namespace)
      .filter(({ labels }) => Object.entries(matchLabels).every(([key, value]) => labels[key] === value))
      .map(({ name }) => name)
  }

  get pods(): readonly PodOfOurs[] {
    // As CloudNativePG labels its instances.
    const databases = this.all('Cluster').map(({ metadata: { name, namespace } }) => ({
      name,
      namespace,
      labels: { 'cnpg.io/cluster': name, 'cnpg.io/podRole': 'instance', 'app.kubernetes.io/name': 'postgresql' },
    }))
    const ours = this.workloads.map((workload) => ({
      name: this.#nameOf(workload),
      namespace: workload.metadata.namespace,
      labels: workload.spec.template.metadata.labels,
    }))
    // Started by hand, as README.md of deploy/k8s shows.
    const team = { name: 'team', namespace: 'backoffice-team', labels: { 'app.kubernetes.io/name': 'team' } }
    return [...ours, ...databases, team]
  }

  /** The environment that the kubelet would give the container. */
  environment(container: Manifest): Readonly<Record<string, string>> {
    const environment: Record<string, string> = {}
    for (const { name, value, valueFrom } of container.env ?? []) {
      environment[name] =
        valueFrom === undefined
          ? // A reference to what is not above it stays as it is written.
            String(value).replace(/\$\((\w+)\)/g, (text, other) => environment[other] ?? text)
          : this.#referred(valueFrom)
    }
    return environment
  }

  #referred({ configMapKeyRef, secretKeyRef, fieldRef }: Manifest): string {
    if (secretKeyRef !== undefined) return secretValue(secretKeyRef.key)
    if (fieldRef !== undefined) return fieldRef.fieldPath
    const value = this.find('ConfigMap', configMapKeyRef.name)?.data[configMapKeyRef.key]
    if (value === undefined) throw new Error(`${configMapKeyRef.name} has no ${configMapKeyRef.key}`)
    return value
  }
}

/** Names of variables that others of the same container are made of: `$(NAME)`. */
export function partsOfOthers(container: Manifest): ReadonlySet<string> {
  const values: readonly Manifest[] = container.env ?? []
  return new Set(
    values.flatMap(({ value }) => [...String(value ?? '').matchAll(/\$\((\w+)\)/g)].map(([, name = '']) => name)),
  )
}
