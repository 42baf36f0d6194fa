import { Environment } from '@marcbachmann/cel-js'
import type { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'

/** What somebody asks of the API server. */
export interface AdmissionRequest {
  readonly namespace: string
  readonly user: string
  readonly object: Manifest
}

const cel = new Environment({ unlistedVariablesAreDyn: true })

/** @returns what the policies that are bound say against it; nothing when it is admitted */
export function refusals(cluster: Cluster, resource: string, request: AdmissionRequest): readonly string[] {
  const { namespace, user, object } = request
  const given = { request: { namespace, userInfo: { username: user } }, object }
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
