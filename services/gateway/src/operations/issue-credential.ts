import { operations } from '@backoffice/contracts'
import { command, type SecretBox } from '@backoffice/service-runtime'
import { addCredential } from '../credentials/issue.ts'
import { Brand } from '../storage/entities.ts'
import { lockOperator } from '../storage/operators.ts'

/** One more pair for an environment: both work until the old one is revoked, so a rotation costs no outage. */
export const issueCredential = (secrets: SecretBox) =>
  command(operations.gateway.issueCredential, {
    async execute({ input }, { em, now, newId }) {
      const { operatorId, environment } = input
      const operator = await lockOperator(em, operatorId)
      const brand = await em.findOneOrFail(Brand, { operator: operator.id, environment })
      return { ...addCredential(em, secrets, { id: newId('crd'), brandId: brand.id, environment, now }), environment }
    },
    stored: (reply) => ({ ...reply, secret: null }),
  })
