import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unlessRequired } from '@backoffice/test-kit'
import type { TObject } from '@sinclair/typebox'
import {
  copyOfDeploy,
  deployFolder,
  documentsIn,
  kustomizeCommand,
  type Manifest,
  type Rendered,
  secretValue,
} from './kustomize.ts'

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
    const maps = projected?.sources.flatMap((source: Manifest) => source.configMap ?? []) ?? [configMap]
    return Object.assign({}, ...maps.map(({ name }: Manifest) => this.find('ConfigMap', name)?.data))
  }

  /** The keys of a Secret of the services' namespace and what is in them; undefined for what cert-manager makes. */
  secret(name: string): Readonly<Record<string, string>> | undefined {
    const local = this.find('Secret', name)
    if (local !== undefined) return mapped(local.data, (text) => Buffer.from(text, 'base64').toString())
    const { data = [], target } = this.find('ExternalSecret', name)?.spec ?? {}
    if (target === undefined) return undefined
    const fetched = Object.fromEntries(
      data.map(({ secretKey, remoteRef }: Manifest) => [secretKey, secretValue(remoteRef.property)]),
    )
    if (target.template?.data === undefined) return fetched
    return mapped(target.template.data, (text) => text.replace(/\{\{ \.(\w+) \}\}/g, (_, key) => fetched[key]))
  }

  /** The files that a container has of Secrets, by their paths. */
  secretFiles({ pod, container }: Pick<Running, 'pod' | 'container'>): Readonly<Record<string, string>> {
    const files: Record<string, string> = {}
    for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
      const volume = pod.volumes?.find((each: Manifest) => each.name === name)
      for (const { secretName, items } of secretsIn(volume ?? {})) {
        const keys = this.secret(secretName)
        if (keys === undefined) continue
        for (const { key, path } of items ?? Object.keys(keys).map((key) => ({ key, path: key }))) {
          const text = keys[key]
          if (text === undefined) throw new Error(`the Secret ${secretName} has no ${key}`)
          if (subPath === undefined) files[join(mountPath, path)] = text
          else if (subPath === path) files[mountPath] = text
        }
      }
    }
    return files
  }

  /** The files that a container has of ConfigMaps, by their paths. */
  configurationFiles({ pod, container }: Pick<Running, 'pod' | 'container'>): Readonly<Record<string, string>> {
    const mounts: readonly Manifest[] = container.volumeMounts ?? []
    return Object.fromEntries(
      mounts.flatMap(({ name, mountPath }) => {
        const { configMap } = pod.volumes?.find((volume: Manifest) => volume.name === name) ?? {}
        const data: Record<string, string> = this.find('ConfigMap', configMap?.name)?.data ?? {}
        return Object.entries(data).map(([path, text]) => [join(mountPath, path), text])
      }),
    )
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
    return [...ours, ...databases]
  }

  /** The environment that the kubelet would give the container. */
  environment(container: Manifest): Readonly<Record<string, string>> {
    const environment: Record<string, string> = {}
    for (const { name, value, valueFrom } of container.env ?? []) {
      // A reference to what is not above it stays as it is written.
      const given =
        valueFrom === undefined
          ? String(value).replace(/\$\((\w+)\)/g, (text, other) => environment[other] ?? text)
          : this.#referred(valueFrom)
      if (given !== undefined) environment[name] = given
    }
    return environment
  }

  #referred({ configMapKeyRef, fieldRef }: Manifest): string | undefined {
    if (fieldRef !== undefined) return fieldRef.fieldPath
    const value = this.find('ConfigMap', configMapKeyRef.name)?.data[configMapKeyRef.key]
    if (value === undefined && !configMapKeyRef.optional)
      throw new Error(`${configMapKeyRef.name} has no ${configMapKeyRef.key}`)
    return value
  }
}

/** The Secrets in a volume. */
export function secretsIn({ secret, projected }: Manifest): readonly { secretName: string; items?: Manifest[] }[] {
  const among = (projected?.sources ?? []).flatMap((source: Manifest) => source.secret ?? [])
  return [
    ...(secret === undefined ? [] : [secret]),
    ...among.map(({ name, items }: Manifest) => ({ secretName: name, items })),
  ]
}

