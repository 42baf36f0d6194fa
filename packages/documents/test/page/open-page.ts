import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface OpenPage {
  readonly page: Page
  readonly requests: string[]
  /** Errors of scripts, and what the Content-Security-Policy stopped. */
  readonly faults: string[]
}

/** A page as somebody sees it who was never here before. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const faults: string[] = []
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto(url)
  return { page, requests, faults }
}

/** One sample stands for all: thousands of coloured words made alike would take axe most of its time. */
const alike = '.sample:not([data-operation=createDeposit]) > pre'

/** What axe finds wrong, by its rules of WCAG 2.2 AA and its best practices. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const { violations: found } = await page.evaluate(
    (exclude) => (globalThis as unknown as { axe: typeof axe }).axe.run({ exclude }),
    alike,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html}`))
}
