import {
  defined,
  type Input,
  operations,
  type ProviderRecord,
  providerRatesDefault,
  Rejection,
  refuseUnlessSeen,
  seenOf,
} from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { handle, type ReadDb, type Tools, toPage } from '@backoffice/service-runtime'
import { newPair, providerKeys } from '../keys.ts'
import { differences, isWidened, normaliseRanges } from '../operators/operator.ts'
import {
  addKey,
  addProvider,
  findProviders,
  isProviderNameTaken,
  lockKey,
  lockProvider,
  type ProviderRow,
  readGrant,
  readProvider,
  showProviders,
  writeGrant,
  writeRevocation,
  writeTerms,
} from './records.ts'

async function shown(db: ReadDb, id: string): Promise<ProviderRecord> {
  const [provider] = await showProviders(db, [await readProvider(db, id)])
  if (provider === undefined) throw new Error(`${id} is not shown`)
  return provider
}

/** What a change answers: its lists may be longer than what is stored of a call. */
async function shownChanged(db: ReadDb, id: string): Promise<Omit<ProviderRecord, 'grants' | 'keys'>> {
  const { grants: _grants, keys: _keys, ...terms } = await shown(db, id)
  return terms
}

/** A provider is one for both environments, so two people make it, but in development. */
export const createProvider = ({ development }: { readonly development: boolean }) =>
  handle(operations.gateway.createProvider, {
    async approval({ input: { name, allowedAddresses = [] } }, { db }) {
      normaliseRanges(allowedAddresses)
      if (await isProviderNameTaken(db, name)) throw new Rejection('PROVIDER_ALREADY_EXISTS')
      return development ? 'nobody' : 'second person'
    },
    async execute({ input }, { db, now, newId, changed }) {
      const { reason: _reason, allowedAddresses = [], ...given } = input
      // When two calls use one name at once, the second fails on the unique index, runs again, and ends here.
      if (await isProviderNameTaken(db, given.name)) throw new Rejection('PROVIDER_ALREADY_EXISTS')
      const id = newId('prv')
      const terms = { ...providerRatesDefault, ...given, allowedAddresses: normaliseRanges(allowedAddresses) }
      await addProvider(db, { id, ...terms, createdAt: now })
      changed({ field: 'providerId', before: null, after: id })
      return shownChanged(db, id)
    },
  })

const limitMax = 100

export const listProviders = handle(operations.gateway.listProviders, async ({ input }, { db }) => {
  const { after = '', limit = limitMax } = input
  const providers = await showProviders(db, await findProviders(db, after, limit + 1))
  return toPage(providers, limit, ({ name }) => name)
})

export const getProvider = handle(operations.gateway.getProvider, ({ input: { name } }, { db }) => shown(db, name))

type ProviderChange =
  | typeof operations.gateway.setProviderLimits
  | typeof operations.gateway.suspendProvider
  | typeof operations.gateway.activateProvider

/** What the team changes of a provider. */
const showTerms = ({ name, stakesPerMinute, othersPerMinute, allowedAddresses, suspendedAt }: ProviderRow) => ({
  ...{ name, stakesPerMinute, othersPerMinute, allowedAddresses: [...allowedAddresses] },
  status: suspendedAt === null ? ('active' as const) : ('suspended' as const),
})

/**
 * Changes a provider under its lock.
 * @returns the provider as it is afterwards
 * @throws {Rejection} PROVIDER_NOT_FOUND, NOT_AS_SEEN
 */
async function changeProvider<O extends ProviderChange>(
  { db, changed }: Pick<Tools['execute'], 'db' | 'changed'>,
  operation: O,
  { providerId, seen }: Input<ProviderChange>,
  change: (terms: ProviderRow) => ProviderRow,
): Promise<Omit<ProviderRecord, 'grants' | 'keys'>> {
  const before = await lockProvider(db, providerId)
  refuseUnlessSeen({ providerId }, seen, seenOf<ProviderChange>(operation, showTerms(before)))
  const after = change(before)
  changed(...differences(before, after))
  await writeTerms(db, providerId, after)
  return shownChanged(db, providerId)
}

