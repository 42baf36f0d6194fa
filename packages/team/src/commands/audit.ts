import { type AuditEntry, listAudit, serviceNames } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type CommonOptions, common, integer, moment, run } from '../leaf.ts'
import { printTable } from '../output.ts'

interface ListOptions extends CommonOptions {
  readonly actor?: string
  readonly subject?: string
  readonly since?: string
  readonly limit: number
}

export function addAudit(root: Command): void {
  const audit = root.command('audit').description("The team's actions: who did what, when and why")
  common(audit.command('list'))
    .description('Of all services, newest first')
    .option('--actor <person>')
    .option('--subject <id>', 'a player, withdrawal, operator, key, …')
    .option('--since <time>', 'date or ISO 8601 time', moment)
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .action((options: ListOptions) =>
      run(
        options,
        async (session) => {
          const { actor, subject, since, limit } = options
          const filter = {
            limit,
            ...(actor === undefined ? {} : { actor }),
            ...(subject === undefined ? {} : { subject }),
            ...(since === undefined ? {} : { since }),
          }
          // Each service keeps its own trail, in the transaction of the action itself.
          const pages = await Promise.all(
            serviceNames.map(async (service) => {
              const { data } = await session.ask(listAudit(service), filter)
              return data.map((entry): AuditEntry & { service: string } => ({ service, ...entry }))
            }),
          )
          return pages
            .flat()
            .sort((a, b) => b.at.localeCompare(a.at))
            .slice(0, limit)
        },
        (rows) =>
          printTable(rows, [
            ['at', ({ at }) => at],
            ['who', (row) => row.actor],
            ['service', ({ service }) => service],
            ['operation', ({ operation }) => operation],
            ['subject', (row) => row.subject],
            ['why', ({ reason }) => reason],
            ['operation id', ({ operationId }) => operationId],
          ]),
      ),
    )
}
