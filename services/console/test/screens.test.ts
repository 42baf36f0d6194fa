// proof: every page through axe, at six widths and in two colours.

import { operations } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import { noBrowser, violations } from '@backoffice/test-kit/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { browserBed, type ConsoleBed } from './console-bed.ts'
import { everyForm } from './every-form.ts'

t.test('the console on every screen', { skip: noBrowser }, async (t) => {
  const { bed, windowOf } = await browserBed(t, { CONSOLE_REQUESTS_PER_MINUTE: '10000' })

  await t.test('a reconciliation that was started shows its result when it has ended, without a click', async (t) => {
    const page = await windowOf('alice')
    await page.goto(`${bed.url}/production/reconcile`)
    await page.click('summary:has-text("Run over everything")')
    await page.click('.decision[open] button')
    await page.waitForSelector('.notice.done:has-text("Everything agrees.")')
    t.match(page.url(), /\/production\/reconcile(\/opn_\w+)?$/)
  })

  await t.test('every page is readable, in light and in dark, by whoever reads it', async (t) => {
    // So that there are records in each state.
    await everyForm(bed, ['Aurora', 'Boreal'])
    // Colours change at once, so that axe sees none on its way.
    const page = await windowOf('alice', { reducedMotion: 'reduce' })
    for (const path of await everyPage(bed)) {
      await page.emulateMedia({ colorScheme: 'light' })
      await open(page, bed, path)
      await page.evaluate(() => {
        for (const folded of document.querySelectorAll('details')) folded.open = true
      })
      t.strictSame(await violations(page), [], path)
      t.strictSame(await page.evaluate(sameNames), [], `${path}: no two columns of a list have one name`)
      t.strictSame(await page.evaluate(bareSigns), [], `${path}: what is empty says what that means`)
      t.strictSame(await page.evaluate(idsAlone), [], `${path}: no id stands alone that has a name`)
      // A tablet has the least room for a list before its rows become cards. The last is the smallest phone.
      for (const width of [1_366, 1_100, 820, 768, 390, 320]) {
        await page.setViewportSize({ width, height: 800 })
        t.strictSame(await page.evaluate(tooWide), [], `${path} at ${width}`)
      }
      t.strictSame(await page.evaluate(nameless), [], `${path}: what has a name beside it on a phone shows it`)
      await page.emulateMedia({ colorScheme: 'dark' })
      t.strictSame(await violations(page, ['color-contrast', 'target-size']), [], `${path} in dark, on a phone`)
      await page.setViewportSize({ width: 1_366, height: 800 })
    }
  })

  await t.test('the counts change by themselves', async (t) => {
    await bed.newPlayer('sandbox')
    const page = await windowOf('alice')
    await page.goto(`${bed.url}/sandbox`)
    await page.waitForSelector('.pages [data-count=kyc]:not(:empty)')
    t.equal(await page.textContent('.pages [data-count=kyc]'), await page.textContent('.number[data-count=kyc]'))
  })

  await t.test(
    'a tablet shows fifteen rows of a compact list at once, its amounts on one line, also without scripts',
    async (t) => {
      const page = await windowOf('alice', {
        viewport: { width: 768, height: 1_024 },
        javaScriptEnabled: false,
      })
      const playerId = await bed.newPlayer('sandbox')
      const scope = bed.bed.scope({ environment: 'sandbox' })
      for (let index = 0; index < 15; index += 1) {
        const input = { playerId, amount: `${10 ** (index % 4)}.00`, currency: 'BRL', method: 'pix' }
        const externalReference = `bank-${index}`
        await bed.bed.rpc.call(operations.payments.createDeposit, { scope, input: { ...input, externalReference } })
      }
      await page.goto(`${bed.url}/sandbox/deposits?player=${playerId}`)
      await page.click('.account summary')
      await page.click('button[value=compact]')
      const amounts = page.locator('tbody .money')
      t.equal(await amounts.count(), 15)
      const boxes = await amounts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect()))
      t.ok(boxes.every(({ bottom }) => bottom < 1_024))
      const edge = (await page.locator('tfoot .money').boundingBox()) ?? { x: 0, width: 0 }
      for (const { right } of boxes) t.equal(Math.round(right), Math.round(edge.x + edge.width))
    },
  )

  await t.test('on a phone the filter is folded until it is opened or set, also without scripts', async (t) => {
    const page = await windowOf('alice', {
      viewport: { width: 390, height: 800 },
      javaScriptEnabled: false,
    })
    await page.goto(`${bed.url}/production/deposits`)
    t.notOk(await page.isVisible('#filter-state'))
    await page.click('.fold summary')
    await page.selectOption('#filter-state', 'failed')
    await page.click('.filter button')
    await page.waitForURL('**state=failed**')
    t.equal(await page.inputValue('#filter-state'), 'failed')
    t.ok(await page.isVisible('#filter-state'))
    await page.goto(`${bed.url}/production/statement`)
    t.ok(await page.isVisible('#filter-operator'), 'without it nothing is shown')
  })
})

