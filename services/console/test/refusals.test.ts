// proof: refuses every form of every page in a browser.
// In a process of its own: in the end it is patient no more.

import { allOperations, operations } from '@backoffice/contracts'
import { bePatient } from '@backoffice/process'
import { inLanes, newCpf } from '@backoffice/test-kit'
import { noBrowser } from '@backoffice/test-kit/browser'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { browserBed, logIn } from './console-bed.ts'
import { type Case, everyForm, reason } from './every-form.ts'

/** What people do on the command line alone. */
const onCommandLine = [
  ...['rewrapSecrets', 'rewrapWebhookSecrets', 'sealStoredData', 'setGameAvailability', 'anonymisePlayer'],
  ...['endCommand', 'recordRestore', 'endProviderSession'],
]

/** Some forms take a login of the last five minutes, and a slow machine does not open all within them: so many for each login. */
const formsOfLogin = 15

t.test('refusals', { skip: noBrowser }, async (t) => {
  const { bed, windowOf } = await browserBed(t, { CONSOLE_REQUESTS_PER_MINUTE: '10000' })
  const cases = await everyForm(bed, ['Aurora', 'Boreal'])
  const open = async (page: Page, { page: path, form, fill = {} }: Case) => {
    // Each open page holds a connection for its counts, and a browser has six. A route would turn its cache off.
    await page.addInitScript('globalThis.EventSource = class extends EventTarget { close() {} }')
    await page.goto(`${bed.url}${path}`)
    const at = withoutQuery(`${path}/${form}`)
    const shown = page.locator(`form[action="${at}"], form[action^="${at}?"]`)
    const details = page.locator('details.decision', { has: shown })
    if (!(await details.evaluate((element: HTMLDetailsElement) => element.open)))
      await details.locator('summary').click()
    for (const [name, text] of Object.entries(fill)) {
      const field = shown.locator(`[name="${name}"]`)
      await field.evaluate((element) => element.removeAttribute('maxlength'))
      await field.fill(text)
    }
    return shown
  }
  const seen = new Map<string, string>()

  await t.test('each form says why it is refused, where one sees it, and keeps what was typed', async (t) => {
    const newWindow = () => windowOf('alice', { locale: 'pt-BR' })
    let page = await newWindow()
    for (const [index, one] of cases.entries()) {
      if (index > 0 && index % formsOfLogin === 0) {
        await page.context().close()
        page = await newWindow()
      }
      const name = `${one.page} ${one.form}`
      const form = await open(page, one)
      for (const { action, operation } of await formsOn(page)) seen.set(shapeOf(action), operation)
      if (one.onlyAway) continue
      const [before, id] = [await typed(form), await operationId(form)]
      await one.meanwhile?.()
      await form.locator('button').click()
      await page.waitForSelector('#main [data-outcome]')
      await page.waitForFunction(() => document.activeElement?.matches('[data-outcome]'))
      const notice = await outcome(page)
      t.match(notice, { isVisible: true, isInSight: true, role: 'alert', text: /^Não foi feito\. / }, name)
      t.notMatch(notice.text, /\{"|[\^\\]|Nothing|must|is required/, name)
      // Where somebody else was faster, the form may be gone, and there is nothing to be typed in it.
      if (one.meanwhile !== undefined) continue
      t.strictSame(await typed(form), before, `${name} keeps what was typed`)
      t.not(await operationId(form), id, `${name}: nothing was done, so it is another try`)
      t.ok(await form.isVisible(), name)
    }
  })

  await t.test('no form of these pages, and no operation of the team, is left out', async (t) => {
    const refused = new Set(cases.map(({ page, form }) => shapeOf(`${page}/${form}`)))
    t.strictSame(
      [...seen.keys()].filter((shape) => !refused.has(shape)),
      [],
    )
    const inForms = new Set(seen.values())
    const changing = allOperations.filter(({ audience, kind }) => audience === 'team' && kind !== 'query')
    const names = (those: typeof changing) => [...new Set(those.map(({ id }) => id))].sort()
    // A proposal is declined at the service that keeps it.
    const without = changing.filter(({ service, id }) => !inForms.has(`${service}.${id}`) && id !== 'declineProposal')
    t.strictSame(names(without), onCommandLine.toSorted())
  })

  await t.test('an answer that is lost: the same form acts once', async (t) => {
    const withdrawalId = await bed.newWithdrawal('production', await bed.newPlayer('production'))
    const page = await windowOf('alice')
    const form = await open(page, { page: `/production/withdrawals/${withdrawalId}`, form: 'approve' })
    const id = await operationId(form)
    const address = '**/approve'
    for (const lose of ['abort', 'bad gateway'] as const) {
      await page.route(address, async (route) => {
        await route.fetch({ maxRedirects: 0 })
        await (lose === 'abort' ? route.abort() : route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }))
      })
      await form.locator('button').click()
      await page.waitForFunction(() => document.activeElement?.matches('[data-unknown]'))
      t.match(await outcome(page, '[data-unknown]'), {
        ...{ isVisible: true, isInSight: true, role: 'alert' },
        text: /^Not known whether it was done\. Nobody answered\. Try again: it acts once\./,
      })
      t.equal(await form.locator('button').textContent(), 'Try again')
      t.equal(await operationId(form), id, lose)
      await page.unroute(address)
    }
    await form.locator('button').click()
    await page.waitForSelector('.notice.done')
    const { transitions } = await bed.showWithdrawal(withdrawalId)
    t.strictSame(
      transitions.map(({ to }) => to),
      ['under_review', 'approved'],
    )
  })

  await t.test('a session that has ended: what was typed is there after the login, for who typed it', async (t) => {
    const path = `/production/players/${await bed.newPlayer('production')}`
    for (const next of ['carol', 'bob'] as const) {
      const page = await windowOf('carol')
      const form = await open(page, { page: path, form: 'adjust', fill: { amount: '1,234.5', reason } })
      await page.context().clearCookies()
      await form.locator('button').click()
      await page.waitForURL(`**/sign-in?returnTo=${encodeURIComponent(path)}`)
      await page.context().addCookies(await logIn(bed, page, next))
      await page.goto(`${bed.url}${path}`)
      if (next === 'bob') t.equal(await page.inputValue('#adjust-reason'), '', 'nobody else reads it')
      else {
        t.match(await outcome(page, '.said .notice'), { isVisible: true, role: 'status', text: /is here again/ })
        t.equal(await page.inputValue('#adjust-amount'), '1,234.5')
        t.equal(await page.inputValue('#adjust-reason'), reason)
      }
      t.equal(await page.evaluate(() => sessionStorage.getItem('typed')), null)
      await page.context().close()
    }
  })

  await t.test('an amount is read as its language writes it, and said before it is sent', async (t) => {
    const playerId = await bed.newPlayer('production')
    const page = await windowOf('alice', { locale: 'pt-BR' })
    const adjust = { page: `/production/players/${playerId}`, form: 'adjust' }
    const form = await open(page, { ...adjust, fill: { amount: '-1.210,5', reference: 'ticket-10', reason } })
    t.equal(await form.locator('.echo').textContent(), '− R$ 1.210,50, tirado do jogador'.replace('$ 1', '$\u00a01'))
    await form.locator('[name=amount]').fill('10.50')
    await form.locator('button').click()
    await page.waitForFunction(() => document.activeElement?.matches('[data-outcome]'))
    t.match((await outcome(page)).text, /Valor: Isto não pode ser lido com certeza\. Escreva um valor como 10,50/)
    const isRead = 'Isto não pode ser lido com certeza'
    t.equal((await page.locator('#main').innerText()).split(isRead).length - 1, 2, 'once for eyes, once for ears')
    t.equal(await form.locator('[name=_proof]').inputValue(), '', 'nothing was signed')
    await form.locator('[name=amount]').fill('10,50')
    t.equal(await form.locator('.echo').textContent(), '+ R$\u00a010,50, dado ao jogador')
    await form.locator('button').click()
    await page.waitForSelector('.notice.waits')
    const { data } = await bed.bed.team('bob').call(operations.wallet.listProposals, { input: { limit: 1 } })
    t.match(data[0]?.input, { playerId, amount: '10.50', reference: 'ticket-10' })
  })

  await t.test('nobody is excluded by a field that is empty, and the button says for how long', async (t) => {
    const playerId = await bed.newPlayer('production', 'Davi Melo', 'doc-1', undefined, newCpf())
    const page = await windowOf('alice')
    const form = await open(page, { page: `/production/players/${playerId}`, form: 'exclude', fill: { reason } })
    await form.locator('button').click()
    await page.waitForFunction(() => document.activeElement?.matches('[data-outcome]'))
    t.match((await outcome(page)).text, /Until: Choose one\./)
    for (const [label, button] of [
      ['For 1 month', /^Exclude until \d\d\/\d\d\/\d{4}/],
      ['Until…', /^Exclude at the player’s wish$/],
      ['For good', /^Exclude for good$/],
    ] as const) {
      await form.getByRole('radio', { name: label }).check()
      t.match(await form.locator('button').textContent(), button)
    }
    await form.locator('button').click()
    await page.waitForSelector('.notice.done')
    const { selfExclusion } = await bed.bed.team('bob').call(operations.players.showPlayer, { input: { playerId } })
    t.match(selfExclusion, { until: null })
  })

  await t.test('a page that cannot be shown says so in words, with the menu', async (t) => {
    const compliance = await bed.visitor('finance')
    for (const [path, title, says] of [
      ['/production/kyc', 'You may not see this', 'This takes the role compliance, support, or auditor.'],
      ['/production/nowhere', 'There is no such page', 'Its address may be wrong'],
      ['/sandbox/players/ply_nobody', 'There is no such page', 'There is no such player.'],
    ] as const) {
      const { text } = await compliance.get(path)
      t.ok(text.includes(`<h1>${title}</h1>`), path)
      t.ok(text.includes(says), path)
      t.match(text, '<nav class="pages"')
      t.notMatch(text.split('<main')[1], /\{|&quot;/, path)
    }
    const { text } = await compliance.get('/production/kyc', { 'Accept-Language': 'pt-BR' })
    t.match(text, '<h1>Você não pode ver isto</h1>')
    t.match(text, 'Isto exige o perfil compliance, suporte ou auditoria.')
  })

  await t.test('while services are away, each form stays as it is, and its next try is the same one', async (t) => {
    const forms: [Case, Locator][] = []
    const others = await everyForm(bed, ['Cometa', 'Delta'])
    let page = await windowOf('alice')
    for (const [index, one] of others.entries()) {
      if (index > 0 && index % formsOfLogin === 0) page = await windowOf('alice')
      forms.push([one, await open(await page.context().newPage(), one)])
    }
    await Promise.all(Object.values(bed.bed.services).map((service) => service.drain()))
    // To who asks, it is a process that is stopped: it is there, and does not answer.
    const stopped = await bed.bed.nats('payments')
    const silence = stopped.subscribe('team.payments.>')
    await stopped.flush()
    // Nobody is left who could be slow, and each of these waits a limit out.
    bePatient({})
    // A browser sends six at once, and whoever comes after waits for all before him.
    await inLanes(forms, async ([{ page: path, form: name }, form]) => {
      const tab = form.page()
      const before = await typed(form)
      const id = await operationId(form)
      await form.locator('button').click()
      await tab.waitForFunction(() => document.activeElement?.matches('[data-outcome]'))
      const notice = await outcome(tab)
      t.match(notice, { isVisible: true, isInSight: true, role: 'alert' }, path)
      t.match(notice.text, /^Not (known whether it was )?done\. /, `${path} ${name}`)
      t.notMatch(notice.text, /\{"/, path)
      t.strictSame(await typed(form), before, `${path} ${name}`)
      if (notice.text.startsWith('Not known')) t.equal(await operationId(form), id, `${path} ${name}`)
    })
    // To wait for its silence once is enough.
    silence.unsubscribe()
    await stopped.flush()
    await page.goto(`${bed.url}/production/withdrawals`)
    t.match(await page.textContent('h1'), 'This cannot be shown now')
    t.match(await outcome(page), { isVisible: true, isFocused: true, text: /The service does not answer\./ })
    t.ok(await page.isVisible('a:has-text("Try again")'))
  })
})

/** What the browser shows and says. The last one that stands in the page is of what was done last. */
const outcome = (page: Page, selector = '#main [data-outcome]') =>
  page
    .locator(selector)
    .first()
    .evaluate((notice) => {
      const { top, bottom } = notice.getBoundingClientRect()
      return {
        isVisible: notice.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
        isInSight: top >= 0 && bottom <= innerHeight,
        isFocused: document.activeElement === notice,
        role: notice.getAttribute('role'),
        text: (notice.textContent ?? '').replaceAll(/\s+/g, ' ').trim(),
      }
    })

/** What stands in the fields of a form, as somebody sees them. */
const typed = (form: Locator) =>
  form.evaluate((element: HTMLFormElement) =>
    [...element.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), select, textarea')].map(
      ({ name, value, checked }) => [name, value, checked],
    ),
  )

const operationId = (form: Locator) => form.locator('[name=operationId]').inputValue()

/** The operation of each form of a page, and its address without ids. */
const formsOn = (page: Page) =>
  page.locator('.decision form').evaluateAll((forms) =>
    (forms as HTMLFormElement[]).map((form) => ({
      action: form.getAttribute('action') ?? '',
      operation: String(JSON.parse((form.elements.namedItem('shown') as HTMLInputElement).value).operation),
    })),
  )
const withoutQuery = (address: string) => address.replace(/\?[^/]*/, '')
const shapeOf = (address: string) =>
  withoutQuery(address)
    .split('/')
    .slice(2)
    .map((part) => (/[_\d]/.test(part) ? ':' : part))
    .join('/')
