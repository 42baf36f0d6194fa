import { bePatient } from '@backoffice/process/limits'
import { Command, CommanderError, Option } from 'commander'
import metadata from '../package.json' with { type: 'json' }
import { addAuditVerify } from './audit.ts'
import { groups } from './commands/index.ts'
import { connect } from './login/connection.ts'
import { printError } from './output.ts'
import { addOwnCommands } from './own-commands.ts'
import { type AnyRow, declareFields } from './row.ts'
import { type CommonOptions, type OpenSession, run, watchSecondsDefault, watchSecondsOf } from './run.ts'

/** The team's command line, as commands of one program. */
export function program(open: OpenSession = async (options) => (await connect(options)).session): Command {
  const root = new Command('team')
  root
    .description(
      "The team's side of the back office: operators, decisions, corrections. Each action is recorded with who, when and why.",
    )
    .version(metadata.version, '-V, --version', 'the release of this program')
    .showHelpAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      `
Every command takes --json (one JSON document on standard output). Commands that change something take --reason,
--operation-id (a retry with the same id never does it twice) and, where it cannot be undone, --yes.
Who you are is your login: npm run team -- login --console <address>. Beside a running npm start nobody has to log in:
--as chooses a person of it.

Examples:
  npm run team -- operators create --name "Casa Azul" --rate-limit 1200 --allow-ip 203.0.113.0/24
  npm run team -- withdrawals queue --watch
  npm run team -- withdrawals approve wdr_… --reason "documents match"
  npm run --silent team -- operators list --json | jq .`,
    )
  addJson(root)
  addOwnCommands(root)
  for (const [name, description, rows] of groups) {
    const group = root.command(name).description(description)
    addJson(group)
    for (const row of rows) addRow(group, row, open)
    if (name === 'audit') addAuditVerify(group)
  }
  return root
}

/** It may stand anywhere on the line. */
const addJson = (command: Command) =>
  command.addOption(new Option('--json', 'one JSON document on standard output').hideHelp())

/** Options that say where and as whom. */
const addConnectionOptions = (command: Command): Command =>
  command
    .option('--json', 'one JSON document on standard output')
    .option('--console <address>', 'the console to call, as you logged in there; TEAM_CONSOLE_URL says the same')
    .option('--as <person>', 'a person of the development stack')

function addRow(group: Command, row: AnyRow, open: OpenSession): void {
  const { path, operation, confirm } = row
  const { summary, description = '' } = row.description === undefined ? operation : { summary: row.description }
  const command = group
    .command(path.slice(path.indexOf(' ') + 1))
    .summary(summary)
    .description(`${summary}\n${description}`.trim())
  addConnectionOptions(command)
  const given = declareFields(command, row)
  if (operation.kind !== 'query') {
    command.option('--operation-id <id>', 'of an earlier try: finishes it or shows its result, never does it twice')
  }
  if (isList(row))
    command.addOption(
      new Option('--watch [seconds]', 'look again and again, and show what changed')
        .preset(watchSecondsDefault)
        .argParser(watchSecondsOf),
    )
  if (confirm !== undefined) command.option('-y, --yes', 'do not ask')
  command.action(() => run(row, given(), { ...command.optsWithGlobals<CommonOptions>(), open }))
}

/** Whether it shows rows that others change meanwhile. */
const isList = ({ path }: AnyRow): boolean => / (list|queue)$/.test(path)

/**
 * Does what was typed. What goes wrong is said on standard error.
 * @returns the exit status
 */
export async function execute(words: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    printError(error, words.includes('--json'))
    return 1
  }
}

if (import.meta.main) {
  // It serves nobody: whoever types may wait as long as they like.
  bePatient({ ...process.env, DEVELOPMENT: 'true' })
  // A reader such as `head` may close the pipe early. That is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  process.exitCode = await execute(process.argv.slice(2))
}
