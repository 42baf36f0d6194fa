import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import t from 'tap'
import { gamesBed } from '../games-bed.ts'

t.test(
  'the demonstration game in a real browser: played by keyboard, at phone width, and over when its session is',
  { skip: noBrowser },
  async (t) => {
    let now = new Date()
    const { start, open, newPlayer } = await gamesBed(t, { now: () => now })
    const gamesUrl = await start(t)
    const { path } = await open(await newPlayer(), 'amazon-gold')

    const browser = await startBrowser(t)
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(`${gamesUrl}${path}`)
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