/** A search has no address. */
async function open(page: Page, { url }: ConsoleBed, path: string): Promise<void> {
  const [, text] = /search\?q=(.*)/.exec(path) ?? []
  await page.goto(`${url}${text === undefined ? path : '/production'}`)
  if (text === undefined) return
  await page.fill('#search', text)
  await page.press('#search', 'Enter')
  await page.waitForURL('**/production/search')
}

async function everyPage(bed: ConsoleBed): Promise<readonly string[]> {
  const team = bed.bed.team('bob')
  const name = 'Maria Eduarda de Albuquerque Figueiredo Cavalcanti Neto'
  const playerId = await bed.newPlayer('production', name, `documents-${'0123456789'.repeat(6)}`)
  await team.call(operations.players.takeKycCase, { input: { playerId } })
  const destination = `${'someone.with.a.long.name'.repeat(2)}@example.com`
  const withdrawalId = await bed.newWithdrawal('production', await bed.newPlayer('production'), destination)
  // So that the names of others who are paid to it are on the pages.
  for (const other of [name, name.toUpperCase(), 'Ana'])
    await bed.newWithdrawal('production', await bed.newPlayer('production', other), destination)
  const operator = { name: `operator-${playerId}`.replaceAll('_', '-').slice(0, 40) }
  const { operatorId } = await team.call(operations.gateway.createOperator, { input: operator })
  await bed.bed.sql('gateway').query(
    `insert into homologation_proof values ($1, 'signedRequest', now(), 'req_01jf0000000000000000000000', now()),
      ($1, 'webhookTested', now(), 'dlv_01jf0000000000000000000000', now())`,
    [operatorId],
  )
  const proposalId = await bed.newProposal(playerId)
  const { data: deposits } = await team.call(operations.payments.listDeposits, { input: { limit: 1 } })
  const [deposit] = deposits
  // So that there is a difference to look at.
  const admin = bed.bed.sql('admin')
  await admin.query('update wallet.account set posted = posted + 1 where owner_id = $1', [deposit?.playerId])
  const { runId } = await team.call(operations.reconciler.reconcileWallet, { input: { full: true } })
  await eventually(
    async () => (await team.call(operations.reconciler.reconcileWallet, { input: { runId } })).state === 'done',
  )
  await admin.query('update wallet.account set posted = posted - 1 where owner_id = $1', [deposit?.playerId])
  const waiting = ['', '/kyc', `/kyc/${playerId}`, '/withdrawals', '/withdrawals?status=approved', '/withdrawals/pay']
  const records = [`/players/${playerId}`, `/withdrawals/${withdrawalId}`, `/proposals/${proposalId}`]
  const one = `/operators/${operatorId}`
  const integration = ['/operators', '/operators/new', one, `${one}/homologation`]
  const webhooks = ['/deliveries', '/set-aside', '/endpoints']
  const deposited = ['/deposits?state=confirmed&operator=nobody', '/deposits?firstDay=2020-01-01']
  const reconciled = ['/reconcile', `/reconcile/${runId}`]
  const money = [`/deposits/${deposit?.id}`, `/players/${deposit?.playerId}/entries`, '/withdrawals?status=all']
  const others = ['/sessions', '/people?role=integration', '/proposals', '/proposals?state=decided', '/audit?reads=yes']
  const searches = ['/players', '/search?q=nothing', '/search?q=Maria', '/search/players']
  const statement = [`/statement?operator=${operator.name}&period=lastMonth`]
  const play = await playPages(bed)
  const lists = [
    play,
    waiting,
    records,
    integration,
    webhooks,
    deposited,
    reconciled,
    money,
    others,
    searches,
    statement,
  ]
  const inSandbox = ['', '/endpoints', '/deliveries?operator=Aurora'].map((path) => `/sandbox${path}`)
  return [...lists.flat().map((path) => `/production${path}`), ...inSandbox, '/sign-in?why=over', '/nowhere']
}

