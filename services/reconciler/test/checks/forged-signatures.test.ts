import { randomUUID } from 'node:crypto'
import { operations, toMinorUnits } from '@backoffice/contracts'
import { fixedKeys, issuerKeys } from '@backoffice/team-access/identity'
import t from 'tap'
import { folderStore, type HeadStore, textOf } from '../../src/heads/store.ts'
import { ask, type Question } from '../../src/reconciliation/check.ts'
import { signatures } from '../../src/reconciliation/signatures.ts'
import { Snapshots } from '../../src/reconciliation/snapshots.ts'
import { TeamHistory, type TeamRules } from '../../src/reconciliation/team-history.ts'
import { runOf } from '../runs/run.ts'
import {
  adjustment,
  Brand,
  bed,
  eachIsNamed,
  type Forged,
  type Forgeries,
  forgeAudited,
  forgeCall,
  keysText,
  longAgo,
  stranger,
  team,
} from './brand.ts'

const { wallet } = operations

interface Correction extends Omit<Forged, 'operation' | 'input'> {
  readonly amount: string
  readonly reference?: string
  /** A proposal that the audit trail names and that was never made. */
  readonly claimed?: string
  /** When it was posted, as the wallet says. */
  readonly posted?: () => Date
}

/** A correction with all its records, as the wallet writes it. */
async function forgeCorrection(
  brand: Brand,
  { amount, reference = 'gift', claimed, posted, ...signing }: Correction,
): Promise<string> {
  const reason = 'a gift'
  const input = { playerId: brand.playerId, amount, reference, reason }
  const row = claimed === undefined ? {} : { proposal: claimed }
  await forgeCall({ ...signing, operation: wallet.adjustWallet, input, row })
  return brand.post({ ...adjustment, amount: toMinorUnits(amount), reference, reason }, posted)
}

/** Corrections of one player, each under a reference of its own. */
const corrections =
  (...all: readonly Correction[]) =>
  async (brand: Brand) => {
    for (const [index, one] of all.entries()) await forgeCorrection(brand, { reference: `gift ${index}`, ...one })
  }

// forged-calls.test.ts forges these and all else that people sign in every way.
const forgeries: Forgeries = {
  'an adjustment that a person made, with what proves it: nothing': corrections({ amount: '1.00', by: 'finance' }),
  'an adjustment with an audit entry that nobody signed: signatures': (brand) => forgeAudited(brand),
  'an adjustment that takes two people, and two have signed it: nothing': corrections({
    ...{ amount: '50.01', by: 'bob', two: ['alice', 'bob'] },
  }),
  'an adjustment that takes two people, and one has signed it: signatures': corrections({
    ...{ amount: '50.01', by: 'finance' },
  }),
  'an adjustment with the audit entry and signature of an old login: signatures': corrections({
    ...{ amount: '1.00', by: 'finance', now: longAgo },
  }),
  'adjustments by one person, each of them small and together too much for one: signatures': corrections(
    { amount: '30.00', by: 'finance' },
    { amount: '20.01', by: 'finance' },
  ),
  'small adjustments, of which the wallet says that each was proposed, and nobody did: signatures': corrections(
    { amount: '30.00', by: 'finance', claimed: 'prp_none' },
    { amount: '20.01', by: 'finance', claimed: 'prp_none' },
  ),
  'small adjustments by two people, each of whom might make them: nothing': corrections(
    { amount: '30.00', by: 'finance' },
    { amount: '20.01', by: 'alice' },
  ),
  'small adjustments by one person, and to one of them another has agreed: nothing': corrections(
    { amount: '30.00', by: 'bob', two: ['alice', 'bob'] },
    { amount: '30.00', by: 'bob' },
  ),
}

const url = bed.environment('reconciler').DATABASE_URL ?? ''
const snapshots = await Snapshots.connect(url, { statementMsMax: 60_000, signal: new AbortController().signal })
t.teardown(() => snapshots.close())

t.test('a correction that the wallet enters is named by what people have signed, and nothing else is', (t) =>
  eachIsNamed(t, forgeries),
)

interface Judging {
  readonly rules?: TeamRules
  readonly store?: HeadStore
  readonly at?: Date
  readonly named?: readonly string[]
  /** All of the brand when left out. */
  readonly asked?: readonly string[]
}

/** What is wrong with a brand's corrections, as a run judges them by these rules. */
async function faults({ scope }: Brand, { rules = team, store, at = new Date(), named = [], asked }: Judging = {}) {
  const [question] = signatures({
    ...{ at, team: await TeamHistory.read(rules, at, store), named: new Set(named), since: null },
    isDevelopment: true,
    otherDatabases: new Map(),
    clockSteps: new Map(),
  })
  const found = await snapshots.see(async (db) => {
    const rows = await db<{ id: string }>`
      select id from wallet.transfer where brand_id = ${scope.brandId} and type in ('ADJUSTMENT', 'REVERSAL') order by id
    `
    const keys = rows.map(({ id }) => id)
    return ask(db, question as Question, asked ?? keys)
  })
  return found.map(({ found: { actual } }) => actual.replace(/^.*\): /, '')).sort()
}

