import { operations } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { consoleBed, formOf, proposedBy } from './console-bed.ts'

t.test('what takes two people', async (t) => {
  const bed = await consoleBed(t, {}, {}, { gateway, webhooks })
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
    t.match(theirs, 'Amount: 5000.00')
    t.match((await alice.get('/production')).text, /data-count="proposals">1</)
    t.match((await bob.get('/production')).text, /data-count="proposals">0</)
    t.match((await alice.get('/sandbox/proposals')).text, 'In the sandbox one person is enough')
    t.equal((await alice.get(`/sandbox/proposals/${id}`)).location, `/production/proposals/${id}`)
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
    t.match(page.text, 'R$5,000.00')
    t.match(page.text, 'Davi &lt;b&gt;Melo&lt;/b&gt;')
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
      const page = await visitor.get(path)
      t.match(page.text, button)
      const decline = formOf(page, `${path}/decline`)
      t.equal((await visitor.post(`${path}/decline`, decline)).status, 422)
      t.equal((await visitor.post(`${path}/decline`, { ...decline, reason: 'not now' })).status, 303)
      const late = await alice.post(`${path}/approve`, { ...approve, reason: 'checked' })
      t.equal(late.status, 422)
      t.match(late.text, 'The proposal is no longer open')
    }
    t.equal((await entries()).length, before)
    t.equal((await alice.get('/production/proposals/prp_nothing')).status, 404)
  })

  await t.test('the secrets of its reply are shown once', async (t) => {
    const operator = await bed.bed
      .team('bob')
      .call(operations.gateway.createOperator, { input: { name: 'Aurora Bets' } })
    const input = { operatorId: operator.operatorId, environment: 'production', reason: 'the old one leaked' } as const
    const id = await proposedBy(bed.bed.team('bob').call(operations.gateway.issueCredential, { input }))
    const path = `/production/proposals/${id}`
    const page = await alice.get(path)
    t.match(page.text, 'Aurora Bets')
    const form = formOf(page, `${path}/approve`)
    const { status, text } = await alice.post(`${path}/approve`, form)
    t.equal(status, 200)
    t.match(text, 'This is shown once.')
    const [, secret = ''] = [...text.matchAll(/data-copy="([^"]+)"/g)].map(([, value]) => value)
    t.ok(secret.length > 20, 'it stands under the key')
    const again = await alice.post(`${path}/approve`, form)
    t.match(again.text, 'They are not shown again.')
    t.notMatch(again.text, secret)
    t.notMatch((await alice.get(path)).text, secret)
  })
})
