import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { testBed } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'
import { newPlayer } from '../new-player.ts'

t.test(
  'the demonstration game in a real browser: played by keyboard, at phone width, and over when its session is',
  { skip: noBrowser },
  async (t) => {
    let now = new Date()
    const bed = await testBed(
      t,
      { players, wallet, payments },
      { clock: { now: () => now }, config: { players: { GAMES_HOST: '127.0.0.1' } } },
    )
    const scope = bed.scope()
    const { id: playerId } = await bed.rpc.call(operations.players.registerPlayer, { scope, input: newPlayer() })
    await bed.team('alice').call(operations.players.decideKyc, { input: { playerId, status: 'aprovado' } })
    const { gameUrl } = await bed.rpc.call(operations.players.openGameSession, {
      scope,
      input: { playerId, gameId: 'amazon-gold' },
    })

    const browser = await startBrowser(t)
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(gameUrl)
    await page.waitForSelector('#spin:not([disabled])')
    t.equal(await page.textContent('#name'), 'Amazon Gold')
    t.equal(await page.textContent('#balance'), '1000.00')
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)

    await page.focus('#spin')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => /win/i.test(document.getElementById('message')?.textContent ?? ''))
    t.not(await page.textContent('#balance'), '1000.00')

    now = new Date(now.getTime() + 2 * 3_600_000)
    await page.waitForSelector('#spin:not([disabled])')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => /expired/.test(document.getElementById('message')?.textContent ?? ''))
    t.ok(await page.isDisabled('#spin'))
    t.strictSame(faults, [])
  },
)
