import type { Operation } from '@backoffice/contracts'
import { dayMs } from '@backoffice/process'
import type { TeamUser } from '@backoffice/test-kit'
import fc from 'fast-check'
import type { Test } from 'tap'
import { run } from './brand.ts'
import { accounts, type Forged, type ForgedEntry, forgeCall, stranger } from './forge-call.ts'

const seed = Number(process.env.FORGERY_SEED ?? 2_607)
/** Of each kind of effect. */
const forgeriesOfKind = 100

type Input = Readonly<Record<string, unknown>>

/** A call that somebody who may has signed, as it should have been. */
export interface RightCall {
  readonly operation: Operation
  readonly input: Input
  readonly by: TeamUser
  /** Somebody who may not call it. */
  readonly notBy: TeamUser
  readonly two?: readonly [TeamUser, TeamUser]
  /** A field of the input, with what another call has there. */
  readonly others: Input
  /** What the trail says besides. */
  readonly row?: Input
}

type Way = (right: RightCall, chosen: { readonly number: number; readonly field: string }) => Omit<Forged, 'operation'>

const past = (days: number) => () => new Date(Date.now() - days * dayMs)
/** Eleven minutes to a day. */
const shift = (number: number) => 660_000 + (number % 86_000) * 1_000

/** What is wrong with a call, written with the database password of its service. */
const ways: Readonly<Record<string, Way>> = {
  'nobody has signed it': (right) => ({ ...right, row: { proof: null, session: null } }),
  'another call is in the trail': (right, { field }) => ({
    ...right,
    input: { ...right.input, [field]: right.others[field] },
  }),
  'another call was signed': (right, { field }) => ({
    ...right,
    signs: { input: { ...right.input, [field]: right.others[field] } },
  }),
  'another operation was signed': (right) => ({ ...right, signs: { operation: 'gateway.suspendOperator' } }),
  'it was signed under another id': (right, { number }) => ({ ...right, signs: { operationId: `opn_${number}` } }),
  'somebody signed who may not': (right) => ({ ...right, by: right.notBy }),
  'another identity provider says who it was': (right) => ({ ...right, issuer: stranger }),
  'another one is named': (right) => ({ ...right, row: { actor: 'dora', actor_id: `${accounts}dora` } }),
  'another account is named': (right) => ({ ...right, row: { actor_id: `${accounts}dora` } }),
  'the login came later': (right, { number }) => ({ ...right, loggedInSecondsAgo: -shift(number) / 1_000 }),
  'the login had ended': (right, { number }) => ({ ...right, loggedInSecondsAgo: 43_200 + number }),
  'it is recorded later than it was signed': (right, { number }) => ({
    ...right,
    now: () => new Date(Date.now() - shift(number)),
    row: { at: new Date() },
  }),
  'it is recorded sooner than it was signed': (right, { number }) => ({
    ...right,
    row: { at: new Date(Date.now() - shift(number)) },
  }),
  'all of it is of an earlier time': (right, { number }) => ({ ...right, now: past(1 + (number % 300)) }),
  'the tool is another one': (right) => ({ ...right, row: { tool: 'console' } }),
  'the session is that of nobody': (right) => ({ ...right, row: { session: 'ses_none' } }),
}

const ofBefore = ['it is recorded sooner than it was signed', 'all of it is of an earlier time']

/** Further ways where it takes two people. */
const waysOfTwo: Readonly<Record<string, Way>> = {
  'one person has signed it': ({ two: _, ...right }) => right,
  'one person has signed it for two': (right) => ({ ...right, two: ['alice', 'alice'] }),
  'who proposed it might not': (right) => ({ ...right, two: [right.notBy, 'bob'] }),
  'the proposal is none': ({ two: _, ...right }) => ({ ...right, row: { proposal: 'prp_none' } }),
}

/** A kind of effect, with what it takes to forge one. */
export interface Kind<Right extends RightCall> {
  /** Makes what a call is to be about. Each is another record. */
  readonly prepare: (number: number) => Promise<Right>
  /** Writes the effect as its service does. @returns the subject of the differences */
  readonly effect: (right: Right, call: ForgedEntry) => Promise<string>
  /** The checks that may name it. */
  readonly checks: readonly string[]
  /** What else is wrong of this kind. */
  readonly more?: Readonly<Record<string, (right: Right) => Promise<string>>>
  readonly isOfTwo?: boolean
  /** An incremental run finds it by its time, so the full one alone sees what is given a time of before. */
  readonly isFoundByTime?: boolean
}

/** A setting is named after its record. */
const recordOf = ({ subject }: { readonly subject: string }) => subject.split(' ')[0] ?? ''

/** Forges as many as is said of a kind, and shows that each is named. What is honest is shown first, and is not named. */
export async function allAreNamed<Right extends RightCall>(t: Test, kind: Kind<Right>, honest: readonly string[]) {
  const { prepare, effect, checks, more = {}, isOfTwo = false, isFoundByTime = false } = kind
  const forging: Readonly<Record<string, Way>> = isOfTwo ? { ...ways, ...waysOfTwo } : ways
  const names = [...Object.keys(forging), ...Object.keys(more)]
  const drawn = fc.sample(fc.record({ name: fc.constantFrom(...names), number: fc.nat() }), {
    ...{ seed, numRuns: forgeriesOfKind },
  })
  const said = new Map<string, string>()
  for (const [index, { name, number }] of drawn.entries()) {
    const right = await prepare(index)
    const fields = Object.keys(right.others)
    const way = forging[name]
    const forged = way?.(right, { number, field: fields[number % fields.length] ?? '' })
    const subject =
      forged === undefined
        ? await more[name]?.(right)
        : await effect(
            right,
            await forgeCall({ ...forged, operation: right.operation, row: { ...right.row, ...forged.row } }),
          )
    said.set(subject ?? '', name)
  }
  t.equal(said.size, forgeriesOfKind, `seed ${seed}`)
  for (const isFull of [false, true]) {
    const { differences } = await run(isFull)
    const found = new Set(differences.filter(({ check }) => checks.includes(check)).map(recordOf))
    const named = new Set([...said.keys()].filter((subject) => found.has(subject)))
    const mayMiss = isFoundByTime && !isFull ? ofBefore : []
    const missed = [...said].flatMap(([subject, name]) => (named.has(subject) || mayMiss.includes(name) ? [] : [name]))
    t.same(missed, [], `${named.size} of ${forgeriesOfKind} are named, full: ${isFull}`)
    t.same(
      honest.filter((subject) => differences.some((one) => recordOf(one) === subject)),
      [],
      'of what is honest, nothing',
    )
  }
}
