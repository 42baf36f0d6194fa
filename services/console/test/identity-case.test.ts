// proof: one page in a real browser, with time that passes. browser.test.ts decides identities in one.

import { type Environment, operations } from '@backoffice/contracts'
import { byTwo } from '@backoffice/test-kit'
import { noBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { browserBed, formOf, press } from './console-bed.ts'

const { showPlayer, takeKycCase, releaseKycCase, listAudit, setDocumentUrl } = operations.players

t.test('an identity case', { skip: noBrowser }, async (t) => {
  const { bed, windowOf } = await browserBed(t)
  const [alice, bob] = [bed.bed.team('alice'), bed.bed.team('bob')]
  const scope = bed.bed.scope({ environment: 'production' })
  const template = 'https://kyc.example/{reference}'
  const owner = { operatorId: scope.operatorId, environment: 'production' as Environment }
  await byTwo(bed.bed, setDocumentUrl, { ...owner, template, reason: 'contract' })

  const newCase = async (name = 'Ana Souza') => {
    const playerId = await bed.newPlayer('production', name, 'doc-1', scope)
    return { playerId, path: `/production/kyc/${playerId}` }
  }
  const take = (playerId: string, takeOver = false, by = alice) =>
    by.call(takeKycCase, { input: { playerId, takeOver } })
  /** The reads of a player with nothing masked. */
  const readsOf = async (playerId: string) =>
    (await bob.call(listAudit, { input: { subject: playerId, limit: 50 } })).data.filter(
      ({ operation, input }) => operation === 'showPlayer' && (input as { readonly unmask?: boolean }).unmask === true,
    )
  /** How often the browser loads a page, or the document. */
  const loadsOf = async (page: Page) => {
    const loads = { pages: 0, documents: 0 }
    await page.route('https://kyc.example/**', (route) => route.fulfill({ contentType: 'text/html', body: 'RG' }))
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) return
      loads[request.frame() === page.mainFrame() ? 'pages' : 'documents']++
    })
    return loads
  }

  await t.test(
    'a document that its server does not send: the page says so, and leads to what can be done',
    async (t) => {
      const { playerId, path } = await newCase()
      await take(playerId)
      const page = await windowOf('alice')
      let isSent = false
      await page.route('https://kyc.example/**', (route) => isSent && route.fulfill({ body: 'RG' }))
      await page.goto(`${bed.url}${path}`, { waitUntil: 'domcontentloaded' })
      const late = page.locator('[data-late]')
      t.notOk(await late.isVisible())
      await page.locator('iframe').scrollIntoViewIfNeeded()
      await late.waitFor()
      t.match(await page.locator('.document [role=status]').textContent(), 'kyc.example has not sent it yet.')
      await page.click('.document a[data-opens]')
      t.ok(await page.isVisible('details[open] form[action$="/ask"] [name=reason]'))
      isSent = true
      await page.goto(`${bed.url}${path}`)
      await page.locator('iframe').scrollIntoViewIfNeeded()
      await page.frameLocator('iframe').getByText('RG').waitFor()
      // Longer than the page waits before it says so. Its clock cannot be moved: the page asks what was loaded, too.
      await page.waitForTimeout(4_500)
      t.notOk(await late.isVisible(), 'it is there')
      await page.context().close()
    },
  )

  await t.test('is compared and decided by keyboard, on the page that was opened', async (t) => {
    const { playerId, path } = await newCase()
    const page = await windowOf('alice')
    const loads = await loadsOf(page)
    await page.goto(`${bed.url}${path}`)
    t.match(await page.textContent('#comparison'), 'Take the case')
    await press(page, 't', 'Enter')
    await page.waitForSelector('.notice.done')
    await page.locator('iframe').scrollIntoViewIfNeeded()
    await page.frameLocator('iframe').getByText('RG').waitFor()
    t.notMatch(await page.content(), '529.982.247-25')
    loads.documents = 0

    await press(page, 'c')
    await page.waitForSelector('#comparison:focus fieldset')
    t.match(await page.textContent('#comparison'), /Ana Souza.*529\.982\.247-25.*17\/05\/1990/s)
    t.notMatch(await page.content(), 'ana@example.com', 'what nobody compares stays masked')
    const { submissions } = await bob.call(showPlayer, { input: { playerId } })
    const reads = await readsOf(playerId)
    t.match(reads, [{ actor: 'alice', outcome: 'done', reason: `identity check ${submissions[0]?.id}` }])
    t.equal(reads.length, 1)

    await press(page, 'Tab', 'Space', 'Tab', 'Space', 'Tab', 'Space', 'r')
    const reason = page.locator('#reject-reason')
    t.equal(await reason.inputValue(), 'Name: matches. CPF: matches. Born: matches.')
    await page.locator('#comparison fieldset:has-text("Born")').getByText('does not match').click()
    const marked = 'Name: matches. CPF: matches. Born: does not match.'
    t.equal(await reason.inputValue(), marked)
    const ready = page.locator('.decision[open] [data-ready]').last()
    await ready.selectOption('The document was altered.')
    await ready.selectOption('The document is somebody else’s.')
    await reason.focus()
    await page.keyboard.type(' Ask us.')
    const written = `The document is somebody else’s. ${marked} Ask us.`
    t.equal(await reason.inputValue(), written)
    await press(page, 'Tab', 'Enter')
    await page.waitForSelector('.notice.done:has-text("refused")')
    t.match(await bob.call(showPlayer, { input: { playerId } }), { kycStatus: 'reprovado', kycReason: written })
    t.match(await page.textContent('.history'), written)
    t.notMatch(await page.content(), '529.982.247-25', 'masked again')
    t.equal(loads.pages, 1, 'the one that opened it')
    t.equal((await readsOf(playerId)).length, 1)
  })

  await t.test('keeps the document and what was typed, in the language of the page', async (t) => {
    const { playerId, path } = await newCase()
    await take(playerId)
    const page = await windowOf('alice', { locale: 'pt-BR' })
    const loads = await loadsOf(page)
    await page.goto(`${bed.url}${path}`)
    await page.locator('iframe').scrollIntoViewIfNeeded()
    await page.frameLocator('iframe').getByText('RG').waitFor()
    await press(page, 'd')
    await page.keyboard.type('Envie a frente.')
    await press(page, 'Escape', 'c')
    await page.waitForSelector('#comparison:focus fieldset')
    await press(page, 'Tab', 'Space')
    t.equal(await page.inputValue('#ask-reason'), 'Nome: confere. Envie a frente.')
    t.strictSame(loads, { pages: 1, documents: 1 })
  })

  await t.test('without a document to look at says so, and an approval says what it rests on', async (t) => {
    const { operatorId } = bed.bed.scope({ environment: 'production', operatorId: 'op_without_address' })
    const playerId = await bed.newPlayer('production', 'Bia Lima', 'doc-30', {
      ...scope,
      operatorId,
      brandId: 'brd_none',
    })
    const path = `/production/kyc/${playerId}`
    const visitor = await bed.visitor('alice')
    t.match((await visitor.get('/production/kyc')).text, /Bia Lima[\s\S]*cannot be seen here/)
    const { text } = await visitor.get(path)
    t.match(text, 'This operator has given no address for its documents')
    t.match(text, `href="/production/operators/${operatorId}"`)
    t.match((await (await bed.visitor('support')).get(path)).text, 'documents open for the role')
    const reason = 'documents match'
    const refused = await visitor.submit(path, 'approve', { reason })
    t.equal(refused.status, 422)
    t.match(refused.text, /One field needs your attention:[\s\S]*href="#approve-restsOn">What the approval rests on</)
    t.equal((await visitor.submit(path, 'approve', { reason, restsOn: 'A video call.' })).status, 303)
    t.equal((await bob.call(showPlayer, { input: { playerId } })).kycStatus, 'aprovado')
    t.match(
      (await visitor.get(`/production/audit?subject=${playerId}`)).text,
      'What the approval rests on: A video call.',
    )
  })

  await t.test('is shown as long as one has it', async (t) => {
    const { playerId, path } = await newCase()
    await take(playerId)
    const page = await windowOf('alice')
    await page.clock.install()
    await page.goto(`${bed.url}${path}`)
    await press(page, 'c')
    await page.waitForSelector('#comparison fieldset')
    await page.clock.fastForward('29:00')
    t.ok(await page.isVisible('#comparison fieldset'))
    await page.clock.fastForward('02:00')
    await page.waitForSelector('#comparison', { state: 'detached' })
    t.notMatch(await page.content(), '529.982.247-25')
  })

  await t.test('is shown to nobody who has not the case, and to compliance alone', async (t) => {
    const { playerId, path } = await newCase()
    await take(playerId)
    const visitor = await bed.visitor('alice')
    const form = formOf(await visitor.get(path), `${path}/compare`)
    t.match(form, { shown: /identity check kyc_/ })
    for (const user of ['bob', 'support', 'finance', 'auditor', 'integration'] as const) {
      const { text } = await (await bed.visitor(user)).get(path)
      t.notMatch(text, `action="${path}/compare"`, user)
      t.equal(text.includes('id="comparison"'), user === 'bob', user)
    }
    await take(playerId, true, bob)
    const others = await visitor.post(`${path}/compare`, form)
    t.equal(others.status, 422)
    t.match(others.text, 'Somebody else has taken this case.')
    await bob.call(releaseKycCase, { input: { playerId } })
    const nobodys = await visitor.post(`${path}/compare`, form)
    t.equal(nobodys.status, 422)
    t.match(nobodys.text, 'It is not what this page showed.')
    for (const { text } of [others, nobodys, await visitor.get(path)]) t.notMatch(text, '529.982.247-25')
    t.strictSame(await readsOf(playerId), [])
  })

  await t.test('is read and not decided without scripts, and the page says so', async (t) => {
    const { playerId, path } = await newCase()
    await take(playerId)
    const page = await windowOf('alice', { javaScriptEnabled: false })
    await page.goto(`${bed.url}${path}`)
    t.match(await page.textContent('.facts'), '1990-**-**')
    t.ok(await page.isVisible('#comparison :text("Without JavaScript you can read and not decide")'))
    t.notOk(await page.isVisible('#comparison button'))
  })
})
