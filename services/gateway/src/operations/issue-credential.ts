import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { issuePair } from '../steps/issue-pair.ts'
import { lockOperator } from '../storage/operators.ts'
import { records } from '../storage/records.ts'

/**
 * Issues one more pair for an environment. Both pairs work until the old one is revoked, so a rotation costs no outage.
 */
export const issueCredential = (secrets: SecretBox) =>
  handle(operations.gateway.issueCredential, {
    async execute({ input: { operatorId, environment } }, { db, now, newId, changed }) {
      const operator = await lockOperator(db, operatorId)
      const { em, Brand } = await records(db)
      const brand = await em.findOneOrFail(Brand, { operator, environment })
      const pair = await issuePair(brand, secrets, { db, now, newId })
      changed({ field: 'key', before: null, after: pair.key })
      return { ...pair, environment }
    },
    stored: (reply) => ({ ...reply, secret: null }),
  })
