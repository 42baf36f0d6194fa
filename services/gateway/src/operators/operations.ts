import {
  brandDefaults,
  defined,
  type Environment,
  type Input,
  invalid,
  type OperatorRecord,
  operations,
  Rejection,
  refuseUnlessSeen,
  requestsPerMinuteDefault,
  residentServices,
  type Scope,
  seenOf,
} from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/database/vault'
import { type Db, handle, type Tools, toPage } from '@backoffice/service-runtime'
import { type IssuedPair, newPair, operatorKeys } from '../keys.ts'
import { rewrapKeys } from '../providers/records.ts'
import { findProofs, writeProofs } from '../requests/records.ts'
import type { BrandEntity } from './entities.ts'
import type { DefaultQuotas } from './operator.ts'
import {
  activate,
  differences,
  heardProof,
  isWidened,
  judgeHomologation,
  normaliseRanges,
  type OperatorTerms,
  type Proof,
  proofsByCheck,
  protectFromReplays,
  revokedAt,
  suspend,
} from './operator.ts'
import {
  addCredential,
  addOperator,
  findOperatorNames,
  findOperators,
  findUses,
  isNameTaken,
  isTimeZoneKnown,
  lockCredential,
  lockOperator,
  type OperatorWithBrands,
  readOperator,
  readOperatorNamed,
  records,
} from './records.ts'
import { isLive, showHomologationOf, showOperator, showOperators, showTerms, showUse } from './views.ts'

/** The services that keep whose a brand is. */
const others = residentServices.filter((service) => service !== 'gateway')

/**
 * Creates an operator with a sandbox and a production brand, and a pair for the sandbox. Production's pair is issued after
 * homologation (`issueCredential`); in development it comes at once. The other services learn of the brands before, under
 * ids that are minted here, and the webhooks service makes the webhook secrets: a key that exists works everywhere, and if a
 * service is away, nothing was made that an operator could meet. Secrets are in plain text in this one reply only.
 */
export const createOperator = (secrets: SecretBox, { development }: { readonly development: boolean }) =>
  handle(operations.gateway.createOperator, {
    async prepare({ input, requestId }, { db, rpc, newId }) {
      const { name, currency, timeZone } = { ...brandDefaults, ...input }
      const allowedAddresses = normaliseRanges(input.allowedAddresses ?? [])
      // Checked before anything is made, so that a taken name leaves no webhook secrets behind.
      if (await isNameTaken(db, name)) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      if (!(await isTimeZoneKnown(db, timeZone))) throw invalid('body', '/timeZone', 'is not known to the database')
      const operatorId = newId('op')
      const provision = async (environment: Environment) => {
        const scope = { operatorId, brandId: newId('brd'), environment, currency, timeZone }
        return provisionBrand(rpc, { scope, requestId, operatorName: name })
      }
      const [sandbox, production] = await Promise.all([provision('sandbox'), provision('production')])
      return { operatorId, allowedAddresses, currency, timeZone, sandbox, production }
    },

    async execute({ input }, { db, now, newId, changed }, prepared) {
      const { operatorId, allowedAddresses, currency, timeZone, sandbox, production } = prepared
      const { name, rateLimitPerMinute = requestsPerMinuteDefault } = input
      // When two calls use one name at once, the second fails on the unique index, runs again, and ends here.
      if (await isNameTaken(db, name)) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const brandOf = ({ brandId, environment }: typeof sandbox) => {
        const brandName = environment === 'sandbox' ? `${name} sandbox` : name
        return { id: brandId, environment, name: brandName, currency, timeZone }
      }
      const [sandboxBrand, productionBrand] = [brandOf(sandbox), brandOf(production)]
      const operator = { id: operatorId, name, rateLimitPerMinute, allowedAddresses, createdAt: now }
      await addOperator(db, operator, [sandboxBrand, productionBrand])
      const issue = async (brand: typeof sandboxBrand, { webhookSecret }: typeof sandbox) => ({
        ...(await issuePair(brand, secrets, { db, now, newId })),
        webhookSecret,
      })
      const ofSandbox = await issue(sandboxBrand, sandbox)
      const ofProduction = development ? await issue(productionBrand, production) : null
      changed(
        { field: 'operatorId', before: null, after: operatorId },
        { field: 'sandboxKey', before: null, after: ofSandbox.key },
      )
      if (ofProduction !== null) changed({ field: 'productionKey', before: null, after: ofProduction.key })
      return { operatorId, name, allowedAddresses, sandbox: ofSandbox, production: ofProduction }
    },

    stored: (reply) => ({
      ...reply,
      sandbox: { key: reply.sandbox.key, secret: null, webhookSecret: null },
      production: reply.production && { key: reply.production.key, secret: null, webhookSecret: null },
    }),
  })

/** Makes a brand known to the other services. */
async function provisionBrand(
  rpc: Tools['prepare']['rpc'],
  {
    scope,
    requestId,
    operatorName,
  }: { readonly scope: Scope; readonly requestId: string; readonly operatorName: string },
) {
  const register = (service: (typeof others)[number]) =>
    rpc.call(operations[service].registerBrand, { scope, requestId, input: {} })
  await Promise.all(others.map(register))
  const given = { scope, requestId, input: { operatorName } }
  const { webhookSecret } = await rpc.call(operations.webhooks.provisionWebhook, given)
  return { brandId: scope.brandId, environment: scope.environment, webhookSecret }
}

