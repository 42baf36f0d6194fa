import t from 'tap'
import { type Correction, judgeCorrections, type Step } from './corrections.ts'

const expiresAt = 10_000
const step = (answer: string, changes: Partial<Step> = {}): Step => ({
  by: 'approver',
  calledAt: 9_000,
  returnedAt: 9_100,
  answer,
  ...changes,
})
const late = { calledAt: 11_000, returnedAt: 11_100 }
const expired = 'PROPOSAL_NOT_OPEN expired'
const correction = (...steps: readonly Step[]): Correction => ({ reference: 'r1', amount: 100n, expiresAt, steps })
const entry = { reference: 'r1', amount: 100n, balanceAfter: 100n }

const right: Readonly<Record<string, readonly [Correction, times: number]>> = {
  'it was approved in time': [correction(step('done')), 1],
  'it was approved too late': [correction(step(expired, late)), 0],
  'whoever proposed it may not': [correction(step('TWO_PEOPLE_REQUIRED', { by: 'proposer' }), step('done')), 1],
  'nobody knows whether it was done': [correction(step('SERVICE_UNAVAILABLE')), 1],
  'it was approved, and the process died': [
    correction(step('SERVICE_UNAVAILABLE'), step('PROPOSAL_NOT_OPEN approved', late)),
    0,
  ],
}

for (const [name, [one, times]] of Object.entries(right)) {
  t.test(`possible: ${name}`, async (t) => {
    t.same(judgeCorrections([one], times === 1 ? [entry] : [], times === 1 ? 100n : 0n), [])
  })
}

const wrong: Readonly<Record<string, readonly [Correction, entries: readonly (typeof entry)[], RegExp]>> = {
  'it is there twice': [correction(step('done')), [entry, { ...entry, balanceAfter: 200n }], /carried out 2 times/],
  'it has another amount': [correction(step('done')), [{ ...entry, amount: 99n, balanceAfter: 99n }], /another amount/],
  'it was told as done and is not there': [correction(step('done')), [], /not in the statement/],
  'it came after its time': [correction(step('done', late)), [entry], /in time/],
  'nobody else approved it': [correction(step('done', { by: 'proposer' })), [entry], /by whoever proposed it/],
  'it was refused as expired and is there': [correction(step('lost'), step(expired, late)), [entry], /is in the stat/],
  'it was refused as expired in its time': [correction(step(expired)), [], /before it was/],
  'nobody proposed it': [correction(step('done')), [{ ...entry, reference: 'r2' }], /r2, which nobody proposed/],
  'the statement does not add up': [correction(step('done')), [{ ...entry, balanceAfter: 101n }], /does not add up/],
}

for (const [name, [one, entries, problem]] of Object.entries(wrong)) {
  t.test(`found: ${name}`, async (t) => {
    const balance = entries.reduce((sum, { amount }) => sum + amount, 0n)
    t.match(judgeCorrections([one], entries, balance).join('\n'), problem)
  })
}

t.test('found: the balance is not that of the statement', async (t) => {
  t.match(judgeCorrections([correction(step('done'))], [entry], 99n), [/available is 0.99, not 1.00/])
})
