import { type Input, operations } from '@backoffice/contracts'
import { eventually, newCpf, proposalOf } from '@backoffice/test-kit'
import t from 'tap'
import { isoOf } from '../assets/signing.js'
import { consoleBed, formOf } from './console-bed.ts'

const bed = await consoleBed(t)

t.test('what takes two people', async (t) => {
  const bob = await bed.visitor('bob')
  const alice = await bed.visitor('alice')

  const playerId = await bed.newPlayer('production', 'Davi <b>Melo</b>')
  const adjust = (reference: string) => bed.newProposal(playerId, reference)
  const entries = async () =>
    (await bed.bed.team('alice').call(operations.wallet.listEntries, { input: { playerId, limit: 10 } })).data

  await t.test('waits in a list, on the home page and in the menu of whoever may approve it', async (t) => {
    const id = await adjust('listed')
    const mine = (await bob.get('/production/proposals')).text
    t.ok(mine.indexOf(id) > mine.indexOf('Proposed by me'))
    const theirs = (await alice.get('/production/proposals')).text
    t.ok(theirs.indexOf(id) < theirs.indexOf('Proposed by me'))
    t.match(theirs, 'Add R$5,000.00 to the balance of')
    t.match(theirs, 'Davi &lt;b&gt;Melo&lt;/b&gt;', 'whose')
    t.match((await alice.get('/production')).text, /data-count="proposals">1</)
    t.match((await bob.get('/production')).text, /data-count="proposals">0</)
    t.match((await alice.get('/sandbox/proposals')).text, 'In the sandbox one person is enough')
    t.equal((await alice.get(`/sandbox/proposals/${id}`)).location, `/production/proposals/${id}`)
  })

  await t.test('is of whoever proposed it under another name too: the account is the person', async (t) => {
    const id = await adjust('renamed')
    const renamed = await bed.visitor('bob', { claims: { preferred_username: 'robert' } })
    const mine = (await renamed.get('/production/proposals')).text
    t.ok(mine.indexOf(id) > mine.indexOf('Proposed by me'))
    const path = `/production/proposals/${id}`
    t.strictSame(formOf(await renamed.get(path), `${path}/approve`), {})
    const taken = { input: { proposalId: id, reason: 'taken back' } }
    await bed.bed.team('bob').call(operations.wallet.declineProposal, taken)
  })

  await t.test('is approved by somebody else, with what was proposed and a reason of their own', async (t) => {
    const id = await adjust('approved')
    const path = `/production/proposals/${id}`
    const own = await bob.get(path)
    t.match(own.text, 'You proposed this. Somebody else with the role finance must approve it.')
    t.strictSame(formOf(own, `${path}/approve`), {})
    t.strictSame(formOf(await (await bed.visitor('support')).get(path), `${path}/approve`), {})
    const page = await alice.get(path)
    t.match(page.text, 'Proposed by bob')
    t.match(
      page.text,
      /Do what bob proposed: Add R\$5,000\.00 to the balance of Davi &lt;b&gt;Melo&lt;\/b&gt; \(.+, production\)/,
    )
    t.match(page.text, 'R$0.00 → R$5,000.00', 'what it would make of the balance')
    const form = formOf(page, `${path}/approve`)
    t.equal((await bob.post(`${path}/approve`, formOf(own, `${path}/decline`))).status, 422)
    // What somebody adds to the form is no part of what was proposed.
    const forged = { ...form, reason: 'checked with the provider', amount: '9000.00', playerId: 'ply_other' }
    for (let clicks = 0; clicks < 2; clicks += 1) t.equal((await alice.post(`${path}/approve`, forged)).status, 303)
    t.strictSame(
      (await entries()).map(({ amount }) => amount),
      ['5000.00'],
    )
    const decided = (await bob.get('/production/proposals?state=decided')).text
    t.match(decided, id)
    t.match((await bob.get(path)).text, 'checked with the provider')
    const [entry] = await entries()
    t.match(entry, { reason: 'a double payout', by: 'bob', approvedBy: 'alice' })
    t.match((await bob.get(`/production/players/${playerId}`)).text, 'bob, approved by alice', 'in the timeline too')
    const { text: audit } = await (await bed.visitor('auditor')).get('/production/audit')
    t.match(audit, 'Asked for by bob: a double payout')

    const back = { playerId, transferId: entry?.transferId ?? '', reference: 'taken-back', reason: 'the wrong player' }
    const reversal = await proposalOf(bed.bed.team('alice').call(operations.wallet.reverseTransfer, { input: back }))
    const second = (await bob.get(`/production/proposals/${reversal.proposalId}`)).text
    t.match(second, `Reverse: adjustment of R$5,000.00 (${entry?.transferId}): the money is taken from Davi`)
    t.match(second, 'R$5,000.00 → R$0.00')
    const taken = { input: { proposalId: reversal.proposalId, reason: 'not now' } }
    await bed.bed.team('alice').call(operations.wallet.declineProposal, taken)
  })

  await t.test('is a sentence in Portuguese too', async (t) => {
    const id = await adjust('sentence')
    const brazilian = alice.as({ cookies: { language: 'pt-BR' } })
    t.match((await brazilian.get(`/production/proposals/${id}`)).text, /Somar R\$\s5\.000,00 ao saldo de Davi/)
    const taken = { input: { proposalId: id, reason: 'taken back' } }
    await bed.bed.team('bob').call(operations.wallet.declineProposal, taken)
  })

  await t.test('is not offered where a service tells something else than its proposer has signed', async (t) => {
    const id = await adjust('swapped')
    const path = `/production/proposals/${id}`
    const { listProposals, adjustWallet } = operations.wallet
    const { data } = await bed.bed.team('alice').call(listProposals, { input: { proposalId: id, limit: 1 } })
    const [proposal] = data as readonly { readonly input: object; readonly proof: string }[]
    t.match(proposal?.proof, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    t.match((await alice.get(path)).text, 'Signed by bob, verified here.')
    const small = { ...proposal?.input, amount: '1.00' }
    const lies: readonly object[] = [
      { input: small },
      { proposedBy: 'carol', proposedById: 'https://identity.test carol' },
      { proof: null, idToken: null },
    ]
    const hostile = await bed.bed.nats('wallet')
    for (const lie of lies) {
      // It is no part of the queue of honest replicas, so it hears every call.
      const body = { data: [{ ...proposal, ...lie }], nextCursor: null }
      const heard = hostile.subscribe('team.wallet.listProposals', {
        callback: (_error, message) => void message.respond(JSON.stringify({ body })),
      })
      await hostile.flush()
      const page = await eventually(async () => {
        const shown = await alice.get(path)
        return shown.text.includes('It is not proven that') && shown
      })
      t.same(formOf(page, `${path}/approve`), {})
      t.not(formOf(page, `${path}/decline`).shown, undefined)
      heard.unsubscribe()
      await hostile.flush()
    }
    const before = await entries()
    const signedForLie = { input: { ...small, reason: 'one real of goodwill' } as never, approves: id }
    await t.rejects(bed.bed.team('alice').call(adjustWallet, signedForLie), { code: 'PROPOSAL_NOT_FOUND' })
    t.same(await entries(), before, 'nobody agreed to five thousand')
  })

  await t.test('takes a fresh login where the call does', async (t) => {
    const path = `/production/proposals/${await adjust('fresh')}`
    const late = await bed.visitor('alice', { loggedInSecondsAgo: 600 })
    const page = await late.get(path)
    t.match(page.text, `/login?again=yes&amp;returnTo=${encodeURIComponent(path)}`)
    t.strictSame(formOf(page, `${path}/approve`), {})
  })

  await t.test('is declined with a reason, or taken back, and then nobody can approve it', async (t) => {
    const before = (await entries()).length
    for (const [visitor, button] of [
      [alice, 'Decline'],
      [bob, 'Take back'],
    ] as const) {
      const id = await adjust(button.replace(' ', '-'))
      const path = `/production/proposals/${id}`
      const approve = formOf(await alice.get(path), `${path}/approve`)
      t.match((await visitor.get(path)).text, button)
      t.equal((await visitor.submit(path, 'decline')).status, 422)
      t.equal((await visitor.submit(path, 'decline', { reason: 'not now' })).status, 303)
      const late = await alice.post(`${path}/approve`, { ...approve, reason: 'checked' })
      t.equal(late.status, 422)
      t.match(late.text, 'The proposal is no longer open')
    }
    t.equal((await entries()).length, before)
    // A service that does not run here may keep it.
    t.equal((await alice.get('/production/proposals/prp_nothing')).status, 503)
  })

  await t.test('is found page by page, open or decided, whichever service keeps it', async (t) => {
    const keep = (service: 'wallet' | 'players', state: 'open' | 'declined', count: number) =>
      bed.bed.sql('admin').query(
        `insert into ${service}.team_proposal (id, operation, fingerprint, input, proposed_by, proposed_at, expires_at,
          operation_id, state, decided_by, decided_at)
        select id, 'any', id, '{}', 'bob', now(), now() + interval '1 day', id, $2, d.by, d.at
        from generate_series(1, $3) n, format('prp_0many%s%s_%s', $2::text, lpad(n::text, 3, '0'), $1::text) id,
          (select case when $2 <> 'open' then 'carol' end as by, case when $2 <> 'open' then now() end as at) d`,
        [service, state, count],
      )
    for (const state of ['open', 'declined'] as const) {
      await keep('wallet', state, 70)
      await keep('players', state, 20)
    }
    for (const [path, state] of [
      ['/production/proposals', 'open'],
      ['/production/proposals?state=decided', 'declined'],
    ] as const) {
      const found: string[] = []
      for (let next: string | undefined = path; next !== undefined; ) {
        const { text } = await alice.get(next)
        found.push(...[...text.matchAll(/href="\/production\/proposals\/(prp_0many\w+)"/g)].map(([, id = '']) => id))
        next = /<a class="button plain" href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&')
      }
      t.equal(found.length, 90)
      t.same(found, [...new Set(found)].sort().reverse(), 'each once, newest first')
      t.ok(found.every((id) => id.includes(state)))
    }
    for (const service of ['wallet', 'players'])
      await bed.bed.sql('admin').query(`delete from ${service}.team_proposal where id like 'prp_0many%'`)
  })
})

t.test('a credit is given up by two people, the second in the console, who sees how much it is', async (t) => {
  const { createDeposit, confirmDeposit, endCommand, showDeposit } = operations.payments
  const [scope, admin] = [bed.bed.scope({ environment: 'production' }), bed.bed.sql('admin')]
  const playerId = await bed.newPlayer('production')
  const given = { playerId, amount: '10.00', currency: 'BRL', method: 'pix', externalReference: playerId }
  const { id: depositId } = await bed.bed.rpc.call(createDeposit, { scope, input: given })
  await admin.query('update wallet.account set posted = 9223372036854775807 where owner_id = $1', [playerId])
  await t.rejects(bed.bed.rpc.call(confirmDeposit, { scope, input: { depositId } }), { code: 'SERVICE_UNAVAILABLE' })
  const { rows } = await admin.query(`select id from payments.outbox where aggregate = $1 and kind = 'command'`, [
    depositId,
  ])
  const input = { commandId: rows[0].id, reason: 'the account can hold no more' }
  const { proposalId } = await proposalOf(bed.bed.team('bob').call(endCommand, { input }))
  const path = `/production/proposals/${proposalId}`
  const finance = await bed.visitor('finance')
  t.match((await finance.get('/production/deposits?state=pending')).text, 'being carried out')
  const page = await finance.get(path)
  for (const shown of ['Give up a credit', 'R$10.00', depositId]) t.match(page.text, shown)
  t.equal((await finance.submit(path, 'approve', { reason: 'agreed with the operator' })).status, 303)
  t.match((await finance.get(path)).text, 'agreed with the operator')
  t.match(await bed.bed.team('bob').call(showDeposit, { input: { depositId } }), { status: 'failed' })
})

t.test('the page of a player', async (t) => {
  const alice = await bed.visitor('alice')
  const newPlayer = () => bed.newPlayer('production', 'Davi Melo', 'doc-1', undefined, newCpf())
  const showPlayer = (playerId: string) =>
    bed.bed.team('alice').call(operations.players.showPlayer, { input: { playerId } })
  const reason = 'the player wrote to us'

  await t.test('shows what is masked to whoever says why and has just logged in, once', async (t) => {
    const path = `/production/players/${await newPlayer()}`
    const page = await alice.get(path)
    t.notMatch(page.text, 'ana@example.com')
    const form = formOf(page, `${path}/unmask`)
    const without = await alice.post(`${path}/unmask`, form)
    t.equal(without.status, 422)
    t.notMatch(without.text, 'ana@example.com')
    const { status, text } = await alice.post(`${path}/unmask`, { ...form, reason })
    t.equal(status, 200)
    t.match(text, 'ana@example.com')
    t.match(text, 'That you looked is recorded')
    t.notMatch((await alice.get(path)).text, 'ana@example.com')
    const late = await bed.visitor('alice', { loggedInSecondsAgo: 600 })
    t.strictSame(formOf(await late.get(path), `${path}/unmask`), {})
    t.match(
      (await late.post(`${path}/unmask`, { ...form, ...formOf(await late.get(path), '/sign-out'), reason })).location,
      'again=yes',
    )
    const audit = (await alice.get(`/production/audit?reads=yes&subject=${path.split('/').at(-1)}`)).text
    t.match(audit, reason)
  })

  await t.test('says by which other account of its person it is excluded, and until when', async (t) => {
    const cpf = newCpf()
    const [one, other] = [
      await bed.newPlayer('production', 'Davi Melo', 'doc-1', undefined, cpf),
      await bed.newPlayer('production', 'Davi M.', 'doc-2', undefined, cpf),
    ]
    t.match((await alice.get(`/production/players/${one}`)).text, /Self-exclusion<[\s\S]{0,80}>none</)
    const until = { until: 'given', untilGiven: '2099-01-31T21:30', reason }
    t.equal((await alice.submit(`/production/players/${other}`, 'exclude', until)).status, 303)
    const { text } = await alice.get(`/production/players/${one}`)
    t.match(text, 'self-excluded')
    t.match(
      text,
      new RegExp(`href="/production/players/${other}"><bdi>by another account of the same CPF, until 31/01/2099`),
    )
  })

  await t.test('changes status, limit and self-exclusion, each with a reason, by whoever may', async (t) => {
    const id = await newPlayer()
    const path = `/production/players/${id}`
    const send = (verb: string, fields: Readonly<Record<string, string>>) => alice.submit(path, verb, fields)
    t.equal((await send('status', { status: 'suspenso' })).status, 422)
    t.equal((await send('status', { status: 'suspenso', reason })).status, 303)
    t.equal(
      (await send('limit', { dailyDepositLimit: 'given', dailyDepositLimitGiven: '1,200.5', reason })).status,
      303,
    )
    t.equal((await send('limit', { dailyDepositLimit: 'given', dailyDepositLimitGiven: '-1', reason })).status, 422)
    t.match(await showPlayer(id), { status: 'suspenso', dailyDepositLimit: '1200.50' })
    t.equal(
      (await send('limit', { dailyDepositLimit: '', reason })).status,
      422,
      'nothing is removed by leaving it empty',
    )
    // No limit holds only after a day.
    t.equal((await send('limit', { dailyDepositLimit: 'none', reason })).status, 303)
    t.match((await showPlayer(id)).pendingLimit, { dailyDepositLimit: null })
    // In the zone of the console, where it is three hours earlier than in UTC.
    t.equal((await send('exclude', { untilGiven: '2099-01-31T21:30', reason })).status, 422, 'nor is anybody excluded')
    t.equal((await showPlayer(id)).selfExclusion, null)
    t.equal((await send('exclude', { until: 'given', untilGiven: '2099-01-31T21:30', reason })).status, 303)
    t.equal((await showPlayer(id)).selfExclusion?.until, '2099-02-01T00:30:00.000Z')
    t.equal((await send('exclude', { until: 'given', untilGiven: 'tomorrow', reason })).status, 422)

    const { text } = await alice.get(path)
    for (const change of [
      'Status: active → suspended',
      'Daily deposit limit: no limit → R$1,200.50',
      'until 31/01/2099',
    ])
      t.match(text, change)

    await send('status', { status: 'autoexcluido', reason })
    const lifted = await send('status', { status: 'ativo', reason })
    t.equal(lifted.location, path)
    t.match((await alice.get(path)).text, /Proposed\. .*href="\/production\/proposals\/prp_/)
    t.equal((await showPlayer(id)).status, 'autoexcluido')

    const finance = await (await bed.visitor('finance')).get(path)
    t.strictSame(formOf(finance, `${path}/status`), {})
    t.match(formOf(finance, `${path}/adjust`), { operationId: /./ })
  })

  await t.test('has one timeline, and finance corrects the ledger', async (t) => {
    const id = await newPlayer()
    await bed.newWithdrawal('production', id)
    const path = `/production/players/${id}`
    const waits = await alice.submit(path, 'adjust', { amount: '7.50', reference: 'ticket-7', reason })
    t.equal(waits.status, 303)
    const [proposal] = (
      await bed.bed.team('bob').call(operations.wallet.listProposals, { input: { state: 'open', limit: 1 } })
    ).data
    const approves = proposal?.id ?? ''
    const { operatorId, environment, currency } = bed.bed.scope({ environment: 'production' })
    const seen = { operatorId, environment, currency }
    t.match(proposal?.input, { playerId: id, amount: '7.50', reference: 'ticket-7', seen })
    t.match(
      (await (await bed.visitor('bob')).get(`/production/proposals/${approves}`)).text,
      /proposer saw it[\s\S]*BRL/,
    )
    const input = { ...(proposal?.input as Input<typeof operations.wallet.adjustWallet>), reason: 'checked' }
    const { transferId } = await bed.bed.team('bob').call(operations.wallet.adjustWallet, { input, approves })
    const { text } = await alice.get(path)
    const rows = text.match(/<tr[^>]*>[\s\S]*?<\/tr>/g) ?? []
    const deposit = rows.filter((row) => />deposit<\/span>/.test(row))
    t.equal(deposit.length, 1, 'the entry of a deposit is no row of its own')
    t.match(deposit[0], /Balance after[^<]*150\.00/)
    t.match(deposit[0], new RegExp(`href="${path}/entries/trf_`))
    t.match(
      rows.find((row) => row.includes('7.50') && />ledger</.test(row)),
      'alice, approved by bob',
    )
    t.match(text, /\d\d:\d\d:\d\d( GMT[+-\d:]*)?<\/time>/, 'to the second')
    t.match(text, /Reserved by withdrawals[\s\S]{0,900}\/production\/withdrawals\/wdr_/)
    for (const kind of ['document', 'change', 'deposit', 'withdrawal', 'ledger', 'team'])
      t.match(text, new RegExp(`<span class="status [^"]*">${kind}</span>`), kind)
    const times = [...text.matchAll(/<tr[^>]*>\s*<td[^>]*><div>\s*<time datetime="([^"]+)"/g)].map(([, at]) => at)
    t.ok(times.length > 5)
    t.strictSame(times, times.toSorted().reverse())

    const entry = `${path}/entries/${transferId}`
    const reversed = await alice.submit(entry, 'reverse', { reference: 'ticket-7-back', reason })
    t.equal(reversed.status, 303)
    t.match((await alice.get(entry)).text, '/production/proposals/prp_')
    t.equal((await alice.get(`${path}/entries/trf_nothing`)).status, 404)
  })

  await t.test('tells which games were opened', async (t) => {
    const id = await bed.newPlayer('sandbox')
    await bed.newWithdrawal('sandbox', id)
    const { openGameSession } = operations.players
    const scope = bed.bed.scope({ environment: 'sandbox' })
    await bed.bed.rpc.call(openGameSession, { scope, input: { playerId: id, gameId: 'ocean-treasure' } })
    const { text } = await (await bed.visitor('support')).get(`/sandbox/players/${id}`)
    t.match(
      text,
      /game<\/span>.*Ocean Treasure.*demonstration<\/span>(?:(?!<\/tr>).)*data-label="Who"[^<]*<div><bdi>\w/s,
    )
  })
})

t.test('the search', async (t) => {
  const alice = await bed.visitor('alice')
  const support = await bed.visitor('support')
  const search = (q: string) => alice.search('production', q)
  const playerId = await bed.newPlayer('production', 'Elisa Prado')
  const form = async (q: string) => {
    const page = await search(q)
    t.equal(page.status, 200, q)
    return page
  }
  const reason = 'a complaint by letter'

  await t.test('goes to the record with an id of ours or of its operator, and lists who has a name', async (t) => {
    t.equal((await search(` ${playerId} `)).location, `/production/players/${playerId}`)
    const found = await search('elisa')
    t.match(found.text, `/production/players/${playerId}`)
    const { externalId } = await bed.bed.team('bob').call(operations.players.showPlayer, { input: { playerId } })
    t.equal((await search(externalId ?? '')).location, `/production/players/${playerId}`, 'an operator’s own id')
    const nothing = await search('Elisa & Co')
    t.equal(nothing.status, 404)
    t.match(nothing.text, 'href="/production/search/players"')
    t.same([found.location, nothing.location], [null, null], 'no address has the name')
    t.equal((await alice.get('/production/search')).location, '/production/search/players')
    t.equal((await alice.post('/production/search', { q: playerId })).status, 403)
  })

  await t.test(
    'asks why before it looks for a CPF, an e-mail or a telephone, and puts none into an address',
    async (t) => {
      for (const [q, field, value] of [
        ['529.982.247-25', 'cpf', '529.982.247-25'],
        ['ana@example.com', 'email', 'ana@example.com'],
        ['+55 (11) 98765-4321', 'phone', '+5511987654321'],
        ['11987654321', 'phone', '11987654321'],
        ['11 98765-4321', 'phone', '11987654321'],
        ['Ana 11 3456-7890', 'phone', '1134567890'],
        // With a mistake: the form says so, and nothing is looked for as a name.
        ['529.982.247-24', 'cpf', '52998224724'],
        ['CPF: 529 982 247 24', 'cpf', '52998224724'],
        ['ana@', 'email', 'ana@'],
      ] as const) {
        const page = await form(q)
        t.equal(page.location, null)
        t.ok(page.text.includes(`name="${field}" value="${value}"`), q)
        t.notMatch(page.text, playerId, 'nothing is searched for yet')
      }
      const { data } = await bed.bed.team('alice').call(operations.players.listAudit, { input: { limit: 50 } })
      const recorded = data.filter(({ operation }) => operation === 'searchPlayers').map(({ input }) => input)
      t.notMatch(JSON.stringify(recorded), /\d{4}/, 'nor does the audit trail')
      for (const ownId of ['user-20261122001', '20261122-a', '123456789'])
        t.equal((await search(ownId)).status, 404, 'an id of an operator is none')
    },
  )

  await t.test('finds by them with a reason, which the audit has and what was searched for it has not', async (t) => {
    const path = '/production/search/players'
    const hidden = formOf(await form('529.982.247-25'), `${path}/find`)
    const without = await alice.post(`${path}/find`, { ...hidden, cpf: '529.982.247-25' })
    t.equal(without.status, 422)
    t.notMatch(without.text, playerId)
    const two = await alice.post(`${path}/find`, { ...hidden, cpf: '529.982.247-25', email: 'ana@example.com', reason })
    t.equal(two.status, 422)
    const found = await alice.post(`${path}/find`, { ...hidden, cpf: '52998224725', reason })
    t.equal(found.status, 200)
    t.match(found.text, `/production/players/${playerId}`)
    const nobody = await alice.post(`${path}/find`, { ...hidden, email: 'nobody@example.com', reason })
    t.match(nobody.text, 'No player is found.')
    const { data } = await bed.bed.team('alice').call(operations.players.listAudit, { input: { limit: 20 } })
    const recorded = data.filter((entry) => entry.operation === 'searchPlayers' && entry.reason === reason)
    t.match(recorded, [{ actor: 'alice', tool: 'console', input: { email: '' } }, { input: { cpf: '' } }])
    t.match((await support.get(path)).text, `action="${path}/find"`)
    t.match((await (await bed.visitor('integration')).get(path)).text, 'This takes the role')
  })
})

t.test('a time of a form is one of the zone, on either side of a change of the clocks', async (t) => {
  t.equal(isoOf('2026-07-01T12:00', 'Europe/Lisbon'), '2026-07-01T11:00:00.000Z')
  t.equal(isoOf('2026-03-29T00:30', 'Europe/Lisbon'), '2026-03-29T00:30:00.000Z')
  t.equal(isoOf('2026-03-29T02:30', 'Europe/Lisbon'), '2026-03-29T01:30:00.000Z')
  t.equal(isoOf('2026-02-31T99:00', 'Europe/Lisbon'), undefined)
  t.equal(isoOf('tomorrow', 'Europe/Lisbon'), undefined)
})
