// proof: the pages in a real browser. pages.test.ts and documents.test.ts read them.

import { sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import type { BrowserContextOptions, Page, ViewportSize } from 'playwright-core'
import t, { type Test } from 'tap'
import { pages } from '../../src/index.ts'
import { openPage, violations } from './open-page.ts'

const [desktop, phone] = [
  { width: 1366, height: 900 },
  { width: 390, height: 844 },
]
const paths = ['', ...pages.map(({ path }) => `/${path}`)]
const shownIn = (page: Page, sample: string) =>
  page.getAttribute(`.sample[data-sample=${sample}] a[aria-selected=true]`, 'data-language')
/** Runs in the page. */
function brokenWords(): string[] {
  const broken: string[] = []
  for (const code of document.querySelectorAll('main code.long')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      for (const { 0: word, index } of (walker.currentNode as Text).data.matchAll(/[^ /]+/g)) {
        const range = document.createRange()
        range.setStart(walker.currentNode, index)
        range.setEnd(walker.currentNode, index + word.length)
        if (range.getClientRects().length > 1) broken.push(word)
      }
    }
  }
  return broken
}
const samplesOf = (page: Page, language: string) =>
  page.locator(`.sample a[data-language=${language}][aria-selected=true]`).count()

t.test('the documentation in a real browser', { skip: noBrowser }, async (t) => {
  const { docsUrl } = await sharedSystem(t)
  const browser = await startBrowser(t)
  const open = (t: Test, path = '', options: BrowserContextOptions = {}) =>
    openPage(t, browser, docsUrl + path, options)

  t.test('nothing is wider than a phone, and no code that fits is broken', async (t) => {
    const { page } = await open(t, '/sandbox')
    for (const path of paths) {
      await page.setViewportSize({ width: 320, height: 700 })
      await page.goto(docsUrl + path)
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, path)
      const hidden = await page.evaluate(() => {
        const { scrollWidth = 0, clientWidth = 0 } = document.querySelector('.brand') ?? {}
        return scrollWidth - clientWidth
      })
      t.equal(hidden, 0, 'all of the name in the header is seen')
      await page.setViewportSize(phone)
      const broken = await page.evaluate(() =>
        Array.from(document.querySelectorAll('main code:not(.long):not(pre code)'))
          .filter((code) => code.getClientRects().length > 1)
          .map((code) => code.textContent),
      )
      t.strictSame(broken, [])
      t.strictSame(await page.evaluate(brokenWords), [], 'nor a word of a long one, behind a hyphen')
      const scrolls = await page
        .locator('.stacked')
        .evaluateAll((tables) => tables.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length)
      t.equal(scrolls, 0, 'a table that can be stacked shows all its columns')
    }
  })

  t.test('a heading that a link leads to is not below the header, and the contents mark it', async (t) => {
    const { page } = await open(t, '/sandbox')
    for (const viewport of [desktop, phone]) {
      await page.setViewportSize(viewport)
      // From another page: within the page nothing would be loaded.
      await page.goto(`${docsUrl}/sandbox`)
      await page.goto(`${docsUrl}#createdeposit`)
      const top = await page.evaluate(() => document.getElementById('createdeposit')?.getBoundingClientRect().top)
      const header = await page.evaluate(() => document.querySelector('.top')?.getBoundingClientRect().bottom)
      t.ok(Number(top) >= Number(header), `${top} ${header}`)
      await page.waitForSelector('#contents a[href="#createdeposit"][aria-current=location]', { state: 'attached' })
      await page.evaluate(() => document.getElementById('errors')?.scrollIntoView())
      await page.waitForSelector('#contents a[href="#errors"][aria-current=location]', { state: 'attached' })
      t.equal(await page.locator('#contents [aria-current]').count(), 1)
    }
  })

  t.test('a language is chosen once for all samples, by mouse or arrow keys, and remembered', async (t) => {
    const { page, requests, faults } = await open(t)
    const all = await page.locator('.sample').count()
    t.ok(all > 15)
    t.equal(await samplesOf(page, 'curl'), all - 1)
    t.equal(await shownIn(page, 'receive-webhook'), 'node', 'where the shell has no program')
    const fetched = () => requests.filter((entry) => entry.includes('/assets/samples/'))
    t.strictSame(fetched(), [], 'no other language is fetched before it is wanted')
    const deposit = page.locator('.sample[data-sample=createDeposit]')
    const before = await deposit.locator('pre').textContent()
    await deposit.locator('a[data-language=python]').click()
    await page.waitForSelector('.sample[data-sample=getMe] a[data-language=python][aria-selected=true]')
    t.equal(await samplesOf(page, 'python'), all)
    t.match(await page.textContent('.sample[data-sample=receive-webhook] pre'), 'receive_webhook.py')
    t.not(await deposit.locator('pre').textContent(), before)
    await page.keyboard.press('ArrowLeft')
    await page.waitForFunction(() => document.activeElement?.matches('[data-language=client][aria-selected=true]'))
    t.equal(await shownIn(page, 'sign-request'), 'node', 'the client signs by itself')
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(() => document.activeElement?.matches('[data-language=python][aria-selected=true]'))
    t.equal(fetched().length, 2, 'each language is fetched once')
    t.equal(await page.locator('.sample[data-sample=getMe] .tabs a[tabindex="0"]').count(), 1, 'one stop for Tab')
    await page.reload()
    await page.waitForSelector('.sample[data-sample=getMe] a[data-language=python][aria-selected=true]')
    t.equal(await samplesOf(page, 'python'), all)
    t.strictSame(faults, [])
  })

  t.test('code is copied as it stands there, and is printed in full', async (t) => {
    const { page } = await open(t, '', { viewport: phone, permissions: ['clipboard-read', 'clipboard-write'] })
    await page.click('.sample[data-sample=getMe] .copy')
    await page.waitForFunction(
      () => document.querySelector('.sample[data-sample=getMe] .copy')?.textContent === 'Copied',
    )
    t.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      await page.textContent('.sample[data-sample=getMe] pre'),
    )
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
    })
    await page.setViewportSize(desktop)
    await page.emulateMedia({ media: 'print' })
    t.equal(await page.locator('#contents, .top, .tabs, .copy, .try').filter({ visible: true }).count(), 0)
    const hidden = await page.evaluate(
      () =>
        Array.from(document.querySelectorAll('.panel > pre')).filter(
          (pre) => pre.checkVisibility() && pre.scrollHeight > pre.clientHeight + 1,
        ).length,
    )
    t.equal(hidden, 0, 'on paper nothing is hidden, and there is nothing to press')
  })

  t.test('the search is loaded when it is opened, finds the sandbox’s amounts, and leads there', async (t) => {
    const { page, requests, faults } = await open(t, '/webhooks')
    const loaded = () => requests.filter((entry) => /minisearch|search\.js/.test(entry)).length
    t.equal(loaded(), 0)
    await page.keyboard.press('Control+k')
    await page.waitForSelector('#search[open]')
    t.equal(loaded(), 3)
    await page.keyboard.type('xylophone')
    await page.waitForFunction(() => document.getElementById('search-note')?.textContent?.startsWith('Nothing found'))
    await page.fill('#search-text', '1414.14')
    await page.waitForSelector('#search-results [role=option][aria-selected=true]')
    t.match(await page.textContent('#search-results [role=option]'), /Refusals you can provoke.*The sandbox/)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${docsUrl}/sandbox#refusals-you-can-provoke`)
    await page.keyboard.press('/')
    await page.waitForSelector('#search[open]')
    // Signs are searched for as they are, also in a browser without RegExp.escape.
    await page.evaluate(() => Reflect.deleteProperty(RegExp, 'escape'))
    await page.fill('#search-text', 't=')
    await page.waitForSelector('#search-results mark:text("t=")')
    await page.keyboard.press('Escape')
    t.notOk(await page.isVisible('#search'))
    t.strictSame(faults, [])
  })

  t.test('without JavaScript the pages are whole', async (t) => {
    const { page } = await open(t, '', { viewport: phone, javaScriptEnabled: false })
    t.match(await page.textContent('noscript'), 'need JavaScript')
    t.notOk(await page.locator('.script, .try').filter({ visible: true }).count(), 'what needs a script is not there')
    t.ok(await page.isVisible('#errors'))
    t.match(await page.textContent('.sample[data-sample=createDeposit] pre'), 'openssl')
    await page.click('.sample[data-sample=createDeposit] a[data-language=python]')
    t.equal(page.url(), `${docsUrl}/languages/python#createdeposit`)
    t.match(await page.textContent('.sample[data-sample=createDeposit] pre'), 'import')
    await page.click('.menu')
    await page.click('#contents >> text=The sandbox >> nth=-1')
    t.equal(page.url(), `${docsUrl}/sandbox`)
    t.match(await page.textContent('main'), '1414.14')
  })

  t.test('axe finds nothing, at either width and in either colours', async (t) => {
    const views: [path: string, viewport: ViewportSize, colorScheme: 'light' | 'dark'][] = [
      ['', desktop, 'light'],
      ['', phone, 'dark'],
      ...pages.map(({ path }): [string, ViewportSize, 'light'] => [`/${path}`, phone, 'light']),
      ['/webhooks', desktop, 'dark'],
    ]
    const { page, faults } = await open(t, '/sandbox')
    for (const [path, viewport, colorScheme] of views) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await page.goto(docsUrl + path)
      // The sections of operations and errors are made alike: all of them in light colours, in dark the first of each.
      if (colorScheme === 'dark')
        await page.evaluate(() => {
          for (const alike of ['.route', '.status'])
            for (const section of [...document.querySelectorAll(`main section:has(${alike})`)].slice(3))
              section.remove()
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
})
