import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Input, type Operation, operations } from '@backoffice/contracts'
import { subjectAndReason } from '@backoffice/team-access/identity'
import { type TeamUser, TestIssuer } from '@backoffice/test-kit'
import t from 'tap'
import { typed } from './typed.ts'

const company = new TestIssuer()
t.teardown(() => company.remove())
const dir = t.testdir()
const at = new Date('2026-03-02T12:00:00Z')
const keysFile = company.settings.TEAM_KEYS_FILE ?? ''
const settingsFile = join(dir, 'settings.env')
const asFile = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
// As an overlay has it, with the path of a container.
writeFileSync(settingsFile, `PUBLIC_BASE_URL=x\n${asFile({ ...company.settings, TEAM_KEYS_FILE: '/etc/keys.json' })}`)
const anchor = (JSON.parse(readFileSync(keysFile, 'utf8')) as { keys: object[] }).keys[0]

let made = 0
/** An entry as a service exports it. */
async function entry<O extends Operation>(user: TeamUser, operation: O, input: Input<O>, said: object = {}) {
  made += 1
  const [id, operationId] = [`aud_${made}`, `opn_${made}`]
  const call = { operation: `${operation.service}.${operation.id}`, operationId, input }
  const { idToken, proof } = await company.signer(user, { now: () => at }).sign({ ...call, ...said })
  const who = { actor: user, actorId: `https://identity.test ${user}`, operation: operation.id, operationId }
  const what = { ...subjectAndReason(input), input, outcome: 'done', proposal: null, ...said }
  return { id, at: at.toISOString(), ...who, ...what, proof, idToken, anchor }
}

const { issueCredential, suspendOperator } = operations.gateway
const { adjustWallet } = operations.wallet
const operator = { operatorId: 'op_1', seen: { name: 'Casa Azul', status: 'active' } } as const
const suspended = await entry('alice', suspendOperator, { ...operator, reason: 'unpaid' })
const alone = await entry('finance', adjustWallet, {
  ...{ playerId: 'ply_1', amount: '1.00', reference: 'r', reason: 'x' },
  seen: { operatorId: 'op_1', environment: 'production', currency: 'BRL' },
})
const credential = { operatorId: 'op_1', environment: 'production', seen: { name: 'Casa Azul' } } as const
const proposed = await entry('alice', issueCredential, { ...credential, reason: 'new' })
const byTwo = async () => {
  const approval = await entry('bob', issueCredential, { ...credential, reason: 'seen' }, { approves: 'prp_1' })
  return { ...approval, proposal: { id: 'prp_1', proposed, approved: approval } }
}
const byItself = {
  ...{ id: 'aud_w', at: at.toISOString(), actor: 'webhooks', actorId: null },
  ...{ operation: 'disableWebhook', operationId: 'aud_w' },
  ...{ subject: 'wep_1', reason: 'failed for days', input: { withheld: 2 }, outcome: 'done', session: null },
  ...{ proof: null, idToken: null, anchor: null, proposal: null },
}

type Trail = Readonly<Record<string, readonly object[]>>
/** Writes a file as `audit export` does, one entry a page. */
async function exported(trail: Trail): Promise<string> {
  const period = ['--from', '2026-03-02', '--to', '2026-03-03']
  const { stdout, error } = await typed(
    ['audit', 'export', ...period],
    ({ service }, { cursor = '0' }: { cursor?: string }) => {
      const entries = trail[service] ?? []
      const next = Number(cursor) + 1
      return { data: entries.slice(next - 1, next), nextCursor: next < entries.length ? String(next) : null }
    },
  )
  if (error !== undefined) throw error
  const file = join(dir, `trail-${made}.jsonl`)
  writeFileSync(file, stdout)
  return file
}

async function verify(file: string, ...options: readonly string[]) {
  const trust = options.includes('--settings') ? [] : ['--settings', settingsFile, '--keys', keysFile]
  const { stdout, error, status } = await typed(['audit', 'verify', file, ...trust, ...options, '--json'])
  if (error !== undefined) throw error
  return { ...JSON.parse(stdout), failed: status === 1 }
}

t.test('an exported trail is verified entry by entry, by settings and keys alone', async (t) => {
  const file = await exported({ gateway: [suspended, await byTwo()], wallet: [alone], webhooks: [byItself] })
  t.match(await verify(file), {
    ...{ entries: 4, verified: 3, notVerified: [], isComplete: true, failed: false },
    byServices: [{ service: 'webhooks', id: 'aud_w' }],
    byOnePerson: [{ id: alone.id, actor: 'finance' }],
  })
  const { stdout } = await typed(['audit', 'verify', file, '--settings', settingsFile, '--keys', keysFile])
  t.match(stdout, /entries +4\nverified +3\n/)
  t.match(stdout, /Done by one person\n.*\nwallet/)
})

