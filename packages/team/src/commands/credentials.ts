import { operations } from '@backoffice/contracts'
import type { Command } from 'commander'
import {
  type BrandOptions,
  type CommonOptions,
  changing,
  confirm,
  irreversible,
  ofBrand,
  reasonOf,
  run,
} from '../leaf.ts'
import { printRecord } from '../output.ts'

const { issueCredential, revokeCredential } = operations.gateway

export function addCredentials(root: Command): void {
  const credentials = root
    .command('credentials')
    .description('Keys and secrets. To rotate: issue, let the operator switch, revoke.')
  ofBrand(changing(credentials.command('issue')))
    .description('Issue one more pair. The secret is shown once; the old pair goes on working.')
    .action((options: BrandOptions) =>
      run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          return session.act(
            issueCredential,
            { operatorId: id, environment: options.env, ...reasonOf(options) },
            options.operationId,
          )
        },
        printRecord,
      ),
    )
  irreversible(changing(credentials.command('revoke')))
    .description('Revoke a key: its requests answer INVALID_CREDENTIALS within a second')
    .argument('<key>')
    .action(async (key: string, options: CommonOptions) => {
      await confirm(options, `Revoke ${key}?`)
      await run(
        options,
        (session) => session.act(revokeCredential, { key, ...reasonOf(options) }, options.operationId),
        printRecord,
      )
    })
}
