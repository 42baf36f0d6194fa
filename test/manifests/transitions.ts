import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Environment } from '@marcbachmann/cel-js'
import type { Cluster } from './cluster.ts'
import { documentsIn, type Manifest } from './kustomize.ts'

/** A rule of a resource definition that compares an object with what it was (`oldSelf`). */
type Rule = readonly [path: string, rule: string, message: string]
/** By who publishes the definitions and their version, then by group and kind: also the kinds without such a rule. */
type Publishers = Readonly<Record<string, Readonly<Record<string, readonly Rule[]>>>>

const file = new URL('./transition-rules.json', import.meta.url)
export const published: Publishers = JSON.parse(readFileSync(file, 'utf8'))
const rules = Object.assign({}, ...Object.values(published)) as Publishers[string]
const cel = new Environment({ unlistedVariablesAreDyn: true })

export const kindOf = ({ apiVersion, kind }: Manifest): string => `${String(apiVersion).split('/')[0]} ${kind}`
const at = (object: Manifest, path: string) => path.split('.').reduce((part, name) => part?.[name], object)
const without = (object: Manifest, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** What Kubernetes never changes in an object of its own (`Validate…Update` in kubernetes/pkg/apis). */
const fixed: Readonly<Record<string, (object: Manifest) => unknown>> = {
  ClusterRoleBinding: ({ roleRef }) => roleRef,
  ConfigMap: ({ immutable, data }) => immutable && data,
  DaemonSet: ({ spec }) => spec.selector,
  Deployment: ({ spec }) => spec.selector,
  Job: ({ spec }) => [spec.selector, spec.template, spec.completions, spec.completionMode, spec.podFailurePolicy],
  PersistentVolumeClaim: ({ spec }) => without(spec, 'resources', 'volumeAttributesClassName'),
  PriorityClass: ({ value, preemptionPolicy = 'PreemptLowerPriority' }) => [value, preemptionPolicy],
  RoleBinding: ({ roleRef }) => roleRef,
  Secret: ({ type = 'Opaque', immutable, data }) => [type, immutable && data],
  Service: ({ spec }) => spec.clusterIP,
  StatefulSet: ({ spec }) =>
    without(
      spec,
      'replicas',
      'ordinals',
      'template',
      'updateStrategy',
      'revisionHistoryLimit',
      'persistentVolumeClaimRetentionPolicy',
      'minReadySeconds',
    ),
}

/** Sizes of disks, which only grow: Kubernetes' own, and those that CloudNativePG's webhook holds (`validateStorageChange`). */
const growing: Readonly<Record<string, readonly string[]>> = {
  Cluster: ['spec.storage.size', 'spec.walStorage.size'],
  PersistentVolumeClaim: ['spec.resources.requests.storage'],
}

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi']
export function bytesOf(quantity: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(\w*)$/.exec(quantity) ?? []
  if (number === undefined || !units.includes(unit)) throw new Error(`${quantity} is no size that this test reads`)
  return Number(number) * 1024 ** units.indexOf(unit)
}

/** @returns why an API server would refuse to make the second out of the first; empty when it would not */
export function refusalsOf(before: Manifest, after: Manifest): readonly string[] {
  const { kind } = after
  const isGrowing = (path: string) => {
    const [was, is] = [at(before, path), at(after, path)]
    return was === undefined || is === undefined || bytesOf(is) >= bytesOf(was)
  }
  const broken = [
    ...(rules[kindOf(after)] ?? [])
      .map(([path, rule, message]) => ({ path, rule, message, self: at(after, path), oldSelf: at(before, path) }))
      // Where one of the two is not there, the API server does not evaluate the rule.
      .filter(
        ({ rule, self, oldSelf }) => ![self, oldSelf].includes(undefined) && !cel.evaluate(rule, { self, oldSelf }),
      )
      .map(({ path, message }) => `${path}: ${message}`),
    ...(isDeepStrictEqual(fixed[kind]?.(before), fixed[kind]?.(after)) ? [] : ['a field that cannot be changed']),
    ...(growing[kind] ?? []).filter((path) => !isGrowing(path)).map((path) => `${path}: cannot become smaller`),
  ]
  return broken.map((why) => `${kind} ${after.metadata.name}: ${why}`)
}

/** What an API server refuses of the second where the first was applied. Jobs are removed before (deploy.sh). */
export function refusedBetween(before: Cluster, after: Cluster): readonly string[] {
  const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace} ${metadata.name}`
  const known = new Map(before.manifests.map((manifest) => [nameOf(manifest), manifest]))
  return after.manifests
    .filter((manifest) => manifest.kind !== 'Job' && known.has(nameOf(manifest)))
    .flatMap((manifest) => refusalsOf(known.get(nameOf(manifest)), manifest))
}

/** Of a schema and all below it. No rule may lie in a list, where nobody here knows which item was which. */
function rulesIn(schema: Manifest, path: string, inList = false): readonly Rule[] {
  const here = (schema['x-kubernetes-validations'] ?? []).filter(({ rule }: Manifest) => rule.includes('oldSelf'))
  if (inList && here.length > 0) throw new Error(`${path} is in a list: refusalsOf cannot hold its rules`)
  return [
    ...here.map(({ rule, message }: Manifest) => [path, rule, message]),
    ...Object.entries<Manifest>(schema.properties ?? {}).flatMap(([name, part]) =>
      rulesIn(part, path === '' ? name : `${path}.${name}`, inList),
    ),
    ...[schema.items, schema.additionalProperties]
      .filter((part) => typeof part === 'object')
      .flatMap((part) => rulesIn(part, path, true)),
  ]
}

// node test/manifests/transitions.ts "OWNER/REPOSITORY VERSION" DEFINITIONS.yaml…   takes the rules of a version from there.
if (import.meta.main) {
  const [publisher = '', ...files] = process.argv.slice(2)
  const definitions = files.flatMap((path) => documentsIn(readFileSync(path, 'utf8').replaceAll(/^\{\{.*\}\}$/gm, '')))
  const kinds = definitions.map(({ spec }) => {
    const stored = spec.versions.find(({ storage }: Manifest) => storage)
    return [`${spec.group} ${spec.names.kind}`, rulesIn(stored.schema.openAPIV3Schema, '')]
  })
  const [name] = publisher.split(' ')
  const others = Object.entries(published).filter(([each]) => each.split(' ')[0] !== name)
  const all = Object.fromEntries([...others, [publisher, Object.fromEntries(kinds)]].toSorted())
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
}
