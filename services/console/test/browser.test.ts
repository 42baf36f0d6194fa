import { inboxOf, operations } from '@backoffice/contracts'
import { holdOpen, newCpf, proposalOf } from '@backoffice/test-kit'
import { noBrowser } from '@backoffice/test-kit/browser'
import t from 'tap'
import { browserBed, press } from './console-bed.ts'

t.test('the console in a real browser', { skip: noBrowser }, async (t) => {
  const { bed, windowOf: windowIn } = await browserBed(t)
  const faults: string[] = []

  /** Whatever the browser complains about is a fault. */
  async function windowOf(...given: Parameters<typeof windowIn>) {
    const page = await windowIn(...given)
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    return page
  }
  const page = await windowOf('alice')

  await t.test(
    'two identities and a withdrawal are decided by keyboard, and both people are in the audit',
    async (t) => {
      for (const name of ['Ana Souza', 'Bruno Lima']) await bed.newPlayer('production', name)
      const withdrawalId = await bed.newWithdrawal('production', await bed.newPlayer('production', 'Davi Melo'))
      await page.goto(`${bed.url}/production/kyc`)
      await press(page, 'j', 'Enter')
      for (const name of ['Ana Souza', 'Bruno Lima']) {
        await page.waitForSelector(`h1:has-text("${name}")`)
        await press(page, 'a')
        await page.keyboard.type('The document is clear')
        // Their operator has given no address for documents.
        await press(page, 'Tab', 'Tab')
        await page.keyboard.type('It was shown on paper')
        await press(page, 'Tab', 'Enter')
        await page.waitForSelector(`.notice.done:has-text("${name}")`)
        await press(page, 'n')
      }
      await page.waitForURL('**/production/kyc')

      await page.goto(`${bed.url}/production/withdrawals`)
      await press(page, 'j', 'Enter')
      await page.waitForSelector('.decisions')
      t.notOk(await page.isVisible('.act'), 'the way to the decisions is for narrow screens')
      await page.setViewportSize({ width: 390, height: 800 })
      t.ok(await page.isVisible('.act'))
      await page.setViewportSize({ width: 1_366, height: 800 })
      await press(page, 'a', 'Enter')
      await page.waitForSelector('.notice.done')
      t.match(await page.textContent('.decision.off'), 'You approved it yourself')

      const other = await windowOf('bob')
      await other.goto(`${bed.url}/production/withdrawals/${withdrawalId}`)
      await press(other, 'p')
      t.match(await other.textContent('.decision[open] .ask'), '“Davi Melo”')
      await press(other, 'Enter')
      await other.waitForSelector('.notice.done')
      t.equal((await bed.showWithdrawal(withdrawalId)).paidAt === null, false)

      await other.goto(`${bed.url}/production/audit?subject=${withdrawalId}`)
      t.strictSame(await other.locator('tbody tr td:nth-child(2)').allTextContents().then(trimmed), ['bob', 'alice'])
      t.strictSame(faults, [])
    },
  )

  await t.test('the menu takes one line on a laptop with all its counts, and on a tablet a button', async (t) => {
    for (const locale of ['en-GB', 'pt-BR']) {
      const page = await windowOf('alice', { locale })
      await page.goto(`${bed.url}/production`)
      for (const width of [1_366, 1_920]) {
        await page.setViewportSize({ width, height: 800 })
        const tops = await page.evaluate(() => {
          for (const count of document.querySelectorAll('.pages .count')) count.textContent = '99'
          return [...document.querySelectorAll('.pages > a')].map((one) => one.getBoundingClientRect().top)
        })
        t.equal(new Set(tops).size, 1, `${locale} at ${width}`)
      }
      await page.setViewportSize({ width: 768, height: 800 })
      t.notOk(await page.isVisible('.pages'))
      await page.click('.menu')
      t.ok(await page.isVisible('.pages'))
    }
  })

  await t.test('a refused form is there again, open, with what was typed and why, and is sent anew', async (t) => {
    const playerId = await bed.newPlayer('sandbox')
    await page.goto(`${bed.url}/sandbox/players/${playerId}`)
    await page.click('summary:has-text("Set the daily deposit limit")')
    await page.fill('#limit-dailyDepositLimitGiven', '10,50')
    t.ok(await page.isChecked('#limit-dailyDepositLimit-given'), 'what is filled in beside a choice is that choice')
    t.match(await page.textContent('.decision[open] .echo'), 'Write an amount such as 10.50')
    await page.fill('#limit-reason', 'asked for it')
    await press(page, 'Tab', 'Enter')
    await page.waitForSelector('.decision[open] [role=alert]')
    t.ok(await page.isVisible('.decision[open] .issue'))
    t.equal(await page.inputValue('#limit-dailyDepositLimitGiven'), '10,50')
    t.equal(await page.inputValue('#limit-reason'), 'asked for it')
    await page.fill('#limit-dailyDepositLimitGiven', '10.50')
    t.equal(await page.textContent('.decision[open] .echo'), 'R$10.50')
    await press(page, 'Enter')
    await page.waitForSelector('.notice.done')
    t.match(await page.textContent('.facts'), 'R$10.50')
    // A browser writes each answer that is no success to its console.
    faults.length = 0
  })

  await t.test(
    'a click opens a form at its first field, and Tab passes by what belongs to another choice',
    async (t) => {
      const playerId = await bed.newPlayer('sandbox', 'Rosa Reis', 'doc-1', undefined, newCpf())
      await page.goto(`${bed.url}/sandbox/players/${playerId}`)
      await page.click('#decision-exclude > summary')
      await press(page, 'Space', 'Tab')
      await page.keyboard.type('asked by e-mail')
      await press(page, 'Tab', 'Enter')
      await page.waitForSelector('.notice.done')
      const player = await bed.bed.team('alice').call(operations.players.showPlayer, { input: { playerId } })
      t.match(player.selfExclusion?.until, /^\d{4}-/, 'not for good: the first choice')
      await page.click('#decision-limit > summary')
      await press(page, 'Tab')
      await page.keyboard.type('10.00')
      t.ok(await page.isChecked('#limit-dailyDepositLimit-given'), 'with no choice made yet, Tab comes to its field')
    },
  )

  await t.test('what is shown unmasked comes sealed to a key of the browser, and the page has it', async (t) => {
    const heard: string[] = []
    const spy = await bed.bed.nats('console')
    spy.subscribe(`${inboxOf('console')}.>`, { callback: (_error, message) => void heard.push(message.string()) })
    await spy.flush()
    const playerId = await bed.newPlayer('sandbox')
    // It takes a login of the last five minutes.
    const page = await windowOf('alice')
    await page.goto(`${bed.url}/sandbox/players/${playerId}`)
    await page.click('summary:has-text("Show what is masked")')
    await page.fill('#unmask-reason', 'a court asks')
    await press(page, 'Tab', 'Enter')
    await page.waitForSelector(':text("ana@example.com")')
    await spy.flush()
    t.match(heard.join(), /"sealed":/)
    t.notMatch(heard.join(), 'ana@example.com')
    t.strictSame(faults, [])
  })

  await t.test('a call that was changed after the page showed it is not signed', async (t) => {
    const withdrawalId = await bed.newWithdrawal('sandbox', await bed.newPlayer('sandbox'))
    await page.goto(`${bed.url}/sandbox/withdrawals/${withdrawalId}`)
    await page.locator('form[action$="/approve"] [name=shown]').evaluate((field: HTMLInputElement) => {
      field.value = field.value.replace('"approve"', '"reject"')
    })
    await press(page, 'a', 'Enter')
    await page.waitForSelector('.decision[open] [role=alert]')
    t.match(await page.textContent('[role=alert]'), 'the form was changed after it was shown')
    t.equal((await bed.showWithdrawal(withdrawalId)).status, 'under_review')
    faults.length = 0
  })

  await t.test('the rest of a page comes by itself, and takes nothing away that somebody works in', async (t) => {
    const proposalId = await bed.newProposal(await bed.newPlayer('production'))
    /** @param looked on the page while the wallet takes its time. It answers before the page asks for the whole. */
    async function whileWaiting(looked: () => Promise<unknown>) {
      const answers = Promise.withResolvers<void>()
      await page.route(/[?&]whole=/, (route) => answers.promise.then(() => route.continue()))
      const admin = bed.bed.sql('admin')
      const { rollback } = await holdOpen(admin, 'lock table wallet.team_proposal in access exclusive mode')
      await page.goto(`${bed.url}/production/proposals`)
      await page.waitForSelector('[data-rest]')
      t.equal(await page.locator(`[href$="${proposalId}"]`).count(), 0)
      await looked()
      await page.evaluate(() =>
        document.addEventListener('htmx:afterRequest', () => document.body.classList.add('came')),
      )
      await rollback()
      answers.resolve()
      await page.waitForSelector('body.came')
      await page.unroute(/[?&]whole=/)
    }
    await whileWaiting(async () => {})
    await page.waitForSelector(`[href$="${proposalId}"]`)
    t.equal(await page.locator('[data-rest]').count(), 0)
    t.equal(await page.evaluate(() => document.activeElement?.tagName), 'BODY', 'the focus stays where it was')

    await whileWaiting(() => page.focus('#page .tabs a'))
    t.equal(await page.evaluate(() => document.activeElement?.matches('#page .tabs a')), true)
    t.equal(await page.locator(`[href$="${proposalId}"]`).count(), 0)
    await page.click('[data-rest] a')
    await page.waitForSelector(`[href$="${proposalId}"]`)
    t.strictSame(faults, [])
  })

  await t.test('without scripts one reads and does not decide, and the page says so', async (t) => {
    const withdrawalId = await bed.newWithdrawal('sandbox', await bed.newPlayer('sandbox'))
    const page = await windowOf('alice', { javaScriptEnabled: false })
    await page.goto(`${bed.url}/sandbox/withdrawals/${withdrawalId}`)
    t.match(await page.textContent('h1'), 'R$40.00')
    await page.click('.decision summary')
    t.ok(await page.isVisible('.decision[open] :text("Without JavaScript you can read and not decide")'))
    t.notOk(await page.isVisible('.decision[open] button'))
    await page.goto(`${bed.url}/sign-in`)
    t.notOk(await page.isVisible('form[action="/login"] button'))
  })

  await t.test('secrets that somebody has agreed to are shown to who asked for them, on the proposal', async (t) => {
    const [alice, bob] = [bed.bed.team('alice'), bed.bed.team('bob')]
    const { operatorId } = await alice.call(operations.gateway.createOperator, { input: { name: 'Secreta' } })
    const input = { operatorId, environment: 'production', overlapHours: 0, reason: 'leaked' } as const
    const { proposalId } = await proposalOf(alice.call(operations.webhooks.rotateWebhookSecret, { input }))
    const reply = await bob.call(operations.webhooks.rotateWebhookSecret, { input, approves: proposalId })
    t.equal(reply.webhookSecret, null)
    await page.goto(`${bed.url}/production/proposals/${proposalId}`)
    await page.click('summary:has-text("Show the secrets")')
    await page.click('.decision[open] button:has-text("Show the secrets")')
    t.match(await page.getAttribute('[data-copy]', 'data-copy'), /^whsec_/)
    t.strictSame(faults, [])
  })
})

const trimmed = (texts: readonly string[]) => texts.map((text) => text.trim())
