import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { bedWithProvider, formOf, press, Visitor } from './console-bed.ts'

t.test('signing in at a real identity provider, in a real browser', { skip: noBrowser }, async (t) => {
  const { bed, provider, issuer } = await bedWithProvider(t)
  const browser = await startBrowser(t)
  const newPage = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()
  const page = await newPage()

  await t.test('whoever comes is sent to sign in, and then to where they wanted to go', async (t) => {
    await page.goto(`${bed.url}/sandbox/kyc`)
    await page.click('button.good')
    await page.click('button[value=carla]')
    await page.waitForURL('**/sandbox/kyc')
    t.equal(await page.textContent('.account .name'), 'carla')
    await page.goto(`${bed.url}/production`)
    t.strictSame(await page.locator('.roles .status').allTextContents(), ['compliance'])
  })

  const keysIn = (page: Page) =>
    page.evaluate(async () => {
      const opening = indexedDB.open('console')
      await new Promise((resolve) => opening.addEventListener('success', resolve))
      const asked = opening.result.transaction('keys').objectStore('keys').getAll()
      await new Promise((resolve) => asked.addEventListener('success', resolve))
      opening.result.close()
      return (asked.result as readonly { privateKey: CryptoKey; thumbprint: string }[]).map(
        ({ thumbprint, privateKey: { extractable } }) => ({ thumbprint, extractable }),
      )
    })

  await t.test('the browser has the key of the session, and no script can read it, nor a cookie', async (t) => {
    t.same(
      (await keysIn(page)).map(({ extractable }) => extractable),
      [false],
    )
    t.equal(await page.evaluate('document.cookie'), '')
    const cookies = await page.context().cookies(bed.url)
    const own = cookies.filter(({ name }) => name.startsWith('console'))
    t.equal(own.length, 2)
    for (const { httpOnly, sameSite, value } of own) {
      t.ok(httpOnly)
      t.equal(sameSite, 'Lax')
      t.ok(value.length < 4_000)
    }
  })

  await t.test('logging in again proves anew who somebody is, with a new key, and comes back', async (t) => {
    const before = await keysIn(page)
    await page.goto(`${bed.url}/login?again=yes&returnTo=${encodeURIComponent('/production/kyc')}`)
    await page.waitForSelector('h1:has-text("Log in once more")')
    await page.click('button[value=carla]')
    await page.waitForURL('**/production/kyc')
    const after = await keysIn(page)
    t.equal(after.length, 1)
    t.not(after[0]?.thumbprint, before[0]?.thumbprint)
  })

  await t.test('an identity is decided by keyboard with a login that the page itself has signed', async () => {
    await bed.newPlayer('production')
    await page.goto(`${bed.url}/production/kyc`)
    await press(page, 'j', 'Enter')
    await page.waitForSelector('h1:has-text("Ana Souza")')
    await press(page, 'a')
    await page.keyboard.type('clear')
    await press(page, 'Tab', 'Tab')
    await page.keyboard.type('a video call')
    await press(page, 'Tab', 'Enter')
    await page.waitForSelector('.notice.done:has-text("Ana Souza")')
    await press(page, 'n')
    await page.waitForURL('**/production/kyc')
  })

  await t.test('a new login takes the place of a key that was lost', async () => {
    await page.evaluate(() => indexedDB.deleteDatabase('console'))
    await page.reload()
    await page.waitForSelector('[role=status]:has-text("does not have the key")')
    await page.click('button.good')
    if (page.url().startsWith(issuer)) await page.click('button[value=carla]')
    await page.waitForURL('**/production/kyc')
  })

  await t.test("the probe comes to the provider's page, as far as a login goes without a browser", async (t) => {
    const { status, headers } = await fetch(`${bed.url}/login/probe`, { redirect: 'manual' })
    t.equal(status, 303)
    t.ok(headers.get('location')?.startsWith(issuer))
    t.equal(headers.get('set-cookie'), null, 'nobody comes back to it')
  })

  await t.test('a login that was cancelled, begun elsewhere or repeated says what to do', async (t) => {
    const other = await newPage()
    await other.goto(`${bed.url}/login`)
    await other.click('button.nobody')
    await other.waitForURL('**/callback?**')
    t.match(await other.textContent('main'), 'cancelled')
    await other.goto(`${bed.url}/callback?code=stolen&state=stolen`)
    t.match(await other.textContent('main'), 'begun in another window')
    await other.goto(`${bed.url}/login`)
    await other.waitForSelector('button.nobody')
    await other.goto(`${bed.url}/callback?code=stolen&state=stolen`)
    t.match(await other.textContent('main'), 'The sign-in failed')
    await other.goto(`${bed.url}/production`)
    t.match(other.url(), /\/sign-in/)
  })

  await t.test('signing out ends the session everywhere: a copied cookie shows and decides nothing', async (t) => {
    await page.goto(`${bed.url}/production`)
    const copy = (await page.context().cookies(bed.url)).map(({ name, value }) => [name, value])
    const thief = new Visitor(bed.url, { cookies: Object.fromEntries(copy) })
    const player = await bed.newPlayer('production')
    const before = await thief.get(`/production/kyc/${player}`)
    t.equal(before.status, 200)
    await page.click('.account summary')
    await page.click('form[action="/sign-out"] button')
    await page.waitForURL(`${issuer}/session/end**`)
    t.same([...new URL(page.url()).searchParams.keys()].sort(), ['client_id', 'post_logout_redirect_uri'])
    await page.goto(`${bed.url}/sign-in`)
    t.same(await keysIn(page), [])
    await page.goto(`${bed.url}/production`)
    t.match(page.url(), /\/sign-in/)

    const action = `/production/kyc/${player}/take`
    for (const shown of [
      await new Visitor(bed.url, { cookies: Object.fromEntries(copy) }).get('/production/kyc'),
      await new Visitor(bed.url, { cookies: Object.fromEntries(copy) }).post(action, formOf(before, action)),
    ])
      t.match(shown, { status: 303, location: /^\/sign-in\?why=ended/ })
  })

  await t.test('who logs out at the provider is logged out here, and a forged token logs out nobody', async (t) => {
    const other = await newPage()
    await other.goto(`${bed.url}/login`)
    await other.click('button[value=felipe]')
    await other.waitForURL('**/production')
    const logoutToken = new URLSearchParams({ logout_token: 'e30.e30.x' })
    const forged = await fetch(`${bed.url}/backchannel-logout`, { method: 'POST', body: logoutToken })
    t.equal(forged.status, 400)
    t.equal((await fetch(`${bed.url}/backchannel-logout`, { method: 'POST' })).status, 400)
    await other.goto(`${bed.url}/production/withdrawals`)
    t.notMatch(other.url(), /\/sign-in/)

    await other.goto(`${issuer}/session/end`)
    await other.click('button[value=yes]')
    await other.waitForURL('**/session/end/success**')
    await other.goto(`${bed.url}/production/withdrawals`)
    t.match(other.url(), /\/sign-in\?why=ended/)
  })

  await t.test('while the provider is away, whoever is signed in works on', async (t) => {
    const other = await newPage()
    await other.goto(`${bed.url}/sign-in`)
    await other.locator('#main [name=returnTo]').evaluate((field: HTMLInputElement) => {
      field.value = '//evil.test/'
    })
    await other.click('button.good')
    await other.click('button[value=carla]')
    await other.waitForURL(`${bed.url}/production`)
    await provider.stop()
    await other.goto(`${bed.url}/production/kyc`)
    t.equal(await other.textContent('h1'), 'Identity checks')
    t.equal((await fetch(`${bed.healthUrl}/readyz`)).status, 200)
  })
})