/** Of what the forms were made for. */
async function playPages({ bed }: ConsoleBed): Promise<readonly string[]> {
  const team = bed.team('bob')
  const { listHeldWins, listRounds } = operations.wallet
  const [{ data: rounds }, { data: wins }] = await Promise.all([
    team.call(listRounds, { input: { limit: 1 } }),
    team.call(listHeldWins, { input: { limit: 1 } }),
  ])
  const [round, win] = [rounds[0], wins[0]]
  const provider = `/providers/${round?.providerId}`
  const lists = ['/rounds', '/rounds?view=open', '/held-wins', '/play-days', '/play-days?operator=Aurora', '/providers']
  const held = `provider=${win?.providerId}&brand=${win?.brandId}&transaction=${win?.transactionId}`
  const records = [`/rounds/${round?.id}`, provider, `${provider}/brands/${round?.brandId}`, `/held-wins/one?${held}`]
  return [...lists, ...records, '/providers/new', '/games', '/games/wallet-reels']
}

/** Runs in the page. */
const sameNames = (): readonly string[] =>
  [...document.querySelectorAll('thead')].flatMap((head) => {
    const names = [...head.querySelectorAll('th')].map(({ textContent }) => textContent)
    return names.filter((name, index) => names.indexOf(name) !== index)
  })

/** Runs in the page: cells that a phone shows without the name of their column, which it is to show. */
const nameless = (): readonly string[] =>
  [...document.querySelectorAll<HTMLElement>('td.named:not(:first-child, :has(.nothing), .less)')]
    .filter((cell) => getComputedStyle(cell, '::before').position !== 'static')
    .map(({ dataset }) => dataset.label ?? '')

/** Runs in the page: a dash may mean no limit, not yet, or not known. */
const bareSigns = (): readonly string[] =>
  [...document.querySelectorAll('.nothing')]
    .filter(({ textContent }) => textContent === '–')
    .map((one) => one.closest('[data-label]')?.getAttribute('data-label') ?? one.closest('div')?.textContent ?? '')

/** Runs in the page: cells of lists that have nothing but the id of somebody who has a name. */
const idsAlone = (): readonly string[] =>
  [...document.querySelectorAll('td')].flatMap(({ textContent, dataset }) => {
    const text = textContent?.trim() ?? ''
    // A reference is the operator's own. Of most operators of this test the gateway does not know the brand, so names are missing.
    const isKnown = dataset.label !== 'Reference' && dataset.label !== 'Operator'
    return isKnown && /^(ply|op|prv|brd)_[0-9a-z]{26}$/.test(text) ? [`${dataset.label}: ${text}`] : []
  })

/** Runs in the page: whether it is scrolled sideways, or one of its lists, and texts that cover the cell beside theirs. */
function tooWide(): readonly string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  const lists = [...document.querySelectorAll('.list')].filter((list) => list.scrollWidth > list.clientWidth)
  const cells = [...document.querySelectorAll('td, dd')].filter((cell) => {
    const text = document.createRange()
    text.selectNodeContents(cell)
    return text.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1
  })
  return [
    ...(scrollWidth > clientWidth ? [`the page: ${scrollWidth} in ${clientWidth}`] : []),
    ...lists.map((list) => `a list: ${list.scrollWidth} in ${list.clientWidth}`),
    ...cells.map((cell) => `a cell: ${cell.textContent}`),
  ]
}
