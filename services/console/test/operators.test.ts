import { operations } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { eventually } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { consoleBed, formOf, type Shown } from './console-bed.ts'

const { getOperator } = operations.gateway
const { showWebhook } = operations.webhooks

t.test('the pages of operators', async (t) => {
  const bed = await consoleBed(t, {}, {}, { gateway, webhooks })
  const alice = await bed.visitor('alice')
  const reason = 'as the contract says'
  const copied = ({ text }: Shown) => [...text.matchAll(/data-copy="([^"]+)"/g)].map(([, value = '']) => value)
  const only = (allowedAddressesGiven: string) => ({ allowedAddresses: 'given', allowedAddressesGiven })
  const show = (name: string) => bed.bed.team('alice').call(getOperator, { input: { name } })

  await t.test('create one, whose secrets are shown once', async (t) => {
    const page = '/sandbox/operators/new'
    const form = formOf(await alice.get(page), `${page}/create`)
    const taken = { ...form, name: 'Aurora', ...only('203.0.113.7\r\n2001:db8::/32'), reason }
    const made = await alice.post(`${page}/create`, taken)
    t.equal(made.status, 200)
    t.match(made.text, 'This is shown once.')
    t.equal(new Set(copied(made)).size, 6)
    const again = await alice.post(`${page}/create`, taken)
    t.strictSame(copied(again), [])
    t.match(again.text, 'They are not shown again')
    t.strictSame((await show('Aurora')).allowedAddresses, ['203.0.113.7', '2001:db8::/32'])
    t.match((await show('Aurora')).brands, [{ currency: 'BRL', timeZone: 'America/Sao_Paulo' }], 'as the form says')
    const twice = await alice.submit(page, 'create', { name: 'Aurora', allowedAddresses: 'any', reason })
    t.match(twice.text, 'An operator with this name exists.')
    const where = { currency: 'PEN', timeZone: 'America/Lima' }
    await alice.submit(page, 'create', { name: 'Lima', allowedAddresses: 'any', ...where, reason })
    t.match((await show('Lima')).brands, [where, where])
    const support = await bed.visitor('support')
    t.notMatch((await support.get('/sandbox/operators')).text, '/operators/new')
  })

  await t.test('are found by their names in the search', async (t) => {
    const { id } = await show('Aurora')
    const path = `/sandbox/operators/${id}`
    const search = (q: string) => alice.search('sandbox', q)
    for (const q of ['Aurora', 'auro', id]) t.equal((await search(q)).location, path, q)
    const playerId = await bed.newPlayer('sandbox', 'Aurora Dias')
    const both = await search('aurora')
    t.match(both.text, `href="${path}"`)
    t.match(both.text, `href="/sandbox/players/${playerId}"`)
    t.equal((await search('constructor_1')).status, 404, 'no record')
  })

  await t.test('change its limits, protection and state', async (t) => {
    const { id } = await show('Aurora')
    const path = `/sandbox/operators/${id}`
    const send = (verb: string, fields = {}) => alice.submit(path, verb, { reason, ...fields })
    t.match((await alice.get(path)).text, '203.0.113.7\n2001:db8::/32')
    const limits = { rateLimitPerMinute: '120', ...only('203.0.113.7') }
    t.equal((await send('limits', limits)).status, 303)
    t.equal((await send('limits', { ...limits, ...only('') })).status, 422, 'an empty field permits nobody')
    t.equal((await send('limits', { ...limits, allowedAddresses: 'any' })).status, 303)
    t.match((await alice.get(path)).text, /Proposed\. /, 'nobody alone lets others call')
    const held = await show(id)
    t.equal(held.rateLimitPerMinute, 120)
    t.strictSame(held.allowedAddresses, ['203.0.113.7'])
    t.equal((await send('limits', { rateLimitPerMinute: 'many' })).status, 422)
    await send('replayProtection', { replayProtection: 'off' })
    t.equal((await send('replayProtection', { replayProtection: 'on' })).status, 303)
    await send('replayProtection', { replayProtection: 'off' })
    const { text: proposed } = await alice.get('/production/proposals')
    t.match(proposed, 'Change limits: Aurora; Permitted addresses: 203.0.113.7 → Any address<', 'what it would change')
    t.match(proposed, 'Replay protection: Aurora; Replay protection: on → off<')
    t.match(proposed, 'Replay protection: Aurora; Replay protection: off<', 'as it is already')
    t.equal((await send('suspend')).status, 303)
    t.match(await show(id), { replayProtection: 'on', status: 'suspended' })
    t.strictSame(formOf(await alice.get(path), `${path}/suspend`), {})
    t.equal((await send('activate')).status, 303)
    t.equal((await show(id)).status, 'active')
    const documents = await send('documents', {
      ...{ template: 'given', templateGiven: 'https://kyc.example.com/{reference}', newKey: 'yes' },
    })
    t.equal(copied(documents).length, 1)
    t.match((await alice.get(path)).text, 'https://kyc.example.com/{reference}')
    const { _csrf = '' } = formOf(await alice.get(path), '/sign-out')
    t.equal((await alice.post(`${path}/nothing`, { _csrf })).status, 404)
  })

  await t.test('issue and revoke keys; in production another person is needed', async (t) => {
    const { id } = await show('Aurora')
    const path = `/sandbox/operators/${id}`
    const [key = '', secret = ''] = copied(await alice.submit(path, 'issue', { reason }))
    t.ok(secret.length > 20)
    const page = await alice.get(`${path}/keys/${key}`)
    t.notMatch(page.text, secret)
    t.match(page.text, /Last used[\s\S]{0,80}Never/)
    t.equal((await alice.submit(`${path}/keys/${key}`, 'revoke', { reason })).status, 303)
    t.type((await show(id)).credentials.find((known) => known.key === key)?.revokedAt, 'string')

    const live = `/production/operators/${id}`
    t.equal((await alice.submit(live, 'issue', { reason })).location, live)
    const { text } = await alice.get(live)
    t.match(text, /Proposed\. .*href="\/production\/proposals\/prp_/)
    const [proposal = ''] = /\/production\/proposals\/prp_\w+/.exec(text) ?? []
    t.equal((await alice.get('/production/proposals/prp_nothing')).status, 404)
    const bob = await bed.visitor('bob')
    const approve = formOf(await bob.get(proposal), `${proposal}/approve`)
    const approved = await bob.post(`${proposal}/approve`, { ...approve, reason })
    t.equal(copied(approved).length, 2)
    const again = await bob.post(`${proposal}/approve`, { ...approve, reason })
    t.match(again.text, 'They are not shown again.')
    t.strictSame(copied(again), [])
    t.notMatch((await bob.get(proposal)).text, copied(approved)[1])
  })

  await t.test('set where events go, say whether they arrive, and stop them', async (t) => {
    const { id } = await show('Aurora')
    const path = `/sandbox/operators/${id}`
    const send = (verb: string, fields = {}) => alice.submit(path, verb, { reason, ...fields })
    const page = await alice.get(path)
    t.match(page.text, 'no address')
    const older = formOf(page, `${path}/webhookUrl`)
    t.equal((await send('webhookUrl', { url: 'ftp://hooks.example.com/' })).status, 422)
    t.equal((await send('webhookUrl', { url: 'https://hooks.example.com/back-office' })).status, 303)
    t.match((await alice.get(path)).text, /https:\/\/hooks\.example\.com\/back-office[\s\S]*working/)
    const stale = await alice.post(`${path}/webhookUrl`, { ...older, url: 'https://hooks.example.com/other', reason })
    t.equal(stale.status, 422, 'the page showed no address')
    t.match(stale.text, 'It is not what this page showed.')
    t.notMatch((await alice.get(path)).text, 'hooks.example.com/other')
    const secret = await send('webhookSecret', { overlapHours: '0' })
    t.match(copied(secret), [/^whsec_/])
    t.equal((await send('replay', { since: '2026-01-01T00:00' })).status, 303)
    t.equal((await send('disableWebhook')).status, 303)
    const input = { operatorId: id, environment: 'sandbox' } as const
    t.equal((await bed.bed.team('alice').call(showWebhook, { input })).enabled, false)
  })

  await t.test('tell the story of a delivery, and send it again', async (t) => {
    const { id: operatorId, brands } = await show('Aurora')
    const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
    const scope = bed.bed.scope({ operatorId, brandId })
    const playerId = await bed.newPlayer('sandbox', 'Ana Souza', 'doc-1', scope)
    await bed.approve(playerId)
    const list = '/sandbox/deliveries?state=withheld'
    const [path = ''] = await eventually(async () => {
      const { text } = await alice.get(list)
      return /\/sandbox\/deliveries\/dlv_\w+/.exec(text) ?? false
    })
    t.notMatch((await alice.get('/production/deliveries?state=withheld')).text, 'dlv_')
    const page = await alice.get(path)
    t.match(page.text, 'Aurora')
    t.equal((await alice.get(path.replace('sandbox', 'production'))).location, path)
    // Its endpoint was switched off above.
    t.match((await alice.submit(path, 'resend', { reason })).text, 'There is no address to send to.')
    const url = 'http://127.0.0.1:9/hooks'
    await alice.submit(`/sandbox/operators/${operatorId}`, 'webhookUrl', { url, reason })
    t.equal((await alice.submit(path, 'resend', { reason })).status, 303)
    t.match((await alice.get(path)).text, 'Done: Send again')
    const compliance = await bed.visitor('compliance')
    t.equal((await compliance.get(list)).status, 403)
  })

  await t.test('say on the start page and in a list which endpoints fail, and what waits for them', async (t) => {
    const { id: operatorId, brands } = await show('Aurora')
    t.match((await alice.get('/production')).text, 'no endpoint fails')
    const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
    const scope = bed.bed.scope({ operatorId, brandId })
    // Nobody listens at its address, and five failures in a row are enough.
    for (let players = 0; players < 5; players += 1) {
      const playerId = await bed.newPlayer('sandbox', 'Ana Souza', 'doc-1', scope)
      await bed.approve(playerId)
    }
    const input = { operatorId, environment: 'sandbox' } as const
    const readEndpoint = () => bed.bed.team('alice').call(showWebhook, { input })
    await eventually(async () => (await readEndpoint()).breaker.state !== 'closed')
    const row = new RegExp(
      `Aurora[\\s\\S]*http://127\\.0\\.0\\.1:9/hooks[\\s\\S]*href="/sandbox/operators/${operatorId}"`,
    )
    const home = await alice.get('/sandbox')
    t.match(home.text, 'the first one failed')
    t.match(home.text, row)
    const list = await alice.get('/sandbox/endpoints')
    t.match(list.text, row)
    t.match(list.text, 'Failures in a row')
    t.notMatch((await alice.get('/production/endpoints')).text, '127.0.0.1:9')
    t.equal((await (await bed.visitor('compliance')).get('/sandbox/endpoints')).status, 403)
  })

  await t.test('show what was set aside, as text, and handle it again', async (t) => {
    const connection = await bed.bed.nats('payments')
    connection.publish('events.deposit.confirmed', '<script>alert(1)</script> is not JSON')
    const [path = ''] = await eventually(async () => {
      const { text } = await alice.get('/production/set-aside')
      return /\/production\/set-aside\/\w+/.exec(text) ?? false
    })
    const page = await alice.get(path)
    t.match(page.text, '&lt;script&gt;')
    t.notMatch(page.text, '<script>alert')
    t.equal((await alice.submit(path, 'rerun')).status, 422)
    t.equal((await alice.submit(path, 'rerun', { reason })).location, '/production/set-aside')
    t.match((await alice.get('/production/set-aside')).text, '0 handled, 1 left set aside')
  })
})
