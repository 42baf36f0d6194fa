import { createHmac } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { byTwo, proposalOf, refusal, type TeamUser, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'
import { newPlayer } from '../new-player.ts'

const { registerPlayer, submitKyc, kycQueue, showPlayer, setDocumentUrl, showDocumentUrl, listAudit, sealStoredData } =
  operations.players

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
const settings = { MASTER_KEYS: `first:${Buffer.alloc(32, 'first').toString('base64')}` }
const bed = await testBed(t, { players, wallet }, { time, config: { players: settings } })
const alice = bed.team('alice')
const scope = bed.scope()
const owner = { operatorId: scope.operatorId, environment: scope.environment }
const template = 'https://kyc.example/documents/{reference}'
const reason = 'contract of March'

const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
const submit = (reference: string) =>
  bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference } })
await submit('doc 1')
await submit('doc-2')
const set = (input: object = {}, operationId?: string) =>
  alice.call(setDocumentUrl, {
    input: { ...owner, template, reason, ...input },
    ...(operationId === undefined ? {} : { operationId }),
  })

/** The links of the queue and of the case, as they are shown now. */
async function links(): Promise<readonly (string | null | undefined)[]> {
  const { data } = await alice.call(kycQueue, { input: { limit: 10 } })
  const { submissions } = await alice.call(showPlayer, { input: { playerId } })
  return [data[0]?.documentUrl, ...submissions.map(({ documentUrl }) => documentUrl)]
}

function linkOf(reference: string, secret: string | null): string {
  const signed = `/documents/${reference}?expires=${time.now().getTime() / 1_000 + 900}`
  return `https://kyc.example${signed}&signature=${createHmac('sha256', secret ?? '')
    .update(signed)
    .digest('hex')}`
}
const linksBy = (secret: string | null) => [linkOf('doc-2', secret), linkOf('doc-2', secret), linkOf('doc%201', secret)]

const none = { ...owner, template: null, keyCreatedAt: null }
let secret: string | null = null

t.test('without an address there is no link', async (t) => {
  t.same(await alice.call(showDocumentUrl, { input: owner }), none)
  t.same(await links(), [null, null, null])
})

t.test('the key is shown once, and the queue and the case have links that it signs', async (t) => {
  const made = await set({}, 'opn_first')
  t.match(made, { ...owner, template, keyCreatedAt: time.now().toISOString(), secret: /^docsec_[\w-]{43}$/ })
  secret = made.secret
  t.same(await links(), linksBy(secret))
  t.same(await set({}, 'opn_first'), { ...made, secret: null }, 'a retry does not show it again')
  t.same(await alice.call(showDocumentUrl, { input: owner }), {
    ...owner,
    template,
    keyCreatedAt: time.now().toISOString(),
  })
  const { rows } = await bed.sql('admin').query(
    `select source::text || coalesce((select string_agg(o::text, '') from players.operation o), '')
      || (select string_agg(a::text, '') from players.audit_entry a) as stored from players.document_source source`,
  )
  t.notMatch(rows[0].stored, new RegExp(String(secret)))
})

t.test('another address keeps the key, a new key replaces it at once, and the audit trail says why', async (t) => {
  const made = time.now()
  await time.set(new Date(time.now().getTime() + 60_000))
  t.match(await set({ template: 'https://other.example/documents/{reference}' }), { secret: null })
  t.equal((await links())[0], linkOf('doc-2', secret).replace('kyc.example', 'other.example'))
  const replaced = await set({ newKey: true })
  t.match(replaced, { keyCreatedAt: time.now().toISOString(), secret: /^docsec_/ })
  t.not(replaced.secret, secret)
  secret = replaced.secret
  t.same(await links(), linksBy(secret))
  const { data } = await alice.call(listAudit, { input: { subject: owner.operatorId, limit: 10 } })
  t.match(data[0], { actor: 'alice', operation: 'setDocumentUrl', reason, input: { template, newKey: true } })
  const other = 'https://other.example/documents/{reference}'
  const key = { field: 'keyCreatedAt', before: made.toISOString(), after: time.now().toISOString() }
  t.same(
    data.map(({ changes }) => changes),
    [
      [{ field: 'template', before: other, after: template }, key],
      [{ field: 'template', before: template, after: other }],
      [
        { field: 'template', before: null, after: template },
        { ...key, before: null, after: made.toISOString() },
      ],
    ],
  )
})

