// proof: follows lists of CONTRIBUTING.md in a copy of the repository, with the compiler.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WorkingCopy } from './working-copy.ts'

/** The code below "Add an endpoint", without the line that says where it goes. */
function endpointOfTheText(text: string): string {
  const code = /^## Add an endpoint\n[\s\S]*?^```ts\n\/\/.*\n([\s\S]*?)^```/m.exec(text)?.[1] ?? ''
  return code.replaceAll(/^(?=.)/gm, '  ')
}

const copy = new WorkingCopy()
t.teardown(() => copy.remove())

/** Puts a text before an anchor, which stands in the file once. */
function insert(file: string, text: string, anchor: string): void {
  const parts = (copy.original(file) ?? '').split(anchor)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times ${anchor}: choose another anchor here`)
  copy.write(file, parts.join(text + anchor))
}

t.test('what follows from an entry is written by one command, and the compiler names the rest', async (t) => {
  insert(
    'packages/contracts/src/operations/payments.ts',
    `${endpointOfTheText(copy.original('CONTRIBUTING.md') ?? '')}\n`,
    '  confirmDeposit: operator.command({\n',
  )
  insert(
    'packages/contracts/src/events.ts',
    `  'deposit.failed': entry({
    summary: 'A deposit failed',
    description: 'Sent when you mark a deposit as failed; nothing was credited.',
    visibility: 'public',
    emittedBy: 'payments',
    consumedBy: ['webhooks'],
    data: object({ ...Deposit.properties, previousStatus: DepositStatus, version }),
    example: { ...confirmedDeposit, previousStatus: 'pending', version: 2 },
  }),
`,
    "  'withdrawal.status_changed': entry({\n",
  )
  const holder = "  holder: personal('name', text(80)),\n"
  insert('packages/contracts/src/resources.ts', holder, '  externalReference: text(128, ')
  const { ok, output } = await copy.run('npm', ['run', '-s', 'generate'])
  t.ok(ok, output)
  const read = (file: string) => readFileSync(join(copy.folder, file), 'utf8')
  for (const [file, text] of [
    ['deploy/nats/permissions.conf', 'rpc.payments.getDeposit'],
    ['deploy/nats/permissions.conf', 'events.deposit.failed'],
    ['packages/client/src/methods.ts', '  getDeposit(depositId: string, options?: RequestOptions)'],
    ['packages/client/src/api.ts', 'DepositFailedEvent'],
    ['docs/webhooks.md', '`](guide.md#depositfailed) | when you mark a deposit as failed; nothing was credited. |'],
    ['docs/privacy.md', '| `deposit.failed` | player name note |'],
    ['docs/privacy.md', /^\| .*`payments.getDeposit`.* \| – \| name \|$/m],
  ] as const)
    t.match(read(file), text, `${file}: ${text}`)

  const compiled = await copy.run('tsc', ['--noEmit', '--checkers', '1', '--project', 'tsconfig.json'])
  for (const [what, told] of [
    ['the handler in the map of operations', /services\/payments\/src\/operations[^ ]*\.ts(?=.*missing).*getDeposit/],
    ['the value in the example', /packages\/contracts\/src\/[^ ]*\.ts.*holder/],
    ['the view', /services\/payments\/src\/[^ ]*\.ts.*holder/],
    ['what the event means to the reconciler', /services\/reconciler\/src\/[^ ]*history-checks\.ts.*deposit\.failed/],
    ['the receiver that an operator copies', /examples\/webhook-receiver\.ts.*never/],
  ] as const)
    t.match(compiled.output, told, `the compiler tells of ${what}`)
})
