import { existsSync } from 'node:fs'
import { patiently } from '@backoffice/process'
import type axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Teardown, unlessRequired } from './started.ts'

/** The first is the same browser without its own windows and menus, and takes two thirds of the processor's time. */
const [leanPath, wholePath] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const executablePath = process.env.CHROMIUM ?? (existsSync(leanPath) ? leanPath : wholePath)

/** Why a test that needs a browser is skipped; false where there is one. With REQUIRE_TEST_TOOLS=true it fails instead. */
export const noBrowser: string | false = unlessRequired(
  existsSync(executablePath)
    ? false
    : `no browser at ${executablePath} (Debian: apt-get install chromium-headless-shell; elsewhere set CHROMIUM)`,
)

/** What a page does not show by then does not come: longer than a call takes that nobody answers. */
const waitMs = 60_000

/** Starts the machine's own Chromium, which ends with `t`. It calls nobody on its own account. */
export async function startBrowser(t: Teardown): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet]
  // Loaded on first use: the beds of most pages have no browser.
  const { chromium } = await import('playwright-core')
  const browser = patient(await chromium.launch({ executablePath, args, timeout: patiently(waitMs) }))
  t.teardown(() => browser.close())
  return browser
}

/** Playwright's own limits are the same on every machine. */
function patient(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(patiently(waitMs))
    return context
  }
  return browser
}

/** Those whose pages come with axe by now: it is half a megabyte, which need not be sent to each page. */
const equipped = new WeakSet<BrowserContext>()

/**
 * What of a page breaks a rule of WCAG 2.2 AA or a best practice of axe, as `rule: element and its HTML`.
 * @param rules only these, where all were looked at before and something has changed since
 */
export async function violations(page: Page, rules: readonly string[] = []): Promise<readonly string[]> {
  const context = page.context()
  const { source } = (await import('axe-core')).default
  if (!equipped.has(context)) await context.addInitScript(source)
  equipped.add(context)
  // A page's Content-Security-Policy does not hold for what the test evaluates in it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source)
  // What a page does after it was laid out, such as to make focusable what scrolls, is done when the next frame begins.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  return page.evaluate(
    async (only) => {
      // Only what is broken, since all that axe looked at is long, and would be carried here.
      const options = { resultTypes: ['violations' as const], ...(only.length === 0 ? {} : { runOnly: only }) }
      const { violations: found } = await (globalThis as unknown as { axe: typeof axe }).axe.run(options)
      return found.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html}`))
    },
    [...rules],
  )
}