t.test(
  'who belonged to the team is recorded beside the heads, so that an old signature counts when all has changed',
  async (t) => {
    const brand = await Brand.funded()
    const input = { playerId: brand.playerId, amount: '1.00', reference: randomUUID(), reason: 'goodwill' }
    await bed.team('finance').call(wallet.adjustWallet, { input })
    const dir = t.testdir({ store: {}, older: {} })
    const store = folderStore(`${dir}/store`)
    t.same(brand.foundIn(await runOf(bed, { isFull: false, team, heads: { store, everyMs: 1_000 } })), '')
    t.same(await faults(brand, { store }), [])
    const [recorded = '', ...others] = await store.list('team/', '')
    t.same(others, [], 'the same is recorded once')

    const older = folderStore(`${dir}/older`)
    const { payAloneUpTo, maxWin, ...first } = JSON.parse(await textOf(store, recorded))
    t.same({ payAloneUpTo, maxWin }, { payAloneUpTo: team.payAloneUpTo, maxWin: team.maxWin })
    await older.put(recorded, JSON.stringify(first))
    const ofOlder = await runOf(bed, { isFull: false, team, heads: { store: older, everyMs: 1_000 } })
    t.same(brand.foundIn(ofOlder), '', 'the first records said less')

    const keys = fixedKeys([{ ...JSON.parse(keysText(stranger)).keys[0], kid: 'new' }])
    const changed = { ...team, keys, identity: { ...team.identity, rolesOfGroup: new Map() } }
    t.same(
      await faults(brand, { rules: changed }),
      ['it rests on a key that is not known: "test"'],
      'nothing says what was before',
    )
    t.same(await faults(brand, { rules: changed, store }), [])
    t.equal((await store.list('team/', '')).length, 2)
    const away = { ...team, keys: issuerKeys({ issuer: 'http://127.0.0.1:1', keysFile: undefined }) }
    t.same(await faults(brand, { rules: away, store }), [], 'while the provider is away')
    t.match(await faults(brand, { rules: away }), [/cannot be reached/])
  },
)

t.test('an amount that one person may correct later justifies no earlier correction', async (t) => {
  const brand = await Brand.funded()
  const store = folderStore(t.testdir())
  t.same(await faults(brand, { store }), [])
  await forgeCorrection(brand, { amount: '60.00', by: 'finance' })
  const byOne = ['it takes two people, and nobody has approved it']
  t.same(await faults(brand, { store }), byOne)
  const rules = { ...team, aloneUpTo: '130.00' }
  t.same(await faults(brand, { rules, store }), byOne)
  await forgeCorrection(brand, { amount: '70.00', by: 'finance', reference: 'later' })
  t.same(await faults(brand, { rules, store }), byOne, 'that one counts for later ones')
})

t.test('what one account corrects under two names counts together', async (t) => {
  const brand = await Brand.funded()
  const { playerId } = brand
  const renamed = bed.team('finance', { claims: { preferred_username: 'finance.souza' } })
  for (const [person, amount] of [[bed.team('finance'), '10.00'] as const, [renamed, '10.01'] as const]) {
    const input = { playerId, amount, reference: randomUUID(), reason: 'goodwill' }
    await person.call(wallet.adjustWallet, { input })
  }
  t.same(await faults(brand, { rules: { ...team, aloneUpTo: '20.00' } }), [
    'it takes two people, and nobody has approved it: 20.01 for this player within 24 hours',
  ])
})

t.test('a correction that is given an earlier time counts for those that were judged before', async (t) => {
  const brand = await Brand.funded()
  const later = () => new Date(Date.now() + 60_000)
  await forgeCorrection(brand, { amount: '30.00', by: 'finance', now: later, posted: later })
  t.same(await faults(brand), [])
  const inserted = await forgeCorrection(brand, { amount: '20.01', by: 'finance', reference: 'more' })
  const together = ['it takes two people, and nobody has approved it: 50.01 for this player within 24 hours']
  t.same(await faults(brand, { asked: [inserted] }), together)
  t.same(await faults(brand), together)
})

t.test('without a record of the team a correction that was named stays named when it is old', async (t) => {
  const brand = await Brand.funded()
  const key = await forgeAudited(brand)
  const at = new Date(Date.now() + 25 * 3_600_000)
  t.same(await faults(brand, { at }), [])
  t.same(await faults(brand, { at, named: [key] }), ['nobody has signed it'])
})
