import { Environment } from '@marcbachmann/cel-js'
import type { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'
import { allows, type Rules } from './roles.ts'

/** What somebody asks of the API server. */
export interface AdmissionRequest {
  readonly namespace: string
  readonly user: string
  /** What the user's Roles say, in every namespace. */
  readonly rules: Rules
  readonly object: Manifest
}

/** `authorizer.group(…).resource(…)…check(…).allowed()` of Kubernetes' CEL, as much of it as the policies use. */
class Authorizer {
  readonly rules: Rules
  readonly asked: {
    readonly group: string
    readonly resource: string
    readonly namespace: string
    readonly name: string
  }
  readonly verb: string

  constructor(rules: Rules, asked = { group: '', resource: '', namespace: '', name: '' }, verb = '') {
    this.rules = rules
    this.asked = asked
    this.verb = verb
  }

  with(part: Partial<Authorizer['asked']>): Authorizer {
    return new Authorizer(this.rules, { ...this.asked, ...part })
  }

  check(verb: string): Authorizer {
    return new Authorizer(this.rules, this.asked, verb)
  }

  allowed(): boolean {
    return allows(this.rules, { ...this.asked, verb: this.verb })
  }
}

const cel = new Environment({ unlistedVariablesAreDyn: true }).registerType('Authorizer', Authorizer)
for (const part of ['group', 'resource', 'namespace', 'name'])
  cel.registerFunction(`Authorizer.${part}(string): Authorizer`, (authorizer: Authorizer, value: string) =>
    authorizer.with({ [part]: value }),
  )
cel.registerFunction('Authorizer.check(string): Authorizer', (authorizer: Authorizer, verb: string) =>
  authorizer.check(verb),
)
cel.registerFunction('Authorizer.allowed(): bool', (authorizer: Authorizer) => authorizer.allowed())
cel.registerVariable('authorizer', 'Authorizer')

/** @returns what the policies that are bound say against it; nothing when it is admitted */
export function refusals(cluster: Cluster, resource: string, request: AdmissionRequest): readonly string[] {
  const { namespace, user, rules, object } = request
  const given = { request: { namespace, userInfo: { username: user } }, authorizer: new Authorizer(rules), object }
  return boundPolicies(cluster)
    .filter(({ spec }) => concerns(spec.matchConstraints, resource, namespace))
    .filter(({ spec }) =>
      (spec.matchConditions ?? []).every(({ expression }: Manifest) => cel.evaluate(expression, given) === true),
    )
    .flatMap(({ spec }) => {
      const variables = Object.fromEntries(
        (spec.variables ?? []).map(({ name, expression }: Manifest) => [name, cel.evaluate(expression, given)]),
      )
      const broken = spec.validations.filter(
        ({ expression }: Manifest) => cel.evaluate(expression, { ...given, variables }) !== true,
      )
      return broken.map(({ message }: Manifest) => message)
    })
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
