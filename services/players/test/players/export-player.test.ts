import { type Input, operations, type Reply } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'
import { newPlayer } from '../new-player.ts'

const { registerPlayer, exportPlayer, listAudit } = operations.players

const bed = await testBed(t, { players, wallet })
const scope = bed.scope()
const register = () => bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
const alice = bed.team('alice')
const reason = 'the player asked for it'

t.test("every row about the player is exported once, page by page, and nobody else's", async (t) => {
  const [{ id: playerId, cpf }, { id: other }] = [await register(), await register()]
  for (const id of [playerId, other]) {
    await bed.sql('admin').query(
      `insert into players.kyc_submission select 'kyc_' || $1 || lpad(n::text, 3, '0'), $1, 'rg', 'doc-' || n, now()
       from generate_series(1, 450) n`,
      [id],
    )
  }
  const rows: Reply<typeof exportPlayer>['rows'] = []
  const sizes: number[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const input = { playerId, reason, ...(after === undefined ? {} : { after }) }
    const page = await alice.call(exportPlayer, { input })
    rows.push(...page.rows)
    sizes.push(page.rows.length)
    after = page.nextCursor
  }
  t.ok(Math.max(...sizes) <= 200, 'a page is bounded')
  const of = (table: string) => rows.filter((row) => row.table === table)
  t.equal(of('player').length, 1)
  t.match(of('player')[0]?.values, { id: playerId, cpf, kyc_reason: null })
  const references = of('kyc_submission').map(({ values }) => values.reference)
  t.equal(references.length, 450)
  t.equal(new Set(references).size, 450)
  t.notMatch(JSON.stringify(rows), other)
})

t.test('an export needs a reason, and is recorded: who, whom and why', async (t) => {
  const { id: playerId } = await register()
  const without = { playerId } as Input<typeof exportPlayer>
  await t.rejects(alice.call(exportPlayer, { input: without }), { code: 'VALIDATION_ERROR' })
  await alice.call(exportPlayer, { input: { playerId, reason } })
  const { data } = await bed.team('bob').call(listAudit, { input: { subject: playerId, limit: 10 } })
  t.match(data, [{ actor: 'alice', operation: 'exportPlayer', subject: playerId, reason }])
})
