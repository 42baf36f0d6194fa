// proof: decides as many cases as somebody does in a day, in a real browser, and says how long that takes.

import { freePort } from '@backoffice/dev-stack'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { consoleBed, windowOf } from './console-bed.ts'

t.setTimeout(300_000)

/** Presses keys, and counts them. Text that is typed is no key: a decision wants its reason however it is made. */
function typist(page: Page) {
  let keys = 0
  return {
    async press(...pressed: readonly string[]): Promise<void> {
      keys += pressed.length
      for (const key of pressed) await page.keyboard.press(key)
    },
    keys: () => keys,
  }
}

t.test('a day of cases takes no click, and no more than four keys a case', { skip: noBrowser }, async (t) => {
  const port = String(await freePort())
  const bed = await consoleBed(t, { CONSOLE_URL: `http://127.0.0.1:${port}`, CONSOLE_PORT: port })
  const browser = await startBrowser(t)

  await t.test('thirty identity checks, of which six are refused', async (t) => {
    const names = Array.from({ length: 30 }, (_, index) => `Ana Souza ${String(index + 1).padStart(2, '0')}`)
    for (const name of names) await bed.newPlayer('production', name)
    const page = await windowOf(bed, browser, 'carol')
    const { press, keys } = typist(page)
    const began = performance.now()
    await page.goto(`${bed.url}/production/kyc`)
    await press('j', 'Enter')
    for (const [index, name] of names.entries()) {
      await page.waitForSelector(`h1:has-text("${name}")`)
      await press(index % 5 === 4 ? 'r' : 'a')
      await page.keyboard.type('The document is clear')
      await press('Tab', 'Enter')
      await page.waitForSelector(`.notice.done:has-text("${name}")`)
      await press('n')
    }
    await page.waitForURL('**/production/kyc')
    t.comment(`${keys()} keys, no click, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    t.ok(keys() <= 122)
    t.notOk(await page.isVisible('tbody tr'), 'nobody waits any more')
  })

  await t.test('twenty withdrawals are approved', async (t) => {
    const ids = []
    for (let index = 0; index < 20; index++)
      ids.push(await bed.newWithdrawal('production', await bed.newPlayer('production', `Davi Melo ${index}`)))
    const page = await windowOf(bed, browser, 'alice')
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
})
