// proof: the page of a demonstration in a real browser. games.test.ts shows what the server lets it do.

import { toMinorUnits } from '@backoffice/contracts/formats'
import { noBrowser, startBrowser, violations } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
// @ts-expect-error: the page's script, as the browser loads it. No type checker reads it.
import { preferredLanguage, symbolNames, words } from '../../assets/words.js'
import { shapes } from '../../src/domain/themes.ts'
import { gamesBed } from '../games-bed.ts'

const minuteMs = 60_000

t.test('each word and each symbol has a name in both languages, with the same values in it', async (t) => {
  const valuesIn = (language: string) =>
    Object.entries<string>(words[language]).map(([word, text]) => [word, text.match(/\{\w+\}/g) ?? []])
  t.strictSame(valuesIn('pt-BR'), valuesIn('en'))
  for (const language of Object.keys(words))
    t.strictSame(Object.keys(symbolNames[language]), Object.keys(shapes), language)
})

t.test("the first of the browser's languages that the page speaks is taken, else English", async (t) => {
  t.equal(preferredLanguage(['de', 'pt-PT', 'en']), 'pt-BR')
  t.equal(preferredLanguage(['fr', 'EN-gb', 'pt']), 'en')
  t.equal(preferredLanguage(['constructor']), 'en')
  t.equal(preferredLanguage([]), 'en')
})

t.test('the demonstration game in a real browser', { skip: noBrowser }, async (t) => {
  /** Sessions begin by PostgreSQL's clock; that of the games can be ahead of it. */
  let aheadMs = 0
  const { start, open, newPlayer } = await gamesBed(t, { now: () => new Date(Date.now() + aheadMs) })
  const gamesUrl = await start(t)
  const browser = await startBrowser(t)
  const playerId = await newPlayer()
  const faults: string[] = []

  /** A window at phone width with a new session in it. Whatever the browser complains about is a fault. */
  async function play(gameId: string, options: Parameters<typeof browser.newContext>[0] = {}) {
    const viewport = { width: 390, height: 844 }
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // The browser says so itself when a session has ended.
      if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text())
    })
    const url = `${gamesUrl}${(await open(playerId, gameId)).path}`
    return { context, page, url }
  }
  const begin = async (page: Page, url: string) => {
    await page.goto(url)
    await ready(page)
  }
  const ready = (page: Page) => page.waitForSelector('#spin:not([disabled])')
  const text = async (page: Page, selector: string) => (await page.textContent(selector)) ?? ''

  t.test('it is played by keyboard, and says what was won', async (t) => {
    const { page, url } = await play('amazon-gold', { locale: 'en-GB' })
    await begin(page, url)
    t.equal(await text(page, '#name'), 'Amazon Gold')
    t.equal(await text(page, '#balance'), '1,000.00')
    t.strictSame(await violations(page), [])

    await page.check('input[value="500"]', { force: true })
    await page.focus('#spin')
    let balance = 100_000n
    for (let count = 0; count < 3; count++) {
      await page.keyboard.press('Enter')
      await page.waitForSelector('#message:text-matches("win")')
      await ready(page)
      const [, win = '0.00'] = /^You win (\S+)!$/.exec(await text(page, '#message')) ?? []
      balance += minorUnits(win) - 500n
      t.equal(minorUnits(await text(page, '#balance')), balance)
    }
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
    t.strictSame(await violations(page), [])
  })

  t.test("the session's time counts down, is announced, and ends with what to do", async (t) => {
    const { page, url } = await play('star-miner')
    // Ten minutes behind, which the page has to notice: the server's clock counts.
    await page.clock.install({ time: Date.now() - 10 * minuteMs })
    await begin(page, url)
    const leftSeconds = async () => {
      const [minutes = '', seconds = ''] = (await text(page, '#left')).split(':')
      return Number(minutes) * 60 + Number(seconds)
    }
    t.ok((await leftSeconds()) > 58 * 60)
    t.equal(await text(page, '#notice'), '')
    await page.clock.fastForward(55.5 * minuteMs)
    await page.waitForFunction(
      () => document.getElementById('notice')?.textContent === 'Minutes left in this session: 5',
    )
    t.ok((await leftSeconds()) < 5 * 60)
    // Its own clock may be wrong. Each reply puts it right.
    await page.click('#spin')
    await page.waitForFunction(() => document.getElementById('notice')?.textContent === '')
    await ready(page)
    t.ok((await leftSeconds()) > 58 * 60)

    await page.clock.fastForward(61 * minuteMs)
    await page.waitForSelector('#ended:not([hidden])')
    t.notOk(await page.isVisible('#spin'))
    t.notOk(await page.isVisible('#clock'))
    t.match(await text(page, '#ended'), /has ended.*Your last balance was [\d,.]+\..*open it again on the site/)
    t.strictSame(await violations(page), [])
    await page.click('#language')
    t.match(await text(page, '#ended'), /terminou.*Seu último saldo foi [\d,.]+\..*abra-o de novo no site/)
  })

  t.test('a spin after the end is refused by the server, and a reload then says the same', async (t) => {
    const { page, url } = await play('star-miner')
    await begin(page, url)
    aheadMs = 61 * minuteMs
    t.teardown(() => {
      aheadMs = 0
    })
    await page.focus('#spin')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#ended:not([hidden])')
    t.equal(await page.evaluate(() => document.activeElement?.id), 'ended')
    await page.reload()
    await page.waitForSelector('#ended:not([hidden])')
    t.match(await text(page, '#ended'), /has ended.*open it again on the site/)
    t.equal(await text(page, '#name'), 'Demonstration game')
  })

  t.test('without a connection it says so, and goes on when asked to', async (t) => {
    const { page, url, context } = await play('fortune-reels')
    await context.route('**/play/session', (route) => route.abort())
    await page.goto(url)
    await page.waitForSelector('#again:not([hidden])')
    t.equal(await text(page, '#message'), 'No connection. Try again.')
    t.notOk(await page.isVisible('#spin'))
    await context.unroute('**/play/session')
    await page.click('#again')
    await ready(page)
    t.equal(await text(page, '#name'), 'Fortune Reels')
    t.strictSame(faults.splice(0), ['Failed to load resource: net::ERR_FAILED'])
  })

  t.strictSame(faults, [])
})

const minorUnits = (shown: string) => toMinorUnits(shown.replaceAll(',', ''))
