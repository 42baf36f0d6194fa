import { sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'

t.test('the documentation page in a real browser', { skip: noBrowser }, async (t) => {
  const system = await sharedSystem(t)
  const operator = system.operators[0]
  const browser = await startBrowser(t)

  const open = async (width: number, height: number): Promise<{ page: Page; requests: string[]; faults: string[] }> => {
    const page = await browser.newPage({ viewport: { width, height } })
    const requests: string[] = []
    const faults: string[] = []
    page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    await page.goto(system.docsUrl)
    return { page, requests, faults }
  }
  const run = async (page: Page, operationId: string) => {
    await page.selectOption('#tester-operation', operationId)
    await page.click('#tester-send')
    await page.waitForFunction(() => /^\d+$/.test(document.getElementById('tester-status')?.textContent ?? ''))
    return page.textContent('#tester-status')
  }

  t.test('a player is registered and a deposit credited from the tester, with every example filled', async (t) => {
    const { page, requests, faults } = await open(1280, 900)
    await page.click('button.try.primary')
    await page.fill('#tester-key', operator?.sandbox.key ?? '')
    await page.fill('#tester-secret', operator?.sandbox.secret ?? '')
    t.equal(await run(page, 'getMe'), '200')
    t.equal(await run(page, 'registerPlayer'), '201')
    t.equal(await run(page, 'createDeposit'), '201')
    t.equal(await run(page, 'confirmDeposit'), '200')
    t.equal(await run(page, 'getWallet'), '200')
    t.match(await page.textContent('#tester-response'), '"available": "150.00"')
    t.match(
      await page.textContent('#tester-canonical'),
      /^GET\n\/api\/v1\/players\/ply_\w+\/wallet\n\d+\n[0-9a-f]{64}$/,
    )
    t.match(await page.textContent('#tester-request'), /X-Signature: [0-9a-f]{64}/)
    t.strictSame(faults, [], 'nothing offends the Content-Security-Policy')
    t.ok(
      requests.every((entry) => entry.includes(new URL(system.baseUrl).host) || entry.includes('data:')),
      'nothing is loaded from elsewhere',
    )
    t.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0, 'the keys are in memory only')
  })

  t.test('a production key is refused before anything is sent', async (t) => {
    const { page, requests } = await open(390, 844)
    await page.click('button.try.primary')
    await page.fill('#tester-key', operator?.production.key ?? '')
    await page.fill('#tester-secret', operator?.production.secret ?? '')
    const before = requests.length
    await page.click('#tester-send')
    t.match(await page.textContent('#tester-problem'), 'production key')
    t.equal(requests.length, before)
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than a phone')
  })

  t.test('the tester is reached, filled and closed by keyboard alone', async (t) => {
    const { page } = await open(1280, 900)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate(() => (document.getElementById('tester') as { open?: boolean } | null)?.open), true)
    await page.keyboard.press('Escape')
    t.equal(await page.evaluate(() => (document.getElementById('tester') as { open?: boolean } | null)?.open), false)
  })
})
