import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type ExportedAuditEntry, type Operation, operations, type ServiceName } from '@backoffice/contracts'
import { isInputProven, type RecordedCalls } from '@backoffice/team-identity'

/** A line of an export. */
export interface ExportedLine extends ExportedAuditEntry {
  readonly service: ServiceName
}

/** The last line of an export: without it a part of the file is missing. */
export interface ExportEnd {
  readonly end: { readonly from: string; readonly to: string; readonly entries: number }
}

/** An entry and what there is to say about it. */
export interface Remark extends Pick<ExportedLine, 'service' | 'id' | 'at' | 'actor' | 'operation'> {
  readonly why: string
}

export interface Verdict {
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
export async function judgeTrail(file: string, calls: RecordedCalls): Promise<Verdict> {
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
