import type { Teardown } from '@backoffice/test-kit'
import { violations as violationsOf } from '@backoffice/test-kit/browser'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface OpenPage {
  readonly page: Page
  readonly requests: string[]
  /** Errors of scripts, and what the Content-Security-Policy stopped. */
  readonly faults: string[]
}

/** A page as somebody sees it who was never here before. It is closed with `t`. */
export async function openPage(
  t: Teardown,
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, ...options })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const requests: string[] = []
  const faults: string[] = []
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto(url)
  return { page, requests, faults }
}

/** What of a page of the documentation breaks a rule of WCAG 2.2 AA. */
export async function violations(page: Page): Promise<readonly string[]> {
  // One sample stands for all: thousands of coloured words, made alike, would take axe most of its time.
  await page.evaluate(() => {
    for (const code of document.querySelectorAll('.panel:not([data-sample=createDeposit]) code'))
      code.replaceChildren(`${code.textContent}`)
  })
  return violationsOf(page)
}
