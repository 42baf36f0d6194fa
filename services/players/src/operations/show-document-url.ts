import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { readSource } from '../storage/document-sources.ts'

export const showDocumentUrl = handle(operations.players.showDocumentUrl, async ({ input }, { db }) => {
  const { operatorId, environment } = input
  const { template = null, keyCreatedAt } = (await readSource(db, input)) ?? {}
  return { operatorId, environment, template, keyCreatedAt: keyCreatedAt?.toISOString() ?? null }
})
