import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseEnv } from 'node:util'
import { type ExportedAuditEntry, type Operation, operations, type ServiceName } from '@backoffice/contracts'
import {
  fixedKeys,
  identityFrom,
  isInputProven,
  issuerKeys,
  RecordedCalls,
  type TrustedTeam,
} from '@backoffice/team-access/identity'
import type { Command } from 'commander'
import type { JSONWebKeySet } from 'jose'
import { runningStack } from './login/connection.ts'
import { print, printJson, printRecord, printSection } from './output.ts'
import type { CommonOptions } from './run.ts'

export interface ExportedLine extends ExportedAuditEntry {
  readonly service: ServiceName
}

/** The last line of an export: without it a part of the file is missing. */
interface ExportEnd {
  readonly end: { readonly from: string; readonly to: string; readonly entries: number }
}

/** An entry and what there is to say about it. */
interface Remark extends Pick<ExportedLine, 'service' | 'id' | 'at' | 'actor' | 'operation'> {
  readonly why: string
}

interface Verdict {
  readonly entries: number
  readonly verified: number
  /** Signed, but the trail does not keep all of the input: who called and when is proven, and not with what. */
  readonly inputNotProven: readonly Remark[]
  /** What services did without a person, and nobody signed: only operations that the table marks `alsoByItself`. */
  readonly byServices: readonly Remark[]
  /** Made by one person. Whether that was enough depends on the environment and the amount, which the trail does not say. */
  readonly byOnePerson: readonly Remark[]
  readonly notVerified: readonly Remark[]
  /** Whether the file goes to its end, as it was written. */
  readonly isComplete: boolean
}

/** Verifies each entry of an exported trail. */
async function judgeTrail(file: string, calls: RecordedCalls): Promise<Verdict> {
  const inputNotProven: Remark[] = []
  const byServices: Remark[] = []
  const byOnePerson: Remark[] = []
  const notVerified: Remark[] = []
  const used = new Map<string, string>()
  let [entries, verified, number] = [0, 0, 0]
  let end: ExportEnd['end'] | undefined
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    const line = parsed(text, number)
    if ('end' in line) {
      end = line.end
      continue
    }
    entries += 1
    const { service, id, at, actor } = line
    const remark = (why: string): Remark => ({ service, id, at, actor, operation: line.operation, why })
    if (isByItself(line)) byServices.push(remark('nobody has signed it'))
    else {
      const why = await faultOf(line, calls, used)
      if (why !== null) notVerified.push(remark(why))
      else if (!isInputKept(line)) inputNotProven.push(remark('the trail does not keep its input'))
      else {
        verified += 1
        if (isByOnePerson(line)) byOnePerson.push(remark('in production it may take two'))
      }
    }
  }
  const isComplete = end !== undefined && end.entries === entries
  return { entries, verified, inputNotProven, byServices, byOnePerson, notVerified, isComplete }
}

function parsed(text: string, number: number): ExportedLine | ExportEnd {
  try {
    const line = JSON.parse(text) as ExportedLine | ExportEnd
    if ('end' in line || typeof line.operation === 'string') return line
  } catch (cause) {
    throw new Error(`line ${number} is no JSON: this is no exported trail, or a part of one`, { cause })
  }
  throw new Error(`line ${number} is no entry of a trail`)
}

/** Why an entry is not proven; null when it is. */
async function faultOf(line: ExportedLine, calls: RecordedCalls, used: Map<string, string>): Promise<string | null> {
  const operation = operationOf(line)
  if (operation === undefined) return 'this program does not know the operation: take a newer one'
  const fault = await calls.faultOf(operation, line)
  if (fault !== null || line.outcome !== 'done') return fault
  // What is signed once is done once: somebody who writes into a trail could use a signature for a second action.
  const { service, id, operationId, proposal } = line
  const ofCommand = operation.kind === 'command' ? [`the signature|${service} ${operationId}`] : []
  const ofProposal = proposal === null ? [] : [`the approval|${service} ${proposal.id}`]
  for (const key of [...ofCommand, ...ofProposal]) {
    const earlier = used.get(key)
    if (earlier !== undefined) return `${key.split('|')[0]} was used for ${earlier} already`
    used.set(key, id)
  }
  return null
}

const operationOf = ({ service, operation }: ExportedLine): Operation | undefined =>
  (operations[service] as Readonly<Record<string, Operation>> | undefined)?.[operation]

const isByItself = (line: ExportedLine): boolean => {
  const { proof, session, actor, service, outcome } = line
  const isUnsigned = proof === null && session === null && actor === service && outcome === 'done'
  return isUnsigned && operationOf(line)?.alsoByItself === true
}

const isInputKept = (line: ExportedLine): boolean => {
  const operation = operationOf(line)
  return operation !== undefined && isInputProven(operation, line)
}

const isByOnePerson = (line: ExportedLine): boolean =>
  line.outcome === 'done' && line.proposal === null && operationOf(line)?.twoPeople === 'in production'

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

interface TrustOptions {
  /** Files with the settings of the services: those in force, and those that were before. */
  readonly settings?: readonly string[]
  /** Files of the provider's keys (JWKS). Without them the provider is asked. */
  readonly keys?: readonly string[]
  /** Files of machines, as TEAM_MACHINES_FILE names them: those in force, and those that were before. */
  readonly machines?: readonly string[]
}

/** Who belonged to the team: by files that the verifying person has, and not by what a service says. */
async function trustedBy({ settings = [], keys, machines = [] }: TrustOptions): Promise<TrustedTeam[]> {
  const given = settings.length === 0 ? [await settingsOfStack()] : settings.map((file) => parseEnv(textOf(file)))
  const known = keys && fixedKeys(keys.flatMap((file) => (JSON.parse(textOf(file)) as JSONWebKeySet).keys))
  const machineFiles = machines.length === 0 ? [''] : machines
  return given.flatMap((texts) =>
    machineFiles.map((machinesFile) => {
      // The settings name files by their paths in a container, which are not on this machine.
      const files = { TEAM_KEYS_FILE: '', TEAM_MACHINES_FILE: machinesFile }
      // The manifests give services the console's address as theirs.
      const identity = identityFrom({ TEAM_DEPLOYMENT: texts.CONSOLE_URL, ...texts, ...files })
      if (identity.issuer === undefined) throw new Error('TEAM_ISSUER: is not among the settings')
      return { identity, keys: known ?? issuerKeys(identity) }
    }),
  )
}

/** The settings of the services that npm start runs on this machine. */
async function settingsOfStack(): Promise<Readonly<Record<string, string>>> {
  const stack = await runningStack()
  if (stack === undefined) throw new Error('--settings is required: the file with the TEAM_… settings of the services')
  return stack.identity
}

const textOf = (file: string): string => readFileSync(file, 'utf8')