t.test('who does not review documents gets no link to one', async (t) => {
  const read = async (user: TeamUser) => {
    const { submissions } = await bed.team(user).call(showPlayer, { input: { playerId } })
    return submissions.map(({ documentUrl }) => documentUrl)
  }
  const queued = async (user: TeamUser) => {
    const { data } = await bed.team(user).call(kycQueue, { input: { limit: 10 } })
    return data.map(({ documentUrl }) => documentUrl)
  }
  for (const user of ['support', 'finance', 'integration'] as const) t.same(await read(user), [null, null], user)
  for (const user of ['compliance', 'auditor'] as const) t.same(await read(user), linksBy(secret).slice(1), user)
  t.same([await queued('support'), await queued('compliance')], [[null], linksBy(secret).slice(0, 1)])
})

t.test('links are those of one operator in one environment', async (t) => {
  const live = { environment: 'production', template: 'https://live.example/{reference}' } as const
  await byTwo(bed, setDocumentUrl, { ...owner, reason, ...live })
  await set({ operatorId: 'op_other', template: 'https://other.example/{reference}' })
  t.same(await links(), linksBy(secret))
})

t.test('an address that is no good is refused, and nothing changes', async (t) => {
  for (const wrong of ['http://kyc.example/{reference}', 'https://kyc.example/'])
    await t.rejects(set({ template: wrong }), {
      code: 'VALIDATION_ERROR',
      details: { issues: [{ path: '/template' }] },
    })
  t.equal(await refusal(set({ reason: undefined })), 'VALIDATION_ERROR')
  t.same(await links(), linksBy(secret))
})

t.test('the key is sealed under the newest master key, and signs the same links then', async (t) => {
  const { MASTER_KEYS: first } = settings
  const second = `second:${Buffer.alloc(32, 'second').toString('base64')}`
  const restart = async (keys: string) => {
    settings.MASTER_KEYS = keys
    await bed.services.players.drain()
    Object.assign(bed.services, { players: await bed.start('players') })
  }
  await restart(`${second},${first}`)
  await alice.call(sealStoredData, { input: {} })
  await restart(second)
  t.same(await links(), linksBy(secret))
})

t.test('an anonymised reference has no link, and null ends all links', async (t) => {
  await bed.sql('admin').query(`update players.kyc_submission set reference = 'anonymised' where reference = 'doc 1'`)
  t.same(await links(), [linkOf('doc-2', secret), linkOf('doc-2', secret), null])
  t.match(await set({ template: null }), { template: null, secret: null })
  t.same(await links(), [null, null, null])
  await set()
  t.equal((await links())[0], linkOf('doc-2', secret), 'the key is still the same')
})

t.test(
  'in production the address is changed by two people, and for a day a reviewer is told that it was',
  async (t) => {
    const live = bed.scope({ environment: 'production' })
    const input = { operatorId: live.operatorId, environment: 'production', template, reason } as const
    const late = bed.team('alice', { loggedInSecondsAgo: 600 })
    t.equal(await refusal(late.call(setDocumentUrl, { input })), 'FRESH_LOGIN_REQUIRED')
    const { proposalId: approves } = await proposalOf(alice.call(setDocumentUrl, { input }))
    t.not((await alice.call(showDocumentUrl, { input: { ...owner, environment: 'production' } })).template, template)
    t.equal(await refusal(alice.call(setDocumentUrl, { input, approves })), 'TWO_PEOPLE_REQUIRED')
    t.match(await bed.team('bob').call(setDocumentUrl, { input, approves }), { template })
    const { id } = await bed.rpc.call(registerPlayer, { scope: live, input: newPlayer() })
    const changedAt = async (user: TeamUser) =>
      (await bed.team(user).call(showPlayer, { input: { playerId: id } })).documentSourceChangedAt
    const made = time.now().toISOString()
    t.equal(await changedAt('compliance'), made)
    t.equal(await changedAt('support'), null, 'for whom there are no links')
    await time.set(new Date(time.now().getTime() + 60_000))
    await byTwo(bed, setDocumentUrl, { ...input, newKey: true })
    t.equal(await changedAt('compliance'), made, 'a new key is no other address')
  },
)
