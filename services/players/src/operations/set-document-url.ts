import { invalid, operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { faultOfTemplate } from '../domain/document-link.ts'
import { changeSource, lockSource } from '../storage/document-sources.ts'

/** Nothing is fetched from the address, so it is judged by its text alone. */
export const setDocumentUrl = handle(operations.players.setDocumentUrl, {
  async execute({ input }, { db, now, changed: audited }) {
    const { operatorId, environment, template, newKey: replacesKey = false } = input
    const fault = template === null ? null : faultOfTemplate(template)
    if (fault !== null) throw invalid('body', '/template', fault)
    const before = await lockSource(db, { operatorId, environment })
    const changed = await changeSource(db, { operatorId, environment, template, replacesKey, now })
    const { keyCreatedAt, secret } = changed
    const after = { operatorId, environment, template, keyCreatedAt: keyCreatedAt.toISOString() }
    const keyBefore = before?.keyCreatedAt.toISOString() ?? null
    audited(
      ...(before?.template === template
        ? []
        : [{ field: 'template', before: before?.template ?? null, after: template }]),
      ...(secret === null ? [] : [{ field: 'keyCreatedAt', before: keyBefore, after: after.keyCreatedAt }]),
    )
    return { ...after, secret }
  },
  stored: (reply) => ({ ...reply, secret: null }),
})
