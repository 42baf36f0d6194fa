import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { operations } from '@backoffice/contracts'
import { byTwo, newPlayer, refusal, skipWithout, type TeamUser, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import fc from 'fast-check'
import t from 'tap'
import { documentLink, faultOfTemplate } from '../../src/kyc/review.ts'
import { players } from '../../src/service.ts'

const document = readFileSync(new URL('../../../../docs/kyc-documents.md', import.meta.url), 'utf8')
const codeIn = (language: string) => document.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? ''
const vectors = [...document.matchAll(/^(https:\S+)\n(.+)\n(\/\S+)$/gm)].map(
  ([, template = '', reference = '', target = '']) => ({ template, reference, target }),
)

const key = 'docsec_an-example-of-a-key'
const madeAt = new Date('2026-03-02T12:49:00.000Z')
const madeSeconds = madeAt.getTime() / 1_000
const targetOf = (link: string) => link.slice(new URL(link).origin.length)

type MayOpen = (key: string, target: string, nowSeconds: number) => boolean
const { mayOpen } = (await import(`data:text/javascript,${encodeURIComponent(codeIn('js'))}`)) as { mayOpen: MayOpen }

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
  const refused = { code: 'VALIDATION_ERROR', details: { issues: [{ path: '/template' }] } }
  await t.rejects(set({ template: 'http://kyc.example/{reference}' }), refused)
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
    t.match(await byTwo(bed, setDocumentUrl, input), { template })
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

t.test('the links are those of the test vectors that operators have', async (t) => {
  t.equal(vectors.length, 4)
  for (const { template, reference, target } of vectors) {
    t.equal(faultOfTemplate(template), null)
    t.equal(targetOf(documentLink({ template, key }, reference, madeAt) ?? ''), target)
  }
})

/** What an operator's server must refuse, each with a time at which the link itself still holds. */
function forgeriesOf(target: string): readonly (readonly [key: string, target: string, nowSeconds: number])[] {
  const now = madeSeconds
  const [signed = '', signature = ''] = target.split('&signature=')
  const later = signed.replace(/expires=\d+/, 'expires=9999999999')
  return [
    ['docsec_another', target, now],
    [key, `${later}&signature=${signature}`, now],
    [key, `${signed.replace('expires', 'x=1&expires')}&signature=${signature}`, now],
    [key, signed, now],
    [key, `${signed}&signature=`, now],
    [key, `${signed}&signature=${signature.toUpperCase()}`, now],
    [key, `${target}0`, now],
    [key, target, now + 15 * 60],
  ]
}

t.test("the document's Node code opens each link for 15 minutes, and nothing that was changed", async (t) => {
  for (const { target } of vectors) {
    t.equal(mayOpen(key, target, madeSeconds), true)
    t.equal(mayOpen(key, target, madeSeconds + 15 * 60 - 1), true)
    for (const [other, forged, now] of forgeriesOf(target)) t.equal(mayOpen(other, forged, now), false, forged)
  }
})

t.test("the document's Python code does the same", { skip: skipWithout('python3', 'python3') }, async (t) => {
  const cases = vectors.flatMap(({ target }) => [[key, target, madeSeconds] as const, ...forgeriesOf(target)])
  const program = `import json, sys\n${codeIn('python')}\nprint(json.dumps([may_open(*one) for one in json.load(sys.stdin)]))`
  const answers = JSON.parse(
    execFileSync('python3', ['-c', program], { input: JSON.stringify(cases), encoding: 'utf8' }),
  )
  t.same(
    answers,
    cases.map(([used, target, now]) => mayOpen(used, target, now)),
  )
  t.equal(answers.filter(Boolean).length, vectors.length)
})

t.test('whatever a reference holds, it stays in its place and comes back whole, or there is no link', async (t) => {
  const template = 'https://kyc.example/documents/{reference}/file?size=full'
  const folders = ['..', '.', '%2e%2e', '../../admin', '\\..\\']
  const hostile = [...folders, 'a?b=c&d#e', '\'"<>`|^{}', ' \t\r\n\u0000', '%', '\ud800', '{reference}', '$&']
  const check = (reference: string) => {
    const link = documentLink({ template, key }, reference, madeAt)
    if (link === null) return /^(\.|%2e){1,2}$/i.test(encodeURIComponent(reference.toWellFormed()))
    const { origin, pathname, searchParams, href } = new URL(link)
    const [, folder, part = '', file, ...rest] = pathname.split('/')
    t.equal(href, link, 'a browser sends it as it is signed')
    t.same([origin, folder, file, rest], ['https://kyc.example', 'documents', 'file', []])
    t.equal(decodeURIComponent(part), reference.toWellFormed())
    t.same([...searchParams.keys()], ['size', 'expires', 'signature'])
    return mayOpen(key, targetOf(link), madeSeconds)
  }
  for (const reference of hostile) t.ok(check(reference), JSON.stringify(reference))
  fc.assert(fc.property(fc.string({ unit: 'binary', minLength: 1 }), check), { numRuns: 200 })
})

t.test('an address that is no good is refused with a sentence', async (t) => {
  for (const [template, fault] of [
    ['https://kyc.example/documents', /must have \{reference\} once/],
    ['https://kyc.example/{reference}/{reference}', /must have \{reference\} once/],
    ['{reference}', /must be a URL/],
    ['http://kyc.example/{reference}', /must use https/],
    ['javascript:alert("{reference}")', /must use https/],
    ['https://user:word@kyc.example/{reference}', /user name or a password/],
    ['https://kyc.example/#{reference}', /fragment/],
    ['https://kyc.example/{reference}#', /fragment/],
    ['https://{reference}.kyc.example/', /in the path or the query/],
    ['https://kyc.example{reference}/', /in the path or the query|as browsers send it/],
    ['https://localhost/{reference}', /public host/],
    ['https://a.localhost./{reference}', /public host/],
    ['https://10.0.0.1/{reference}', /public host/],
    ['https://0x7f.1/{reference}', /public host/],
    ['https://[::1]/{reference}', /public host/],
    ['https://KYC.example/{reference}', /as browsers send it: https:\/\/kyc.example\/x/],
    ['https://kyc.example:443/{reference}', /as browsers send it/],
    ['https://kyc.example/a/../{reference}', /as browsers send it/],
    ['https://kyc.example/ä/{reference}', /as browsers send it/],
    ['https://kyc.example/{reference}?expires=1', /expires and signature/],
    ['https://kyc.example/?signature={reference}', /expires and signature/],
  ] as const)
    t.match(faultOfTemplate(template), fault, template)
  for (const template of [
    'https://kyc.example/{reference}',
    'https://kyc.example:8443/?id={reference}',
    'https://a.b/x-{reference}.pdf?v=1',
  ])
    t.equal(faultOfTemplate(template), null, template)
  for (const template of ['http://localhost:3000/{reference}', 'http://127.0.0.1/?id={reference}']) {
    t.equal(faultOfTemplate(template, true), null, 'on a developer’s own machine')
    t.ok(faultOfTemplate(template), 'and nowhere else')
  }
  for (const template of [
    'http://10.0.0.1/{reference}',
    'http://kyc.example/{reference}',
    'ftp://localhost/{reference}',
  ])
    t.match(faultOfTemplate(template, true), /must use https/)
})
