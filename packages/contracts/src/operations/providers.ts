import { type Static, Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import { EnvironmentName, Id, Reason, Timestamp } from '../resources.ts'
import { arrayOf, described, Nullable, object, optional, pageOf, text } from '../schema.ts'
import { everyRole } from '../team.ts'
import { ActiveOrSuspended, AddressRange, AllowedAddresses, IssuedKey, RevokedKey, seenField } from './fields.ts'

const ProviderName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$',
  description: 'Unique among providers.',
})
const StakesPerMinute = Type.Integer({
  minimum: 1,
  maximum: 10_000_000,
  description: 'Bets and spins a minute, by environment.',
})
const OthersPerMinute = Type.Integer({
  minimum: 1,
  maximum: 10_000_000,
  description: 'Wins, rollbacks, closes and reads a minute, by environment.',
})

/** The grants and the keys of a provider that are shown. */
export const grantsShownMax = 150
const providerBytesMax = 26 * 1024

/** A provider of games as the team sees it: never a secret. */
export const ProviderRecord = object({
  id: Id,
  name: text(64),
  status: ActiveOrSuspended,
  stakesPerMinute: Type.Integer(),
  othersPerMinute: Type.Integer(),
  allowedAddresses: Type.Array(AddressRange, { maxItems: 200 }),
  createdAt: Timestamp,
  grants: arrayOf(grantsShownMax, {
    brandId: Id,
    brandName: text(100),
    operatorId: Id,
    operatorName: text(64),
    environment: EnvironmentName,
    status: ActiveOrSuspended,
    grantedAt: Timestamp,
  }),
  keys: arrayOf(50, {
    key: text(64),
    environment: EnvironmentName,
    createdAt: Timestamp,
    revokedAt: Nullable(Timestamp),
    /** Exact to five minutes; null: never. */
    lastUsedAt: Nullable(Timestamp),
  }),
})
export type ProviderRecord = Static<typeof ProviderRecord>

const { grants: _grants, keys: _keys, ...terms } = ProviderRecord.properties
/** What a change answers, and what is stored of it: all but the lists of brands and keys. */
const ChangedProvider = object(terms)

const name = ProviderName
const { status, stakesPerMinute, othersPerMinute, allowedAddresses } = ProviderRecord.properties
const changed = {
  storedBytesMax: providerBytesMax,
  reply: ChangedProvider,
  rejects: ['PROVIDER_NOT_FOUND', 'NOT_AS_SEEN'],
} as const

/** Providers of games, their keys, and the brands that they were granted. */
export const providers = {
  createProvider: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Create a provider of games; it has no key and no brand yet',
    body: object({
      name: ProviderName,
      stakesPerMinute: Type.Optional(StakesPerMinute),
      othersPerMinute: Type.Optional(OthersPerMinute),
      allowedAddresses: Type.Optional(AllowedAddresses),
      reason: Type.Optional(Reason),
    }),
    storedBytesMax: providerBytesMax,
    reply: ChangedProvider,
    rejects: ['VALIDATION_ERROR', 'PROVIDER_ALREADY_EXISTS'],
  }),

  listProviders: team.query({
    roles: everyRole,
    summary: 'List the providers of games, by name',
    body: object({
      after: optional(Type.String({ minLength: 1, maxLength: 256 }), 'Go on after this name.'),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    reply: pageOf(ProviderRecord),
  }),

  getProvider: team.query({
    roles: everyRole,
    summary: 'Show a provider with its brands and keys',
    body: object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'Name, id or key.' }) }),
    reply: ProviderRecord,
    rejects: ['PROVIDER_NOT_FOUND'],
  }),

  setProviderGrant: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: 'Grant a brand to a provider, or suspend the grant',
    body: object({
      providerId: Id,
      brandId: Id,
      grant: described(ActiveOrSuspended, 'Suspended: bets are refused; what was begun is settled.'),
      ...seenField({ name }),
      reason: Type.Optional(Reason),
    }),
    ...changed,
    rejects: ['PROVIDER_NOT_FOUND', 'OPERATOR_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  setProviderLimits: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    twoPeople: 'in production',
    summary: "Change a provider's limits or permitted addresses",
    description: 'To permit addresses that were not permitted before takes two people.',
    body: object({
      providerId: Id,
      stakesPerMinute: Type.Optional(StakesPerMinute),
      othersPerMinute: Type.Optional(OthersPerMinute),
      allowedAddresses: Type.Optional(AllowedAddresses),
      ...seenField({ name, stakesPerMinute, othersPerMinute, allowedAddresses }),
      reason: Type.Optional(Reason),
    }),
    ...changed,
    rejects: ['VALIDATION_ERROR', 'PROVIDER_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  suspendProvider: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Suspend a provider: its bets are refused within a second; what was begun is settled',
    body: object({ providerId: Id, ...seenField({ name, status }), reason: Type.Optional(Reason) }),
    ...changed,
  }),

  activateProvider: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Activate a suspended provider',
    body: object({ providerId: Id, ...seenField({ name, status }), reason: Type.Optional(Reason) }),
    ...changed,
  }),

  issueProviderKey: team.command({
    roles: ['integration'],
    freshLogin: { when: { environment: 'production' } },
    twoPeople: { when: { environment: 'production' } },
    summary: 'Issue a key and secret of a provider, shown once; those before go on working',
    body: object({
      providerId: Id,
      environment: EnvironmentName,
      ...seenField({ name }),
      reason: Type.Optional(Reason),
    }),
    reply: IssuedKey,
    rejects: ['PROVIDER_NOT_FOUND', 'NOT_AS_SEEN'],
  }),

  revokeProviderKey: team.command({
    roles: ['integration'],
    freshLogin: 'always',
    summary: 'Revoke a key of a provider; it answers INVALID_CREDENTIALS within a second',
    body: object({
      key: Type.String({ minLength: 1, maxLength: 128 }),
      ...seenField({ name, environment: EnvironmentName }),
      reason: Type.Optional(Reason),
    }),
    reply: RevokedKey,
    rejects: ['CREDENTIAL_NOT_FOUND', 'NOT_AS_SEEN'],
  }),
}
