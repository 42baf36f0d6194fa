import { invalid, operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { faultOfTemplate } from '../domain/document-link.ts'
import { changeSource } from '../storage/document-sources.ts'

/** Nothing is fetched from the address, so it is judged by its text alone. */
export const setDocumentUrl = handle(operations.players.setDocumentUrl, {
  async execute({ input }, { db, now }) {
    const { operatorId, environment, template, newKey: replacesKey = false } = input
    const fault = template === null ? null : faultOfTemplate(template)
    if (fault !== null) throw invalid('body', '/template', fault)
    const changed = await changeSource(db, { operatorId, environment, template, replacesKey, now })
    const { keyCreatedAt, secret } = changed
    return { operatorId, environment, template, keyCreatedAt: keyCreatedAt.toISOString(), secret }
  },
  stored: (reply) => ({ ...reply, secret: null }),
})
