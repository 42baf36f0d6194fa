// proof: the tester and the comparison of signatures in a real browser. signing-comparison.test.ts shows what it says.

import { OperatorClient, sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openPage } from './open-page.ts'

const phone = { viewport: { width: 390, height: 844 } }

async function run(page: Page, operationId: string): Promise<string | null> {
  await page.selectOption('#tester-operation', operationId)
  await page.click('#tester-send')
  await page.waitForFunction(() => /^\d+$/.test(document.getElementById('tester-status')?.textContent ?? ''))
  return page.textContent('#tester-status')
}

async function fillKeys(page: Page, pair: { readonly key: string; readonly secret: string } | undefined) {
  await page.click('.top button.try')
  await page.fill('#tester-key', pair?.key ?? '')
  await page.fill('#tester-secret', pair?.secret ?? '')
}

const marks = (page: Page) => page.locator('#signing-lines mark').allTextContents()

t.test('what the documentation sends, in a real browser', { skip: noBrowser }, async (t) => {
  const system = await sharedSystem(t)
  const browser = await startBrowser(t)
  const [operator] = system.operators
  const open = (t: Test, options: BrowserContextOptions = {}) => openPage(t, browser, system.docsUrl, options)

  t.test('a player is registered and a deposit credited from the tester, with every example filled', async (t) => {
    const { page, requests, faults } = await open(t)
    await fillKeys(page, operator?.sandbox)
    t.equal(await run(page, 'getMe'), '200')
    t.equal(await run(page, 'registerPlayer'), '201')
    t.equal(await run(page, 'createDeposit'), '201')
    t.equal(await run(page, 'confirmDeposit'), '200')
    t.equal(await run(page, 'getWallet'), '200')
    t.match(await page.textContent('#tester-response'), '"available": "150.00"')
    const below = await page.locator('#tester-response').evaluate((view) => {
      const dialog = view.closest('dialog')?.getBoundingClientRect()
      return view.getBoundingClientRect().bottom - (dialog?.bottom ?? 0)
    })
    t.ok(below <= 0, `the reply is in view, without scrolling: ${below}`)
    t.match(
      await page.textContent('#tester-canonical'),
      /^GET\n\/api\/v1\/players\/ply_\w+\/wallet\n\d+\n[0-9a-f]{64}$/,
    )
    t.match(await page.textContent('#tester-request'), /X-Signature: [0-9a-f]{64}/)

    await page.keyboard.press('Escape')
    const key = operator?.sandbox.key ?? ''
    t.match(await page.textContent('.sample[data-sample=getMe] pre'), key, 'the samples have the key')
    t.match(await page.textContent('main'), `KEY=${key}`, 'and so has the quickstart')
    await page.click('.sample[data-sample=getMe] a[data-language=ruby]')
    await page.waitForSelector('.sample[data-sample=createDeposit] a[data-language=ruby][aria-selected=true]')
    t.match(await page.textContent('.sample[data-sample=createDeposit] pre'), key, 'in every language')
    t.notMatch(await page.content(), operator?.sandbox.secret ?? '-', 'and the secret is nowhere')
    const stored = () => page.evaluate(() => [Object.values(localStorage), Object.values(sessionStorage)])
    t.strictSame(await stored(), [['ruby'], [key]], 'the tab keeps the key, and no secret')
    await page.reload()
    await page.waitForSelector('.sample[data-sample=createDeposit] a[data-language=ruby][aria-selected=true]')
    t.match(await page.textContent('.sample[data-sample=createDeposit] pre'), key, 'after a reload as well')
    t.equal(await page.inputValue('#tester-key'), key)
    t.equal(await page.inputValue('#tester-secret'), '')
    const { page: other } = await open(t)
    t.notMatch(await other.textContent('main'), key, 'and no other tab has it')

    t.strictSame(faults, [], 'nothing offends the Content-Security-Policy')
    t.ok(
      requests.every((entry) => entry.includes(new URL(system.baseUrl).host) || entry.includes('data:')),
      'nothing is loaded from elsewhere',
    )
  })

  t.test('a production key is refused before anything is sent, and a former reply goes away', async (t) => {
    const { page, requests } = await open(t, phone)
    await fillKeys(page, operator?.sandbox)
    t.equal(await run(page, 'getMe'), '200')
    t.ok(await page.isVisible('#tester-result'))
    await page.fill('#tester-key', operator?.production.key ?? '')
    await page.fill('#tester-secret', operator?.production.secret ?? '')
    const before = requests.length
    await page.click('#tester-send')
    t.match(await page.textContent('#tester-problem'), 'production key')
    t.notOk(await page.isVisible('#tester-result'), 'it would look like the answer to this key')
    t.equal(requests.length, before)
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than a phone')
    await page.keyboard.press('Escape')
    t.notMatch(await page.textContent('main'), operator?.production.key ?? '-', 'and no sample shows it')
  })

  t.test('a wrong signature leads to the page that compares it', async (t) => {
    const { page } = await open(t)
    await fillKeys(page, { key: operator?.sandbox.key ?? '', secret: 'sk_wrong' })
    t.equal(await run(page, 'getMe'), '401')
    const [comparison] = await Promise.all([page.waitForEvent('popup'), page.click('#tester-response a')])
    await comparison.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#signing-ours')?.value)
    t.equal(await comparison.inputValue('#signing-ours'), await page.textContent('#tester-canonical'))
    t.match(await page.textContent('#tester-response'), /"compareAt": "http[^"]+"\n/, 'the text is as it was')
  })

  t.test('a value cannot lead to another path than the one that is shown', async (t) => {
    const { page, requests } = await open(t)
    await fillKeys(page, operator?.sandbox)
    await page.selectOption('#tester-operation', 'getWallet')
    for (const value of ['..', '.']) {
      const before = requests.length
      await page.fill('#tester-parameters input[name=playerId]', value)
      await page.click('#tester-send')
      t.match(await page.textContent('#tester-problem'), 'the browser would send another path')
      t.equal(requests.length, before, 'nothing was sent')
    }
    for (const value of ['../wallet', '%2e%2e', '..\\x', 'a?b#c']) {
      await page.fill('#tester-parameters input[name=playerId]', value)
      await page.click('#tester-send')
      await page.waitForFunction(() => /^\d+$/.test(document.getElementById('tester-status')?.textContent ?? ''))
      const path = `/api/v1/players/${encodeURIComponent(value)}/wallet`
      t.match(await page.textContent('#tester-canonical'), `GET\n${path}\n`)
      t.equal(requests.at(-1), `GET ${new URL(system.baseUrl).origin}${path}`)
      t.match(await page.textContent('#tester-response'), 'VALIDATION_ERROR', 'the signature is right')
    }
  })

  t.test('the tester is reached and closed by keyboard alone', async (t) => {
    const { page } = await open(t)
    const isOpen = () => page.evaluate(() => document.getElementById('tester')?.matches('[open]'))
    for (let stops = 0; stops < 8; stops += 1) {
      await page.keyboard.press('Tab')
      if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Open the tester') break
    }
    await page.keyboard.press('Enter')
    t.equal(await isOpen(), true)
    await page.keyboard.press('Escape')
    t.equal(await isOpen(), false)
    t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Open the tester', 'the focus comes back')
  })

  t.test('the comparison of canonical strings', async (t) => {
    const client = new OperatorClient(system.baseUrl, { key: operator?.sandbox.key ?? '', secret: 'sk_wrong' })
    t.teardown(() => client.close())
    const refusal = await client.get('/players?externalId=a%20b&x=1')
    const { canonicalString, compareAt } = refusal.body.error.details
    const { page, requests, faults } = await openPage(t, browser, compareAt, phone)
    requests.length = 0

    await t.test('the address in a refusal brings our string, and the server never sees it', async (t) => {
      t.equal(await page.inputValue('#signing-ours'), canonicalString)
      t.match(compareAt, `${system.baseUrl}/docs/signing#GET%0A`)
      t.ok(await page.isHidden('#signing-result'), 'there is nothing to compare yet')
    })

    await t.test('the first difference is marked, with its byte and its cause', async (t) => {
      await page.fill('#signing-yours', canonicalString.replace('/api/v1', ''))
      t.match(await page.locator('#signing-causes').textContent(), 'The prefix is missing')
      t.match(await page.textContent('#signing-verdict'), 'from byte 6 on')
      t.strictSame(await marks(page), ['a', 'p'], 'in our path and in yours')
    })

    t.strictSame(requests, [], 'nothing that was entered left the page')
    t.strictSame(faults, [], 'nothing offends the Content-Security-Policy')
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than a phone')
  })
})
