import {
  brandDefaults,
  type Environment,
  invalid,
  operations,
  Rejection,
  requestsPerMinuteDefault,
  residentServices,
} from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { normaliseRanges } from '../domain/addresses.ts'
import { issuePair } from '../steps/issue-pair.ts'
import type { BrandEntity } from '../storage/entities.ts'
import { isNameTaken, isTimeZoneKnown } from '../storage/operators.ts'
import { records } from '../storage/records.ts'

/** The services that keep whose a brand is. */
const others = residentServices.filter((service) => service !== 'gateway')

/**
 * Creates an operator with a sandbox and a production brand, and a pair for the sandbox. Production's pair is issued after
 * homologation (issue-credential.ts); in development it comes at once. The other services learn of the brands before, under
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
        const brandId = newId('brd')
        const scope = { operatorId, brandId, environment, currency, timeZone }
        await Promise.all(
          others.map((service) => rpc.call(operations[service].registerBrand, { scope, requestId, input: {} })),
        )
        const { webhookSecret } = await rpc.call(operations.webhooks.provisionWebhook, {
          scope,
          requestId,
          input: { operatorName: name },
        })
        return { brandId, environment, webhookSecret }
      }
      const [sandbox, production] = await Promise.all([provision('sandbox'), provision('production')])
      return { operatorId, allowedAddresses, currency, timeZone, sandbox, production }
    },

    async execute({ input }, { db, now, newId, changed }, prepared) {
      const { operatorId, allowedAddresses, currency, timeZone, sandbox, production } = prepared
      const { name, rateLimitPerMinute = requestsPerMinuteDefault } = input
      // Of two calls with one name, the second meets the unique index, begins again, and finds the name taken here.
      if (await isNameTaken(db, name)) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const { em, Operator, Brand } = await records(db)
      const operator = em.create(Operator, {
        id: operatorId,
        name,
        rateLimitPerMinute,
        allowedAddresses,
        suspendedAt: null,
        replayProtection: false,
        createdAt: now,
      })
      const addBrand = ({ brandId, environment }: typeof sandbox) => {
        const brandName = environment === 'sandbox' ? `${name} sandbox` : name
        return em.create(Brand, { id: brandId, operator, environment, name: brandName, currency, timeZone })
      }
      const issue = async (brand: BrandEntity, { webhookSecret }: typeof sandbox) => ({
        ...(await issuePair(brand, secrets, { db, now, newId })),
        webhookSecret,
      })
      const [sandboxBrand, productionBrand] = [addBrand(sandbox), addBrand(production)]
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
