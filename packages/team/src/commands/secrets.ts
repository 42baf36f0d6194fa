import { operations, type ServiceName, serviceNames } from '@backoffice/contracts'
import { row } from '../row.ts'
import type { Session } from '../session.ts'

const { rewrapSecrets } = operations.gateway
const { rewrapWebhookSecrets } = operations.webhooks

export const secrets = [
  row({
    path: 'secrets rewrap',
    operation: rewrapSecrets,
    also: [rewrapWebhookSecrets, ...serviceNames.map((name) => operations[name].sealStoredData)],
    description:
      'Encrypt every secret, and all personal data that are to be sealed, under the newest master key; older keys may be removed then',
    run: async ({ session, input, operationId }) => {
      const { keyId, rewrapped: operatorSecrets } = await session.call(rewrapSecrets, input, operationId)
      const { rewrapped: webhookSecrets } = await session.call(rewrapWebhookSecrets, input, operationId)
      let personalRows = 0
      for (const name of serviceNames) personalRows += await sealAll(session, name, input)
      return { keyId, operatorSecrets, webhookSecrets, personalRows }
    },
  }),
]

/** Part by part, so that no call lasts long. A call that is repeated seals nothing twice. */
async function sealAll(session: Session, name: ServiceName, input: { readonly reason?: string }): Promise<number> {
  let total = 0
  for (let place = {}; ; ) {
    const { sealed, nextCursor } = await session.call(
      operations[name].sealStoredData,
      { ...input, ...place },
      undefined,
    )
    total += sealed
    if (nextCursor === null) return total
    place = { after: nextCursor }
  }
}
