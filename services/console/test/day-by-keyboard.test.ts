// proof: decides as many cases as somebody does in a day, in a real browser, and says how long that takes.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { operations, seenOfWithdrawal } from '@backoffice/contracts'
import { byTwo } from '@backoffice/test-kit'
import { noBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { browserBed, press } from './console-bed.ts'

/** Presses keys, and counts them. Text that is typed is no key: a decision wants its reason however it is made. */
function typist(page: Page) {
  let keys = 0
  return {
    async press(...pressed: readonly string[]): Promise<void> {
      keys += pressed.length
      await press(page, ...pressed)
    },
    keys: () => keys,
  }
}

t.test('a day of cases takes no click, and no more than four keys a case', { skip: noBrowser }, async (t) => {
  const { bed, windowOf } = await browserBed(t)

  await t.test('twenty withdrawals are approved', async (t) => {
    const ids = []
    for (let index = 0; index < 20; index++)
      ids.push(await bed.newWithdrawal('production', await bed.newPlayer('production', `Davi Melo ${index}`)))
    const page = await windowOf('alice')
    const { press, keys } = typist(page)
    const began = performance.now()
    await page.goto(`${bed.url}/production/withdrawals`)
    await press('j', 'Enter')
    for (const id of ids) {
      await page.waitForURL(`**/withdrawals/${id}`)
      await page.waitForSelector('.decisions')
      await press('a', 'Enter')
      await page.waitForSelector('.notice.done')
      await press('n')
    }
    await page.waitForURL('**/production/withdrawals**')
    t.comment(`${keys()} keys, no click, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    t.ok(keys() <= 64)
    for (const id of ids) t.equal((await bed.showWithdrawal(id)).status, 'approved')
  })

  await t.test('those that were approved are paid in one decision, each with a signature of its own', async (t) => {
    const page = await windowOf('bob')
    const { press, keys } = typist(page)
    await page.goto(`${bed.url}/production/withdrawals?status=approved`)
    const shown = await page.locator('tbody tr').count()
    t.equal(shown, 20)
    const began = performance.now()
    await page.click('a[href="/production/withdrawals/pay"]')
    await page.waitForSelector('[data-run-button]')
    t.equal(await page.isDisabled('[data-run-button]'), true)
    t.notOk(await page.isVisible('[data-run-file]'), 'of nothing there is no file')
    await page.focus('[data-choose-all]')
    await press('Space')
    t.equal((await page.textContent('[data-run-button]'))?.replaceAll('\u00a0', ' '), 'Mark 20 as paid: R$800.00')
    await page.click('#decision-file summary')
    t.equal((await page.inputValue('[name=idsGiven]')).split('\n').length, 20)
    await page.click('#decision-file button')
    await page.waitForURL('**/withdrawals/pay?file=pfl_*')
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('[data-run-file]')])
    const file = readFileSync(await download.path())
    t.equal(file.toString().trim().split('\n').length, 21, download.suggestedFilename())

    // Somebody else was faster with one, and the answer of another is lost.
    const ids = await page
      .locator('[data-choice]')
      .evaluateAll((boxes) => boxes.map((box) => (box as HTMLInputElement).value))
    const [failed = '', lost = '', ...others] = ids
    const alice = bed.bed.team('alice')
    const seen = seenOfWithdrawal(await bed.showWithdrawal(failed))
    const input = { withdrawalId: failed, decision: 'fail', reason: 'no such key', ...seen } as const
    await alice.call(operations.payments.decideWithdrawal, { input })
    let isLost = true
    await page.route(`**/withdrawals/${lost}/pay`, async (route) => {
      const response = await route.fetch({ maxRedirects: 0 })
      if (!isLost) return route.fulfill({ response })
      isLost = false
      return route.abort()
    })
    await page.focus('[data-choose-all]')
    await press('Space', 'Tab', 'Enter')
    const said = page.locator('[data-run-said]')
    await said.filter({ hasText: '✓ 18 · ✗ 1 · ? 1' }).waitFor()
    t.comment(`${keys()} keys, four clicks, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    for (const id of others) t.equal((await bed.showWithdrawal(id)).status, 'paid')
    t.equal((await bed.showWithdrawal(failed)).status, 'failed')
    t.match(await page.textContent('tbody tr:first-child'), 'Somebody else may have decided', 'its row says why')

    t.equal((await page.textContent('[data-run-button]'))?.replaceAll('\u00a0', ' '), 'Mark 1 as paid: R$40.00')
    await page.click('[data-run-button]')
    await said.filter({ hasText: '✓ 1 · ✗ 0 · ? 0' }).waitFor()
    t.equal((await bed.showWithdrawal(lost)).status, 'paid')
    const trail = await bed.bed.sql('payments').query(
      `select subject, count(*) from audit_entry where operation = 'decideWithdrawal' and outcome = 'done'
          and input ->> 'paymentFile' = $1 group by subject`,
      [createHash('sha256').update(file).digest('base64url')],
    )
    t.equal(trail.rowCount, 19, 'each is in the trail, with the file')
    t.ok(
      trail.rows.every(({ count }) => Number(count) === 1),
      'once',
    )
    await page.reload()
    t.match(await page.textContent('main'), 'Waiting for payment: 0.')
    t.equal(await page.locator('tbody .status').count(), 20, 'with what became of each')
    t.notOk(await page.isVisible('[data-run-file]'), 'none of it is for the bank any more')
  })

  await t.test('Enter opens the row itself, whatever else it links to', async (t) => {
    const page = await windowOf('alice')
    const { press } = typist(page)
    const scope = bed.bed.scope({ environment: 'production' })
    await bed.newPlayer('production', 'Eva Reis', 'doc-1', scope)
    const template = 'https://kyc.example/{reference}'
    const input = { operatorId: scope.operatorId, environment: 'production', template, reason: 'contract' } as const
    await byTwo(bed.bed, operations.players.setDocumentUrl, input)
    await page.goto(`${bed.url}/production/kyc`)
    t.ok(await page.isVisible('tbody a[target=_blank]'))
    await press('j')
    t.match(await page.locator(':focus').getAttribute('href'), /^\/production\/kyc\/ply_\w+$/)
    await byTwo(bed.bed, operations.players.setDocumentUrl, { ...input, template: null })
  })

  await t.test('what has not arrived of an operator is chosen and sent again by keyboard', async (t) => {
    const page = await windowOf('alice')
    const { press } = typist(page)
    const name = 'Aurora'
    const created = { input: { name, reason: 'as the contract says' } }
    const { operatorId } = await bed.bed.team('alice').call(operations.gateway.createOperator, created)
    const where = { operatorId, environment: 'sandbox', url: 'http://127.0.0.1:9/hooks' } as const
    await bed.bed.team('alice').call(operations.webhooks.setWebhookUrl, { input: where })
    const pool = bed.bed.sql('webhooks')
    await pool.query(
      `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
         finished_at, last_response_status, last_error)
       select 'dlv_' || n, $1, 'evt_' || n, 'withdrawal.paid', 'brd_1', '', 'failed', at, at, at, 502,
         'The receiver answered 502.' from generate_series(1, 3) n, lateral (select now() - n * interval '1 s' as at) s`,
      [`${operatorId}/sandbox`],
    )
    await page.goto(`${bed.url}/sandbox/operators/${operatorId}`)
    await page.focus('a:has-text("Deliveries"):not(.pages a)')
    await press('Enter')
    await page.waitForURL('**/sandbox/deliveries?operator=Aurora')
    await press('j', 'j', 'x', 'j', 'x', 'k', 'k', 'x', 'x', 's')
    t.equal(await page.inputValue('[name=idsGiven]'), 'dlv_2\ndlv_3')
    t.ok(await page.isChecked('#resend-ids-given'))
    await page.fill('#resend-reason', 'they mended it')
    await press('Tab', 'Enter')
    await page.waitForSelector('.notice.done:has-text("2 sent again, 0 left")')
    const { rows } = await pool.query("select id from delivery where state = 'failed'")
    t.strictSame(rows, [{ id: 'dlv_1' }])
  })

  await t.test('? shows the keys, / and Ctrl-K go to the search', async (t) => {
    const page = await windowOf('alice')
    const { press } = typist(page)
    await page.goto(`${bed.url}/production`)
    await press('?')
    t.ok(await page.isVisible('#help'))
    for (const keys of ['Control+k', 'Meta+k', '/']) {
      await press('Escape', keys)
      t.ok(await page.locator('#search').evaluate((field) => field === document.activeElement), keys)
    }
    const playerId = await bed.newPlayer('sandbox')
    await page.keyboard.type(playerId)
    await press('Enter')
    await page.waitForURL(`**/sandbox/players/${playerId}`)
  })
})
