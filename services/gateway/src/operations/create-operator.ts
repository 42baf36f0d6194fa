import { operations, Rejection, requestsPerMinuteDefault, type Scope } from '@backoffice/contracts'
import { command, newId, type SecretBox } from '@backoffice/service-runtime'
import { addCredential, type IssuedPair } from '../credentials/issue.ts'
import { requireRanges } from '../http/permitted-addresses.ts'
import { Brand, Operator } from '../storage/entities.ts'

const currency = 'BRL'
const timeZone = 'America/Sao_Paulo'

/**
 * Creates an operator with a sandbox and a production brand and a credential for each. The webhook secrets are made by
 * their own service beforehand, under ids minted here. Every secret is in this one reply and nowhere in clear.
 */
export const createOperator = (secrets: SecretBox) =>
  command(operations.gateway.createOperator, {
    async prepare({ input, requestId }, { em, rpc }) {
      requireRanges(input.allowedAddresses ?? [])
      // Asked before anything is made: a name that is taken should leave no webhook secret behind.
      if ((await em.count(Operator, { name: input.name })) > 0) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const operatorId = newId('op')
      const provision = async (environment: Scope['environment']) => {
        const brandId = newId('brd')
        const scope: Scope = { operatorId, brandId, environment, currency, timeZone }
        const { webhookSecret } = await rpc.call(operations.webhooks.provisionWebhook, {
          scope,
          requestId,
          input: { operatorName: input.name },
        })
        return { brandId, environment, webhookSecret }
      }
      const [sandbox, production] = await Promise.all([provision('sandbox'), provision('production')])
      return { operatorId, sandbox, production }
    },

    async execute({ input }, { em, now, newId: mint }, { operatorId, sandbox, production }) {
      // The unique name decides between two at once; the other gets the same answer as a latecomer.
      const inserted = await em
        .getKysely()
        .insertInto('operator' as never)
        .values({
          id: operatorId,
          name: input.name,
          rate_limit_per_minute: input.rateLimitPerMinute ?? requestsPerMinuteDefault,
          allowed_addresses: input.allowedAddresses ?? [],
          created_at: now,
        } as never)
        .onConflict((conflict) => conflict.column('name' as never).doNothing())
        .executeTakeFirst()
      if (inserted.numInsertedOrUpdatedRows === 0n) throw new Rejection('OPERATOR_ALREADY_EXISTS')
      const issue = ({ brandId, environment }: { brandId: string; environment: Scope['environment'] }): IssuedPair => {
        const name = environment === 'sandbox' ? `${input.name} sandbox` : input.name
        em.create(Brand, { id: brandId, operator: operatorId, environment, name, currency, timeZone })
        return addCredential(em, secrets, { id: mint('crd'), brandId, environment, now })
      }
      return {
        operatorId,
        name: input.name,
        sandbox: { ...issue(sandbox), webhookSecret: sandbox.webhookSecret },
        production: { ...issue(production), webhookSecret: production.webhookSecret },
      }
    },

    stored: (reply) => ({
      ...reply,
      sandbox: { key: reply.sandbox.key, secret: null, webhookSecret: null },
      production: { key: reply.production.key, secret: null, webhookSecret: null },
    }),
  })
