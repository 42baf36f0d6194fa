import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { allOperations, type Environment, operations, type Scope } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { type List, lists, nameOf } from '@backoffice/team-rows'
import { eventually, inLanes, proposalOf, timeZoneAtNoon } from '@backoffice/test-kit'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { fileDigest } from '../assets/signing.js'
import { periodOf } from '../src/pieces/filters.ts'
import { sentenceIn, textIn } from '../src/words/index.ts'
import { consoleBed, formOf, type Shown, type Visitor } from './console-bed.ts'

const { createDeposit, confirmDeposit } = operations.payments
const { adjustWallet, listEntries } = operations.wallet
const { listReconciliations } = operations.reconciler

t.test('the pages about money', async (t) => {
  // What was done a moment ago was done today.
  const agreement = {
    bank: '001',
    bankName: 'Banco do Brasil',
    cnpj: '11222333000181',
    company: 'Azul',
    agreement: '1',
  }
  const CONSOLE_BANK_AGREEMENT = JSON.stringify({ ...agreement, branch: '1234', account: '98765' })
  const settings = { CONSOLE_TIME_ZONE: timeZoneAtNoon(), CONSOLE_BANK_AGREEMENT }
  const bed = await consoleBed(t, settings, {}, { gateway, webhooks })
  const alice = await bed.visitor('alice')
  const inPortuguese = alice.as({ cookies: { language: 'pt-BR' } })
  const team = bed.bed.team('alice')
  const aurora = await newOperator('Aurora')
  const boreal = await newOperator('Boreal')

  async function newOperator(name: string) {
    const { operatorId } = await team.call(operations.gateway.createOperator, { input: { name } })
    const { brands } = await team.call(operations.gateway.getOperator, { input: { name } })
    const scopeIn = (environment: Environment): Scope => {
      const brand = brands.find((one) => one.environment === environment)
      if (brand === undefined) throw new Error(`${name} has no brand in ${environment}`)
      const { id: brandId, currency, timeZone } = brand
      return { operatorId, brandId, environment, currency, timeZone }
    }
    return { production: scopeIn('production'), sandbox: scopeIn('sandbox') }
  }

  const newPlayer = (scope: Scope) => bed.newPlayer(scope.environment, 'Ana Souza', 'doc-1', scope)

  async function deposit(
    scope: Scope,
    playerId: string,
    { amount = '150.00', method = 'pix', reference = `pay-${randomUUID()}` },
  ) {
    const input = { playerId, amount, currency: 'BRL', method, externalReference: reference }
    const { id } = await bed.bed.rpc.call(createDeposit, { scope, input })
    return id
  }
  async function confirmed(scope: Scope, playerId: string, given: Parameters<typeof deposit>[2] = {}) {
    const depositId = await deposit(scope, playerId, given)
    await bed.bed.rpc.call(confirmDeposit, { scope, input: { depositId } })
    return depositId
  }

  const playerId = await newPlayer(aurora.production)
  const first = await confirmed(aurora.production, playerId)
  const card = await deposit(aurora.production, playerId, { method: 'card' })
  const ofBoreal = await confirmed(boreal.production, await newPlayer(boreal.production), { amount: '20.00' })
  const ofSandbox = await confirmed(aurora.sandbox, await newPlayer(aurora.sandbox))
  const all = { first, card, ofBoreal, ofSandbox }

  const adjustment = { playerId, amount: '-5.00', reference: 'ticket-1', reason: 'a double payout' }
  const { proposalId: approves } = await proposalOf(bed.bed.team('bob').call(adjustWallet, { input: adjustment }))
  await team.call(adjustWallet, { input: adjustment, approves })

  /** The names of the deposits that a page has. */
  const shownIn = ({ text }: Shown) => Object.entries(all).flatMap(([name, id]) => (text.includes(id) ? [name] : []))

  await t.test('deposits of all operators are listed, of one environment, and filtered', async (t) => {
    const list = async (query: string) => shownIn(await alice.get(`/production/deposits?${query}`))
    t.same(await list(''), ['first', 'card', 'ofBoreal'])
    t.same(shownIn(await alice.get('/sandbox/deposits')), ['ofSandbox'])
    t.same(await list('operator=Boreal'), ['ofBoreal'])
    t.same(await list(`operator=${aurora.production.operatorId}&state=pending`), ['card'])
    t.same(await list('method=card'), ['card'])
    t.same(await list(`player=${playerId}`), ['first', 'card'])
    t.same(await list('period=last7Days'), ['first', 'card', 'ofBoreal'])
    t.same(await list('period=lastMonth&operator=Boreal'), [])
    t.same(await list('lastDay=2020-01-31'), [])
    t.same(await list('firstDay=2020-01-31'), ['first', 'card', 'ofBoreal'])
    t.match((await alice.get('/production/deposits')).text, 'Of the last 31 days.')
    t.notMatch((await alice.get('/production/deposits?operator=Boreal')).text, 'Of the last 31 days.')
    const withdrawals = async (query: string) => (await alice.get(`/production/withdrawals?status=all${query}`)).text
    t.match(await withdrawals('&state=approved'), 'Of the last 31 days.')
    for (const whose of ['&operator=Boreal', `&player=${playerId}`, '&firstDay=2020-01-31'])
      t.notMatch(await withdrawals(whose), 'Of the last 31 days.')
    for (const queue of ['under_review', 'approved'])
      t.notMatch((await alice.get(`/production/withdrawals?status=${queue}`)).text, 'Of the last 31 days.')
    const unknown = await alice.get('/production/deposits?operator=nobody')
    t.match(unknown.text, 'There is no such operator.')
    t.same(shownIn(unknown), [])
    t.equal((await alice.get('/production/deposits?firstDay=soon')).status, 400)
  })

  await t.test('what a filter finds adds up, each status for itself, whichever page is shown', async (t) => {
    const sumsIn = ({ text }: Shown) => {
      const [, foot = ''] = /<tfoot>([\s\S]*)<\/tfoot>/.exec(text) ?? []
      const rows = [...foot.matchAll(/s-(\w+)">[^<]*<\/span> (\d+)[\s\S]*?class="money">([^<]*)</g)]
      return rows.map((row) => row.slice(1).join(' '))
    }
    const all = ['confirmed 2 R$170.00', 'pending 1 R$150.00']
    t.same(sumsIn(await alice.get('/production/deposits')), all)
    t.same(sumsIn(await alice.get(`/production/deposits?after=${ofBoreal}`)), all)
    t.same(sumsIn(await alice.get('/production/deposits?operator=Boreal')), ['confirmed 1 R$20.00'])
    t.same(sumsIn(await alice.get('/production/deposits?method=card')), ['pending 1 R$150.00'])
    t.same(sumsIn(await alice.get('/production/deposits?state=confirmed')), ['confirmed 2 R$170.00'])
    t.match((await alice.get('/production/deposits')).text, 'not only of this page')
    const entries = await alice.get(`/production/players/${playerId}/entries`)
    t.notMatch(entries.text, '<tfoot>', 'kinds of entries do not add up')
  })

  await t.test('lists of money name their players', async (t) => {
    const link = `<a href="/production/players/${playerId}"><bdi>Ana Souza</bdi></a>`
    for (const path of ['deposits', `deposits/${first}`])
      t.match((await alice.get(`/production/${path}`)).text, link, path)
    // A player of another brand is nobody's.
    const rows = [{ playerId, brandId: boreal.production.brandId }]
    t.same((await team.call(operations.players.namePlayers, { input: { players: rows } })).data, [])
  })

  await t.test('a row leads to the deposit, and its id is found by the search', async (t) => {
    const path = `/production/deposits/${first}`
    t.match((await alice.get('/production/deposits')).text, `href="${path}"`)
    const page = await alice.get(path)
    t.match(page.text, 'R$150.00')
    t.match(page.text, `href="/production/players/${playerId}"`)
    t.equal((await alice.get(`/sandbox/deposits/${first}`)).location, path)
    t.equal((await alice.search('production', first)).location, path)
    t.equal((await alice.get('/production/deposits/dep_unknown')).status, 404)
  })

  await t.test('a list is downloaded as CSV, as it is filtered', async (t) => {
    const file = await alice.get('/production/deposits.csv?operator=Aurora')
    t.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
    t.match(file.headers.get('content-disposition'), 'attachment; filename="deposits-production.csv"')
    const [titles, ...rows] = linesOf(file)
    t.match(titles, 'id,createdAt,operatorName,')
    t.same(
      rows.map((row) => row.split(',')[0]),
      [card, first],
    )
    t.same(linesOf(await alice.get('/production/deposits.csv?operator=nobody')), [titles])
    t.match(linesOf(await alice.get('/production/withdrawals.csv'))[0], 'id,createdAt,operatorName,')
  })

  await t.test("a player's ledger is listed, filtered, and downloaded", async (t) => {
    const path = `/production/players/${playerId}/entries`
    t.match((await alice.get(`/production/players/${playerId}`)).text, `href="${path}"`)
    const page = await alice.get(path)
    t.match(page.text, 'Balance R$145.00, of which R$145.00 can be withdrawn.')
    const { data } = await team.call(listEntries, { input: { playerId, limit: 10 } })
    for (const { transferId } of data) t.match(page.text, `${path}/${transferId}`)
    const filtered = await alice.get(`${path}?type=ADJUSTMENT`)
    t.match(filtered.text, 'ticket-1')
    t.notMatch(filtered.text, first)
    const [titles, ...rows] = linesOf(await alice.get(`${path}.csv?type=ADJUSTMENT`))
    t.match(titles, 'createdAt,effectiveAt,entryId')
    t.equal(rows.length, 1)
    t.equal((await alice.get(`/sandbox/players/${playerId}/entries`)).location, path)
    t.equal((await alice.get(`/sandbox/players/${playerId}/entries.csv`)).status, 404)
  })

  await t.test('a filter is saved under a name, is found again in its list, and is deleted', async (t) => {
    const visitor = await bed.visitor('alice')
    const here = '/production/deposits?operator=Boreal'
    const save = formOf(await visitor.get(here), '/production/filters/save')
    t.match(save, { list: 'deposits', query: 'operator=Boreal', returnTo: here })
    const hostile = 'Boreal <b>'
    t.equal((await visitor.post('/production/filters/save', { ...save, name: hostile })).location, here)
    const page = await visitor.get('/production/deposits')
    t.match(page.text, 'The filter is saved')
    t.match(page.text, `<a href="${here}"><bdi>Boreal &lt;b&gt;</bdi></a>`)
    t.match((await visitor.get(here)).text, `href="${here}" aria-current="true"`)
    for (const elsewhere of ['/sandbox/deposits', '/production/withdrawals?status=all', '/production/audit'])
      t.notMatch((await visitor.get(elsewhere)).text, 'Boreal &lt;b&gt;', elsewhere)
    const remove = formOf(page, '/production/filters/delete')
    t.equal((await visitor.post('/production/filters/delete', { ...remove, name: hostile })).status, 303)
    t.notMatch((await visitor.get('/production/deposits')).text, 'Boreal &lt;b&gt;')
  })

  await t.test('there is room for so many filters, they are nobody else’s, and another site saves none', async (t) => {
    const visitor = await bed.visitor('alice')
    const here = '/production/deposits?state=pending'
    const save = formOf(await visitor.get(here), '/production/filters/save')
    const keep = async (name: string, form: Readonly<Record<string, string>> = save) =>
      (await visitor.post('/production/filters/save', { ...form, name })).status
    t.equal(await keep('stolen', { ...save, _csrf: '' }), 403)
    t.equal(await keep(''), 303)
    t.match((await visitor.get(here)).text, 'The filter was not saved: it needs a name')
    for (let count = 0; count < 40; count += 1) await keep(`filter ${count}`.padEnd(40, 'x'))
    const full = (await visitor.get(here)).text
    t.match(full, 'there is no room for more')
    t.match(full, 'filter 0')
    t.notMatch(full, 'filter 39')
    const other = visitor.as(await bed.sessionOf('bob'))
    t.notMatch((await other.get(here)).text, 'filter 0')
  })

  await t.test('a reconciliation is started, followed to its end, and found again with its differences', async (t) => {
    t.match((await alice.get('/production')).text, 'None in the last 90 days')
    const start = formOf(await alice.get('/production/reconcile'), '/production/reconcile/full')
    const { location } = await alice.post('/production/reconcile/full', start)
    t.equal(location, `/production/reconcile/${start.operationId}`)
    const again = await alice.post('/production/reconcile/full', start)
    t.equal(again.location, location, 'a double click begins one run')
    const followed = (await alice.get(`${location}/live`)).text
    t.match(followed, /event: ended/)
    const run = await alice.get(location ?? '')
    t.match(run.text, 'Everything agrees.')
    t.match(run.text, 'sums of all entries')
    t.match((await alice.get('/production')).text, 'everything agrees')

    // Behind the wallet's back.
    await bed.bed.sql('admin').query('update wallet.account set posted = posted + 1 where owner_id = $1', [playerId])
    const found = (await alice.submit('/production/reconcile', 'full')).location ?? ''
    const differs = await eventually(async () => {
      const { text } = await alice.get(found)
      return text.includes('There are differences: 1.') && text
    })
    t.match(differs, `href="/production/players/${playerId}"`)
    t.match(differs, 'The account does not agree with its entries')
    t.match((await inPortuguese.get(found)).text, 'A conta não confere com seus lançamentos')
    const { text: sandbox } = await alice.get(found.replace('production', 'sandbox'))
    for (const shown of ['Everything agrees.', 'In the other environment: 1 more.']) t.match(sandbox, shown)
    t.notMatch(sandbox, playerId)
    t.match((await alice.get('/production')).text, 'number s-differs">1<')
    await bed.bed.sql('admin').query('update wallet.account set posted = posted - 1 where owner_id = $1', [playerId])

    const { data } = await team.call(listReconciliations, { input: { limit: 10 } })
    const list = (await alice.get('/production/reconcile')).text
    for (const { runId } of data) t.match(list, `/production/reconcile/${runId}`)
    t.equal((await alice.get('/production/reconcile/opn_unknown')).status, 404)
    const { _csrf = '' } = start
    t.equal((await alice.post('/production/reconcile/sideways', { _csrf })).status, 404)
  })

  await t.test('people and roles are shown as the services have them', async (t) => {
    const page = (await alice.get('/production/people?role=finance')).text
    t.match(page, /everything<\/bdi>[\s\S]*compliance[\s\S]*auditor/)
    t.match(page, /Active in the last 30 days[\s\S]*alice[\s\S]*bob/)
    t.match(page, /Decide a withdrawal[\s\S]*decideWithdrawal[\s\S]*Decision: pay/)
    t.match(page, /Adjust the balance[\s\S]*always[\s\S]*in production/)
    t.notMatch(page, 'Suspend')
    const support = await bed.visitor('support')
    const own = (await support.get('/production/people')).text
    t.notMatch(own, 'Active in the last 30 days')
    t.match(own, 'aria-current="page">Support')
    await bed.bed.services.reconciler.drain()
    const refused = await alice.submit('/production/people', 'lock', { member: '', reason: '' })
    t.equal(refused.status, 422)
    t.match(refused.text, 'what is kept there is missing: reconciliation', 'an answer to a form is not asked for again')
    Object.assign(bed.bed.services, { reconciler: await bed.bed.start('reconciler') })
  })

  await t.test(
    'the menu has what a role may use, and a page that it may not use says which role it takes',
    async (t) => {
      const menuOf = async (visitor: Visitor) => {
        const [, menu = ''] =
          /<nav class="pages"[^>]*>([\s\S]*?)<\/nav>/.exec((await visitor.get('/production')).text) ?? []
        return [...menu.matchAll(/href="\/production\/?(\w*)"/g)].map(([, path]) => path)
      }
      const queues = ['', 'withdrawals', 'kyc', 'proposals']
      const others = ['players', 'deposits', 'rounds', 'statement', 'reconcile', 'operators', 'providers', 'deliveries']
      t.same(await menuOf(alice), [...queues, ...others, 'audit', 'people'])
      for (const [path, item] of Object.entries({ plays: 'rounds', requests: 'operators' }))
        t.match((await alice.get(`/production/${path}`)).text, `href="/production/${item}" aria-current="page"`, path)
      const integration = await bed.visitor('integration')
      t.same(await menuOf(integration), ['', 'proposals', 'players', 'operators', 'providers', 'deliveries', 'people'])
      const roles = { statement: 'finance', reconcile: 'finance', deposits: 'finance', audit: 'auditor' }
      for (const [path, role] of Object.entries(roles)) {
        const { status, text } = await integration.get(`/production/${path}`)
        t.equal(status, 200, path)
        t.match(text, new RegExp(`This takes the role ${role}`), path)
      }
      const setAside = await integration.get('/production/set-aside')
      t.match(setAside.text, 'href="/sandbox/set-aside"', 'the switch leads to the same list')
      for (const path of ['statement.csv?operator=Aurora&period=today', 'deposits.csv', 'audit.csv'])
        t.equal((await integration.get(`/production/${path}`)).status, 403, path)
      t.equal((await integration.get(`/production/players/${playerId}/entries.csv`)).status, 403)
    },
  )

  await t.test('the audit goes on page by page, by person and day, and as a file', async (t) => {
    const audit = '/production/audit'
    t.match((await alice.get(`${audit}?actor=alice&period=today`)).text, 'wallet.adjustWallet')
    t.notMatch((await alice.get(`${audit}?lastDay=2020-01-01`)).text, 'wallet.adjustWallet')
    const [titles, ...rows] = linesOf(await alice.get(`${audit}.csv?subject=${playerId}`))
    t.match(titles, 'at,service,actor,tool,operation')
    t.match(rows[0], ',wallet,alice,command line,adjustWallet,')
    await inLanes(Array(60).fill({ playerId }), (input) => team.call(operations.players.showPlayer, { input }))
    t.match((await alice.get(audit)).text, 'wallet.adjustWallet', 'reads do not fill the page')
    const adjusted = (await alice.get(`${audit}?operation=adjustWallet`)).text
    t.match(adjusted, '<option value="adjustWallet" selected>Adjust the balance</option>')
    t.match(adjusted, '<option value="alice">', 'who has acted is proposed')
    t.notMatch((await alice.get(`${audit}?operation=suspendOperator`)).text, 'wallet.adjustWallet')
    for (const path of [`players/${playerId}`, `kyc/${playerId}`])
      t.match((await alice.get(`/production/${path}`)).text, `/production/audit?subject=${playerId}`)
    const newest = await alice.get(`${audit}?reads=yes`)
    t.notMatch(newest.text, 'wallet.adjustWallet')
    // Who reads a list reads the names in it, which is a read too.
    let older = newest
    for (let pages = 1; pages <= 4 && !older.text.includes('wallet.adjustWallet'); pages += 1) {
      const [, more = ''] = /href="([^"]+)">Next page</.exec(older.text) ?? []
      older = await alice.get(more.replaceAll('&amp;', '&'))
      t.match(older.text, 'Previous page')
    }
    t.match(older.text, 'wallet.adjustWallet')
  })

  await t.test('a list goes back as it came, says which rows it shows, and keeps its filter and order', async (t) => {
    const scope = bed.bed.scope({ environment: 'sandbox', operatorId: 'op_pages', brandId: 'brd_pages' })
    const id = await bed.newPlayer('sandbox', 'Rita Dias', 'doc-1', scope)
    const input = { playerId: id, amount: '1.00', currency: 'BRL', method: 'pix' }
    await inLanes(
      Array.from({ length: 125 }, (_, place) => ({ ...input, externalReference: `page-${place}` })),
      (one) => bed.bed.rpc.call(createDeposit, { scope, input: one }),
    )
    const link = (text: string, name: string) =>
      new RegExp(`href="([^"]+)">${name}<`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const seen: string[] = []
    const rowsOf = (text: string) => [...text.matchAll(/deposits\/(dep_\w+)"/g)].map(([, id]) => id).join(' ')
    const open = async (address: string) => (await alice.get(address)).text
    const pages = [await open(`/sandbox/deposits?player=${id}`)]
    for (const range of ['1–50', '51–100', '101–125']) {
      const page = pages.at(-1) ?? ''
      t.match(page, `>${range}<`)
      seen.push(rowsOf(page))
      if (range !== '101–125') pages.push(await open(link(page, 'Next page')))
    }
    t.equal(new Set(seen.join(' ').split(' ')).size, 125)
    t.equal(link(pages[0] ?? '', 'Previous page'), '')
    t.equal(link(pages[2] ?? '', 'Next page'), '')
    const second = await open(link(pages[2] ?? '', 'Previous page'))
    t.equal(rowsOf(second), seen[1])
    t.match(second, '>51–100<')
    t.equal(link(second, 'Previous page'), `/sandbox/deposits?player=${id}`)
    t.equal(link(pages[2] ?? '', 'First page'), `/sandbox/deposits?player=${id}`)
    t.equal(rowsOf(await open(link(second, 'Next page'))), seen[2], 'and forward again')
    const longer = await alice.as({ cookies: { rows: '100' } }).get(`/sandbox/deposits?player=${id}`)
    t.equal(rowsOf(longer.text), seen.slice(0, 2).join(' '), 'as long as somebody chose')
    t.match(
      (await alice.get('/sandbox/deposits?player=x&after=dep_y&row=z&way=~,,a')).text,
      'Previous page',
      'whatever it says',
    )
  })

  await t.test('what the ledger reserves no money for is red, and nobody is led to pay it', async (t) => {
    const id = await bed.newWithdrawal('production', await bed.newPlayer('production'))
    const path = `/production/withdrawals/${id}`
    const free = async (page: string) => ({
      isRed: (await alice.get(page)).text.includes('s-notreserved'),
      hasForm: (await alice.get(page)).text.includes(`action="${path}/approve"`),
    })
    t.same(await free(path), { isRed: false, hasForm: true })
    const release = "update wallet.hold set state = 'released', closed_at = now() where reference = $1"
    await bed.bed.sql('admin').query(release, [id])
    t.same(await free(path), { isRed: true, hasForm: false })
    t.match((await alice.get(path)).text, `action="${path}/reject"`)
    await alice.submit(path, 'reject', { reason: 'nothing is reserved' })
  })

  await t.test('a file for the bank has what was chosen, as it must reach the bank', async (t) => {
    const destinations = ['+5511987654321', '=HYPERLINK("x")', 'ana@example.com']
    const ids: string[] = []
    for (const destination of destinations) {
      const id = await bed.newWithdrawal('production', await bed.newPlayer('production'), destination)
      await alice.submit(`/production/withdrawals/${id}`, 'approve')
      ids.push(id)
    }
    t.match((await alice.get('/production/audit?operation=decideKyc')).text, 'Approve an identity</')
    const { playerId: owner } = await bed.showWithdrawal(ids[2] ?? '')
    const { id: hostileId } = await bed.bed.rpc.call(operations.payments.requestWithdrawal, {
      scope: bed.bed.scope({ environment: 'production' }),
      input: {
        playerId: owner,
        amount: '40.00',
        currency: 'BRL',
        method: '=HYPERLINK("x")',
        destination: 'ana@example.com',
      },
    })
    await alice.submit(`/production/withdrawals/${hostileId}`, 'approve')
    ids.push(hostileId)
    const bob = await bed.visitor('bob')
    const page = '/production/withdrawals/pay'
    t.match((await bob.get('/production/withdrawals?status=approved')).text, `href="${page}"`)
    const { text } = await bob.get(page)
    for (const id of ids) t.match(text, new RegExp(`<form method="post" id="pay-${id}"[^>]*data-amount="40.00"`))
    // Whoever approved does not pay.
    const { text: nothing } = await alice.get(page)
    t.notMatch(nothing, '<form method="post" id="pay-')
    t.match(nothing, 'Waiting: 4. You can pay none of them. You approved it yourself, so somebody else must pay it.')
    t.equal(nothing.split('You approved it yourself').length, 2, 'said once')
    t.notMatch(nothing, 'data-choose-all')
    t.equal((await makeFile(bob, [...ids, 'wdr_unknown'])).status, 422)
    const { id: fileId, made } = await fileIn(bob, ids)
    t.equal(made.location, `${page}?file=${fileId}`)
    const file = await bob.get(downloadOf(fileId))
    const [titles, ...rows] = linesOf(file)
    t.equal(titles, 'endToEndId,amount,currency,method,destination,operator')
    t.match(rows[3], `'=HYPERLINK`, 'an operator writes the method too')
    t.same(
      rows.map((row) => row.split(',').slice(0, 3)),
      ids.map((id) => [id, '40.00', 'BRL']),
      'each once, in the order of the choice',
    )
    t.match(rows[0], ',+5511987654321,', 'a telephone is a key')
    t.match(rows[1], `'=HYPERLINK`, 'and a formula is a text')
    t.equal((await bob.get(downloadOf('pfl_unknown'))).status, 404)
    t.equal((await bob.get(downloadOf(fileId))).text, file.text, 'a lost download is no harm')

    await t.test('what is in a file is on its page, and in no other file until that one is discarded', async (t) => {
      const bobAgain = await bed.visitor('bob')
      const filed = await bobAgain.get(`${page}?file=${fileId}`)
      for (const id of ids) {
        t.match(filed.text, `id="pay-${id}"`, 'there it is marked as paid')
        t.notMatch((await bobAgain.get(page)).text, `id="pay-${id}"`)
      }
      const again = await makeFile(bob, ids.slice(0, 1), text)
      t.equal(again.status, 422)
      t.match(again.text, 'in another file for the bank already')
      for (const path of ['/production/withdrawals?status=approved', `/production/withdrawals/${ids[0]}`])
        t.match(
          (await bobAgain.get(path)).text,
          new RegExp(`href="${page.replaceAll('/', '\\/')}\\?file=${fileId}"[^>]*><bdi>of bob, `),
        )
      const shownInPortuguese = await inPortuguese.get(`/production/withdrawals/${ids[0]}`)
      t.match(shownInPortuguese.text, /Arquivo para o banco[\s\S]*de bob, /)
      const discarding = `${page}/discard?file=${fileId}`
      const form = formOf(filed, discarding)
      t.equal((await bobAgain.post(discarding, { ...form })).status, 422, 'with a reason')
      t.equal((await bobAgain.post(discarding, { ...form, reason: 'it was not sent' })).location, page)
      t.equal((await bobAgain.get(downloadOf(fileId))).status, 422)
      const discarded = (await bobAgain.get(`${page}?file=${fileId}`)).text
      t.match(discarded, 'it was not sent')
      for (const id of ids) t.match(discarded, `href="/production/withdrawals/${id}"`, 'it says what was in it')
    })

    t.match(text, 'name="batchNumber"')
    const form = formOf(await bob.get(page), `${page}/file`)
    const changed = { ...JSON.parse(form.shown ?? ''), input: { agreement: '001 2' } }
    const chosen = { ids: 'given', idsGiven: ids[0] ?? '', batchNumber: '7' }
    const elsewhere = await bob.post(`${page}/file`, { ...form, ...chosen, shown: JSON.stringify(changed) })
    t.equal(elsewhere.status, 422, 'of another agreement')
    const { id: batchId } = await fileIn(bob, [ids[0] ?? '', ids[2] ?? ''], '7')
    const batch = await bob.get(downloadOf(batchId))
    t.match(batch.headers.get('content-disposition'), 'filename="pix-000007.rem"')
    const lines = batch.text.split('\r\n')
    t.same(
      lines.map((line) => line.slice(7, 8) + (line[7] === '3' ? line.slice(8, 14) : '')),
      ['0', '1', '300001A', '300002B', '300003A', '300004B', '5', '9', ''],
    )
    t.equal(lines[2]?.slice(73, 93), ids[0]?.slice(-20))
    t.equal(lines[2]?.slice(119, 134), '000000000004000')
    t.equal(lines[3]?.slice(127, 226).trimEnd(), '+5511987654321')
    t.equal(lines[5]?.slice(127, 226).trimEnd(), 'ana@example.com')
    t.equal((await bob.get(downloadOf(batchId))).text, batch.text)
    t.equal((await bob.get(downloadOf(batchId).replace('production', 'sandbox'))).status, 404, 'nobody is paid there')
    await discard(bob, batchId)
    const { id: again } = await fileIn(bob, ids.slice(0, 1), '7')
    t.match((await makeFile(bob, ids.slice(2, 3), undefined, '7')).text, 'Another file has this number')
    await discard(bob, again)
    t.equal((await makeFile(bob, ids.slice(0, 2), undefined, '8')).status, 422, 'one is to no Pix key')
    for (const number of ['0', '1000000', 'x'])
      t.equal((await makeFile(bob, ids.slice(0, 1), undefined, number)).status, 422, `the number ${number}`)
    await t.test(
      'and nothing that is not what its approver signed, whoever answers in the name of payments',
      async (t) => {
        const [id = '', other = ''] = ids
        const entryOf = (withdrawalId: string) =>
          `(select e.id from payments.audit_entry e where e.subject = '${withdrawalId}' and e.operation = 'decideWithdrawal')`
        const falsehoods = {
          'another payee': `update payments.withdrawal set destination = 'thief@example.com', sealed_destination = null where id = '${id}'`,
          'another amount': `update payments.withdrawal set amount = amount * 10 where id = '${id}'`,
          'another method': `update payments.withdrawal set method = 'ted' where id = '${id}'`,
          'another player': `update payments.withdrawal set player_id = '${owner}' where id = '${id}'`,
          'no approval': `update payments.audit_entry set subject = 'lost' where id = ${entryOf(id)}`,
          'a rejection': `update payments.audit_entry set input = jsonb_set(input::jsonb, '{decision}', '"reject"') where id = ${entryOf(id)}`,
          'an approval that nobody signed': `update payments.audit_entry set proof = null where id = ${entryOf(id)}`,
          'the approval of another one': `update payments.audit_entry e set input = o.input, proof = o.proof, operation_id = o.operation_id
          from payments.audit_entry o where e.id = ${entryOf(id)} and o.id = ${entryOf(other)}`,
        }
        const { id: chosenId } = await fileIn(bob, [other, id])
        const chosen = downloadOf(chosenId)
        const client = await bed.bed.sql('admin').connect()
        await client.query("set session_replication_role = 'replica'")
        const lies = {
          'another maker': ["update payments.payment_file set made_by = 'alice'", "set made_by = 'bob'"],
          'other withdrawals': [
            'update payments.payment_file set withdrawal_ids = withdrawal_ids[2:]',
            `set withdrawal_ids = '{${other},${id}}'`,
          ],
        }
        for (const [what, [lie, truth]] of Object.entries(lies)) {
          await client.query(`${lie} where id = '${chosenId}'`)
          t.match((await bob.get(chosen.replace('/download', ''))).text, 'It is not proven', what)
          t.equal((await bob.get(chosen)).status, 422, what)
          await client.query(`update payments.payment_file ${truth} where id = '${chosenId}'`)
        }
        t.notMatch((await bob.get(chosen.replace('/download', ''))).text, 'It is not proven')
        for (const [what, lie] of Object.entries(falsehoods)) {
          const before = await client.query(
            `select to_jsonb(w) as row, (select to_jsonb(e) from payments.audit_entry e where e.id = ${entryOf(id)}) as entry
          from payments.withdrawal w where id = '${id}'`,
          )
          await client.query(lie)
          const { status, text } = await bob.get(chosen)
          t.equal(status, 422, what)
          t.notMatch(text, 'endToEndId')
          t.notMatch((await bob.get(chosen.replace('/download', ''))).text, `id="pay-${id}"`, 'nor can it be chosen')
          const { row, entry } = before.rows[0]
          await client.query('delete from payments.withdrawal where id = $1', [id])
          await client.query('delete from payments.audit_entry where id = $1', [entry.id])
          const again = (table: string, one: unknown) =>
            client.query(
              `insert into payments.${table} select * from jsonb_populate_record(null::payments.${table}, $1)`,
              [one],
            )
          await again('withdrawal', row)
          await again('audit_entry', entry)
        }
        await client.query("set session_replication_role = 'origin'")
        client.release()
        t.equal((await bob.get(chosen)).status, 200)
        await discard(bob, new URL(chosen, bed.url).searchParams.get('file') ?? '')
      },
    )
    const { id: lastId } = await fileIn(bob, ids)
    const action = `/production/withdrawals/${ids[0]}/pay`
    const paymentFile = await fileDigest(new TextEncoder().encode(file.text))
    const paid = await bob.post(action, { ...formOf(await bob.get(`${page}?file=${lastId}`), action), paymentFile })
    t.equal(paid.location, `/production/withdrawals/${ids[0]}`)
    const trail = "select input from payments.audit_entry where subject = $1 and input ->> 'decision' = 'pay'"
    t.match(
      (await bed.bed.sql('admin').query(trail, [ids[0]])).rows,
      [{ input: { paymentFile } }],
      'signed with the file',
    )
    t.equal((await bob.get(downloadOf(lastId))).status, 422, 'what is paid is in no file')
    const support = await bed.visitor('support')
    t.equal((await support.get(downloadOf(lastId))).status, 403)
    t.notMatch((await support.get(page)).text, 'ana@example.com')
  })

  await t.test(
    "an operator's statement has the balances and totals of its period, on the page and as the command line's CSV",
    async (t) => {
      const path = '/production/statement?operator=Aurora&period=last7Days'
      // A statement has what was entered a minute ago. The ledger refuses such a change, so its triggers are off.
      await bed.bed.sql('admin').query(`
      begin; set local session_replication_role = replica;
      update wallet.transfer set created_at = created_at - interval '2 minutes'; commit
    `)
      const page = await alice.get(path)
      t.match(
        page.text,
        /Opening balance[\s\S]*R\$0\.00[\s\S]*deposit[\s\S]*R\$150\.00[\s\S]*adjustment[\s\S]*-R\$5\.00/,
      )
      t.match(page.text, /Closing balance[\s\S]*R\$145\.00/)
      t.match(page.text, `<a href="/production/players/${playerId}"><bdi>Ana Souza</bdi></a>`)
      t.notMatch(page.text, '<tfoot>', 'kinds of entries do not add up')
      t.match(page.text, 'whole days of America/Sao_Paulo')
      const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1_000).toISOString()
      const input = { brandId: aurora.production.brandId, from: at(86_400), to: at(90), limit: 1 }
      const { nextCursor } = await team.call(operations.wallet.exportStatement, { input })
      const second = await alice.get(`${path}&row=2&after=${encodeURIComponent(nextCursor ?? '')}`)
      t.match(second.text, '>2–2<', 'the totals are no entries of the page')
      const file = await alice.get(path.replace('statement', 'statement.csv'))
      const lines = linesOf(file)
      t.equal(lines[0], 'createdAt,effectiveAt,entryId,transferId,playerId,type,amount,currency,balanceAfter,reference')
      t.match(lines[1], `,DEPOSIT,150.00,BRL,150.00,deposit ${first}`)
      t.match(lines[2], ',ADJUSTMENT,-5.00,BRL,145.00,adjustment ticket-1')
      t.same(lines.slice(3), [
        '',
        'total,type,entries,amount,currency',
        'total,ADJUSTMENT,1,-5.00,BRL',
        'total,DEPOSIT,1,150.00,BRL',
        'total,OPENING_BALANCE,,0.00,BRL',
        'total,NET,2,145.00,BRL',
        'total,CLOSING_BALANCE,,145.00,BRL',
      ])
      t.match((await alice.get('/production/statement?operator=Aurora')).text, 'Choose an operator and a period.')
      t.equal((await alice.get('/production/statement.csv?operator=Aurora')).location, '/production/statement')
    },
  )

  await t.test('a deposit leads to its ledger entry, and both are found by what operators quote', async (t) => {
    const player = await newPlayer(aurora.production)
    const id = await confirmed(aurora.production, player, { reference: 'typo-1500' })
    t.equal((await alice.search('production', 'typo-1500')).location, `/production/deposits/${id}`)
    t.equal((await alice.search('sandbox', 'typo-1500')).status, 404)
    const page = await eventually(async () => {
      const shown = await alice.get(`/production/deposits/${id}`)
      return shown.text.includes('/entries/trf_') && shown
    })
    const [, path = '', transferId = ''] =
      /href="(\/production\/players\/\w+\/entries\/(trf_\w+))"/.exec(page.text) ?? []
    t.match((await alice.get(path)).text, 'Reverse')
    for (const quoted of [transferId, transferId.replace('trf', 'led')])
      t.equal((await alice.search('production', quoted)).location, path)
    t.equal((await alice.search('production', 'trf_nothing')).status, 404)
    await deposit(boreal.production, await newPlayer(boreal.production), { reference: 'typo-1500' })
    const both = (await alice.search('production', 'typo-1500')).text
    for (const name of ['Aurora', 'Boreal']) t.match(both, name)
  })

  await t.test('no file for the bank has what is being paid, nor what the ledger reserves no money for', async (t) => {
    const bob = await bed.visitor('bob')
    const [id = '', unreserved = ''] = await inLanes(['x', 'y'], async () => {
      const made = await bed.newWithdrawal('production', await bed.newPlayer('production'))
      await alice.submit(`/production/withdrawals/${made}`, 'approve')
      return made
    })
    const files = [downloadOf((await fileIn(bob, [id])).id), downloadOf((await fileIn(bob, [unreserved], '9')).id)]
    const statuses = () => Promise.all(files.map(async (file) => (await bob.get(file)).status))
    t.same(await statuses(), [200, 200])
    const release = "update wallet.hold set state = 'released', closed_at = now() where reference = $1"
    await bed.bed.sql('admin').query(release, [unreserved])
    t.same(await statuses(), [200, 422])
    await bed.bed.services.wallet.drain()
    await bob.submit(`/production/withdrawals/${id}`, 'pay')
    t.same(await statuses(), [422, 422], 'somebody has paid it, and the wallet does not know it yet')
    Object.assign(bed.bed.services, { wallet: await bed.bed.start('wallet') })
    await eventually(async () => (await bed.showWithdrawal(id)).status === 'paid')
  })

  await t.test('however many wait longer that somebody cannot pay, those that they can are offered', async (t) => {
    const bob = await bed.visitor('bob')
    const id = await bed.newWithdrawal('production', await bed.newPlayer('production'))
    await bob.submit(`/production/withdrawals/${id}`, 'approve')
    const client = await bed.bed.sql('admin').connect()
    await client.query("set session_replication_role = 'replica'")
    // Older than all: what alice approved, and what nobody of the team has signed.
    const copy = `insert into payments.withdrawal
      select (jsonb_populate_record(w, jsonb_build_object('id', 'wdr_' || lpad((n + $3)::text, 26, '0'), 'operation_id', $2 || n,
        'destination', 'copied', 'sealed_destination', null, 'approved_by', $2::text, 'approved_by_id', $2::text))).*
      from payments.withdrawal w, generate_series(1, 201) n where id = $1`
    for (const [index, person] of ['alice', 'nobody'].entries()) await client.query(copy, [id, person, 1_000 * index])
    const { text } = await alice.get('/production/withdrawals/pay')
    t.match(text, `<form method="post" id="pay-${id}"`)
    t.match(text, 'Others are not offered.')
    t.equal(text.split('You approved it yourself').length, 2, 'said once')
    await client.query("delete from payments.withdrawal where destination = 'copied'")
    await client.query("set session_replication_role = 'origin'")
    client.release()
  })
})

const downloadOf = (fileId: string) => `/production/withdrawals/pay/download?file=${fileId}`

/** Sends the form of a page: of the one that is there now, unless somebody has an older one. */
async function makeFile(visitor: Visitor, ids: readonly string[], text?: string, batchNumber = '') {
  const page = '/production/withdrawals/pay'
  const form = formOf(text === undefined ? await visitor.get(page) : ({ text } as Shown), `${page}/file`)
  return visitor.post(`${page}/file`, { ...form, ids: 'given', idsGiven: ids.join('\n'), batchNumber })
}

async function fileIn(visitor: Visitor, ids: readonly string[], batchNumber?: string) {
  const made = await makeFile(visitor, ids, undefined, batchNumber)
  const [, id = ''] = /file=(pfl_\w+)$/.exec(made.location ?? '') ?? []
  if (id === '') throw new Error(`${made.status} ${made.text}`)
  return { id, made }
}

async function discard(visitor: Visitor, fileId: string): Promise<void> {
  const page = '/production/withdrawals/pay'
  const action = `${page}/discard?file=${fileId}`
  const form = formOf(await visitor.get(`${page}?file=${fileId}`), action)
  const { status, text } = await visitor.post(action, { ...form, reason: 'it was not sent' })
  if (status !== 303) throw new Error(`${status} ${text}`)
}

const linesOf = ({ text }: Shown): readonly string[] => text.replace(/\n$/, '').split('\n')

t.test('what the reconciler says in whole sentences has words in Portuguese', async (t) => {
  const folder = new URL('../../reconciler/src/reconciliation/', import.meta.url)
  const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))
  const quoted = sources.flatMap((source) => [...source.matchAll(/['`]((?:[A-Z]|\$\{)[^'`\n]* [^'`\n]*\.)['`]/g)])
  t.ok(quoted.length > 25, 'they are found')
  for (const [, written = ''] of quoted) {
    const sentence = written.replaceAll(/%s|\$\{\w+\}/g, 'name')
    t.not(sentenceIn('pt-BR', sentence), sentence, sentence)
    t.equal(sentenceIn('en', sentence), sentence)
  }
  const unfinished = 'wallet.creditAccount of payments has not been finished.'
  t.equal(sentenceIn('pt-BR', unfinished), 'wallet.creditAccount, de payments, não foi concluído.')
  t.equal(sentenceIn('pt-BR', 'Of a later release.'), 'Of a later release.')
})

t.test('each column and each filter of a list has words, and filters by a field of its operation', async (t) => {
  for (const { command, operation, columns, folded = [], filters = {}, period = [] } of Object.values<List>(lists)) {
    for (const name of [...columns, ...folded].map(nameOf).concat(Object.keys(filters)))
      t.ok(textIn('pt-BR', `field.${name}`), `${command}: ${name}`)
    for (const field of [...Object.values(filters), ...period])
      t.ok(field in operation.body.properties, `${command}: ${field}`)
  }
})

t.test('everything that a role may do has words', async (t) => {
  const ofTeam = allOperations.filter(({ audience }) => audience === 'team')
  for (const { id } of ofTeam) t.ok(textIn('pt-BR', `operation.${id}`), id)
})

t.test('a period is whole days of a zone, wherever its clocks change', async (t) => {
  const now = new Date('2026-03-08T02:30:00.000Z')
  const of = (query: Record<string, string>, timeZone = 'America/Sao_Paulo') =>
    periodOf({ query, display: { timeZone }, now })
  const days = (from: string, to: string) => ({ from: `${from}:00.000Z`, to: `${to}:00.000Z` })
  // There it is still the evening of the 7th.
  t.same(of({ period: 'today' }), days('2026-03-07T03:00', '2026-03-08T03:00'))
  t.same(of({ period: 'yesterday' }), days('2026-03-06T03:00', '2026-03-07T03:00'))
  t.same(of({ period: 'last7Days' }), days('2026-03-01T03:00', '2026-03-08T03:00'))
  t.same(of({ period: 'thisMonth' }), days('2026-03-01T03:00', '2026-03-08T03:00'))
  t.same(of({ period: 'lastMonth' }), days('2026-02-01T03:00', '2026-03-01T03:00'))
  // On the 8th the clocks go forward in New York: the day has 23 hours.
  t.same(
    of({ firstDay: '2026-03-08', lastDay: '2026-03-08' }, 'America/New_York'),
    days('2026-03-08T05:00', '2026-03-09T04:00'),
  )
  t.same(of({ firstDay: '2026-02-28' }, 'UTC'), { from: '2026-02-28T00:00:00.000Z' })
  t.same(of({ lastDay: '2026-02-28' }, 'UTC'), { to: '2026-03-01T00:00:00.000Z' })
  t.same(of({ period: 'whenever' }), {})
  for (const day of ['soon', '2026-13-01', '2026-02-30T00:00'])
    t.throws(() => of({ firstDay: day }), { message: `${day} is no day` })
})
