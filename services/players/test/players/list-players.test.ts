import { type Environment, type Input, operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { dayMs, newId } from '@backoffice/process'
import { eventually, newCpf, newPlayer, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, listPlayers, selfExcludePlayer, setPlayerStatus, decideKyc } = operations.players

const bed = await testBed(t, { players, wallet, payments }, { config: { players: { STATUS_SWEEP_EVERY_MS: 100 } } })
const alice = bed.team('alice')
const scopeIn = (environment: Environment) => bed.scope({ environment, brandId: newId('brd') })
const [aurora, boreal, practice] = [scopeIn('production'), scopeIn('production'), scopeIn('sandbox')]

async function register(scope = aurora, more: object = {}): Promise<string> {
  return (await bed.rpc.call(registerPlayer, { scope, input: { ...newPlayer(), ...more } })).id
}
const list = async (input: Partial<Input<typeof listPlayers>>) =>
  (await alice.call(listPlayers, { input: { limit: 10, ...input } })).data.map(({ id }) => id)

/** When a player was registered, as if the days had passed. */
async function age(playerId: string, days: number): Promise<void> {
  const client = await bed.sql('admin').connect()
  await client.query("set session_replication_role = 'replica'")
  await client.query('update players.player set created_at = created_at - make_interval(days => $2) where id = $1', [
    playerId,
    days,
  ])
  await client.query("set session_replication_role = 'origin'")
  client.release()
}

const cpf = newCpf()
const old = await register(aurora, { cpf })
const excluded = await register(aurora, { cpf })
const other = await register(boreal)
const inSandbox = await register(practice)
await age(old, 40)

t.test('players of all brands are listed newest first, of one environment or both, page by page', async (t) => {
  t.same(await list({}), [inSandbox, other, excluded])
  t.same(await list({ environment: 'production' }), [other, excluded])
  t.same(await list({ environment: 'production', limit: 1, before: other }), [excluded])
  t.same(await list({ environment: 'sandbox' }), [inSandbox])
  const { data, nextCursor } = await alice.call(listPlayers, { input: { environment: 'production', limit: 1 } })
  t.match(data, [{ id: other, operatorName: null }], 'there is no gateway here, which knows the names')
  t.equal(nextCursor, other)
})

t.test('without a brand the list goes back 31 days, with one or a first day as far as there are players', async (t) => {
  t.same(await list({ brandId: aurora.brandId }), [excluded, old])
  t.same(await list({ brandId: aurora.brandId, environment: 'sandbox' }), [])
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  t.same(await list({ environment: 'production', from: at(50) }), [other, excluded, old])
  t.same(await list({ environment: 'production', to: at(-1) }), [other, excluded])
  t.same(await list({ environment: 'production', to: at(1) }), [])
})

t.test('who is self-excluded is found however long ago they came, with the other accounts of the person', async (t) => {
  t.same(await list({ status: 'autoexcluido' }), [])
  await alice.call(selfExcludePlayer, { input: { playerId: excluded, until: null } })
  t.same(await list({ status: 'autoexcluido' }), [excluded], 'the others within a minute, when their operator is told')
  await bed.sql('admin').query('update players.told_status set due_at = now() where player_id = $1', [excluded])
  await eventually(async () => (await list({ status: 'autoexcluido' })).length === 2)
  t.same(await list({ status: 'autoexcluido' }), [excluded, old])
  t.same(await list({ status: 'autoexcluido', environment: 'production', limit: 1, before: excluded }), [old])
  t.same(await list({ status: 'autoexcluido', brandId: boreal.brandId }), [])
  t.same(await list({ status: 'ativo', environment: 'production' }), [other])
})

t.test('who has a status that few have is found, of all brands and of one', async (t) => {
  await alice.call(setPlayerStatus, { input: { playerId: other, status: 'suspenso', reason: 'a complaint' } })
  const decision = { submission: null, status: 'reprovado', reason: 'not readable' } as const
  await alice.call(decideKyc, { input: { playerId: other, ...decision } })
  for (const wanted of [{ status: 'suspenso' }, { kycStatus: 'reprovado' }] as const) {
    t.same(await list(wanted), [other])
    t.same(await list({ ...wanted, brandId: boreal.brandId }), [other])
    t.same(await list({ ...wanted, brandId: aurora.brandId }), [])
    t.same(await list({ ...wanted, environment: 'sandbox' }), [])
  }
  t.same(await list({ status: 'suspenso', kycStatus: 'reprovado' }), [other])
  t.same(await list({ kycStatus: 'nao_iniciado', environment: 'production' }), [excluded])
})
