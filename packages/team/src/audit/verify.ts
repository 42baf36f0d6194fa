import { RecordedCalls } from '@backoffice/team-identity'
import type { Command } from 'commander'
import { print, printJson, printRecord, printSection } from '../output.ts'
import type { CommonOptions } from '../run.ts'
import { judgeTrail, type Remark, type Verdict } from './judge.ts'
import { type TrustOptions, trustedBy } from './trusted.ts'

type Options = TrustOptions & CommonOptions

const several = (value: string, before: readonly string[] = []) => [...before, value]

/** It calls no operation: whoever verifies a trail asks no service. */
export function addAuditVerify(group: Command): void {
  group
    .command('verify')
    .summary('Verify an exported trail, without asking any service')
    .description(
      'Verify an exported trail, without asking any service.\nIt needs what says who belongs to the team: the settings of the services, the keys of the identity provider, and the machines. Files that held at another time of the period are given beside those of today; an entry counts if one of them proves it. Beside a running npm start, its settings are taken.',
    )
    .argument('<file>', 'what audit export wrote')
    .option('--settings <file>', 'a file with the TEAM_… settings of the services; may be repeated', several)
    .option('--keys <file>', 'keys of the identity provider (JWKS), which is asked otherwise; may be repeated', several)
    .option('--machines <file>', 'machines, as TEAM_MACHINES_FILE names them; may be repeated', several)
    .option('--json', 'one JSON document on standard output')
    .action(async (file: string, _options, command: Command) => {
      const { json = false, ...trust } = command.optsWithGlobals<Options>()
      const verdict = await judgeTrail(file, new RecordedCalls(await trustedBy(trust)))
      if (json) printJson(verdict)
      else show(verdict)
      if (verdict.notVerified.length > 0 || !verdict.isComplete) process.exitCode = 1
    })
}

function show({ inputNotProven, byServices, byOnePerson, notVerified, isComplete, ...counts }: Verdict): void {
  const lists = { inputNotProven, byServices, byOnePerson, notVerified }
  const lengths = Object.entries(lists).map(([name, { length }]) => [name, length])
  printRecord({ ...counts, ...Object.fromEntries(lengths) })
  const columns = ['service', 'id', 'at', ['who', 'actor'], 'operation', 'why'] as const
  const section = (title: string, remarks: readonly Remark[]) => {
    if (remarks.length > 0) printSection(title, remarks, columns)
  }
  section('Signed, with an input that is not kept', inputNotProven)
  section('What services did by themselves', byServices)
  section('Done by one person', byOnePerson)
  section('Not verified', notVerified)
  if (!isComplete) print('\nThe file is not complete: its last line, or an entry before it, is missing.\n')
}