/** With what it has stored today. */
export const getOperator = (quotas: DefaultQuotas) =>
  handle(operations.gateway.getOperator, async ({ input: { name } }, { db }) => {
    const found = await readOperatorNamed(db, name)
    const [[operator], uses] = await Promise.all([showOperators(db, [found]), findUses(db, [found.id])])
    if (operator === undefined) throw new Error(`${found.id} is not shown`)
    return { ...operator, storedToday: uses.map((use) => showUse(use, quotas)) }
  })

/** What webhooks say of an operator's sandbox. @throws {Rejection} SERVICE_UNAVAILABLE */
async function proofsOfWebhooks(rpc: Tools['query']['rpc'], operator: OperatorWithBrands): Promise<readonly Proof[]> {
  const brand = operator.brands.getItems().find(({ environment }) => environment === 'sandbox')
  if (brand === undefined) throw new Error(`${operator.id} has no brand of the sandbox`)
  const { id: brandId, environment, currency, timeZone } = brand
  const scope = { operatorId: operator.id, brandId, environment, currency, timeZone }
  const { proofs } = await rpc.call(operations.webhooks.readHomologation, { scope, input: {} })
  return proofs.map(heardProof)
}

/** For whoever does without it. */
function noneIfAway(error: unknown): undefined {
  if (!(error instanceof Rejection) || error.code !== 'SERVICE_UNAVAILABLE') throw error
}

export const showHomologation = (baseUrl: () => string) =>
  handle(operations.gateway.showHomologation, async ({ input: { operatorId } }, { db, rpc }) => {
    const operator = await readOperator(db, { id: operatorId })
    const [kept, heard] = await Promise.all([
      findProofs(db, operatorId),
      proofsOfWebhooks(rpc, operator).catch(noneIfAway),
    ])
    const webhooksAnswered = heard !== undefined
    return showHomologationOf(operator, [...kept, ...(heard ?? [])], { webhooksAnswered, baseUrl: baseUrl() })
  })

const limitMax = 1_000

export const listOperators = handle(operations.gateway.listOperators, async ({ input }, { db }) => {
  const { after = '', limit = limitMax } = input
  const operators = await findOperators(db, { name: { $gt: after } }, limit + 1)
  return toPage(await showOperators(db, operators), limit, ({ name }) => name)
})

export const readOperatorNames = handle(operations.gateway.readOperatorNames, async ({ input }, { db }) => ({
  operators: await findOperatorNames(db, input.operatorIds),
}))

type OperatorChange =
  | typeof operations.gateway.activateOperator
  | typeof operations.gateway.suspendOperator
  | typeof operations.gateway.setOperatorLimits
  | typeof operations.gateway.setReplayProtection

/**
 * Changes an operator under its lock.
 * @returns the operator as it is afterwards
 * @throws {Rejection} OPERATOR_NOT_FOUND, NOT_AS_SEEN
 */
async function changeOperator<O extends OperatorChange>(
  { db, changed: audited }: Pick<Tools['execute'], 'db' | 'changed'>,
  operation: O,
  { operatorId, seen }: Input<OperatorChange>,
  change: (terms: OperatorTerms) => OperatorTerms,
): Promise<OperatorRecord> {
  const operator = await lockOperator(db, operatorId)
  refuseUnlessSeen({ operatorId }, seen, seenOf<OperatorChange>(operation, showTerms(operator)))
  const { rateLimitPerMinute, allowedAddresses, suspendedAt = null, replayProtection } = operator
  const { storedMebibytesPerDay = null, storedRowsPerDay = null } = operator
  const quotas = { storedMebibytesPerDay, storedRowsPerDay }
  const before = { rateLimitPerMinute, ...quotas, allowedAddresses, suspendedAt, replayProtection }
  const changed = change(before)
  audited(...differences(before, changed))
  const em = await db.em()
  em.assign(operator, { ...changed, allowedAddresses: [...changed.allowedAddresses] })
  await db.flush()
  return showOperator(await readOperator(db, { id: operatorId }))
}

export const activateOperator = handle(operations.gateway.activateOperator, {
  execute: ({ input }, tools) => changeOperator(tools, operations.gateway.activateOperator, input, activate),
})

/** Holds within a second on every replica. What was already committed finishes, webhooks included. */
export const suspendOperator = handle(operations.gateway.suspendOperator, {
  execute: ({ input }, tools) =>
    changeOperator(tools, operations.gateway.suspendOperator, input, (terms) => suspend(terms, tools.now)),
})

