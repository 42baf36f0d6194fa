import { join } from 'node:path'
import { identityEnvironment, identitySettings, startIdentityProvider } from '@backoffice/dev-stack'
import { gateway } from '@backoffice/gateway'
import { temporaryFolder } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import t from 'tap'
import { consoleBed, formOf, Visitor } from './console-bed.ts'

t.test('signing in at a real identity provider, in a real browser', { skip: noBrowser }, async (t) => {
  const dir = temporaryFolder(t)
  const secret = 'secret-of-the-console'
  const file = join(dir, 'identity.json')
  const identity = await identitySettings(file, secret)
  const provider = await startIdentityProvider(file, identity, join(dir, 'identity.log'))
  t.teardown(() => provider.stop())
  const { url, port } = identity.console
  const bed = await consoleBed(
    t,
    { CONSOLE_URL: url, CONSOLE_PORT: String(port), CONSOLE_CLIENT_SECRET: secret },
    identityEnvironment(identity.issuer, url),
    { gateway },
  )
  const browser = await startBrowser(t)
  const newPage = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()
  const page = await newPage()

  await t.test('whoever comes is sent to sign in, and then to where they wanted to go', async (t) => {
    await page.goto(`${bed.url}/sandbox/kyc`)
    await page.click('a.good')
    await page.click('button[value=carla]')
    await page.waitForURL('**/sandbox/kyc')
    t.equal(await page.textContent('.account .name'), 'carla')
    await page.goto(`${bed.url}/production`)
    t.strictSame(await page.locator('.roles .status').allTextContents(), ['compliance'])
  })

  await t.test('the session key is no secret of the browser: scripts see no cookie', async (t) => {
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

  await t.test('logging in again proves anew who somebody is, and comes back', async (t) => {
    await page.goto(`${bed.url}/login?again=yes&returnTo=${encodeURIComponent('/production/kyc')}`)
    t.match(await page.textContent('h1'), 'Log in once more')
    await page.click('button[value=carla]')
    await page.waitForURL('**/production/kyc')
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
    await other.goto(`${bed.url}/callback?code=stolen&state=stolen`)
    t.match(await other.textContent('main'), 'The sign-in failed')
    await other.goto(`${bed.url}/production`)
    t.match(other.url(), /\/sign-in/)
  })

  await t.test('signing out ends the session everywhere: a copied cookie shows and decides nothing', async (t) => {
    await page.goto(`${bed.url}/production`)
    const copy = (await page.context().cookies(bed.url)).map(({ name, value }) => [name, value])
    const thief = new Visitor(bed.url, Object.fromEntries(copy))
    const player = await bed.newPlayer('production')
    const before = await thief.get(`/production/kyc/${player}`)
    t.equal(before.status, 200)
    await page.click('.account summary')
    await page.click('form[action="/sign-out"] button')
    await page.waitForURL(`${identity.issuer}/session/end**`)
    t.same([...new URL(page.url()).searchParams.keys()].sort(), ['client_id', 'post_logout_redirect_uri'])
    await page.goto(`${bed.url}/production`)
    t.match(page.url(), /\/sign-in/)

    const action = `/production/kyc/${player}/take`
    for (const shown of [
      await new Visitor(bed.url, Object.fromEntries(copy)).get('/production/kyc'),
      await new Visitor(bed.url, Object.fromEntries(copy)).post(action, formOf(before, action)),
    ])
      t.match(shown, { status: 303, location: /^\/sign-in\?why=ended/ })
  })

  await t.test('while the provider is away, whoever is signed in works on', async (t) => {
    const other = await newPage()
    await other.goto(`${bed.url}/login`)
    await other.click('button[value=carla]')
    await other.waitForURL('**/production')
    await provider.stop()
    await other.goto(`${bed.url}/production/kyc`)
    t.equal(await other.textContent('h1'), 'Identity checks')
    t.equal((await fetch(`${bed.healthUrl}/readyz`)).status, 200)
  })
})
