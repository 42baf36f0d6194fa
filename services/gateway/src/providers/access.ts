import { bodySha256, defined, type Operation, type Scope } from '@backoffice/contracts'
import { Batcher, type ReadDb } from '@backoffice/service-runtime'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import {
  type AuthenticationContext,
  admitWithin,
  type Caller,
  entryTtlMsDefault,
  rawBody,
  refuseForeignAddress,
  verifySender,
} from '../http/authenticate.ts'
import {
  findGrants,
  type GrantedBrand,
  type GrantName,
  type KnownProviderKey,
  nameOf,
  type PlayQuotas,
} from './records.ts'
import { isStake } from './stakes.ts'

const entriesMax = 10_000
/** Grants in one statement. */
const batchMax = 200

/**
 * Which brands a provider may call. A grant or a suspension holds on every replica within a second, so that also what is
 * not granted is asked for again after that. Only who has signed rightly asks.
 */
export class GrantDirectory {
  readonly #cache: LRUCache<string, { readonly brand: GrantedBrand | null }, GrantName>

  constructor(db: ReadDb, entryTtlMs = entryTtlMsDefault) {
    const lookups = new Batcher<GrantName, GrantedBrand | null>({
      run: (asked) => findGrants(db, asked),
      batchMax,
      queueMax: entriesMax,
      ownerOf: ({ providerId }) => providerId,
    })
    this.#cache = new LRUCache({
      max: entriesMax,
      ttl: entryTtlMs,
      fetchMethod: async (_key, _stale, { context }) => ({ brand: await lookups.add(context) }),
    })
  }

  /** Null for a brand that the provider was not granted. */
  async find(grant: GrantName): Promise<GrantedBrand | null> {
    const key = nameOf(grant)
    const entry = this.#cache.get(key) ?? (await this.#cache.fetch(key, { context: grant }))
    return entry?.brand ?? null
  }
}

export interface ProviderContext extends AuthenticationContext<KnownProviderKey> {
  readonly brands: Pick<GrantDirectory, 'find'>
  readonly quotas: PlayQuotas
}

/**
 * Finds out which provider sends a request, and for which brand. The order of the checks is fixed: key, timestamp,
 * signature, address, brand, rate. Who is suspended is let in: bets are refused by the wallet, which first looks whether it
 * knows them, and what was begun is settled.
 * @throws {Rejection} INVALID_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, INVALID_SIGNATURE, FORBIDDEN_IP, BRAND_NOT_GRANTED,
 *   RATE_LIMITED
 */
export async function authenticateProvider(
  request: FastifyRequest,
  operation: Operation,
  context: ProviderContext,
): Promise<Caller> {
  const { known, address, refuse } = await verifySender(request, context)
  refuseForeignAddress(known, address, refuse)
  const { providerId, environment } = known
  const { brandId = '' } = request.params as { readonly brandId?: string }
  const brand = isBrandId.test(brandId) ? await context.brands.find({ providerId, brandId }) : null
  if (brand?.scope.environment !== environment) throw refuse('BRAND_NOT_GRANTED')
  // Two budgets of their own: a flood of bets takes none of what wins and rollbacks have.
  const [perMinute, kind] = isStake(operation)
    ? ([known.stakesPerMinute, 'stakes'] as const)
    : ([known.othersPerMinute, 'others'] as const)
  await admitWithin(perMinute, { operatorId: providerId, environment: `${environment} ${kind}` }, context)
  context.uses.used(known.credentialId, context.clock.now())
  const provider: Scope['provider'] = {
    id: providerId,
    bodyDigest: bodySha256(rawBody(request)),
    ...defined({ stakesRefusedWith: brand.stakesRefusedWith }),
  }
  const credential = {
    key: known.key,
    scope: { ...brand.scope, provider },
    replayProtection: false,
    // Apart from what the operator's own calls store.
    tenant: { operatorId: brandId, environment },
    usedToday: brand.usedToday,
    quotas: context.quotas[environment],
  }
  return { credential, address }
}

const isBrandId = /^[\x21-\x7e]{1,64}$/
