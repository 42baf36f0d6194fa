// proof: one page in a real browser. signing-comparison.test.ts shows what it says.

import { bodySha256 } from '@backoffice/contracts'
import { OperatorClient, sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openPage } from './open-page.ts'

t.test('the comparison of canonical strings in a real browser', { skip: noBrowser }, async (t) => {
  const system = await sharedSystem(t)
  const pair = system.operators[0]?.sandbox ?? { key: '', secret: '' }
  const operator = new OperatorClient(system.baseUrl, { ...pair, secret: 'sk_wrong' })
  t.teardown(() => operator.close())
  const refusal = await operator.get('/players?externalId=a%20b&x=1')
  const { canonicalString, compareAt } = refusal.body.error.details
  const browser = await startBrowser(t)

  const { page, requests, faults } = await openPage(t, browser, compareAt, { viewport: { width: 390, height: 844 } })
  requests.length = 0

  const causes = async (yours: string) => {
    await page.fill('#signing-yours', yours)
    return page.locator('#signing-causes').textContent()
  }

  await t.test('the address in a refusal brings our string, and the server never sees it', async (t) => {
    t.equal(await page.inputValue('#signing-ours'), canonicalString)
    t.match(compareAt, `${system.baseUrl}/docs/signing#GET%0A`)
    t.ok(await page.isHidden('#signing-result'), 'there is nothing to compare yet')
  })

  await t.test('the first difference is marked, with its byte and its cause', async (t) => {
    t.match(await causes(canonicalString.replace('/api/v1', '')), 'The prefix is missing')
    t.match(await page.textContent('#signing-verdict'), 'from byte 6 on')
    t.strictSame(await marks(page), ['a', 'p'], 'in our path and in yours')
    t.match(await causes(canonicalString.replace('GET', 'get')), 'upper case')
    t.strictSame(await marks(page), ['G', 'g'])
    t.match(await causes(JSON.stringify(canonicalString.replaceAll('\n', '\r\n'))), 'CR LF')
    t.match(await causes(canonicalString.replace('a%20b', 'a+b')), 'percent-encoding')
  })

  await t.test('equal strings lead to the secret; a signature in upper case is seen first', async (t) => {
    t.match(await causes(canonicalString), 'the secret differs')
    t.match(await page.textContent('#signing-verdict'), 'the same')
    await page.click('summary:has-text("Body and signature")')
    await page.fill('#signing-signature', 'AB'.repeat(32))
    t.match(await causes(canonicalString), 'lowercase hex')
  })

  await t.test('a body that was written twice is told apart by its digests', async (t) => {
    const request = { amount: '1.00', currency: 'BRL' }
    const ours = (await operator.post('/players/ply_1/deposits', request)).body.error.details.canonicalString
    const spaced = '{"amount": "1.00", "currency": "BRL"}'
    await page.fill('#signing-ours', ours)
    await page.fill('#signing-body', spaced)
    await page.fill('#signing-signature', '')
    await page.fill('#signing-yours', ours.replace(/[0-9a-f]{64}$/, bodySha256(spaced)))
    await page.waitForSelector('#signing-causes :text("Ours is the digest of this body as JSON without spaces.")')
    t.match(await page.textContent('#signing-causes'), 'Yours is the digest of this body as it stands here.')
  })

  t.strictSame(requests, [], 'nothing that was entered left the page')
  t.strictSame(faults, [], 'nothing offends the Content-Security-Policy')
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than a phone')
})

const marks = (page: Page) => page.locator('#signing-lines mark').allTextContents()
