import { type Environment, operations, Rejection, requestsPerMinuteDefault } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { requireRanges } from '../domain/addresses.ts'
import { issuePair } from '../steps/issue-pair.ts'
import { Brand, Operator } from '../storage/entities.ts'
import { isNameTaken } from '../storage/operators.ts'

const currency = 'BRL'
const timeZone = 'America/Sao_Paulo'

/**
 * Creates an operator with a sandbox and a production brand and a credential for each. The webhook secrets are made by
 * their own service beforehand, under ids minted here. Every secret is in this one reply and nowhere in clear.
 */
export const createOperator = (secrets: SecretBox) =>
  handle(operations.gateway.createOperator, {
    async prepare({ input: { name, allowedAddresses = [] }, requestId }, { db, rpc, newId }) {
      requireRanges(allowedAddresses)
      // Asked before anything is made: a name that is taken should leave no webhook secret behind.
      if (await isNameTaken(db, name)) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const operatorId = newId('op')
      const provision = async (environment: Environment) => {
        const brandId = newId('brd')
        const { webhookSecret } = await rpc.call(operations.webhooks.provisionWebhook, {
          scope: { operatorId, brandId, environment, currency, timeZone },
          requestId,
          input: { operatorName: name },
        })
        return { brandId, environment, webhookSecret }
      }
      const [sandbox, production] = await Promise.all([provision('sandbox'), provision('production')])
      return { operatorId, sandbox, production }
    },

    async execute({ input }, { db, now, newId }, { operatorId, sandbox, production }) {
      const { name, rateLimitPerMinute = requestsPerMinuteDefault, allowedAddresses = [] } = input
      // Of two at once the second meets the unique name, begins again, and then finds it taken here.
      if (await isNameTaken(db, name)) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const operator = db.em.create(Operator, {
        id: operatorId,
        name,
        rateLimitPerMinute,
        allowedAddresses,
        suspendedAt: null,
        createdAt: now,
      })
      const addBrand = ({ brandId, environment, webhookSecret }: typeof sandbox) => {
        const brandName = environment === 'sandbox' ? `${name} sandbox` : name
        const brand = db.em.create(Brand, { id: brandId, operator, environment, name: brandName, currency, timeZone })
        return { ...issuePair(brand, secrets, { db, now, newId }), webhookSecret }
      }
      return { operatorId, name, sandbox: addBrand(sandbox), production: addBrand(production) }
    },

    stored: (reply) => ({
      ...reply,
      sandbox: { key: reply.sandbox.key, secret: null, webhookSecret: null },
      production: { key: reply.production.key, secret: null, webhookSecret: null },
    }),
  })
