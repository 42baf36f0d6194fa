import { Environment } from '@marcbachmann/cel-js'
import type { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'

/** What somebody asks of the API server. */
export interface AdmissionRequest {
  readonly namespace: string
  readonly user: string
  readonly groups?: readonly string[]
  readonly object: Manifest
}

const cel = new Environment({ unlistedVariablesAreDyn: true })

/** @returns what the policies that are bound say against it; nothing when it is admitted */
export function refusals(cluster: Cluster, resource: string, request: AdmissionRequest): readonly string[] {
  const { namespace, user, groups = [], object } = request
  const given = { request: { namespace, userInfo: { username: user, groups } }, object }
  return boundPolicies(cluster)
    .filter(({ spec }) => concerns(spec.matchConstraints, resource, namespace))
    .filter(({ spec }) =>
      (spec.matchConditions ?? []).every(({ expression }: Manifest) => cel.evaluate(expression, given) === true),
    )
    .flatMap(({ spec }) =>
      spec.validations
        .filter(({ expression }: Manifest) => cel.evaluate(expression, given) !== true)
        .map(({ message }: Manifest) => message),
    )
}

function boundPolicies(cluster: Cluster): readonly Manifest[] {
  const bound = cluster
    .all('ValidatingAdmissionPolicyBinding')
    .filter(({ spec }) => spec.validationActions.includes('Deny'))
    .map(({ spec }) => spec.policyName)
  return cluster
    .all('ValidatingAdmissionPolicy')
    .filter(({ metadata, spec }) => bound.includes(metadata.name) && spec.failurePolicy === 'Fail')
}

function concerns({ namespaceSelector, resourceRules }: Manifest, resource: string, namespace: string): boolean {
  const wanted = namespaceSelector?.matchLabels['kubernetes.io/metadata.name'] ?? namespace
  return (
    wanted === namespace && resourceRules.some(({ resources }: Manifest) => (resources as string[]).includes(resource))
  )
}

export interface Rule {
  /** Undefined for every namespace, and for what has none. */
  readonly namespace?: string
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

/** What the roles that are bound to one of these subjects allow. */
export function rulesOf(cluster: Cluster, subjects: readonly string[]): Rules {
  const bindings = [...cluster.all('RoleBinding'), ...cluster.all('ClusterRoleBinding')]
  return bindings
    .filter(({ subjects: bound }) => bound.some(({ name }: Manifest) => subjects.includes(name)))
    .flatMap(({ metadata: { namespace }, roleRef }) => rulesOfRole(cluster, namespace, roleRef.name, roleRef.kind))
}

export function rulesOfRole(cluster: Cluster, namespace: string | undefined, name: string, kind = 'Role'): Rules {
  const role = cluster
    .all(kind)
    .find(({ metadata }) => metadata.name === name && (kind === 'ClusterRole' || metadata.namespace === namespace))
  return role.rules.map((rule: Manifest) => (namespace === undefined ? rule : { namespace, ...rule }))
}

const matches = (allowed: readonly string[], one: string) => allowed.includes(one) || allowed.includes('*')

export function allows(rules: Rules, { group, resource, namespace, name, verb }: Asked): boolean {
  return rules.some(
    (rule) =>
      (rule.namespace === undefined || rule.namespace === namespace) &&
      matches(rule.apiGroups, group) &&
      matches(rule.resources, resource) &&
      matches(rule.verbs, verb) &&
      (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
  )
}