t.test('each entry that is not proven is named, with the reason', async (t) => {
  const twice = await byTwo()
  const reused = { ...(await byTwo()), id: 'aud_again' }
  const file = await exported({
    gateway: [
      { ...suspended, input: { operatorId: 'op_2', reason: 'unpaid' } },
      { ...suspended, id: 'aud_shown', reason: 'late' },
      { ...suspended, id: 'aud_unsigned', proof: null },
      { ...proposed, id: 'aud_alone' },
      twice,
      reused,
      { ...suspended, id: 'aud_new', operation: 'suspendEverybody' },
    ],
    wallet: [{ ...byItself, id: 'aud_posing', actor: 'wallet', session: 's' }],
  })
  const { notVerified, verified, failed } = await verify(file)
  t.equal(verified, 1)
  t.ok(failed)
  t.match(notVerified, [
    { id: suspended.id, why: 'the signature is for another call' },
    { id: 'aud_shown', why: 'its subject or reason is not the one that was signed' },
    { id: 'aud_unsigned', why: 'nobody has signed it' },
    { id: 'aud_alone', why: 'it takes two people, and nobody has approved it' },
    { id: 'aud_again', why: `the approval was used for ${twice.id} already` },
    { id: 'aud_new', why: /does not know the operation/ },
    { id: 'aud_posing', why: /does not know the operation|nobody has signed it/ },
  ])
})

t.test('only what a service does by itself needs no signature', async (t) => {
  const posing = { ...byItself, actor: 'gateway', operation: 'suspendOperator' }
  const file = await exported({ gateway: [posing], webhooks: [{ ...byItself, outcome: 'OPERATOR_NOT_FOUND' }] })
  const unsigned = { why: 'nobody has signed it' }
  t.match(await verify(file), { byServices: [], notVerified: [unsigned, unsigned], failed: true })
})

t.test('of a call whose input is not kept, the signature proves that it was made, and not with what', async (t) => {
  const search = await entry('finance', operations.players.searchPlayers, { cpf: '529.982.247-25', limit: 10 })
  const input = { cpf: '', limit: 10 }
  const unread = await entry('support', suspendOperator, { ...operator, reason: 'r' })
  const file = await exported({
    players: [
      { ...search, input },
      { ...search, input: { cpf: '', limit: 11 } },
    ],
    gateway: [{ ...unread, outcome: 'ROLE_REQUIRED', input: {}, subject: null, reason: null }],
  })
  t.match(await verify(file), {
    ...{ verified: 0, notVerified: [], failed: false },
    inputNotProven: [{ id: unread.id }, { id: search.id }, { id: search.id }],
  })
})

t.test('a signature is worth one action', async (t) => {
  const file = await exported({ gateway: [suspended, { ...suspended, id: 'aud_copy' }] })
  t.match((await verify(file)).notVerified, [
    { id: 'aud_copy', why: `the signature was used for ${suspended.id} already` },
  ])
})

t.test('files that held at another time count beside those of today', async (t) => {
  const file = await exported({ gateway: [suspended] })
  const today = join(dir, 'today.env')
  writeFileSync(
    today,
    asFile({ ...company.settings, TEAM_GROUP_ROLES: '{"others": ["integration"]}', TEAM_KEYS_FILE: '' }),
  )
  const keys = ['--keys', keysFile]
  t.match((await verify(file, '--settings', today, ...keys)).notVerified, [
    { why: 'alice was not allowed to: ROLE_REQUIRED' },
  ])
  t.match(await verify(file, '--settings', today, '--settings', settingsFile, ...keys), { verified: 1, failed: false })
  const otherKeys = join(dir, 'other-keys.json')
  writeFileSync(otherKeys, '{"keys": []}')
  const unknown = await verify(file, '--settings', settingsFile, '--keys', otherKeys)
  t.match(unknown.notVerified, [{ why: 'it rests on a key that is not known: "test"' }])
  t.match(await verify(file, '--settings', settingsFile, '--keys', otherKeys, ...keys), { verified: 1 })
})

t.test('a file that was cut, or is something else, is no verified trail', async (t) => {
  const file = await exported({ gateway: [suspended, await byTwo()] })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const cut = join(dir, 'cut.jsonl')
  for (const left of [lines.slice(0, -1), lines.slice(1)]) {
    writeFileSync(cut, `${left.join('\n')}\n`)
    t.match(await verify(cut), { isComplete: false, notVerified: [], failed: true })
  }
  writeFileSync(cut, lines[0]?.slice(0, 200) ?? '')
  await t.rejects(verify(cut), /line 1 is no JSON/)
  const { error } = await typed(['audit', 'verify', file], () => ({}))
  t.match(error?.message, /--settings is required|cannot be read/)
})
