import { type Command, Option } from 'commander'
import { type AnyRow, declareFields } from './row.ts'
import { type CommonOptions, type OpenSession, run, watchSecondsDefault, watchSecondsOf } from './run.ts'

/** Options that say where and as whom. */
const addConnectionOptions = (command: Command): Command =>
  command
    .option('--json', 'one JSON document on standard output')
    .option('--console <address>', 'the console to call, as you logged in there; TEAM_CONSOLE_URL says the same')
    .option('--as <person>', 'a person of the development stack')

export function addRow(group: Command, row: AnyRow, open: OpenSession): void {
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
