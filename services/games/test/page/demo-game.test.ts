// proof: the page of a demonstration in a real browser. games.test.ts shows what the server lets it do.

import { operations } from '@backoffice/contracts'
import { toMinorUnits } from '@backoffice/contracts/formats'
import { noBrowser, startBrowser, violations } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
// @ts-expect-error: the page's script, as the browser loads it. No type checker reads it.
import { preferredLanguage, symbolNames, words } from '../../assets/words.js'
import { shapes } from '../../src/domain/themes.ts'
import { gamesBed, walletBed } from '../games-bed.ts'

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

t.test("the game of the sandbox's wallet in a real browser", { skip: noBrowser }, async (t) => {
  const { start, open, newPlayer, network, statement, balance, alice } = await walletBed(t)
  const gamesUrl = await start(t)
  const browser = await startBrowser(t)
  const faults: string[] = []

  async function play(playerId: string, options: Parameters<typeof browser.newContext>[0] = {}) {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
      ...options,
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(error.message))
    const url = `${gamesUrl}${(await open(playerId)).path}`
    await page.goto(url)
    await ready(page)
    return { page, url, context }
  }
  const ready = (page: Page) => page.waitForSelector('#spin:not([disabled])')
  const text = async (page: Page, selector: string) => (await page.textContent(selector)) ?? ''
  const saying = (page: Page, said: RegExp) => page.waitForSelector(`#message:text-matches("${said.source}")`)
  const shownBalance = async (page: Page) => minorUnits(await text(page, '#balance'))

  t.test('it is played by keyboard for the money of the wallet, and goes on after a reload', async (t) => {
    const playerId = await newPlayer()
    const { page } = await play(playerId, { locale: 'en-GB' })
    t.equal(await text(page, '#name'), 'Wallet Reels')
    t.equal(await text(page, '#badge'), 'Sandbox · balance of the wallet')
    t.equal(await text(page, '#balance'), 'R$50.00')
    t.strictSame(await violations(page), [])
    await page.focus('#spin')
    for (let count = 0; count < 2; count++) {
      await page.keyboard.press('Enter')
      await saying(page, /win/)
      await ready(page)
    }
    await page.reload()
    await ready(page)
    await page.click('#spin')
    await saying(page, /win/)
    await ready(page)
    t.equal((await statement(playerId)).filter(([type]) => type === 'BET').length, 3)
    t.equal(await shownBalance(page), toMinorUnits(await balance(playerId)))
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
    t.strictSame(await violations(page), [])
  })

  t.test('while nobody knows what became of a spin it says so, takes no other, and then shows it', async (t) => {
    const playerId = await newPlayer()
    const { page } = await play(playerId)
    network.fault = 'reply lost'
    await page.click('#spin')
    await saying(page, /^We are asking/)
    t.ok(await page.isDisabled('#spin'))
    network.fault = 'none'
    await saying(page, /win/)
    t.equal(await shownBalance(page), toMinorUnits(await balance(playerId)))
    t.equal((await statement(playerId)).filter(([type]) => type === 'BET').length, 1)
  })

  t.test('a spin that was played in another window is not shown as a new one', async (t) => {
    const playerId = await newPlayer()
    const { page, url, context } = await play(playerId)
    const other = await context.newPage()
    await other.goto(url)
    await ready(other)
    await page.click('#spin')
    await saying(page, /win/)
    await other.click('#spin')
    await saying(other, /another window/)
    t.equal(await shownBalance(other), toMinorUnits(await balance(playerId)))
    await other.click('#spin')
    await saying(other, /win/)
    t.equal((await statement(playerId)).filter(([type]) => type === 'BET').length, 2)
  })

  t.test('too little money is said, and a self-exclusion ends the session, in Portuguese as well', async (t) => {
    const playerId = await newPlayer('2.00')
    const { page } = await play(playerId, { locale: 'pt-BR' })
    await page.check('input[value="500"]', { force: true })
    await page.click('#spin')
    await saying(page, /saldo não cobre/)
    await ready(page)
    const input = { playerId, until: null, reason: 'a test' }
    await alice.call(operations.players.selfExcludePlayer, { input })
    await page.check('input[value="100"]', { force: true })
    await page.focus('#spin')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#ended:not([hidden])')
    t.equal(await page.evaluate(() => document.activeElement?.id), 'ended')
    t.match(await text(page, '#ended'), /terminou.*autoexcluiu.*Seu último saldo foi R\$\s2,00\./)
    t.notMatch(await text(page, '#ended'), 'abra-o de novo')
    t.equal(await balance(playerId), '2.00')
    t.strictSame(await violations(page), [])
  })

  t.strictSame(faults, [])
})

const minorUnits = (shown: string) => toMinorUnits(shown.replaceAll(/[R$,]/g, ''))
