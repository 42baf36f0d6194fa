import { Command, CommanderError } from 'commander'
import { groups } from './commands/index.ts'
import { declareFields } from './options.ts'
import { printError } from './output.ts'
import type { AnyRow } from './row.ts'
import { type CommonOptions, type OpenSession, run } from './run.ts'
import { Session } from './session.ts'

/** The team's command line, as commands of one program. */
export function program(open: OpenSession = (options) => Session.open(options)): Command {
  const root = new Command('team')
  root
    .description(
      "The team's side of the back office: operators, decisions, corrections. Each action is recorded with who, when and why.",
    )
    .showHelpAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      `
Every command takes --json (one JSON document on standard output). Commands that change something take --reason,
--operation-id (a retry with the same id never does it twice) and, where it cannot be undone, --yes.
Who you are is your NATS user: NATS_URL, NATS_USER and NATS_PASSWORD, or a running npm start (--as alice|bob).

Examples:
  npm run team -- operators create --name "Casa Azul" --rate-limit 1200 --allow-ip 203.0.113.0/24
  npm run team -- withdrawals queue
  npm run team -- withdrawals approve wdr_… --reason "documents match"
  npm run --silent team -- operators list --json | jq .`,
    )
  for (const [name, description, rows] of groups) {
    const group = root.command(name).description(description)
    for (const row of rows) addRow(group, row, open)
  }
  return root
}

function addRow(group: Command, row: AnyRow, open: OpenSession): void {
  const { path, operation, confirm } = row
  const { summary, description = '' } = row.description === undefined ? operation : { summary: row.description }
  const command = group
    .command(path.slice(path.indexOf(' ') + 1))
    .summary(summary)
    .description(`${summary}\n${description}`.trim())
    .option('--json', 'one JSON document on standard output')
    .option('--as <person>', 'a person of the development stack')
  const given = declareFields(command, row)
  if (operation.kind !== 'query') {
    command.option('--operation-id <id>', 'of an earlier try: finishes it or shows its result, never does it twice')
  }
  if (confirm !== undefined) command.option('-y, --yes', 'do not ask')
  command.action(() => run(row, given(), { ...command.opts<CommonOptions>(), open }))
}

if (import.meta.main) {
  // A reader such as `head` may close the pipe early. That is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  try {
    await program().parseAsync(process.argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 1
    else {
      printError(error, process.argv.includes('--json'))
      process.exitCode = 1
    }
  }
}
