import { operations } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { eventually, timeZoneAtNoon } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { consoleBed, formOf, type Shown } from './console-bed.ts'

const { getOperator } = operations.gateway
const { showWebhook } = operations.webhooks

t.test('the pages of operators', async (t) => {
  // What was done a moment ago was done today.
  const bed = await consoleBed(t, { CONSOLE_TIME_ZONE: timeZoneAtNoon() }, {}, { gateway, webhooks })
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

  await t.test('what an operator was refused is found by its request id and its Idempotency-Key', async (t) => {
    const { id: operatorId, brands, name } = await show('Aurora')
    const db = bed.bed.sql('gateway')
    const requestId = 'req_01m84t3fxkf23bjm24hsecpd4h'
    await db.query(
      `insert into refused_request (request_id, at, operator_id, environment, key, verified, operation, method, path, status, code, fields, duration_ms)
        values ($1, now(), $2, 'sandbox', 'bk_test_x', false, 'registerPlayer', 'POST', '/api/v1/players', 401, 'INVALID_SIGNATURE', '/email', 7)`,
      [requestId, operatorId],
    )
    const claim = `insert into claim (operator_id, environment, key, fingerprint, operation, operation_id, expires_at, status, content_type, body, request_id)
      values ($1, 'sandbox', 'order-4711', '', 'createDeposit', 'op', now() + interval '1 hour', 201, 'x', $2, 'req_x')`
    await db.query(claim, [operatorId, Buffer.from('{"id":"dep_01m84t3fxkf23bjm24hsecpd4h"}')])
    t.equal(brands.length, 2)
    const support = await bed.visitor('support')
    t.equal((await support.search('sandbox', requestId)).location, `/sandbox/requests/${requestId}`)
    const { text: page } = await support.get(`/sandbox/requests/${requestId}`)
    for (const shown of [
      name,
      'INVALID_SIGNATURE',
      'POST /api/v1/players',
      '401',
      '/email',
      '7 ms',
      'somebody else may',
    ])
      t.match(page, shown)
    const list = await support.get(`/sandbox/requests?operator=${name}&code=INVALID_SIGNATURE`)
    t.match(list.text, `href="/sandbox/requests/${requestId}"`)
    t.notMatch((await support.get('/production/requests')).text, requestId)
    const unknown = await support.get('/sandbox/requests/req_unknown')
    t.equal(unknown.status, 404)
    t.match(unknown.text, 'No request with this id was refused in the last seven days')
    const found = await support.search('sandbox', 'order-4711')
    t.match(found.text, 'href="/sandbox/deposits/dep_01m84t3fxkf23bjm24hsecpd4h"')
    t.match((await alice.get(`/sandbox/operators/${operatorId}`)).text, `/sandbox/requests?operator=${name}`)
  })

  await t.test('have days that begin where the brand is, in both pictures', async (t) => {
    // Its midnight is the afternoon of the day before, or a day that the page has not reached.
    const timeZone = 'Pacific/Kiritimati'
    const where = { allowedAddresses: 'any', currency: 'USD', timeZone, reason }
    await alice.submit('/sandbox/operators/new', 'create', { name: 'Kiritimati', ...where })
    const { id, brands } = await show('Kiritimati')
    const { id: brandId = '' } = brands.find(({ environment }) => environment === 'sandbox') ?? {}
    await bed.bed.sql('admin').query(
      `insert into wallet.money_day values ('sandbox', (now() at time zone '${timeZone}')::date, '${brandId}', 'USD', 'DEPOSIT', 1, 700);
      insert into payments.deposit select 'dep_early', '${brandId}', '${id}', 'sandbox', '${timeZone}', 'ply_1', 'early', 100, 'USD', 'pix',
        'failed', null, 2, at, null, at
        from (select date_trunc('day', now() at time zone '${timeZone}') at time zone '${timeZone}' as at) midnight`,
    )
    const drawn = async () =>
      (await alice.get(`/sandbox/operators/${id}`)).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
    const today = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone })
    t.match(await drawn(), new RegExp(`${today.format(new Date())} so far US\\$7\\.00`))
    t.match(await drawn(), new RegExp(`Looked at ${today.format(new Date())} 1 100% 1 `))
    await bed.bed.sql('admin').query(
      `insert into payments.deposit select 'dep_busy' || n, '${brandId}', '${id}', 'sandbox', '${timeZone}', 'ply_1', n, 100, 'USD', 'pix',
        'confirmed', null, 2, now(), now(), null from generate_series(1, 10000) n`,
    )
    t.match(await drawn(), 'Of a busy day only the 10,000 newest deposits were looked at. At most 0 on one day')
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

  await t.test(
    'are found by a key that was found somewhere, whose secret is neither shown nor passed on',
    async (t) => {
      const { id, credentials } = await show('Aurora')
      const { key = '' } = credentials.find(({ environment }) => environment === 'sandbox') ?? {}
      const secret = `sk_${'5ec4e7'.repeat(10)}`
      const path = `/sandbox/operators/${id}/keys/${key}`
      const support = await bed.visitor('support')
      const follow = async (shown: Shown) => support.get(shown.location ?? '')
      for (const q of [key, ` ${key}\n`, `X-Operator-Key: ${key}`]) {
        const found = await support.search('sandbox', q)
        t.equal(found.location, path, q)
        t.notMatch((await follow(found)).text, 'the secret', q)
      }
      const elsewhere = await support.search('production', key)
      t.equal((await follow(elsewhere)).location, path, 'in its environment')
      const copies = [
        `${key}:${secret}`,
        `SECRET=${secret} ${'-'.repeat(100)} KEY=${key}`,
        `${key} sk_${'5'.repeat(20)}`,
      ]
      for (const q of copies) {
        const found = await support.search('sandbox', q)
        t.equal(found.location, path, q)
        const page = await follow(found)
        t.match(page.text, 'You pasted the secret as well')
        t.notMatch(page.text, 'sk_', q)
      }
      const unknown = 'Nothing is found under “bk_test_nobody”'
      for (const [q, says] of [
        [secret, 'A secret does not say whose it is'],
        [`whsec_${'5ec4e7'.repeat(7)}`, 'A secret does not say whose it is'],
        [`bk_test_nobody:${secret}`, unknown],
        ['bk_test_nobody', unknown],
      ] as const) {
        const none = await support.search('sandbox', q)
        t.equal(none.status, 404, q)
        t.match(none.text, says, q)
        t.notMatch(none.text, '5ec4e7', q)
      }
    },
  )

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
    t.match(proposed, 'Change limits: Aurora; Permitted addresses: 203.0.113.7 → any address<', 'what it would change')
    t.match(proposed, 'Set the replay protection: Aurora; Replay protection: on → off<')
    t.match(proposed, 'Set the replay protection: Aurora; Replay protection: off<', 'as it is already')
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
    t.strictSame(formOf(await alice.get(proposal), `${proposal}/collect`), {}, 'nobody has agreed')
    const approved = await bob.post(`${proposal}/approve`, { ...approve, reason })
    t.equal(approved.location, proposal)
    const agreed = await bob.get(proposal)
    t.match(agreed.text, 'Done: Issue a key. alice finds the secrets on the proposal, for two days')
    t.strictSame(formOf(agreed, `${proposal}/collect`), {}, 'they are not for whoever agreed')
    const collect = formOf(await alice.get(proposal), `${proposal}/collect`)
    const shown = await alice.post(`${proposal}/collect`, collect)
    t.match(copied(shown), [/^bk_live_/, /^sk_/])
    const again = await alice.submit(proposal, 'collect')
    t.match(again.text, 'They are not shown again.')
    t.strictSame(copied(again), [])
    t.notMatch((await alice.get(proposal)).text, copied(shown)[1])
  })

  await t.test(
    'say what sandbox traffic has proved, and issue a first key of production with or without',
    async (t) => {
      const { operatorId } = await bed.bed
        .team('alice')
        .call(operations.gateway.createOperator, { input: { name: 'Nova' } })
      const live = `/production/operators/${operatorId}`
      const field = 'name="withoutHomologation"'
      t.notMatch((await alice.get(live)).text, field, 'it has a pair')
      const admin = bed.bed.sql('admin')
      // As outside development: it was created without one.
      await admin.query(
        `begin; set local session_replication_role = replica;
       delete from gateway.credential where key like 'bk_live_%' and brand_id in
         (select id from gateway.brand where operator_id = '${operatorId}');
       commit`,
      )
      await admin.query(
        `insert into gateway.homologation_proof values ($1, 'signedRequest', now(), 'req_1', now()),
        ($1, 'webhookTested', now(), 'dlv_proof1', now()), ($1, 'keyRotated', now(), 'bk_test_0123', now())`,
        [operatorId],
      )
      t.match((await alice.get(live)).text, `href="${live}/homologation"`)
      const { text } = await alice.get(`${live}/homologation`)
      t.match(text, '3 of 20 checks proved. The first pair of production is issued when all are')
      t.match(text, /To do in the sandbox[\s\S]*Open a game session\.[\s\S]*\/docs\/go-live#players[\s\S]*Proved by/)
      t.match(
        text,
        /Proved by sandbox traffic[\s\S]*Call GET \/me[\s\S]*req_1[\s\S]*…0123[\s\S]*\/deliveries\/dlv_proof1/,
      )
      t.match(text, /<progress value="3" max="20"/)
      t.match(text, '<bdi>Players</bdi> ↗')
      const file = await alice.get(`${live}/homologation.md`)
      t.match(file.headers.get('content-disposition'), 'filename="homologation.md"')
      t.match(
        file.text,
        /^# Homologation: Nova\n\n3 of 20 checks proved, 20\d\d-\S+ \S+ UTC\n\n- \[x\] Call GET \/me with/,
      )
      t.match(file.text, /^- \[ \] Open a game session\. http\S+\/docs\/go-live#players$/m)
      t.match((await alice.get(live)).text, field)
      t.notMatch((await alice.get(live.replace('production', 'sandbox'))).text, field)
      const refused = await alice.submit(live, 'issue', { reason })
      t.equal(refused.status, 422)
      t.match(refused.text, /has not proved everything[\s\S]*Open a game session\./)
      t.notMatch(refused.text, /<li>Call GET/)
      await alice.submit(live, 'issue', { reason, withoutHomologation: 'no games in the contract' })
      t.match(
        (await alice.get('/production/proposals')).text,
        'Issue a key: Nova, production; Without homologation, because: no games in the contract',
      )
      t.equal((await (await bed.visitor('support')).get(`${live}/homologation`)).status, 200)
    },
  )

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
    const inPortuguese = alice.as({ cookies: { language: 'pt-BR' } })
    t.match((await inPortuguese.get(path)).text, 'Não enviada: não havia endereço, ou o destino estava desativado.')
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
    t.match((await alice.get('/production')).text, 'none fails')
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
    const page = await alice.get(`/sandbox/operators/${operatorId}`)
    t.match(page.text, /Last fault[\s\S]*nothing listens on that port/)
    t.match(page.text, 'href="/sandbox/deliveries?operator=Aurora"')
    const home = await alice.get('/sandbox')
    t.match(home.text, 'the first one failed')
    t.match(home.text, row)
    const list = await alice.get('/sandbox/endpoints')
    t.match(list.text, row)
    t.match(list.text, 'Failures in a row')
    t.match(list.text, /nothing listens on that port[\s\S]*href="\/sandbox\/deliveries\?operator=Aurora"/)
    t.notMatch((await alice.get('/production/endpoints')).text, '127.0.0.1:9')
    t.match((await (await bed.visitor('compliance')).get('/sandbox/endpoints')).text, 'This takes the role')
  })

  await t.test('find what has not arrived of one operator, and send several again by one decision', async (t) => {
    const { id: operatorId } = await show('Aurora')
    const endpoint = `${operatorId}/sandbox`
    const pool = bed.bed.sql('webhooks')
    // As attempts leave them, and tried by nobody until then.
    await pool.query(`update endpoint set breaker_state = 'open', open_until = '2999-01-01T00:00:00Z' where id = $1`, [
      endpoint,
    ])
    const { rows } = await pool.query(
      `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
         finished_at, last_response_status, last_error)
       select 'dlv_several' || n, $1, 'evt_several' || n, 'withdrawal.paid', 'brd_1', '', 'failed', now(), now(), now(), 404,
         'It said no.' from generate_series(1, 3) n returning id`,
      [endpoint],
    )
    const ids = rows.map(({ id }) => String(id))
    const all = await alice.get('/sandbox/deliveries')
    t.match(all.text, /aria-current="page">Not arrived <span class="count">\d+</)
    t.match(all.text, 'held until')
    t.notMatch(all.text, 'data-choice', 'several are sent to one address')
    const at = '/sandbox/deliveries?operator=Aurora&event=withdrawal.paid&answer=4xx&period=today'
    const list = await alice.get(at)
    const found = ({ text }: Shown) => [...text.matchAll(/data-choice value="(\w+)"/g)].map(([, id = '']) => id).sort()
    t.strictSame(found(list), ids)
    t.match(list.text, /Failed <span class="count">3</)
    t.match(list.text, 'All 3 that the filter shows (failed)')
    const without = [
      'operator=Aurora&answer=5xx',
      'operator=Aurora&event=deposit.confirmed',
      'operator=Lima',
      'operator=nobody',
    ]
    for (const other of [...without, 'operator=Aurora&lastDay=2020-01-01'])
      t.notMatch((await alice.get(`/sandbox/deliveries?${other}`)).text, 'dlv_several', other)
    const [, action = ''] = /action="([^"]*\/deliveries\/resend[^"]*)"/.exec(list.text) ?? []
    const form = formOf(list, action)
    const send = (fields: object) => alice.post(action.replaceAll('&amp;', '&'), { ...form, reason, ...fields })
    t.equal((await send({})).status, 422, 'none is chosen')
    const chosen = await send({ ids: 'given', idsGiven: ids[0] })
    t.match(chosen.location, 'operator=Aurora&event=withdrawal.paid')
    const left = await alice.get(chosen.location ?? '')
    t.match(left.text, 'Done: 1 sent again, 0 left as they were')
    t.match(left.text, 'All 2 that the filter shows (failed)')
    const [, next = ''] = /action="([^"]*\/deliveries\/resend[^"]*)"/.exec(left.text) ?? []
    await alice.post(next.replaceAll('&amp;', '&'), { ...formOf(left, next), reason, ids: 'all' })
    const states = await pool.query("select state from delivery where id like 'dlv_several%'")
    t.strictSame(states.rows, Array(3).fill({ state: 'pending' }))
    const audit = await pool.query(
      "select input->'ids' as ids from audit_entry where operation = 'resendDeliveries' order by id",
    )
    t.strictSame(
      audit.rows.map(({ ids }) => ids.sort()),
      [ids.slice(0, 1), ids.slice(1)],
    )
    const support = await bed.visitor('support')
    t.notMatch((await support.get(at)).text, 'data-choice')
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
    t.match((await alice.get('/production/set-aside')).text, '0 handled, 1 still with an error')
  })

  await t.test('say which services do not answer, also in what an operator is given of its homologation', async (t) => {
    const { id } = await show('Nova')
    const path = `/production/operators/${id}/homologation`
    t.notMatch((await alice.get(`${path}.md`)).text, 'No answer')
    await bed.bed.services.webhooks?.drain()
    for (const shown of [path, `${path}.md`])
      t.match((await alice.get(shown)).text, 'No answer, so what is kept there is missing: webhooks', shown)
    for (const name of ['payments', 'wallet'] as const) await bed.bed.services[name].drain()
    const page = (await alice.get(`/production/operators/${id}`)).text.replaceAll(/<[^>]*>|\s+/g, ' ')
    t.match(page, /Money in and out by day +No answer: balances and play/)
    t.match(page, /Failed deposits by day +No answer: deposits and withdrawals/)
    // To who asks, it is a process that takes its time.
    const slow = await bed.bed.nats('webhooks')
    slow.subscribe('team.webhooks.>')
    await slow.flush()
    const first = await alice.getFirst(`/production/operators/${id}`)
    t.match(first.text, /data-rest hx-get="[^"]*whole=[^"]*"[^>]*>No answer yet: ([^.]*, )?webhooks/)
    t.match(first.text, 'Nova', 'what came is shown first')
  })
})
