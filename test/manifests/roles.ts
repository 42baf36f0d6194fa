import type { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'

export interface Rule {
  readonly namespace: string
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}
export type Rules = readonly Rule[]

export interface Asked {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  /** Empty for what has no name yet, such as a new pod. */
  readonly name: string
  readonly verb: string
}

/** What the Roles that are bound to one of these subjects allow. */
export function rulesOf(cluster: Cluster, subjects: readonly string[]): Rules {
  return cluster
    .all('RoleBinding')
    .filter(({ subjects: bound }) => bound.some(({ name }: Manifest) => subjects.includes(name)))
    .flatMap(({ metadata, roleRef }) => rulesOfRole(cluster, metadata.namespace, roleRef.name))
}

export function rulesOfRole(cluster: Cluster, namespace: string, name: string): Rules {
  const role = cluster.all('Role').find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  return role.rules.map((rule: Manifest) => ({ namespace, ...rule }))
}

const matches = (allowed: readonly string[], one: string) => allowed.includes(one) || allowed.includes('*')

export function allows(rules: Rules, { group, resource, namespace, name, verb }: Asked): boolean {
  return rules.some(
    (rule) =>
      rule.namespace === namespace &&
      matches(rule.apiGroups, group) &&
      matches(rule.resources, resource) &&
      matches(rule.verbs, verb) &&
      (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
  )
}
