import { operations, type Rejection } from '@backoffice/contracts'
import { TestTime, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { payments } from './probe-services.ts'

let nowMs = Date.parse('2026-03-02T12:00:00Z')
export const time = new TestTime(new Date(nowMs))
export const pass = (ms: number) => {
  nowMs += ms
  return time.set(new Date(nowMs))
}
export const bed = await testBed(t, { payments }, { time })
export const refusal = (call: Promise<unknown>): Promise<Rejection> =>
  call.then(
    (reply) => Promise.reject(new Error(`it was done: ${JSON.stringify(reply)}`)),
    (error) => error as Rejection,
  )
export const code = async (call: Promise<unknown>) => (await refusal(call)).code

export async function trail(subject: string) {
  const { data } = await bed.team('auditor').call(operations.payments.listAudit, { input: { limit: 100, subject } })
  return data.map(({ actor, operation, outcome, reason }) => ({ actor, operation, outcome, reason })).reverse()
}