/** Changes only the limits that the input has. An empty list of addresses permits any address. */
export const setOperatorLimits = handle(operations.gateway.setOperatorLimits, {
  /** Nobody alone lets others call with an operator's keys. An operator's addresses are those of both environments. */
  async approval({ input: { operatorId, allowedAddresses } }, { db }) {
    if (allowedAddresses === undefined) return 'nobody'
    const ranges = normaliseRanges(allowedAddresses)
    return isWidened((await lockOperator(db, operatorId)).allowedAddresses, ranges) ? 'second person' : 'nobody'
  },
  async execute({ input }, tools) {
    const { operatorId: _operatorId, reason: _reason, seen: _seen, allowedAddresses, ...others } = input
    const limits = defined({ ...others, allowedAddresses: allowedAddresses && normaliseRanges(allowedAddresses) })
    return changeOperator(tools, operations.gateway.setOperatorLimits, input, (terms) => ({ ...terms, ...limits }))
  },
})

/** Holds within a second on every replica. */
export const setReplayProtection = handle(operations.gateway.setReplayProtection, {
  execute: ({ input }, tools) =>
    changeOperator(tools, operations.gateway.setReplayProtection, input, (terms) =>
      protectFromReplays(terms, input.replayProtection === 'on'),
    ),
})

/** Makes a pair for a brand. The secret is stored encrypted. */
async function issuePair(
  brand: Pick<BrandEntity, 'id' | 'environment'>,
  secrets: SecretBox,
  { db, now, newId }: Tools['given'] & { readonly db: Db },
): Promise<IssuedPair> {
  const id = newId('crd')
  const { key, secret } = newPair(operatorKeys, brand.environment)
  await addCredential(db, { id, brandId: brand.id, key, sealedSecret: secrets.encrypt(secret, id), createdAt: now })
  return { key, secret }
}

/**
 * Issues one more pair for an environment. Both pairs work until the old one is revoked, so a rotation costs no outage. What is
 * refused for want of homologation is not even proposed.
 */
export const issueCredential = (secrets: SecretBox) =>
  handle(operations.gateway.issueCredential, {
    async prepare({ input }, { db, rpc }) {
      const operator = await readOperator(db, { id: input.operatorId })
      refuseUnlessSeen({ operatorId: operator.id }, input.seen, { name: operator.name })
      const live = isLive(operator)
      if (input.environment === 'sandbox' || live) return void judgeHomologation(input, { live, proofs: [] })
      const asked = proofsOfWebhooks(rpc, operator)
      const heard = await (input.withoutHomologation === undefined ? asked : asked.catch(noneIfAway))
      judgeHomologation(input, { live, proofs: [...(await findProofs(db, operator.id)), ...(heard ?? [])] })
      return heard
    },

    async execute({ input }, { db, now, newId, changed }, heard = []) {
      const { operatorId, environment, withoutHomologation, seen } = input
      const operator = await lockOperator(db, operatorId)
      refuseUnlessSeen({ operatorId }, seen, { name: operator.name })
      const { em, Brand, Credential } = await records(db)
      const brand = await em.findOneOrFail(Brand, { operator, environment })
      const live = (await em.count(Credential, { brand })) > 0
      const proofs = [...(await findProofs(db, operatorId)), ...heard]
      const homologation = judgeHomologation(input, { live, proofs })
      // From now on nobody else keeps them.
      if (homologation !== undefined)
        await writeProofs(
          db,
          [...proofsByCheck(proofs).values()].map((proof) => ({ operatorId, ...proof })),
        )
      const pair = await issuePair(brand, secrets, { db, now, newId })
      changed({ field: 'key', before: null, after: pair.key })
      if (homologation !== undefined) changed({ field: 'homologation', before: null, after: homologation })
      if (withoutHomologation !== undefined)
        changed({ field: 'withoutHomologation', before: null, after: withoutHomologation })
      return { ...pair, environment }
    },
    stored: (reply) => ({ ...reply, secret: null }),
  })

/** Holds within a second on every replica. The last active key of an environment is not revoked. */
export const revokeCredential = handle(operations.gateway.revokeCredential, {
  async execute({ input: { key, seen } }, { db, now, changed }) {
    const { credential, operator, activeKeys } = await lockCredential(db, key)
    refuseUnlessSeen({ key }, seen, { name: operator.name, environment: credential.brand.environment })
    const since = revokedAt(credential.revokedAt ?? null, activeKeys, now)
    if (credential.revokedAt == null) changed({ field: 'revokedAt', before: null, after: since.toISOString() })
    const em = await db.em()
    em.assign(credential, { revokedAt: since })
    return { key, revokedAt: since.toISOString() }
  },
})

/** Afterwards all master keys but the newest may be removed from MASTER_KEYS. */
export const rewrapSecrets = (secrets: SecretBox) =>
  handle(operations.gateway.rewrapSecrets, {
    async execute(_call, { db }) {
      const { em, Credential, LockMode } = await records(db)
      const credentials = await em.find(
        Credential,
        {},
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
      )
      const rewrapped = credentials.flatMap((credential) => {
        const sealedSecret = secrets.rewrap(credential.sealedSecret, credential.id)
        return sealedSecret === null ? [] : [em.assign(credential, { sealedSecret })]
      })
      return { rewrapped: rewrapped.length + (await rewrapKeys(db, secrets)), keyId: secrets.newestKeyId }
    },
  })
