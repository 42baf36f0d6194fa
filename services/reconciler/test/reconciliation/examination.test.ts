import { postgres } from '@backoffice/test-kit'
import t from 'tap'
import { Examination } from '../../src/reconciliation/examination.ts'
import { Findings } from '../../src/reconciliation/findings.ts'
import { Snapshots } from '../../src/reconciliation/snapshots.ts'

const { signal } = new AbortController()
const snapshots = await Snapshots.connect(await postgres(), { statementMsMax: 60_000, signal })
t.teardown(() => snapshots.close())

/** What is reported of a record when each look finds it as `seen` says; null: nothing differs. */
async function reported(isOfTwo: boolean, seen: (look: number) => string | null) {
  const findings = new Findings(['deposits'])
  let looks = 0
  const find = async () => {
    const actual = seen(++looks)
    const found = { brandId: null, subject: 'dep_1', expected: 'a credit', explanation: '' }
    return actual === null ? [] : [{ key: 'dep_1', found: { ...found, actual } }]
  }
  const question = { check: 'deposits', kind: 'deposit', counts: true, find } as const
  const examination = new Examination({ questions: [question], findings, since: null, isOfTwo })
  await snapshots.see((db) => examination.examine(db, 'deposit', ['dep_1']))
  await examination.lookAgain(snapshots, 10)
  const { checks, differences } = findings.report(() => 'production')
  return { looks, differences: differences.map(({ actual }) => actual), compared: checks[0]?.compared }
}

t.test('in one database a record and what it is compared with are of one moment: one look says all', async (t) => {
  t.same(await reported(false, () => 'none'), { looks: 1, differences: ['none'], compared: 1 })
})

t.test('in two, what was under way is not there at the next look, and is no difference', async (t) => {
  t.same(await reported(true, (look) => (look === 1 ? 'none' : null)), { looks: 2, differences: [], compared: 1 })
})

t.test('in two, a difference is what two looks find alike', async (t) => {
  t.same(await reported(true, () => 'none'), { looks: 2, differences: ['none'], compared: 1 })
  const changed = (look: number) => (look === 1 ? 'none' : 'another amount')
  t.same(await reported(true, changed), { looks: 3, differences: ['another amount'], compared: 1 })
})

t.test('who changes a record at each look hides nothing', async (t) => {
  t.same(await reported(true, String), { looks: 5, differences: ['5'], compared: 1 })
})
