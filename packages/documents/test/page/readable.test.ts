// proof: every page through axe.

import { sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { ViewportSize } from 'playwright-core'
import t from 'tap'
import { pages } from '../../src/index.ts'
import { openPage, violations } from './open-page.ts'

const [desktop, phone] = [
  { width: 1366, height: 900 },
  { width: 390, height: 844 },
]

t.test('axe finds nothing, at either width and in either colours', { skip: noBrowser }, async (t) => {
  const { docsUrl } = await sharedSystem(t)
  const views: [path: string, viewport: ViewportSize, colorScheme: 'light' | 'dark'][] = [
    ['', desktop, 'light'],
    ['', phone, 'dark'],
    ...pages.map(({ path }): [string, ViewportSize, 'light'] => [`/${path}`, phone, 'light']),
    ['/webhooks', desktop, 'dark'],
  ]
  const { page, faults } = await openPage(t, await startBrowser(t), `${docsUrl}/${pages[0]?.path}`)
  for (const [path, viewport, colorScheme] of views) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await page.goto(docsUrl + path)
    // The sections of operations and errors are made alike: all of them in light colours, in dark the first of each.
    if (colorScheme === 'dark')
      await page.evaluate(() => {
        for (const alike of ['.route', '.status'])
          for (const section of [...document.querySelectorAll(`main section:has(${alike})`)].slice(3)) section.remove()
      })
    t.strictSame(await violations(page), [], `/docs${path}, ${viewport.width} wide, ${colorScheme}`)
    if (path !== '/webhooks') continue
    // What stands behind a dialog was looked at.
    await page.evaluate(() => {
      for (const section of document.querySelectorAll('main section ~ section')) section.remove()
    })
    await page.click('#search-open')
    await page.waitForSelector('#search[open]')
    await page.keyboard.type('deposit')
    await page.waitForSelector('#search-results [role=option]')
    t.strictSame(await violations(page), [], 'the search')
    await page.keyboard.press('Escape')
    await page.click('.top button.try')
    t.strictSame(await violations(page), [], 'the tester')
  }
  t.strictSame(faults, [])
})
