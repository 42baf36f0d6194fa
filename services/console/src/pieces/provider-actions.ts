import { defined, type Operation, operations, type Reply, seenOf } from '@backoffice/contracts'
import type { Directory } from './directory.ts'
import type { Option } from './forms.ts'
import { addressOptions, makingDecision, secretsIn } from './operator-actions.ts'
import { type Decision, labelOf, type Visit } from './visit.ts'

const { createProvider, getProvider, setProviderGrant, setProviderLimits } = operations.gateway
const { suspendProvider, activateProvider, issueProviderKey } = operations.gateway
const { listWinLimits, setWinLimit } = operations.wallet

export type Provider = Reply<typeof getProvider>
export type Grant = Provider['grants'][number]

export interface FoundProvider {
  readonly provider: Provider
  readonly directory: Directory
  readonly limits: Reply<typeof listWinLimits> | undefined
}

export interface FoundGrant extends FoundProvider {
  readonly grant: Grant
}

export const providerPath = ({ id: providerId }: Pick<Provider, 'id'>): string => `/providers/${providerId}`

export const createDecision = (visit: Visit): Decision =>
  makingDecision(visit, createProvider, {
    initial: { allowedAddresses: 'any' },
    ask: visit.display.t('createProviderAsk'),
    leadsTo: (reply) => providerPath(reply as Provider),
  })

/** What one win may be without two people. */
export function maxWinOf({ limits, provider }: FoundProvider, { brandId }: Grant): string | undefined {
  const own = limits?.data.find((one) => one.providerId === provider.id && one.brandId === brandId)
  return own?.maxWin ?? limits?.otherwise
}

/** In the order of the page. */
const changes = {
  grant: setProviderGrant,
  issue: issueProviderKey,
  limits: setProviderLimits,
  suspend: suspendProvider,
  activate: activateProvider,
} as const
type Verb = keyof typeof changes
const verbs = Object.keys(changes) as readonly Verb[]
export const isVerb = (name: string): name is Verb => Object.hasOwn(changes, name)

const grantable = (visit: Visit, { provider, directory }: FoundProvider) => {
  const granted = new Set(provider.grants.map(({ brandId }) => brandId))
  return directory.brands.filter((brand) => brand.environment === visit.environment && !granted.has(brand.id))
}

function isOffered(visit: Visit, found: FoundProvider, verb: Verb): boolean {
  if (verb === 'grant') return grantable(visit, found).length > 0
  if (verb === 'suspend') return found.provider.status === 'active'
  return verb !== 'activate' || found.provider.status === 'suspended'
}

/** A decision about a provider: what all of them have in common. */
const decisionAbout = (
  visit: Visit,
  provider: Provider,
  { operation, ...given }: Pick<Decision, 'name' | 'operation'> & Partial<Decision>,
): Decision => ({
  ask: visit.display.t('providerAsk', { provider: provider.name }),
  done: `${visit.display.t(labelOf(operation))}: ${provider.name}`,
  required: ['reason'],
  operation,
  ...given,
  fixed: { providerId: provider.id, seen: seenOf(operation as typeof suspendProvider, provider), ...given.fixed },
})

export function providerDecision(visit: Visit, found: FoundProvider, verb: Verb): Decision {
  const { display, environment } = visit
  const { provider } = found
  const about = (given: Partial<Decision>) =>
    decisionAbout(visit, provider, { name: verb, operation: changes[verb] as Operation, ...given })
  const where = { provider: provider.name, environment: display.t(environment) }
  switch (verb) {
    case 'grant':
      return about({
        fixed: { grant: 'active' },
        options: {
          brandId: grantable(visit, found).map(({ id: value, name }): Option => ({ name: value, label: name, value })),
        },
        ask: display.t('grantAsk', where),
        tone: 'good',
        leadsTo: () => providerPath(provider),
      })
    case 'issue':
      return about({
        fixed: { environment },
        ask: display.t('issueProviderKeyAsk', where),
        secrets: secretsIn(issueProviderKey),
      })
    case 'limits':
      return about({
        initial: {
          stakesPerMinute: String(provider.stakesPerMinute),
          othersPerMinute: String(provider.othersPerMinute),
          allowedAddresses: provider.allowedAddresses.length === 0 ? 'any' : 'given',
          allowedAddressesGiven: provider.allowedAddresses.join('\n'),
        },
        options: { allowedAddresses: addressOptions(display) },
      })
    case 'suspend':
      return about({ ask: display.t('suspendProviderAsk', where), tone: 'bad' })
    case 'activate':
      return about({ tone: 'good' })
    default:
      return verb satisfies never
  }
}

/** Suspends the grant, or grants the brand again. */
export function regrantDecision(visit: Visit, { provider, grant }: FoundGrant): Decision {
  const isActive = grant.status === 'active'
  const label = isActive ? 'suspendGrant' : 'grantAgain'
  const words = { provider: provider.name, operator: grant.operatorName }
  return decisionAbout(visit, provider, {
    name: isActive ? 'suspendGrant' : 'grant',
    label,
    operation: setProviderGrant,
    fixed: { brandId: grant.brandId, grant: isActive ? 'suspended' : 'active' },
    ask: visit.display.t(isActive ? 'suspendGrantAsk' : 'grantAgainAsk', words),
    done: `${visit.display.t(label)}: ${provider.name}, ${grant.operatorName}`,
    tone: isActive ? 'bad' : 'good',
  })
}

export function winLimitDecision({ display }: Visit, found: FoundGrant): Decision {
  const { provider, grant, directory } = found
  const maxWin = maxWinOf(found, grant) ?? ''
  return {
    name: 'winLimit',
    operation: setWinLimit,
    fixed: { providerId: provider.id, brandId: grant.brandId, seen: { maxWin } },
    required: ['reason'],
    initial: { maxWin },
    ask: display.t('winLimitAsk', { provider: provider.name, operator: grant.operatorName }),
    done: `${display.t(labelOf(setWinLimit))}: ${provider.name}, ${grant.operatorName}`,
    ...defined({ currency: directory.brand(grant.brandId)?.currency }),
  }
}

/** What somebody can do with a provider now. */
export const providerDecisions = (visit: Visit, found: FoundProvider): readonly Decision[] =>
  verbs.filter((verb) => isOffered(visit, found, verb)).map((verb) => providerDecision(visit, found, verb))