const mapped = (record: Readonly<Record<string, string>>, change: (text: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([key, text]) => [key, change(text)]))

/** Names of variables that others of the same container are made of: `$(NAME)`. */
export function partsOfOthers(container: Manifest): ReadonlySet<string> {
  const values: readonly Manifest[] = container.env ?? []
  return new Set(
    values.flatMap(({ value }) => [...String(value ?? '').matchAll(/\$\((\w+)\)/g)].map(([, name = '']) => name)),
  )
}

const kustomize = kustomizeCommand()

/** For a test that reads what would be applied: skipped by name where nothing can build it, unless tools are required. */
export const skip = unlessRequired(kustomize === null && 'needs kubectl 1.27 or newer, or kustomize 5')

let folder: string | undefined

/** A copy of deploy/ that all tests of this process share, with the secrets that the repository must not hold. */
export function deployCopy(): string {
  if (folder !== undefined) return folder
  const made = copyOfDeploy(mkdtempSync(join(tmpdir(), 'backoffice-deploy-')))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  folder = made
  return made
}

/** Files below deploy/k8s, and what is written there instead. */
export type Changes = Readonly<Record<string, (text: string) => string>>

/** What this process has built already, by the overlay and the texts that were changed. */
const built = new Map<string, Cluster>()

/** To build an overlay takes seconds, so what one process of a run has built is there for all: by all that it is made of. */
function builtOnce(key: string, build: () => string): string {
  const sources = globSync('**/*', { cwd: deployFolder, withFileTypes: true }).filter((entry) => entry.isFile())
  const hash = createHash('sha256').update(key)
  for (const { parentPath, name } of sources) hash.update(name).update(readFileSync(join(parentPath, name)))
  const file = join(tmpdir(), `backoffice-rendered-${hash.digest('hex')}`)
  if (!existsSync(file)) {
    writeFileSync(`${file}.${process.pid}`, build())
    renameSync(`${file}.${process.pid}`, file)
  }
  return readFileSync(file, 'utf8')
}

/** What would be applied, if these files were changed. Nobody may change what is returned. */
export function rendered(overlay: Rendered, changes: Changes = {}): Cluster {
  const [program, ...args] = kustomize ?? []
  if (program === undefined) throw new Error('kubectl 1.27 or newer, or kustomize 5, is needed')
  const k8s = join(deployCopy(), 'k8s')
  const files = Object.entries(changes).map(([file, change]) => {
    const path = join(k8s, file)
    const before = readFileSync(path, 'utf8')
    const after = change(before)
    if (after === before) throw new Error(`${file} has nothing of what is to be changed`)
    return { file, path, before, after }
  })
  const key = JSON.stringify([overlay, files.map(({ file, after }) => [file, after])])
  const known = built.get(key)
  if (known !== undefined) return known
  try {
    for (const { path, after } of files) writeFileSync(path, after)
    const options = { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 } as const
    const build = () => execFileSync(program, [...args, join(k8s, 'overlays', overlay)], options)
    const cluster = new Cluster(documentsIn(builtOnce(key, build)))
    built.set(key, cluster)
    return cluster
  } finally {
    for (const { path, before } of files) writeFileSync(path, before)
  }
}

/** Another value for some settings of an .env file. */
export const withSettings = (values: Readonly<Record<string, string>>) => (text: string) =>
  Object.entries(values).reduce((now, [name, value]) => {
    const line = new RegExp(`^${name}=.*$`, 'm')
    if (!line.test(now)) throw new Error(`there is no ${name}`)
    return now.replace(line, `${name}=${value}`)
  }, text)

/** The environment of a container on this machine: the files of its Secrets and ConfigMaps are below `dir`. */
export function environmentWithFiles(cluster: Cluster, running: Running, dir: string): Record<string, string> {
  const environment = { ...cluster.environment(running.container) }
  const files = { ...cluster.secretFiles(running), ...cluster.configurationFiles(running) }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  for (const [name, value] of Object.entries(environment)) if (value in files) environment[name] = join(dir, value)
  return environment
}

/** Every variable that a program reads: a secret has a second one, for its file. */
export const variablesOf = ({ properties }: TObject): readonly string[] =>
  Object.entries(properties).flatMap(([name, { secret }]) => (secret === true ? [name, `${name}_FILE`] : [name]))
