import { operations } from '@backoffice/contracts'
import { eventually, proposalOf } from '@backoffice/test-kit'
import t from 'tap'
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
    t.match(theirs, playerId, 'whose')
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
