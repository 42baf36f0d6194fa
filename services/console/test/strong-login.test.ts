// proof: a second factor at a real provider. verifier.test.ts shows what is refused without it.

import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import t from 'tap'
import { bedWithProvider } from './console-bed.ts'

t.test('the console leads through the stronger login, and tells the command line', { skip: noBrowser }, async (t) => {
  const { bed } = await bedWithProvider(t, { TEAM_STRONG_ACR: 'confirmed' })
  t.match(await (await fetch(`${bed.url}/cli`)).json(), {
    strongLogin: { acrClaim: 'acr', acr: ['confirmed'], amr: [] },
  })
  const player = await bed.newPlayer('sandbox')
  const page = await (await (await startBrowser(t)).newContext({ locale: 'en-GB' })).newPage()
  await page.goto(`${bed.url}/sandbox/players/${player}`)
  await page.click('button.good')
  await page.click('button[value=felipe]')
  await page.waitForURL(`**/players/${player}`)
  const form = page.locator('details.decision', { hasText: 'Adjust the balance' })
  await form.locator('summary').click()
  t.match(await form.textContent(), 'a second factor')
  await form.locator('a.button').click()
  await page.waitForSelector('h1:has-text("Log in once more")')
  await page.check('input[name=confirmed]')
  await page.click('button[value=felipe]')
  await page.waitForURL(`**/players/${player}**`)
  await form.locator('summary').click()
  await form.locator('input[name=amount]').fill('5.00')
  await form.locator('input[name=reference]').fill('ticket-1')
  await form.locator('[name=reason]').fill('goodwill')
  await form.locator('button').click()
  await page.waitForSelector('.notice.done')
})