/** Changes only the limits that the input has. An empty list of addresses permits any address. */
export const setProviderLimits = handle(operations.gateway.setProviderLimits, {
  /** Nobody alone lets others call with a provider's keys. A provider's addresses are those of both environments. */
  async approval({ input: { providerId, allowedAddresses } }, { db }) {
    if (allowedAddresses === undefined) return 'nobody'
    const ranges = normaliseRanges(allowedAddresses)
    return isWidened((await lockProvider(db, providerId)).allowedAddresses, ranges) ? 'second person' : 'nobody'
  },
  async execute({ input }, tools) {
    const { stakesPerMinute, othersPerMinute, allowedAddresses: given } = input
    const limits = defined({ stakesPerMinute, othersPerMinute, allowedAddresses: given && normaliseRanges(given) })
    return changeProvider(tools, operations.gateway.setProviderLimits, input, (terms) => ({ ...terms, ...limits }))
  },
})

/** Holds within a second on every replica. Suspending again keeps the time of the first suspension. */
export const suspendProvider = handle(operations.gateway.suspendProvider, {
  execute: ({ input }, tools) =>
    changeProvider(tools, operations.gateway.suspendProvider, input, (terms) => ({
      ...terms,
      suspendedAt: terms.suspendedAt ?? tools.now,
    })),
})

export const activateProvider = handle(operations.gateway.activateProvider, {
  execute: ({ input }, tools) =>
    changeProvider(tools, operations.gateway.activateProvider, input, (terms) => ({ ...terms, suspendedAt: null })),
})

/** Holds within a second on every replica. */
export const setProviderGrant = handle(operations.gateway.setProviderGrant, {
  /** To let a provider move players' money takes two people; one may stop it. */
  async approval({ input }, { db }) {
    await lockProvider(db, input.providerId)
    const { environment } = await readGrant(db, input)
    return environment === 'production' && input.grant === 'active' ? 'second person' : 'nobody'
  },
  async execute({ input: { providerId, brandId, grant, seen } }, { db, now, changed }) {
    const { name } = await lockProvider(db, providerId)
    refuseUnlessSeen({ providerId }, seen, { name })
    const before = await readGrant(db, { providerId, brandId })
    if (before.grant !== grant) changed({ field: 'grant', before: before.grant, after: grant })
    await writeGrant(db, { providerId, brandId, suspended: grant === 'suspended', now })
    return shownChanged(db, providerId)
  },
})

/** Both keys work until the old one is revoked, so a rotation costs no outage. */
export const issueProviderKey = (secrets: SecretBox) =>
  handle(operations.gateway.issueProviderKey, {
    async execute({ input: { providerId, environment, seen } }, { db, now, newId, changed }) {
      const { name } = await lockProvider(db, providerId)
      refuseUnlessSeen({ providerId }, seen, { name })
      const id = newId('crd')
      const { key, secret } = newPair(providerKeys, environment)
      await addKey(db, { id, providerId, environment, key, sealedSecret: secrets.encrypt(secret, id), createdAt: now })
      changed({ field: 'key', before: null, after: key })
      return { key, secret, environment }
    },
    stored: (reply) => ({ ...reply, secret: null }),
  })

/** Holds within a second on every replica. The last key too: that stops all that the provider sends. */
export const revokeProviderKey = handle(operations.gateway.revokeProviderKey, {
  async execute({ input: { key, seen } }, { db, now, changed }) {
    const { name, environment, revokedAt } = await lockKey(db, key)
    refuseUnlessSeen({ key }, seen, { name, environment })
    if (revokedAt === null) changed({ field: 'revokedAt', before: null, after: now.toISOString() })
    await writeRevocation(db, key, now)
    return { key, revokedAt: (revokedAt ?? now).toISOString() }
  },
})
