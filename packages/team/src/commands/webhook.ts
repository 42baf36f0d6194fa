import { operations, type WebhookEndpoint } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type BrandOptions, changing, common, confirm, irreversible, ofBrand, reasonOf, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'

const { setWebhookUrl, showWebhook, rotateWebhookSecret, disableWebhook } = operations.webhooks

export function addWebhook(root: Command): void {
  const webhook = root.command('webhook').description("An operator's webhook endpoint, one per environment")
  ofBrand(changing(webhook.command('set')))
    .description('Set the URL. It also enables the endpoint.')
    .requiredOption('--url <url>')
    .action((options: BrandOptions & { url: string }) =>
      run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          return session.act(
            setWebhookUrl,
            { operatorId: id, environment: options.env, url: options.url, ...reasonOf(options) },
            options.operationId,
          )
        },
        showEndpoint,
      ),
    )
  ofBrand(common(webhook.command('show')))
    .description('Show the endpoint, its circuit breaker and what waits')
    .action((options: BrandOptions) =>
      run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          return session.ask(showWebhook, { operatorId: id, environment: options.env })
        },
        showEndpoint,
      ),
    )
  irreversible(ofBrand(changing(webhook.command('rotate-secret'))))
    .description('Make a new secret, shown once. X-Webhook-Signature keeps the former one until the overlap ends.')
    .option('--overlap <duration>', 'for example 24h, 30m, or 0 after a leak', hours, 24)
    .action(async (options: BrandOptions & { overlap: number }) => {
      await confirm(options, `Rotate the webhook secret of ${options.operator} in ${options.env}?`)
      await run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          const input = {
            operatorId: id,
            environment: options.env,
            overlapHours: options.overlap,
            ...reasonOf(options),
          }
          return session.act(rotateWebhookSecret, input, options.operationId)
        },
        printRecord,
      )
    })
  ofBrand(changing(webhook.command('disable'), { reason: 'required' }))
    .description('Stop sending. Events are kept, and leave with a resend or a replay.')
    .action((options: BrandOptions & { reason: string }) =>
      run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          return session.act(
            disableWebhook,
            { operatorId: id, environment: options.env, reason: options.reason },
            options.operationId,
          )
        },
        showEndpoint,
      ),
    )
}

const unitHours: Readonly<Record<string, number>> = { '': 1, h: 1, m: 1 / 60, d: 24 }

function hours(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([hmd]?)$/.exec(value)
  if (match === null) throw new Error(`--overlap takes a duration such as 24h or 30m, not ${value}`)
  return Number(match[1]) * (unitHours[match[2] ?? ''] ?? 1)
}

function showEndpoint({ secrets, breaker, ...endpoint }: WebhookEndpoint): void {
  printRecord({
    ...endpoint,
    breaker: breaker.state,
    consecutiveFailures: breaker.consecutiveFailures,
    retryAt: breaker.retryAt,
  })
  process.stdout.write('\nsecrets\n')
  printTable(secrets, [
    ['created', ({ createdAt }) => createdAt],
    ['signs until', ({ expiresAt }) => expiresAt ?? 'replaced'],
  ])
}
