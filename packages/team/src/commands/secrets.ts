import { operations } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type CommonOptions, changing, reasonOf, run } from '../leaf.ts'
import { printRecord } from '../output.ts'

export function addSecrets(root: Command): void {
  const secrets = root.command('secrets').description('Secrets at rest')
  changing(secrets.command('rewrap'))
    .description(
      'Encrypt every operator and webhook secret under the newest master key; older keys may be removed then',
    )
    .action((options: CommonOptions) =>
      run(
        options,
        async (session) => {
          const operators = await session.act(operations.gateway.rewrapSecrets, reasonOf(options), options.operationId)
          const webhooks = await session.act(
            operations.webhooks.rewrapWebhookSecrets,
            reasonOf(options),
            options.operationId,
          )
          return { keyId: operators.keyId, operatorSecrets: operators.rewrapped, webhookSecrets: webhooks.rewrapped }
        },
        printRecord,
      ),
    )
}
